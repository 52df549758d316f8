// SPDX-License-Identifier: Apache-2.0
/// @file sparse_ws.cpp
/// One policy of sparse_ws.hpp, for which this file is compiled with
///     SPOROS_SPARSE_WS_POLICY  its name there
///     SPOROS_SPARSE_WS_HEADER  their header
///     SPOROS_SPARSE_WS_HASHES  whether that header has the interface of hash tables
#include "sparse_ws.hpp"

// Their headers define functions and variables, the same names in each. In a namespace of their own these do
// not meet; what they include comes before it.
#include <omp.h>
#include <sys/types.h>
#include <unistd.h>

#include <Eigen/Sparse>
#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <boost/range/algorithm.hpp>
#include <boost/range/algorithm_ext.hpp>
#include <boost/range/irange.hpp>
#include <cassert>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>

#define DATA_LOADER  // their reader of files, which needs SPLATT
namespace {
#include "utils/lib.h"
void print_taco_tensor_DC(taco_tensor_t*) {}  // of that reader; never called
#include SPOROS_SPARSE_WS_HEADER
}  // namespace

namespace sporos::perf::sparse_ws {
namespace {

/// A tensor of theirs that refers to `in`'s arrays.
class View {
 public:
  View(const Slices& in, int rows, int columns) : extents_{rows, columns} {
    slices_[0] = const_cast<int*>(in.slice_positions.data());
    slices_[1] = const_cast<int*>(in.slices.data());
    elements_[0] = const_cast<int*>(in.positions.data());
    elements_[1] = const_cast<int*>(in.coordinates.data());
    tensor_.order = 2;
    tensor_.dimensions = extents_;
    tensor_.indices = levels_;
    tensor_.vals = const_cast<float*>(in.values.data());
  }
  taco_tensor_t* get() { return &tensor_; }

 private:
  int extents_[2];
  int *slices_[2] = {}, *elements_[2] = {};
  int** levels_[2] = {slices_, elements_};
  taco_tensor_t tensor_{};
};

}  // namespace

Product SPOROS_SPARSE_WS_POLICY(const Slices& A, const Slices& B) {
  View a(A, A.rows, A.columns), b(B, B.rows, B.columns);
  const Slices none;
  View c(none, A.rows, B.columns);
  const int capacity = 1 << static_cast<int>(std::log2(A.nnz()));
#if SPOROS_SPARSE_WS_HASHES
  DCSC_DCSR_hash(a.get(), b.get(), c.get(), capacity, 0, 1);
#else
  DCSC_DCSR_coord(a.get(), b.get(), c.get(), capacity);
#endif
  return {Allocated<int>(c.get()->indices[1][0]), Allocated<int>(c.get()->indices[1][1]),
          Allocated<float>(c.get()->vals)};
}

}  // namespace sporos::perf::sparse_ws

// SPDX-License-Identifier: Apache-2.0
/// @file sparse_ws.hpp
/// Outer products by the code of Zhang, Hsu, Kjolstad, *Compilation of Modular and General Sparse Workspaces*
/// (PLDI 2024), https://github.com/zhang677/SparseWS: what their compiler generates for each policy of a
/// sparse workspace. It is sequential, and computes in float.
#pragma once

#include <cstdlib>
#include <memory>
#include <vector>

namespace sporos::perf::sparse_ws {

/// A doubly compressed matrix: the slices that store something, by rows (DCSR) or by columns (DCSC).
struct Slices {
  int rows = 0, columns = 0;
  std::vector<int> slice_positions, slices, positions, coordinates;
  std::vector<float> values;

  int nnz() const { return static_cast<int>(values.size()); }
};

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
template <class T>
using Allocated = std::unique_ptr<T[], Free>;

/// A product in CSR.
struct Product {
  Allocated<int> positions, coordinates;
  Allocated<float> values;
};

/// A * B with the loop over A's columns outside, through a workspace that holds 2^floor(log2 nnz) components
/// before it is merged, as in their benchmarks.
using OuterProduct = Product(const Slices& A, const Slices& B);
OuterProduct coordinate, coordinate_growing, bucket, hash, hash_growing;

}  // namespace sporos::perf::sparse_ws

// SPDX-License-Identifier: Apache-2.0
/// @file cp_peer.hpp
/// Other libraries' products of sparse tensors on several ranks, each compiled by itself.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace sporos::perf {

/// A tensor of order 3, all of it on every rank, without repetitions.
struct CpInput {
  std::array<std::int64_t, 3> extents;
  std::array<std::vector<std::int64_t>, 3> coordinates;  // [nonzeros] for each mode
  std::vector<double> values;                            // [nonzeros]
  int rank;                                              ///< columns of the factors
};

/// A library that has divided the tensor among the ranks of MPI_COMM_WORLD. All values of the factor of mode
/// m are m + 1.
class CpPeer {
 public:
  virtual ~CpPeer() = default;
  CpPeer(const CpPeer&) = delete;
  CpPeer& operator=(const CpPeer&) = delete;

  /// MTTKRP of each mode, with what an iteration of CP-ALS has to send for it.
  virtual void multiply() = 0;
  /// The sum of the values of each result, on rank 0.
  virtual std::array<double, 3> sums() = 0;
  /// So many iterations of CP-ALS from other factors, if the library has it: whether it does.
  virtual bool decompose(int iterations) = 0;

 protected:
  CpPeer() = default;
};

/// GenTen initialises MPI and Kokkos itself, and finalises them: this comes before all that uses them.
class GentenScope {
 public:
  GentenScope();
  ~GentenScope();
  GentenScope(const GentenScope&) = delete;
  GentenScope& operator=(const GentenScope&) = delete;
};

/// @pre there is a GentenScope
std::unique_ptr<CpPeer> make_genten(const CpInput& input);
std::unique_ptr<CpPeer> make_ctf(const CpInput& input);

}  // namespace sporos::perf

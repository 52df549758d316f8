// SPDX-License-Identifier: Apache-2.0
/// @file nm_peers.hpp
/// The product of a dense and an N:M sparse matrix by NM-SpMM and by nmSPARSE, M = L = 32, in float. Both
/// take the dense matrix by columns, and start their kernels on cudaStreamPerThread, for which their sources
/// are compiled.
#pragma once

#include <array>
#include <limits>
#include <vector>

#ifdef SPOROS_HAVE_NM_SPMM
#include <NM-SpMM.h>
#endif

#include "rounds.hpp"

namespace sporos::perf {

#ifdef SPOROS_HAVE_NMSPARSE
/// C = A B by nmSPARSE, in a source of its own since it is C++14.
/// @param a        [k, m]
/// @param indices  [kept, n], rows of A
/// @param values   [kept, n]
/// @param c        [n, m]
void multiply_by_nmsparse(int m, int n, int k, float kept_part, float* a, int* indices, float* values,
                          float* c);
#endif

/// The values of an N:M matrix row by row, as the peers store them: [kept, n]; and for each the row of the
/// dense matrix that it is multiplied by.
template <class T>
struct KeptRows {
  NmView<T> b;
  T* values;
  int* rows;

  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    const std::int64_t row = at / b.columns, column = at % b.columns;
    const std::int64_t position = b.position(row / b.kept, column / b.unit) + row % b.kept;
    values[at] = b.values[position * b.unit + column % b.unit];
    rows[at] = static_cast<int>(row / b.kept * b.window + b.indices[position]);
  }
};

/// What they mean, in a matrix of zeros.
struct Scatter {
  const float* values;
  const int* rows;
  std::int64_t columns;
  float* dense;

  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    dense[rows[at] * columns + at % columns] = values[at];
  }
};

#ifdef SPOROS_HAVE_NM_SPMM
/// C += A B by NM-SpMM: each of its four kernels, and k divided among up to eight blocks, whose sums are
/// added to C by atomic operations; else C = A B.
class NmSpmmProduct {
 public:
  /// @param indices  [kept, n / 32] on the host, in its window
  /// @param values   [kept, n]
  NmSpmmProduct(int m, int n, int k, int kept_of_32, const std::vector<int>& indices, float* a, float* values,
                float* c)
      : m_(m), n_(n), k_(k), kept_(k / 32 * kept_of_32), a_(a), values_(values), c_(c) {
    sparsity_ = 1.0F - static_cast<float>(kept_of_32) / 32;
    packs_ = kept_of_32 <= 8;
    for (std::size_t at = 0; at < kernels.size(); ++at) {
      if (m % kernels[at].rows != 0 || n % kernels[at].columns != 0) continue;
      std::vector<int> places = indices;
      if (!packs_) {
        PreProcessing_low_sparsity(places.data(), kept_, n / 32, kernels[at].columns);
      } else {
        int kept = kept_of_32, window = 32;
        std::vector<int> rows(static_cast<std::size_t>(kept_ / kept_of_32) *
                              static_cast<std::size_t>(n / kernels[at].columns + 1) * 64);
        transIndex(places.data(), kept_, n, n / 32, kept, window);
        PreProcessing_high_sparsity(rows.data(), window, kept, places.data(), kept_, n / 32, n,
                                    kernels[at].columns);
        copy(rows, rows_[at]);
      }
      copy(places, places_[at]);
    }
  }

  /// The fastest kernel and division of k, found by trying: division among blocks only of few of them.
  void search() {
    double least = std::numeric_limits<double>::infinity();
    Choice best;
    for (std::size_t at = 0; at < kernels.size(); ++at) {
      if (places_[at].extent(0) == 0) continue;
      const std::int64_t blocks = std::int64_t{m_} / kernels[at].rows * (n_ / kernels[at].columns);
      for (const int division : {1, 2, 4, 8}) {
        if (division > 1 && blocks > most_divided) break;
        choice_ = {at, division};
        const double seconds = Replay([&] { run(); }, 2).run();
        if (seconds < least) {
          least = seconds;
          best = choice_;
        }
      }
    }
    choice_ = best;
  }

  bool adds() const { return choice_.division > 1; }
  std::size_t kernel() const { return choice_.kernel; }
  int division() const { return choice_.division; }

  void run() const {
    const Kernel& kernel = kernels[choice_.kernel];
    int* const places = places_[choice_.kernel].data();
    if (packs_)
      kernel.packing(a_, values_, places, rows_[choice_.kernel].data(), c_, m_, n_, k_, kept_, sparsity_,
                     choice_.division);
    else
      kernel.plain(a_, values_, places, c_, m_, n_, k_, kept_, sparsity_, choice_.division);
  }

 private:
  struct Kernel {
    int rows, columns;  ///< of a block
    decltype(&nmGEMM_small_matrices_low_sparsity) plain;
    decltype(&nmGEMM_small_matrices_high_sparsity) packing;
  };
  struct Choice {
    std::size_t kernel = 0;
    int division = 1;
  };
  static constexpr std::array<Kernel, 4> kernels = {
      {{32, 32, &nmGEMM_small_matrices_low_sparsity, &nmGEMM_small_matrices_high_sparsity},
       {32, 64, &nmGEMM_medium_matrices_low_sparsity, &nmGEMM_medium_matrices_high_sparsity},
       {64, 64, &nmGEMM_large_matrices_low_sparsity, &nmGEMM_large_matrices_high_sparsity},
       {64, 128, &nmGEMM_huge_matrices_low_sparsity, &nmGEMM_huge_matrices_high_sparsity}}};
  static constexpr std::int64_t most_divided = 2048;

  static void copy(const std::vector<int>& from, Array<int, gpu::Memory>& to) {
    to = Array<int, gpu::Memory>("indices", from.size());
    check(cudaMemcpy(to.data(), from.data(), from.size() * sizeof(int), cudaMemcpyHostToDevice), "indices");
  }

  int m_, n_, k_, kept_;
  float sparsity_ = 0;
  bool packs_ = false;
  float *a_, *values_, *c_;
  std::array<Array<int, gpu::Memory>, 4> places_, rows_;
  Choice choice_;
};
#endif

}  // namespace sporos::perf

// SPDX-License-Identifier: Apache-2.0
/// @file nonzeros_candidate.hpp
/// Dot products at the nonzeros of a sparse matrix, 32 at a time on tensor cores, as a candidate for
/// statements.
#pragma once

#include <cstdint>
#include <ostream>
#include <string_view>

#include "nonzeros.hpp"
#include "packed_plan.hpp"

namespace sporos::gpu {

/// A(i, j) = B(i, j) * C(i, k) * D(j, k), with A and B in CSR, CSC or COO, and C and D dense, of half or
/// bfloat16, and stored along either mode, batches of such products of matrices in CSR, A(b, i, j) =
/// B(b, i, j) * C(b, i, k) * D(b, j, k), and epilogues that keep zeros (kernels/epilogue/epilogue.hpp), by
/// nonzeros.hpp. Sums are formed in float and multiplied by B's values in float before they are rounded. A
/// gets the pattern of B, and shares B's arrays if they are reference counted. A plan keeps where each
/// nonzero lies, in 8 bytes.
///
/// Returns before the GPU has finished, as SddmmByWarps does.
struct SddmmByNonzeros : SddmmPackedCandidate<SddmmByNonzeros> {
  static constexpr std::string_view name = "SDDMM by nonzeros on tensor cores";

  // What SddmmPackedPlan asks for.

  /// There is nothing to count.
  struct Counts {};

  static Counts most(const SampledSizes&) { return {}; }
  template <class A>
  static Counts count(const Kokkos::Cuda&, const A&, Counts*) {
    return {};
  }
  static std::string_view why_not(const SampledSizes&) { return {}; }

  /// Fitted on an H200, within 8 % except for short rows in cache: the time that a warp waits, the cost of
  /// each nonzero, and the time to read rows of D through the L2 cache.
  static double seconds(const SampledSizes& in, const Counts&) {
    const auto inner = static_cast<double>(in.inner);
    return 1.85e-6 + 4.4e-9 * inner + static_cast<double>(in.nonzeros) * (2.3e-12 + 2 * inner / 9.6e12);
  }
  static double seconds_of_packing(const SampledSizes& in) {
    return 5e-6 + 1e-11 * static_cast<double>(in.nonzeros);
  }
  static std::int64_t kept_bytes(const SampledSizes& in, const Counts&) {
    Layout layout;
    layout.template take<SampledPlace>(in.nonzeros);
    return layout.bytes();
  }
  static std::int64_t packing_bytes(const Kokkos::Cuda&, const SampledSizes&, const Counts&) { return 0; }
  template <class A>
  static void pack(const Kokkos::Cuda& space, const SampledSizes&, const Counts&, const A& a, Layout&,
                   char* kept) {
    find_sampled_places(space, a, reinterpret_cast<SampledPlace*>(kept));
  }
  template <class T, class Value, class E>
  static void multiply(const Kokkos::Cuda& space, const SampledSizes& in, const Counts&, char* kept,
                       const SampledFactors<T>& factors, const Value* scale, const E& epilogue,
                       Value* result) {
    sddmm_nonzeros(space, in.rows,
                   SddmmNonzerosArguments<Value, T, E>{in.nonzeros, factors.stride,
                                                       reinterpret_cast<const SampledPlace*>(kept), scale,
                                                       factors.c, factors.d, result, epilogue});
  }
  static void explain(std::ostream& out, const SampledSizes&, const Counts&) {
    out << SddmmNonzerosConfig<1, true, 1>::nonzeros << " nonzeros a warp";
  }
};

}  // namespace sporos::gpu

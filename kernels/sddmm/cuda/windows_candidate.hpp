// SPDX-License-Identifier: Apache-2.0
/// @file windows_candidate.hpp
/// Dot products at the nonzeros of a sparse matrix by windows of rows on tensor cores, as a candidate for
/// statements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string_view>

#include "packed_plan.hpp"
#include "windows.hpp"

namespace sporos::gpu {

/// A(i, j) = B(i, j) * C(i, k) * D(j, k), with A and B in CSR, CSC or COO, and C and D dense, of half or
/// bfloat16, and stored along either mode, batches of such products of matrices in CSR, A(b, i, j) =
/// B(b, i, j) * C(b, i, k) * D(b, j, k), and epilogues that keep zeros (kernels/epilogue/epilogue.hpp), by
/// windows.hpp. Sums are formed in float and multiplied by B's values in float before they are rounded. A
/// gets the pattern of B, and shares B's arrays if they are reference counted.
///
/// Returns before the GPU has finished, as SddmmByWarps does.
struct SddmmByWindows : SddmmPackedCandidate<SddmmByWindows> {
  static constexpr std::string_view name = "SDDMM by windows of rows on tensor cores";

  // What SddmmPackedPlan asks for.

  using Counts = SampledWindowCounts;

  static Counts most(const SampledSizes& in) { return Counts::most(in.rows, in.nonzeros); }
  template <class A>
  static Counts count(const Kokkos::Cuda& space, const A& a, Counts* to) {
    return count_sampled_windows(space, a, to);
  }
  static std::string_view why_not(const SampledSizes& in) {
    return in.columns > most_window_columns ? "the sparse operand has too many columns" : "";
  }

  /// Fitted on an H200, within 15 % for up to 256 summed columns: the time that a warp waits, and the cost of
  /// groups and nonzeros where there are many.
  static double seconds(const SampledSizes& in, const Counts& counts) {
    const auto inner = static_cast<double>(in.inner);
    const double of_group = 0.16e-9 + 2.9e-12 * std::min(inner, 256.0) + 2e-12 * std::max(inner - 256, 0.0);
    return 3.1e-6 + 10e-9 * inner + counts.groups * of_group + 4.2e-12 * static_cast<double>(in.nonzeros);
  }
  static double seconds_of_packing(const SampledSizes& in) {
    return 6e-5 + 1e-10 * static_cast<double>(in.nonzeros);
  }
  static std::int64_t kept_bytes(const SampledSizes&, const Counts& counts) {
    Layout layout;
    SampledWindowOutput::lay_out(layout, counts);
    return layout.bytes();
  }
  static std::int64_t packing_bytes(const Kokkos::Cuda& space, const SampledSizes& in, const Counts&) {
    Layout layout;
    SampledWindowRoom::lay_out(space, layout, in.rows);
    return layout.bytes();
  }
  template <class A>
  static void pack(const Kokkos::Cuda& space, const SampledSizes& in, const Counts& counts, const A& a,
                   Layout& layout, char* kept) {
    const SampledWindowRoom room = SampledWindowRoom::lay_out(space, layout, in.rows);
    Layout of_kept(kept);
    find_sampled_windows(space, a, room, SampledWindowOutput::lay_out(of_kept, counts));
  }
  template <class T, class Value, class E>
  static void multiply(const Kokkos::Cuda& space, const SampledSizes& in, const Counts& counts, char* kept,
                       const SampledFactors<T>& factors, const Value* scale, const E& epilogue,
                       Value* result) {
    Layout of_kept(kept);
    sddmm_windows(space,
                  SddmmWindowsArguments<Value, T, E>{in.rows, factors.stride,
                                                     SampledWindowOutput::lay_out(of_kept, counts).view(),
                                                     scale, factors.c, factors.d, result, epilogue},
                  counts.pieces);
  }
  static void explain(std::ostream& out, const SampledSizes& in, const Counts& counts) {
    out << "windows of " << SampledWindows::rows << " rows and groups of " << SampledWindows::columns
        << " of their columns";
    if (counts.groups > 0)
      out << ", at most " << counts.groups << " groups of " << in.nonzeros / counts.groups
          << " nonzeros each";
  }
};

}  // namespace sporos::gpu

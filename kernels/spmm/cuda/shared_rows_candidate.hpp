// SPDX-License-Identifier: Apache-2.0
/// @file shared_rows_candidate.hpp
/// Small products of a dense and a sparse matrix on the GPU, as a candidate for statements.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../nest/bounds.hpp"
#include "../../operands/cuda/matrix_by_rows.hpp"
#include "../../results/dense_target.hpp"
#include "../pattern.hpp"
#include "columns_candidate.hpp"
#include "pattern_counts.hpp"
#include "rows.hpp"
#include "shared_rows.hpp"

namespace sporos::gpu {

/// Y(i, j) = X(i, k) * W(j, k), with X and Y dense by rows, W in CSR, or W(k, j) in CSC; or an epilogue of
/// such a product (kernels/epilogue/epilogue.hpp), by shared_rows.hpp. It is faster than SpmmIntoColumns if
/// there is little to multiply.
///
/// Returns before the GPU has finished, as SpmmIntoColumns does.
struct SpmmFromSharedRows {
  using Pattern = SpmmIntoColumnsPattern<GpuMatrixOperands>;
  static constexpr std::string_view name = "SpMM from rows in shared memory";
  static constexpr std::string_view takes =
      "C(i, j) = B(i, k) * A(j, k), A stored along j, B and C by rows, 32 rows of B in shared memory, in the "
      "memory of the GPU";
  static constexpr bool deterministic = true;
  static constexpr bool replaces_nest = true;

  template <class S>
  static constexpr bool computes() {
    if constexpr (Pattern::matches<S>) {
      using Result = typename S::result_type;
      using Sparse = std::remove_cvref_t<decltype(Pattern::sparse(std::declval<const S&>()))>;
      using Dense = std::remove_cvref_t<decltype(Pattern::dense(std::declval<const S&>()))>;
      return std::is_same_v<typename Result::format, DenseMatrix<>> &&
             Sparse::level_names[0] == Result::names[1] && Dense::level_names[0] == Result::names[0];
    } else {
      return false;
    }
  }
  template <class S>
  static constexpr bool matches = computes<S>();

  /// For a plan that is kept, rows of W are measured.
  template <class S>
  static Offer cost(const S& statement, const Resources<Kokkos::Cuda>& resources, Use use) {
    Plan<S> plan(statement, resources);
    if (const auto why_not = plan.why_not(); !why_not.empty()) return Declined{why_not};
    if (use == Use::often) plan.measure();
    return Cost{plan.seconds()};
  }

  template <class S>
  class Plan;
};

template <class S>
class SpmmFromSharedRows::Plan {
  using Sparse = std::remove_cvref_t<decltype(Pattern::sparse(std::declval<const S&>()))>;
  using DenseAccess = std::remove_cvref_t<decltype(Pattern::dense(std::declval<const S&>()))>;
  using T = typename DenseAccess::value_type;
  using Out = typename S::result_type::value_type;
  using Sum = detail::compute_of<S>;
  /// Whether W is indexed W(k, j).
  static constexpr bool is_transposed = Sparse::names[0] != S::result_type::names[1];
  using Epilogue = std::remove_const_t<decltype(epilogue_of(std::declval<const S&>()))>;
  using Store = detail::StoreTransposedSums<false, Sum, Out, Epilogue>;

 public:
  Plan(const S& statement, const Resources<Kokkos::Cuda>&) : statement_(statement) {
    bounds_of(statement);  // throws ShapeError if extents do not match
  }

  /// Why the kernel cannot take these operands; empty if it can.
  std::string_view why_not() const {
    if (inner() > std::numeric_limits<std::int32_t>::max() || shared_bytes(fewest_of_block) > room())
      return "32 rows of the dense operand do not fit in shared memory";
    return {};
  }
  /// The seconds that a product is expected to take.
  double seconds() const { return seconds(of_block()); }

  /// Finds the longest row of W.
  void measure() {
    if (result().nnz() == 0 || w().nnz() == 0) return;
    const auto matrix = detail::csr_view<is_transposed>(w());
    longest_ = sporos::detail::Measurements::of<RowCounts>(matrix, [&] {
                 return count_pattern(statement_.resources(), matrix, {.rows = true}).rows;
               }).lengths.longest;
  }
  void prepare() { measure(); }
  void run() {
    if (result().nnz() == 0) return;
    const sporos::detail::DenseTarget<S> target(statement_);
    if (w().nnz() == 0) {
      apply_epilogue<S, Sum>(statement_, nullptr, target.data());
    } else {
      const auto matrix = detail::csr_view<is_transposed>(w());
      using Matrix = std::remove_const_t<decltype(matrix)>;
      spmm_shared_rows<Sum>(
          statement_.resources().space(),
          SharedRowsProduct<T, Matrix, Store>{
              m(), inner(), x().values().data(), matrix, of_block(),
              Store{target.data(), n(), statement_.accumulates(), epilogue_of(statement_)}});
    }
    target.finish();
  }

  Bytes bytes() const {
    return {result().nnz(), result().bytes(),
            sporos::detail::DenseTarget<S>::bytes(statement_) +
                with_room_to_grow(std::int64_t{sizeof(PatternCounts)})};
  }
  void explain(std::ostream& out) const {
    out << "  result: located, " << SharedRows::rows << " rows and " << of_block()
        << " columns by a thread block, which has the rows of the dense operand in shared memory\n";
  }

 private:
  static constexpr int fewest_of_block = SharedRows::warps;

  const auto& w() const { return Pattern::sparse(statement_).tensor(); }
  const auto& x() const { return Pattern::dense(statement_).tensor(); }
  const auto& result() const { return statement_.result().tensor(); }
  std::int64_t m() const { return result().extent(0); }
  std::int64_t n() const { return result().extent(1); }
  std::int64_t inner() const { return x().extent(DenseAccess::names[0] == S::result_type::names[0] ? 1 : 0); }
  const cudaDeviceProp& device() const { return statement_.resources().space().cuda_device_prop(); }
  std::int64_t room() const { return static_cast<std::int64_t>(device().sharedMemPerBlockOptin); }
  std::int64_t shared_bytes(int of_block) const {
    return SharedRows::shared_bytes<T, Sum>(inner(), of_block);
  }

  /// The number of rows of W per block with which a product is expected to be fastest.
  int of_block() const {
    int best = fewest_of_block;
    for (int other = 2 * best; other <= SharedRows::most_of_block; other *= 2)
      if (shared_bytes(other) <= room() && seconds(other) < seconds(best)) best = other;
    return best;
  }
  /// Seconds of a product, fitted on an H200 within 12 % (one standard deviation). After the launch, blocks
  /// copy rows of X, a time per byte. Then a multiprocessor computes as fast as it reads shared memory, a
  /// time per nonzero, or a warp as fast as its nonzeros follow one another, a time per nonzero of the
  /// longest row and per row that it takes, whichever is slower.
  double seconds(int of_block) const {
    const auto blocks =
        static_cast<double>(ceil_div(n(), of_block) * ceil_div(m(), std::int64_t{SharedRows::rows}));
    const auto multiprocessors = static_cast<double>(device().multiProcessorCount);
    const double of_multiprocessor = std::ceil(blocks / multiprocessors);
    // Blocks that fit on a multiprocessor: each takes 1 KiB of shared memory for the system, and there are at
    // most 2048 threads.
    const double fit = std::floor(std::clamp(static_cast<double>(device().sharedMemPerMultiprocessor) /
                                                 static_cast<double>(shared_bytes(of_block) + 1024),
                                             1.0, 2048.0 / SharedRows::threads));
    const double rounds = std::ceil(of_multiprocessor / fit);
    const double bytes =
        static_cast<double>(SharedRows::bytes_of_x<T>(inner())) * std::min(fit, of_multiprocessor / rounds);
    const double average =
        static_cast<double>(w().nnz()) / static_cast<double>(std::max<std::int64_t>(1, n()));
    const double longest = longest_ > 0 ? static_cast<double>(longest_) : RowsShape::likely_longest(average);
    return 2.52e-6 + rounds * bytes * 1.82e-11 +
           std::max(of_multiprocessor * of_block * average * 2.43e-9,
                    longest * 2.1e-8 + rounds * of_block / SharedRows::warps * 0.86e-6);
  }

  const S& statement_;
  std::int64_t longest_ = 0;  ///< nonzeros of W's longest row; 0 if rows were not measured
};

}  // namespace sporos::gpu

// SPDX-License-Identifier: Apache-2.0
/// @file plan_of_product.hpp
/// What plans of the product of a sparse and a dense matrix on the GPU have in common: the operands, the
/// copies of them that a kernel needs, and the result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <ostream>
#include <type_traits>
#include <utility>

#include "../../../formats/slice.hpp"
#include "../../cuda/padded.hpp"
#include "../../cuda/transpose.hpp"
#include "../../epilogue/epilogue.hpp"
#include "../../nest/bounds.hpp"
#include "../../operands/cuda/matrix_by_rows.hpp"
#include "../../operands/cuda/operands.hpp"
#include "../../protocol/candidate.hpp"
#include "../../protocol/measured.hpp"
#include "../../results/dense_target.hpp"
#include "pattern_counts.hpp"

namespace sporos::gpu {

/// The base of a plan of C(i, j) = A(i, k) * B(k, j), with A in CSR or CSC and B dense.
///
/// Of batches, C(b, i, j) = A(i, k) * B(b, k, j) or A(b, i, k) * B(b, k, j) or A(b, i, k) * B(k, j), the rows
/// of C are those of all matrices, and so are those of A if it has as many.
///
/// @tparam Pattern  what the candidate matches (kernels/spmm/pattern.hpp)
template <class Pattern, class S>
class PlanOfSpmm {
 protected:
  using Sparse = std::remove_cvref_t<decltype(Pattern::sparse(std::declval<const S&>()))>;
  using DenseAccess = std::remove_cvref_t<decltype(Pattern::dense(std::declval<const S&>()))>;
  using B = typename DenseAccess::value_type;
  using Out = typename S::result_type::value_type;
  /// The modes of a matrix of the result, behind that of the batches if there are any.
  static constexpr bool is_of_batches = S::result_type::format::order == 3;
  static constexpr int of_rows = is_of_batches ? 1 : 0, of_columns = of_rows + 1;
  /// Whether there is an A, or a B, for each batch.
  static constexpr bool has_batches_of_a = Sparse::format::order == 3,
                        has_batches_of_b = DenseAccess::format::order == 3;
  /// Whether A is indexed A(k, i).
  static constexpr bool is_transposed =
      Sparse::names[1] == S::result_type::names[of_rows] && !has_batches_of_a;
  static constexpr bool turn_b =
      DenseAccess::level_names[has_batches_of_b ? 2 : 1] != S::result_type::names[of_columns];
  using Matrix =
      std::conditional_t<has_batches_of_a, sporos::detail::MatrixOfBatches<typename Sparse::tensor_type>,
                         typename Sparse::tensor_type>;
  using Rows = MatrixByRows<Matrix, is_transposed>;

  PlanOfSpmm(const S& statement, const Resources<Kokkos::Cuda>& resources)
      : statement_(statement), rows_(resources) {
    bounds_of(statement);  // throws ShapeError if extents do not match
  }

  /// A, or the matrix of the rows of all of them.
  decltype(auto) a() const {
    if constexpr (has_batches_of_a)
      return sporos::detail::rows_of_batches(Pattern::sparse(statement_).tensor());
    else
      return (Pattern::sparse(statement_).tensor());
  }
  const auto& b() const { return Pattern::dense(statement_).tensor(); }
  const auto& result() const { return statement_.result().tensor(); }
  const Kokkos::Cuda& space() const { return statement_.resources().space(); }
  /// The rows of A, or of all of them.
  std::int64_t m() const { return (has_batches_of_a ? result().extent(0) : 1) * result().extent(of_rows); }
  std::int64_t n() const { return result().extent(of_columns); }
  std::int64_t inner() const { return a().extent(is_transposed ? 0 : 1); }
  /// The rows of all matrices B.
  std::int64_t rows_of_b() const { return inner() * (has_batches_of_b ? result().extent(0) : 1); }
  /// How many products the rows of A are in.
  std::int64_t products() const { return is_of_batches && !has_batches_of_a ? result().extent(0) : 1; }

  /// Whether there is anything to multiply. The result may have no memory yet: the sums that are a part of
  /// another plan get theirs in each run.
  bool has_terms() const { return m() > 0 && n() > 0 && products() > 0 && a().nnz() > 0; }

  bool memory_is_bounded() const {
    return statement_.resources().memory_limit() != Resources<Kokkos::Cuda>::unlimited;
  }

  /// Whether A is there by rows, so that its pattern can be counted.
  bool has_rows() const { return this->has_terms() && !(Rows::is_copied && !rows_.is_read()); }
  /// Counts A's pattern; what any kernel needs, once for all, while the fastest one is chosen.
  /// @param own  what the plan needs itself
  const PatternCounts& count_pattern(const Counted& own) {
    pattern_ = measured_pattern(own);
    return pattern_;
  }
  /// Whether A is so full that few tiles can be without nonzeros.
  bool has_full_tiles() const { return a().nnz() >= 512 * TileNonzeros::of(m(), inner()).tiles(); }

  /// The seconds that copying A is expected to take, for a statement or for each run of a plan.
  double seconds_of_copy(Use use) const {
    if (use == Use::once) return Rows::seconds_to_read(a());
    return S::schedule::has_constant_operands ? 0 : Rows::seconds_to_read_again(a());
  }
  /// Says what A's pattern is like, as far as it was counted, and how often A is copied, if it is.
  void explain_sparse(std::ostream& out) const {
    explain_pattern<typename Sparse::value_type>(out, pattern_, m(), inner(), a().nnz());
    if (!Rows::is_copied) return;
    out << "  operands: the sparse one is copied by rows"
        << (!rows_.is_read()                     ? " first\n"
            : S::schedule::has_constant_operands ? " once\n"
                                                 : " once, its values again in each run\n");
  }

  /// Calls multiply(address of the result's values) if there is something to multiply; otherwise only applies
  /// the epilogue, to sums of type `Sum` that are zero.
  template <class Sum, class Multiply>
  void compute(const Multiply& multiply) const {
    if (result().nnz() == 0) return;
    const sporos::detail::DenseTarget<S> target(statement_);
    a().nnz() == 0 ? apply_epilogue<S, Sum>(statement_, nullptr, target.data()) : multiply(target.data());
    target.finish();
  }

  /// The bytes of a copy of B by rows; 0 if it is stored by rows.
  std::int64_t turned_bytes() const {
    Layout layout;
    if (turn_b) layout.template take<B>(b().nnz());
    return layout.bytes();
  }
  /// B by rows, in the order of the stream.
  /// @param memory  of turned_bytes() bytes
  const B* read_b(char* memory) const {
    const B* dense = b().values().data();
    if constexpr (turn_b) {
      auto* const turned = reinterpret_cast<B*>(memory);
      transpose(space(), n(), inner(), dense, turned);
      dense = turned;
    }
    return dense;
  }

  /// B by rows that begin at multiples of 16 bytes, as the copy engine requires.
  struct AlignedRows {
    const B* values;
    std::int64_t stride;  ///< elements from one row to the next
  };
  /// The bytes of the copies that this needs: now, and at most for any later values of B.
  std::int64_t aligned_bytes() const { return turned_bytes() + (pads_b() ? padded_bytes() : 0); }
  std::int64_t most_aligned_bytes() const {
    return turned_bytes() + (n() % of_16_bytes != 0 || !turn_b ? padded_bytes() : 0);
  }
  /// @param memory  of aligned_bytes() bytes
  AlignedRows read_aligned_b(char* memory) const {
    const B* const dense = read_b(memory);
    if (!pads_b()) return {dense, n()};
    auto* const padded = reinterpret_cast<B*>(memory + turned_bytes());
    pad_rows(space(), dense, rows_of_b(), n(), padded_stride(), padded);
    return {padded, padded_stride()};
  }

  const S& statement_;
  Rows rows_;
  PatternCounts pattern_{};  ///< zeros where nothing was counted

 private:
  PatternCounts measured_pattern(const Counted& own) const {
    const auto matrix = rows_.view(a());
    const Resources<Kokkos::Cuda>& resources = statement_.resources();
    if (S::schedule::run_by::choice == sporos::option::Choice::one || memory_is_bounded() || Rows::is_copied)
      return gpu::count_pattern(resources, matrix, own);
    // The others need a GPU of compute capability 9.0.
    const bool has_all = space().cuda_device_prop().major == 9;
    const TileNonzeros tiles = TileNonzeros::of(m(), inner());
    const SplitTiles split_tiles = SplitTiles::of(SplitTiles::fewest_rows, m(), inner());
    const std::int64_t count = a().nnz();
    const Counted all{.rows = true,
                      .tiles = has_all && !has_full_tiles() && tiles.column_tiles <= most_column_tiles &&
                               tiles.are_worth_their_numbers(count),
                      .split_tiles = has_all && split_tiles.column_tiles <= most_split_column_tiles &&
                                     split_tiles.are_worth_their_numbers(count),
                      .windows = has_all && inner() <= most_window_columns &&
                                 count <= std::numeric_limits<std::int32_t>::max()};
    return sporos::detail::Measurements::of<CountsOf<typename Rows::View>>(
               matrix,
               [&] { return CountsOf<typename Rows::View>{gpu::count_pattern(resources, matrix, all)}; })
        .counts;
  }

  static constexpr std::int64_t of_16_bytes = 16 / std::int64_t{sizeof(B)};  ///< elements

  std::int64_t padded_stride() const { return ceil_div(n(), of_16_bytes) * of_16_bytes; }
  bool pads_b() const {
    return n() % of_16_bytes != 0 ||
           (!turn_b && reinterpret_cast<std::uintptr_t>(b().values().data()) % 16 != 0);
  }
  std::int64_t padded_bytes() const {
    Layout layout;
    layout.template take<B>(rows_of_b() * padded_stride());
    return layout.bytes();
  }
};

}  // namespace sporos::gpu

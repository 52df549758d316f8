// SPDX-License-Identifier: Apache-2.0
/// @file sampled.hpp
/// What the kernels for sampled products on the GPU have in common: the formats of the sparse operand, which
/// they read by rows, and the result that shares its pattern.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "../../../formats/shared_levels.hpp"
#include "../../cuda/matrix_by_rows.hpp"
#include "../../cuda/operands.hpp"
#include "../../cuda/padded.hpp"
#include "../../cuda/transpose.hpp"
#include "../pattern.hpp"

namespace sporos::gpu {

/// Admits sparse matrices by rows, by columns and as lists of coordinates, such as CSR, CSC and COO, and
/// dense ones stored along either mode.
struct SampledOperands : GpuMatrixOperands {
  static constexpr bool turns_dense = true;
  template <class A>
  static constexpr bool is_csr =
      GpuMatrixOperands::is_csr<A> || sporos::detail::is_coordinate_list<typename A::format>;
};

/// A sparse matrix by rows, or the transpose of one by columns: the outer level holds the rows. A list of
/// coordinates stores no positions of rows; they are found first.
template <class TensorType>
class SampledRows {
  using F = typename TensorType::format_type;
  using Coordinate = typename F::template level<1>::coordinate_type;

 public:
  static constexpr bool finds_positions = sporos::detail::is_coordinate_list<F>;
  using Position = typename F::template level<finds_positions ? 0 : 1>::position_type;
  using View = CsrView<typename TensorType::value_type, Position, Coordinate>;

  /// The view of the matrix; positions that are not stored have been found and are at `positions`.
  static View view(const TensorType& t, [[maybe_unused]] Position* positions) {
    if constexpr (finds_positions) {
      constexpr int mode = F::mode_of_level[0];
      return {t.extent(mode),
              t.extent(1 - mode),
              t.nnz(),
              positions,
              t.template level<1>().segments().coordinates.data(),
              t.values().data()};
    } else {
      return detail::csr_view<detail::is_by_columns<F>>(t);
    }
  }
  /// The bytes of positions that have to be found; 0 if they are stored.
  static std::int64_t position_bytes(const TensorType& t) {
    Layout layout;
    if (finds_positions) layout.template take<Position>(view(t, nullptr).rows + 1);
    return layout.bytes();
  }
  /// Finds the positions if necessary, in the order of the stream of `space`.
  static void find_positions(const Kokkos::Cuda& space, const TensorType& t, Position* positions) {
    if constexpr (finds_positions) {
      using RowCoordinate = typename F::template level<0>::coordinate_type;
      using Range = Kokkos::RangePolicy<Kokkos::Cuda, Kokkos::IndexType<std::int64_t>>;
      Kokkos::parallel_for("sporos::row positions", Range(space, 0, view(t, nullptr).rows + 1),
                           detail::WriteRowPositions<RowCoordinate, Position>{
                               t.template level<0>().segments().coordinates.data(), t.nnz(), positions});
    }
  }
};

/// The sizes of a sampled product.
struct SampledSizes {
  std::int64_t rows, columns;  ///< those of the sparse matrix, as SampledRows sees it
  std::int64_t nonzeros;
  std::int64_t inner;  ///< the extent of the summed variable
};

/// The operands of a statement that SddmmPattern<SampledOperands> matches.
template <class S>
class SampledProduct {
 public:
  using Pattern = SddmmPattern<SampledOperands>;
  using Sparse =
      typename std::remove_cvref_t<decltype(Pattern::sampled(std::declval<const S&>()))>::tensor_type;
  using C = std::remove_cvref_t<decltype(Pattern::of_rows(std::declval<const S&>()))>;
  using D = std::remove_cvref_t<decltype(Pattern::of_columns(std::declval<const S&>()))>;
  using T = typename C::value_type;
  using Value = typename S::result_type::value_type;
  using Rows = SampledRows<Sparse>;
  /// Whether a dense matrix is stored as [inner, rows] or [inner, columns].
  static constexpr bool c_is_turned = C::level_names[0] != S::result_type::level_names[0];
  static constexpr bool d_is_turned = D::level_names[0] != S::result_type::level_names[1];

  explicit SampledProduct(const S& statement) : statement_(statement) {}

  const auto& sparse() const { return Pattern::sampled(statement_).tensor(); }
  const auto& c() const { return Pattern::of_rows(statement_).tensor(); }
  const auto& d() const { return Pattern::of_columns(statement_).tensor(); }
  const auto& result() const { return statement_.result().tensor(); }
  const Kokkos::Cuda& space() const { return statement_.resources().space(); }
  std::int64_t rows() const { return Rows::view(sparse(), nullptr).rows; }
  std::int64_t columns() const { return Rows::view(sparse(), nullptr).columns; }
  std::int64_t nonzeros() const { return sparse().nnz(); }
  /// The extent of the summed variable.
  std::int64_t inner() const { return c().extent(C::names[0] == S::result_type::level_names[0] ? 1 : 0); }
  SampledSizes sizes() const { return {rows(), columns(), nonzeros(), inner()}; }

  /// The sparse operand by rows, in the order of the stream. Positions that have to be found are put into
  /// `layout`.
  typename Rows::View by_rows(Layout& layout) const {
    typename Rows::Position* positions = nullptr;
    if constexpr (Rows::finds_positions) {
      positions = layout.template take<typename Rows::Position>(rows() + 1);
      Rows::find_positions(space(), sparse(), positions);
    }
    return Rows::view(sparse(), positions);
  }

  /// Gives the result the sparse operand's pattern, and calls compute(values) with values that only the
  /// result refers to: its present ones if no other tensor shares them and no operand reads them.
  template <class Compute>
  void replace_result(const Compute& compute) const {
    auto values = result().values();  // [nonzeros]
    const std::int64_t owners = pool<Kokkos::Cuda>().owners(values);
    if (result().nnz() != nonzeros() || owners > 2 || owners == 0 || reads_result(statement_))
      values = make_array<Value, Memory>("sporos::Tensor values", nonzeros());
    compute(values.data());
    result().replace(result().extents(), sporos::detail::shared_levels(sparse()), values);
  }

 private:
  const S& statement_;
};

/// C and D of a sampled product of 16-bit floats, by rows that begin at multiples of 16 bytes: read in place
/// or copied.
template <class S>
class FactorsByRows {
  using Product = SampledProduct<S>;
  using T = typename Product::T;

 public:
  explicit FactorsByRows(const Product& product) : product_(product) {}

  /// Elements from one row to the next, in both matrices.
  std::int64_t stride() const { return ceil_div(product_.inner(), widest_pack<T>) * widest_pack<T>; }
  bool copies() const { return copies_c() || copies_d(); }
  /// The bytes of the copies.
  std::int64_t bytes() const {
    Layout layout;
    if (copies_c()) layout.template take<T>(product_.rows() * stride());
    if (copies_d()) layout.template take<T>(product_.columns() * stride());
    return layout.bytes();
  }
  /// Returns C and D, copied if necessary in the order of the stream, with zeros from the last column to the
  /// stride.
  std::pair<const T*, const T*> read(Layout& layout) const {
    const T* const c = copies_c() ? copy<Product::c_is_turned>(product_.c(), product_.rows(), layout)
                                  : product_.c().values().data();
    const T* const d = copies_d() ? copy<Product::d_is_turned>(product_.d(), product_.columns(), layout)
                                  : product_.d().values().data();
    return {c, d};
  }

 private:
  bool copies_c() const { return Product::c_is_turned || !fits(product_.c().values().data()); }
  bool copies_d() const { return Product::d_is_turned || !fits(product_.d().values().data()); }
  bool fits(const T* at) const {
    return product_.inner() == stride() && is_aligned<Pack<T, widest_pack<T>>>(at);
  }

  template <bool IsTurned, class Dense>
  const T* copy(const Dense& from, std::int64_t rows, Layout& layout) const {
    const Kokkos::Cuda& space = product_.space();
    const std::int64_t inner = product_.inner();
    T* const to = layout.template take<T>(rows * stride());
    if constexpr (IsTurned) {
      if (inner < stride()) zero(space, to, rows * stride());
      for_each_transposed(space, inner, rows, from.values().data(), detail::StoreTransposed<T>{to, stride()});
    } else {
      pad_rows(space, from.values().data(), rows, inner, stride(), to);
    }
    return to;
  }

  const Product& product_;
};

}  // namespace sporos::gpu

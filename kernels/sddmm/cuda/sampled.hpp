// SPDX-License-Identifier: Apache-2.0
/// @file sampled.hpp
/// What the kernels for sampled products on the GPU have in common: the formats of the sparse operand, which
/// they read by rows, and the result that shares its pattern.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "../../../formats/shared_levels.hpp"
#include "../../../formats/slice.hpp"
#include "../../cuda/padded.hpp"
#include "../../cuda/transpose.hpp"
#include "../../epilogue/in_batches.hpp"
#include "../../operands/cuda/matrix_by_rows.hpp"
#include "../../operands/cuda/operands.hpp"
#include "../pattern.hpp"

namespace sporos::gpu {

/// Admits sparse matrices by rows, by columns and as lists of coordinates, such as CSR, CSC and COO, and
/// batches of those by rows; and dense ones stored along either mode.
struct SampledOperands : GpuMatrixOperands {
  static constexpr bool turns_dense = true;
  template <class A>
  static constexpr bool is_csr =
      GpuMatrixOperands::is_csr<A> || sporos::detail::is_coordinate_list<typename A::format> ||
      (sporos::detail::are_batches_by_rows<typename A::format> && is_tensor_v<typename A::tensor_type>);
};

namespace detail {

/// Writes the columns of the matrices in batches as those of one matrix in which they lie along the diagonal.
template <class Position, class Coordinate>
struct WriteColumnsOnDiagonal {
  const Position* positions;            // [batches * rows + 1]
  const Coordinate* coordinates;        // [nonzeros]
  std::int64_t batches, rows, columns;  // rows and columns of a matrix
  std::int32_t* to;                     // [nonzeros]
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t q) const {
    std::int64_t low = 0, high = batches - 1;  // the last matrix that begins at q or before has it
    while (low < high) {
      const std::int64_t middle = low + (high - low + 1) / 2;
      if (static_cast<std::int64_t>(positions[middle * rows]) <= q)
        low = middle;
      else
        high = middle - 1;
    }
    to[q] = static_cast<std::int32_t>(low * columns + static_cast<std::int64_t>(coordinates[q]));
  }
};

}  // namespace detail

/// A sparse matrix by rows, or the transpose of one by columns: the outer level holds the rows. A list of
/// coordinates stores no positions of rows; they are found first. Batches are one matrix, in which theirs lie
/// along the diagonal; its columns are found first.
template <class TensorType>
class SampledRows {
  using F = typename TensorType::format_type;
  using Inner = typename F::template level<F::levels - 1>;

 public:
  static constexpr bool finds_positions = sporos::detail::is_coordinate_list<F>;
  static constexpr bool is_of_batches = F::order == 3;
  using Position = typename F::template level<finds_positions ? 0 : F::levels - 1>::position_type;
  using Coordinate = std::conditional_t<is_of_batches, std::int32_t, typename Inner::coordinate_type>;
  using View = CsrView<typename TensorType::value_type, Position, Coordinate>;

  /// The view of the matrix, with null in place of what is not stored.
  static View sizes(const TensorType& t) {
    if constexpr (finds_positions) {
      constexpr int mode = F::mode_of_level[0];
      return {t.extent(mode),
              t.extent(1 - mode),
              t.nnz(),
              nullptr,
              t.template level<1>().segments().coordinates.data(),
              t.values().data()};
    } else if constexpr (is_of_batches) {
      return {t.extent(0) * t.extent(1),
              t.extent(0) * t.extent(2),
              t.nnz(),
              t.template level<2>().segments().positions.data(),
              nullptr,
              t.values().data()};
    } else {
      return detail::csr_view<detail::is_by_columns<F>>(t);
    }
  }
  /// The bytes of what has to be found; 0 if everything is stored.
  static std::int64_t found_bytes(const TensorType& t) {
    Layout layout;
    if (finds_positions) layout.template take<Position>(sizes(t).rows + 1);
    if (is_of_batches) layout.template take<Coordinate>(t.nnz());
    return layout.bytes();
  }
  /// The view of the matrix. What has to be found is put into `layout`, in the order of the stream.
  /// @throws RangeError if the columns of all matrices in batches do not fit in 32 bits
  static View find(const Kokkos::Cuda& space, const TensorType& t, Layout& layout) {
    using Range = Kokkos::RangePolicy<Kokkos::Cuda, Kokkos::IndexType<std::int64_t>>;
    View out = sizes(t);
    if constexpr (finds_positions) {
      using RowCoordinate = typename F::template level<0>::coordinate_type;
      out.positions = layout.template take<Position>(out.rows + 1);
      Kokkos::parallel_for("sporos::row positions", Range(space, 0, out.rows + 1),
                           detail::WriteRowPositions<RowCoordinate, Position>{
                               t.template level<0>().segments().coordinates.data(), t.nnz(), out.positions});
    }
    if constexpr (is_of_batches) {
      narrow<std::int32_t>(out.columns, "the number of columns of all matrices of a sampled product");
      out.coordinates = layout.template take<Coordinate>(t.nnz());
      Kokkos::parallel_for("sporos::columns on the diagonal", Range(space, 0, t.nnz()),
                           detail::WriteColumnsOnDiagonal<Position, typename Inner::coordinate_type>{
                               out.positions, t.template level<2>().segments().coordinates.data(),
                               t.extent(0), t.extent(1), t.extent(2), out.coordinates});
    }
    return out;
  }
};

/// The epilogue of a sampled product as a function of the rows and columns of the matrix that SampledRows
/// makes of the sparse operand.
/// @tparam IsTransposed  whether these rows are the columns of the result
/// @tparam IsOfBatches   whether they are those of all matrices in batches
template <class E, bool IsTransposed = false, bool IsOfBatches = false>
struct SampledEpilogue {
  using compute = typename E::compute;
  static constexpr bool is_identity = E::is_identity;

  E epilogue;
  std::int64_t rows = 1, columns = 1;  ///< of one matrix in batches

  __device__ __forceinline__ compute operator()(compute product, std::int64_t row,
                                                std::int64_t column) const {
    if constexpr (is_identity) {
      return product;
    } else if constexpr (IsOfBatches) {
      const std::int64_t at = batch_of_row(row, rows);
      return epilogue(product, at, row - at * rows, column - at * columns);
    } else {
      return IsTransposed ? epilogue(product, column, row) : epilogue(product, row, column);
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
  static constexpr bool is_of_batches = Rows::is_of_batches;
  /// The level of the rows of a matrix, or of each matrix in batches.
  static constexpr int of_rows = is_of_batches ? 1 : 0;
  /// Whether a dense matrix is stored as [inner, rows] or [inner, columns].
  static constexpr bool c_is_turned = C::level_names[of_rows] != S::result_type::level_names[of_rows];
  static constexpr bool d_is_turned = D::level_names[of_rows] != S::result_type::level_names[of_rows + 1];
  using Epilogue =
      SampledEpilogue<std::remove_const_t<decltype(Pattern::epilogue(std::declval<const S&>()))>,
                      S::result_type::level_names[of_rows] != S::result_type::names[of_rows], is_of_batches>;

  explicit SampledProduct(const S& statement) : statement_(statement) {}

  const auto& sparse() const { return Pattern::sampled(statement_).tensor(); }
  const auto& c() const { return Pattern::of_rows(statement_).tensor(); }
  const auto& d() const { return Pattern::of_columns(statement_).tensor(); }
  const auto& result() const { return statement_.result().tensor(); }
  const Kokkos::Cuda& space() const { return statement_.resources().space(); }
  std::int64_t rows() const { return Rows::sizes(sparse()).rows; }
  std::int64_t columns() const { return Rows::sizes(sparse()).columns; }
  /// Those of one matrix in batches.
  std::int64_t rows_of_matrix() const { return is_of_batches ? sparse().extent(1) : rows(); }
  std::int64_t columns_of_matrix() const { return is_of_batches ? sparse().extent(2) : columns(); }
  std::int64_t matrices() const { return is_of_batches ? sparse().extent(0) : 1; }
  std::int64_t nonzeros() const { return sparse().nnz(); }
  /// The extent of the summed variable.
  std::int64_t inner() const {
    return c().extent(of_rows + (C::names[of_rows] == S::result_type::level_names[of_rows] ? 1 : 0));
  }
  SampledSizes sizes() const { return {rows(), columns(), nonzeros(), inner()}; }

  /// The sparse operand by rows, in the order of the stream. What has to be found is put into `layout`.
  typename Rows::View by_rows(Layout& layout) const { return Rows::find(space(), sparse(), layout); }
  Epilogue epilogue() const { return {Pattern::epilogue(statement_), rows_of_matrix(), columns_of_matrix()}; }

  /// Gives the result the sparse operand's pattern, and calls compute(values) with values that only the
  /// result refers to: its present ones if no other tensor shares them and no operand reads them.
  template <class Compute>
  void replace_result(const Compute& compute) const {
    if (inner() == 0) {  // sums over nothing are absent
      const typename S::result_type::tensor_type empty(result().extents());
      return result().replace(empty.extents(), empty.levels(), empty.values());
    }
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
  /// How many kernels copy them: matrices in batches are transposed one by one.
  std::int64_t copies() const {
    return (copies_c() ? (Product::c_is_turned ? product_.matrices() : 1) : 0) +
           (copies_d() ? (Product::d_is_turned ? product_.matrices() : 1) : 0);
  }
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
      for (std::int64_t at = 0; at < product_.matrices(); ++at) {
        const std::int64_t of_matrix = rows / product_.matrices();
        for_each_transposed(space, inner, of_matrix, from.values().data() + at * of_matrix * inner,
                            detail::StoreTransposed<T>{to + at * of_matrix * stride(), stride()});
      }
    } else {
      pad_rows(space, from.values().data(), rows, inner, stride(), to);
    }
    return to;
  }

  const Product& product_;
};

}  // namespace sporos::gpu

// SPDX-License-Identifier: Apache-2.0
/// @file factor_by_rows.hpp
/// A factor of a product by rows: read in place if it is stored by rows, copied if it is not.
#pragma once

#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>

#include "../../../core/pool.hpp"
#include "../../../core/tensor.hpp"
#include "../../../formats/chunks.hpp"
#include "../../../formats/convert.hpp"
#include "../../../formats/storage_bound.hpp"
#include "../../../formats/transpose.hpp"
#include "../../operands/host/operands.hpp"
#include "multiply.hpp"

namespace sporos::detail {

/// The matrix, or its transpose in the same memory.
template <bool Transposed, class T>
auto turned(const T& matrix) {
  if constexpr (Transposed)
    return relabel<1, 0>(matrix);
  else
    return matrix;
}

/// Whether a matrix is stored by rows or by columns in a way that the kernel can take as rows.
template <class T>
constexpr bool is_by_rows_or_columns() {
  if constexpr (T::order != 2)
    return false;
  else
    return SparseRowsMatrix<T> || SparseRowsMatrix<decltype(turned<true>(std::declval<const T&>()))>;
}

/// Admits what HostOperands admits, and sparse matrices by columns wherever it admits those by rows.
struct SparseMatrixOperands : HostOperands {
  template <class A>
  static constexpr bool is_csr = is_by_rows_or_columns<typename A::tensor_type>();
};

/// The rows of a matrix, or of its transpose.
template <class T, bool Transposed>
class FactorByRows {
  using Turned = decltype(turned<Transposed>(std::declval<const T&>()));

 public:
  static constexpr bool is_copied = !SparseRowsMatrix<Turned>;

 private:
  using Format = std::conditional_t<is_copied, RelabelledFormat<typename Turned::format_type, 1, 0>,
                                    typename Turned::format_type>;
  using Matrix = Tensor<typename T::value_type, Format, typename T::space_type>;

 public:
  using Rows = decltype(sparse_rows(std::declval<const Matrix&>()));

  /// Reads the matrix as it is now.
  template <HostSpace Space>
  void read(const Space& space, const T& matrix) {
    sources_ = {};
    if constexpr (is_copied)
      matrix_.emplace(convert<Format>(space, turned<Transposed>(matrix)));
    else
      matrix_.emplace(turned<Transposed>(matrix));
  }
  /// Reads a matrix whose pattern is the same as before: the values of a copy are fetched from their known
  /// positions in the matrix.
  /// @param most_bytes  what finding these positions may allocate; if too little, the matrix is copied anew
  template <HostSpace Space>
  void refill(const Space& space, const T& matrix, [[maybe_unused]] std::int64_t most_bytes) {
    if constexpr (is_copied) {
      if (sources_.extent(0) == 0 && bytes_to_find_sources(matrix) <= most_bytes) try {
          find_sources(space, matrix);
        } catch (const MemoryError&) {  // then it is copied anew
        }
      if (sources_.extent(0) > 0) {
        const auto* const from = matrix.values().data();
        auto* const to = matrix_->values().data();
        const Source* const source = sources_.data();
        const HostThreads threads(space);
        for_each_part(threads, matrix.nnz(), chunks_for(threads, matrix.nnz()),
                      [=](std::int64_t begin, std::int64_t end, std::int64_t) {
                        for (std::int64_t q = begin; q < end; ++q) to[q] = from[source[q]];
                      });
        return;
      }
    }
    read(space, matrix);
  }
  /// The rows that were read.
  Rows rows() const { return sparse_rows(*matrix_); }

  /// An upper bound on the bytes that read() allocates.
  static std::int64_t most_bytes(const T& matrix) {
    if constexpr (!is_copied)
      return 0;
    else
      return bytes_to_copy<typename T::value_type>(matrix);
  }
  /// The bytes that are held until the next read().
  std::int64_t held_bytes() const { return (is_copied && matrix_ ? copy_bytes() : 0) + held_for_refills(); }
  /// The part of them that tells refill() where values come from.
  std::int64_t held_for_refills() const {
    return static_cast<std::int64_t>(sources_.size() * sizeof(Source));
  }

 private:
  using Source = std::int32_t;
  using PositionsOfSource = Tensor<Source, typename Turned::format_type, typename T::space_type>;

  /// The bytes that copying the matrix with values of type V allocates, including the copy.
  template <class V>
  static std::int64_t bytes_to_copy(const T& matrix) {
    const Turned as_read = turned<Transposed>(matrix);
    return storage_bound<Format, V>(as_read.extents(), as_read.nnz()).bytes +
           assemble_bytes<Format, V>(as_read.extents(), as_read.nnz());
  }
  /// The bytes that find_sources() allocates; more than any machine has if positions exceed the type Source.
  static std::int64_t bytes_to_find_sources(const T& matrix) {
    if (!std::in_range<Source>(matrix.nnz())) return std::numeric_limits<std::int64_t>::max();
    return array_bytes<Source>(matrix.nnz()) + bytes_to_copy<Source>(matrix);
  }
  /// Copies the matrix with the position of each value in place of the value.
  template <HostSpace Space>
  void find_sources(const Space& space, const T& matrix) {
    const Turned as_read = turned<Transposed>(matrix);
    const auto numbers = pool().array<Source>("sporos::sources", matrix.nnz());
    std::iota(numbers.data(), numbers.data() + matrix.nnz(), Source{0});
    const PositionsOfSource positions(as_read.extents(), as_read.levels(), Array<Source>(numbers));
    sources_ = convert<Format>(space, positions).values();
  }

  std::int64_t copy_bytes() const {
    return storage_bound<Format, typename T::value_type>(matrix_->extents(), matrix_->nnz()).bytes;
  }

  std::optional<Matrix> matrix_;
  Array<Source> sources_;  // [nnz], once found: value q of the copy is value sources_[q] of the matrix
};

}  // namespace sporos::detail

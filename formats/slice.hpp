// SPDX-License-Identifier: Apache-2.0
/// @file slice.hpp
/// One matrix of batches, and all of them as the rows of one matrix, without a copy.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "../core/error.hpp"
#include "../core/tensor.hpp"
#include "format_name.hpp"
#include "named.hpp"
#include "structure.hpp"

namespace sporos {

namespace detail {

/// Whether the tree of a format has as many positions below each coordinate of its outermost level: each
/// level is full or an N:M one.
template <TensorFormat F>
inline constexpr bool is_even = []<std::size_t... K>(std::index_sequence<K...>) {
  return ((F::properties[K].full || is_n_of_m<typename F::template level<static_cast<int>(K)>>) && ...);
}(std::make_index_sequence<static_cast<std::size_t>(F::levels)>{});

template <class T>
using MatrixOfBatches = Tensor<typename T::value_type, typename BatchTraits<typename T::format_type>::matrix,
                               typename T::space_type>;

/// `count` elements of an array, from `begin` on. They share its memory.
template <class T, class Memory>
Array<T, Memory> elements_of(const Array<T, Memory>& array, std::int64_t begin, std::int64_t count) {
  return Kokkos::subview(array,
                         std::pair(static_cast<std::size_t>(begin), static_cast<std::size_t>(begin + count)));
}

/// The number of values of each matrix in batches.
template <class T>
std::int64_t values_of_slice(const T& batches) {
  return batches.extent(0) == 0 ? 0 : batches.nnz() / batches.extent(0);
}

/// Whether the arrays of each matrix are parts of those of the batches: metadata of fewer than 8 bits an
/// index may begin inside a byte.
template <class T>
bool has_slices(const T& batches) {
  bool are_bytes = true;
  std::int64_t positions = 1;
  batches.for_each_level([&]<class K, class Storage>(K, const Storage& storage) {
    using Level = typename T::format_type::template level<K::value>;
    positions = K::value == 0 ? 1 : storage.size(positions);
    if constexpr (is_n_of_m<Level>) are_bytes = positions % Level::in_byte == 0;
  });
  return are_bytes || batches.extent(0) <= 1;
}

/// The levels of matrix number `at` of the batches, whose arrays are parts of those of the batches.
template <class T>
auto levels_of_slice(const T& batches, std::int64_t at) {
  typename MatrixOfBatches<T>::level_storage out;
  std::int64_t positions = 1;
  batches.for_each_level([&]<class K, class Storage>(K, const Storage& storage) {
    if constexpr (K::value > 0) {
      using Level = typename T::format_type::template level<K::value>;
      positions = storage.size(positions);
      auto& level = std::get<static_cast<std::size_t>(K::value - 1)>(out);
      level = storage;
      if constexpr (is_n_of_m<Level>) {
        const std::int64_t bytes = (positions + Level::in_byte - 1) / Level::in_byte;
        level.indices = elements_of(storage.indices, at * bytes, bytes);
      }
    }
  });
  return out;
}

/// Whether the matrices, one below the other, are one matrix with the same arrays: the level below the
/// batches is dense and holds their rows.
template <TensorFormat F>
inline constexpr bool are_rows_of_one = [] {
  if constexpr (BatchTraits<F>::is)
    return std::is_same_v<typename F::template level<1>, Dense> &&
           std::is_same_v<typename F::template expression<1>, Dim<1>>;
  else
    return false;
}();

/// Whether a format is batches of matrices stored by rows, such as CSR.
template <TensorFormat F>
inline constexpr bool are_batches_by_rows = [] {
  if constexpr (are_rows_of_one<F>)
    return is_by_rows<typename BatchTraits<F>::matrix>;
  else
    return false;
}();

/// The levels of the matrices in batches, one below the other, as one matrix: they share the arrays of the
/// batches.
template <class T>
  requires are_rows_of_one<typename T::format_type>
auto levels_of_rows(const T& batches) {
  typename MatrixOfBatches<T>::level_storage out;
  batches.for_each_level([&]<class K, class Storage>(K, const Storage& storage) {
    if constexpr (K::value > 0) std::get<static_cast<std::size_t>(K::value - 1)>(out) = storage;
  });
  std::get<0>(out).extent = batches.extent(0) * batches.extent(1);
  return out;
}
template <class T>
MatrixOfBatches<T> rows_of_batches(const T& batches) {
  return {{batches.extent(0) * batches.extent(1), batches.extent(2)},
          levels_of_rows(batches),
          batches.values(),
          batches.owner()};
}

}  // namespace detail

/// Batches of matrices whose matrices each have as many values: dense, N:M or 2:4 ones.
template <class T>
concept EvenBatches =
    AnyTensor<T> && BatchTraits<typename T::format_type>::is && detail::is_even<typename T::format_type>;

/// Matrix number `at` of batches, a tensor that shares their arrays: what is written to one is seen in the
/// other.
///
///     Tensor<half, Batches<TwoFour>> W({heads, 64, 128});
///     auto first = slice(W, 0);                             // Tensor<half, TwoFour> of 64 x 128
///
/// @param batches  dense, N:M or 2:4 matrices. (Those of `Batches<CSR<>>` have positions that count from the
///                 first of them, so that none is a matrix as it is stored.)
/// @throws RangeError   if there is no such matrix
/// @throws FormatError  if its metadata begins inside a byte
template <EvenBatches T>
auto slice(const T& batches, std::int64_t at) {
  if (at < 0 || at >= batches.extent(0))
    throw RangeError(text("there is no matrix ", at, " in batches of ", batches.extent(0)));
  if (!detail::has_slices(batches))
    throw FormatError(text("the metadata of a matrix in ", format_name<typename T::format_type>(), " of ",
                           to_string(batches.extents()),
                           " begins inside a byte: choose extents with an even number of windows"));
  const std::int64_t size = detail::values_of_slice(batches);
  return detail::MatrixOfBatches<T>({batches.extent(1), batches.extent(2)},
                                    detail::levels_of_slice(batches, at),
                                    detail::elements_of(batches.values(), at * size, size), batches.owner());
}

}  // namespace sporos

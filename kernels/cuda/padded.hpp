// SPDX-License-Identifier: Apache-2.0
/// @file padded.hpp
/// Copies of matrices whose rows begin where the copy engine needs them to.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "../../core/value.hpp"
#include "launch.hpp"

namespace sporos::gpu {

namespace detail {

template <class T, class To>
struct PadRows {
  const T* from;
  std::int64_t columns, stride;
  To* to;

  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    const std::int64_t row = at / stride, column = at % stride;
    to[at] =
        column < columns ? static_cast<To>(static_cast<accumulate_t<T>>(from[row * columns + column])) : To{};
  }
};

/// Puts the metadata of two windows into a byte. Windows that pad a row keep their first two places, since
/// the instructions take only ascending ones.
struct PadWindows {
  const std::uint8_t* from;
  std::int64_t windows, stride;
  std::uint8_t* to;

  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    const std::int64_t row = at / stride;
    unsigned out = 0;
    for (int half_of_byte = 0; half_of_byte < 2; ++half_of_byte) {
      const std::int64_t window = at % stride * 2 + half_of_byte, place = row * windows + window;
      const unsigned bits =
          window < windows ? static_cast<unsigned>(from[place / 2]) >> place % 2 * 4 & 0xfu : 0x4u;
      out |= bits << half_of_byte * 4;
    }
    to[at] = static_cast<std::uint8_t>(out);
  }
};

template <class Functor>
void for_each(const Kokkos::Cuda& space, const char* name, std::int64_t count, const Functor& functor) {
  Kokkos::parallel_for(
      name, Kokkos::RangePolicy<Kokkos::Cuda, Kokkos::IndexType<std::int64_t>>(space, 0, count), functor);
}

}  // namespace detail

/// to[row, column] = from[row, column], with rows `stride` elements apart and zeros after the last column.
/// @param from  [rows, columns]
/// @param to    [rows, stride]
template <class T, class To>
void pad_rows(const Kokkos::Cuda& space, const T* from, std::int64_t rows, std::int64_t columns,
              std::int64_t stride, To* to) {
  detail::for_each(space, "sporos::pad_rows", rows * stride,
                   detail::PadRows<T, To>{from, columns, stride, to});
}

/// Copies the metadata of 2:4 rows, 4 bits per window, to rows that begin `stride` bytes apart.
/// @param from  [rows, windows] of 4 bits
/// @param to    [rows, stride] of bytes
inline void pad_windows(const Kokkos::Cuda& space, const std::uint8_t* from, std::int64_t rows,
                        std::int64_t windows, std::int64_t stride, std::uint8_t* to) {
  detail::for_each(space, "sporos::pad_windows", rows * stride,
                   detail::PadWindows{from, windows, stride, to});
}

}  // namespace sporos::gpu

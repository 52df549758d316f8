// SPDX-License-Identifier: Apache-2.0
/// @file shared_inputs.hpp
/// Inputs of benchmarks on several ranks: every entry follows from its number or its coordinates alone, so
/// that any number of ranks make the same tensor, each a share of it.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <sporos/core/entries.hpp>
#include <sporos/core/level.hpp>
#include <sporos/core/space.hpp>
#include <vector>

namespace sporos::perf {

/// 64 bits that look random and follow from a number (Steele, Lea, Flood, "Fast splittable pseudorandom
/// number generators", OOPSLA 2014: the finaliser of SplitMix64).
KOKKOS_INLINE_FUNCTION std::uint64_t hashed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
/// In [0, 1).
KOKKOS_INLINE_FUNCTION double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }
/// The value at (row, column), in [0.5, 1.5).
KOKKOS_INLINE_FUNCTION double value_at(std::int64_t row, std::int64_t column) {
  return 0.5 + unit(hashed(hashed(static_cast<std::uint64_t>(row)) ^ static_cast<std::uint64_t>(column)));
}

/// Another number below 2^bits for each: neighbours are strewn.
inline std::int64_t strewn(std::int64_t number, int bits) {
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  auto x = static_cast<std::uint64_t>(number);
  for (int round = 0; round < 3; ++round) {
    x = (x * 0x9e3779b97f4a7c15u + 0x7f4a7c15u) & mask;  // odd: a bijection modulo 2^bits
    x ^= x >> (bits / 2 + 1);
  }
  return static_cast<std::int64_t>(x);
}

/// Edges [begin, end) of an R-MAT graph of 2^scale vertices in random order (Graph500: a = 0.57, b = c =
/// 0.19), as entries of a matrix. An edge may occur more than once.
inline Entries<double, 2> rmat_entries(int scale, const Bounds& edges) {
  const std::int64_t n = std::int64_t{1} << scale;
  Entries<double, 2> out({n, n}, edges.size());
  Kokkos::parallel_for(Kokkos::RangePolicy<Host, Kokkos::IndexType<std::int64_t>>(edges.begin, edges.end),
                       [&](std::int64_t edge) {
                         std::int64_t row = 0, column = 0;
                         for (int bit = 0; bit < scale; ++bit) {
                           const double x = unit(hashed(static_cast<std::uint64_t>(edge) * 64 +
                                                        static_cast<std::uint64_t>(bit)));
                           row = 2 * row + (x >= 0.76 ? 1 : 0);
                           column = 2 * column + ((x >= 0.57 && x < 0.76) || x >= 0.95 ? 1 : 0);
                         }
                         row = strewn(row, scale);
                         column = strewn(column, scale);
                         out.set(edge - edges.begin, {row, column}, value_at(row, column));
                       });
  return out;
}

/// Nonzeros [begin, end) of a tensor of order 3 whose extents are powers of 2: the chance of the coordinate
/// of rank c falls as 1 / c^(1/2), and coordinates are in random order.
inline Entries<double, 3> skewed_entries(const std::array<int, 3>& bits, const Bounds& nonzeros) {
  Entries<double, 3> out({std::int64_t{1} << bits[0], std::int64_t{1} << bits[1], std::int64_t{1} << bits[2]},
                         nonzeros.size());
  Kokkos::parallel_for(
      Kokkos::RangePolicy<Host, Kokkos::IndexType<std::int64_t>>(nonzeros.begin, nonzeros.end),
      [&](std::int64_t nonzero) {
        Extents<3> at{};
        for (std::size_t mode = 0; mode < 3; ++mode) {
          const double x = unit(hashed(static_cast<std::uint64_t>(nonzero) * 4 + mode));
          const auto extent = static_cast<double>(std::int64_t{1} << bits[mode]);
          at[mode] = strewn(static_cast<std::int64_t>(extent * x * x), bits[mode]);
        }
        out.set(nonzero - nonzeros.begin, at, value_at(at[0], at[1] ^ at[2]));
      });
  return out;
}

/// Rows of a matrix in CSR.
struct HostRows {
  std::vector<std::int64_t> positions{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
};

/// Planes [begin, end) of the matrix of a grid of side x side x planes points, each with its 26 neighbours.
inline HostRows grid_rows(std::int64_t side, std::int64_t all_planes, const Bounds& planes) {
  HostRows out;
  const std::int64_t rows = planes.size() * side * side;
  out.positions.reserve(static_cast<std::size_t>(rows) + 1);
  out.columns.reserve(static_cast<std::size_t>(27 * rows));
  for (std::int64_t z = planes.begin; z < planes.end; ++z)
    for (std::int64_t y = 0; y < side; ++y)
      for (std::int64_t x = 0; x < side; ++x) {
        for (std::int64_t c = std::max<std::int64_t>(z - 1, 0); c <= std::min(z + 1, all_planes - 1); ++c)
          for (std::int64_t b = std::max<std::int64_t>(y - 1, 0); b <= std::min(y + 1, side - 1); ++b)
            for (std::int64_t a = std::max<std::int64_t>(x - 1, 0); a <= std::min(x + 1, side - 1); ++a)
              out.columns.push_back(static_cast<std::int32_t>((c * side + b) * side + a));
        out.positions.push_back(std::ssize(out.columns));
      }
  out.values.resize(out.columns.size());
  const std::int64_t first = planes.begin * side * side;
  Kokkos::parallel_for(Kokkos::RangePolicy<Host, Kokkos::IndexType<std::int64_t>>(0, rows),
                       [&](std::int64_t row) {
                         const auto begin = out.positions[static_cast<std::size_t>(row)];
                         for (auto q = begin; q < out.positions[static_cast<std::size_t>(row) + 1]; ++q)
                           out.values[static_cast<std::size_t>(q)] =
                               value_at(first + row, out.columns[static_cast<std::size_t>(q)]);
                       });
  return out;
}

}  // namespace sporos::perf

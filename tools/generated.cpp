// SPDX-License-Identifier: Apache-2.0
/// @file generated.cpp
/// Generators that draw by number: an entry depends only on the seed and on the entry's number or coordinate,
/// and so not on the thread that draws it.
#include "generated.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <sporos/core/uint128.hpp>
#include <sporos/formats/chunks.hpp>
#include <utility>

#include "command.hpp"
#include "statistics.hpp"

namespace sporos::tool {
namespace {

using sporos::detail::chunk_bounds;
using sporos::detail::chunks_for;
using sporos::detail::for_each_chunk;
using sporos::detail::for_each_part;
using sporos::detail::uint128;

/// Random numbers as a function of their index: the finaliser of SplitMix64.
///
/// G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : start_(mixed(seed + step)) {}

  std::uint64_t bits(std::uint64_t number) const { return mixed(start_ + number * step); }
  /// A number in (0, 1].
  double part(std::uint64_t number) const { return static_cast<double>((bits(number) >> 11) + 1) * 0x1p-53; }
  /// The value at a coordinate, in (0, 1].
  template <int Order>
  double value_at(const Extents<Order>& coordinate) const {
    std::uint64_t place = 0;
    for (const std::int64_t i : coordinate) place = bits(place ^ static_cast<std::uint64_t>(i));
    return part(place);
  }

 private:
  static constexpr std::uint64_t step = 0x9e3779b97f4a7c15;

  static std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  std::uint64_t start_;
};

/// Calls body(number) for each number in [0, count), in parallel.
template <class Body>
void for_each_number(std::int64_t count, const Body& body) {
  const Host space;
  for_each_part(space, count, chunks_for(space, count),
                [&](std::int64_t begin, std::int64_t end, std::int64_t) {
                  for (std::int64_t at = begin; at < end; ++at) body(at);
                });
}

/// Makes a matrix row by row, in parallel.
/// @param count_of  returns the number of entries in a row
/// @param put       put(row, entries, at) writes the entries of a row, numbered from `at` on
template <class CountOf, class Put>
Entries<double, 2> by_rows(const Extents<2>& extents, const CountOf& count_of, const Put& put) {
  const Host space;
  const std::int64_t chunks = chunks_for(space, extents[0]);
  std::vector<std::int64_t> begins(static_cast<std::size_t>(chunks) + 1);
  for_each_part(space, extents[0], chunks, [&](std::int64_t begin, std::int64_t end, std::int64_t chunk) {
    std::int64_t count = 0;
    for (std::int64_t row = begin; row < end; ++row) count += count_of(row);
    begins[static_cast<std::size_t>(chunk) + 1] = count;
  });
  for (std::size_t chunk = 1; chunk < begins.size(); ++chunk) begins[chunk] += begins[chunk - 1];
  Entries<double, 2> out(extents, begins.back());
  for_each_part(space, extents[0], chunks, [&](std::int64_t begin, std::int64_t end, std::int64_t chunk) {
    std::int64_t at = begins[static_cast<std::size_t>(chunk)];
    for (std::int64_t row = begin; row < end; ++row) {
      put(row, out, at);
      at += count_of(row);
    }
  });
  return out;
}

/// The neighbours of a point of a grid, including itself, in ascending order. In a grid of fewer than three
/// dimensions, the missing dimensions have one point.
class Neighbours {
 public:
  Neighbours(const std::vector<std::int64_t>& grid, bool corners) : corners_(corners) {
    std::copy(grid.rbegin(), grid.rend(), grid_.rbegin());
  }

  std::int64_t points() const { return grid_[0] * grid_[1] * grid_[2]; }

  /// Calls body(neighbour) for each neighbour.
  template <class Body>
  void visit(std::int64_t point, const Body& body) const {
    const std::int64_t x = point % grid_[2], y = point / grid_[2] % grid_[1], z = point / grid_[2] / grid_[1];
    for (std::int64_t c = -1; c <= 1; ++c)
      for (std::int64_t b = -1; b <= 1; ++b)
        for (std::int64_t a = -1; a <= 1; ++a) {
          if (!corners_ && std::abs(a) + std::abs(b) + std::abs(c) > 1) continue;
          if (is_inside(z + c, 0) && is_inside(y + b, 1) && is_inside(x + a, 2))
            body(((z + c) * grid_[1] + y + b) * grid_[2] + x + a);
        }
  }
  std::int64_t count(std::int64_t point) const {
    std::int64_t out = 0;
    visit(point, [&](std::int64_t) { ++out; });
    return out;
  }

 private:
  bool is_inside(std::int64_t at, std::size_t dimension) const { return at >= 0 && at < grid_[dimension]; }

  std::array<std::int64_t, 3> grid_{1, 1, 1};
  bool corners_;
};

/// A random permutation of [0, size): a Feistel network over at least as many numbers, applied again while
/// its result is too large.
///
/// J. Black, P. Rogaway, "Ciphers with Arbitrary Finite Domains", CT-RSA 2002.
class Permutation {
 public:
  Permutation(uint128 size, const Draws& draws) : size_(size), draws_(draws) {
    int bits = 0;
    for (uint128 rest = size - 1; rest > 0; rest >>= 1) ++bits;
    half_ = (bits + 1) / 2;
    mask_ = (std::uint64_t{1} << half_) - 1;
  }

  uint128 of(uint128 number) const {
    do number = once(number);
    while (number >= size_);
    return number;
  }

 private:
  static constexpr std::uint64_t rounds = 6;

  uint128 once(uint128 number) const {
    auto left = static_cast<std::uint64_t>(number >> half_),
         right = static_cast<std::uint64_t>(number) & mask_;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      left ^= draws_.bits(draws_.bits(round) + right) & mask_;
      std::swap(left, right);
    }
    return static_cast<uint128>(left) << half_ | right;
  }

  uint128 size_;
  const Draws& draws_;
  int half_ = 0;
  std::uint64_t mask_ = 0;
};

template <int Order>
AnyEntries uniform_of_order(const std::vector<std::int64_t>& given, std::int64_t count, const Draws& draws) {
  Extents<Order> extents{};
  std::copy(given.begin(), given.end(), extents.begin());
  uint128 places = 1;
  for (const std::int64_t extent : extents) places *= static_cast<std::uint64_t>(extent);
  Entries<double, Order> out(extents, count);
  if (count == 0) return out;
  const Permutation permutation(places, draws);
  for_each_number(count, [&](std::int64_t at) {
    uint128 place = permutation.of(static_cast<std::uint64_t>(at));
    Extents<Order> coordinate{};
    for (std::size_t mode = coordinate.size(); mode-- > 0;) {
      const auto extent = static_cast<std::uint64_t>(extents[mode]);
      coordinate[mode] = static_cast<std::int64_t>(static_cast<std::uint64_t>(place % extent));
      place /= extent;
    }
    out.set(at, coordinate, draws.value_at<Order>(coordinate));
  });
  return merged(out, Duplicates::sum, false);
}

}  // namespace

Entries<double, 2> laplacian(const std::vector<std::int64_t>& grid, bool corners) {
  const Neighbours neighbours(grid, corners);
  const auto dimensions = static_cast<int>(grid.size());
  const double diagonal = corners ? std::pow(3, dimensions) - 1 : 2.0 * dimensions;
  return by_rows(
      {neighbours.points(), neighbours.points()}, [&](std::int64_t row) { return neighbours.count(row); },
      [&](std::int64_t row, Entries<double, 2>& out, std::int64_t at) {
        neighbours.visit(
            row, [&](std::int64_t column) { out.set(at++, {row, column}, column == row ? diagonal : -1.0); });
      });
}

Entries<double, 2> rmat(std::int64_t nodes, std::int64_t draws, std::uint64_t seed) {
  constexpr double upper = 0.57 + 0.19, upper_left = 0.57, lower_left = upper + 0.19;
  const auto levels = static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(nodes - 1)));
  const Draws random(seed);
  const auto edge = [&](std::uint64_t number) {
    Extents<2> at{0, 0};
    for (std::uint64_t level = 0; level < levels; ++level) {
      const double x = random.part(number * 64 + level);
      at[0] = 2 * at[0] + (x > upper);
      at[1] = 2 * at[1] + ((x > upper_left && x <= upper) || x > lower_left);
    }
    return at;
  };
  Entries<double, 2> out({nodes, nodes}, draws);
  for_each_number(draws, [&](std::int64_t number) {
    Extents<2> at{};
    // If the number of nodes is not a power of two, an edge may fall outside and is then drawn again.
    auto attempt = static_cast<std::uint64_t>(number);
    do {
      at = edge(attempt);
      attempt += static_cast<std::uint64_t>(draws);
    } while (at[0] >= nodes || at[1] >= nodes);
    out.set(number, at, random.value_at<2>(at));
  });
  return std::get<Entries<double, 2>>(merged(out, Duplicates::max, false));
}

AnyEntries uniform(const std::vector<std::int64_t>& extents, std::int64_t count, std::uint64_t seed) {
  const Draws draws(seed);
  switch (extents.size()) {
    case 1:
      return uniform_of_order<1>(extents, count, draws);
    case 2:
      return uniform_of_order<2>(extents, count, draws);
    case 3:
      return uniform_of_order<3>(extents, count, draws);
    case 4:
      return uniform_of_order<4>(extents, count, draws);
    case 5:
      return uniform_of_order<5>(extents, count, draws);
    default:
      return uniform_of_order<6>(extents, count, draws);
  }
}

Entries<double, 2> banded(const Extents<2>& extents, std::int64_t lower, std::int64_t upper,
                          std::uint64_t seed) {
  const Draws draws(seed);
  const auto columns = [&](std::int64_t row) {
    const std::int64_t begin = std::min(std::max<std::int64_t>(row - lower, 0), extents[1]);
    return std::pair(begin, std::max(begin, std::min(row + upper + 1, extents[1])));
  };
  return by_rows(
      extents,
      [&](std::int64_t row) {
        const auto [begin, end] = columns(row);
        return end - begin;
      },
      [&](std::int64_t row, Entries<double, 2>& out, std::int64_t at) {
        const auto [begin, end] = columns(row);
        for (std::int64_t column = begin; column < end; ++column)
          out.set(at++, {row, column}, draws.value_at<2>({row, column}));
      });
}

Entries<double, 2> identity(const Extents<2>& extents) {
  Entries<double, 2> out(extents, std::min(extents[0], extents[1]));
  for_each_number(out.size(), [&](std::int64_t at) { out.set(at, {at, at}, 1.0); });
  return out;
}

}  // namespace sporos::tool

// SPDX-License-Identifier: Apache-2.0
/// @file partition.hpp
/// Cutting the outermost loop into chunks with about the same number of nonzeros.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../core/expression.hpp"

namespace sporos {

namespace detail {

/// The number of positions of level Last that are below those positions of level K that come before p.
template <int Last, int K, class T>
std::int64_t positions_before(const T& tensor, std::int64_t p) {
  using F = typename T::format_type;
  if constexpr (K == Last) {
    return p;
  } else {
    const auto& below = tensor.template level<K + 1>();
    if constexpr (F::properties[static_cast<std::size_t>(K + 1)].full)
      return positions_before<Last, K + 1>(tensor, below.size(p));
    else
      return positions_before<Last, K + 1>(tensor, p > 0 ? below.view().pos_bounds(p - 1).end : 0);
  }
}

/// The number of positions of level Last that are below outermost coordinates less than c.
template <int Last, class T>
std::int64_t positions_below_coordinate(const T& tensor, std::int64_t c) {
  const auto& root = tensor.template level<0>();
  const auto level = root.view();
  if constexpr (T::format_type::properties[0].full) {
    return positions_before<Last, 0>(tensor, std::min(c, level.coord_bounds(0).end));
  } else {
    std::int64_t begin = 0;
    for (std::int64_t end = root.size(1); begin < end;) {
      const std::int64_t middle = begin + (end - begin) / 2;
      if (level.coord_at(middle) < c)
        begin = middle + 1;
      else
        end = middle;
    }
    return positions_before<Last, 0>(tensor, begin);
  }
}

/// The number of stored values whose outermost coordinate is less than c.
template <class T>
std::int64_t values_below_coordinate(const T& tensor, std::int64_t c) {
  using F = typename T::format_type;
  return positions_below_coordinate<F::levels - 1>(tensor, c / F::template expression<0>::block);
}

}  // namespace detail

/// The coordinates at which to cut [0, extent) into `count` chunks of about equal weight: count + 1
/// coordinates, the first 0 and the last `extent`. `below(c)` is the weight of [0, c) and does not decrease.
/// Cost: O(count log extent).
template <class Below>
std::vector<std::int64_t> cut(std::int64_t extent, std::int64_t count, const Below& below) {
  std::vector<std::int64_t> cuts(static_cast<std::size_t>(count + 1), 0);
  const double total = static_cast<double>(below(extent));
  for (std::int64_t piece = 1; piece < count; ++piece) {
    const auto target =
        static_cast<std::int64_t>(total * static_cast<double>(piece) / static_cast<double>(count));
    std::int64_t low = cuts[static_cast<std::size_t>(piece - 1)];
    std::int64_t high = extent;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (below(middle) < target)
        low = middle + 1;
      else
        high = middle;
    }
    cuts[static_cast<std::size_t>(piece)] = low;
  }
  cuts.back() = extent;
  return cuts;
}

template <class A>
inline constexpr std::size_t mode_of_outermost = std::size_t{A::format::mode_of_level[0]};

/// Cuts the outermost loop of an expression over `Variable` by the nonzeros of the largest operand whose
/// outermost level holds that variable; evenly if there is none.
template <char Variable, class Right>
std::vector<std::int64_t> cut_by_nonzeros(const Right& right, std::int64_t extent, std::int64_t count) {
  std::int64_t most = -1;
  std::vector<std::int64_t> cuts;
  for_each_access(right, [&](const auto& access) {
    using A = std::remove_cvref_t<decltype(access)>;
    if constexpr (A::level_names.size > 0) {
      constexpr bool sorted = A::format::levels > 0 && A::format::properties[0].ordered;
      if constexpr (A::level_names[0] == Variable && sorted) {
        if (A::format::is_dense ? most >= 0 : access.tensor().nnz() <= most) return;
        most = A::format::is_dense ? 0 : access.tensor().nnz();
        // Empty rows take time as well: each coordinate weighs as much as a quarter of a nonzero.
        const auto& whole = detail::whole_of(access.tensor());
        std::int64_t first = 0;
        if constexpr (is_part_v<typename A::tensor_type>)
          first = access.tensor().first()[mode_of_outermost<A>];
        const std::int64_t before = first > 0 ? detail::values_below_coordinate(whole, first) : 0;
        cuts = cut(extent, count, [&](std::int64_t c) {
          return detail::values_below_coordinate(whole, first + c) - before + c / 4;
        });
      }
    }
  });
  if (cuts.empty()) cuts = cut(extent, count, [](std::int64_t c) { return c; });
  return cuts;
}

}  // namespace sporos

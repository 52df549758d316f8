// SPDX-License-Identifier: Apache-2.0
/// @file nonzero_cuts.hpp
/// NonzeroCuts: a division of a tensor's coordinates, in lexicographic order, into runs with equally many
/// nonzeros.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "../core/entries.hpp"
#include "../core/error.hpp"
#include "../core/extents.hpp"
#include "agree.hpp"
#include "communicator.hpp"

namespace sporos::detail {

/// Throws ShapeError for the first entry outside the extents.
template <class Value, int Order>
void expect_inside(const Entries<Value, Order>& entries, const Extents<Order>& extents) {
  if (entries.extents != extents)
    throw ShapeError(text("entries of a tensor of ", to_string(entries.extents),
                          " cannot be distributed as one of ", to_string(extents)));
  for (std::size_t mode = 0; mode < extents.size(); ++mode)
    for (std::int64_t e = 0; e < entries.size(); ++e)
      if (const std::int64_t c = entries.coordinates[mode].data()[e]; c < 0 || c >= extents[mode])
        throw ShapeError(text("entry ", e, " lies at ", coordinate_text(entries.coordinate(e)),
                              ", outside a tensor of ", to_string(extents)));
}

/// The coordinates of a tensor in lexicographic order, the longest mode first, cut into a run for each rank:
///
///     a 6 x 4 matrix with a heavy row, on 3 ranks, 12 nonzeros
///
///              j 0  1  2  3
///         i 0    a                 rank 0: a b c d
///           1       b
///           2    c  d│ e  f        cut at (2, 2): the heavy row is split
///           3    g       h         rank 1: e f g h
///          ──────────────────      cut at (4, 0): between rows
///           4    i  k              rank 2: i k l m
///           5          l  m
///
/// So a rank shares slices of the longest mode, whose factor has the most rows, only with those before and
/// behind it, and of a slice that is split, fibers of the next mode. A cut that is within a tolerance of the
/// border of a slice, or of a fiber, is moved there. These are fine-grain tasks as in O. Kaya, B. Uçar,
/// "Scalable sparse tensor decompositions in distributed memory systems", SC 2015, divided by an order and
/// not by partitioning a hypergraph.
template <int Order>
class NonzeroCuts {
 public:
  /// How far a cut is moved at most, to spare a slice, as a part of the average number of nonzeros of a rank:
  /// the rank with the most has 1 + 2 * tolerance times the average at most.
  static constexpr double tolerance = 0.02;

  /// Cuts by the entries of all ranks, of which each has some; entries at the same coordinate stay together.
  /// Collective.
  /// @throws ShapeError, on all ranks, for an entry outside the extents
  /// Cost: a sort of this rank's entries, and a sum over ranks of one number for each cut in each of as many
  /// steps as the extents have binary digits.
  template <class Value>
  NonzeroCuts(const Communicator& ranks, const Entries<Value, Order>& entries) {
    std::iota(modes_.begin(), modes_.end(), 0);
    std::stable_sort(modes_.begin(), modes_.end(), [&](int a, int b) {
      return entries.extents[static_cast<std::size_t>(a)] > entries.extents[static_cast<std::size_t>(b)];
    });
    const auto count = static_cast<std::size_t>(ranks.size() - 1);
    std::vector<Extents<Order>> sorted;
    std::vector<Search> searches;
    std::vector<std::int64_t> mine, sums;  // of this rank and of all, made before ranks wait for each other
    std::int64_t all = 0;
    jointly(ranks, [&] {
      expect_inside(entries, entries.extents);
      sorted.resize(static_cast<std::size_t>(entries.size()));
      for (std::int64_t e = 0; e < entries.size(); ++e)
        sorted[static_cast<std::size_t>(e)] = in_order(entries.coordinate(e));
      std::sort(sorted.begin(), sorted.end());
      searches.resize(count);
      mine.resize(2 * count);
      sums.resize(2 * count);
      cuts_.resize(count);
      Signature signature("the cuts of nonzeros");
      for (const std::int64_t extent : entries.extents) signature.mix(static_cast<std::uint64_t>(extent));
      agree(ranks, signature, "Distribution::fine_grained");
    });
    all = ranks.sum(entries.size());
    for (std::size_t cut = 0; cut < count; ++cut) {
      searches[cut].target = share(all, static_cast<std::int64_t>(cut) + 1, ranks.size());
      searches[cut].end = sorted.size();
    }
    const auto slack = static_cast<std::int64_t>(tolerance * static_cast<double>(all) / ranks.size());
    for (std::size_t level = 0; level < modes; ++level) {
      const std::int64_t extent = entries.extents[static_cast<std::size_t>(modes_[level])];
      find_slices(ranks, sorted, level, extent, searches, sums);
      settle(ranks, sorted, level, slack, searches, mine, sums);
    }
  }

  /// The rank to whose run a coordinate belongs.
  int owner(const Extents<Order>& coordinate) const {
    const auto behind = std::upper_bound(cuts_.begin(), cuts_.end(), in_order(coordinate));
    return static_cast<int>(behind - cuts_.begin());
  }

  /// The modes in the order in which coordinates are compared.
  const std::array<int, static_cast<std::size_t>(Order)>& order() const { return modes_; }

  /// Where each run begins, and the last ends, in coordinates of the first of these modes.
  /// @param extent  that of the mode
  std::vector<std::int64_t> begins(std::int64_t extent) const {
    std::vector<std::int64_t> out{0};
    for (const auto& cut : cuts_) out.push_back(cut[0]);
    out.push_back(extent);
    return out;
  }

  Signature signature() const {
    Signature out("cuts");
    for (const int mode : modes_) out.mix(static_cast<std::uint64_t>(mode));
    for (const auto& cut : cuts_)
      for (const std::int64_t c : cut) out.mix(static_cast<std::uint64_t>(c));
    return out;
  }

 private:
  static constexpr auto modes = static_cast<std::size_t>(Order);

  /// A cut that is searched for: before the nonzero number `target` of all ranks.
  struct Search {
    std::int64_t target = 0;
    std::int64_t before = 0;           ///< nonzeros of all ranks before the slice that is searched
    std::size_t begin = 0, end = 0;    ///< this rank's nonzeros of that slice
    std::int64_t least = 0, most = 0;  ///< coordinates between which the cut is known to lie
    bool is_settled = false;
  };

  /// part / parts of a number, which may be large.
  static std::int64_t share(std::int64_t number, std::int64_t part, std::int64_t parts) {
    return number / parts * part + number % parts * part / parts;
  }

  Extents<Order> in_order(const Extents<Order>& coordinate) const {
    Extents<Order> out{};
    for (std::size_t level = 0; level < modes; ++level)
      out[level] = coordinate[static_cast<std::size_t>(modes_[level])];
    return out;
  }

  /// The number of this rank's nonzeros of a slice whose coordinate at `level` is less than c.
  static std::int64_t count_before(const std::vector<Extents<Order>>& sorted, const Search& search,
                                   std::size_t level, std::int64_t c) {
    const auto at = [&](std::size_t place) { return sorted.begin() + static_cast<std::ptrdiff_t>(place); };
    return std::partition_point(at(search.begin), at(search.end),
                                [&](const Extents<Order>& one) { return one[level] < c; }) -
           at(search.begin);
  }

  /// Finds, by bisection, the coordinate at `level` of the nonzero before which each cut lies.
  static void find_slices(const Communicator& ranks, const std::vector<Extents<Order>>& sorted,
                          std::size_t level, std::int64_t extent, std::vector<Search>& searches,
                          std::vector<std::int64_t>& sums) {
    const auto middle = [](const Search& one) { return one.least + (one.most - one.least) / 2; };
    for (Search& one : searches) {
      one.least = 0;
      one.most = std::max<std::int64_t>(extent - 1, 0);
    }
    const auto is_open = [](const Search& one) { return !one.is_settled && one.least < one.most; };
    while (std::any_of(searches.begin(), searches.end(), is_open)) {
      for (std::size_t cut = 0; cut < searches.size(); ++cut)
        sums[cut] = is_open(searches[cut])
                        ? count_before(sorted, searches[cut], level, middle(searches[cut]) + 1)
                        : 0;
      ranks.sum(sums.data(), std::ssize(searches));
      for (std::size_t cut = 0; cut < searches.size(); ++cut) {
        Search& one = searches[cut];
        if (!is_open(one)) continue;
        const std::int64_t at = middle(one);
        if (one.before + sums[cut] > one.target)
          one.most = at;
        else
          one.least = at + 1;
      }
    }
  }

  /// Places the cuts that lie close to a border of the slices that were found; the others go on inside.
  void settle(const Communicator& ranks, const std::vector<Extents<Order>>& sorted, std::size_t level,
              std::int64_t slack, std::vector<Search>& searches, std::vector<std::int64_t>& mine,
              std::vector<std::int64_t>& sums) {
    for (std::size_t cut = 0; cut < searches.size(); ++cut) {
      const Search& one = searches[cut];
      mine[2 * cut] = one.is_settled ? 0 : count_before(sorted, one, level, one.least);
      mine[2 * cut + 1] = one.is_settled ? 0 : count_before(sorted, one, level, one.least + 1);
    }
    std::copy(mine.begin(), mine.end(), sums.begin());
    ranks.sum(sums.data(), std::ssize(sums));
    for (std::size_t cut = 0; cut < searches.size(); ++cut) {
      Search& one = searches[cut];
      if (one.is_settled) continue;
      const std::int64_t from_begin = one.target - (one.before + sums[2 * cut]);
      const std::int64_t to_end = one.before + sums[2 * cut + 1] - one.target;
      const bool is_last = level + 1 == modes;
      cuts_[cut][level] = one.least;
      if (is_last || std::min(from_begin, to_end) <= slack) {
        if (to_end < from_begin) ++cuts_[cut][level];
        one.is_settled = true;
        continue;
      }
      one.before += sums[2 * cut];
      one.end = one.begin + static_cast<std::size_t>(mine[2 * cut + 1]);
      one.begin += static_cast<std::size_t>(mine[2 * cut]);
    }
  }

  std::array<int, modes> modes_{};
  std::vector<Extents<Order>> cuts_;  ///< the first coordinates of the runs of ranks 1, 2, …, modes in order
};

}  // namespace sporos::detail

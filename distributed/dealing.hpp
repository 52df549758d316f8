// SPDX-License-Identifier: Apache-2.0
/// @file dealing.hpp
/// Dealing: which rank stores each nonzero of a tensor whose nonzeros are dealt out one by one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "../core/entries.hpp"
#include "../core/error.hpp"
#include "../core/extents.hpp"
#include "agree.hpp"
#include "communicator.hpp"
#include "exchange.hpp"
#include "nonzero_cuts.hpp"

namespace sporos::detail {

/// The owners of coordinates, given for single nonzeros by any ranks. No rank knows all of them: a
/// coordinate's home, a rank that follows from the coordinate, keeps its owner.
///
///     rank 0 gives   (0, 3) to rank 1          home of (0, 3) and (5, 2) is, say, rank 2, which keeps
///     rank 1 gives   (5, 2) to rank 0                (0, 3) → 1, (5, 2) → 0
///
/// A coordinate for which none has been given belongs to its home.
template <int Order>
class GivenOwners {
 public:
  GivenOwners() = default;

  /// @param owners  of the entries of this rank
  /// Collective.
  /// @throws ShapeError, on all ranks, for an entry outside the extents, an owner that is no rank, or another
  /// number of owners than of entries; CommError if the same coordinate is given different owners
  template <class Value>
  GivenOwners(const Communicator& ranks, const Entries<Value, Order>& entries, const std::vector<int>& owners)
      : ranks_(ranks) {
    constexpr std::string_view what = "Distribution::fine_grained with given owners";
    std::vector<Given> sent;
    Routes routes;
    jointly(ranks, [&] {
      expect_inside(entries, entries.extents);
      if (std::ssize(owners) != entries.size())
        throw ShapeError(text(owners.size(), " owners are given for ", entries.size(),
                              " entries: one is expected for each"));
      for (std::size_t e = 0; e < owners.size(); ++e)
        if (owners[e] < 0 || owners[e] >= ranks.size())
          throw ShapeError(text("entry ", e, " at ",
                                coordinate_text(entries.coordinate(static_cast<std::int64_t>(e))),
                                " is given to rank ", owners[e], ", expected 0 to ", ranks.size() - 1));
      routes = routes_home(entries);
      sent.reserve(routes.items.size());
      for (const std::int64_t e : routes.items)
        sent.push_back({entries.coordinate(e), owners[static_cast<std::size_t>(e)]});
      Signature signature(what);
      for (const std::int64_t extent : entries.extents) signature.mix(static_cast<std::uint64_t>(extent));
      agree(ranks, signature, what);
    });
    auto came = jointly(ranks, [&] { return exchange(ranks, sent, routes.sends, what); });
    std::uint64_t hash = 0;
    jointly(ranks, [&] {
      given_ = std::move(came.items);
      std::sort(given_.begin(), given_.end());
      given_.erase(std::unique(given_.begin(), given_.end()), given_.end());
      const auto twice = std::adjacent_find(given_.begin(), given_.end(), [](const Given& a, const Given& b) {
        return a.coordinate == b.coordinate;
      });
      if (twice != given_.end())
        throw CommError(text("coordinate ", coordinate_text(twice->coordinate), " is given to rank ",
                             twice->owner, " and to rank ", (twice + 1)->owner,
                             ": a nonzero has one owner, whichever ranks give it"));
      Signature signature("given owners");
      for (const Given& one : given_) {
        for (const std::int64_t c : one.coordinate) signature.mix(static_cast<std::uint64_t>(c));
        signature.mix(static_cast<std::uint64_t>(one.owner));
      }
      hash = signature.hash();
      agree(ranks, what);
    });
    signature_ = Signature("owners by home");
    for (const std::uint64_t one : ranks.all(hash)) signature_.mix(one);
  }

  /// The owners of the coordinates of entries, which their homes are asked for. Collective.
  template <class Value>
  std::vector<int> owners(const Entries<Value, Order>& entries, std::string_view what) const {
    Routes routes;
    std::vector<Extents<Order>> asked;
    jointly(ranks_, [&] {
      routes = routes_home(entries);
      asked.reserve(routes.items.size());
      for (const std::int64_t e : routes.items) asked.push_back(entries.coordinate(e));
      agree(ranks_, what);
    });
    const auto questions = jointly(ranks_, [&] { return exchange(ranks_, asked, routes.sends, what); });
    const auto answers = jointly(ranks_, [&] {
      std::vector<int> found;
      found.reserve(questions.items.size());
      for (const auto& coordinate : questions.items) found.push_back(owner_at_home(coordinate));
      return exchange(ranks_, found, questions.counts, what);
    });
    return jointly(ranks_, [&] {
      std::vector<int> out(routes.items.size());
      for (std::size_t at = 0; at < out.size(); ++at)
        out[static_cast<std::size_t>(routes.items[at])] = answers.items[at];
      return out;
    });
  }

  Signature signature() const { return signature_; }

 private:
  struct Given {
    Extents<Order> coordinate;
    std::int64_t owner;
    auto operator<=>(const Given&) const = default;
  };

  static int home(const Extents<Order>& coordinate, int ranks) {
    Signature out("home");
    for (const std::int64_t c : coordinate) out.mix(static_cast<std::uint64_t>(c));
    // The upper bits of the hash depend on all of the coordinate.
    return static_cast<int>((out.hash() >> 32) % static_cast<std::uint64_t>(ranks));
  }
  template <class Value>
  Routes routes_home(const Entries<Value, Order>& entries) const {
    return Routes::of(ranks_.size(), entries.size(), [&](std::int64_t e, const auto& send_to) {
      send_to(home(entries.coordinate(e), ranks_.size()));
    });
  }
  int owner_at_home(const Extents<Order>& coordinate) const {
    const auto found = std::lower_bound(given_.begin(), given_.end(), coordinate,
                                        [](const Given& one, const auto& c) { return one.coordinate < c; });
    return found != given_.end() && found->coordinate == coordinate ? static_cast<int>(found->owner)
                                                                    : ranks_.rank();
  }

  Communicator ranks_;
  std::vector<Given> given_;  ///< of the coordinates whose home this rank is, ascending
  Signature signature_;
};

/// Which rank stores each nonzero of a tensor: by cuts of all coordinates in order, or by given owners.
template <int Order>
class Dealing {
 public:
  explicit Dealing(NonzeroCuts<Order> cuts) : cuts_(std::move(cuts)), signature_(cuts_->signature()) {}
  explicit Dealing(GivenOwners<Order> owners) : given_(std::move(owners)), signature_(given_->signature()) {}

  /// The cuts; null if owners were given.
  const NonzeroCuts<Order>* cuts() const { return cuts_ ? &*cuts_ : nullptr; }

  /// The owner of each entry. Collective if owners were given.
  template <class Value>
  std::vector<int> owners(const Entries<Value, Order>& entries, std::string_view what) const {
    if (given_) return given_->owners(entries, what);
    std::vector<int> out(static_cast<std::size_t>(entries.size()));
    for (std::int64_t e = 0; e < entries.size(); ++e)
      out[static_cast<std::size_t>(e)] = cuts_->owner(entries.coordinate(e));
    return out;
  }

  Signature signature() const { return signature_; }
  bool operator==(const Dealing& other) const { return signature_.hash() == other.signature_.hash(); }

  /// "by given owners", or "in the order of modes 2, 0, 1"
  std::string str() const {
    if (given_) return "by given owners";
    std::string out = Order > 1 ? "in the order of modes " : "in the order of mode ";
    for (std::size_t level = 0; level < static_cast<std::size_t>(Order); ++level)
      out += text(level ? ", " : "", cuts_->order()[level]);
    return out;
  }

 private:
  std::optional<NonzeroCuts<Order>> cuts_;
  std::optional<GivenOwners<Order>> given_;
  Signature signature_;
};

}  // namespace sporos::detail

// SPDX-License-Identifier: Apache-2.0
/// @file distribution.hpp
/// Distribution: which rank stores each coordinate of a tensor.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/entries.hpp"
#include "../core/error.hpp"
#include "../core/extents.hpp"
#include "agree.hpp"
#include "communicator.hpp"
#include "dealing.hpp"
#include "partition.hpp"

namespace sporos {

namespace detail {
/// Chooses the constructor of a replicated distribution that is not collective.
struct Unchecked {};

/// The number of parts of each mode that makes parts about equally long in all modes: prime factors of the
/// number of ranks, largest first, go to the mode whose parts are longest.
template <int Order>
std::array<int, static_cast<std::size_t>(Order)> parts_of_bricks(int ranks, const Extents<Order>& extents) {
  std::vector<int> factors;
  for (int factor = 2; ranks > 1; ++factor)
    for (; ranks % factor == 0; ranks /= factor) factors.push_back(factor);
  std::array<int, static_cast<std::size_t>(Order)> parts;
  parts.fill(1);
  for (auto factor = factors.rbegin(); factor != factors.rend(); ++factor) {
    std::size_t longest = 0;
    for (std::size_t mode = 1; mode < parts.size(); ++mode)
      if (extents[mode] / parts[mode] > extents[longest] / parts[longest]) longest = mode;
    parts[longest] *= *factor;
  }
  return parts;
}
}  // namespace detail

/// The distribution of a tensor of `Order` modes over the ranks of a communicator: a partition of each mode.
/// It is independent of the tensor's format and of which rank computes what in a statement.
///
///     blocks(ranks, {6, 6})     cyclic(ranks, {6, 6})    grid(ranks, {6, 6}), 4 ranks    replicated
///
///        j                         j                        j
///       ┌─────────────┐           ┌─────────────┐          ┌──────┬──────┐             ┌─────────────┐
///     i │   rank 0    │         i │   rank 0    │        i │      │      │           i │             │
///       │   rank 0    │           │   rank 1    │          │rank 0│rank 1│             │   all of    │
///       ├─────────────┤           │   rank 2    │          │      │      │             │   it on     │
///       │   rank 1    │           │   rank 0    │          ├──────┼──────┤             │   every     │
///       │   rank 1    │           │   rank 1    │          │rank 2│rank 3│             │   rank      │
///       ├─────────────┤           │   rank 2    │          │      │      │             │             │
///       │   rank 2    │           └─────────────┘          └──────┴──────┘             └─────────────┘
///       └─────────────┘
///
/// A rank stores the coordinates that it owns in every mode; a mode with Partition::whole does not restrict
/// them. The parts of all modes form a grid, in which parts of the last mode have consecutive ranks. There
/// are as many parts as ranks, or just one: then every rank stores the whole tensor.
///
/// A fine-grained distribution deals out the nonzeros of a sparse tensor one by one instead (dealing.hpp). No
/// mode restricts what a rank stores, and local coordinates are the global ones:
///
///     fine_grained(ranks, entries), 3 ranks
///
///        j
///       ┌─────────────┐
///     i │   rank 0    │
///       │ 0 0 0 0│1 1 │    a row with many nonzeros, split
///       │   rank 1    │
///       ├─────────────┤
///       │   rank 2    │
///       └─────────────┘
template <int Order>
class Distribution {
 public:
  static constexpr int order = Order;
  static constexpr auto modes = static_cast<std::size_t>(Order);

  /// Everything on this process.
  Distribution() = default;

  /// A partition of each mode. Collective, like all functions here that make a distribution.
  /// @throws ShapeError if the number of parts is neither the number of ranks nor one; CommError if ranks
  /// give different partitions
  Distribution(Communicator ranks, std::array<Partition, modes> partitions)
      : ranks_(std::move(ranks)), partitions_(std::move(partitions)) {
    jointly(ranks_, [&] {
      std::int64_t parts = 1;
      for (const Partition& mode : partitions_) parts = saturated_product(parts, mode.parts());
      if (parts != 1 && parts != ranks_.size())
        throw ShapeError(
            text("the modes of a tensor are divided into ", parts, " parts, but there are ", ranks_.size(),
                 " ranks: there is one part for each rank, or one in all, which every rank has"));
      agree(ranks_, signature(), "Distribution");
    });
  }

  /// A replicated distribution without checks, which is not collective.
  Distribution(detail::Unchecked, Communicator ranks, const Extents<Order>& extents)
      : ranks_(std::move(ranks)), partitions_(whole(extents)) {}

  /// Every rank stores the whole tensor.
  static Distribution replicated(const Communicator& ranks, const Extents<Order>& extents) {
    return jointly(ranks, [&] { return Distribution(ranks, whole(extents)); });
  }
  /// Divides one mode as the partition says.
  static Distribution along(const Communicator& ranks, const Extents<Order>& extents, int mode,
                            const Partition& partition) {
    return jointly(ranks, [&] {
      auto out = whole(extents);
      if (partition.extent() != extent_of(extents, mode))
        throw ShapeError(text("a partition of ", partition.extent(), " coordinates divides mode ", mode,
                              " of extent ", extent_of(extents, mode)));
      out[static_cast<std::size_t>(mode)] = partition;
      return Distribution(ranks, std::move(out));
    });
  }
  /// Divides one mode into blocks of about equal size.
  static Distribution blocks(const Communicator& ranks, const Extents<Order>& extents, int mode = 0) {
    return jointly(ranks, [&] {
      return along(ranks, extents, mode, Partition::blocks(extent_of(extents, mode), ranks.size()));
    });
  }
  /// Deals out one mode in turn.
  static Distribution cyclic(const Communicator& ranks, const Extents<Order>& extents, int mode = 0,
                             std::int64_t block = 1) {
    return jointly(ranks, [&] {
      return along(ranks, extents, mode, Partition::cyclic(extent_of(extents, mode), ranks.size(), block));
    });
  }
  /// Divides one mode by given owners: coordinate c belongs to rank owners[c]; the list must be the same on
  /// every rank.
  static Distribution owned(const Communicator& ranks, const Extents<Order>& extents, int mode,
                            const std::vector<int>& owners) {
    return jointly(ranks,
                   [&] { return along(ranks, extents, mode, Partition::owned(owners, ranks.size())); });
  }
  /// Divides two modes into blocks, on a grid of ranks as square as their number allows.
  /// @throws ShapeError if the modes are the same, or not modes of the tensor
  static Distribution grid(const Communicator& ranks, const Extents<Order>& extents, int first = 0,
                           int second = 1) {
    static_assert(Order >= 2, "a grid divides two modes");
    int rows = static_cast<int>(std::sqrt(static_cast<double>(ranks.size())) + 0.5);
    while (ranks.size() % rows != 0) --rows;
    return jointly(ranks, [&] {
      const std::int64_t extent_of_first = extent_of(extents, first);
      const std::int64_t extent_of_second = extent_of(extents, second);
      if (first == second) throw ShapeError(text("a grid divides two modes, but mode ", first, " is both"));
      auto out = whole(extents);
      out.at(static_cast<std::size_t>(first)) = Partition::blocks(extent_of_first, rows);
      out.at(static_cast<std::size_t>(second)) = Partition::blocks(extent_of_second, ranks.size() / rows);
      return Distribution(ranks, std::move(out));
    });
  }
  /// Divides all modes into blocks, on a grid of ranks that makes each rank's part about equally long in all
  /// modes (S. Smith, G. Karypis, "A medium-grained algorithm for distributed sparse tensor factorization",
  /// IPDPS 2016).
  static Distribution bricks(const Communicator& ranks, const Extents<Order>& extents) {
    return jointly(ranks, [&] {
      const auto parts = detail::parts_of_bricks<Order>(ranks.size(), extents);
      auto out = whole(extents);
      for (std::size_t mode = 0; mode < modes; ++mode)
        if (parts[mode] > 1) out[mode] = Partition::blocks(extents[mode], parts[mode]);
      return Distribution(ranks, std::move(out));
    });
  }
  /// Divides one mode into ranges of coordinates with about equally many entries; each rank has some of the
  /// entries. Collective. Cost: a sum over ranks of one number for each coordinate.
  template <class Value>
  static Distribution balanced(const Communicator& ranks, const Entries<Value, Order>& entries,
                               int mode = 0) {
    return jointly(ranks, [&] {
      const auto m = static_cast<std::size_t>(mode);
      std::vector<std::int64_t> weights(static_cast<std::size_t>(extent_of(entries.extents, mode)));
      for (std::int64_t e = 0; e < entries.size(); ++e) {
        const std::int64_t c = entries.coordinates[m].data()[e];
        if (c < 0 || c >= entries.extents[m])
          throw ShapeError(
              text("entry ", e, " has coordinate ", c, " in mode ", mode, " of extent ", entries.extents[m]));
        ++weights[static_cast<std::size_t>(c)];
      }
      agree(ranks, Signature("balanced").mix(weights.size()), "Distribution::balanced");
      ranks.sum(weights.data(), std::ssize(weights));
      return along(ranks, entries.extents, mode, Partition::balanced(weights, ranks.size()));
    });
  }

  /// Deals out nonzeros so that all ranks have about equally many, each a run of the coordinates in
  /// lexicographic order, the longest mode first: slices are split only where they have too many
  /// (nonzero_cuts.hpp). The fine-grained distribution of O. Kaya, B. Uçar, "Scalable sparse tensor
  /// decompositions in distributed memory systems", SC 2015. Collective.
  /// @param entries  some of the entries on each rank; entries at the same coordinate count one by one, but
  ///                 are not separated
  /// @throws ShapeError, on all ranks, for an entry outside the extents
  template <class Value>
  static Distribution fine_grained(const Communicator& ranks, const Entries<Value, Order>& entries) {
    static_assert(Order >= 1, "a number has no nonzeros to be dealt out");
    return jointly(ranks, [&] {
      detail::NonzeroCuts<Order> cuts(ranks, entries);
      return Distribution(ranks, entries.extents, detail::Dealing<Order>(std::move(cuts)));
    });
  }
  /// Deals out nonzeros as given, by a hypergraph partitioner, say; a coordinate for which no owner is given
  /// belongs to a rank that follows from it. Collective.
  /// @param entries  some of the entries on each rank
  /// @param owners   the rank that is to store each of them
  /// @throws ShapeError, on all ranks, for an entry outside the extents, an owner that is no rank, or another
  /// number of owners than of entries; CommError if the same coordinate is given different owners
  /// Memory: each rank keeps its share of the coordinates and owners of all ranks.
  template <class Value>
  static Distribution fine_grained(const Communicator& ranks, const Entries<Value, Order>& entries,
                                   const std::vector<int>& owners) {
    static_assert(Order >= 1, "a number has no nonzeros to be dealt out");
    return jointly(ranks, [&] {
      detail::GivenOwners<Order> given(ranks, entries, owners);
      return Distribution(ranks, entries.extents, detail::Dealing<Order>(std::move(given)));
    });
  }

  const Communicator& ranks() const { return ranks_; }
  /// The partition of a mode; whole in a fine-grained distribution.
  const Partition& partition(int mode) const { return partitions_.at(static_cast<std::size_t>(mode)); }
  const std::array<Partition, modes>& partitions() const { return partitions_; }

  /// The extents of the whole tensor.
  Extents<Order> extents() const {
    Extents<Order> out{};
    for (std::size_t mode = 0; mode < modes; ++mode) out[mode] = partitions_[mode].extent();
    return out;
  }
  /// The extents of what a rank stores.
  Extents<Order> extents_on(int rank) const {
    Extents<Order> out{};
    for (std::size_t mode = 0; mode < modes; ++mode)
      out[mode] = partitions_[mode].count(part(static_cast<int>(mode), rank));
    return out;
  }
  Extents<Order> local_extents() const { return extents_on(ranks_.rank()); }

  /// The part of a mode that a rank has.
  int part(int mode, int rank) const {
    return rank / stride(mode) % partitions_[static_cast<std::size_t>(mode)].parts();
  }
  int part(int mode) const { return part(mode, ranks_.rank()); }

  /// The number of consecutive ranks that have the same part of a mode.
  int stride(int mode) const {
    int out = 1;
    for (std::size_t m = modes; m-- > static_cast<std::size_t>(mode) + 1;) out *= partitions_[m].parts();
    return out;
  }

  /// Whether every rank stores the whole tensor.
  bool is_replicated() const {
    return !dealing_ && std::all_of(partitions_.begin(), partitions_.end(),
                                    [](const Partition& mode) { return mode.parts() == 1; });
  }

  /// Whether nonzeros are dealt out one by one, over more than one rank.
  bool is_fine_grained() const { return dealing_ != nullptr; }
  /// How they are; null if they are not.
  const detail::Dealing<Order>* dealing() const { return dealing_.get(); }

  /// The rank that stores each entry; 0 if all do. Collective in a fine-grained distribution.
  template <class Value>
  std::vector<int> owners(const Entries<Value, Order>& entries, std::string_view what) const {
    if (dealing_) return dealing_->owners(entries, what);
    std::vector<int> out(static_cast<std::size_t>(entries.size()));
    for (std::int64_t e = 0; e < entries.size(); ++e)
      out[static_cast<std::size_t>(e)] = owner(entries.coordinate(e));
    return out;
  }

  /// The rank that stores a coordinate; 0 if all do.
  /// @throws StateError in a fine-grained distribution by given owners, which no rank knows alone
  int owner(const Extents<Order>& coordinate) const {
    if (dealing_) {
      if (!dealing_->cuts())
        throw StateError(
            "no rank alone knows the owners that were given to nonzeros: all ranks ask for them, by "
            "owners()");
      return dealing_->cuts()->owner(coordinate);
    }
    int rank = 0;
    for (std::size_t mode = 0; mode < modes; ++mode)
      rank = rank * partitions_[mode].parts() + partitions_[mode].owner(coordinate[mode]);
    return rank;
  }
  Extents<Order> local(const Extents<Order>& coordinate) const {
    Extents<Order> out{};
    for (std::size_t mode = 0; mode < modes; ++mode) out[mode] = partitions_[mode].local(coordinate[mode]);
    return out;
  }
  /// The global coordinate of a local one on a rank.
  Extents<Order> global(int rank, const Extents<Order>& local) const {
    Extents<Order> out{};
    for (std::size_t mode = 0; mode < modes; ++mode)
      out[mode] = partitions_[mode].global(part(static_cast<int>(mode), rank), local[mode]);
    return out;
  }

  bool operator==(const Distribution& other) const {
    return ranks_ == other.ranks_ && partitions_ == other.partitions_ &&
           (dealing_ && other.dealing_ ? *dealing_ == *other.dealing_ : dealing_ == other.dealing_);
  }
  /// A number that differs for different distributions.
  Signature signature() const {
    Signature out("distribution");
    for (const Partition& mode : partitions_) out.mix(mode.signature().hash());
    if (dealing_) out.mix(dealing_->signature().hash());
    return out;
  }

  /// "(ranges over 4 parts, whole)", "nonzeros over 4 ranks, in the order of modes 2, 0, 1"
  std::string str() const {
    if (dealing_) return text("nonzeros over ", ranks_.size(), " ranks, ", dealing_->str());
    if (is_replicated()) return ranks_.size() == 1 ? "on one rank" : "on every rank";
    std::string out = "(";
    for (std::size_t mode = 0; mode < modes; ++mode) out += (mode ? ", " : "") + partitions_[mode].str();
    return out + ")";
  }

 private:
  Distribution(Communicator ranks, const Extents<Order>& extents, detail::Dealing<Order> dealing)
      : ranks_(std::move(ranks)), partitions_(whole(extents)) {
    if (ranks_.size() > 1) dealing_ = std::make_shared<const detail::Dealing<Order>>(std::move(dealing));
  }

  static std::array<Partition, modes> whole(const Extents<Order>& extents) {
    std::array<Partition, modes> out;
    for (std::size_t mode = 0; mode < modes; ++mode) out[mode] = Partition::whole(extents[mode]);
    return out;
  }
  static std::int64_t extent_of(const Extents<Order>& extents, int mode) {
    if (mode < 0 || mode >= Order)
      throw ShapeError(text("mode ", mode, " of a tensor of order ", Order, ": modes are counted from 0"));
    return extents[static_cast<std::size_t>(mode)];
  }

  Communicator ranks_;
  std::array<Partition, modes> partitions_;
  std::shared_ptr<const detail::Dealing<Order>> dealing_;  ///< none: the partitions say who stores what
};

}  // namespace sporos

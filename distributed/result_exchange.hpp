// SPDX-License-Identifier: Apache-2.0
/// @file result_exchange.hpp
/// Dense results that ranks compute for others: sent to their owners, and added there.
#pragma once

#include <Kokkos_Core.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/array.hpp"
#include "../core/tensor.hpp"
#include "../formats/walk.hpp"
#include "agree.hpp"
#include "distribution.hpp"
#include "exchange.hpp"
#include "numbering.hpp"
#include "value_exchange.hpp"

namespace sporos::detail {

/// values[targets[at]] = received[at], or += received[at].
template <class Value>
struct PutValues {
  const std::int64_t* targets;
  const Value* received;
  Value* values;
  bool adds;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t at) const {
    Value& value = values[targets[at]];
    value = adds ? static_cast<Value>(value + received[at]) : received[at];
  }
};

/// Sends the values that each rank has for some coordinates of a dense tensor to the owners of these.
///
///     y(j) = A(i, j) * x(i), A by rows: rank 0 has sums for the columns 0 1 2 5 of its nonzeros, rank 1 for
///     2 3 4 5, and y belongs to rank 0 up to 2, to rank 1 from 3 on
///
///         rank 0:  0 1 2 ──→ y(0) y(1) y(2) += rank 0's, then y(2) += rank 1's
///                  5     ──→ rank 1: y(5) += rank 0's, then y(3) y(4) y(5) += rank 1's
///
/// Contributions are added in the order of ranks, so that a result does not depend on which message arrives
/// first. The exchange is planned once; a run moves only values.
template <class T>
class ResultExchange {
 public:
  using Value = typename T::value_type;
  using F = typename T::format_type;
  using Space = typename T::space_type;
  using memory_space = typename T::memory_space;
  static constexpr auto modes = static_cast<std::size_t>(T::order);
  static_assert(F::is_dense, "what a sparse result stores is not known before it is computed");

  ResultExchange() = default;

  /// @param mine          what this rank computes, with modes numbered by `numberings`
  /// @param touched       for each mode, which of these numbers this rank has values for; empty for all
  /// @param distribution  that of the result
  /// @param all_have_all  whether every rank computes all of it: then nothing is sent
  /// Collective.
  ResultExchange(const T& mine, const std::array<Numbering, modes>& numberings,
                 const std::array<std::vector<bool>, modes>& touched,
                 const Distribution<T::order>& distribution, bool all_have_all) {
    constexpr std::string_view what = "sending results to their owners";
    const Communicator& ranks = distribution.ranks();
    Entries<std::int64_t, T::order> sent;
    Routes routes;
    jointly(ranks, [&] {
      // A dense tensor's positions follow from its levels, so its values need not be read.
      using Host = HostSpaceOf<Space>;
      const Tensor<Value, F, Host> shape = mine.template move_to<Host>();
      sent = Entries<std::int64_t, T::order>(distribution.extents(), shape.nnz());
      std::int64_t count = 0;
      Walk(shape).visit_levels(0, shape.nnz(), [&](const Extents<F::levels>& at, std::int64_t q) {
        Extents<T::order> coordinate = F::coordinate(at);
        for (std::size_t mode = 0; mode < modes; ++mode) {
          if (coordinate[mode] >= shape.extents()[mode]) return;
          if (!touched[mode].empty() && !touched[mode][static_cast<std::size_t>(coordinate[mode])]) return;
          coordinate[mode] = numberings[mode].global(coordinate[mode]);
        }
        sent.set(count++, coordinate, q);
      });
      const bool everywhere = distribution.is_replicated();
      routes = Routes::of(ranks.size(), count, [&](std::int64_t e, const auto& send_to) {
        if (all_have_all) {
          if (everywhere || distribution.owner(sent.coordinate(e)) == ranks.rank()) send_to(ranks.rank());
        } else if (everywhere) {
          for (int rank = 0; rank < ranks.size(); ++rank) send_to(rank);
        } else {
          send_to(distribution.owner(sent.coordinate(e)));
        }
      });
      agree(ranks, what);
    });
    const auto came = jointly(ranks, [&] { return exchange(ranks, sent, routes, what); });
    jointly(ranks, [&] {
      const Extents<F::levels> extents = F::level_extents(distribution.local_extents());
      targets_ = make_array<std::int64_t, memory_space>("sporos::ResultExchange targets", came.items.size());
      const auto targets = Kokkos::create_mirror_view(Kokkos::HostSpace(), targets_);
      for (std::int64_t e = 0; e < came.items.size(); ++e) {
        const auto at = F::level_coordinates(distribution.local(came.items.coordinate(e)));
        std::int64_t position = 0;
        for (std::size_t k = 0; k < at.size(); ++k) position = position * extents[k] + at[k];
        targets(static_cast<std::size_t>(e)) = position;
      }
      Kokkos::deep_copy(targets_, targets);
      std::vector<std::int64_t> positions;
      positions.reserve(routes.items.size());
      for (const std::int64_t e : routes.items) positions.push_back(sent.values.data()[e]);
      values_ = ValueExchange<Value, Space>(ranks, 1, positions, routes.sends, came.counts);
      counts_ = came.counts;
      agree(ranks, what);
    });
  }

  /// Sends this rank's values to their owners.
  /// @param to      what this rank owns of the result
  /// @param clears  whether the old values are cleared first
  /// @param adds    whether values are added to the old ones, or replace them
  void run(const Space& space, const T& mine, const T& to, bool clears, bool adds) {
    values_.start(space, mine.values());
    if (clears) zero(space, to.values());
    values_.finish(space);
    std::int64_t begin = 0;
    for (const std::int64_t count : counts_) {
      if (count > 0) {
        const PutValues<Value> put{targets_.data() + begin, values_.received().data() + begin,
                                   to.values().data(), adds};
        Kokkos::parallel_for("sporos::ResultExchange put",
                             Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, count),
                             put);
      }
      begin += count;
    }
    space.fence("sporos::ResultExchange put");
  }

  const ValueExchange<Value, Space>& values() const { return values_; }
  std::int64_t held_bytes() const {
    return static_cast<std::int64_t>(targets_.extent(0)) * 8 + values_.held_bytes();
  }

 private:
  Array<std::int64_t, memory_space> targets_;
  std::vector<std::int64_t> counts_;
  ValueExchange<Value, Space> values_;
};

}  // namespace sporos::detail

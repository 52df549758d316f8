// SPDX-License-Identifier: Apache-2.0
/// @file result_exchange.hpp
/// Dense results that ranks compute for others: sent to their owners, and added there.
#pragma once

#include <Kokkos_Core.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/array.hpp"
#include "../core/tensor.hpp"
#include "../formats/named.hpp"
#include "../formats/walk.hpp"
#include "agree.hpp"
#include "distribution.hpp"
#include "exchange.hpp"
#include "numbering.hpp"
#include "value_exchange.hpp"

namespace sporos::detail {

/// values[targets[at]] = given[at], or += given[at], in rows of `width` values; given[sources[at]] if there
/// are sources.
template <class Value>
struct PutRows {
  const std::int64_t* targets;
  const std::int64_t* sources;
  const Value* given;
  Value* values;
  std::int64_t width;
  bool adds;

  /// Puts row number `at`.
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t at) const { some(at, 0, width); }
  /// Puts the values of a row from `first` to `end`.
  KOKKOS_INLINE_FUNCTION void some(std::int64_t at, std::int64_t first, std::int64_t end) const {
    const Value* const from = given + (sources ? sources[at] : at) * width;
    Value* const to = values + targets[at] * width;
    if (adds)
      for (std::int64_t k = first; k < end; ++k) to[k] = static_cast<Value>(to[k] + from[k]);
    else
      for (std::int64_t k = first; k < end; ++k) to[k] = from[k];
  }
};

/// The same, a value for each thread, so that threads side by side write side by side.
template <class Value>
struct PutValues {
  PutRows<Value> rows;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t at) const {
    const std::int64_t row = at / rows.width, first = at - row * rows.width;
    rows.some(row, first, first + 1);
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
/// first. The exchange is planned once; a run moves only values. Rows of a matrix of consecutive rows that
/// are sent as a whole are planned as a whole.
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
    rank_ = static_cast<std::size_t>(ranks.rank());
    Entries<std::int64_t, T::order> sent;  // global coordinates and positions, in rows
    Routes routes;
    if (sends_rows(numberings, touched, distribution)) width_ = distribution.extents()[modes - 1];
    jointly(ranks, [&] {
      std::int64_t count = 0;
      const auto add = [&](Extents<T::order> coordinate, std::int64_t position) {
        for (std::size_t mode = 0; mode < modes; ++mode) {
          if (coordinate[mode] >= mine.extents()[mode]) return;
          if (!touched[mode].empty() && !touched[mode][static_cast<std::size_t>(coordinate[mode])]) return;
          coordinate[mode] = numberings[mode].global(coordinate[mode]);
        }
        sent.set(count++, coordinate, position);
      };
      if (width_ > 1) {
        const std::int64_t rows = mine.extents()[0];
        sent = Entries<std::int64_t, T::order>(distribution.extents(), rows);
        Extents<T::order> coordinate{};
        for (std::int64_t row = 0; row < rows; ++row) {
          coordinate[0] = row;
          add(coordinate, row);
        }
      } else {
        // A dense tensor's positions follow from its levels, so its values need not be read.
        using Host = HostSpaceOf<Space>;
        const Tensor<Value, F, Host> shape = mine.template move_to<Host>();
        sent = Entries<std::int64_t, T::order>(distribution.extents(), shape.nnz());
        Walk(shape).visit_levels(
            0, shape.nnz(), [&](const Extents<F::levels>& at, std::int64_t q) { add(F::coordinate(at), q); });
      }
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
        targets(static_cast<std::size_t>(e)) = position / width_;
      }
      Kokkos::deep_copy(targets_, targets);
      std::vector<std::int64_t> positions, own;
      positions.reserve(routes.items.size());
      std::size_t item = 0;
      for (std::size_t rank = 0; rank < routes.sends.size(); ++rank)
        for (std::int64_t left = routes.sends[rank]; left > 0; --left)
          (rank == rank_ ? own : positions)
              .push_back(sent.values.data()[static_cast<std::size_t>(routes.items[item++])]);
      own_ = make_array<std::int64_t, memory_space>("sporos::ResultExchange own", std::ssize(own));
      Kokkos::deep_copy(own_, HostArray<const std::int64_t>(own.data(), own.size()));
      counts_ = came.counts;
      auto sends = routes.sends, receives = came.counts;
      sends[rank_] = receives[rank_] = 0;  // what stays is added from where it is
      values_ = ValueExchange<Value, Space>(ranks, width_, positions, sends, receives);
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
    std::int64_t begin = 0, received = 0;
    for (std::size_t rank = 0; rank < counts_.size(); ++rank) {
      const std::int64_t count = counts_[rank];
      if (count > 0) {
        const bool stays = rank == rank_;
        const PutRows<Value> put{targets_.data() + begin,
                                 stays ? own_.data() : nullptr,
                                 stays ? mine.values().data() : values_.received().data() + received * width_,
                                 to.values().data(),
                                 width_,
                                 adds};
        if (!stays) received += count;
        using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;
        if constexpr (HostSpace<Space>)
          Kokkos::parallel_for("sporos::ResultExchange put", Range(space, 0, count), put);
        else
          Kokkos::parallel_for("sporos::ResultExchange put", Range(space, 0, count * width_),
                               PutValues<Value>{put});
      }
      begin += count;
    }
    space.fence("sporos::ResultExchange put");
  }

  const ValueExchange<Value, Space>& values() const { return values_; }
  std::int64_t held_bytes() const {
    return static_cast<std::int64_t>(targets_.extent(0) + own_.extent(0)) * 8 + values_.held_bytes();
  }

 private:
  /// Whether the values of a row are consecutive, and go to the same ranks; the same on all ranks.
  static bool sends_rows(const std::array<Numbering, modes>& numberings,
                         const std::array<std::vector<bool>, modes>& touched,
                         const Distribution<T::order>& distribution) {
    if constexpr (std::is_same_v<F, DenseMatrix<>>)
      return numberings[1].is_whole() && touched[1].empty() && distribution.partition(1).parts() == 1 &&
             distribution.extents()[1] > 1;
    else
      return false;
  }

  std::int64_t width_ = 1;                     ///< number of values of a row
  Array<std::int64_t, memory_space> targets_;  ///< rows of the owner's part, in the order of arrival
  Array<std::int64_t, memory_space> own_;      ///< rows of this rank's values that stay here
  std::size_t rank_ = 0;
  std::vector<std::int64_t> counts_;  ///< of rows from each rank
  ValueExchange<Value, Space> values_;
};

}  // namespace sporos::detail

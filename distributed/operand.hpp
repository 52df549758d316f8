// SPDX-License-Identifier: Apache-2.0
/// @file operand.hpp
/// What a rank needs of an operand, in the numbering of its part of a statement: used in place, renumbered,
/// or fetched from the ranks that store it.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "../core/array.hpp"
#include "../core/tensor.hpp"
#include "../formats/assemble.hpp"
#include "../formats/walk.hpp"
#include "agree.hpp"
#include "coordinate_arrays.hpp"
#include "distribution.hpp"
#include "exchange.hpp"
#include "numbering.hpp"
#include "row_fetch.hpp"
#include "value_exchange.hpp"

namespace sporos::detail {

/// values[p] = received[slots[p] - 1], or 0 if slots[p] is 0.
template <class Value>
struct UnpackSlots {
  const std::int64_t* slots;
  const Value* received;
  Value* values;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p) const {
    values[p] = slots[p] > 0 ? received[slots[p] - 1] : Value{};
  }
};

/// How a rank gets its part of an operand.
enum class Obtained { direct, renumbered, rows, fetched };

/// The part of a tensor that a rank's part of a statement needs, with the coordinates of each mode numbered
/// as the statement numbers its variable.
///
///     direct       the rank stores just that: its local tensor
///     renumbered   the rank stores it under other coordinates: the local tensor's values, with coordinates
///                  of its own
///     rows         rows of others around the rank's own (row_fetch.hpp)
///     fetched      values from other ranks: a tensor of its own, filled again at each run
///
/// Fetching is planned once: each rank asks for the coordinates that it needs, and the owners keep lists of
/// what to send to whom. A run then moves only values.
template <class T>
class LocalOperand {
 public:
  using Value = typename T::value_type;
  using F = typename T::format_type;
  using Space = typename T::space_type;
  using memory_space = typename T::memory_space;
  static constexpr auto modes = static_cast<std::size_t>(T::order);

  /// @param access      the same on all ranks
  /// @param numberings  the numbering of each mode
  /// @param needed      for each mode, the list of coordinates whose values matter, if these are fewer: no
  ///                    others travel
  /// @param local       what this rank stores, according to `distribution`
  /// Collective if it is fetched.
  LocalOperand(Obtained access, const std::array<Numbering, modes>& numberings,
               const std::array<Numbering, modes>& needed, const T& local,
               const Distribution<T::order>& distribution)
      : access_(access), source_(local), tensor_(local) {
    if (access == Obtained::renumbered) renumber(numberings);
    if constexpr (stores_rows<F>)
      if (access == Obtained::rows) {
        rows_ = RowFetch<T>(numberings[0], local, distribution);
        tensor_ = rows_.tensor();
      }
    if (access == Obtained::fetched) fetch(numberings, needed, distribution);
  }

  const T& tensor() const { return tensor_; }
  Obtained access() const { return access_; }

  /// Reads the present values of the source; between start and finish, messages are in flight.
  void start(const Space& space) {
    if (access_ == Obtained::renumbered && source_.values().data() != tensor_.values().data())
      tensor_.replace(tensor_.extents(), tensor_.levels(), source_.values());
    if constexpr (stores_rows<F>)
      if (access_ == Obtained::rows) rows_.start(space);
    if (access_ == Obtained::fetched) values_.start(space, source_.values());
  }
  void finish(const Space& space) {
    if constexpr (stores_rows<F>)
      if (access_ == Obtained::rows) rows_.finish(space);
    if (access_ != Obtained::fetched) return;
    values_.finish(space);
    if (tensor_.nnz() == 0) return;
    const UnpackSlots<Value> unpack{slots_.data(), values_.received().data(), tensor_.values().data()};
    Kokkos::parallel_for("sporos::LocalOperand unpack",
                         Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, tensor_.nnz()),
                         unpack);
    space.fence("sporos::LocalOperand unpack");
  }

  std::int64_t messages() const { return values().messages(); }
  std::int64_t bytes_sent() const { return values().bytes_sent(); }
  std::int64_t bytes_received() const { return values().bytes_received(); }
  std::int64_t held_bytes() const {
    if (access_ == Obtained::direct) return 0;
    const std::int64_t own_values = tensor_.nnz() * static_cast<std::int64_t>(sizeof(Value));
    if (access_ == Obtained::renumbered) return tensor_.bytes() - own_values;
    return tensor_.bytes() + static_cast<std::int64_t>(slots_.extent(0)) * 8 + values().held_bytes();
  }

 private:
  const ValueExchange<Value, Space>& values() const {
    if constexpr (stores_rows<F>)
      if (access_ == Obtained::rows) return rows_.values();
    return values_;
  }
  static Extents<T::order> sizes(const std::array<Numbering, modes>& numberings) {
    Extents<T::order> out{};
    for (std::size_t mode = 0; mode < modes; ++mode) out[mode] = numberings[mode].size();
    return out;
  }

  void renumber(const std::array<Numbering, modes>& numberings) {
    auto levels = copied_levels(source_);
    for (std::size_t mode = 0; mode < modes; ++mode)
      if (numberings[mode].is_list())
        renumber_mode<F>(levels, static_cast<int>(mode), NumberTable(numberings[mode]));
    tensor_ = T(sizes(numberings), std::move(levels), source_.values(), source_.owner());
  }

  /// For each coordinate of a mode that this rank stores, the ranks that have asked for it, ascending.
  struct Asked {
    std::vector<std::int64_t> begins;
    std::vector<int> ranks;

    template <class F_>
    void for_each(std::int64_t c, const F_& f) const {
      for (auto at = begins[static_cast<std::size_t>(c)]; at < begins[static_cast<std::size_t>(c) + 1]; ++at)
        f(ranks[static_cast<std::size_t>(at)]);
    }
    bool has(std::int64_t c, int rank) const {
      const auto begin = ranks.begin() + begins[static_cast<std::size_t>(c)];
      return std::binary_search(begin, ranks.begin() + begins[static_cast<std::size_t>(c) + 1], rank);
    }
  };

  /// Asks for the coordinates of a list from the ranks that may store them.
  static Asked ask(const Numbering& numbering, const Distribution<T::order>& distribution, int mode) {
    const Communicator& ranks = distribution.ranks();
    const Partition& partition = distribution.partition(mode);
    std::vector<std::int64_t> asked, counts(static_cast<std::size_t>(ranks.size()));
    const auto ask_all = [&] {
      std::vector<std::vector<std::int64_t>> of_part(static_cast<std::size_t>(partition.parts()));
      for (const std::int64_t c : numbering.coordinates())
        of_part[static_cast<std::size_t>(partition.owner(c))].push_back(c);
      for (int rank = 0; rank < ranks.size(); ++rank) {
        const auto& part = of_part[static_cast<std::size_t>(distribution.part(mode, rank))];
        asked.insert(asked.end(), part.begin(), part.end());
        counts[static_cast<std::size_t>(rank)] = std::ssize(part);
      }
    };
    const auto came = jointly(ranks, [&] {
      ask_all();
      return exchange(ranks, asked, counts, "fetching an operand");
    });
    Asked out;
    const std::int64_t stored = partition.count(distribution.part(mode));
    out.begins.assign(static_cast<std::size_t>(stored) + 1, 0);
    for (const std::int64_t c : came.items) ++out.begins[static_cast<std::size_t>(partition.local(c)) + 1];
    for (std::size_t c = 0; c < static_cast<std::size_t>(stored); ++c) out.begins[c + 1] += out.begins[c];
    out.ranks.resize(came.items.size());
    auto next = out.begins;
    std::size_t at = 0;
    for (int rank = 0; rank < ranks.size(); ++rank)
      for (std::int64_t count = came.counts[static_cast<std::size_t>(rank)]; count > 0; --count, ++at)
        out.ranks[static_cast<std::size_t>(
            next[static_cast<std::size_t>(partition.local(came.items[at]))]++)] = rank;
    return out;
  }

  void fetch(const std::array<Numbering, modes>& numberings, const std::array<Numbering, modes>& needed,
             const Distribution<T::order>& distribution) {
    const Communicator& ranks = distribution.ranks();
    const bool everywhere = distribution.is_replicated();
    std::array<std::optional<Asked>, modes> asked;
    if (!everywhere)
      for (std::size_t mode = 0; mode < modes; ++mode)
        if (needed[mode].is_list()) asked[mode] = ask(needed[mode], distribution, static_cast<int>(mode));

    Entries<std::int64_t, T::order> sent;  // global coordinates and positions of what this rank stores
    Routes routes;
    jointly(ranks, [&] {
      const auto here = source_.template move_to<HostSpaceOf<Space>>();
      sent = Entries<std::int64_t, T::order>(distribution.extents(), here.nnz());
      std::vector<Extents<T::order>> locals(static_cast<std::size_t>(here.nnz()));
      std::int64_t count = 0;
      Walk(here).visit_levels(0, here.nnz(), [&](const Extents<F::levels>& at, std::int64_t q) {
        const Extents<T::order> local = F::coordinate(at);
        for (std::size_t mode = 0; mode < modes; ++mode)
          if (local[mode] >= here.extents()[mode]) return;  // a block at the edge extends beyond it
        locals[static_cast<std::size_t>(count)] = local;
        sent.set(count++, distribution.global(ranks.rank(), local), q);
      });
      std::array<std::vector<std::vector<int>>, modes> ranks_of;  // for each part of a division
      for (std::size_t mode = 0; mode < modes; ++mode)
        if (const Division* division = numberings[mode].division()) {
          ranks_of[mode].resize(static_cast<std::size_t>(division->partition.parts()));
          for (int rank = 0; rank < ranks.size(); ++rank)
            ranks_of[mode][static_cast<std::size_t>(division->part(rank))].push_back(rank);
        }
      routes = Routes::of(ranks.size(), count, [&](std::int64_t e, const auto& send_to) {
        const Extents<T::order>& local = locals[static_cast<std::size_t>(e)];
        const auto needs = [&](int rank) {
          for (std::size_t mode = 0; mode < modes; ++mode) {
            if (asked[mode] && !asked[mode]->has(local[mode], rank)) return false;
            if (const Division* division = numberings[mode].division())
              if (division->part(rank) != division->partition.owner(sent.coordinates[mode].data()[e]))
                return false;
          }
          return true;
        };
        if (everywhere) {
          for (std::size_t mode = 0; mode < modes; ++mode)
            if (numberings[mode].local(sent.coordinates[mode].data()[e]) < 0) return;
          send_to(ranks.rank());
          return;
        }
        for (std::size_t mode = 0; mode < modes; ++mode)
          if (asked[mode])
            return asked[mode]->for_each(local[mode], [&](int rank) {
              if (needs(rank)) send_to(rank);
            });
        for (std::size_t mode = 0; mode < modes; ++mode)
          if (const Division* division = numberings[mode].division()) {
            for (const int rank : ranks_of[mode][static_cast<std::size_t>(
                     division->partition.owner(sent.coordinates[mode].data()[e]))])
              if (needs(rank)) send_to(rank);
            return;
          }
        for (int rank = 0; rank < ranks.size(); ++rank) send_to(rank);
      });
      agree(ranks, "fetching an operand");
    });
    auto came = exchange(ranks, sent, routes, "fetching an operand");
    jointly(ranks, [&] {
      for (std::size_t mode = 0; mode < modes; ++mode) {
        const NumberTable number(numberings[mode]);
        std::int64_t* const coordinates = came.items.coordinates[mode].data();
        for (std::int64_t e = 0; e < came.items.size(); ++e) coordinates[e] = number(coordinates[e]);
      }
      for (std::int64_t e = 0; e < came.items.size(); ++e) came.items.values.data()[e] = e + 1;
      came.items.extents = sizes(numberings);
      const auto slots = assemble<F, Space>(came.items);
      slots_ = slots.values();
      tensor_ = T(slots.extents(), slots.levels(),
                  zeroed_array<Value, memory_space>("sporos::LocalOperand values", slots.nnz()));
      std::vector<std::int64_t> positions;
      positions.reserve(routes.items.size());
      for (const std::int64_t e : routes.items) positions.push_back(sent.values.data()[e]);
      values_ = ValueExchange<Value, Space>(ranks, 1, positions, routes.sends, came.counts);
    });
  }

  Obtained access_;
  T source_;
  T tensor_;
  Array<std::int64_t, memory_space> slots_;
  ValueExchange<Value, Space> values_;
  std::conditional_t<stores_rows<F>, RowFetch<T>, std::nullptr_t> rows_{};
};

}  // namespace sporos::detail

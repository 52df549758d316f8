// SPDX-License-Identifier: Apache-2.0
/// @file merged.hpp
/// The nest's candidate for sparse results that scatter over several variables and come in runs over the last
/// one: runs are inserted, sorted and merged.
///
/// After Zhang, Hsu, Kjolstad, *Compilation of Modular and General Sparse Workspaces* (PLDI 2024), section 4,
/// whose four stages these are:
///
///     Insert    the loops append each value to the accumulation array, with its last coordinate; the other
///               coordinates are stored once for a run of values that share them (runs.hpp)
///     Sort      the numbers of the runs are sorted by these coordinates; the values stay where they are
///     Merge     the runs of one row are added up, on all threads (merge_runs.hpp)
///     Compress  the rows become the levels of the result
///
/// An accumulation array that is full is sorted and merged before the loops go on. What comes of it is kept
/// as runs, one for each row, which are merged in turn.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../formats/storage_bound.hpp"
#include "../../workspace/dense.hpp"
#include "../nest/nest_run.hpp"
#include "../nest/term_bound.hpp"
#include "known_places.hpp"
#include "merge_runs.hpp"
#include "sampled_work.hpp"
#include "sorted_rows.hpp"

namespace sporos {

/// The loop nest with a sparse result that scatters over several variables, the innermost of which is that of
/// the result's last level.
struct MergedNest {
  static constexpr std::string_view name = "loop nest, merged";
  static constexpr bool deterministic = true;
  static constexpr std::string_view less_memory =
      "bind the result's outer variables in the outermost loops with .reorder(...), or compute it in parts";
  static constexpr bool any_schedule = true;

  template <class S>
  static constexpr bool comes_in_runs() {
    using Nest = detail::NestOf<S>;
    using Format = typename Nest::Format;
    using Compute = typename Nest::Compute;
    if constexpr (!HostSpace<typename S::space_type> || Nest::classification.kind != ResultKind::listed ||
                  Format::is_blocked || Format::levels < 2 ||
                  !std::is_same_v<typename S::schedule::workspace_policy, AutomaticWorkspace> ||
                  !S::schedule::is_arithmetic || !S::schedule::loops::are_plain ||
                  std::is_same_v<Compute, bool> ||
                  !(std::is_arithmetic_v<Compute> || is_complex_v<Compute>)) {
      return false;
    } else {
      constexpr auto names = S::result_type::level_names;
      constexpr auto order = S::order::names;
      return order[Nest::classification.bound_depth - 1] == names[names.size - 1];
    }
  }
  template <class S>
  static constexpr bool matches = comes_in_runs<S>();

  template <class S>
  static Offer cost(const S& statement, const Resources<typename S::space_type>&) {
    constexpr double seconds_of_term = 8e-9, seconds_of_run = 120e-9;
    constexpr double seconds_of_count = 5e-9;  // all loops but the innermost run once more
    using Format = typename S::result_type::format;
    const auto extents = Format::level_extents(statement.result().tensor().extents());
    if (!fits_dense(extents[Format::levels - 1], sizeof(typename detail::NestOf<S>::Compute)))
      return Declined{"the rows of the result are too long for a dense accumulator"};
    if (!detail::Packing<Format>::fits(
            detail::largest_coordinates<Format>(statement.result().tensor().extents())))
      return Declined{"the coordinates of the result do not fit in 63 bits"};
    const auto work = detail::sampled_work(statement);
    return Cost{work.terms * seconds_of_term + work.runs * seconds_of_run + work.begun * seconds_of_count};
  }

  template <class S>
  class Plan;
};

template <class S>
class MergedNest::Plan {
  using Nest = detail::NestRun<S>;
  using Traits = typename Nest::Traits;
  using Compute = typename Nest::Compute;
  using Space = typename Nest::Space;
  using Value = typename Nest::Value;
  using Format = typename Nest::Format;
  static constexpr int last = Format::levels - 1;
  using Level = typename Format::template level<last>;
  using Position = typename detail::PositionOf<Level>::type;
  using Coordinate = typename detail::CoordinateOf<Level>::type;
  using Accumulation = detail::RunArray<Compute, Coordinate>;
  using Part = typename Accumulation::Part;
  using Sorted = detail::SortedRows<Value, Position, Coordinate>;
  using All = detail::MergedRuns<Compute, Coordinate>;

 public:
  Plan(const S& statement, const Resources<Space>&)
      : nest_(statement),
        packing_(detail::largest_coordinates<Format>(statement.result().tensor().extents())),
        cuts_(nest_.cuts(most_chunks)),
        most_of_chunk_(cuts_.size() - 1) {}

  void run() {
    nest_.read_operands();
    count();
    std::vector<Part> parts(most_of_chunk_.size());
    std::size_t begin = 0;
    std::int64_t capacity = first_capacity, used = 0;
    Accumulation array(most_at_once());
    All all(0);
    for (;;) {
      const std::size_t end = place(parts, begin, capacity);
      const std::int64_t room = end > begin ? parts[end - 1].end : 0;
      used = std::max(used, room);
      insert(array, parts, begin, end);
      const auto runs = runs_of(array, parts, begin, end);
      if (end == parts.size() && all.empty()) {
        const Sorted sorted = merge<Value, Position>(runs);
        array.release(used);
        detail::replace_by_rows(nest_.space(), result(), packing_, sorted);
        return;
      }
      if (all.empty()) all = All(total());
      const std::int64_t before = all.size();
      all.add(merge<Compute, std::int64_t>(runs, all.room()));
      if (all.size() - before > room / 3) capacity = most_capacity;
      begin = end;
      if (begin == parts.size()) break;
      if (all.size() - all.first_size() > all.first_size() / 2 + capacity) {
        All merged(total());
        merged.add(merge<Compute, std::int64_t>(all.runs(nest_.space()), merged.room()));
        all.release();
        all = std::move(merged);
      }
    }
    array.release(used);
    const Sorted sorted = merge<Value, Position>(all.runs(nest_.space()));
    all.release();
    detail::replace_by_rows(nest_.space(), result(), packing_, sorted);
  }

  void refill() {
    nest_.read_operands();
    if (!places_.refill(nest_)) run();
  }
  std::int64_t held_bytes() const { return places_.bytes(); }

  Bytes bytes() const {
    count();
    const std::int64_t added = total(), at_once = most_at_once();
    Bytes out;
    const StorageBound bound = storage_bound<Format, Value>(result().extents(), added);
    out.values = bound.values;
    out.result = bound.bytes;
    // A run for each value at worst: its row and place, sorted with a spare, and a row of a product.
    constexpr std::int64_t of_value = sizeof(Compute) + sizeof(Coordinate);
    constexpr std::int64_t of_run = sizeof(detail::Run) + 2 * 8 + 2 * (8 + 4) + 2 * 8 + 2 * sizeof(Compute);
    const std::int64_t columns = Format::level_extents(result().extents())[last];
    out.workspace = at_once * (of_value + of_run) + added * 2 * (of_value + 24) +
                    nest_.space().concurrency() * columns * static_cast<std::int64_t>(sizeof(Compute) + 2) +
                    overhead * (1 + nest_.space().concurrency());
    return out;
  }

  void explain(std::ostream& out) const {
    constexpr auto names = S::result_type::level_names;
    out << text("  result: scattered over several variables; runs over ", names[last],
                " are inserted, sorted and merged\n");
  }

 private:
  /// Values of the accumulation array: so few that they stay in the caches, unless it turns out that few of
  /// them have the coordinates of others. Then the time goes into merging what is kept, the less often the
  /// better.
  static constexpr std::int64_t first_capacity = std::int64_t{1} << 19, most_capacity = std::int64_t{1} << 22;
  /// Chunks that the outermost loop is cut into, whatever the number of threads, since the values of one
  /// coordinate are added in the order of the chunks.
  static constexpr std::int64_t most_chunks = 512;
  static constexpr std::int64_t overhead = std::int64_t{2} << 20;

  const auto& result() const { return nest_.statement().result().tensor(); }
  Bounds chunk(std::size_t at) const { return {cuts_[at], cuts_[at + 1]}; }

  /// Counts how many values each chunk can give, by running all loops but the innermost one.
  void count() const {
    const auto chunks = static_cast<std::int64_t>(most_of_chunk_.size());
    detail::for_each_chunk(nest_.space(), chunks, [&](std::int64_t number) {
      const auto at = static_cast<std::size_t>(number);
      auto bounds = nest_.bounds();
      bounds.outermost = chunk(at);
      bounds.first_chunk = number == 0;
      most_of_chunk_[at] = detail::TermBound<Traits>(bounds).of(nest_.source());
    });
  }
  std::int64_t total() const {
    return std::accumulate(most_of_chunk_.begin(), most_of_chunk_.end(), std::int64_t{0});
  }
  /// The most values that the accumulation array holds at a time.
  std::int64_t most_at_once() const {
    std::int64_t most = std::min(most_capacity, total());
    for (const std::int64_t of_chunk : most_of_chunk_) most = std::max(most, of_chunk);
    return most;
  }
  /// Places parts from `begin` on one behind the other, as many as the accumulation array has room for, one
  /// at least.
  /// @return the end of those that were placed
  std::size_t place(std::vector<Part>& parts, std::size_t begin, std::int64_t capacity) const {
    std::int64_t used = 0;
    std::size_t at = begin;
    for (; at < parts.size() && (at == begin || used + most_of_chunk_[at] <= capacity); ++at) {
      parts[at] = {.begin = used, .end = used + most_of_chunk_[at]};
      used = parts[at].end;
    }
    return at;
  }
  void insert(const Accumulation& array, std::vector<Part>& parts, std::size_t begin, std::size_t end) const {
    detail::for_each_chunk(nest_.space(), static_cast<std::int64_t>(end - begin), [&](std::int64_t number) {
      const std::size_t at = begin + static_cast<std::size_t>(number);
      auto cursor = array.cursor(parts[at]);
      nest_.run(chunk(at), static_cast<std::int64_t>(at),
                RunOutput<Traits, Format, Compute, Coordinate>(&cursor, packing_));
      array.close(parts[at], cursor);
    });
  }

  /// The runs of some parts. Room that was not needed becomes a run that no row has.
  detail::Runs<Compute, Coordinate> runs_of(const Accumulation& array, const std::vector<Part>& parts,
                                            std::size_t begin, std::size_t end) const {
    std::vector<std::int64_t> first{0};
    for (std::size_t at = begin; at < end; ++at) first.push_back(first.back() + parts[at].runs + 1);
    detail::Runs<Compute, Coordinate> out{first.back(),
                                          pool().array<detail::Key>("sporos::rows", first.back()),
                                          pool().array<std::int64_t>("sporos::positions", first.back() + 1),
                                          array.coordinates(), array.values()};
    detail::for_each_chunk(nest_.space(), static_cast<std::int64_t>(end - begin), [&](std::int64_t number) {
      const Part& part = parts[begin + static_cast<std::size_t>(number)];
      const detail::Run* const runs = array.runs(part);
      std::int64_t to = first[static_cast<std::size_t>(number)];
      for (std::int64_t run = 0; run < part.runs; ++run, ++to) {
        out.rows.data()[to] = runs[run].row;
        out.positions.data()[to] = runs[run].begin;
      }
      out.rows.data()[to] = detail::no_key;
      out.positions.data()[to] = part.begin + part.size;
    });
    out.positions.data()[out.count] = end > begin ? parts[end - 1].end : 0;
    return out;
  }

  template <class To, class ToPosition>
  auto merge(const detail::Runs<Compute, Coordinate>& runs,
             const std::pair<HostArray<Coordinate>, HostArray<To>>& room = {}) const {
    const auto extents = Format::level_extents(result().extents());
    return detail::merge_runs<To, ToPosition>(nest_.space(), runs, extents[last],
                                              packing_.template bits_of<last>().width, packing_.bits(), room);
  }

  Nest nest_;
  detail::Packing<Format> packing_;
  std::vector<std::int64_t> cuts_;
  mutable std::vector<std::int64_t> most_of_chunk_;  ///< how many values each chunk can give
  detail::KnownPlaces<S> places_;
};

}  // namespace sporos

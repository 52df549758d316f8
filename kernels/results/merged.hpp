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
/// A full accumulation array is sorted and merged before the loops go on. The outcome is kept as runs, one
/// for each row, which are merged in turn.
///
/// If a run is a multiple of a fiber of an operand, as in A(i, j) = B(i, k) * C(k, j) with the loops over k
/// and i outside, its values are not copied: the row, the factor and the number of the fiber are inserted,
/// and the merge reads the operand (fiber_runs.hpp). Where rows are long and few columns occur in the
/// operand, the merge works with the numbers of these (compact_columns.hpp): its time and memory do not
/// depend on the extent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "../../formats/storage_bound.hpp"
#include "../../workspace/dense.hpp"
#include "../nest/nest_run.hpp"
#include "../nest/term_bound.hpp"
#include "compact_columns.hpp"
#include "known_places.hpp"
#include "merge_runs.hpp"
#include "sampled_work.hpp"
#include "sorted_rows.hpp"

namespace sporos {

namespace detail {

/// The most values that an accumulation array of runs holds, and twice the most runs that an array of
/// multiples of fibers holds. Tests set it lower, so that small operands fill the array several times.
inline std::int64_t most_accumulated = std::int64_t{1} << 22;

}  // namespace detail

/// The loop nest with a sparse result that scatters over several variables, if the innermost of these belongs
/// to the result's last level.
struct MergedNest {
  static constexpr std::string_view name = "loop nest, merged";
  static constexpr std::string_view takes =
      "sparse results in host memory that scatter over several variables of which the innermost loop binds "
      "the last, of numbers, without blocks, .workspace(...), .split(...) or .fuse(...)";
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
  /// Whether runs are multiples of an operand's fibers, and inserted as such.
  template <class S>
  static constexpr bool takes_fibers = !std::is_void_v<typename detail::FiberAccess<detail::NestOf<S>>::type>;

  /// The columns of such an operand that occur.
  template <class S>
  static auto compact_type() {
    if constexpr (takes_fibers<S>)
      return std::type_identity<
          detail::CompactColumns<decltype(detail::fibers_of<S>(std::declval<const S&>()))>>{};
    else
      return std::type_identity<std::monostate>{};
  }
  template <class S>
  using CompactOf = typename decltype(compact_type<S>())::type;

  template <class S>
  static Offer cost(const S& statement, const Resources<typename S::space_type>&) {
    // Runs without values are counted by running all loops but two, runs with values by all but the
    // innermost.
    constexpr bool fibers = takes_fibers<S>;
    constexpr double seconds_of_term = fibers ? 2.2e-9 : 8e-9, seconds_of_run = fibers ? 40e-9 : 120e-9;
    constexpr double seconds_of_count = fibers ? 0 : 5e-9, seconds_at_least = fibers ? 15e-6 : 0;
    using Format = typename S::result_type::format;
    const auto extents = Format::level_extents(statement.result().tensor().extents());
    std::int64_t columns = extents[Format::levels - 1];
    double seconds_of_columns = 0;
    if constexpr (fibers) {
      const auto matrix = detail::fibers_of<S>(statement);
      if (CompactOf<S>::pay(matrix)) {
        columns = matrix.nnz();
        seconds_of_columns = static_cast<double>(columns) * CompactOf<S>::seconds_of_nonzero;
      }
    }
    if (!fits_dense(columns, sizeof(typename detail::NestOf<S>::Compute)))
      return Declined{"the rows of the result are too long for a dense accumulator"};
    if (!detail::Packing<Format>::fits(
            detail::largest_coordinates<Format>(statement.result().tensor().extents())))
      return Declined{"the coordinates of the result do not fit in 63 bits"};
    if constexpr (takes_fibers<S>)
      if (detail::fibers_of<S>(statement).rows > std::numeric_limits<std::int32_t>::max())
        return Declined{"the operand along which the innermost loop goes has more than 2^31 fibers"};
    const auto work = detail::sampled_work(statement);
    return Cost{work.terms * seconds_of_term + work.runs * seconds_of_run + work.begun * seconds_of_count +
                seconds_of_columns + seconds_at_least};
  }

  template <class S>
  static constexpr std::string_view role_at(int) {
    return "inserted";
  }
  template <class S>
  static constexpr std::string_view parallel_text() {
    return "parallel: chunks of about equal nonzeros, inserted side by side";
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
  /// Whether the accumulation array holds runs without their values.
  static constexpr bool of_fibers = takes_fibers<S>;
  using Accumulation =
      std::conditional_t<of_fibers, detail::FiberArray<Compute>, detail::RunArray<Compute, Coordinate>>;
  template <class Cursor>
  using OutputOfFibers = FiberOutput<Traits, Format, Compute, Cursor>;
  using Output = std::conditional_t<of_fibers, OutputOfFibers<detail::FiberCursor<Compute>>,
                                    RunOutput<Traits, Format, Compute, Coordinate>>;
  using Part = typename Accumulation::Part;
  using Sorted = detail::SortedRows<Value, Position, Coordinate>;
  using All = detail::MergedRuns<Compute, Coordinate>;

 public:
  Plan(const S& statement, const Resources<Space>& resources)
      : nest_(statement),
        most_capacity_(std::clamp<std::int64_t>(resources.memory_limit() / (4 * bytes_of_inserted), 1,
                                                detail::most_accumulated / (of_fibers ? 2 : 1))),
        packing_(detail::largest_coordinates<Format>(statement.result().tensor().extents())),
        cuts_(nest_.cuts(most_chunks)),
        most_of_chunk_(cuts_.size() - 1) {}

  void run() {
    nest_.read_operands();
    count();
    compact_.reset();
    if constexpr (of_fibers) {
      const auto matrix = detail::fibers_of<S>(nest_.statement());
      if (CompactOf<S>::pay(matrix)) compact_.emplace(nest_.space(), matrix);
      if (counts_rows()) return run_by_counting();
    }
    std::vector<Part> parts(most_of_chunk_.size());
    std::size_t begin = 0;
    std::int64_t capacity = first_capacity(), used = 0;
    Accumulation array(most_at_once());
    All all(0);
    for (;;) {
      const std::size_t end = place(parts, begin, capacity);
      const std::int64_t room = end > begin ? parts[end - 1].end : 0;
      used = std::max(used, room);
      insert(array, parts, begin, end);
      if (end == parts.size() && all.empty()) {
        const Sorted sorted = merge_inserted<Value, Position>(array, parts, begin, end);
        array.release(used);
        make_result(sorted);
        return;
      }
      if (all.empty()) all = All(most_values());
      const std::int64_t before = all.size();
      all.add(merge_inserted<Compute, std::int64_t>(array, parts, begin, end, all.room()));
      // Where more than a third is left, few values have the coordinates of others: see first_capacity().
      constexpr std::int64_t inserted_for_one = 3;
      if (all.size() - before > room / inserted_for_one) capacity = most_capacity_;
      begin = end;
      if (begin == parts.size()) break;
      // Runs added since the first merge are merged into it once they exceed half its size plus one array. So
      // it grows in proportion, and each value is merged a logarithmic number of times.
      constexpr std::int64_t first_for_one = 2;
      if (all.size() - all.first_size() > all.first_size() / first_for_one + capacity) {
        All merged(most_values());
        merged.add(merge<Compute, std::int64_t>(all.runs(nest_.space()), merged.room()));
        all.release();
        all = std::move(merged);
      }
    }
    array.release(used);
    const Sorted sorted = merge<Value, Position>(all.runs(nest_.space()));
    all.release();
    make_result(sorted);
  }

  void refill() {
    nest_.read_operands();
    if (merges_again() || !places_.refill(nest_)) run();
  }
  std::int64_t held_bytes() const { return places_.bytes(); }

  Bytes bytes() const {
    count();
    const std::int64_t added = most_values();
    const std::int64_t at_once = of_fibers && counts_rows() ? total() : most_at_once();
    Bytes out;
    const StorageBound bound = storage_bound<Format, Value>(result().extents(), added);
    out.values = bound.values;
    out.result = bound.bytes;
    std::int64_t columns = Format::level_extents(result().extents())[last], of_columns = 0;
    if constexpr (of_fibers) {
      const auto matrix = detail::fibers_of<S>(nest_.statement());
      if (CompactOf<S>::pay(matrix)) {
        columns = matrix.nnz();
        of_columns = columns * CompactOf<S>::bytes_of_nonzero;
      }
    }
    out.workspace = of_columns + at_once * bytes_of_inserted + added * bytes_of_merged +
                    nest_.space().concurrency() * columns * static_cast<std::int64_t>(sizeof(Compute) + 2) +
                    overhead * (1 + nest_.space().concurrency());
    return out;
  }

  void explain(std::ostream& out) const {
    constexpr auto names = S::result_type::level_names;
    if constexpr (of_fibers)
      out << text("  result: scattered over several variables; multiples of fibers over ", names[last],
                  " are inserted, sorted and merged\n");
    else
      out << text("  result: scattered over several variables; runs over ", names[last],
                  " are inserted, sorted and merged\n");
  }

 private:
  /// Whether merging multiples of fibers again takes less time than adding each value to its place, which is
  /// in another row of the result than the last place. That is so if many values have the same coordinates.
  bool merges_again() {
    constexpr std::int64_t few = 4;  // values for each element of the result
    if (!of_fibers) return false;
    if (!merges_again_) merges_again_ = most_values() > few * result().nnz();
    return *merges_again_;
  }

  static constexpr std::int64_t of_value = sizeof(Compute) + sizeof(Coordinate), of_key = sizeof(detail::Key),
                                of_position = sizeof(std::int64_t), of_number = sizeof(std::int32_t);
  /// A value of the accumulation array, in the worst case, in which each has its own run: its row and place,
  /// sorted with a spare, and a row of a product.
  static constexpr std::int64_t bytes_of_inserted = of_value + sizeof(detail::Run) + (of_key + of_position) +
                                                    2 * (of_key + of_number) + (of_key + of_position) +
                                                    2 * sizeof(Compute);
  /// A value before or after a merge, with a row of its own: the row's key, its position, and where its runs
  /// begin. It exists twice, in what is read and in what is written.
  static constexpr std::int64_t bytes_of_merged = 2 * (of_value + of_key + 2 * of_position);

  /// The capacity of the first accumulation array: few enough values to stay in the caches. If it turns out
  /// that few of them have the same coordinates as others, later arrays are larger, because the time then
  /// goes into merging what is kept, which is best done rarely. Runs without values are read once, in the
  /// order in which they are sorted.
  std::int64_t first_capacity() const {
    constexpr std::int64_t part = 8;  // 2^19 values, some megabytes
    return of_fibers ? most_capacity_ : std::min(most_capacity_, detail::most_accumulated / part);
  }
  /// The number of chunks into which the outermost loop is cut. It does not depend on the number of threads,
  /// since the values of one coordinate are added in the order of the chunks.
  static constexpr std::int64_t most_chunks = 512;
  /// Bytes that a thread needs besides the values, and bytes that all threads share: the counts of a sort,
  /// the marks of a row, the chunks. Rounded up, since they do not depend on the operands.
  static constexpr std::int64_t overhead = std::int64_t{2} << 20;

  const auto& result() const { return nest_.statement().result().tensor(); }
  Bounds chunk(std::size_t at) const { return {cuts_[at], cuts_[at + 1]}; }

  /// Counts how many values each chunk can give, by running all loops but the innermost one; or how many runs
  /// without values, by running all loops but two.
  void count() const {
    const auto chunks = static_cast<std::int64_t>(most_of_chunk_.size());
    detail::for_each_chunk(nest_.space(), chunks, [&](std::int64_t number) {
      const auto at = static_cast<std::size_t>(number);
      auto bounds = nest_.bounds();
      bounds.outermost = chunk(at);
      bounds.first_chunk = number == 0;
      using Count = detail::TermBound<Traits, detail::Innermost::bounded, of_fibers ? 1 : 0>;
      most_of_chunk_[at] = Count(bounds).of(nest_.source());
    });
  }
  std::int64_t total() const {
    return std::accumulate(most_of_chunk_.begin(), most_of_chunk_.end(), std::int64_t{0});
  }
  /// The most values that the loops can give.
  std::int64_t most_values() const {
    if constexpr (of_fibers)
      return detail::TermBound<Traits>(nest_.bounds()).of(nest_.source());
    else
      return total();
  }
  /// The most values, or runs without values, that the accumulation array holds at a time.
  std::int64_t most_at_once() const {
    std::int64_t most = std::min(most_capacity_, total());
    for (const std::int64_t of_chunk : most_of_chunk_) most = std::max(most, of_chunk);
    return most;
  }
  /// Places parts contiguously, from `begin` on, as long as the accumulation array has room; at least one.
  /// @return the end of the parts that were placed
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
      nest_.run(chunk(at), static_cast<std::int64_t>(at), Output(&cursor, packing_));
      array.close(parts[at], cursor);
    });
  }

  /// The runs of some parts. Unused room becomes a run that belongs to no row.
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
  auto merge_inserted(const Accumulation& array, const std::vector<Part>& parts, std::size_t begin,
                      std::size_t end,
                      const std::pair<HostArray<Coordinate>, HostArray<To>>& room = {}) const {
    if constexpr (of_fibers) {
      detail::SortedFibers<Compute> fibers(array);
      const auto rows = detail::sort_runs(nest_.space(), {array.rows(), end > begin ? parts[end - 1].end : 0},
                                          bits_below_rows(), packing_.bits(), fibers);
      return merge_fibers<To, ToPosition>(rows, fibers, room);
    } else {
      return merge<To, ToPosition>(runs_of(array, parts, begin, end), room);
    }
  }

  template <class To, class ToPosition>
  auto merge_fibers(const detail::RowsOfRuns& rows, const detail::FibersOfRuns<Compute>& fibers,
                    const std::pair<HostArray<Coordinate>, HostArray<To>>& room = {}) const {
    const auto matrix = compact_ ? compact_->rows() : detail::fibers_of<S>(nest_.statement());
    return detail::merge_fibers<To, ToPosition, Coordinate>(nest_.space(), rows, fibers, matrix, room);
  }

  template <class To, class ToPosition>
  auto merge(const detail::Runs<Compute, Coordinate>& runs,
             const std::pair<HostArray<Coordinate>, HostArray<To>>& room = {}) const {
    return detail::merge_runs<To, ToPosition>(nest_.space(), runs, columns(), bits_below_rows(),
                                              packing_.bits(), room);
  }
  int bits_below_rows() const { return packing_.template bits_of<last>().width; }

  /// The number of different keys that rows can have.
  std::int64_t window() const {
    const auto largest = detail::largest_coordinates<Format>(result().extents());
    return static_cast<std::int64_t>(packing_.pack_levels(largest) >> bits_below_rows()) + 1;
  }
  /// Into how many parts the outermost loop is cut for counting.
  std::int64_t counted_parts() const {
    return std::min<std::int64_t>(detail::chunks_for(nest_.space(), total()),
                                  static_cast<std::int64_t>(most_of_chunk_.size()));
  }
  /// Whether runs are counted first and then inserted in their final places, without an accumulation array:
  /// the loops then run twice. The runs must fit in the memory that the operands take, or in an accumulation
  /// array.
  bool counts_rows() const {
    const std::int64_t runs = total();
    return runs > 0 && detail::ChunkCounts::pay(window(), runs, counted_parts()) &&
           runs <= std::max(most_capacity_, nonzeros_of_operands());
  }
  std::int64_t nonzeros_of_operands() const {
    std::int64_t sum = 0;
    for_each_access(nest_.statement().right(), [&](const auto& access) { sum += access.tensor().nnz(); });
    return sum;
  }

  void run_by_counting() {
    const auto chunks = static_cast<std::int64_t>(most_of_chunk_.size());
    detail::ChunkCounts counts(counted_parts(), window());
    const auto insert_all = [&](auto cursor_of) {
      detail::for_each_part(
          nest_.space(), chunks, counts.chunks(),
          [&](std::int64_t begin, std::int64_t end, std::int64_t part) {
            auto cursor = cursor_of(part);
            nest_.run({cuts_[static_cast<std::size_t>(begin)], cuts_[static_cast<std::size_t>(end)]}, begin,
                      OutputOfFibers<decltype(cursor)>(&cursor, packing_));
          });
    };
    insert_all([&](std::int64_t part) {
      counts.clear(part);
      return detail::CountingCursor{counts.of(part), bits_below_rows()};
    });
    const detail::RowsOfRuns rows = detail::rows_of_counts(nest_.space(), counts, 0, bits_below_rows());
    detail::FibersOfRuns<Compute> fibers;
    fibers.make(rows.runs());
    insert_all([&](std::int64_t part) {
      return detail::PlacingCursor<Compute>{counts.of(part), bits_below_rows(), fibers.fibers.data(),
                                            fibers.factors.data()};
    });
    make_result(merge_fibers<Value, Position>(rows, fibers));
  }

  /// The extent of the rows that are merged.
  std::int64_t columns() const {
    if constexpr (of_fibers)
      if (compact_) return compact_->rows().columns;
    return Format::level_extents(result().extents())[last];
  }
  void make_result(const Sorted& sorted) {
    if constexpr (of_fibers)
      if (compact_) {
        compact_->restore(nest_.space(), sorted.arrays.coordinates.data(), sorted.size());
        compact_.reset();
      }
    detail::replace_by_rows(nest_.space(), result(), packing_, sorted);
  }

  Nest nest_;
  std::optional<CompactOf<S>> compact_;  ///< while the rows are merged, if they are long
  std::int64_t most_capacity_;  ///< the most values, or runs without values, of an accumulation array
  detail::Packing<Format> packing_;
  std::vector<std::int64_t> cuts_;
  mutable std::vector<std::int64_t> most_of_chunk_;  ///< the most values, or runs, of each chunk
  detail::KnownPlaces<S> places_;
  std::optional<bool> merges_again_;  ///< set once it is known
};

}  // namespace sporos

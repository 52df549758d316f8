// SPDX-License-Identifier: Apache-2.0
/// @file merged.hpp
/// The nest's candidate for sparse results on a GPU: values are inserted into an array, sorted there, merged
/// with earlier ones, and made into the levels of the result.
///
/// The stages are those of Zhang, Hsu, Kjolstad, *Compilation of Modular and General Sparse Workspaces* (PLDI
/// 2024), section 4, in batches:
///
/// - Count: a thread for each chunk of the outermost loops, with about equal numbers of nonzeros
///   (by_positions.hpp), counts the chunk's values; a scan of the counts says where each chunk inserts, and
///   how many chunks fit in the accumulation array together;
/// - Insert: the nest runs again; each value goes to its place, with the coordinates of all levels packed;
/// - Sort: a radix sort by these keys; by comparison where coordinates need more than the 63 bits of a word;
/// - Merge: into the all array, of which there are two; entries with the same key are added up;
/// - Compress: level by level (build.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../../core/extents.hpp"
#include "../../../formats/storage_bound.hpp"
#include "../../../workspace/coordinate.hpp"
#include "../../../workspace/memory_budget.hpp"
#include "../../cuda/scan.hpp"
#include "../../nest/nest_run.hpp"
#include "../located.hpp"
#include "build.hpp"
#include "by_positions.hpp"

namespace sporos::gpu {

namespace detail {

using sporos::detail::EvenCuts;

/// Counts the values.
struct CountValues : EachValue<CountValues> {
  std::int64_t* count;

  explicit KOKKOS_INLINE_FUNCTION CountValues(std::int64_t* to) : count(to) {}
  template <class V, class Env>
  SPOROS_INLINE void add(const V&, const Env&) const {
    ++*count;
  }
};

/// Where the coordinate of a level goes in a key.
struct InsertPlace {
  int shift;
  Key* word;  ///< the words of all entries, if the level is the last one in its word; otherwise null
};

/// Where the coordinates of all levels go.
template <int Levels>
struct InsertPlaces {
  InsertPlace of_level[Levels];

  template <class T>
  InsertPlaces(const KeyLayout<Levels>& layout, const EntryArrays<T, Levels>& to) {
    for (int level = 0; level < Levels; ++level)
      of_level[level] = {layout.bits[level].shift,
                         layout.ends_word(level) ? to.keys[layout.word[level]].data() : nullptr};
  }
};

/// Inserts the values with their keys.
template <class Traits_, class T>
struct InsertValues : EachValue<InsertValues<Traits_, T>> {
  using A = typename Traits_::result;
  using F = typename A::format;

  InsertPlaces<F::levels> places;
  T* values;
  std::int64_t* next;

  KOKKOS_INLINE_FUNCTION InsertValues(const InsertPlaces<F::levels>& keys, T* to_values, std::int64_t* at)
      : places(keys), values(to_values), next(at) {}
  template <class V, class Env>
  SPOROS_INLINE void add(const V& value, const Env& env) const {
    write_key<0>(env, 0);
    values[*next] = static_cast<T>(value);
    ++*next;
  }

 private:
  /// @param word  the coordinates of the levels before K that share its word
  template <int K, class Env>
  SPOROS_INLINE void write_key(const Env& env, Key word) const {
    using Expression = typename F::template expression<K>;
    constexpr int loop = Traits_::order.find(A::level_names[K]);
    const InsertPlace& place = places.of_level[K];
    word |= static_cast<Key>(Expression::of(env.at[loop])) << place.shift;
    if constexpr (K + 1 == F::levels) {
      place.word[*next] = word;
    } else {
      if (place.word) {
        place.word[*next] = word;
        word = 0;
      }
      write_key<K + 1>(env, word);
    }
  }
};

/// The memory of a plan, borrowed from the scratch memory of the stream.
template <class T, int Words>
struct MergedMemory : StageMemory {
  EntryArrays<T, Words> batch, spare, all, joined, merged;

  std::int64_t bytes() const {
    return StageMemory::bytes() + batch.bytes() + spare.bytes() + all.bytes() + joined.bytes() +
           merged.bytes();
  }
};

/// The first pass: one thread for each chunk counts its values.
template <class Traits, class Source>
struct CountLoops {
  Source source;
  typename Traits::bounds_type bounds;
  EvenCuts cuts;
  std::int64_t* counts;  // [chunks]

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t chunk) const {
    std::int64_t count = 0;
    sporos::detail::run_nest<Traits>(source, bounds, Bounds{cuts[chunk], cuts[chunk + 1]}, chunk == 0,
                                     CountValues(&count));
    counts[chunk] = count;
  }
};

/// The second pass: one thread for each chunk from `first` on inserts its values.
template <class Traits, class Source, class T>
struct InsertLoops {
  Source source;
  typename Traits::bounds_type bounds;
  EvenCuts cuts;
  const std::int64_t* begins;  // [chunks + 1] where each chunk inserts
  std::int64_t first;
  InsertPlaces<Traits::result::format::levels> places;
  T* values;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t number) const {
    const std::int64_t chunk = first + number;
    std::int64_t next = begins[chunk] - begins[first];
    sporos::detail::run_nest<Traits>(source, bounds, Bounds{cuts[chunk], cuts[chunk + 1]}, chunk == 0,
                                     InsertValues<Traits, T>(places, values, &next));
  }
};

}  // namespace detail

/// The loop nest with a sparse result of any format, in the memory of a GPU.
struct MergedNest {
  static constexpr std::string_view name = "loop nest, sorted and merged";
  static constexpr std::string_view takes =
      "sparse results in the memory of a GPU, without .workspace(...) or in the coordinate workspace";
  static constexpr bool deterministic = true;
  static constexpr std::string_view less_memory = "compute it in parts, or on the host";
  static constexpr bool any_schedule = true;

  /// The user may choose the coordinate workspace, whose capacity and memory limit are then used: the limit
  /// is on the bytes of keys and values, from their insertion to the last merge.
  template <class S>
  static constexpr bool takes_workspace =
      std::is_same_v<typename S::schedule::workspace_policy, AutomaticWorkspace> ||
      std::is_same_v<typename S::schedule::workspace_policy, CoordinatePolicy>;

  template <class S>
  static constexpr bool matches_type() {
    if constexpr (std::is_same_v<typename S::space_type, Kokkos::Cuda>)
      return !S::result_type::format::is_dense && S::result_type::format::levels > 0 && takes_workspace<S> &&
             sporos::detail::NestOf<S>::classification.kind != ResultKind::located;
    else
      return false;
  }
  template <class S>
  static constexpr bool matches = matches_type<S>();

  template <class S>
  static Offer cost(const S& statement, const Resources<Kokkos::Cuda>&) {
    constexpr double seconds_of_launch = 2e-4, seconds_of_term = 1e-9;
    return Cost{seconds_of_launch + sporos::detail::expected_terms(statement) * seconds_of_term};
  }

  template <class S>
  static constexpr std::string_view role_at(int) {
    return "inserted";
  }
  template <class S>
  static constexpr std::string_view parallel_text() {
    return "parallel: a thread for each chunk of about equal nonzeros";
  }

  template <class S>
  class Plan;
};

template <class S>
class MergedNest::Plan {
  using Shared = decltype(detail::share_by_positions(std::declval<const S&>()));
  using Nest = sporos::detail::NestRun<Shared>;
  using Traits = typename Nest::Traits;
  using Source = typename Nest::Source;
  using Format = typename Nest::Format;
  using Value = typename Nest::Value;
  using T = typename Nest::Compute;
  static constexpr int levels = Format::levels;
  using Entries = EntryArrays<T, levels>;
  using Workspace = detail::MergedMemory<T, levels>;
  using Range = Kokkos::RangePolicy<Kokkos::Cuda, Kokkos::IndexType<std::int64_t>>;
  static constexpr bool in_order = Nest::Options::is_deterministic;

 public:
  Plan(const S& statement, const Resources<Kokkos::Cuda>& resources)
      : memory_limit_(resources.memory_limit()),
        workspace_(resources.scratch().template borrow<Workspace>()),
        statement_(detail::share_by_positions(statement)),
        nest_(statement_),
        layout_(sporos::detail::largest_coordinates<Format>(statement.result().tensor().extents())) {}

  void run() {
    nest_.read_operands();
    count();
    const auto& result = nest_.statement().result().tensor();
    workspace_->all.size = 0;
    for (std::int64_t first = 0; first < chunks_;) {
      const std::int64_t end = end_of_batch(first);
      add_batch(first, end);
      first = end;
    }
    const auto made = build<Format, Value>(space(), *workspace_, workspace_->all, layout_, result.extents());
    result.replace(made.extents(), made.levels(), made.values());
  }

  Bytes bytes() const {
    count();
    const std::int64_t total = total_;
    const StorageBound bound = storage_bound_of(total);
    std::int64_t at_once = std::min(total, most_at_once());
    for (std::int64_t first = 0; at_once < total && first < chunks_;) {
      const std::int64_t end = end_of_batch(first);
      at_once = std::max(at_once, begin_of(end) - begin_of(first));
      first = end;
    }
    return {bound.values, bound.bytes, 3 * at_once * bytes_of_entry() + bytes_besides(total)};
  }

  std::int64_t held_bytes() const { return workspace_->bytes(); }

  /// A memory limit in the settings of the workspace that is enough: what add_batch() counts, with a batch of
  /// a chunk, or of the share of the limit that batches have.
  std::int64_t enough_limit() const {
    const auto extents = Format::level_extents(nest_.statement().result().tensor().extents());
    const std::int64_t distinct = std::min(total_, cells_of(extents));
    std::int64_t largest = total_;
    if (!begins_.empty()) {
      largest = 0;
      for (std::size_t chunk = 1; chunk < begins_.size(); ++chunk)
        largest = std::max(largest, begins_[chunk] - begins_[chunk - 1]);
    }
    return (entries_of_batch * largest + 2 * entries_of_sum * distinct) * bytes_of_entry();
  }

  void explain(std::ostream& out) const {
    out << "  result: values are counted, inserted with their coordinates"
        << (layout_.is_wide() ? text(" in ", layout_.words, " words") : "") << ", sorted and merged\n";
  }

 private:
  /// Bytes of an entry; with its number twice, by which entries are sorted whose keys have several words.
  std::int64_t bytes_of_entry() const {
    return Entries::bytes_of_entry(layout_.words) + (layout_.is_wide() ? 2 * 8 : 0);
  }
  StorageBound storage_bound_of(std::int64_t values) const {
    return storage_bound<Format, Value>(nest_.statement().result().tensor().extents(), values);
  }
  /// Bytes besides the result and the accumulation array, which exists twice, and once more while it is added
  /// up: both all arrays, scratch memory of CUB, and positions of two levels.
  std::int64_t bytes_besides(std::int64_t total) const {
    constexpr std::int64_t scratch = std::int64_t{16} << 20;
    return 4 * total * bytes_of_entry() + 3 * total * 8 + scratch + 2 * (chunks_ + 1) * 8 +
           bytes_of_building(total);
  }
  /// Bytes that building the levels takes besides the result: segments that the levels do not keep; if the
  /// host builds them, the entries there, with the coordinates of each level where keys have several words,
  /// all segments, the result and, for padded levels, its values once more.
  std::int64_t bytes_of_building(std::int64_t total) const {
    const auto& extents = nest_.statement().result().tensor().extents();
    if constexpr (detail::builds_on_device<Format>) {
      return sporos::detail::segments_bound<Format, false>(extents, total);
    } else {
      constexpr auto of_value = static_cast<std::int64_t>(sizeof(Value));
      const StorageBound bound = storage_bound_of(total);
      const std::int64_t keys = 8 * (layout_.is_wide() ? 1 + levels : 1);
      return total * (keys + 2 * of_value) + sporos::detail::segments_bound<Format, true>(extents, total) +
             bound.bytes + bound.values * of_value;
    }
  }

  /// How many values are inserted before they are sorted and merged: as many as fit in the allowed memory.
  std::int64_t most_at_once() const {
    std::int64_t most = settings().capacity;
    if (const std::int64_t limit = settings().memory_limit; limit > 0)
      most = std::clamp<std::int64_t>(limit / (2 * entries_of_batch * bytes_of_entry()), 1, most);
    if (memory_limit_ == Resources<Kokkos::Cuda>::unlimited) return most;
    const std::int64_t left = memory_limit_ - storage_bound_of(total_).bytes - bytes_besides(total_);
    return std::clamp<std::int64_t>(left / (3 * bytes_of_entry()), 1, most);
  }

  /// The settings of the workspace, if the user has chosen one.
  AccumulationSettings settings() const {
    if constexpr (std::is_same_v<typename S::schedule::workspace_policy, CoordinatePolicy>)
      return nest_.statement().options().policy().settings;
    else
      return {.capacity = std::int64_t{1} << 26};
  }
  /// Entries that there are at most at a time: for each of a batch, unsorted, sorted, and twice as they are
  /// merged; for each of the all array, also twice as it is merged.
  static constexpr std::int64_t entries_of_batch = 4, entries_of_sum = 3;

  /// Throws WorkspaceLimitError if `size` entries cannot be merged with those of the all array.
  void expect_within_limit(std::int64_t size) const {
    const std::int64_t limit = settings().memory_limit, all = workspace_->all.size;
    const std::int64_t bytes = (entries_of_batch * size + entries_of_sum * all) * bytes_of_entry();
    if (limit > 0 && bytes > limit)
      throw WorkspaceLimitError(
          text("a sparse workspace takes ", bytes, " bytes with ", size, " values that are merged with ", all,
               " others, and its memory limit allows ", limit),
          limit);
  }

  const Kokkos::Cuda& space() const { return nest_.space(); }
  sporos::detail::EvenCuts cuts() const { return {nest_.bounds().outermost.end, chunks_}; }

  /// Finds where each chunk inserts its values.
  void count() const {
    chunks_ = nest_.chunk_count(1);
    StageMemory& memory = *workspace_;
    std::int64_t* const counts = at_least(chunks_, memory.counts, "sporos::gpu counts");
    std::int64_t* const begins = at_least(chunks_ + 1, memory.begins, "sporos::gpu begins");
    Kokkos::parallel_for("sporos::count", Range(space(), 0, chunks_),
                         detail::CountLoops<Traits, Source>{nest_.source(), nest_.bounds(), cuts(), counts});
    const std::int64_t bytes = sizes_to_positions_bytes<std::int64_t, std::int64_t>(space(), chunks_);
    sizes_to_positions(space(), chunks_, counts, begins, nullptr,
                       at_least(bytes, memory.scratch, "sporos::gpu scratch"), bytes);
    total_ = read_back(space(), begins + chunks_);
    begins_.clear();
    if (total_ > most_at_once()) {
      begins_.resize(static_cast<std::size_t>(chunks_) + 1);
      read_back(space(), begins, begins_);
    }
  }

  /// The end of the chunks, from `first` on, whose values fit in the accumulation array; at least one chunk.
  std::int64_t end_of_batch(std::int64_t first) const {
    if (begins_.empty()) return chunks_;
    const auto begin = begins_.begin() + first;
    const auto end = std::upper_bound(begin + 1, begins_.end(), *begin + most_at_once());
    return std::max<std::int64_t>(first + 1, end - begins_.begin() - 1);
  }

  /// The number of values before those of a chunk.
  std::int64_t begin_of(std::int64_t chunk) const {
    if (begins_.empty()) return chunk == 0 ? 0 : total_;
    return begins_[static_cast<std::size_t>(chunk)];
  }

  /// Inserts the values of some chunks, sorts them, and merges them into the all array.
  void add_batch(std::int64_t first, std::int64_t end) const {
    Workspace& w = *workspace_;
    const std::int64_t size = begin_of(end) - begin_of(first);
    if (size == 0) return;
    expect_within_limit(size);
    w.batch.reserve(size, layout_.words);
    w.spare.reserve(size, layout_.words);
    w.batch.size = size;
    Kokkos::parallel_for("sporos::insert", Range(space(), 0, end - first),
                         detail::InsertLoops<Traits, Source, T>{
                             nest_.source(), nest_.bounds(), cuts(), w.begins.data(), first,
                             detail::InsertPlaces<levels>(layout_, w.batch), w.batch.values.data()});
    sort_by_key(space(), w, w.batch, w.spare, layout_);
    add_up<in_order>(space(), w, w.batch, w.spare, layout_);
    if (w.all.size == 0) {
      std::swap(w.all, w.spare);
      return;
    }
    w.joined.reserve(w.all.size + w.spare.size, layout_.words);
    merge_by_key(space(), w, w.all, w.spare, w.joined, layout_);
    w.merged.reserve(w.joined.size, layout_.words);
    add_up<in_order>(space(), w, w.joined, w.merged, layout_);
    std::swap(w.all, w.merged);
  }

  std::int64_t memory_limit_;
  Scratch::Loan<Workspace> workspace_;
  Shared statement_;
  Nest nest_;
  KeyLayout<levels> layout_;
  // Set by bytes() too, which counts.
  mutable std::int64_t chunks_ = 0, total_ = 0;
  mutable std::vector<std::int64_t> begins_;  // [chunks + 1] where each inserts; empty if all fit at once
};

}  // namespace sporos::gpu

// SPDX-License-Identifier: Apache-2.0
/// @file runs.hpp
/// The accumulation array of runs: values in the order in which the loops give them, in stretches that share
/// all coordinates but the last.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../core/inline.hpp"
#include "../../core/pool.hpp"
#include "../../formats/keys.hpp"
#include "../nest/loop_nest.hpp"

namespace sporos::detail {

/// Where a run begins. A run is a stretch of values that have the same coordinates in all levels but the
/// last, and ascending ones there.
struct Run {
  Key row;             ///< the coordinates of all levels but the last, packed
  std::int64_t begin;  ///< index of its first value in the accumulation array
};

/// Where the next value of a chunk is inserted. It is small and copied while a chunk is computed, so that it
/// stays in registers.
template <class T, class Coordinate>
struct RunCursor {
  Coordinate* coordinates;
  T* values;
  Run* runs;  ///< past the last run
  const T* first;
  const T* end;
  Key row = no_key;
  std::int64_t last = -1;

  static constexpr std::size_t lines_ahead = 8;

  SPOROS_HOST_INLINE void insert(Key of_row, std::int64_t coordinate, const T& value) {
    ensure(values < end, "a chunk gives no more values than its bound");
    if (of_row != row || coordinate <= last) {
      *runs++ = {of_row, values - first};
      row = of_row;
    }
    last = coordinate;
    // Other threads have read these lines when they merged what was here before.
    SPOROS_PREFETCH_FOR_WRITE(coordinates + lines_ahead * 64 / sizeof(Coordinate));
    SPOROS_PREFETCH_FOR_WRITE(values + lines_ahead * 64 / sizeof(T));
    *coordinates++ = static_cast<Coordinate>(coordinate);
    *values++ = value;
  }
};

/// The accumulation array: room for the values of several chunks, each with its own part, whatever the number
/// of threads. Coordinates and values stay where they are inserted; sorting moves only the numbers of runs.
///
///     chunk        0                1            2
///     values       a b c d e f - -  g h i j - -  k l m       - is room that was not needed
///     coordinates  0 3 7 0 1 5      2 3 3 9      0 1 2
///     runs         2:    4:         2:  4:       2:          row: where its values begin
template <class T, class Coordinate>
class RunArray {
 public:
  /// The part of a chunk.
  struct Part {
    std::int64_t begin = 0, end = 0;  ///< room for values, and for the same number of runs
    std::int64_t runs = 0;            ///< number of runs that were inserted
    std::int64_t size = 0;            ///< number of values that were inserted
  };

  /// Makes room for `capacity` values; memory that is not written is not touched.
  explicit RunArray(std::int64_t capacity)
      : coordinates_(pool().reserve<Coordinate>("sporos::accumulated coordinates", capacity)),
        values_(pool().reserve<T>("sporos::accumulated values", capacity)),
        runs_(pool().reserve<Run>("sporos::runs", capacity)) {}

  RunCursor<T, Coordinate> cursor(const Part& part) const {
    return {coordinates_.data() + part.begin, values_.data() + part.begin, runs_.data() + part.begin,
            values_.data(), values_.data() + part.end};
  }
  /// Records what a cursor has inserted.
  void close(Part& part, const RunCursor<T, Coordinate>& cursor) const {
    part.runs = cursor.runs - (runs_.data() + part.begin);
    part.size = cursor.values - (values_.data() + part.begin);
  }
  /// Returns the memory to the pool; at most `used` values of it have been written.
  void release(std::int64_t used) {
    pool().keep(coordinates_, used);
    pool().keep(values_, used);
    pool().keep(runs_, used);
    *this = RunArray(0);
  }
  const Run* runs(const Part& part) const { return runs_.data() + part.begin; }
  const Coordinate* coordinates() const { return coordinates_.data(); }
  const T* values() const { return values_.data(); }

 private:
  HostArray<Coordinate> coordinates_;
  HostArray<T> values_;
  HostArray<Run> runs_;
};

}  // namespace sporos::detail

namespace sporos {

/// Inserts runs with a cursor, which is copied while a chunk is computed.
/// @tparam Output  the output that derives from this one
/// @tparam F       the format of the result, whose last level belongs to the innermost loop over the result
template <class Output, class Traits_, class F, class Cursor>
struct InsertingOutput : EachValue<Output> {
  Cursor* cursor;
  detail::Packing<F> packing;

  SPOROS_INLINE InsertingOutput(Cursor* at, const detail::Packing<F>& packed) : cursor(at), packing(packed) {}

  template <class Body>
  SPOROS_INLINE void with_copy(const Body& body) const {
    Cursor mine = *cursor;
    body(Output(&mine, packing));
    *cursor = mine;
  }

 protected:
  /// The bound coordinates of all levels but the last, packed.
  template <class Env>
  SPOROS_INLINE detail::Key row_of(const Env& env) const {
    constexpr auto levels = Traits_::result::level_names, loops = Traits_::order;
    Extents<F::levels> at{};
    for (int k = 0; k + 1 < F::levels; ++k) at[static_cast<std::size_t>(k)] = env.at[loops.find(levels[k])];
    return packing.pack_levels(at);
  }
};

/// Inserts into the accumulation array of runs.
template <class Traits_, class F, class T, class Coordinate>
struct RunOutput
    : InsertingOutput<RunOutput<Traits_, F, T, Coordinate>, Traits_, F, detail::RunCursor<T, Coordinate>> {
  using Inserting = InsertingOutput<RunOutput, Traits_, F, detail::RunCursor<T, Coordinate>>;
  using Inserting::Inserting;

  SPOROS_MAY_CALL_HOST
  template <class V, class Env>
  SPOROS_INLINE void add(const V& value, const Env& env) const {
    constexpr auto levels = Traits_::result::level_names, loops = Traits_::order;
    this->cursor->insert(this->row_of(env), env.at[loops.find(levels[F::levels - 1])], static_cast<T>(value));
  }
};

}  // namespace sporos

// SPDX-License-Identifier: Apache-2.0
/// @file known_places.hpp
/// Scattered results whose pattern is known: each value that the loops give is added at the place that was
/// found for it in an earlier run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/pool.hpp"
#include "../../formats/at.hpp"
#include "../../formats/chunks.hpp"
#include "../../workspace/grow_array.hpp"
#include "../nest/nest_run.hpp"
#include "../nest/term_bound.hpp"

namespace sporos {

namespace detail {

/// The index of a value among those of the result.
using Place = std::uint32_t;

/// Finds places by coordinates; fast if these come row by row, ascending.
template <class Value, TensorFormat F>
class PlaceFinder {
  static constexpr int last = F::levels - 1;

 public:
  /// Whether the coordinates of a result of this format ascend, so that they can be searched.
  static constexpr bool searches = [] {
    for (const LevelProperties& level : F::properties)
      if (!level.ordered) return false;
    return !F::is_blocked && !F::properties[static_cast<std::size_t>(last)].full;
  }();

  explicit PlaceFinder(const TensorView<Value, F>& view) : view_(view) {}

  /// @pre the coordinates are stored
  Place of(const Extents<F::levels>& at) {
    const auto& level = view_.template level<last>();
    const std::int64_t wanted = at[last];
    if (!is_in_row(at)) enter_row(at);
    if (at_ >= row_.end || level.coord_at(at_) > wanted) at_ = row_.begin;
    std::int64_t step = 1;
    for (; at_ + step < row_.end && level.coord_at(at_ + step) <= wanted; step *= 2) at_ += step;
    for (; step > 0; step /= 2)
      if (at_ + step < row_.end && level.coord_at(at_ + step) <= wanted) at_ += step;
    ensure(at_ < row_.end && level.coord_at(at_) == wanted, "the result stores what is added to it");
    return static_cast<Place>(at_);
  }

 private:
  bool is_in_row(const Extents<F::levels>& at) const {
    if (!entered_) return false;
    for (std::size_t k = 0; k < last; ++k)
      if (at[k] != coordinates_[k]) return false;
    return true;
  }
  void enter_row(const Extents<F::levels>& at) {
    coordinates_ = at;
    entered_ = true;
    row_ = {};
    Lookup<Value, F>(view_, at).template each_range<last>([&](Bounds above) {
      if constexpr (Structure<F>::branchless(last))
        row_ = above;
      else
        row_ = view_.template level<last>().pos_bounds(above.begin);
    });
    at_ = row_.begin;
  }

  TensorView<Value, F> view_;
  Extents<F::levels> coordinates_{};
  bool entered_ = false;
  Bounds row_{};
  std::int64_t at_ = 0;  ///< position of the last coordinate that was found in this row
};

}  // namespace detail

/// Finds, and keeps, the place in the result of each value that the loops give.
template <class Traits_, class Finder>
struct FindingOutput : EachValue<FindingOutput<Traits_, Finder>> {
  using F = typename Traits_::result::format;

  Finder* finder;
  GrowArray<detail::Place>* places;

  SPOROS_INLINE FindingOutput(Finder* finds, GrowArray<detail::Place>* to) : finder(finds), places(to) {}

  SPOROS_MAY_CALL_HOST
  template <class V, class Env>
  SPOROS_INLINE void add(const V&, const Env& env) const {
    constexpr auto levels = Traits_::result::level_names, loops = Traits_::order;
    Extents<F::levels> at{};
    for (int k = 0; k < F::levels; ++k) at[static_cast<std::size_t>(k)] = env.at[loops.find(levels[k])];
    places->push(finder->of(at));
  }
};

/// Adds each value to its place.
template <class Traits_, class T>
struct PlacedOutput : EachValue<PlacedOutput<Traits_, T>> {
  const detail::Place** places;
  T* values;

  SPOROS_INLINE PlacedOutput(const detail::Place** from, T* to) : places(from), values(to) {}

  SPOROS_MAY_CALL_HOST
  template <class Body>
  SPOROS_INLINE void with_copy(const Body& body) const {
    const detail::Place* mine = *places;
    body(PlacedOutput(&mine, values));
    *places = mine;
  }
  SPOROS_MAY_CALL_HOST
  template <class V, class Env>
  SPOROS_INLINE void add(const V& value, const Env&) const {
    T& sum = values[*(*places)++];
    sum = plus(sum, static_cast<T>(value));
  }
};

/// Writes the values one after another.
template <class Traits_, class T>
struct StreamedOutput : EachValue<StreamedOutput<Traits_, T>> {
  T** to;

  SPOROS_INLINE explicit StreamedOutput(T** first) : to(first) {}

  SPOROS_MAY_CALL_HOST
  template <class Body>
  SPOROS_INLINE void with_copy(const Body& body) const {
    T* mine = *to;
    body(StreamedOutput(&mine));
    *to = mine;
  }
  SPOROS_MAY_CALL_HOST
  template <class V, class Env>
  SPOROS_INLINE void add(const V& value, const Env&) const {
    // Other threads have read this line when they summed what was here before.
    constexpr std::size_t bytes_ahead =
        512;  // eight cache lines: they are in the cache when they are written
    SPOROS_PREFETCH_FOR_WRITE(*to + bytes_ahead / sizeof(T));
    *(*to)++ = static_cast<T>(value);
  }
};

namespace detail {

/// The part of the loops that one thread runs.
struct PlacedPart {
  Bounds outermost;
  std::int64_t values = 0;  ///< the number of values that it gives
};
/// The places of all values, and their order.
struct PlacesInOrder {
  std::vector<PlacedPart> parts;
  GrowArray<Place> places;   ///< the place of each value, if there is one part
  HostArray<Place> numbers;  ///< otherwise: numbers of the values of each place, in the loops' order
  HostArray<Place> begins;   ///< where the numbers of each place begin; the last element is the end

  std::int64_t bytes() const {
    return static_cast<std::int64_t>(sizeof(Place)) *
           (places.size() + static_cast<std::int64_t>(numbers.extent(0) + begins.extent(0)));
  }
};

/// The places of the values that the nest of a statement adds to its result, in the order of the loops.
///
/// A single thread adds the values to their places as the loops give them. Several threads write the values
/// of their parts of the outermost loop one after another, and then sum them place by place. The order of the
/// sums is the same, so the result is bitwise the same for any number of threads.
template <class S>
class KnownPlaces {
  using Nest = NestRun<S>;
  using Traits = typename Nest::Traits;
  using Compute = typename Nest::Compute;
  using Value = typename Nest::Value;
  using Space = typename Nest::Space;
  using Finder = PlaceFinder<Value, typename Nest::Format>;
  using Known = PlacesInOrder;

 public:
  /// Computes the result's values anew; the result has the pattern that a run of the nest has made.
  /// @return false, with nothing changed, if the places cannot be found or take too much memory, or if the
  /// values must be bitwise those of a first run
  bool refill(const Nest& nest) {
    if constexpr (!Finder::searches || S::schedule::is_deterministic) {
      return false;  // the first run may have summed in another order
    } else {
      if (!asked_) asked_ = find(nest);
      if (!known_) return false;
      if (known_->parts.size() == 1)
        add_to_places(nest);
      else
        sum_by_places(nest);
      return true;
    }
  }

  /// Bytes that are held between refills.
  std::int64_t bytes() const { return known_ ? known_->bytes() : 0; }

 private:
  static const auto& result_of(const Nest& nest) { return nest.statement().result().tensor(); }

  /// Keeps no places if there would be more than a place can number, or if they would take more memory than
  /// is allowed.
  /// @return whether that is settled; if memory could not be allocated, the next refill tries again
  bool find(const Nest& nest) try {
    constexpr std::int64_t most_places = std::numeric_limits<Place>::max();
    const std::int64_t most = TermBound<Traits>(nest.bounds()).of(nest.source());
    const std::int64_t results = result_of(nest).nnz();
    if (most >= most_places || results >= most_places) return true;
    const auto cuts = nest.cuts(nest.space().concurrency());
    std::int64_t bytes = 2 * most * std::int64_t{sizeof(Place)};  // an array that grows has room for twice
    if (cuts.size() > 2)
      bytes +=
          most * std::int64_t{sizeof(Place) + sizeof(Compute)} + results * std::int64_t{2 * sizeof(Place)};
    constexpr std::int64_t part = 4;  // of the machine's memory, the rest of which is for the tensors
    if (bytes > std::min(nest.statement().resources().memory_limit(), Pool::machine_bytes() / part))
      return true;

    Known known;
    for (std::size_t at = 0; at + 1 < cuts.size(); ++at) known.parts.push_back({{cuts[at], cuts[at + 1]}});
    std::vector<GrowArray<Place>> places(known.parts.size());
    for_each_worker_of(nest, known, [&](std::size_t at) {
      Finder finder(result_of(nest).view());
      nest.run(known.parts[at].outermost, static_cast<std::int64_t>(at),
               FindingOutput<Traits, Finder>(&finder, &places[at]));
      known.parts[at].values = places[at].size();
      places[at].shrink();
    });
    if (places.size() == 1)
      known.places = std::move(places[0]);
    else
      sort_by_place(known, places, results);
    known_ = std::move(known);
    return true;
  } catch (const MemoryError&) {
    return false;  // without places the statement runs as it did before
  } catch (const std::bad_alloc&) {
    return false;
  }

  /// Lists the numbers of the values of each place, by counting.
  static void sort_by_place(Known& known, const std::vector<GrowArray<Place>>& places, std::int64_t results) {
    std::int64_t values = 0;
    for (const auto& part : places) values += part.size();
    known.begins = pool().array<Place>("sporos::places", results + 1);
    known.numbers = pool().array<Place>("sporos::numbers", values);
    Place* const begins = known.begins.data();
    std::fill_n(begins, results + 1, Place{0});
    for (const auto& part : places)
      for (std::int64_t n = 0; n < part.size(); ++n) ++begins[part[n]];
    // Each counter becomes the end of its place, and is then decremented to its beginning while the values
    // are visited backwards.
    std::inclusive_scan(begins, begins + results + 1, begins);
    auto number = static_cast<Place>(values);
    for (std::size_t at = places.size(); at-- > 0;)
      for (std::int64_t n = places[at].size(); n-- > 0;)
        known.numbers.data()[--begins[places[at][n]]] = --number;
  }

  template <class Body>
  static void for_each_worker_of(const Nest& nest, const Known& known, const Body& body) {
    for_each_worker(nest.space(), static_cast<std::int64_t>(known.parts.size()),
                    [&](std::int64_t at) { body(static_cast<std::size_t>(at)); });
  }

  void add_to_places(const Nest& nest) const {
    const auto& values = result_of(nest).values();
    const auto count = static_cast<std::int64_t>(values.extent(0));
    const HostArray<Compute> sums = [&] {
      if constexpr (std::is_same_v<Compute, Value>)
        return HostArray<Compute>(values);
      else
        return pool().array<Compute>("sporos::sums", count);
    }();
    std::fill_n(sums.data(), count, Compute{});
    const Place* places = known_->places.data();
    nest.run(known_->parts[0].outermost, 0, PlacedOutput<Traits, Compute>(&places, sums.data()));
    if constexpr (!std::is_same_v<Compute, Value>)
      for (std::int64_t at = 0; at < count; ++at) values.data()[at] = static_cast<Value>(sums.data()[at]);
  }

  void sum_by_places(const Nest& nest) const {
    std::vector<std::int64_t> first{0};
    for (const PlacedPart& part : known_->parts) first.push_back(first.back() + part.values);
    const auto streamed = pool().array<Compute>("sporos::values in the order of the loops", first.back());
    for_each_worker_of(nest, *known_, [&](std::size_t at) {
      Compute* to = streamed.data() + first[at];
      nest.run(known_->parts[at].outermost, static_cast<std::int64_t>(at),
               StreamedOutput<Traits, Compute>(&to));
    });
    const auto& values = result_of(nest).values();
    const auto count = static_cast<std::int64_t>(values.extent(0));
    const std::int64_t chunks = chunks_for(nest.space(), count, 4);
    const Place* const numbers = known_->numbers.data();
    const Place* const begins = known_->begins.data();
    for_each_part(nest.space(), count, chunks, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
      for (std::int64_t place = begin; place < end; ++place) {
        Compute sum{};
        for (Place n = begins[place]; n < begins[place + 1]; ++n)
          sum = plus(sum, streamed.data()[numbers[n]]);
        values.data()[place] = static_cast<Value>(sum);
      }
    });
  }

  std::optional<Known> known_;
  bool asked_ = false;  ///< whether finding the places has been tried
};

}  // namespace detail

}  // namespace sporos

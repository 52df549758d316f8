// SPDX-License-Identifier: Apache-2.0
/// @file located.hpp
/// The nest's candidate for results whose levels are all full: the position of each value is computed by
/// arithmetic as loops bind its coordinates.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <vector>

#include "../../core/pool.hpp"
#include "../../formats/chunks.hpp"
#include "../nest/nest_run.hpp"
#include "cut_rows.hpp"
#include "dense_target.hpp"

namespace sporos {

/// Adds to the values of a dense result, with the coordinates of levels 0 to K-1 bound.
///
/// @tparam Atomic  whether other threads may write to the same position
/// @tparam Once    whether the loops reach each position once, with the complete sum for it
template <class A, class T, bool Atomic, bool Once, int K = 0>
struct LocatedOutput {
  static constexpr bool is_scalar = false;
  /// Different coordinates of a result variable have different positions, so loops over it may vectorise.
  static constexpr bool is_independent = true;
  using view_type = typename A::tensor_type::view_type;

  const view_type* view;
  T* values;
  bool accumulates;  ///< whether `values` hold something to add to, rather than initial values
  std::int64_t position = 0;

  /// Calls f with an output that has a local copy of the view.
  template <class F>
  SPOROS_INLINE void with_copy(const F& f) const {
    view_type mine = *view;
    f(LocatedOutput{&mine, values, accumulates, position});
  }

  template <class Traits, int Depth, class Env>
  SPOROS_INLINE auto bind(const Env& env) const {
    if constexpr (K == A::format::levels)
      return *this;
    else {
      constexpr int loop = Traits::order.find(A::level_names[K]);
      if constexpr (loop < Depth) {
        using Expression = typename A::format::template expression<K>;
        const std::int64_t q = view->template level<K>().insert(position, Expression::of(env.at[loop]));
        return LocatedOutput<A, T, Atomic, Once, K + 1>{view, values, accumulates, q}
            .template bind<Traits, Depth>(env);
      } else {
        return *this;
      }
    }
  }
  template <int Depth>
  SPOROS_INLINE void leave(std::int64_t) const {}

  template <class V, class Env>
  SPOROS_INLINE void add(const V& value, const Env&) const {
    if constexpr (Atomic && !std::is_same_v<T, bool>)
      Kokkos::atomic_add(values + position, static_cast<T>(value));
    else
      values[position] = plus(values[position], static_cast<T>(value));
  }
  /// Takes the sum of a reduction. If it is the complete value, it is stored, so that the loops wait for no
  /// load.
  template <class V, class Env>
  SPOROS_INLINE void add_sum(const V& sum, bool present, const Env& env) const {
    if (Once && !accumulates)
      values[position] = static_cast<T>(sum);
    else if (present)
      add(sum, env);
  }
};

namespace detail {

/// Where chunks with about equal numbers of coordinates begin; at index `count`, where the last one ends.
struct EvenCuts {
  std::int64_t extent;
  std::int64_t count;

  KOKKOS_INLINE_FUNCTION std::int64_t operator[](std::int64_t chunk) const {
    const std::int64_t longer = extent % count;  // chunks with one coordinate more
    return extent / count * chunk + (chunk < longer ? chunk : longer);
  }
};

/// The nest over the chunks of the outermost loop, for a result whose values are located. Each chunk is run
/// by one thread per lane.
template <class Traits, class Source, class T, bool Atomic, bool Once, class Cuts>
struct LocatedLoops {
  using Result = typename Traits::result;

  Source source;
  typename Result::tensor_type::view_type result;
  typename Traits::bounds_type bounds;
  Cuts cuts;  ///< cuts[chunk]: where a chunk begins
  T* values;
  std::int64_t stride;  ///< distance between private results of chunks; 0 if all write to the same one
  std::int64_t part;    ///< values per coordinate of the outermost loop; 0 if all are already initialised
  std::int64_t block;   ///< number of coordinates to initialise and run at a time
  bool accumulates;

  static constexpr std::int64_t lanes = Traits::lane_depth >= 0 ? lanes_of_warp : 1;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t thread) const {
    const std::int64_t chunk = thread / lanes;
    auto of_lane = bounds;
    of_lane.lane = thread % lanes;
    auto view = result;
    std::int64_t begin = cuts[chunk];
    do {
      const std::int64_t end = begin + block < cuts[chunk + 1] ? begin + block : cuts[chunk + 1];
      for (std::int64_t at = begin * part; at < end * part; ++at) values[at] = T{};
      run_nest<Traits>(source, of_lane, {begin, end}, chunk == 0 && begin == cuts[0],
                       LocatedOutput<Result, T, Atomic, Once>{&view, values + chunk * stride, accumulates});
      begin = end;
    } while (begin < cuts[chunk + 1]);
  }
};

/// Adds the chunks' private results at `at` to values[at], in the order of the chunks.
template <class T>
struct AddPrivate {
  const T* sums;
  T* values;
  std::int64_t size;
  std::int64_t chunks;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t at) const {
    T sum = values[at];
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) sum = plus(sum, sums[chunk * size + at]);
    values[at] = sum;
  }
};

}  // namespace detail

/// The loop nest with a dense result, on the host or on a device.
struct LocatedNest {
  static constexpr std::string_view name = "loop nest, located";
  static constexpr std::string_view takes = "dense results";
  static constexpr bool deterministic = true;
  static constexpr bool any_schedule = true;
  static constexpr double seconds_of_term = 2e-9;

  template <class S>
  static constexpr bool matches = detail::NestOf<S>::classification.kind == ResultKind::located;

  /// Whether chunks that write to the same part of the result add to it atomically, instead of into private
  /// results.
  template <class S>
  static constexpr bool adds_atomically =
      !detail::NestRun<S>::disjoint && !HostSpace<typename S::space_type> && !S::schedule::is_deterministic;

  template <class S>
  static constexpr std::string_view role_at(int) {
    return "located";
  }
  template <class S>
  static constexpr std::string_view parallel_text() {
    if (adds_atomically<S>) return "parallel: chunks add to the result atomically";
    if (!detail::NestRun<S>::disjoint) return "parallel where private results pay, then added";
    return HostSpace<typename S::space_type> ? "parallel: chunks of about equal nonzeros"
                                             : "parallel: chunks of about equally many coordinates";
  }

  template <class S>
  class Plan;
};

template <class S>
class LocatedNest::Plan {
  using Nest = detail::NestRun<S>;
  using Result = typename Nest::Result;
  using Options = typename Nest::Options;
  using Space = typename Nest::Space;
  using Memory = typename Nest::Memory;
  using T = typename Nest::Compute;
  using Source = typename Nest::Source;
  using Traits = typename Nest::Traits;
  using Operands = accesses_of<typename Nest::Right>;
  using Cut = CutRows<Nest>;
  static constexpr Classification classification = Nest::classification;

 public:
  Plan(const S& statement, const Resources<Space>&) : nest_(statement) {}

  void run() {
    nest_.read_operands();
    if constexpr (Cut::are_there)
      run_in_pieces();
    else
      run_in_chunks();
  }

  /// The result exists already. Further memory is needed for private results of chunks that scatter, and for
  /// sums in another type if the result's own values cannot hold them.
  Bytes bytes() const {
    const std::int64_t size = result().nnz();
    const std::int64_t chunks = chunks_at_most();
    const std::int64_t made = !Nest::disjoint && !atomic && chunks > 1 ? size * chunks : 0;
    return {size, result().bytes(),
            detail::DenseTarget<S, T>::bytes(nest_.statement()) + array_bytes<T>(made) + Cut::bytes(nest_)};
  }

  void explain(std::ostream& out) const {
    out << "  result: located\n";
    if constexpr (!Nest::disjoint && !atomic)
      if (chunks_at_most() > 1) out << "  chunks sum into results of their own, which are added up\n";
    if (Cut::cuts(nest_))
      out << "  rows of more than " << Cut::most_of_row
          << " nonzeros are cut, and the sums of their pieces added in order\n";
  }

 private:
  static constexpr bool atomic = adds_atomically<S>;
  /// Whether the values that a chunk writes are contiguous, so that the chunk can initialise them itself
  /// shortly before it adds to them, while they are still in the cache.
  static constexpr bool starts_parts = [] {
    if constexpr (Nest::disjoint && HostSpace<Space> && !Traits::shares_strips)
      return Result::level_names[0] == Nest::outermost && Nest::Format::template expression<0>::block == 1;
    else
      return false;
  }();
  /// Whether the loops reach each value of the result only once: no reduction runs outside of its variables,
  /// no operand stores a coordinate in several places, and chunks do not add to the same value.
  template <class... Accesses>
  static constexpr bool all_come_once(TypeList<Accesses...>) {
    return (std::all_of(Accesses::format::properties.begin(), Accesses::format::properties.end(),
                        [](const LevelProperties& level) { return level.ordered || level.unique; }) &&
            ...);
  }
  /// Whether strips of variables that are summed over run outside of the result's variables.
  static constexpr bool adds_in_strips() {
    for (int at = 0; at < Traits::strips; ++at) {
      const Strip& strip = Traits::stripped.strips[at];
      for (int v = 0; v < strip.variables.size; ++v)
        if (strip.depth < classification.bound_depth && !Result::level_names.contains(strip.variables[v]))
          return true;
    }
    return false;
  }
  static constexpr bool comes_once = classification.bound_depth == Result::names.size && !atomic &&
                                     all_come_once(Operands{}) && !adds_in_strips();

  /// Whether the loops also reach every value, with a sum over the remaining loops, so that none has to be
  /// initialised.
  static constexpr bool comes_to_all =
      comes_once && classification.bound_depth == 1 && Nest::loops > 1 && !Nest::walks_outermost &&
      !stream::searches<typename Nest::Order, 1, decltype(start_of(std::declval<const Source&>()))>();

  /// Approximate bytes of the result that are initialised at a time. Re-entering a loop is free if it runs
  /// over all coordinates, and takes a search if it iterates over stored ones.
  static constexpr std::int64_t started_bytes = Nest::walks_outermost ? std::int64_t{256} << 10 : 2048;

  /// The loop whose coordinates the lanes of a GPU share, or -1: the innermost loop over a variable of the
  /// result that is full in all operands, so that neighbouring lanes access neighbouring memory.
  static constexpr int lane_depth = [] {
    if constexpr (!HostSpace<Space>)
      for (int depth = Nest::loops - 1; depth > 0; --depth)
        if (Traits::is_result_variable(depth) &&
            detail::is_full_in_all(Nest::Order::names[depth], Operands{}))
          return depth;
    return -1;
  }();
  using LaneTraits = std::conditional_t<(lane_depth >= 0), InLanes<Traits, lane_depth>, Traits>;

  const auto& result() const { return nest_.statement().result().tensor(); }

  void run_in_chunks() {
    const S& statement = nest_.statement();
    const Space& space = nest_.space();
    const std::int64_t size = result().nnz();
    const std::int64_t extent = std::max<std::int64_t>(nest_.bounds().outermost.end, 1);
    const bool needs_start = !comes_to_all || statement.accumulates();
    const std::int64_t part = starts_parts && needs_start && !statement.accumulates() ? size / extent : 0;
    const std::int64_t block =
        Nest::splittable && part > 0
            ? std::max<std::int64_t>(
                  1, started_bytes / std::max<std::int64_t>(part * std::int64_t{sizeof(T)}, 1))
            : extent;
    const std::int64_t count = chunks_at_most();
    std::vector<std::int64_t> by_nonzeros;
    if constexpr (HostSpace<Space>) by_nonzeros = nest_.cuts(count);
    const auto chunks = HostSpace<Space> ? static_cast<std::int64_t>(by_nonzeros.size()) - 1 : count;
    const bool private_results = !Nest::disjoint && !atomic && chunks > 1 && size > 0;

    const detail::DenseTarget<S, T> target(statement);
    const auto& values = target.values();
    auto sums = values;
    if (private_results) {
      sums = make_array<T, Memory>("sporos::private results", size * chunks);
      zero(space, sums);
    }
    if (needs_start && part == 0 && !statement.accumulates()) zero(space, values);

    // Reading positions from a device would mean waiting for it.
    const auto where = [&] {
      if constexpr (HostSpace<Space>)
        return by_nonzeros.data();
      else
        return detail::EvenCuts{nest_.bounds().outermost.end, count};
    }();
    using Cuts = std::remove_const_t<decltype(where)>;
    using Loops = detail::LocatedLoops<LaneTraits, Source, T, atomic, comes_once, Cuts>;
    const Loops loops{nest_.source(), result().view(), nest_.bounds(),
                      where,          sums.data(),     private_results ? size : 0,
                      part,           block,           statement.accumulates()};
    if constexpr (HostSpace<Space>)
      detail::for_each_chunk(space, chunks, loops);
    else
      Kokkos::parallel_for("sporos::nest", Kokkos::RangePolicy<Space>(space, 0, chunks * Loops::lanes),
                           loops);
    if (private_results)
      Kokkos::parallel_for("sporos::add private results", Kokkos::RangePolicy<Space>(space, 0, size),
                           detail::AddPrivate<T>{sums.data(), values.data(), size, chunks});
    space.fence("sporos::run");
    target.finish();
  }

  /// Where rows may be cut: on a device, and chunks write to different parts of the result.
  void run_in_pieces() {
    const S& statement = nest_.statement();
    const Space& space = nest_.space();
    const NestInPieces<Nest, LaneTraits, LocatedOutput<Result, T, atomic, comes_once>> pieces(nest_);
    const detail::DenseTarget<S, T> target(statement);
    const bool needs_start = !comes_to_all || statement.accumulates();
    if (needs_start && !statement.accumulates()) zero(space, target.values());
    const std::int64_t chunks = chunks_at_most();
    pieces.run(detail::EvenCuts{nest_.bounds().outermost.end, chunks}, chunks, target.data(), needs_start,
               comes_to_all);
    space.fence("sporos::run");
    target.finish();
  }

  std::int64_t chunks_at_most() const {
    constexpr std::int64_t of_thread = 16;  // so that all threads are busy to the end, though chunks differ
    // Lanes make 32 threads of a chunk: with a chunk for every fourth thread that the GPU runs at once, it
    // has eight times as many threads, and others to run while some wait for memory.
    constexpr std::int64_t threads_of_chunk = lane_depth >= 0 ? 4 : 1;
    if constexpr (!Nest::disjoint && !atomic)
      return private_count();
    else if constexpr (HostSpace<Space>)
      return nest_.chunk_count(of_thread);
    else
      return nest_.chunk_count(1, threads_of_chunk);
  }

  /// The number of chunks with private results: one per thread, or, if the sums must be bitwise reproducible,
  /// the same number for any number of threads; one if the private results would cost more than the work.
  std::int64_t private_count() const {
    std::int64_t work = 0;
    for (const detail::AccessView& operand : detail::views_of(nest_.statement().right()))
      work = std::max(work, operand.nnz());
    if (result().nnz() > work) return 1;
    constexpr std::int64_t for_any_threads = 16;  // a core each in most machines, and few results to add up
    if constexpr (Options::is_deterministic && Nest::splittable)
      return std::clamp<std::int64_t>(nest_.bounds().outermost.end, 1, for_any_threads);
    else
      return nest_.chunk_count(1);
  }

  Nest nest_;
};

}  // namespace sporos

// SPDX-License-Identifier: Apache-2.0
/// @file nest_run.hpp
/// The loop nest of one statement, ready to run: operands are lowered, extents are known, and the outermost
/// loop can be cut into chunks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../core/few_steps.hpp"
#include "../../core/statement.hpp"
#include "../protocol/candidate.hpp"
#include "../protocol/compute_type.hpp"
#include "bounds.hpp"
#include "loop_nest.hpp"
#include "lower.hpp"
#include "partition.hpp"
#include "work.hpp"

namespace sporos {

namespace detail {

/// The nest over one chunk of the outermost loop. On the host it is a separate function, so that all
/// registers are available to the loops, and it works on local copies of its operands and output, so that
/// these stay in registers.
template <class Traits, class Source, class Output>
SPOROS_KERNEL void run_nest(const Source& source, const typename Traits::bounds_type& bounds,
                            const Bounds& outermost, bool first_chunk, const Output& output) {
  Source operands = source;
  typename Traits::bounds_type mine = bounds;
  mine.outermost = outermost;
  mine.first_chunk = first_chunk || Traits::shares_strips;
  typename Traits::coordinates_type env{};
  stream::advance_into<typename Traits::order_type, 0>(
      start_of(operands), env, [&] SPOROS_INLINE_LAMBDA(const auto& start) {
        auto e = start;
        output.with_copy([&] SPOROS_INLINE_LAMBDA(const auto& copy) {
          nest<Traits, 0>(mine, env, e, copy.template bind<Traits, 0>(env));
        });
      });
}

/// to[at] = from[at], converted to another type.
template <class From, class To>
struct CopyValues {
  const From* from;
  To* to;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t at) const { to[at] = static_cast<To>(from[at]); }
};

/// The types that the nest of a statement consists of.
template <class S>
struct NestOf {
  using Result = typename S::result_type;
  using Right = typename S::right_type;
  using Order = typename S::order;
  using Options = typename S::schedule;
  using Tensor = typename Result::tensor_type;
  using Format = typename Tensor::format_type;
  using Value = typename Tensor::value_type;
  using Space = typename Tensor::space_type;
  using Memory = typename Space::memory_space;
  using Compute = compute_over_t<Result, Right, typename Options::semiring>;
  using Traits = NestTraits<InAnyHostSpace<Result>, Order, Compute, typename Options::workspace_policy,
                            levels_in_order<Result>(accesses_of<Right>{}), typename Options::loops>;
  using Source = decltype(lower<Compute>(std::declval<const Right&>()));
  static constexpr Classification classification = Traits::classification;
  static constexpr int loops = Order::names.size;
  static constexpr char outermost = loops > 0 ? Order::names[0] : '\0';
};

/// The nest of one statement.
template <class S>
class NestRun : public NestOf<S> {
  using Of = NestOf<S>;

 public:
  using Of::classification, Of::loops, Of::outermost;
  using typename Of::Compute, typename Of::Options, typename Of::Order, typename Of::Result,
      typename Of::Source, typename Of::Space, typename Of::Traits;

  explicit NestRun(const S& statement)
      : statement_(statement), bounds_(bounds_of(statement)), source_(lower<Compute>(statement.right())) {
    if constexpr (Traits::shares_strips) bounds_.outermost = {0, bounds_.strips[0].most};
  }

  /// Whether different chunks of the outermost loop write to different parts of the result.
  static constexpr bool disjoint = [] {
    if constexpr (Traits::shares_strips) {
      const NameList cut = Traits::stripped.strips[0].variables;
      for (int at = 0; at < cut.size; ++at)
        if (!Result::level_names.contains(cut[at])) return false;
      return true;
    } else {
      return loops > 0 && Result::level_names.contains(outermost);
    }
  }();

  /// Whether the outermost loop can be cut at coordinates, and whether it iterates over stored coordinates.
  template <int Loops>
  static auto outermost_stream() {
    if constexpr (Loops > 0)
      return std::type_identity<decltype(stream::open<outermost>(
          stream::below_coordinates(start_of(std::declval<const Source&>())), 0))>{};
    else
      return std::type_identity<stream::Free<stream::Absent>>{};
  }
  using OutermostStream = typename decltype(outermost_stream<loops>())::type;
  static constexpr bool splittable = Traits::shares_strips || (loops > 0 && OutermostStream::ordered);
  static constexpr bool walks_outermost = OutermostStream::has_walks;

  /// The coordinates at which to cut the outermost loop into `count` chunks with about equal numbers of
  /// nonzeros; if threads share strips, the strips at which to cut. On the host the loop is not cut if there
  /// is little to do.
  std::vector<std::int64_t> cuts(std::int64_t count) const {
    if constexpr (HostSpace<Space>)
      if (count > 1 && most_steps(statement_, bounds_.extent) <= most_unshared_steps) count = 1;
    if constexpr (!splittable)
      return {bounds_.outermost.begin, bounds_.outermost.end};
    else if constexpr (Traits::shares_strips)
      return cut(bounds_.outermost.end, count, [](std::int64_t strip) { return strip; });
    else
      return cut_by_nonzeros<outermost>(statement_.right(), bounds_.outermost.end, count);
  }

  /// A number of chunks that keeps all threads busy.
  std::int64_t chunk_count(std::int64_t chunks_per_thread, std::int64_t threads_per_chunk = 1) const {
    const std::int64_t threads = space().concurrency();
    if (!splittable || threads == 1) return 1;
    return std::max<std::int64_t>(
        1, std::min(bounds_.outermost.end, threads * chunks_per_thread / threads_per_chunk));
  }

  /// Runs a part of the outermost loop.
  /// @param chunk  the number of the chunk; terms without the outermost variable are added by chunk 0 only
  template <class Output>
  void run(const Bounds& part, std::int64_t chunk, const Output& output) const {
    run_nest<Traits>(source_, bounds_, part, chunk == 0, output);
  }

  /// Reads the operands' arrays again, since they may have been replaced.
  void read_operands() {
    Source now = lower<Compute>(statement_.right());
    if constexpr (std::is_move_assignable_v<Source>) {
      source_ = std::move(now);
    } else {  // a function that captures, for example
      std::destroy_at(&source_);
      std::construct_at(&source_, std::move(now));
    }
  }

  const S& statement() const { return statement_; }
  const Space& space() const { return statement_.resources().space(); }
  const Source& source() const { return source_; }
  const typename Traits::bounds_type& bounds() const { return bounds_; }

 private:
  const S& statement_;
  typename Traits::bounds_type bounds_;
  Source source_;
};

/// "inserted as (i, j), stored as (j, i)": the orders in which loops bind the result's variables and in which
/// its levels store them.
template <class S>
std::string insertion_text() {
  const NameList stored = S::result_type::level_names;
  NameList inserted;
  for (int at = 0; at < S::order::names.size; ++at)
    if (stored.contains(S::order::names[at])) inserted.push(S::order::names[at]);
  return text("inserted as (", inserted.str(), "), stored as (", stored.str(), ")");
}

}  // namespace detail

/// Whether an operand has an array (its values, or one of a level) that overlaps the memory of the result's
/// values.
template <class S>
bool reads_result(const S& statement) {
  const auto written = detail::MemoryRange::of(statement.result().tensor().values());
  for (const detail::AccessView& access : detail::views_of(statement.right()))
    if (access.has_array_in(written)) return true;
  return false;
}

}  // namespace sporos

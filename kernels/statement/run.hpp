// SPDX-License-Identifier: Apache-2.0
/// @file run.hpp
/// Runs a statement: checks it, cuts its outermost loop into chunks, runs the nest on them, assembles the
/// result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include "../../core/statement.hpp"
#include "../../formats/assemble.hpp"
#include "../nest/lower.hpp"
#include "../nest/partition.hpp"
#include "../results/appended.hpp"
#include "../results/join.hpp"
#include "../results/listed.hpp"
#include "../results/located.hpp"
#include "../results/room.hpp"
#include "../results/size_bound.hpp"
#include "../results/turns.hpp"
#include "candidates.hpp"
#include "compute_type.hpp"
#include "readable.hpp"

namespace sporos {

namespace detail {

/// Runs body(chunk) for each chunk in a host space. The first exception that a chunk throws is thrown again
/// here.
template <HostSpace Space, class Body>
void for_each_chunk(std::int64_t count, const Body& body) {
  std::exception_ptr failure;
  std::mutex guard;
  Kokkos::parallel_for("sporos::nest",
                       Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Dynamic>>(0, count),
                       [&](std::int64_t chunk) {
                         try {
                           body(chunk);
                         } catch (...) {
                           const std::lock_guard lock(guard);
                           if (!failure) failure = std::current_exception();
                         }
                       });
  Space().fence("sporos::nest");
  if (failure) std::rethrow_exception(failure);
}

/// The nest over one chunk of the outermost loop. On the host a function of its own, so that the loops have
/// all registers to themselves, and with copies of what they read and of where they write, so that it stays
/// in them.
template <class Traits, class Source, class Output>
SPOROS_KERNEL void run_nest(const Source& source, const NestBounds<Traits::loops>& bounds,
                            const Bounds& outermost, bool first_chunk, const Output& output) {
  Source operands = source;
  NestBounds<Traits::loops> mine = bounds;
  mine.outermost = outermost;
  mine.first_chunk = first_chunk;
  stream::Coordinates<Traits::loops> env{};
  stream::advance_into<typename Traits::order_type, 0>(
      begin(operands), env, [&](const auto& start) SPOROS_INLINE_LAMBDA {
        auto e = start;
        output.with_copy([&](const auto& copy) SPOROS_INLINE_LAMBDA {
          nest<Traits, 0>(mine, env, e, copy.template bind<Traits, 0>(env));
        });
      });
}

/// Where chunks of about as many coordinates begin; of their number, where the last one ends.
struct EvenCuts {
  std::int64_t extent;
  std::int64_t count;

  KOKKOS_INLINE_FUNCTION std::int64_t operator[](std::int64_t chunk) const {
    const std::int64_t longer = extent % count;  // chunks with a coordinate more
    return extent / count * chunk + (chunk < longer ? chunk : longer);
  }
};

/// The nest over the chunks of the outermost loop, for a result whose values are located. Each chunk is run
/// by as many threads as it has lanes.
template <class Traits, class Source, class T, bool Atomic, bool Once, class Cuts>
struct LocatedNest {
  using Result = typename Traits::result;

  Source source;
  typename Result::tensor_type::view_type result;
  NestBounds<Traits::loops> bounds;
  Cuts cuts;  ///< cuts[chunk]: where a chunk begins
  T* values;
  std::int64_t
      stride;  ///< from the values of one chunk's private result to the next's; 0 where all write to one
  std::int64_t part;   ///< the values below each coordinate of the outermost loop; 0 where all were started
  std::int64_t block;  ///< how many coordinates to start and run at a time
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

/// values[at] += the chunks' private results at `at`, in the order of the chunks.
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

/// to[at] = from[at], in another type.
template <class From, class To>
struct CopyValues {
  const From* from;
  To* to;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t at) const { to[at] = static_cast<To>(from[at]); }
};

/// One run of one statement.
template <class StatementType>
class Run {
 public:
  using Result = typename StatementType::result_type;
  using Right = typename StatementType::right_type;
  using Order = typename StatementType::order;
  using Tensor = typename Result::tensor_type;
  using Value = typename Tensor::value_type;
  using Space = typename Tensor::space_type;
  using Memory = typename Space::memory_space;
  using How = typename StatementType::schedule;
  using Compute = compute_over_t<Result, Right, typename How::semiring>;
  using Traits = NestTraits<Result, Order, Compute, How::workspace>;
  using Source = decltype(lower<Compute>(std::declval<const Right&>()));
  using Format = typename Tensor::format_type;
  static constexpr Classification how = Traits::classification;
  static constexpr int loops = Order::names.size;
  static constexpr char outermost = loops > 0 ? Order::names[0] : '\0';

  static_assert(
      !is_complex_v<compute_t<Result, Right>> || is_complex_v<Value>,
      "the right side is complex and the result is real: make the result a tensor of Kokkos::complex");
  static_assert(
      [] {
        for (int at = 0; at < Result::names.size; ++at)
          for (int other = 0; other < at; ++other)
            if (Result::names[at] == Result::names[other]) return false;
        return true;
      }(),
      "an index variable stands twice in the result: a result takes each of its variables once");

  static_assert(
      How::workspace != WorkspaceChoice::dense || how.kind != ResultKind::coordinate_workspace,
      "a dense workspace of order 1 gathers a result that scatters over its innermost variable alone: "
      "bind the result's other variables in the outermost loops with .reorder(...), or leave "
      ".workspace(dense_workspace) out");

  explicit Run(const StatementType& statement)
      : statement_(statement), bounds_(bounds_of(statement)), source_(lower<Compute>(statement.right())) {
    for_each_access(statement.right(), [](const auto& access) {
      using Operand = typename std::remove_cvref_t<decltype(access)>::tensor_type;
      static_assert(
          std::is_same_v<typename Operand::memory_space, Memory>,
          "an operand lives in other memory than the result: move it there with operand.move_to<Space>()");
    });
  }

  void operator()() const {
    if constexpr (how.kind == ResultKind::located)
      run_located();
    else {
      static_assert(HostSpace<Space>,
                    "a sparse result is assembled on the host: move the operands there first");
      if constexpr (how.kind == ResultKind::coordinate_workspace)
        run_coordinates();
      else
        run_appended();
    }
  }

  /// Whether the chunks of the outermost loop write to different parts of the result.
  static constexpr bool disjoint = loops > 0 && Result::level_names.contains(outermost);
  /// Whether, where they do not, they add to a dense result by atomics, and not into results of their own.
  static constexpr bool atomic = !disjoint && !HostSpace<Space> && !How::is_deterministic;
  template <int Loops>
  static auto outermost_stream() {
    if constexpr (Loops > 0)
      return std::type_identity<decltype(stream::open<outermost>(begin(std::declval<const Source&>()), 0))>{};
    else
      return std::type_identity<stream::Free<stream::Absent>>{};
  }
  using OutermostStream = typename decltype(outermost_stream<loops>())::type;
  /// Whether the outermost loop can be cut at coordinates at all, and whether it walks what is stored.
  static constexpr bool splittable = loops > 0 && OutermostStream::ordered;
  static constexpr bool walks_outermost = OutermostStream::has_walks;

  std::vector<std::int64_t> cuts(std::int64_t count) const {
    if constexpr (!splittable)
      return {bounds_.outermost.begin, bounds_.outermost.end};
    else
      return cut_by_nonzeros<outermost>(statement_.right(), bounds_.outermost.end, count);
  }

  std::int64_t chunk_count(std::int64_t chunks_per_thread, std::int64_t threads_per_chunk = 1) const {
    const std::int64_t threads = Space().concurrency();
    if (!splittable || threads == 1) return 1;
    return std::max<std::int64_t>(
        1, std::min(bounds_.outermost.end, threads * chunks_per_thread / threads_per_chunk));
  }

  /// Where the loops of a result that is appended are cut: not at all where the outermost is not over its
  /// outermost level.
  std::vector<std::int64_t> appended_cuts() const {
    return how.prefix > 0 ? cuts(chunk_count(16)) : std::vector{std::int64_t{0}, bounds_.outermost.end};
  }

  /// Into how many chunks the loops of a result that is listed are cut: as many for any number of threads,
  /// since the terms of a sum that stand in several follow one another chunk by chunk.
  static std::int64_t listed_chunks(std::int64_t extent) { return std::clamp<std::int64_t>(extent, 1, 256); }

  /// The values of results of their own into which chunks reduce a dense one, all together.
  std::int64_t private_values() const {
    if constexpr (disjoint || atomic) return 0;
    const std::int64_t size = statement_.result().tensor().nnz();
    const std::int64_t chunks = private_count(size);
    return chunks > 1 ? size * chunks : 0;
  }

  const Source& source() const { return source_; }
  const NestBounds<loops>& bounds() const { return bounds_; }

 private:
  /// Whether the values that a chunk writes to stand together, so that it may start them itself: shortly
  /// before the loops come to them, when they are still in the cache.
  static constexpr bool starts_parts = [] {
    if constexpr (disjoint && HostSpace<Space>)
      return Result::level_names[0] == outermost && Format::template expression<0>::block == 1;
    else
      return false;
  }();
  /// Whether the loops come to each value of the result once: outside of its variables runs no reduction, and
  /// no operand has a coordinate in several places.
  template <class... Operands>
  static constexpr bool all_come_once(TypeList<Operands...>) {
    return (std::all_of(Operands::format::properties.begin(), Operands::format::properties.end(),
                        [](const LevelProperties& level) { return level.ordered || level.unique; }) &&
            ...);
  }
  static constexpr bool comes_once =
      how.bound_depth == Result::names.size && all_come_once(accesses_of<Right>{});

  /// Whether they come to every value, with a sum over what is left of the loops, so that none needs a start.
  static constexpr bool comes_to_all =
      comes_once && how.bound_depth == 1 && loops > 1 && !walks_outermost &&
      !stream::searches<Order, 1, decltype(begin(std::declval<const Source&>()))>();

  /// About as many bytes of a result as are started at a time. Entering a loop anew is free where it runs
  /// over all coordinates, and takes a search where it walks.
  static constexpr std::int64_t started_bytes = walks_outermost ? std::int64_t{256} << 10 : 2048;

  /// The loop that a GPU deals among lanes: the innermost over a variable of the result that no operand has
  /// to walk, so that they read and write side by side; -1 where there is none.
  static constexpr int lane_depth = [] {
    if constexpr (!HostSpace<Space>)
      for (int depth = loops - 1; depth > 0; --depth)
        if (Traits::is_result_variable(depth) &&
            detail::is_full_in_all(Order::names[depth], accesses_of<Right>{}))
          return depth;
    return -1;
  }();
  using LaneTraits = std::conditional_t<(lane_depth >= 0), InLanes<Traits, lane_depth>, Traits>;

  void run_located() const {
    using T = Compute;
    const std::int64_t size = statement_.result().tensor().nnz();
    const std::int64_t extent = std::max<std::int64_t>(bounds_.outermost.end, 1);
    const bool needs_start = !comes_to_all || statement_.accumulates();
    const std::int64_t part = starts_parts && needs_start && !statement_.accumulates() ? size / extent : 0;
    const std::int64_t block =
        splittable && part > 0 ? std::max<std::int64_t>(1, started_bytes / (part * std::int64_t{sizeof(T)}))
                               : extent;
    const std::int64_t count =
        disjoint || atomic ? (HostSpace<Space> ? chunk_count(16) : chunk_count(1, lane_depth >= 0 ? 4 : 1))
                           : private_count(size);
    std::vector<std::int64_t> by_nonzeros;
    if constexpr (HostSpace<Space>) by_nonzeros = cuts(count);
    const auto chunks = HostSpace<Space> ? static_cast<std::int64_t>(by_nonzeros.size()) - 1 : count;
    const bool private_results = !disjoint && !atomic && chunks > 1;

    const auto values = target<T>();
    if (needs_start && part == 0) start(values);
    auto sums = values;
    if (private_results) {
      sums = make_array<T, Memory>("sporos::private results", size * chunks);
      Kokkos::deep_copy(Space(), sums, T{});
    }

    // A device cannot be asked for its positions without waiting for it.
    const auto where = [&] {
      if constexpr (HostSpace<Space>)
        return by_nonzeros.data();
      else
        return EvenCuts{bounds_.outermost.end, count};
    }();
    using Nest = LocatedNest<LaneTraits, Source, T, atomic, comes_once, std::remove_const_t<decltype(where)>>;
    const Nest nest{source_,
                    statement_.result().tensor().view(),
                    bounds_,
                    where,
                    sums.data(),
                    private_results ? size : 0,
                    part,
                    block,
                    statement_.accumulates()};
    Kokkos::parallel_for(
        "sporos::nest",
        Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Dynamic>>(0, chunks * Nest::lanes), nest);
    if (private_results)
      Kokkos::parallel_for("sporos::add private results", Kokkos::RangePolicy<Space>(0, size),
                           AddPrivate<T>{sums.data(), values.data(), size, chunks});
    Space().fence("sporos::run");
    store(values);
  }

  /// Chunks that reduce into results of their own: one a thread, or as many for any number of threads where
  /// the sums have to be the same bit by bit; and none where the results would outweigh the work.
  std::int64_t private_count(std::int64_t size) const {
    std::int64_t work = 0;
    for_each_access(statement_.right(),
                    [&](const auto& access) { work = std::max(work, access.tensor().nnz()); });
    if (size > work) return 1;
    if constexpr (How::is_deterministic && splittable)
      return std::clamp<std::int64_t>(bounds_.outermost.end, 1, 16);
    else
      return chunk_count(1);
  }

  /// The array that sums are formed in: the result's own where its type allows and no operand reads it.
  template <class T>
  Array<T, Memory> target() const {
    const Tensor& result = statement_.result().tensor();
    if constexpr (std::is_same_v<T, Value>)
      if (!reads_result()) return result.values();
    return make_array<T, Memory>("sporos::result", result.nnz());
  }
  /// Zero, or what the result holds where the statement adds to it.
  template <class T>
  void start(const Array<T, Memory>& values) const {
    const Tensor& result = statement_.result().tensor();
    if (!statement_.accumulates())
      Kokkos::deep_copy(Space(), values, T{});
    else if (static_cast<const void*>(values.data()) != static_cast<const void*>(result.values().data()))
      Kokkos::parallel_for("sporos::start", Kokkos::RangePolicy<Space>(0, result.nnz()),
                           CopyValues<Value, T>{result.values().data(), values.data()});
  }
  template <class T>
  void store(const Array<T, Memory>& values) const {
    const Tensor& result = statement_.result().tensor();
    if constexpr (std::is_same_v<T, Value>) {
      if (values.data() != result.values().data()) result.replace(result.extents(), result.levels(), values);
    } else {
      Kokkos::parallel_for("sporos::round", Kokkos::RangePolicy<Space>(0, result.nnz()),
                           CopyValues<T, Value>{values.data(), result.values().data()});
      Space().fence("sporos::round");
    }
  }
  bool reads_result() const {
    const Value* mine = statement_.result().tensor().values().data();
    bool found = false;
    for_each_access(statement_.right(), [&](const auto& access) {
      if (static_cast<const void*>(access.tensor().values().data()) == static_cast<const void*>(mine))
        found = true;
    });
    return found;
  }

  /// Whether threads may put what they append in its place at once: they know how much it can be at most, and
  /// it has the result's type.
  template <class Piece>
  static constexpr bool takes_turns() {
    return Piece::bounded && how.prefix > 0 && std::is_same_v<typename Piece::value_type, Value>;
  }
  /// Into how many chunks the outermost loop is cut then: few enough that each is worth its beginning, so
  /// many that none outgrows a core's cache and what is appended meanwhile takes little memory.
  template <class Piece>
  std::int64_t turns() const {
    std::int64_t count = chunk_count(8);
    if constexpr (takes_turns<Piece>() && splittable) {
      using InTurns = Turns<Result, Piece, Space>;
      const std::int64_t most = SizeBound<Result, Right>::template of<Piece::levels - 1>(
          statement_.right(), Bounds{0, bounds_.outermost.end});
      const std::int64_t worth = std::min(most / InTurns::least_elements, chunk_count(32));
      count = std::max({count, worth, std::min(most / InTurns::most_elements, bounds_.outermost.end)});
    }
    return count;
  }

  void run_appended() const {
    using PieceValue = std::conditional_t<adds_to_pieces<Result>, Compute, Value>;
    using Piece = AppendedPiece<Result, PieceValue, SizeBound<Result, Right>::known>;
    using Output = AppendedOutput<Traits, Piece, Compute>;
    constexpr bool scatters = how.kind == ResultKind::dense_workspace;
    // Where sizes are bounded and there are several threads, they put small chunks in their places at once.
    const bool in_turns = takes_turns<Piece>() && Space().concurrency() > 1;
    const std::vector<std::int64_t> at = in_turns ? cuts(turns<Piece>()) : appended_cuts();
    const auto chunks = static_cast<std::int64_t>(at.size()) - 1;
    const Extents<Format::order> extents = statement_.result().tensor().extents();

    std::vector<Bounds> ranges;
    std::vector<Piece> pieces;
    pieces.reserve(static_cast<std::size_t>(chunks));
    for (std::size_t chunk = 0; chunk + 1 < at.size(); ++chunk) {
      ranges.push_back(how.prefix > 0 ? Bounds{at[chunk], at[chunk + 1]} : Bounds{0, extents_of_root()});
      pieces.emplace_back(extents, ranges.back());
    }
    const PieceRoom<Result, Piece> room(statement_.right(), ranges, extents);
    const Kokkos::Experimental::UniqueToken<Space> tokens;
    std::vector<std::unique_ptr<DenseWorkspace<Compute>>> workspaces(static_cast<std::size_t>(tokens.size()));

    const auto compute = [&](std::int64_t chunk, Piece& piece) {
      const auto token = tokens.acquire();
      auto& workspace = workspaces[static_cast<std::size_t>(token)];
      if (scatters && !workspace)
        workspace = std::make_unique<DenseWorkspace<Compute>>(bounds_.extent[Output::innermost]);
      run_nest<Traits>(source_, bounds_,
                       {at[static_cast<std::size_t>(chunk)], at[static_cast<std::size_t>(chunk + 1)]},
                       chunk == 0, Output{&piece, workspace.get(), Format::level_extents(extents)});
      piece.finish();
      tokens.release(token);
    };
    if constexpr (takes_turns<Piece>()) {
      if (in_turns && chunks > 1) {
        Turns<Result, Piece, Space>(pieces, room)(compute);
        Join<Result, Piece, Space>(statement_.result(), pieces, room)();
        return;
      }
    }
    for (std::size_t chunk = 0; chunk < pieces.size(); ++chunk) room.lend(pieces[chunk], chunk);
    for_each_chunk<Space>(
        chunks, [&](std::int64_t chunk) { compute(chunk, pieces[static_cast<std::size_t>(chunk)]); });
    Join<Result, Piece, Space>(statement_.result(), pieces, room)();
  }

  std::int64_t extents_of_root() const {
    return Format::level_extents(statement_.result().tensor().extents())[0];
  }

  void run_coordinates() const {
    using Sum = Compute;
    using Piece = CoordinatePiece<Sum, Format::order>;
    const std::vector<std::int64_t> at = cuts(listed_chunks(bounds_.outermost.end));
    const auto chunks = static_cast<std::int64_t>(at.size()) - 1;
    std::vector<Piece> pieces(static_cast<std::size_t>(chunks));
    for_each_chunk<Space>(chunks, [&](std::int64_t chunk) {
      run_nest<Traits>(source_, bounds_,
                       {at[static_cast<std::size_t>(chunk)], at[static_cast<std::size_t>(chunk + 1)]},
                       chunk == 0, CoordinateOutput<Traits, Sum>{&pieces[static_cast<std::size_t>(chunk)]});
    });
    const auto& result = statement_.result().tensor();
    const auto entries = concatenate(pieces, result.extents());
    auto made = assemble<Format, Space>(entries, Duplicates::sum);
    if constexpr (std::is_same_v<Sum, Value>) {
      result.replace(made.extents(), made.levels(), made.values());
    } else {
      const auto values = make_array<Value, Memory>("sporos::result", made.nnz());
      Kokkos::parallel_for("sporos::round", Kokkos::RangePolicy<Space>(0, made.nnz()),
                           CopyValues<Sum, Value>{made.values().data(), values.data()});
      Space().fence("sporos::round");
      result.replace(made.extents(), made.levels(), values);
    }
  }

  const StatementType& statement_;
  NestBounds<loops> bounds_;
  Source source_;
};

}  // namespace detail

/// Runs a statement in the space of its result.
/// @throws ShapeError where an index variable would run over two extents
template <class Result, class Right, class Order, class How>
void run(const Statement<Result, Right, Order, How>& statement) {
  require_readable_operands<Right, Order>();
  if constexpr (detail::first_contradiction(accesses_of<Right>{}) < 0) {
    expect_kokkos();
    const Kokkos::Profiling::ScopedRegion region(statement.str());
    if (run_specialised(statement)) return;
    using Tensor = typename Result::tensor_type;
    constexpr bool nest_runs = HostSpace<typename Tensor::space_type> || Tensor::format_type::is_dense;
    if constexpr (nest_runs || !has_specialised_kernel<Statement<Result, Right, Order, How>>) {
      const detail::Run<Statement<Result, Right, Order, How>> run(statement);
      run();
    }
  }
}

}  // namespace sporos

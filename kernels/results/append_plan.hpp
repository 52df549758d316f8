// SPDX-License-Identifier: Apache-2.0
/// @file append_plan.hpp
/// How to make a sparse result whose levels are written in ascending order: each chunk of the outermost loop
/// appends to its own piece, and the pieces are joined.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../core/memory_use.hpp"
#include "../../core/pool.hpp"
#include "../../formats/chunks.hpp"
#include "../../formats/storage_bound.hpp"
#include "../../formats/stored_coordinates.hpp"
#include "../../workspace/policy.hpp"
#include "../nest/nest_run.hpp"
#include "../nest/term_bound.hpp"
#include "append_output.hpp"
#include "block_policy.hpp"
#include "join.hpp"
#include "refill_output.hpp"
#include "room.hpp"
#include "size_bound.hpp"
#include "turns.hpp"
#include "workspace_shelf.hpp"

namespace sporos::detail {

/// A sum of a refill; a struct, to avoid std::vector<bool>.
template <class T>
struct SumCell {
  T sum{};
};

/// How the outermost loop of an AppendPlan runs: a candidate of the nest inherits what it says of it.
struct AppendsInChunks {
  template <class S>
  static constexpr std::string_view parallel_text() {
    return NestOf<S>::classification.prefix > 0 ? "parallel: chunks of about equal nonzeros"
                                                : "serial: every chunk would write the same results";
  }
};

/// The plan of a nest whose result is appended, directly or after each row, or each block of several levels,
/// has been gathered in a workspace.
///
/// @tparam Policy  policy of the workspace that gathers rows or blocks; void if nothing scatters
template <class S, class Policy>
class AppendPlan {
  using Nest = NestRun<S>;
  using Result = typename Nest::Result;
  using Right = typename Nest::Right;
  using Traits = typename Nest::Traits;
  using Shape = typename Traits::result;
  using Compute = typename Nest::Compute;
  using Space = typename Nest::Space;
  using Value = typename Nest::Value;
  using Format = typename Nest::Format;
  static constexpr Classification classification = Nest::classification;
  static constexpr int last = Format::levels - 1;
  static constexpr bool gathers = !std::is_void_v<Policy>;
  /// The number of levels over which a workspace gathers: those below the loops that both orders share.
  static constexpr int gathered_levels = gathers ? Format::levels - classification.prefix : 1;
  static_assert(HostSpace<Space>, "a sparse result is assembled on the host: move the operands there first");

  template <class P>
  struct WorkspaceOf {
    using type = typename P::template workspace<Compute, gathered_levels>;
  };
  using W = typename std::conditional_t<gathers, WorkspaceOf<Policy>, std::type_identity<NoWorkspace>>::type;
  static_assert(!gathers || Workspace<W, Policy, Compute, gathered_levels>,
                "the workspace of a policy has what workspace/policy.hpp lists");

  using ChosenPolicy = std::conditional_t<gathers, Policy, std::type_identity<void>>;

  using PieceValue = std::conditional_t<adds_to_pieces<Shape>, Compute, Value>;
  using Piece = AppendedPiece<Shape, PieceValue, SizeBound<Shape, Right>::known>;
  using Output = AppendedOutput<Traits, Piece, W, Compute>;
  using Room = PieceRoom<Shape, Piece>;
  using InTurns = Turns<Shape, Piece>;
  using Cell = SumCell<Compute>;

  /// Whether a refill, which adds up the values of a coordinate one after another, gives the same bits.
  static constexpr bool sums_in_order = !gathers || sums_in_order_of<W>;

  /// Whether threads can move what they append to its final place right away: its size has a known bound, and
  /// it has the result's type.
  static constexpr bool takes_turns =
      Piece::bounded && classification.prefix > 0 && std::is_same_v<PieceValue, Value>;

 public:
  AppendPlan(const S& statement, const Resources<Space>&)
      : nest_(statement), policy_(policy_for_blocks(statement)) {}

  void prepare() { keeps_rows_ = true; }

  void run() {
    nest_.read_operands();
    const bool in_turns = works_in_turns();
    cuts_ = in_turns ? nest_.cuts(turns()) : where_to_cut();
    const auto chunks = static_cast<std::int64_t>(cuts_.size()) - 1;
    const Extents<Format::order> extents = result().extents();

    std::vector<Bounds> ranges;
    std::vector<Piece> pieces;
    pieces.reserve(static_cast<std::size_t>(chunks));
    for (std::size_t chunk = 0; chunk + 1 < cuts_.size(); ++chunk) {
      ranges.push_back(classification.prefix > 0 ? Bounds{cuts_[chunk], cuts_[chunk + 1]}
                                                 : Bounds{0, extent_of_root()});
      pieces.emplace_back(extents, ranges.back());
    }
    const Room room(nest_.statement().right(), ranges, extents);
    rows_.assign(keeps_rows_ ? pieces.size() : 0, {});

    if constexpr (gathers)
      expect_room_for(std::min<std::int64_t>(chunks, nest_.space().concurrency()),
                      W::most_bytes(policy_, gathered_extents(), 0));
    WorkspaceShelf<W> shelf;
    const auto compute = [&](std::int64_t chunk, Piece& piece) {
      const auto at = static_cast<std::size_t>(chunk);
      W* workspace = nullptr;
      if constexpr (gathers)
        workspace = &shelf.take([&] { return std::make_unique<W>(policy_, gathered_extents()); });
      nest_.run(
          {cuts_[at], cuts_[at + 1]}, chunk,
          Output{&piece, workspace, keeps_rows_ ? &rows_[at] : nullptr, Format::level_extents(extents)});
      piece.finish();
      if (workspace) shelf.give_back(*workspace);
    };
    if constexpr (takes_turns) {
      if (in_turns && chunks > 1) {
        InTurns(nest_.space(), pieces, room)(compute);
        finish(pieces, room);
        return;
      }
    }
    for (std::size_t chunk = 0; chunk < pieces.size(); ++chunk) room.lend(pieces[chunk], chunk);
    for_each_chunk(nest_.space(), chunks,
                   [&](std::int64_t chunk) { compute(chunk, pieces[static_cast<std::size_t>(chunk)]); });
    finish(pieces, room);
  }

  void refill() {
    if constexpr (S::schedule::is_deterministic && !sums_in_order) return run();
    nest_.read_operands();
    sums_.forget_unfinished();
    const Extents<Format::levels> extents = Format::level_extents(result().extents());
    const std::int64_t row = sums_of_row();
    for_each_chunk(nest_.space(), static_cast<std::int64_t>(cuts_.size()) - 1, [&](std::int64_t chunk) {
      const auto at = static_cast<std::size_t>(chunk);
      CountedVector<Cell>& sums = sums_.take([&] {
        return std::make_unique<CountedVector<Cell>>(static_cast<std::size_t>(row + block()), Cell{});
      });
      Compute* const of_row = &sums.data()->sum;
      const auto coordinates = coordinates_from(begin_[at]);
      using Sink = RefillSink<Value, std::remove_const_t<decltype(coordinates)>, Compute>;
      Sink sink{result().values().data() + begin_[at],
                coordinates,
                gathers ? rows_[at].data() : nullptr,
                of_row + block(),
                sums_whole_rows(),
                of_row,
                block()};
      nest_.run({cuts_[at], cuts_[at + 1]}, chunk, RefillOutput<Traits, Sink>{&sink, extents});
      sums_.give_back(sums);
    });
  }

  /// A memory limit in the settings of the workspaces that is enough for any of them; 0 if they have none.
  std::int64_t enough_limit() const {
    if constexpr (gathers)
      return detail::enough_limit<W>(policy(), gathered_extents(), most_values().gathered);
    else
      return 0;
  }

  Bytes bytes() const {
    const MostValues most = most_values();
    Bytes out;
    const StorageBound bound = storage_bound<Format, Value>(result().extents(), most.added);
    out.values = bound.values;
    out.result = bound.bytes;
    const std::int64_t threads = nest_.space().concurrency();
    constexpr std::int64_t arrays = 2 * Piece::levels + 1;
    if constexpr (gathers)
      out.workspace += std::min(
          too_much, saturated_product(threads, W::most_bytes(policy_, gathered_extents(), most.gathered)));
    // Pieces that grow are copied while growing and when joined; pieces in reserved room are copied at most
    // when joined. An array that grows has room for up to twice what it holds, and twice that while it moves.
    // Sums in a piece may be wider than the values of the result.
    constexpr std::int64_t grown = Piece::bounded ? 1 : 4;
    constexpr std::int64_t wider = std::max<std::int64_t>(1, sizeof(PieceValue) / sizeof(Value));
    out.workspace += std::min(too_much, saturated_product(grown * wider, out.result));
    // Arrays have room for a few elements from the start, those of the pieces and those of the result.
    constexpr std::int64_t bytes_at_start = 192;
    out.workspace += arrays * bytes_at_start;
    // Of a large reservation, only what is written counts; a small one is allocated as a whole.
    const Bounds all{0, classification.prefix > 0 ? nest_.bounds().outermost.end : extent_of_root()};
    if constexpr (Piece::bounded)
      out.workspace +=
          std::min(arrays * Pool::smallest_block,
                   piece_bytes(all, std::make_index_sequence<static_cast<std::size_t>(Piece::levels)>{}));
    else
      out.workspace += Room::guess_bytes(nest_.statement().right(), all, result().extents());
    if (works_in_turns()) out.workspace += buffer_bytes();
    // A plan keeps the lengths of gathered rows, in arrays that grow: one of twice the length and the old
    // one.
    constexpr std::int64_t bytes_of_row = 3 * sizeof(std::int64_t);
    if (keeps_rows_) out.workspace += std::min(too_much, saturated_product(bytes_of_row, most.rows));
    return out;
  }

  std::int64_t held_bytes() const {
    std::int64_t sum = 0;
    const auto add = [&](const auto& array) {
      sum += static_cast<std::int64_t>(array.capacity() * sizeof(*array.data()));
    };
    add(cuts_);
    add(begin_);
    for (const auto& rows : rows_) add(rows);
    sums_.for_each(add);
    return sum;
  }

  const Nest& nest() const { return nest_; }
  /// Reads the operands' arrays again, since they may have been replaced.
  void read_operands() { nest_.read_operands(); }
  /// The policy of the workspaces that gather rows or blocks.
  const auto& policy() const { return policy_; }
  /// Upper bounds on the number of values that the loops give to the result, on how many of them a workspace
  /// gathers before it is drained, and on how often it gathers a row.
  struct MostValues {
    std::int64_t added, gathered, rows;
  };
  MostValues most_values() const {
    TermBound<Traits> bound(nest_.bounds());
    const std::int64_t added = bound.of(nest_.source());
    return {added, classification.hoists ? bound.largest_block() : added, bound.gathered()};
  }
  /// The extents of the levels over which a workspace gathers.
  Extents<gathered_levels> gathered_extents() const {
    Extents<gathered_levels> extents{};
    const auto of_levels = Format::level_extents(result().extents());
    std::copy_n(of_levels.end() - gathered_levels, gathered_levels, extents.begin());
    return extents;
  }

 private:
  /// The coordinates of the innermost level, starting at a position, if rows are gathered.
  auto coordinates_from(std::int64_t position) const {
    if constexpr (gathers)
      return stored_coordinates(result().template level<last>()) + position;
    else
      return static_cast<const std::int64_t*>(nullptr);
  }

  static ChosenPolicy policy_for_blocks(const S& statement) {
    if constexpr (gathers)
      return block_policy<Policy>(statement);
    else
      return {};
  }
  /// More bytes than any machine has: a larger sum might overflow.
  static constexpr std::int64_t too_much = std::int64_t{1} << 61;

  const auto& result() const { return nest_.statement().result().tensor(); }
  std::int64_t extent_of_root() const { return Format::level_extents(result().extents())[0]; }
  /// The number of values in a dense block below the appended levels.
  std::int64_t block() const {
    return values_in_block(Format::level_extents(result().extents()), classification.appended_levels);
  }

  /// Whether a refill sums a gathered row in an array over its extent, as the row was gathered. Otherwise it
  /// uses an array over the row's stored coordinates, and searches these for each value.
  bool sums_whole_rows() const {
    if constexpr (gathers)
      return is_dense_over<Compute>(policy_, gathered_extents());
    else
      return false;
  }
  std::int64_t row_extent() const { return Format::level_extents(result().extents())[std::size_t{last}]; }
  /// The number of sums that a refill needs for a row.
  std::int64_t sums_of_row() const {
    if (!gathers) return 0;
    if (sums_whole_rows()) return row_extent();
    std::int64_t longest = 0;
    for (const auto& chunk : rows_)
      for (const std::int64_t length : chunk) longest = std::max(longest, length);
    return longest;
  }

  /// Chunks for each thread: so many that all threads are busy to the end, though chunks differ in their
  /// work.
  static constexpr std::int64_t chunks_of_thread = 16;
  /// The same if threads take turns, in which each chunk also waits for the one before: the fewest, and the
  /// most for which small chunks are still worth starting.
  static constexpr std::int64_t least_turns_of_thread = 8, most_turns_of_thread = 32;

  bool works_in_turns() const { return takes_turns && nest_.space().concurrency() > 1; }

  /// Where to cut the outermost loop: nowhere unless it is over the result's outermost level.
  std::vector<std::int64_t> where_to_cut() const {
    return classification.prefix > 0 ? nest_.cuts(nest_.chunk_count(chunks_of_thread))
                                     : std::vector{std::int64_t{0}, nest_.bounds().outermost.end};
  }
  /// The number of chunks if threads take turns: few enough that each is worth starting, and enough that none
  /// exceeds a core's cache.
  std::int64_t turns() const {
    std::int64_t count = nest_.chunk_count(least_turns_of_thread);
    if constexpr (takes_turns && Nest::splittable) {
      const std::int64_t end = nest_.bounds().outermost.end;
      const std::int64_t most =
          SizeBound<Shape, Right>::template of<Piece::levels - 1>(nest_.statement().right(), Bounds{0, end});
      const std::int64_t worth =
          std::min(most / InTurns::least_elements, nest_.chunk_count(most_turns_of_thread));
      count = std::max({count, worth, std::min(most / InTurns::most_elements, end)});
    }
    return count;
  }

  /// Bytes of the buffers of threads that take turns, as if each buffer held the largest chunk.
  std::int64_t buffer_bytes() const {
    std::int64_t most = 0;
    if constexpr (takes_turns) {
      const std::vector<std::int64_t> cuts = nest_.cuts(turns());
      for (std::size_t chunk = 0; chunk + 1 < cuts.size(); ++chunk)
        most =
            std::max(most, piece_bytes({cuts[chunk], cuts[chunk + 1]},
                                       std::make_index_sequence<static_cast<std::size_t>(Piece::levels)>{}));
      most *=
          std::min<std::int64_t>(nest_.space().concurrency(), static_cast<std::int64_t>(cuts.size()) - 1) *
          InTurns::buffers_of_thread;
    }
    return most;
  }
  /// An upper bound on the bytes of a piece, with each array as long as its level can get.
  template <std::size_t... K>
  std::int64_t piece_bytes(const Bounds& outermost, std::index_sequence<K...>) const {
    using Bound = SizeBound<Shape, Right>;
    const auto extents = Format::level_extents(result().extents());
    std::int64_t bytes = 0, parents = 1;
    const auto level = [&]<int L>(std::integral_constant<int, L>) {
      if constexpr (Piece::template has_ends<L>)
        bytes += (parents + 1) * static_cast<std::int64_t>(sizeof(typename Piece::template position_type<L>));
      if constexpr (Piece::template full<L>) {
        parents = L == 0 ? outermost.size() : parents * extents[L];
      } else {
        parents = Bound::template of<(Piece::template repeats<L> ? Piece::levels - 1 : L)>(
            nest_.statement().right(), outermost);
        bytes += parents * static_cast<std::int64_t>(sizeof(typename Piece::template coordinate_type<L>));
      }
    };
    (level(std::integral_constant<int, static_cast<int>(K)>{}), ...);
    return bytes + parents * block() * static_cast<std::int64_t>(sizeof(PieceValue));
  }

  void finish(std::vector<Piece>& pieces, const Room& room) {
    if (keeps_rows_) {
      begin_.assign(1, 0);
      for (auto& piece : pieces) begin_.push_back(begin_.back() + piece.values().size());
    }
    Join<Result, Piece, Space>(nest_.space(), nest_.statement().result(), pieces, room)();
  }

  Nest nest_;
  ChosenPolicy policy_;
  bool keeps_rows_ = false;
  std::vector<std::int64_t> cuts_;   ///< where the last run cut the outermost loop
  std::vector<std::int64_t> begin_;  ///< where each chunk's values begin
  std::vector<CountedVector<std::int64_t>>
      rows_;                                  ///< for each chunk, the number of values of each gathered row
  WorkspaceShelf<CountedVector<Cell>> sums_;  ///< sums of a dense block, then of a row
};

}  // namespace sporos::detail

// SPDX-License-Identifier: Apache-2.0
/// @file cut_rows.hpp
/// Rows of a device's loop nest that are too long for one chunk: cut into pieces, which different chunks run,
/// and whose sums are then added in the order of the pieces.
///
/// A product of operands is summed over the nonzeros of a row of one of them: of A(i, k), in C(i, j) = A(i,
/// k) * B(k, j) for example. The chunks of the nest leave out rows of more than `most_of_row` nonzeros. Each
/// piece of such a row is a run of the same nest over A, with the row's bounds replaced by those of the
/// piece, into a row of its own. The result therefore does not depend on which chunk ends first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "../../core/array.hpp"
#include "../../core/resources.hpp"
#include "../nest/nest_run.hpp"

namespace sporos {

namespace detail {

/// Whether an expression is a product of accesses and numbers.
template <class E>
inline constexpr bool is_product_of_accesses = AnyAccess<E> || AnyLiteral<E>;
template <class L, class R>
inline constexpr bool is_product_of_accesses<Product<L, R>> =
    is_product_of_accesses<L> && is_product_of_accesses<R>;

/// Whether rows of an access are summed over the coordinates that its second level stores: A(i, k) by rows,
/// where i is `Outermost` and k is not a variable of the result.
template <class A, class Result, char Outermost>
constexpr bool sums_rows() {
  if constexpr (is_part_v<typename A::tensor_type> || A::format::levels < 2) {
    return false;
  } else {
    using Second = typename A::format::template level<1>;
    return A::level_names[0] == Outermost && A::format::properties[0].full &&
           A::format::template expression<0>::block == 1 && A::level_names[1] != no_variable &&
           !Result::level_names.contains(A::level_names[1]) && StoresSegments<Second>;
  }
}

/// The first access whose rows may be cut; void if there is none.
template <class Result, char Outermost, class Accesses>
struct CutAccess {
  using type = void;
};
template <class Result, char Outermost, class First, class... Rest>
struct CutAccess<Result, Outermost, TypeList<First, Rest...>> {
  static auto find() {
    if constexpr (sums_rows<First, Result, Outermost>())
      return std::type_identity<First>{};
    else
      return std::type_identity<typename CutAccess<Result, Outermost, TypeList<Rest...>>::type>{};
  }
  using type = typename decltype(find())::type;
};

/// Whether a lowered expression has an operand of access type A.
template <class A, class E>
constexpr bool has_operand() {
  if constexpr (has_two_children<E>)
    return has_operand<A, std::remove_cvref_t<decltype(std::declval<E&>().left)>>() ||
           has_operand<A, std::remove_cvref_t<decltype(std::declval<E&>().right)>>();
  else if constexpr (requires { typename E::access; })
    return std::is_same_v<typename E::access, A>;
  else
    return false;
}

/// The view of the first operand of access type A.
template <class A, class E>
KOKKOS_INLINE_FUNCTION constexpr auto& view_of_operand(E& source) {
  if constexpr (!has_two_children<std::remove_const_t<E>>)
    return source.view;
  else if constexpr (has_operand<A, std::remove_cvref_t<decltype(source.left)>>())
    return view_of_operand<A>(source.left);
  else
    return view_of_operand<A>(source.right);
}

/// A row that is cut, and which pieces are its own.
struct CutRow {
  std::int64_t row;
  std::int64_t first, pieces;  ///< its first piece among those of all rows, and how many it has
};
/// A piece of a row.
struct PieceOfRow {
  std::int64_t row;
  std::int64_t begin, end;  ///< the nonzeros of the piece
};

/// Lists of cut rows and of pieces, and the sums of pieces, kept from one statement to the next: allocating
/// them takes longer than a small nest.
template <class Memory>
struct RoomForCutRows {
  Array<std::int64_t, Memory> counts;  ///< the number of rows, and that of pieces
  Array<CutRow, Memory> rows;
  Array<PieceOfRow, Memory> pieces;
  Array<char, Memory> sums;

  void prepare_lists(std::int64_t most_rows, std::int64_t most_pieces) {
    at_least(counts, 2);
    at_least(rows, most_rows);
    at_least(pieces, most_pieces);
  }
  template <class T>
  Array<T, Memory> sums_of(std::int64_t count) {
    at_least(sums, count * static_cast<std::int64_t>(sizeof(T)));
    return Array<T, Memory>(reinterpret_cast<T*>(sums.data()), static_cast<std::size_t>(count));
  }

 private:
  template <class T>
  static void at_least(Array<T, Memory>& array, std::int64_t count) {
    if (static_cast<std::int64_t>(array.extent(0)) >= count) return;
    array = {};
    array = make_array<T, Memory>("sporos::rows that are cut", count);
  }
};

/// Lists the rows of more than `most` nonzeros, in any order, and their pieces, which have equal lengths.
template <class Position>
struct FindCutRows {
  const Position* positions;
  std::int64_t most;
  CutRow* rows;
  PieceOfRow* pieces;
  std::int64_t* counts;  ///< the number of rows, and that of pieces; zero at first

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const auto begin = static_cast<std::int64_t>(positions[row]);
    const std::int64_t length = static_cast<std::int64_t>(positions[row + 1]) - begin;
    if (length <= most) return;
    const std::int64_t count = (length + most - 1) / most;
    const std::int64_t first = Kokkos::atomic_fetch_add(counts + 1, count);
    rows[Kokkos::atomic_fetch_add(counts, std::int64_t{1})] = {row, first, count};
    for (std::int64_t piece = 0; piece < count; ++piece)
      pieces[first + piece] = {row, begin + length * piece / count, begin + length * (piece + 1) / count};
  }
};

/// Adds the sums of its pieces, from the first to the last, to the values of a row.
template <class T>
struct AddPiecesOfRows {
  const CutRow* rows;
  const T* sums;  ///< [pieces, of_row]
  T* values;      ///< [rows of the result, of_row]
  std::int64_t of_row;
  bool starts;  ///< whether a sum starts with what `values` hold

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t at) const {
    const CutRow row = rows[at / of_row];
    const std::int64_t column = at % of_row;
    T& to = values[row.row * of_row + column];
    T sum = starts ? to : T{};
    for (std::int64_t piece = 0; piece < row.pieces; ++piece)
      sum = plus(sum, sums[(row.first + piece) * of_row + column]);
    to = sum;
  }
};

/// The nest over the chunks of the outermost loop, except rows that are cut.
/// @tparam A       the access that has the rows
/// @tparam Output  LocatedOutput
template <class Traits, class Source, class T, class Output, class A, class Cuts>
struct NestOverShortRows {
  Source source;
  typename Traits::result::tensor_type::view_type result;
  typename Traits::bounds_type bounds;
  Cuts cuts;  ///< cuts[chunk]: where a chunk begins
  T* values;
  std::int64_t most;  ///< the most nonzeros of a row that is not cut
  bool accumulates;

  static constexpr std::int64_t lanes = Traits::lane_depth >= 0 ? lanes_of_warp : 1;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t thread) const {
    const std::int64_t chunk = thread / lanes, last = cuts[chunk + 1];
    auto of_lane = bounds;
    of_lane.lane = thread % lanes;
    auto view = result;
    const auto* const positions = view_of_operand<A>(source).template level<1>().positions;
    const auto is_short = [&](std::int64_t row) {
      return static_cast<std::int64_t>(positions[row + 1]) - static_cast<std::int64_t>(positions[row]) <=
             most;
    };
    for (std::int64_t begin = cuts[chunk]; begin < last;) {
      std::int64_t end = begin;
      while (end < last && is_short(end)) ++end;
      if (begin < end)
        run_nest<Traits>(source, of_lane, {begin, end}, true, Output{&view, values, accumulates});
      begin = end + 1;
    }
  }
};

/// The nest over the pieces of cut rows, each into a row of `sums`.
template <class Traits, class Source, class T, class Output, class A>
struct NestOverPieces {
  Source source;
  typename Traits::result::tensor_type::view_type result;
  typename Traits::bounds_type bounds;
  const PieceOfRow* pieces;
  T* sums;  ///< [pieces, of_row]
  std::int64_t of_row;

  static constexpr std::int64_t lanes = Traits::lane_depth >= 0 ? lanes_of_warp : 1;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t thread) const {
    const std::int64_t number = thread / lanes;
    const PieceOfRow piece = pieces[number];
    auto of_lane = bounds;
    of_lane.lane = thread % lanes;
    auto view = result;
    Source mine = source;
    const auto& of_rows = view_of_operand<A>(mine).template level<1>();
    auto& level = const_cast<std::remove_cvref_t<decltype(of_rows)>&>(of_rows);
    using Position = std::remove_cvref_t<decltype(level.positions[0])>;
    const Position ends[2] = {static_cast<Position>(piece.begin), static_cast<Position>(piece.end)};
    level.positions = ends - piece.row;  // only the elements at `row` and `row` + 1 are read
    run_nest<Traits>(mine, of_lane, {piece.row, piece.row + 1}, true,
                     Output{&view, sums + (number - piece.row) * of_row, false});
  }
};

}  // namespace detail

/// Whether the nest of a statement may cut rows, and what it allocates for that.
template <class Nest>
struct CutRows {
  using Result = typename Nest::Result;
  using Right = typename Nest::Right;
  using Access = typename detail::CutAccess<Result, Nest::outermost, accesses_of<Right>>::type;
  /// Rows with more nonzeros than this are cut into pieces of at most this many: few enough that other chunks
  /// do not end earlier, and enough that the sums of a piece are little compared with its work.
  static constexpr std::int64_t most_of_row = 128;

  static constexpr bool are_there = [] {
    if constexpr (HostSpace<typename Nest::Space> || !Nest::disjoint || Nest::Traits::strips > 0 ||
                  Nest::loops < 2 || std::is_void_v<Access>)
      return false;
    else
      return detail::is_product_of_accesses<Right> && Result::level_names[0] == Nest::outermost &&
             Nest::Format::template expression<0>::block == 1;
  }();

  /// The most pieces of a matrix with this many nonzeros: a row that is cut has fewer than two pieces for
  /// each `most_of_row` of its nonzeros.
  static constexpr std::int64_t most_pieces(std::int64_t nonzeros) {
    return nonzeros > most_of_row ? 2 * nonzeros / most_of_row + 1 : 0;
  }
  static constexpr std::int64_t most_rows(std::int64_t nonzeros) { return nonzeros / most_of_row; }

  /// The number of nonzeros of the operand whose rows may be cut.
  static std::int64_t nonzeros(const Nest& nest) {
    std::int64_t nonzeros = -1;
    for_each_access(nest.statement().right(), [&](const auto& access) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(access)>, Access>)
        if (nonzeros < 0) nonzeros = access.tensor().nnz();
    });
    return nonzeros;
  }
  /// The number of values in a row of the result.
  static std::int64_t values_of_row(const Nest& nest) {
    return nest.statement().result().tensor().nnz() / std::max<std::int64_t>(nest.bounds().outermost.end, 1);
  }

  /// Whether rows are cut: only if memory is not bounded, and there is enough work to be worth a look.
  static bool cuts(const Nest& nest) {
    constexpr std::int64_t fewest = 16 * most_of_row;  // of which one long row is a part that matters
    if constexpr (are_there)
      return nonzeros(nest) > fewest && values_of_row(nest) > 0 &&
             nest.statement().resources().memory_limit() == Resources<typename Nest::Space>::unlimited;
    else
      return false;
  }
  /// An upper bound on the bytes of the lists of rows and pieces and of the sums of pieces.
  static std::int64_t bytes(const Nest& nest) {
    if (!cuts(nest)) return 0;
    const std::int64_t nonzeros = CutRows::nonzeros(nest), pieces = most_pieces(nonzeros);
    return array_bytes<std::int64_t>(2) + array_bytes<detail::CutRow>(most_rows(nonzeros)) +
           array_bytes<detail::PieceOfRow>(pieces) +
           array_bytes<typename Nest::Compute>(pieces * values_of_row(nest));
  }
};

/// A run of a nest whose long rows are cut.
/// @tparam Traits  those of the nest's loops, with or without lanes
/// @tparam Output  LocatedOutput
template <class Nest, class Traits, class Output>
class NestInPieces {
  using Cut = CutRows<Nest>;
  using Access = typename Cut::Access;
  using Source = typename Nest::Source;
  using Space = typename Nest::Space;
  using Memory = typename Space::memory_space;
  using T = typename Nest::Compute;
  using Threads = Kokkos::RangePolicy<Space>;
  using Room = detail::RoomForCutRows<Memory>;

 public:
  /// Finds the rows to cut and allocates all that the run needs. Nothing has been written by then: a
  /// statement without enough memory leaves its result as it was.
  /// @throws MemoryError if the memory cannot be allocated
  explicit NestInPieces(const Nest& nest) : nest_(nest) {
    if (Cut::cuts(nest)) find_rows();
  }

  /// Runs the loops for rows that are not cut, then for the pieces of the others.
  /// @param chunks        their number; chunk c begins at cuts[c]
  /// @param values        those of the result
  /// @param starts        whether they hold something to add to
  /// @param comes_to_all  whether the loops reach every value, so that none has to be initialised
  template <class Cuts>
  void run(const Cuts& cuts, std::int64_t chunks, T* values, bool starts, bool comes_to_all) const {
    using Short = detail::NestOverShortRows<Traits, Source, T, Output, Access, Cuts>;
    const Space& space = nest_.space();
    const auto& statement = nest_.statement();
    const auto view = statement.result().tensor().view();
    constexpr std::int64_t of_any_length = std::numeric_limits<std::int64_t>::max();
    Kokkos::parallel_for("sporos::nest", Threads(space, 0, chunks * Short::lanes),
                         Short{nest_.source(), view, nest_.bounds(), cuts, values,
                               room_ ? Cut::most_of_row : of_any_length, statement.accumulates()});
    if (pieces_ == 0) return;
    using Pieces = detail::NestOverPieces<Traits, Source, T, Output, Access>;
    const std::int64_t of_row = Cut::values_of_row(nest_);
    const Room& room = **room_;
    if (!comes_to_all) zero(space, sums_);
    Kokkos::parallel_for(
        "sporos::nest over pieces", Threads(space, 0, pieces_ * Pieces::lanes),
        Pieces{nest_.source(), view, nest_.bounds(), room.pieces.data(), sums_.data(), of_row});
    Kokkos::parallel_for("sporos::add pieces", Threads(space, 0, rows_ * of_row),
                         detail::AddPiecesOfRows<T>{room.rows.data(), sums_.data(), values, of_row, starts});
  }

 private:
  void find_rows() {
    const Space& space = nest_.space();
    const auto* const positions =
        detail::view_of_operand<Access>(nest_.source()).template level<1>().positions;
    using Position = std::remove_cvref_t<decltype(positions[0])>;
    Room& room = *room_.emplace(nest_.statement().resources().scratch().template borrow<Room>());
    const std::int64_t nonzeros = Cut::nonzeros(nest_);
    room.prepare_lists(Cut::most_rows(nonzeros), Cut::most_pieces(nonzeros));
    Kokkos::deep_copy(space, room.counts, std::int64_t{0});
    Kokkos::parallel_for("sporos::find rows to cut", Threads(space, 0, nest_.bounds().outermost.end),
                         detail::FindCutRows<Position>{positions, Cut::most_of_row, room.rows.data(),
                                                       room.pieces.data(), room.counts.data()});
    space.fence("sporos::cut rows");
    const auto known = copy_array<Kokkos::HostSpace>(room.counts);
    rows_ = known(0);
    pieces_ = known(1);
    if (pieces_ > 0) sums_ = room.template sums_of<T>(pieces_ * Cut::values_of_row(nest_));
  }

  const Nest& nest_;
  std::optional<Scratch::Loan<Room>> room_;
  std::int64_t rows_ = 0, pieces_ = 0;
  Array<T, Memory> sums_;  ///< of the pieces, in the room
};

}  // namespace sporos

// SPDX-License-Identifier: Apache-2.0
/// @file rows_plan.hpp
/// The product of a sparse and a dense matrix on the GPU, row by row: what its candidates have in common.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <ostream>
#include <type_traits>
#include <utility>

#include "../../epilogue/in_batches.hpp"
#include "../pattern.hpp"
#include "plan_of_product.hpp"
#include "rows.hpp"

namespace sporos::gpu {

/// The amounts of work from which the time of a product is estimated.
struct RowsWork {
  double bytes;       ///< bytes of B that are read, each as often as it is
  double bytes_of_b;  ///< bytes of one B
  double lanes;       ///< lanes of all rows
  double steps;       ///< steps of four nonzeros in the longest row or piece
  bool has_pieces;    ///< whether rows are cut
  bool has_warps;     ///< whether several warps share a row
  bool of_doubles;    ///< whether the elements of B have 64 bits
};

/// The plan of a product that is computed row by row, with long rows in pieces.
///
/// @tparam Way  the candidate, which besides the protocol (kernels/protocol/candidate.hpp) has:
///
///     Pattern             what it matches
///     narrowest_panel     the fewest columns of a panel, for which the pieces of a row are counted
///     columns_of_slot()   how many sums a piece of a row leaves, given the number of columns
///     Index               what else it needs to know of the rows, kept by plans: lay_out(), find(), and the
///                         Counts that count() finds once it is made, for set_counts()
///     deals_rows          whether it can take rows by their lengths (row_places.hpp), for matrices of `B`
///     shape()             how rows are distributed over lanes
///     multiply()          starts the kernel
///     explain()           writes who computes a row
///     seconds()           the seconds that RowsWork is expected to take
template <class Way, class S>
class SpmmRowsPlan : PlanOfSpmm<typename Way::Pattern, S> {
  using Operands = PlanOfSpmm<typename Way::Pattern, S>;
  using Operands::a, Operands::b, Operands::result, Operands::space, Operands::m, Operands::n;
  using Operands::products, Operands::turn_b, Operands::statement_, Operands::rows_;
  using Operands::turned_bytes;
  using typename Operands::B, typename Operands::Out, typename Operands::Rows;
  using Compute = detail::compute_of<S>;
  using Index = typename Way::Index;
  /// How the kernel takes batches. (Those of A with one B are the rows of one product.)
  using Batches =
      std::conditional_t<!Operands::is_of_batches || !Operands::has_batches_of_b, OneProduct,
                         std::conditional_t<Operands::has_batches_of_a, ProductsByRows, ProductsByPanels>>;

 public:
  SpmmRowsPlan(const S& statement, const Resources<Kokkos::Cuda>& resources)
      : Operands(statement, resources) {}
  using Operands::seconds_of_copy;

  /// Measures rows, if that needs no copy of them, and decides whether to take them in the order of their
  /// lengths. If memory is bounded, the plan stays the one whose memory was estimated.
  void measure() {
    if (!Way::deals_rows || !this->has_rows() || this->memory_is_bounded()) return;
    lengths_ = this->count_pattern({.rows = true}).rows.lengths;
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (m() > most || a().nnz() > most) return;
    is_dealt_ = true;
    const RowsShape dealt = shape();
    // Rows are sorted if several warps have to share one, or if windows take at least 15 % longer than rows
    // of equal length would. If a warp computes one row, sorting costs as much as it gains, except for
    // doubles.
    is_dealt_ = dealt.parts > dealt.piece_parts ||
                (lengths_.unevenness(a().nnz()) >= 1.15 && (dealt.lanes < warp_size || sizeof(B) == 8));
  }

  /// The seconds that a product is expected to take.
  double seconds() const {
    const RowsShape shape = this->shape();
    const auto rows = static_cast<double>(std::max<std::int64_t>(1, m() * products()));
    const auto nonzeros = static_cast<double>(a().nnz() * products());
    const double longest = lengths_.longest > 0 ? static_cast<double>(lengths_.longest)
                                                : RowsShape::likely_longest(nonzeros / rows);
    const auto cut = static_cast<double>(shape.longest);
    return Way::seconds({nonzeros * static_cast<double>(n()) * sizeof(B),
                         static_cast<double>(this->inner() * n()) * sizeof(B),
                         rows * static_cast<double>(ceil_div(n(), shape.columns) * shape.parts),
                         std::min(longest, cut) / (4 * shape.parts), longest > cut,
                         shape.parts > shape.piece_parts, sizeof(B) == 8});
  }

  /// Finds long rows and the index, once for all runs, and allocates what these need.
  void prepare() {
    if (this->has_terms()) {
      read_rows();
      measure();
    }
    find_rows();
    // Last, since rows are sorted in the same memory, which may grow for it.
    if (this->has_terms()) room_.prepare(statement_.resources().scratch(), turned_bytes());
  }

  void run() {
    this->template compute<Compute>([&](Out* c) { multiply(c); });
  }

  Bytes bytes() const {
    // What is held was laid out before it was known that no row is cut.
    const std::int64_t of_rows =
        std::max(lay_out(long_rows(), nullptr).bytes, static_cast<std::int64_t>(held_.extent(0)));
    const std::int64_t of_run = of_rows + turned_bytes() + (is_dealt_ ? sorting_bytes() : 0) +
                                (Way::deals_rows ? std::int64_t{sizeof(PatternCounts)} : 0);
    return {result().nnz(), result().bytes(),
            sporos::detail::DenseTarget<S>::bytes(statement_) + Rows::most_bytes(a()) +
                with_room_to_grow(of_run)};
  }
  std::int64_t held_bytes() const { return static_cast<std::int64_t>(held_.extent(0)) + rows_.held_bytes(); }

  void explain(std::ostream& out) const {
    const RowsShape shape = this->shape();
    out << "  result: located, ";
    Way::explain(out, shape);
    if (is_dealt_) out << ", the longest rows first";
    if (pieces_ != 0) {
      const LongRows sizes = long_rows();
      out << "; rows of more than " << sizes.of_piece << " nonzeros are cut";
      if (sizes.cut < sizes.of_piece)
        out << ", those of more than " << sizes.cut << " are computed by whole warps";
    }
    out << '\n';
    this->explain_sparse(out);
    if (turn_b) out << "  operands: the dense one is transposed first\n";
    if (Operands::is_of_batches)
      out << "  batches: " << result().extent(0) << ", of which each "
          << (std::is_same_v<Batches, ProductsByPanels> ? "has the same sparse matrix"
                                                        : "has rows of its own")
          << ", by one kernel\n";
  }

 private:
  /// How the rows of all products are distributed over lanes; the panels are those of one product.
  RowsShape shape(const Out* c) const {
    auto rows = rows_.view(a());
    rows.rows *= products();
    rows.nonzeros *= products();
    return Way::shape(rows, n(), turn_b ? nullptr : b().values().data(), c,
                      space().cuda_device_prop().multiProcessorCount, lengths_.longest, is_dealt_);
  }
  RowsShape shape() const { return shape(result().values().data()); }
  /// A plan's long rows stay the same, whatever arrays its operands have later.
  LongRows long_rows() const {
    if (is_prepared_) return long_rows_;
    const RowsShape shape = this->shape();
    return LongRows::of(a().nnz(), shape.longest, shape.of_piece);
  }
  std::int64_t most_arrivals(const LongRows& sizes) const {
    return sizes.most_slots * ceil_div(n(), Way::template narrowest_panel<B>) * products();
  }

  struct Room {
    LongRows long_rows;
    Index index;
    RowPlace* places = nullptr;
    std::int64_t bytes = 0;
  };
  Room lay_out(const LongRows& sizes, char* memory) const {
    Layout layout(memory);
    Room out{sizes, Index::template lay_out<B>(space(), layout, m(), n(), a().nnz())};
    out.index.set_counts(index_counts_);
    if (is_dealt_) out.places = layout.template take<RowPlace>(m());
    out.bytes = layout.bytes();
    if (sizes.most_pieces == 0 || pieces_ == 0) return out;
    out.long_rows.counts = layout.template take<RowPieceCounts>(1);
    out.long_rows.pieces = layout.template take<RowPiece>(sizes.most_pieces);
    out.long_rows.arrivals = layout.template take<unsigned>(most_arrivals(sizes));
    out.long_rows.sums = reinterpret_cast<char*>(
        layout.template take<Compute>(sizes.most_slots * Way::columns_of_slot(n() * products())));
    out.bytes = layout.bytes();
    return out;
  }
  std::int64_t sorting_bytes() const {
    Layout layout;
    RowSorting::lay_out(space(), layout, m());
    return layout.bytes();
  }
  void read_rows() {
    if (rows_.is_read() && S::schedule::has_constant_operands) return;
    rows_.read(a());
  }

  /// Finds what stays the same for all runs: where rows are cut, the index and the order of rows.
  void find_rows() {
    const LongRows sizes = long_rows_ = long_rows();
    is_prepared_ = true;
    if (sizes.most_pieces == 0 || (lengths_.longest > 0 && lengths_.longest <= sizes.cut)) pieces_ = 0;
    const std::int64_t bytes = lay_out(sizes, nullptr).bytes;
    if (!this->has_terms() || bytes == 0) {
      pieces_ = 0;
      return;
    }
    held_ = make_array<char, Memory>("sporos::long rows", bytes);
    const Room room = lay_out(sizes, held_.data());
    const auto positions = rows_.view(a()).positions;
    if (is_dealt_) {
      auto workspace = statement_.resources().scratch().template borrow<Workspace>();
      Layout layout(workspace->reserve(sorting_bytes()));
      find_row_places(space(), positions, m(), RowSorting::lay_out(space(), layout, m()), room.places);
    }
    room.index.find(space(), positions, m(), sizes.cut);
    index_counts_ = room.index.count(space(), positions, m());
    if (pieces_ == 0) return;
    find_long_rows(space(), positions, m(), room.long_rows, most_arrivals(sizes));
    pieces_ = static_cast<std::int64_t>(read_back(space(), &room.long_rows.counts->pieces));
    if (pieces_ == 0 && !Index::is_there && !is_dealt_) held_ = {};
  }

  void multiply(Out* c) {
    read_rows();
    const auto matrix = rows_.view(a());
    const LongRows sizes = long_rows();
    RowsShape shape = this->shape(c);
    const std::int64_t panels = shape.panels;  // of one product
    shape.panels *= products();
    const std::int64_t of_rows = is_prepared_ ? 0 : lay_out(sizes, nullptr).bytes;
    room_.with(statement_.resources().scratch(), of_rows + turned_bytes(), [&](char* memory) {
      const B* const dense = this->read_b(memory + of_rows);
      const Room room = lay_out(sizes, is_prepared_ ? held_.data() : memory);
      if (!is_prepared_) {
        room.index.find(space(), matrix.positions, m(), sizes.cut);
        find_long_rows(space(), matrix.positions, m(), room.long_rows, sizes.most_slots * shape.panels);
      }
      const auto epilogue = epilogue_by_rows(statement_);
      using View = std::remove_const_t<decltype(matrix)>;
      RowsProduct<Compute, View, B, Out, std::remove_const_t<decltype(epilogue)>, Batches> in{
          matrix,   n(),
          dense,    0,
          c,        statement_.accumulates(),
          epilogue, room.long_rows,
          shape,    is_prepared_ ? room.places : nullptr};
      if constexpr (std::is_same_v<Batches, ProductsByPanels>)
        in.batches = {products(), panels, this->inner() * n(), m()};
      else if constexpr (std::is_same_v<Batches, ProductsByRows>)
        in.batches = {result().extent(1), this->inner() * n()};
      Way::multiply(space(), in, room.index, is_prepared_ ? pieces_ : sizes.most_pieces);
    });
  }

  bool is_prepared_ = false;
  LongRows long_rows_;     ///< their bounds, once the plan is prepared
  RowLengths lengths_{};   ///< measured for plans that are kept
  bool is_dealt_ = false;  ///< whether rows are taken in the order of their lengths
  typename Index::Counts index_counts_{};
  std::int64_t pieces_ = -1;  ///< pieces of long rows; -1 if unknown
  RoomOfPlan room_;           ///< for a copy of B and, without a plan, what a plan holds
  Array<char, Memory> held_;  ///< memory for long rows, the index and places of rows
};

}  // namespace sporos::gpu

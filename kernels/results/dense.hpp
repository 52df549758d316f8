// SPDX-License-Identifier: Apache-2.0
/// @file dense.hpp
/// The nest's candidate for sparse results that scatter over several variables and fill a good part of their
/// extents: dense workspaces over all of these variables gather the values, and become the levels of the
/// result.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../formats/chunks.hpp"
#include "../../formats/print.hpp"
#include "../../formats/storage_bound.hpp"
#include "../../workspace/dense.hpp"
#include "../nest/nest_run.hpp"
#include "../nest/term_bound.hpp"
#include "../spgemm/host/marks.hpp"
#include "block_policy.hpp"
#include "known_places.hpp"
#include "sampled_work.hpp"
#include "sorted_rows.hpp"

namespace sporos {

namespace detail {

/// Numbers of rows and of values, in a part of a result or before it.
struct RowsAndValues {
  std::int64_t rows = 0, values = 0;
};

}  // namespace detail

/// Adds to a dense workspace over all levels of the result.
template <class Traits_, class F, class T>
struct BoxOutput : EachValue<BoxOutput<Traits_, F, T>> {
  typename DenseBox<T, F::levels>::Cursor cursor;

  SPOROS_INLINE explicit BoxOutput(const typename DenseBox<T, F::levels>::Cursor& at) : cursor(at) {}

  SPOROS_MAY_CALL_HOST
  template <class Body>
  SPOROS_INLINE void with_copy(const Body& body) const {
    body(BoxOutput(*this));
  }
  SPOROS_MAY_CALL_HOST
  template <class V, class Env>
  SPOROS_INLINE void add(const V& value, const Env& env) const {
    constexpr auto variables = Traits_::result::names, loops = Traits_::order;
    Extents<F::order> at{};
    for (int mode = 0; mode < variables.size; ++mode)
      at[static_cast<std::size_t>(mode)] = env.at[loops.find(variables[mode])];
    cursor.add(F::level_coordinates(at), static_cast<T>(value));
  }
};

/// The loop nest with a sparse result that scatters over several variables, gathered in dense workspaces.
struct DenseNest {
  static constexpr std::string_view name = "loop nest, dense workspace";
  static constexpr std::string_view takes =
      "sparse results in host memory that scatter over several variables, not .deterministic(), in a dense "
      "workspace";
  static constexpr bool deterministic = true;
  static constexpr std::string_view less_memory =
      "choose a sparse workspace, .workspace(coordinate_workspace), or compute it in parts";
  static constexpr bool any_schedule = true;

  template <class S>
  static constexpr bool is_chosen = std::is_same_v<typename S::schedule::workspace_policy, DensePolicy>;
  template <class S>
  static constexpr bool matches =
      HostSpace<typename S::space_type> && detail::NestOf<S>::classification.kind == ResultKind::listed &&
      (is_chosen<S> || (std::is_same_v<typename S::schedule::workspace_policy, AutomaticWorkspace> &&
                        !S::schedule::is_deterministic));

  template <class S>
  static Offer cost(const S& statement, const Resources<typename S::space_type>& resources) {
    constexpr double seconds_of_cell = 0.5e-9;
    using Nest = detail::NestOf<S>;
    using Format = typename Nest::Format;
    using Box = DenseBox<typename Nest::Compute, Format::levels>;
    const auto extents = Format::level_extents(statement.result().tensor().extents());
    const auto workspaces = static_cast<double>(most_parts(statement));
    if (!is_chosen<S>) {
      if (!Box::fits(extents))
        return Declined{"the extents of the result are too large for a dense workspace"};
      // Half of the machine's memory, as for other workspaces, if no less is allowed.
      const std::int64_t allowed = std::min(resources.memory_limit(), Pool::machine_bytes() / 2);
      if (Box::most_bytes(dense_workspace, extents, 0) > allowed / most_parts(statement))
        return Declined{"dense workspaces exceed the memory that is allowed, or half of the machine's"};
    }
    return Cost{detail::sampled_work(statement).terms *
                    seconds_of_term(Box::most_bytes(dense_workspace, extents, 0)) +
                static_cast<double>(cells_of(extents)) * workspaces * seconds_of_cell};
  }

  /// The time to add a value at a scattered place, whose cache line is in the core's own caches, in those of
  /// the processor, or in memory.
  static double seconds_of_term(std::int64_t bytes) {
    constexpr std::int64_t of_core = std::int64_t{2} << 20, of_processor = std::int64_t{16} << 20;
    return bytes <= of_core ? 5e-9 : bytes <= of_processor ? 25e-9 : 45e-9;
  }

  /// The largest number of workspaces: one for each thread. If the terms of a sum are in several workspaces,
  /// they are added in another order than in a single one; so there is only one if the result must have the
  /// same bits for any number of threads.
  template <class S>
  static std::int64_t most_parts(const S& statement) {
    return S::schedule::is_deterministic ? 1 : statement.resources().space().concurrency();
  }

  template <class S>
  static constexpr std::string_view role_at(int) {
    return "gathered";
  }
  template <class S>
  static constexpr std::string_view parallel_text() {
    return S::schedule::is_deterministic ? "serial: one workspace gathers all values in order"
                                         : "parallel: chunks of about equal nonzeros, a workspace each";
  }

  template <class S>
  class Plan;
};

template <class S>
class DenseNest::Plan {
  using Nest = detail::NestRun<S>;
  using Traits = typename Nest::Traits;
  using Compute = typename Nest::Compute;
  using Space = typename Nest::Space;
  using Value = typename Nest::Value;
  using Format = typename Nest::Format;
  using Box = DenseBox<Compute, Format::levels>;
  static constexpr int last = Format::levels - 1;
  using Level = typename Format::template level<last>;
  using Position = typename detail::PositionOf<Level>::type;
  using Coordinate = typename detail::CoordinateOf<Level>::type;
  using Rows = detail::SortedRows<Value, Position, Coordinate>;

 public:
  Plan(const S& statement, const Resources<Space>&)
      : nest_(statement), cuts_(nest_.cuts(most_parts(statement))) {}

  void run() {
    nest_.read_operands();
    const std::unique_ptr<Box> box = gather();
    const detail::Packing<Format> packing(detail::largest_coordinates<Format>(result().extents()));
    detail::replace_by_rows(nest_.space(), result(), packing, rows_of(*box, packing));
  }

  void refill() {
    nest_.read_operands();
    if (!places_.refill(nest_)) run();
  }
  std::int64_t held_bytes() const { return places_.bytes(); }

  Bytes bytes() const {
    const auto extents = this->extents();
    const std::int64_t count =
        std::min(cells_of(extents), detail::TermBound<Traits>(nest_.bounds()).of(nest_.source()));
    Bytes out;
    const StorageBound bound = storage_bound<Format, Value>(result().extents(), count);
    out.values = bound.values;
    out.result = bound.bytes;
    const auto parts = static_cast<std::int64_t>(cuts_.size()) - 1;
    const std::int64_t rows = std::min(count, rows_in(extents));
    const std::int64_t of_value = sizeof(Value) + sizeof(Coordinate),
                       of_row = sizeof(detail::Key) + sizeof(Position);
    const std::int64_t boxes = saturated_product(Box::most_bytes(dense_workspace, extents, count), parts);
    constexpr std::int64_t too_much = std::int64_t{1} << 61;  // for any machine: a sum might overflow
    out.workspace = boxes > too_much ? boxes : boxes + count * of_value + rows * of_row + overhead;
    return out;
  }

  void explain(std::ostream& out) const {
    const auto extents = this->extents();
    out << text("  result: scattered over several variables, dense workspace of order ", Format::levels, ", ",
                bytes_text(Box::most_bytes(dense_workspace, extents, 0)), " a thread, ",
                detail::insertion_text<S>(), "\n");
  }

 private:
  /// Bytes for the beginnings of chunks, and for what the Builder keeps of its pieces.
  static constexpr std::int64_t overhead = std::int64_t{64} << 10;

  const auto& result() const { return nest_.statement().result().tensor(); }
  Extents<Format::levels> extents() const { return Format::level_extents(result().extents()); }
  /// The number of rows: coordinates of all levels but the last.
  static std::int64_t rows_in(const Extents<Format::levels>& extents) {
    std::int64_t rows = 1;
    for (std::size_t k = 0; k + 1 < extents.size(); ++k) rows = saturated_product(rows, extents[k]);
    return rows;
  }

  /// Runs the nest, with a workspace for each part of the outermost loop.
  /// @return the first workspace, to which the others have been added
  std::unique_ptr<Box> gather() const {
    const Space& space = nest_.space();
    const std::size_t parts = cuts_.size() - 1;
    detail::expect_room_for(static_cast<std::int64_t>(parts), Box::most_bytes(dense_workspace, extents(), 0));
    std::vector<std::unique_ptr<Box>> boxes(parts);
    detail::for_each_worker(space, static_cast<std::int64_t>(parts), [&](std::int64_t number) {
      const auto at = static_cast<std::size_t>(number);
      boxes[at] = std::make_unique<Box>(dense_workspace, extents());
      nest_.run({cuts_[at], cuts_[at + 1]}, number, BoxOutput<Traits, Format, Compute>(boxes[at]->cursor()));
    });
    constexpr std::int64_t cells_of_word = 64;
    const std::int64_t words = (boxes[0]->size() + cells_of_word - 1) / cells_of_word;
    const auto add_to_first = [&](std::int64_t begin, std::int64_t end, std::int64_t) {
      const auto to = boxes[0]->cursor();
      for (std::size_t at = 1; at < parts; ++at) {
        const auto from = boxes[at]->cursor();
        for (std::int64_t word = begin; word < end; ++word) {
          const std::int64_t first = cells_of_word * word;
          for (std::uint64_t bits = detail::bits_of_64(from.marks + first); bits; bits &= bits - 1) {
            const std::int64_t place = first + std::countr_zero(bits);
            to.add(place, from.values[place]);
          }
        }
      }
    };
    if (parts > 1) detail::for_each_part(space, words, chunks_of(words, cells_of_word), add_to_first);
    return std::move(boxes[0]);
  }

  /// The number of chunks for `count` items of `cells` cells each.
  std::int64_t chunks_of(std::int64_t count, std::int64_t cells) const {
    constexpr std::int64_t least_cells = 16384;
    return detail::chunks_for(nest_.space(), count, 4,
                              std::max<std::int64_t>(1, least_cells / std::max<std::int64_t>(1, cells)));
  }

  /// The coordinates that were added to, row by row.
  Rows rows_of(const Box& box, const detail::Packing<Format>& packing) const {
    const auto extents = this->extents();
    const auto cursor = box.cursor();
    const std::int64_t columns = extents[last], rows = columns > 0 ? box.size() / columns : 0;
    using Begin = detail::RowsAndValues;
    const Space& space = nest_.space();
    const std::int64_t chunks = chunks_of(rows, columns);
    std::vector<Begin> begins(static_cast<std::size_t>(chunks) + 1);
    detail::for_each_part(space, rows, chunks, [&](std::int64_t begin, std::int64_t end, std::int64_t chunk) {
      Begin& counted = begins[static_cast<std::size_t>(chunk) + 1];
      for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t written = marked(cursor.marks + row * columns, columns);
        counted.rows += written > 0;
        counted.values += written;
      }
    });
    for (std::size_t chunk = 1; chunk < begins.size(); ++chunk) {
      begins[chunk].rows += begins[chunk - 1].rows;
      begins[chunk].values += begins[chunk - 1].values;
    }
    const Begin total = begins.back();
    narrow<Position>(total.values, "the number of positions of a level");
    Rows out{pool().array<detail::Key>("sporos::rows", total.rows),
             {pool().array<Position>("sporos::positions", total.rows + 1),
              pool().array<Coordinate>("sporos::coordinates", total.values),
              pool().array<Value>("sporos::values", total.values)}};
    out.arrays.positions.data()[total.rows] = static_cast<Position>(total.values);
    detail::for_each_part(space, rows, chunks, [&](std::int64_t begin, std::int64_t end, std::int64_t chunk) {
      Begin at = begins[static_cast<std::size_t>(chunk)];
      for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t first = at.values;
        at.values = take_row(cursor, row, columns, out, first);
        if (at.values == first) continue;
        out.rows.data()[at.rows] = packing.pack_levels(coordinates_of(row, extents));
        out.arrays.positions.data()[at.rows++] = static_cast<Position>(first);
      }
    });
    return out;
  }

  /// The number of marks that are set.
  static std::int64_t marked(const std::uint8_t* marks, std::int64_t count) {
    std::int64_t sum = 0;
    for (std::int64_t at = 0; at < count; ++at) sum += marks[at];
    return sum;
  }

  /// Writes the columns and values of a row, from place `to` on.
  /// @return the place past the last one
  static std::int64_t take_row(const typename Box::Cursor& cursor, std::int64_t row, std::int64_t columns,
                               const Rows& out, std::int64_t to) {
    const std::uint8_t* const marks = cursor.marks + row * columns;
    const Compute* const values = cursor.values + row * columns;
    for (std::int64_t column = 0; column < columns; column += 64) {
      std::uint64_t bits = detail::bits_of_64(marks + column);
      if (columns - column < 64) bits &= (std::uint64_t{1} << (columns - column)) - 1;
      if (bits == 0) continue;
      std::int64_t some[64 + detail::order_slack];
      const std::int64_t count = detail::write_bits(some, bits, column) - some;
      for (std::int64_t n = 0; n < count; ++n) {
        out.arrays.coordinates.data()[to + n] = static_cast<Coordinate>(some[n]);
        out.arrays.values.data()[to + n] = static_cast<Value>(values[some[n]]);
      }
      to += count;
    }
    return to;
  }

  /// The coordinates of a row in all levels but the last, where it is 0.
  static Extents<Format::levels> coordinates_of(std::int64_t row, const Extents<Format::levels>& extents) {
    Extents<Format::levels> at{};
    for (std::size_t k = at.size() - 1; k-- > 0;) {
      at[k] = row % extents[k];
      row /= extents[k];
    }
    return at;
  }

  Nest nest_;
  std::vector<std::int64_t> cuts_;
  detail::KnownPlaces<S> places_;
};

}  // namespace sporos

// SPDX-License-Identifier: Apache-2.0
/// @file halo_spgemm.hpp
/// Products of two sparse matrices that are divided by rows: most rows are computed from this rank's own rows
/// of the right factor, which are read in place.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/pool.hpp"
#include "../core/statement.hpp"
#include "../formats/storage_bound.hpp"
#include "../kernels/nest/nest_run.hpp"
#include "../kernels/protocol/candidate.hpp"
#include "../kernels/spgemm/host/multiply.hpp"
#include "../kernels/spgemm/pattern.hpp"
#include "../workspace/dense.hpp"
#include "agree.hpp"
#include "interior.hpp"
#include "localise.hpp"
#include "numbering.hpp"
#include "patterns.hpp"
#include "row_fetch.hpp"
#include "tensor.hpp"
#include "traffic.hpp"
#include "work_division.hpp"

namespace sporos {

namespace detail {

/// numbers[q] = columns[q] - first.
template <class Column>
struct NumberFrom {
  const Column* columns;
  Column* numbers;
  Column first;

  void operator()(std::int64_t q) const { numbers[q] = static_cast<Column>(columns[q] - first); }
};

}  // namespace detail

/// A(i, j) = B(i, k) * C(k, j), all in CSR in host memory, where A and B are divided by the same rows, and C
/// is divided into ranges of rows.
///
/// The interior of B, rows whose columns k are rows of C that this rank owns, is multiplied by these in
/// place. Its first and last rows (interior.hpp) are multiplied by a halo: the rows of C that they refer to,
/// fetched from their owners and including this rank's own (row_fetch.hpp). The three products are written
/// into one array, one after another. If only values have changed, the interior is computed while those of
/// the halo travel.
struct HaloSpgemm {
  using Pattern = SpgemmPattern<detail::DistributedOperands>;
  static constexpr std::string_view name = "SpGEMM with a halo";
  static constexpr std::string_view takes =
      "A(i, j) = B(i, k) * C(k, j), distributed by rows, each in CSR in host memory";
  static constexpr bool deterministic = true;

  template <class S>
  static constexpr bool matches = detail::multiplies_by_rows<Pattern, S>();

  template <class S>
  static Offer cost(const S& statement, const Resources<typename S::space_type>&) {
    using Result = typename S::result_type;
    const auto& of_a = statement.result().tensor().distribution();
    const auto& of_b = Pattern::left(statement).tensor().distribution();
    const auto& of_c = Pattern::right(statement).tensor().distribution();
    const int ranks = of_b.ranks().size();
    if (ranks == 1) return Declined{"on one rank there is no halo"};
    if (!detail::owners_of_result_compute(statement)) return Declined{detail::is_divided_otherwise};
    if (of_b.partition(0).parts() != ranks || !(of_a.partition(0) == of_b.partition(0)))
      return Declined{"the left factor and the result are not divided by the same rows"};
    if (of_c.partition(0).parts() != ranks || !of_c.partition(0).is_contiguous())
      return Declined{"the right factor is not divided into ranges of rows"};
    if (sizeof(typename Result::format::template level<1>::coordinate_type) == sizeof(std::int64_t) &&
        !fits_dense(of_c.extents()[1], sizeof(typename Result::value_type)))
      return Declined{"the rows of the result are too long for a dense accumulator"};
    return Cost{0};
  }

  template <class S>
  class Plan {
   public:
    using Result = typename S::result_type;
    using B = std::remove_cvref_t<decltype(Pattern::left(std::declval<const S&>()))>;
    using C = std::remove_cvref_t<decltype(Pattern::right(std::declval<const S&>()))>;
    using LocalA = typename Result::tensor_type::local_type;
    using LocalB = typename B::tensor_type::local_type;
    using LocalC = typename C::tensor_type::local_type;
    using Space = typename S::space_type;

    Plan(const S& statement, const Resources<Space>& resources)
        : space_(resources.space()),
          ranks_(detail::ranks_of(statement)),
          written_(statement.str()),
          a_(statement.result().tensor().local()),
          b_(Pattern::left(statement).tensor().local()),
          c_(Pattern::right(statement).tensor().local()),
          run_signature_(detail::agree_on(statement, written_)),
          local_(local_statement(statement)) {
      const auto& of_c = Pattern::right(statement).tensor().distribution();
      const Bounds own = of_c.partition(0).range(ranks_.rank());
      std::optional<Rows> rows;
      detail::Numbering wanted;
      jointly(ranks_, [&] {
        rows.emplace(b_, own);
        wanted = detail::Numbering::list(rows->columns_of_halo(b_.extent(1)), b_.extent(1));
        agree(ranks_, "the plan of a halo");
      });
      halo_ = detail::RowFetch<LocalC>(wanted, c_, of_c);
      jointly(ranks_, [&] {
        number_columns(*rows, own, wanted);
        for (std::size_t part = 0; part < parts_.size(); ++part) {
          static_cast<detail::RowRange&>(parts_[part]) = rows->parts()[part];
          parts_[part].product.emplace(space_, left(parts_[part]), right(parts_[part]));
        }
        agree(ranks_, "the plan of a halo");
      });
      const auto& values = halo_.values();
      traffic_.ranks =
          ranks_.all(RankTraffic{b_.nnz() + c_.nnz() + halo_.tensor().nnz() - values.own().size(),
                                 values.messages(), values.bytes_sent(), values.bytes_received()});
    }

    void prepare() { analyse(); }

    void run() {
      agree(ranks_, run_signature_, written_);
      jointly(ranks_, [&] {
        halo_.start(space_);
        analyse();
        halo_.finish(space_);
        read();
        detail::replace_rows(a_, compute());
        agree(ranks_, run_signature_, written_);
      });
    }

    void refill() {
      agree(ranks_, run_signature_, written_);
      jointly(ranks_, [&] {
        if (reads_result(local_))
          a_.replace(a_.extents(), a_.levels(), pool().array<Value>("sporos::Tensor values", a_.nnz()));
        halo_.start(space_);
        refill(parts_[Rows::interior]);
        halo_.finish(space_);
        refill(parts_[Rows::first]);
        refill(parts_[Rows::last]);
        agree(ranks_, run_signature_, written_);
      });
    }

    Bytes bytes() const {
      analyse();
      std::int64_t elements = 0, most = detail::most_array_bytes<Position>(a_.extent(0) + 1);
      for (const Part& part : parts_) {
        elements += part.product->most_elements();
        most += part.product->most_bytes();
      }
      const StorageBound bound = storage_bound<typename LocalA::format_type, Value>(a_.extents(), elements);
      const RankTraffic& mine = traffic_.ranks[static_cast<std::size_t>(ranks_.rank())];
      return {bound.values, bound.bytes, std::max<std::int64_t>(0, most - bound.bytes) + halo_bytes(),
              mine.messages, mine.sent};
    }
    std::int64_t held_bytes() const {
      std::int64_t sum = halo_bytes();
      for (const Part& part : parts_) sum += part.product->held_bytes();
      return sum;
    }
    const Traffic& traffic() const { return traffic_; }

    void explain(std::ostream& out) const {
      out << "  multiplies " << parts_[Rows::interior].rows.size() << " of this rank's " << a_.extent(0)
          << " rows with its own rows of the right factor, the others with a halo of "
          << halo_.tensor().extent(0) << " rows\n";
      traffic_.print(out);
    }

   private:
    using Rows = detail::InteriorRows<LocalB>;
    using Value = typename LocalA::value_type;
    using Level = typename LocalA::format_type::template level<1>;
    using Position = typename Level::position_type;
    using Coordinate = typename Level::coordinate_type;
    using Left = decltype(detail::sparse_rows(std::declval<const LocalB&>()));
    using Right = decltype(detail::sparse_rows(std::declval<const LocalC&>()));
    using Column = typename Left::coordinate_type;
    using Acc = detail::product_accumulate_t<Value, typename Left::value_type, typename Right::value_type>;
    using Product = detail::ProductByRows<Acc, Left, Right, Value, Position, Coordinate>;
    using Arrays = typename Product::Arrays;
    using Room = typename Product::Room;

    /// Consecutive rows of the result, computed as one product.
    struct Part : detail::RowRange {
      std::optional<Product> product;
    };

    static constexpr bool has_left_first = Pattern::template places<S>[0] == 0;
    using LocalStatement = std::remove_const_t<decltype(detail::local_statement(
        std::declval<const S&>(), std::declval<const LocalA&>(),
        std::declval<const std::conditional_t<has_left_first, std::tuple<LocalB, LocalC>,
                                              std::tuple<LocalC, LocalB>>&>(),
        false))>;

    LocalStatement local_statement(const S& statement) const {
      if constexpr (has_left_first)
        return detail::local_statement(statement, a_, std::tuple(b_, c_), false);
      else
        return detail::local_statement(statement, a_, std::tuple(c_, b_), false);
    }

    /// Numbers the columns of B: as the rows of C that this rank owns, or as those of the halo.
    void number_columns(const Rows& rows, const Bounds& own, const detail::Numbering& halo) {
      numbers_ = pool().array<Column>("sporos::HaloSpgemm columns", b_.nnz());
      const detail::NumberTable number(halo);
      for (const detail::RowRange& part : rows.parts()) {
        const auto& [begin, end] = part.nonzeros;
        if (part.reads_halo) {
          for (std::int64_t q = begin; q < end; ++q)
            numbers_.data()[q] = static_cast<Column>(number(rows.column(q)));
        } else if (begin < end) {
          const auto level = b_.template level<1>().view();
          Kokkos::parallel_for(
              "sporos::HaloSpgemm columns", Kokkos::RangePolicy<Space>(space_, begin, end),
              detail::NumberFrom<Column>{level.coordinates, numbers_.data(), static_cast<Column>(own.begin)});
        }
      }
      space_.fence("sporos::HaloSpgemm columns");
    }

    /// The left factor of a part's product, as it is now.
    Left left(const detail::RowRange& part) const {
      Left out = detail::sparse_rows(b_);
      out.rows = part.rows.size();
      out.columns = part.reads_halo ? halo_.tensor().extent(0) : c_.extent(0);
      out.positions += part.rows.begin;
      out.coordinates = numbers_.data();
      return out;
    }
    Right right(const detail::RowRange& part) const {
      return detail::sparse_rows(part.reads_halo ? halo_.tensor() : c_);
    }

    void read() {
      for (Part& part : parts_) part.product->read(left(part), right(part));
    }
    /// Analyses the patterns, once.
    void analyse() const {
      if (is_analysed_) return;
      // In A * A, the interior's rows are also rows of the right factor, with their columns renumbered.
      const Left left = detail::sparse_rows(b_);
      const Right right = detail::sparse_rows(c_);
      const bool is_square = static_cast<const void*>(left.positions) == right.positions &&
                             static_cast<const void*>(left.coordinates) == right.coordinates;
      for (Part& part : parts_)
        part.product->prepare(true, is_square && !part.reads_halo ? part.rows.begin : -1);
      is_analysed_ = true;
    }

    /// Computes the three products as one.
    Arrays compute() {
      const Room room = reserve();
      std::array<Arrays, 3> computed;
      bool is_in_room = true;
      std::int64_t size = 0;
      for (std::size_t part = 0; part < parts_.size(); ++part) {
        computed[part] = parts_[part].product->compute(rest_of(room, size));
        const auto count = static_cast<std::int64_t>(computed[part].values.extent(0));
        is_in_room = is_in_room && (count == 0 || computed[part].values.data() == room.values.data() + size);
        size += count;
      }
      narrow<Position>(size, "the number of stored elements of a product");
      Arrays out{joined_positions(computed), {}, {}};
      if (is_in_room) {
        out.coordinates = detail::exactly("sporos::coordinates", room.coordinates, size);
        out.values = detail::exactly("sporos::values", room.values, size);
      } else {
        out.coordinates =
            joined<Coordinate>(computed, size, [](const Arrays& one) { return one.coordinates; });
        out.values = joined<Value>(computed, size, [](const Arrays& one) { return one.values; });
      }
      return out;
    }

    /// Memory for the largest possible result; empty if it cannot be reserved.
    Room reserve() const {
      std::int64_t bound = detail::row_slack;
      for (const Part& part : parts_) bound += part.product->most_elements();
      if (bound * static_cast<std::int64_t>(sizeof(Value) + sizeof(Coordinate)) > Pool::machine_bytes() / 2)
        return {};
      try {
        return {pool().reserve<Coordinate>("sporos::coordinates", bound),
                pool().reserve<Value>("sporos::values", bound)};
      } catch (const MemoryError&) {
        return {};
      }
    }
    static Room rest_of(const Room& room, std::int64_t begin) {
      const auto end = static_cast<std::int64_t>(room.values.extent(0));
      if (begin >= end) return {};
      return {detail::part_of_array(room.coordinates, begin, end),
              detail::part_of_array(room.values, begin, end)};
    }

    HostArray<Position> joined_positions(const std::array<Arrays, 3>& computed) const {
      auto out = pool().array<Position>("sporos::positions", a_.extent(0) + 1);
      Position* to = out.data();
      *to++ = 0;
      std::int64_t before = 0;
      for (const Arrays& one : computed) {
        for (std::size_t row = 1; row < one.positions.extent(0); ++row)
          *to++ = static_cast<Position>(one.positions.data()[row] + static_cast<Position>(before));
        before += static_cast<std::int64_t>(one.values.extent(0));
      }
      return out;
    }
    template <class T, class Of>
    static HostArray<T> joined(const std::array<Arrays, 3>& computed, std::int64_t size, const Of& of) {
      auto out = pool().array<T>("sporos::HaloSpgemm result", size);
      T* to = out.data();
      for (const Arrays& one : computed) to = std::copy_n(of(one).data(), of(one).extent(0), to);
      return out;
    }

    void refill(Part& part) {
      const auto pattern = a_.template level<1>().view();
      part.product->refill(left(part), right(part), pattern.positions + part.rows.begin, pattern.coordinates,
                           a_.values().data(), S::schedule::is_deterministic);
    }

    std::int64_t halo_bytes() const {
      return array_bytes<Column>(b_.nnz()) + halo_.tensor().bytes() + halo_.values().held_bytes();
    }

    Space space_;
    Communicator ranks_;
    std::string written_;
    LocalA a_;
    LocalB b_;
    LocalC c_;
    Signature run_signature_;
    LocalStatement local_;       ///< on what this rank stores; tells which tensors share arrays
    HostArray<Column> numbers_;  ///< numbers of B's columns: as rows of C, or of the halo
    detail::RowFetch<LocalC> halo_;
    mutable std::array<Part, 3> parts_;
    mutable bool is_analysed_ = false;
    Traffic traffic_;
  };
};

}  // namespace sporos

// SPDX-License-Identifier: Apache-2.0
/// @file halo_product.hpp
/// Products of a sparse matrix and a dense vector or matrix, all divided by rows: the halo travels while the
/// rows that do not need it are computed.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/statement.hpp"
#include "../kernels/nest/nest_run.hpp"
#include "../kernels/protocol/candidate.hpp"
#include "../kernels/protocol/sparse_times_dense.hpp"
#include "../kernels/statement/plan.hpp"
#include "agree.hpp"
#include "exchange.hpp"
#include "interior.hpp"
#include "localise.hpp"
#include "own_columns.hpp"
#include "patterns.hpp"
#include "row_fetch.hpp"
#include "tensor.hpp"
#include "traffic.hpp"
#include "value_exchange.hpp"
#include "work_division.hpp"

namespace sporos {

namespace detail {

/// y(i) = A(i, j) * x(j) or Y(i, k) = A(i, j) * X(j, k), factors in either order.
struct HaloPattern : SparseTimesDense<HaloPattern, DistributedOperands> {
  template <class Y, class A, class X>
  static constexpr bool fits() {
    if constexpr (is_distributed_rows<Y> && is_distributed_csr<A> && is_distributed_rows<X>)
      return binds<Y, A, X>("i", "ij", "j") || binds<Y, A, X>("ik", "ij", "jk");
    else
      return false;
  }
};

}  // namespace detail

/// y(i) = A(i, j) * x(j) and Y(i, k) = A(i, j) * X(j, k), where A in CSR and the result are divided by the
/// same rows, and x or X is divided into ranges of rows.
///
/// In one run, receives are posted, and what others need is packed and sent. Then the interior (interior.hpp)
/// is computed from this rank's own part of x, and after that the first and the last rows from the halo,
/// which holds the values of all their columns, including this rank's own. The three parts are CSR matrices
/// over the values of A, with columns numbered by the plan; any candidate can run each of them.
///
/// On GPUs, where messages travel alongside kernels, a wide product of a matrix with little interior is
/// divided by columns instead (own_columns.hpp): first all rows are computed from this rank's own columns,
/// then the contributions of the others are added. These parts have copies of the values of A.
struct HaloProduct {
  static constexpr std::string_view name = "product with a halo";
  static constexpr std::string_view takes =
      "y(i) = A(i, j) * x(j) and Y(i, k) = A(i, j) * X(j, k), distributed by rows, A in CSR";
  static constexpr bool deterministic = true;
  static constexpr bool any_schedule = true;
  /// The narrowest dense operand with which a matrix without an interior is divided by columns.
  static constexpr std::int64_t narrowest_by_columns = 16;

  template <class S>
  static constexpr bool matches =
      detail::HaloPattern::matches<S> && S::schedule::loops::are_plain && !S::schedule::is_deterministic;

  template <class S>
  static Offer cost(const S& statement, const Resources<typename S::space_type>&) {
    const auto& of_y = statement.result().tensor().distribution();
    const auto& of_a = detail::HaloPattern::sparse(statement).tensor().distribution();
    const auto& of_x = detail::HaloPattern::dense(statement).tensor().distribution();
    const int ranks = of_a.ranks().size();
    if (ranks == 1) return Declined{"on one rank there is no halo"};
    if (!detail::owners_of_result_compute(statement)) return Declined{detail::is_divided_otherwise};
    if (of_a.partition(0).parts() != ranks || !(of_y.partition(0) == of_a.partition(0)))
      return Declined{"the matrix and the result are not divided by the same rows"};
    if (of_x.partition(0).parts() != ranks || !of_x.partition(0).is_contiguous())
      return Declined{"the dense operand is not divided into ranges of rows"};
    return Cost{0};
  }

  template <class S>
  class Plan {
   public:
    using Y = typename S::result_type;
    using A = std::remove_cvref_t<decltype(detail::HaloPattern::sparse(std::declval<const S&>()))>;
    using X = std::remove_cvref_t<decltype(detail::HaloPattern::dense(std::declval<const S&>()))>;
    using LocalY = typename Y::tensor_type::local_type;
    using LocalA = typename A::tensor_type::local_type;
    using LocalX = typename X::tensor_type::local_type;
    using Space = typename S::space_type;
    using memory_space = typename Space::memory_space;

    Plan(const S& statement, const Resources<Space>& resources)
        : statement_(statement),
          space_(resources.space()),
          ranks_(detail::ranks_of(statement)),
          written_(statement.str()),
          y_(statement.result().tensor().local()),
          a_(detail::HaloPattern::sparse(statement).tensor().local()),
          x_(detail::HaloPattern::dense(statement).tensor().local()),
          run_signature_(detail::agree_on(statement, written_)),
          whole_(local_statement(y_, a_, x_, statement.accumulates())) {
      const Partition& columns = detail::HaloPattern::dense(statement).tensor().distribution().partition(0);
      const Bounds own = columns.range(ranks_.rank());
      if constexpr (LocalX::order == 2) width_ = x_.extent(1);
      std::optional<Rows> rows;
      std::optional<detail::ColumnsByOwner> by_columns;
      std::vector<std::int64_t> wanted, counts(static_cast<std::size_t>(ranks_.size()));
      jointly(ranks_, [&] {
        rows.emplace(a_, own);
        if (is_divided_by_columns(*rows))
          by_columns.emplace(*rows, Bounds{0, a_.extent(0)}, own, a_.extent(1));
        wanted = by_columns ? by_columns->columns_of_halo : rows->columns_of_halo(a_.extent(1));
        for (const std::int64_t c : wanted) ++counts[static_cast<std::size_t>(columns.owner(c))];
        agree(ranks_, "the plan of a halo");
      });
      auto asked = detail::exchange(ranks_, wanted, counts, "the plan of a halo");
      jointly(ranks_, [&] {
        for (std::int64_t& c : asked.items) c -= own.begin;
        halo_ = detail::ValueExchange<typename LocalX::value_type, Space>(ranks_, width_, asked.items,
                                                                          asked.counts, counts);
        by_columns ? make_parts(*rows, own, *by_columns) : make_parts(*rows, own, wanted);
        agree(ranks_, "the plan of a halo");
      });
      traffic_.ranks =
          ranks_.all(RankTraffic{a_.nnz(), halo_.messages(), halo_.bytes_sent(), halo_.bytes_received()});
    }

    void run() {
      const auto target = start_result();
      agree(ranks_, run_signature_, written_);
      halo_.start(space_, x_.values());
      try {
        for (Part& part : parts_) part.take_values(space_, a_, x_, target, width_);
        parts_[Rows::interior].run();
      } catch (...) {
        halo_.finish(space_);  // the other ranks wait for this one's values
        throw;
      }
      halo_.finish(space_);
      parts_[Rows::first].run();
      parts_[Rows::last].run();
      finish_result(target);
    }
    void refill() { run(); }

    Bytes bytes() const {
      const RankTraffic& mine = traffic_.ranks[static_cast<std::size_t>(ranks_.rank())];
      Bytes out{y_.nnz(), y_.bytes(), held_bytes(), mine.messages, mine.sent};
      for (const Part& part : parts_)
        if (part.plan) out.workspace += part.plan->estimate().workspace;
      return out;
    }
    std::int64_t held_bytes() const {
      std::int64_t sum = halo_.held_bytes() + array_bytes<typename LocalY::value_type>(
                                                  static_cast<std::int64_t>(own_result_.extent(0)));
      for (const Part& part : parts_) sum += part.held_bytes();
      return sum;
    }
    const Traffic& traffic() const { return traffic_; }

    void explain(std::ostream& out) const {
      const Part& middle = parts_[Rows::interior];
      out << "  posts receives, packs and sends, computes ";
      if (middle.is_copied())
        out << middle.a.nnz() << " of this rank's " << a_.nnz()
            << " nonzeros, those in columns of its own, then adds the others\n";
      else
        out << middle.rows.size() << " of this rank's " << a_.extent(0)
            << " rows, then the rows that need others' values\n";
      traffic_.print(out);
      halo_.explain(out);
      for (const Part& part : parts_)
        if (part.plan) {
          out << "  locally run by " << part.plan->candidate() << "\n";
          break;
        }
    }

   private:
    using Rows = detail::InteriorRows<LocalA>;

    using LocalStatement = std::remove_const_t<decltype(detail::local_statement(
        std::declval<const S&>(), std::declval<const LocalY&>(),
        std::declval<const std::conditional_t<detail::HaloPattern::places<S>[0] == 0,
                                              std::tuple<LocalA, LocalX>, std::tuple<LocalX, LocalA>>&>(),
        false))>;

    using Values = std::remove_cvref_t<decltype(std::declval<const LocalY&>().values())>;

    template <class T>
    static std::int64_t value_bytes(const T& tensor) {
      return tensor.nnz() * static_cast<std::int64_t>(sizeof(typename T::value_type));
    }

    /// Whether A is divided by columns, so that there is something to compute while the halo travels: if most
    /// of its nonzeros are in rows that need the halo, and products are so wide that copying the values of A
    /// and adding to the result cost little in comparison.
    bool is_divided_by_columns(const Rows& rows) const {
      using Value = typename LocalY::value_type;
      if constexpr (HostSpace<Space> || !S::schedule::is_arithmetic ||
                    !std::is_same_v<Value, accumulate_t<Value>>)
        return false;
      else
        return width_ >= narrowest_by_columns && 2 * rows.parts()[Rows::interior].nonzeros.size() < a_.nnz();
    }

    /// Consecutive rows that are computed together, from this rank's own part of x or from the halo.
    struct Part : detail::RowRange {
      bool adds = false;                         ///< whether the result already holds another part's sums
      LocalA a;                                  ///< shares the values of A, or has a copy of some of them
      Array<std::int64_t, memory_space> places;  ///< places in A of the values that are copied
      LocalX x;
      LocalY y;                                            ///< shares the values of the result
      std::unique_ptr<sporos::Plan<LocalStatement>> plan;  ///< null if there are no rows

      /// Takes the arrays of values that the tensors have now.
      void take_values(const Space& space, const LocalA& from_a, const LocalX& from_x, const Values& from_y,
                       std::int64_t width) {
        if (!plan) return;
        if (is_copied())
          copy_values(space, from_a);
        else if (from_a.values().data() + nonzeros.begin != a.values().data())
          a.replace(a.extents(), a.levels(),
                    detail::part_of_array(from_a.values(), nonzeros.begin, nonzeros.end));
        if (from_y.data() + rows.begin * width != y.values().data())
          y.replace(y.extents(), y.levels(),
                    detail::part_of_array(from_y, rows.begin * width, rows.end * width));
        if (!reads_halo && from_x.values().data() != x.values().data())
          x.replace(x.extents(), x.levels(), from_x.values());
      }
      bool is_copied() const { return places.data() != nullptr; }
      std::int64_t held_bytes() const {
        if (!plan) return 0;
        const std::int64_t of_matrix =
            a.bytes() + (is_copied() ? array_bytes<std::int64_t>(static_cast<std::int64_t>(places.extent(0)))
                                     : -value_bytes(a));
        return of_matrix + plan->bytes();
      }
      void run() {
        if (plan) plan->run();
      }

     private:
      /// Done only once if the statement says that operands are constant.
      void copy_values(const Space& space, const LocalA& from) {
        using Value = typename LocalA::value_type;
        if (S::schedule::has_constant_operands && has_values) return;
        has_values = true;
        const detail::PackRows<Value> pack{from.values().data(), places.data(), a.values().data(), 1};
        Kokkos::parallel_for("sporos::HaloProduct values of A",
                             Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, a.nnz()),
                             pack);
      }
      bool has_values = false;
    };

    /// Where the rows are computed: in the result's values, or in a separate array if an operand has the same
    /// memory.
    Values start_result() {
      if (!reads_result(whole_)) return y_.values();
      if (static_cast<std::int64_t>(own_result_.extent(0)) != y_.nnz())
        own_result_ =
            make_array<typename LocalY::value_type, memory_space>("sporos::HaloProduct result", y_.nnz());
      if (statement_.accumulates()) Kokkos::deep_copy(space_, own_result_, y_.values());
      return own_result_;
    }
    void finish_result(const Values& target) const {
      if (target.data() == y_.values().data()) return;
      Kokkos::deep_copy(space_, y_.values(), target);
      space_.fence("sporos::HaloProduct result");
    }

    /// Divides the rows into ranges.
    void make_parts(const Rows& rows, const Bounds& own, const std::vector<std::int64_t>& halo) {
      const auto numbering = detail::Numbering::list(halo, a_.extent(1));
      const detail::NumberTable number(numbering);
      for (std::size_t at = 0; at < parts_.size(); ++at) {
        static_cast<detail::RowRange&>(parts_[at]) = rows.parts()[at];
        const Bounds& of = parts_[at].rows;
        const std::int64_t first = parts_[at].nonzeros.begin;
        make_part(
            parts_[at], rows, own, halo, number,
            [&](std::int64_t row) { return rows.position(of.begin + row) - first; },
            [&](std::int64_t q) { return first + q; });
      }
    }
    /// Uses the own columns in place of the interior, then the other columns.
    void make_parts(const Rows& rows, const Bounds& own, const detail::ColumnsByOwner& by_columns) {
      const auto numbering = detail::Numbering::list(by_columns.columns_of_halo, a_.extent(1));
      const detail::NumberTable number(numbering);
      const auto make = [&](Part& part, const detail::SomeNonzeros& some) {
        part.rows = some.rows;
        part.nonzeros = {0, std::ssize(some.places)};
        part.places =
            make_array<std::int64_t, memory_space>("sporos::HaloProduct places", std::ssize(some.places));
        Kokkos::deep_copy(part.places, HostArray<const std::int64_t>(some.places.data(), some.places.size()));
        make_part(
            part, rows, own, by_columns.columns_of_halo, number,
            [&](std::int64_t row) { return some.begins[static_cast<std::size_t>(row)]; },
            [&](std::int64_t q) { return some.places[static_cast<std::size_t>(q)]; });
      };
      parts_[Rows::last].reads_halo = parts_[Rows::last].adds = true;
      make(parts_[Rows::interior], by_columns.own);
      make(parts_[Rows::last], by_columns.others);
    }

    /// @param begin_of  begin_of(row): the number of nonzeros of the part that precede a row of it
    /// @param place     place(q): the position in A of the part's nonzero number q
    template <class BeginOf, class Place>
    void make_part(Part& part, const Rows& rows, const Bounds& own, const std::vector<std::int64_t>& halo,
                   const detail::NumberTable& number, const BeginOf& begin_of, const Place& place) {
      if (part.rows.size() == 0) return;
      using Level = typename LocalA::format_type::template level<1>;
      using Position = typename Level::position_type;
      using Coordinate = typename Level::coordinate_type;
      auto segments = SegmentsOf<Level>::with_room(part.rows.size(), part.nonzeros.size());
      const auto& [positions, coordinates] = segments;
      for (std::int64_t row = 0; row <= part.rows.size(); ++row)
        positions(static_cast<std::size_t>(row)) = static_cast<Position>(begin_of(row));
      for (std::int64_t q = 0; q < part.nonzeros.size(); ++q) {
        const std::int64_t c = rows.column(place(q));
        coordinates(static_cast<std::size_t>(q)) =
            static_cast<Coordinate>(part.reads_halo ? number(c) : c - own.begin);
      }
      const std::int64_t columns = part.reads_halo ? std::ssize(halo) : own.size();
      using Lines = std::tuple_element_t<0, typename LocalA::level_storage>;
      part.a = LocalA(
          {part.rows.size(), columns},
          {Lines::empty(1, part.rows.size()),
           detail::level_of_segments<Level, Space>(std::move(segments), part.rows.size(), columns)},
          part.is_copied() ? make_array<typename LocalA::value_type, memory_space>(
                                 "sporos::HaloProduct values", part.nonzeros.size())
                           : detail::part_of_array(a_.values(), part.nonzeros.begin, part.nonzeros.end));
      part.x = part.reads_halo ? rows_over<LocalX>(columns, halo_.received())
                               : rows_over<LocalX>(columns, x_.values());
      part.y = rows_over<LocalY>(
          part.rows.size(),
          detail::part_of_array(y_.values(), part.rows.begin * width_, part.rows.end * width_));
      part.plan = std::make_unique<sporos::Plan<LocalStatement>>(
          local_statement(part.y, part.a, part.x, part.adds || statement_.accumulates()));
    }

    template <class T>
    T rows_over(std::int64_t rows, const Array<typename T::value_type, memory_space>& values) const {
      Extents<T::order> extents{};
      extents[0] = rows;
      if constexpr (T::order == 2) extents[1] = width_;
      typename T::level_storage levels;
      set_extent(std::get<0>(levels), rows);
      if constexpr (T::order == 2) set_extent(std::get<1>(levels), width_);
      return T(extents, std::move(levels), values);
    }
    template <class Storage>
    static void set_extent(Storage& dense, std::int64_t extent) {
      dense = Storage::empty(1, extent);
    }

    LocalStatement local_statement(const LocalY& y, const LocalA& a, const LocalX& x,
                                   bool accumulates) const {
      const auto locals = [&] {
        if constexpr (detail::HaloPattern::places<S>[0] == 0)
          return std::tuple(a, x);
        else
          return std::tuple(x, a);
      }();
      return detail::local_statement(statement_, y, locals, accumulates);
    }

    const S& statement_;
    Space space_;
    Communicator ranks_;
    std::string written_;
    LocalY y_;
    LocalA a_;
    LocalX x_;
    Signature run_signature_;
    LocalStatement whole_;  ///< on what this rank stores; tells which tensors share arrays
    Values own_result_;
    std::int64_t width_ = 1;
    std::array<Part, 3> parts_;
    detail::ValueExchange<typename LocalX::value_type, Space> halo_;
    Traffic traffic_;
  };
};

}  // namespace sporos

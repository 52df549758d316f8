// SPDX-License-Identifier: Apache-2.0
/// @file summa_spgemm.hpp
/// Products of two sparse matrices on a grid of ranks: sparse SUMMA.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <numeric>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/pool.hpp"
#include "../core/statement.hpp"
#include "../formats/storage_bound.hpp"
#include "../kernels/protocol/candidate.hpp"
#include "../kernels/results/merge_runs.hpp"
#include "../kernels/spgemm/host/multiply.hpp"
#include "../kernels/spgemm/pattern.hpp"
#include "../workspace/dense.hpp"
#include "agree.hpp"
#include "patterns.hpp"
#include "summa_stages.hpp"
#include "tensor.hpp"
#include "traffic.hpp"
#include "work_division.hpp"

namespace sporos {

/// C(i, j) = A(i, k) * B(k, j), all in CSR in host memory, on a grid of ranks: C and A are divided by the
/// same rows, C and B by the same columns.
///
///        k                       B, column of         Stage by stage over k, the owner of A's columns sends
///      ┌───┬───┬───┐             the grid             its block along the row of the grid, and the owner of
///      │   │   │   │              ┌───┐               B's rows its block along the column; each rank adds
///      ├───┼───┼───┤  A, row of   │   │ k             the product of the two to its block of C. While it
///      │ → │ • │ → │  the grid    ├───┤               multiplies, the blocks of the next stage travel.
///      └───┴───┴───┘              │ ↓ │
///                                 └───┘
///
/// The rows of the products are runs in the accumulation array of insert-sort-merge, as merge_runs.hpp
/// describes: taken in the order of stages they are already sorted, and merging them is another product by
/// rows. The runs are merged early if they take much more room than the first product.
///
/// A plan that runs more than once keeps the blocks of all stages with their values instead: it then computes
/// a single product, whose values go directly to their places. That takes three quarters of the time, but
/// needs memory for all blocks of its row of A's grid and its column of B's.
///
/// (R. van de Geijn, J. Watts, "SUMMA: scalable universal matrix multiplication algorithm", Concurrency:
/// Practice and Experience 9, 1997; A. Buluç, J. Gilbert, "Parallel sparse matrix-matrix multiplication and
/// indexing", SIAM Journal on Scientific Computing 34, 2012, for sparse matrices.)
struct SummaSpgemm {
  using Pattern = SpgemmPattern<detail::DistributedOperands>;
  static constexpr std::string_view name = "sparse SUMMA";
  static constexpr std::string_view takes =
      "A(i, j) = B(i, k) * C(k, j), distributed by rows and columns, each in CSR in host memory";
  static constexpr bool deterministic = true;

  template <class S>
  static constexpr bool matches = detail::multiplies_by_rows<Pattern, S>();

  /// The type of the left factor's column coordinates.
  template <class S>
  using ColumnOf = typename std::remove_cvref_t<decltype(Pattern::left(
      std::declval<const S&>()))>::format::template level<1>::coordinate_type;

  template <class S>
  static Offer cost(const S& statement, const Resources<typename S::space_type>&) {
    using Result = typename S::result_type;
    const auto& of_c = statement.result().tensor().distribution();
    const auto& of_a = Pattern::left(statement).tensor().distribution();
    const auto& of_b = Pattern::right(statement).tensor().distribution();
    if (of_c.partition(0).parts() == 1 || of_c.partition(1).parts() == 1)
      return Declined{"the result is not divided by a grid of rows and columns"};
    if (!detail::owners_of_result_compute(statement)) return Declined{detail::is_divided_otherwise};
    if (!(of_a.partition(0) == of_c.partition(0)))
      return Declined{"the left factor and the result are not divided by the same rows"};
    if (!(of_b.partition(1) == of_c.partition(1)))
      return Declined{"the right factor and the result are not divided by the same columns"};
    if (of_a.partition(1).parts() != of_c.partition(1).parts() ||
        of_b.partition(0).parts() != of_c.partition(0).parts())
      return Declined{"the factors are not divided by the grid of the result"};
    if (of_a.extents()[1] > std::numeric_limits<ColumnOf<S>>::max())
      return Declined{"the columns of the left factor are too many for its coordinates"};
    if (!detail::has_stages(of_a.partition(1), of_b.partition(0)))
      return Declined{
          "the columns of the left factor and the rows of the right one are dealt out differently"};
    if (sizeof(typename Result::format::template level<1>::coordinate_type) == sizeof(std::int64_t) &&
        !fits_dense(of_c.extents()[1], sizeof(typename Result::value_type)))
      return Declined{"the rows of the result are too long for a dense accumulator"};
    std::int64_t rows = 0;
    for (int part = 0; part < of_c.partition(0).parts(); ++part)
      rows = std::max(rows, of_c.partition(0).count(part));
    const int most_stages = of_a.partition(1).parts() + of_b.partition(0).parts();
    if (rows > std::numeric_limits<std::int32_t>::max() / most_stages)
      return Declined{"the rows of all stages are too many for numbers of 32 bits"};
    return Cost{0};
  }

  template <class S>
  class Plan {
   public:
    using Result = typename S::result_type;
    using A = std::remove_cvref_t<decltype(Pattern::left(std::declval<const S&>()))>;
    using B = std::remove_cvref_t<decltype(Pattern::right(std::declval<const S&>()))>;
    using LocalC = typename Result::tensor_type::local_type;
    using Left = detail::StagedFactor<typename A::tensor_type::local_type>;
    using Right = detail::StagedFactor<typename B::tensor_type::local_type>;
    using Space = typename S::space_type;

    Plan(const S& statement, const Resources<Space>& resources)
        : space_(resources.space()),
          ranks_(detail::ranks_of(statement)),
          written_(statement.str()),
          c_(statement.result().tensor().local()),
          run_signature_(detail::agree_on(statement, written_)) {
      const auto& of_a = Pattern::left(statement).tensor().distribution();
      const auto& of_b = Pattern::right(statement).tensor().distribution();
      grid_ = {of_b.partition(0).parts(), of_a.partition(1).parts()};
      const auto stages = detail::summa_stages(of_a.partition(1), of_b.partition(0));
      const auto& a = Pattern::left(statement).tensor().local();
      const auto& b = Pattern::right(statement).tensor().local();
      std::vector<detail::StageBlock> of_left, of_right;
      for (const detail::SummaStage& stage : stages) {
        of_left.push_back({stage.left_part, {0, a.extent(0)}, stage.left});
        of_right.push_back({stage.right_part, stage.right, {0, b.extent(1)}});
      }
      // The ranks of a row of the grid are consecutive.
      left_.emplace(ranks_, ranks_.split(ranks_.rank() / grid_[1]), a, of_left);
      right_.emplace(ranks_, ranks_.split(ranks_.rank() % grid_[1]), b, of_right);
      jointly(ranks_, [&] {
        for (std::size_t at = 0; at < stages.size(); ++at)
          products_.emplace_back(space_, left_->block(at), right_->block(at));
        rows_ = pool().array<detail::Key>("sporos::rows", c_.extent(0));
        std::iota(rows_.data(), rows_.data() + rows_.extent(0), detail::Key{0});
        agree(ranks_, "the plan of a product in stages");
      });
      collect_traffic();
    }

    void prepare() {
      if (products_.empty()) return;
      all_of_left_.emplace(*left_, true);
      all_of_right_.emplace(*right_, false);
      whole_.emplace(space_, all_of_left_->rows(), all_of_right_->rows());
      whole_->prepare();
    }

    void run() {
      agree(ranks_, run_signature_, written_);
      if (whole_) {
        jointly(ranks_, [&] {
          take_values();
          detail::replace_rows(c_, whole_->compute());
          agree(ranks_, run_signature_, written_);
        });
        return;
      }
      jointly(ranks_, [&] {
        analyse();
        stored_.emplace(most_elements());
        agree(ranks_, run_signature_, written_);
        detail::for_each_stage(*left_, *right_, [&](std::size_t at) { store(at); });
        merge();
        agree(ranks_, run_signature_, written_);
      });
    }

    void refill() {
      if (!whole_) return run();
      agree(ranks_, run_signature_, written_);
      jointly(ranks_, [&] {
        take_values();
        const auto pattern = c_.template level<1>().view();
        whole_->refill(all_of_left_->rows(), all_of_right_->rows(), pattern.positions, pattern.coordinates,
                       c_.values().data(), S::schedule::is_deterministic);
        agree(ranks_, run_signature_, written_);
      });
    }

    Bytes bytes() const {
      analyse();
      const std::int64_t elements = most_elements(), runs = std::ssize(products_) * c_.extent(0);
      const StorageBound bound = storage_bound<typename LocalC::format_type, Value>(c_.extents(), elements);
      // A run has its row, its place and its number, and is one value of the product that merges.
      constexpr std::int64_t of_run = 2 * sizeof(detail::Key) + 2 * sizeof(std::int64_t) + sizeof(Acc);
      std::int64_t sum = held_by_factors() + of_run * runs +
                         // The products, one after another; twice, since some may have been merged.
                         2 * (detail::most_array_bytes<Acc>(elements + detail::row_slack) +
                              detail::most_array_bytes<Coordinate>(elements + detail::row_slack)) +
                         detail::most_array_bytes<Value>(elements) +
                         detail::most_array_bytes<Coordinate>(elements) +
                         space_.concurrency() * c_.extent(1) * static_cast<std::int64_t>(sizeof(Acc) + 2);
      for (const Product& product : products_) sum += product.most_bytes();
      sum += WholeLeft::most_bytes(left_->rows(), left_->nnz()) +
             WholeRight::most_bytes(right_->rows(), right_->nnz());
      const RankTraffic& mine = traffic_.ranks[static_cast<std::size_t>(ranks_.rank())];
      return {bound.values, bound.bytes, sum, mine.messages, mine.sent};
    }
    std::int64_t held_bytes() const {
      const std::int64_t of_factors = held_by_factors();
      return whole_ ? of_factors + all_of_left_->bytes() + all_of_right_->bytes() + whole_->held_bytes()
                    : of_factors;
    }
    const Traffic& traffic() const { return traffic_; }

    void explain(std::ostream& out) const {
      out << "  in " << products_.size() << (products_.size() == 1 ? " stage" : " stages") << " on a grid of "
          << grid_[0] << " x " << grid_[1]
          << " ranks, blocks of the left factor travel along its rows and blocks of the right one along its "
             "columns\n  while those that came before are multiplied; the products are merged row by row\n";
      traffic_.print(out);
    }

   private:
    using Value = typename LocalC::value_type;
    using Level = typename LocalC::format_type::template level<1>;
    using Position = typename Level::position_type;
    using Coordinate = typename Level::coordinate_type;
    using Acc = detail::product_accumulate_t<Value, typename Left::Value, typename Right::Value>;
    using Product =
        detail::ProductByRows<Acc, typename Left::Rows, typename Right::Rows, Acc, std::int64_t, Coordinate>;
    using Stored = detail::MergedRuns<Acc, Coordinate>;
    /// Merging as a product: a row of Summands has a one for each run that belongs to a row of the result.
    using Summands = SparseRows<Acc, std::int64_t, std::int32_t>;
    using AllRuns = SparseRows<Acc, std::int64_t, Coordinate>;
    using Merging = detail::ProductByRows<Acc, Summands, AllRuns, Value, Position, Coordinate>;
    using EarlyMerging = detail::ProductByRows<Acc, Summands, AllRuns, Acc, std::int64_t, Coordinate>;

    /// All stages as one product.
    using WholeLeft = detail::AllBlocks<Left>;
    using WholeRight = detail::AllBlocks<Right>;
    using Whole = detail::ProductByRows<Acc, typename WholeLeft::Rows, typename WholeRight::Rows, Value,
                                        Position, Coordinate>;

    /// Up to this many values may be stored in addition to twice those of the first product before they are
    /// merged.
    static constexpr std::int64_t worth_merging = std::int64_t{1} << 14;

    /// Takes the values of all stages for the single product.
    void take_values() {
      detail::for_each_stage(*left_, *right_, [&](std::size_t at) {
        all_of_left_->take(*left_, at);
        all_of_right_->take(*right_, at);
      });
    }

    /// Analyses the patterns of the stages, once.
    void analyse() const {
      if (is_analysed_) return;
      for (Product& product : products_) product.prepare();
      is_analysed_ = true;
    }
    std::int64_t most_elements() const {
      std::int64_t sum = 0;
      for (const Product& product : products_) sum += product.most_elements();
      return sum;
    }

    /// Multiplies the blocks of a stage, and puts the product after the previous ones.
    void store(std::size_t at) {
      products_[at].read(left_->block(at), right_->block(at));
      const auto [coordinates, values] = stored_->room();
      stored_->add({rows_, products_[at].compute({coordinates, values})});
      if (at + 1 == products_.size() || stored_->size() <= 2 * stored_->first_size() + worth_merging) return;
      Stored merged(most_elements());
      gather_runs();
      EarlyMerging merging(space_, summands(), all_runs());
      merging.prepare(false);
      const auto room = merged.room();
      merged.add({rows_, merging.compute({room.first, room.second})});
      stored_->release();
      stored_ = std::move(merged);
    }

    /// Adds up the products to get the result.
    void merge() {
      if (stored_->empty()) {
        detail::replace_rows(c_, no_elements());
        return;
      }
      gather_runs();
      Merging merging(space_, summands(), all_runs());
      merging.prepare(false);
      detail::replace_rows(c_, merging.compute());
      stored_->release();
    }
    typename Merging::Arrays no_elements() const {
      typename Merging::Arrays out{pool().array<Position>("sporos::positions", c_.extent(0) + 1),
                                   make_array<Coordinate>("sporos::coordinates", 0),
                                   make_array<Value>("sporos::values", 0)};
      std::fill_n(out.positions.data(), out.positions.extent(0), Position{0});
      return out;
    }

    /// Finds the runs of the result's rows: run number n * rows + i is row i of the n-th stored product.
    void gather_runs() {
      runs_ = stored_->runs(space_);
      const std::int64_t rows = c_.extent(0), parts = rows > 0 ? runs_.count / rows : 0;
      begins_ = pool().array<std::int64_t>("sporos::positions", rows + 1);
      numbers_ = pool().array<std::int32_t>("sporos::runs", runs_.count);
      ones_ = pool().array<Acc>("sporos::ones", runs_.count);
      std::fill_n(ones_.data(), runs_.count, Acc{1});
      for (std::int64_t row = 0; row <= rows; ++row) begins_.data()[row] = row * parts;
      for (std::int64_t row = 0, at = 0; row < rows; ++row)
        for (std::int64_t part = 0; part < parts; ++part)
          numbers_.data()[at++] = static_cast<std::int32_t>(part * rows + row);
    }
    Summands summands() const {
      return {c_.extent(0), runs_.count, begins_.data(), numbers_.data(), ones_.data()};
    }
    AllRuns all_runs() const {
      return {runs_.count, c_.extent(1), runs_.positions.data(), runs_.coordinates, runs_.values};
    }

    void collect_traffic() {
      const std::int64_t of_left = sizeof(typename Left::Value), of_right = sizeof(typename Right::Value);
      traffic_.ranks =
          ranks_.all(RankTraffic{left_->nnz() + right_->nnz(), left_->messages() + right_->messages(),
                                 left_->values_sent() * of_left + right_->values_sent() * of_right,
                                 left_->values_received() * of_left + right_->values_received() * of_right});
    }
    std::int64_t held_by_factors() const { return left_->held_bytes() + right_->held_bytes(); }

    Space space_;
    Communicator ranks_;
    std::string written_;
    LocalC c_;
    Signature run_signature_;
    std::array<int, 2> grid_{};
    std::optional<Left> left_;
    std::optional<Right> right_;
    mutable std::deque<Product> products_;  ///< one for each stage
    HostArray<detail::Key> rows_;           ///< 0, 1, …
    std::optional<Stored> stored_;          ///< the products of the stages
    detail::Runs<Acc, Coordinate> runs_;    ///< their rows
    HostArray<std::int64_t> begins_;        ///< index of the first summand of each row of the result
    HostArray<std::int32_t> numbers_;
    HostArray<Acc> ones_;
    mutable bool is_analysed_ = false;
    std::optional<WholeLeft> all_of_left_;  ///< only in a plan that runs again, as are the next members
    std::optional<WholeRight> all_of_right_;
    std::optional<Whole> whole_;
    Traffic traffic_;
  };
};

}  // namespace sporos

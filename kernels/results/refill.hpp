// SPDX-License-Identifier: Apache-2.0
/// @file refill.hpp
/// A statement's values anew, where its result has its pattern already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../core/statement.hpp"
#include "../../formats/at.hpp"
#include "../statement/run.hpp"
#include "sequential.hpp"

namespace sporos::detail {

/// A result that is not assembled, or is assembled by a kernel of a device: the statement runs as ever.
template <class S>
class RunAgain {
 public:
  explicit RunAgain(const S&) {}
  void run(const S& statement) { sporos::run(statement); }
  std::int64_t bytes() const { return 0; }
};

/// An appended result: where each chunk's values begin, and how many each row that it gathers has.
template <class S>
class RefillAppended {
  using RunType = Run<S>;
  using Traits = typename RunType::Traits;
  using Compute = typename RunType::Compute;
  using Space = typename RunType::Space;
  using Value = typename RunType::Value;
  using Format = typename RunType::Format;
  static constexpr bool gathers = RunType::how.kind == ResultKind::dense_workspace;
  static constexpr int last = Format::levels - 1;

 public:
  /// @param statement  one that has run: its result has its pattern
  explicit RefillAppended(const S& statement) {
    const RunType run(statement);
    const auto& result = statement.result().tensor();
    level_extents_ = Format::level_extents(result.extents());
    for (int k = RunType::how.appended_levels; k < Format::levels; ++k)
      block_ *= level_extents_[static_cast<std::size_t>(k)];
    cuts_ = run.appended_cuts();
    counts_.resize(cuts_.size() - 1);
    each_chunk([&](std::size_t chunk) {
      const auto workspace =
          gathers ? std::make_unique<DenseWorkspace<Compute>>(level_extents_[static_cast<std::size_t>(last)])
                  : nullptr;
      CountingSink<Compute> sink{&counts_[chunk], workspace.get(), block_};
      nest(run, chunk, sink);
    });
    begin_.resize(cuts_.size());
    for (std::size_t chunk = 0; chunk < counts_.size(); ++chunk)
      begin_[chunk + 1] = begin_[chunk] + counts_[chunk].values;
    ensure(begin_.back() == result.nnz(), "a plan counts as many values as its statement has made");
    const std::int64_t width = (gathers ? level_extents_[static_cast<std::size_t>(last)] : 0) + block_;
    sums_.resize(static_cast<std::size_t>(Space().concurrency()));
    for (auto& sums : sums_) sums.assign(static_cast<std::size_t>(width), Cell{});
  }

  void run(const S& statement) {
    const RunType run(statement);
    const auto& result = statement.result().tensor();
    const Kokkos::Experimental::UniqueToken<Space> tokens;
    each_chunk([&](std::size_t chunk) {
      const auto token = tokens.acquire();
      Compute* const sums = &sums_[static_cast<std::size_t>(token)].data()->sum;
      using Sink = WritingSink<Value, Coordinate, Compute>;
      const Coordinate* coordinates = nullptr;
      if constexpr (gathers) coordinates = result.template level<last>().coordinates.data() + begin_[chunk];
      Sink sink{result.values().data() + begin_[chunk],
                coordinates,
                counts_[chunk].rows.data(),
                sums + block_,
                sums,
                block_};
      nest(run, chunk, sink);
      tokens.release(token);
    });
  }

  std::int64_t bytes() const {
    std::size_t sum = (cuts_.size() + begin_.size()) * sizeof(std::int64_t);
    for (const auto& counts : counts_) sum += counts.rows.size() * sizeof(std::int64_t);
    for (const auto& sums : sums_) sum += sums.size() * sizeof(Compute);
    return static_cast<std::int64_t>(sum);
  }

 private:
  static auto coordinate_of_last_level() {
    if constexpr (gathers)
      return typename Format::template level<last>::coordinate_type{};
    else
      return std::int64_t{};
  }
  using Coordinate = decltype(coordinate_of_last_level());
  struct Cell {  // keeps std::vector<bool> away
    Compute sum{};
  };

  template <class Body>
  void each_chunk(const Body& body) const {
    for_each_chunk<Space>(static_cast<std::int64_t>(counts_.size()),
                          [&](std::int64_t chunk) { body(static_cast<std::size_t>(chunk)); });
  }
  template <class Sink>
  void nest(const RunType& run, std::size_t chunk, Sink& sink) const {
    run_nest<Traits>(run.source(), run.bounds(), {cuts_[chunk], cuts_[chunk + 1]}, chunk == 0,
                     SequentialOutput<Traits, Sink>{&sink, level_extents_});
  }

  Extents<Format::levels> level_extents_{};
  std::int64_t block_ = 1;
  std::vector<std::int64_t> cuts_, begin_;
  std::vector<AppendedCounts> counts_;
  std::vector<std::vector<Cell>> sums_;  ///< of each thread: a block, then a row
};

/// A result that is listed and assembled: which of the list's values add up to each of its own.
template <class S>
class RefillListed {
  using RunType = Run<S>;
  using Traits = typename RunType::Traits;
  using Compute = typename RunType::Compute;
  using Space = typename RunType::Space;
  using Value = typename RunType::Value;
  using Format = typename RunType::Format;
  using Piece = CoordinatePiece<Compute, Format::order>;

 public:
  /// @param statement  one that has run: its result has its pattern
  explicit RefillListed(const S& statement) {
    const RunType run(statement);
    const auto& result = statement.result().tensor();
    cuts_ = run.cuts(RunType::listed_chunks(run.bounds().outermost.end));
    std::vector<Piece> pieces(cuts_.size() - 1);
    for_each_chunk<Space>(chunks(), [&](std::int64_t chunk) {
      const auto at = static_cast<std::size_t>(chunk);
      run_nest<Traits>(run.source(), run.bounds(), {cuts_[at], cuts_[at + 1]}, chunk == 0,
                       CoordinateOutput<Traits, Compute>{&pieces[at]});
    });
    begin_.resize(cuts_.size());
    for (std::size_t at = 0; at < pieces.size(); ++at) begin_[at + 1] = begin_[at] + pieces[at].values.size();

    std::vector<std::int64_t> place(static_cast<std::size_t>(begin_.back()));
    for_each_chunk<Space>(chunks(), [&](std::int64_t chunk) {
      const auto at = static_cast<std::size_t>(chunk);
      for (std::int64_t e = 0; e < pieces[at].values.size(); ++e) {
        Extents<Format::order> coordinate{};
        for (std::size_t mode = 0; mode < coordinate.size(); ++mode)
          coordinate[mode] = pieces[at].coordinates[mode][e];
        Lookup<Value, Format>(result.view(), Format::level_coordinates(coordinate)).each([&](std::int64_t q) {
          place[static_cast<std::size_t>(begin_[at] + e)] = q;
        });
      }
    });
    // The list's places by value of the result, each in the order of the list.
    first_.assign(static_cast<std::size_t>(result.nnz()) + 1, 0);
    for (const std::int64_t q : place) ++first_[static_cast<std::size_t>(q) + 1];
    for (std::size_t q = 1; q < first_.size(); ++q) first_[q] += first_[q - 1];
    entry_.resize(place.size());
    std::vector<std::int64_t> next(first_.begin(), first_.end() - 1);
    for (std::size_t e = 0; e < place.size(); ++e)
      entry_[static_cast<std::size_t>(next[static_cast<std::size_t>(place[e])]++)] =
          static_cast<std::int64_t>(e);
    list_.assign(place.size(), Cell{});
  }

  void run(const S& statement) {
    const RunType run(statement);
    for_each_chunk<Space>(chunks(), [&](std::int64_t chunk) {
      const auto at = static_cast<std::size_t>(chunk);
      Compute* next = &list_.data()->value + begin_[at];
      run_nest<Traits>(run.source(), run.bounds(), {cuts_[at], cuts_[at + 1]}, chunk == 0,
                       ListOutput<Compute>{&next});
    });
    Value* const values = statement.result().tensor().values().data();
    Kokkos::parallel_for(
        "sporos::refill", Kokkos::RangePolicy<Space>(0, static_cast<std::int64_t>(first_.size()) - 1),
        [&](std::int64_t q) {
          const auto at = static_cast<std::size_t>(q);
          Compute sum{};
          for (std::int64_t e = first_[at]; e < first_[at + 1]; ++e)
            sum = plus(sum, list_[static_cast<std::size_t>(entry_[static_cast<std::size_t>(e)])].value);
          values[q] = static_cast<Value>(sum);
        });
    Space().fence("sporos::refill");
  }

  std::int64_t bytes() const {
    return static_cast<std::int64_t>((cuts_.size() + begin_.size() + first_.size() + entry_.size()) *
                                         sizeof(std::int64_t) +
                                     list_.size() * sizeof(Cell));
  }

 private:
  struct Cell {  // keeps std::vector<bool> away
    Compute value{};
  };
  std::int64_t chunks() const { return static_cast<std::int64_t>(cuts_.size()) - 1; }

  std::vector<std::int64_t> cuts_, begin_;
  std::vector<std::int64_t> first_;  ///< [nnz + 1] where in `entry_` the list's values for each value begin
  std::vector<std::int64_t> entry_;  ///< places in the list
  std::vector<Cell> list_;
};

template <class S>
auto refill_of() {
  using Tensor = typename S::result_type::tensor_type;
  constexpr ResultKind kind = classify<typename S::result_type>(S::order::names, S::schedule::workspace).kind;
  using OfKernel = decltype(refill_of_kernel<S>(SpecialisedKernels{}));
  if constexpr (OfKernel::exists)
    return std::type_identity<typename OfKernel::type>{};
  else if constexpr (kind == ResultKind::located || !HostSpace<typename Tensor::space_type>)
    return std::type_identity<RunAgain<S>>{};
  else if constexpr (kind == ResultKind::coordinate_workspace)
    return std::type_identity<RefillListed<S>>{};
  else
    return std::type_identity<RefillAppended<S>>{};
}

/// What computes a statement's values anew.
template <class S>
using Refill = typename decltype(refill_of<S>())::type;

}  // namespace sporos::detail

// SPDX-License-Identifier: Apache-2.0
/// @file listed.hpp
/// The nest's candidate for sparse results that scatter over several variables: workspaces gather them, and
/// their contents are listed and assembled after the loops.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../core/entries.hpp"
#include "../../formats/assemble.hpp"
#include "../../formats/at.hpp"
#include "../../formats/chunks.hpp"
#include "../../formats/storage_bound.hpp"
#include "../../workspace/coordinate.hpp"
#include "../nest/nest_run.hpp"
#include "../nest/term_bound.hpp"

namespace sporos {

/// Adds to a workspace over all variables of the result, in the order of its modes.
template <class Traits_, class W, class T>
struct ListedOutput {
  static constexpr bool is_scalar = false;
  static constexpr bool is_workspace = true;
  static constexpr bool is_independent = false;
  static constexpr auto names = Traits_::result::names;

  W* workspace;

  template <class F>
  SPOROS_INLINE void with_copy(const F& f) const {
    f(*this);
  }
  template <class Traits, int Depth, class Env>
  SPOROS_INLINE ListedOutput bind(const Env&) const {
    return *this;
  }
  template <int Depth>
  SPOROS_INLINE void leave(std::int64_t) const {}
  SPOROS_MAY_CALL_HOST
  template <class V, class Env>
  SPOROS_INLINE void add(const V& value, const Env& env) const {
    // Local copies: nvcc does not support static members of class type in code that may run on a device.
    constexpr auto variables = names, loops = Traits_::order;
    Extents<variables.size> at{};
    for (int mode = 0; mode < variables.size; ++mode)
      at[static_cast<std::size_t>(mode)] = env.at[loops.find(variables[mode])];
    workspace->add(at, static_cast<T>(value));
  }
};

/// Lists the values without coordinates, in the order of the loops.
template <class Compute>
struct ListedValues {
  static constexpr bool is_scalar = false;
  static constexpr bool is_independent = false;
  Compute** next;

  template <class F>
  SPOROS_INLINE void with_copy(const F& f) const {
    f(*this);
  }
  template <class Traits, int Depth, class Env>
  SPOROS_INLINE ListedValues bind(const Env&) const {
    return *this;
  }
  template <int Depth>
  SPOROS_INLINE void leave(std::int64_t) const {}
  template <class V, class Env>
  SPOROS_INLINE void add(const V& value, const Env&) const {
    *(*next)++ = static_cast<Compute>(value);
  }
};

/// The loop nest with a sparse result that scatters over several variables.
struct ListedNest {
  static constexpr std::string_view name = "loop nest, listed";
  static constexpr bool deterministic = true;
  static constexpr std::string_view less_memory =
      "bind the result's outer variables in the outermost loops with .reorder(...), so that less is "
      "listed, or compute it in parts";
  static constexpr bool any_schedule = true;
  static constexpr double seconds_of_term = 200e-9;

  template <class S>
  static constexpr bool matches =
      HostSpace<typename S::space_type> && detail::NestOf<S>::classification.kind == ResultKind::listed;

  /// The policy of the workspace unless the user chooses one.
  using DefaultPolicy = CoordinatePolicy;

  template <class S>
  class Plan;
};

template <class S>
class ListedNest::Plan {
  using Nest = detail::NestRun<S>;
  using Traits = typename Nest::Traits;
  using Compute = typename Nest::Compute;
  using Space = typename Nest::Space;
  using Memory = typename Nest::Memory;
  using Value = typename Nest::Value;
  using Format = typename Nest::Format;
  static constexpr int order = Format::order;

  using Policy = detail::chosen_policy<S, DefaultPolicy>;
  static_assert(
      detail::takes_order<Policy, order>(),
      "this workspace gathers a result that scatters over its innermost variable only: bind the "
      "result's other variables in the outermost loops with .reorder(...), or leave .workspace(...) "
      "out");
  using W = typename Policy::template workspace<Compute, order>;
  using List = CoordinateList<Compute, order>;
  static constexpr bool is_list = std::is_same_v<W, List>;

 public:
  Plan(const S& statement, const Resources<Space>&)
      : nest_(statement), cuts_(nest_.cuts(chunks_for_extent(nest_.bounds().outermost.end))) {}

  void prepare() { keeps_list_ = is_list; }

  void run() {
    nest_.read_operands();
    std::vector<List> lists(cuts_.size() - 1);
    WorkspaceShelf<W> shelf;
    detail::for_each_chunk(nest_.space(), chunks(), [&](std::int64_t chunk) {
      const auto at = static_cast<std::size_t>(chunk);
      if constexpr (is_list) {
        nest_.run({cuts_[at], cuts_[at + 1]}, chunk, ListedOutput<Traits, W, Compute>{&lists[at]});
      } else {
        auto workspace = shelf.take([&] { return std::make_unique<W>(policy(), result().extents()); });
        nest_.run({cuts_[at], cuts_[at + 1]}, chunk, ListedOutput<Traits, W, Compute>{workspace.get()});
        workspace->drain([&](const Extents<order>& coordinate, const Compute& value) {
          lists[at].add(coordinate, value);
        });
        shelf.give_back(std::move(workspace));
      }
    });
    begin_.assign(1, 0);
    for (const List& list : lists) begin_.push_back(begin_.back() + list.size());
    {
      const auto entries = concatenated(lists);
      if (!keeps_list_) std::vector<List>().swap(lists);
      replace_result(assemble<Format>(nest_.space(), entries, Duplicates::sum));
    }
    if (keeps_list_) find_places(lists);
  }

  void refill() {
    if constexpr (is_list) {
      nest_.read_operands();
      detail::for_each_chunk(nest_.space(), chunks(), [&](std::int64_t chunk) {
        const auto at = static_cast<std::size_t>(chunk);
        Compute* next = &list_.data()->value + begin_[at];
        nest_.run({cuts_[at], cuts_[at + 1]}, chunk, ListedValues<Compute>{&next});
      });
      Value* const values = result().values().data();
      Kokkos::parallel_for(
          "sporos::refill",
          Kokkos::RangePolicy<Space>(nest_.space(), 0, static_cast<std::int64_t>(first_.size()) - 1),
          [&](std::int64_t q) {
            const auto at = static_cast<std::size_t>(q);
            Compute sum{};
            for (std::int64_t e = first_[at]; e < first_[at + 1]; ++e)
              sum = plus(sum, list_[static_cast<std::size_t>(entry_[static_cast<std::size_t>(e)])].value);
            values[q] = static_cast<Value>(sum);
          });
      nest_.space().fence("sporos::refill");
    } else {
      run();
    }
  }

  Bytes bytes() const {
    const std::int64_t added = detail::TermBound<Traits>(nest_.bounds()).of(nest_.source());
    Bytes out;
    const StorageBound bound = storage_bound<Format, Value>(result().extents(), added);
    out.values = bound.values;
    out.result = bound.bytes;
    const std::int64_t lists = List::most_bytes({}, {}, added);
    out.workspace = lists + detail::assemble_bytes<Format, Compute>(result().extents(), added);
    if constexpr (!is_list)
      out.workspace += nest_.space().concurrency() * W::most_bytes(policy(), result().extents(), added);
    if constexpr (!std::is_same_v<Compute, Value>)
      out.workspace += out.values * static_cast<std::int64_t>(sizeof(Compute));
    return out;
  }

  std::int64_t held_bytes() const {
    return static_cast<std::int64_t>((cuts_.size() + begin_.size() + first_.size() + entry_.size()) *
                                         sizeof(std::int64_t) +
                                     list_.size() * sizeof(Cell));
  }

  void explain(std::ostream& out) const {
    out << "  result: scattered over several variables, " << Policy::name
        << "; a result whose levels follow the loops' order is written without it\n";
  }

 private:
  template <class Workspace>
  using WorkspaceShelf = detail::WorkspaceShelf<Workspace>;
  struct Cell {  // a struct, to avoid std::vector<bool>
    Compute value{};
  };

  /// The number of chunks. It does not depend on the number of threads: if the terms of a sum are in several
  /// chunks, they are added in the order of the chunks.
  static std::int64_t chunks_for_extent(std::int64_t extent) {
    return std::clamp<std::int64_t>(extent, 1, 256);
  }
  std::int64_t chunks() const { return static_cast<std::int64_t>(cuts_.size()) - 1; }
  const auto& result() const { return nest_.statement().result().tensor(); }
  Policy policy() const { return detail::policy_of<Policy>(nest_.statement()); }

  /// All lists concatenated.
  Entries<Compute, order> concatenated(const std::vector<List>& lists) const {
    Entries<Compute, order> out(result().extents(), begin_.back());
    detail::for_each_chunk(nest_.space(), chunks(), [&](std::int64_t chunk) {
      const auto at = static_cast<std::size_t>(chunk);
      for (std::size_t mode = 0; mode < out.coordinates.size(); ++mode)
        std::copy_n(lists[at].coordinates(mode), lists[at].size(), out.coordinates[mode].data() + begin_[at]);
      std::copy_n(lists[at].values(), lists[at].size(), out.values.data() + begin_[at]);
    });
    return out;
  }

  template <class Made>
  void replace_result(const Made& made) const {
    if constexpr (std::is_same_v<Compute, Value>) {
      result().replace(made.extents(), made.levels(), made.values());
    } else {
      const auto values = make_array<Value, Memory>("sporos::result", made.nnz());
      Kokkos::parallel_for("sporos::round", Kokkos::RangePolicy<Space>(nest_.space(), 0, made.nnz()),
                           detail::CopyValues<Compute, Value>{made.values().data(), values.data()});
      nest_.space().fence("sporos::round");
      result().replace(made.extents(), made.levels(), values);
    }
  }

  /// Finds which values of the lists add up to each value of the result, in list order.
  void find_places(const std::vector<List>& lists) {
    std::vector<std::int64_t> place(static_cast<std::size_t>(begin_.back()));
    detail::for_each_chunk(nest_.space(), chunks(), [&](std::int64_t chunk) {
      const auto at = static_cast<std::size_t>(chunk);
      for (std::int64_t e = 0; e < lists[at].size(); ++e) {
        Extents<order> coordinate{};
        for (std::size_t mode = 0; mode < coordinate.size(); ++mode)
          coordinate[mode] = lists[at].coordinate(mode, e);
        detail::Lookup<Value, Format>(result().view(), Format::level_coordinates(coordinate))
            .each([&](std::int64_t q) { place[static_cast<std::size_t>(begin_[at] + e)] = q; });
      }
    });
    first_.assign(static_cast<std::size_t>(result().nnz()) + 1, 0);
    for (const std::int64_t q : place) ++first_[static_cast<std::size_t>(q) + 1];
    for (std::size_t q = 1; q < first_.size(); ++q) first_[q] += first_[q - 1];
    entry_.resize(place.size());
    std::vector<std::int64_t> next(first_.begin(), first_.end() - 1);
    for (std::size_t e = 0; e < place.size(); ++e)
      entry_[static_cast<std::size_t>(next[static_cast<std::size_t>(place[e])]++)] =
          static_cast<std::int64_t>(e);
    list_.assign(place.size(), Cell{});
  }

  Nest nest_;
  std::vector<std::int64_t> cuts_;
  bool keeps_list_ = false;
  std::vector<std::int64_t> begin_;  ///< where each chunk's entries begin in the concatenated list
  std::vector<std::int64_t> first_;  ///< [nnz + 1] where the entries of each value begin in `entry_`
  std::vector<std::int64_t> entry_;  ///< places in the concatenated list
  std::vector<Cell> list_;
};

}  // namespace sporos

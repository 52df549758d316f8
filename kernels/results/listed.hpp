// SPDX-License-Identifier: Apache-2.0
/// @file listed.hpp
/// The nest's candidate for sparse results that scatter over several variables: workspaces over all of them
/// gather the values, and what the threads have gathered is merged.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../core/few_steps.hpp"
#include "../../formats/chunks.hpp"
#include "../../formats/storage_bound.hpp"
#include "../../formats/wide_keys.hpp"
#include "../../workspace/coordinate.hpp"
#include "../../workspace/dense.hpp"
#include "../../workspace/merge_sorted.hpp"
#include "../../workspace/policy.hpp"
#include "../nest/nest_run.hpp"
#include "../nest/term_bound.hpp"
#include "known_places.hpp"
#include "replace.hpp"
#include "sampled_work.hpp"

namespace sporos {

/// Adds to a workspace over all levels of the result.
template <class Traits_, class W, class T>
struct ListedOutput : EachValue<ListedOutput<Traits_, W, T>> {
  using A = typename Traits_::result;
  using F = typename A::format;

  W* workspace;

  SPOROS_INLINE explicit ListedOutput(W* gathers) : workspace(gathers) {}

  SPOROS_MAY_CALL_HOST
  template <class V, class Env>
  SPOROS_INLINE void add(const V& value, const Env& env) const {
    // Local copies: nvcc does not support static members of class type in code that may run on a device.
    constexpr auto variables = A::names, loops = Traits_::order;
    Extents<F::order> at{};
    for (int mode = 0; mode < variables.size; ++mode)
      at[static_cast<std::size_t>(mode)] = env.at[loops.find(variables[mode])];
    workspace->add(F::level_coordinates(at), static_cast<T>(value));
  }
};

/// The loop nest with a sparse result that scatters over several variables.
struct ListedNest {
  static constexpr std::string_view name = "loop nest, listed";
  static constexpr std::string_view takes =
      "sparse results in host memory that scatter over several variables, in a sparse workspace";
  static constexpr bool deterministic = true;
  static constexpr std::string_view less_memory =
      "bind the result's outer variables in the outermost loops with .reorder(...), so that less is "
      "listed, or compute it in parts";
  static constexpr bool any_schedule = true;

  template <class S>
  static constexpr bool matches =
      HostSpace<typename S::space_type> && detail::NestOf<S>::classification.kind == ResultKind::listed &&
      !std::is_same_v<typename S::schedule::workspace_policy, DensePolicy>;

  /// The policy of the workspace unless the user chooses one; it hashes.
  using DefaultPolicy = CoordinatePolicy;

  template <class S>
  static Offer cost(const S& statement, const Resources<typename S::space_type>&) {
    constexpr double seconds_of_term = 35e-9;
    return Cost{detail::sampled_work(statement).terms * seconds_of_term};
  }

  template <class S>
  static constexpr std::string_view role_at(int) {
    return "listed";
  }
  template <class S>
  static constexpr std::string_view parallel_text() {
    return "parallel: chunks of about equal nonzeros, a workspace each";
  }

  template <class S>
  class Plan;
};

template <class S>
class ListedNest::Plan {
  using Nest = detail::NestRun<S>;
  using Traits = typename Nest::Traits;
  using Compute = typename Nest::Compute;
  using Space = typename Nest::Space;
  using Value = typename Nest::Value;
  using Format = typename Nest::Format;
  static constexpr int levels = Format::levels;

  using Policy = detail::chosen_policy<S, DefaultPolicy>;
  using W = typename Policy::template workspace<Compute, levels>;
  static_assert(Workspace<W, Policy, Compute, levels>,
                "the workspace of a policy has what workspace/policy.hpp lists");
  using Sorted = InsertSortMerge<CoordinatePolicy, Compute, levels>;
  /// Whether the workspaces hold what they have gathered in order, in two arrays.
  static constexpr bool is_staged = requires(W w) { w.template stages<PackedKeys<levels>>().finish(); };

 public:
  Plan(const S& statement, const Resources<Space>&) : nest_(statement), cuts_(nest_.cuts(most_parts())) {}

  void run() {
    nest_.read_operands();
    const auto extents = Format::level_extents(result().extents());
    if (PackedKeys<levels>::fit(extents))
      gather<PackedKeys<levels>>(extents);
    else
      gather<LevelKeys<levels>>(extents);
  }

  void refill() {
    nest_.read_operands();
    if (!places_.refill(nest_)) run();
  }
  std::int64_t held_bytes() const { return places_.bytes(); }

  /// A memory limit in the settings of the workspaces that is enough for any of them.
  std::int64_t enough_limit() const {
    return detail::enough_limit<W>(policy(), Format::level_extents(result().extents()),
                                   detail::TermBound<Traits>(nest_.bounds()).of(nest_.source()));
  }

  Bytes bytes() const {
    const std::int64_t added = detail::TermBound<Traits>(nest_.bounds()).of(nest_.source());
    Bytes out;
    const StorageBound bound = storage_bound<Format, Value>(result().extents(), added);
    out.values = bound.values;
    out.result = bound.bytes;
    const auto extents = Format::level_extents(result().extents());
    const std::int64_t parts = static_cast<std::int64_t>(cuts_.size()) - 1;
    constexpr std::int64_t of_component = sizeof(Compute) + 8 * levels;
    constexpr std::int64_t copies = 3;  // what is merged, its coordinates by level, and values of the result
    out.workspace =
        parts * (W::most_bytes(policy(), extents, added) + overhead) + copies * added * of_component;
    if constexpr (!is_staged) out.workspace += parts * Sorted::most_bytes({}, extents, added);
    return out;
  }

  void explain(std::ostream& out) const {
    out << "  result: scattered over several variables, " << Policy::name << ", "
        << detail::insertion_text<S>() << "\n";
  }

 private:
  /// The number of workspaces. If the terms of a sum are in several workspaces, they are added in the order
  /// of these. So for the same bits with any number of threads, the number of workspaces must not depend on
  /// it.
  std::int64_t most_parts() const {
    constexpr std::int64_t for_any_threads = 16;
    return S::schedule::is_deterministic ? for_any_threads : nest_.space().concurrency();
  }
  /// Bytes that a part and the Builder of the result need in any case.
  static constexpr std::int64_t overhead = 1024;

  const auto& result() const { return nest_.statement().result().tensor(); }
  Policy policy() const {
    Policy out = detail::policy_of<Policy>(nest_.statement());
    if constexpr (std::is_same_v<typename S::schedule::workspace_policy, AutomaticWorkspace>)
      out.hashes = true;
    return out;
  }

  /// Runs the nest, with a workspace for each part of the outermost loop, and merges what these gather.
  template <class Keys>
  void gather(const Extents<levels>& extents) const {
    using Key = typename Keys::key_type;
    const std::size_t parts = cuts_.size() - 1;
    std::vector<std::unique_ptr<Sorted>> sorted(is_staged ? 0 : parts);
    std::vector<std::unique_ptr<W>> workspaces(parts);
    std::vector<SortedList<Key, Compute>> lists(parts);
    detail::for_each_worker(nest_.space(), static_cast<std::int64_t>(parts), [&](std::int64_t number) {
      const auto at = static_cast<std::size_t>(number);
      const auto gather_in = [&](auto& workspace) {
        nest_.run({cuts_[at], cuts_[at + 1]}, number,
                  ListedOutput<Traits, std::remove_reference_t<decltype(workspace)>, Compute>(&workspace));
      };
      const auto keep = [&](auto& stages) {
        const auto [keys, values] = stages.finish();
        lists[at] = {keys.data(), values.data(), static_cast<std::int64_t>(keys.size())};
      };
      workspaces[at] = std::make_unique<W>(policy(), extents);
      if constexpr (is_staged) {
        auto& stages = workspaces[at]->template stages<Keys>();
        gather_in(stages);
        keep(stages);
      } else {
        gather_in(*workspaces[at]);
        sorted[at] = std::make_unique<Sorted>(CoordinatePolicy{}, extents);
        auto& stages = sorted[at]->template stages<Keys>();
        workspaces[at]->drain(
            [&](const Extents<levels>& coordinate, const Compute& value) { stages.add(coordinate, value); });
        workspaces[at].reset();
        keep(stages);
      }
    });
    if (parts == 1) {
      build<Keys>(lists[0].keys, converted(lists[0].values, lists[0].count), lists[0].count);
    } else {
      auto merged =
          merge_sorted<Key, Compute>(nest_.space(), std::span<const SortedList<Key, Compute>>(lists));
      workspaces.clear();
      sorted.clear();
      if constexpr (std::is_same_v<Compute, Value>) {
        const Array<Value> values =
            Kokkos::subview(std::exchange(merged.values, {}), std::pair(std::int64_t{0}, merged.count));
        build<Keys>(merged.keys.data(), values, merged.count);
      } else {
        build<Keys>(merged.keys.data(), converted(merged.values.data(), merged.count), merged.count);
      }
    }
  }

  /// Values in an array that the result may take over.
  Array<Value> converted(const Compute* values, std::int64_t count) const {
    const auto out = make_array<Value>("sporos::Tensor values", count);
    detail::for_each_element(nest_.space(), "sporos::round", count,
                             detail::CopyValues<Compute, Value>{values, out.data()});
    nest_.space().fence("sporos::round");
    return out;
  }

  /// Builds the result from sorted components.
  template <class Keys>
  void build(const typename Keys::key_type* keys, const Array<Value>& values, std::int64_t count) const {
    const Keys of_levels(Format::level_extents(result().extents()));
    if constexpr (std::is_same_v<Keys, PackedKeys<levels>>) {
      if (of_levels.in_bits()) {
        const detail::Packing<Format> packing(detail::largest_coordinates<Format>(result().extents()));
        detail::replace_by_entries(nest_.space(), result(), packing, PackedList(keys, values, count));
        return;
      }
    }
    const detail::LevelCoordinates coordinates(levels, count);
    for (std::int64_t at = 0; at < count; ++at) {
      const Extents<levels> coordinate = of_levels.unpack(keys[at]);
      for (std::size_t k = 0; k < coordinate.size(); ++k) coordinates.of_level(k)[at] = coordinate[k];
    }
    detail::replace_by_entries(nest_.space(), result(),
                               detail::Packing<Format>(coordinates.template arrays<levels>()),
                               detail::NumberedEntries<Value>(values));
  }

  /// Sorted components, whose array of values the result may take over.
  class PackedList final : public detail::KeyedEntries<Value> {
   public:
    PackedList(const detail::Key* keys, Array<Value> values, std::int64_t count)
        : keys_(keys), values_(std::move(values)), count_(count) {}
    std::int64_t size() const override { return count_; }
    typename detail::KeyedEntries<Value>::Block read(
        std::int64_t begin, std::int64_t end, typename detail::KeyedEntries<Value>::Buffer&) const override {
      return {keys_ + begin, values_.data() + begin, end - begin};
    }
    const Array<Value>* values() const override { return &values_; }

   private:
    const detail::Key* keys_;
    Array<Value> values_;
    std::int64_t count_;
  };

  Nest nest_;
  std::vector<std::int64_t> cuts_;
  detail::KnownPlaces<S> places_;
};

}  // namespace sporos

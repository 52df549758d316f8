// SPDX-License-Identifier: Apache-2.0
/// @file estimate.hpp
/// How much memory a statement will need, told before it runs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../core/statement.hpp"
#include "run.hpp"

namespace sporos {

/// Bytes that a run of a statement takes, at most.
struct Estimate {
  std::int64_t operands = 0;   ///< of the operands, each tensor once
  std::int64_t values = 0;     ///< that the result will store, padding counted
  std::int64_t result = 0;     ///< of the result's arrays
  std::int64_t workspace = 0;  ///< of what all threads together need besides
};

namespace detail {

/// Bounds what the loops of a statement hand to the result, by running all of them but the innermost that
/// decides.
template <class Traits>
class AppendBound {
  static constexpr Classification how = Traits::classification;
  /// The loop over the last of the result's variables.
  static constexpr int innermost = how.bound_depth - 1;

 public:
  explicit AppendBound(const NestBounds<Traits::loops>& bounds) : bounds_(bounds) {}

  template <class Source>
  std::int64_t of(const Source& source) {
    std::int64_t sum = 0;
    stream::advance_into<typename Traits::order_type, 0>(begin(source), env_,
                                                         [&](const auto& e) { sum += below<0>(e); });
    return sum;
  }

 private:
  template <int Depth, class E>
  std::int64_t below(const E& e) {
    if constexpr (how.kind == ResultKind::dense_workspace && Depth == how.prefix)
      return std::min(bounds_.extent[innermost], added_below<Depth>(e));
    else
      return added_below<Depth>(e);
  }

  template <int Depth, class E>
  std::int64_t added_below(const E& e) {
    if constexpr (stream::is_absent<E>) {
      return 0;
    } else if constexpr (Depth == how.bound_depth) {
      return 1;
    } else {
      constexpr char variable = Traits::order[Depth];
      constexpr bool mentions = stream::mentions<E>(variable);
      constexpr bool reduced = !Traits::is_result_variable(Depth);
      const std::int64_t extent = bounds_.extent[Depth];
      if constexpr (!mentions) {
        return (reduced ? 1 : extent) * below<Depth + 1>(e);
      } else if constexpr (reduced && stream::is_add<E>) {
        return added_below<Depth>(e.left) + added_below<Depth>(e.right);
      } else if constexpr (Depth == innermost) {
        return stream::open<variable>(e, extent).most(extent);
      } else {
        std::int64_t sum = 0;
        stream::for_each<false, false>(
            stream::open<variable>(e, extent), Bounds{0, extent}, [&](std::int64_t c, const auto& at) {
              if constexpr (!stream::is_absent<std::remove_cvref_t<decltype(at)>>) {
                env_.at[Depth] = c;
                stream::advance_into<typename Traits::order_type, Depth + 1>(
                    at, env_, [&](const auto& advanced) { sum += below<Depth + 1>(advanced); });
              }
            });
        return sum;
      }
    }
  }

  const NestBounds<Traits::loops>& bounds_;
  stream::Coordinates<Traits::loops> env_{};
};

/// Bytes of a tensor's arrays where it stores `count` elements at most; `values` becomes what it stores then.
template <class T>
std::int64_t bytes_for(const T& tensor, std::int64_t count, std::int64_t& values) {
  using F = typename T::format_type;
  const auto extents = F::level_extents(tensor.extents());
  std::int64_t bytes = 0;
  std::int64_t parents = 1;
  // The coordinates above a level are no more than the elements, nor than there can be.
  const auto take = [&]<int K>(std::integral_constant<int, K>) {
    using Level = typename F::template level<K>;
    const double most = static_cast<double>(parents) * static_cast<double>(extents[K]);
    if constexpr (Level::properties.full) {
      parents = checked_product(parents, extents[K], "the positions of a result");
    } else {
      if constexpr (!Level::properties.branchless)
        bytes += (parents + 1) * static_cast<std::int64_t>(sizeof(typename Level::position_type));
      parents = most < static_cast<double>(count) ? static_cast<std::int64_t>(most) : count;
      bytes += parents * static_cast<std::int64_t>(sizeof(typename Level::coordinate_type));
    }
  };
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    (take(std::integral_constant<int, static_cast<int>(K)>{}), ...);
  }(std::make_index_sequence<static_cast<std::size_t>(F::levels)>{});
  values = parents;
  return bytes + values * static_cast<std::int64_t>(sizeof(typename T::value_type));
}

}  // namespace detail

/// What a run of the statement will take; nothing is run, and nothing changed.
///
/// For a dense result exact. For a sparse one a bound: of the coordinates at which terms are added, each
/// counted as one of its own, and no more in a row than the row has; a union of patterns counts both.
///
/// @throws ShapeError where an index variable would run over two extents
/// Cost: the statement's loops without the innermost one that reaches a new element of a sparse result; for
/// A(i, j) = B(i, k) * C(k, j) by rows that is one look at each nonzero of B.
template <class Result, class Right, class Order, class How>
Estimate estimate(const Statement<Result, Right, Order, How>& statement) {
  using S = Statement<Result, Right, Order, How>;
  using RunType = detail::Run<S>;
  using Traits = typename RunType::Traits;
  using Compute = typename RunType::Compute;
  using Space = typename RunType::Space;
  require_readable_operands<Right, Order>();
  static_assert(HostSpace<Space> || RunType::Format::is_dense,
                "the size of a sparse result is estimated on the host: move the operands there first");
  expect_kokkos();
  const RunType run(statement);
  const auto& result = statement.result().tensor();
  constexpr ResultKind kind = RunType::how.kind;
  const auto bytes_of = [](std::int64_t count, std::size_t each) {
    return count * static_cast<std::int64_t>(each);
  };

  Estimate out;
  std::vector<const void*> seen;
  for_each_access(statement.right(), [&](const auto& access) {
    if (std::find(seen.begin(), seen.end(), access.tensor().identity()) != seen.end()) return;
    seen.push_back(access.tensor().identity());
    out.operands += access.tensor().bytes();
  });
  if constexpr (kind == ResultKind::located) {
    out.values = result.nnz();
    out.result = result.bytes();
    out.workspace = bytes_of(run.private_values(), sizeof(Compute));
  } else {
    const std::int64_t added = detail::AppendBound<Traits>(run.bounds()).of(run.source());
    out.result = detail::bytes_for(result, added, out.values);
    if constexpr (kind == ResultKind::dense_workspace)
      out.workspace = Space().concurrency() *
                      DenseWorkspace<Compute>::bytes_over(run.bounds().extent[RunType::how.bound_depth - 1]);
    if constexpr (kind == ResultKind::coordinate_workspace)  // a list by chunks, and all of it for assembling
      out.workspace = 2 * bytes_of(added, sizeof(Compute) + 8 * RunType::Format::order);
  }
  return out;
}

}  // namespace sporos

// SPDX-License-Identifier: Apache-2.0
/// @file sampled_work.hpp
/// How many values a statement's loops give to a scattered result, counted in a sample of the outermost loop:
/// the basis for choosing among workspaces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../nest/bounds.hpp"
#include "../nest/nest_run.hpp"
#include "../nest/term_bound.hpp"
#include "../nest/work.hpp"

namespace sporos::detail {

/// The expected work of a statement's loops.
struct ExpectedWork {
  double begun = 0;  ///< how often the innermost loop over the result's variables begins
  double runs = 0;   ///< how often it finds a value
  double terms = 0;  ///< how many values it finds in all
  /// How often the loops that the result's order shares with the loops' have values below: where a result is
  /// gathered inside them, how often its workspace is drained.
  double blocks = 0;
};

/// The number of coordinates of the loops that the result's order shares with the loops'.
template <class S>
double most_blocks(const S& statement) {
  const auto bounds = bounds_of(statement);
  double all = 1;
  for (int loop = 0; loop < NestOf<S>::classification.prefix; ++loop)
    all *= static_cast<double>(bounds.extent[loop]);
  return all;
}

/// Counts the work of a few coordinates of the outermost loop, spread over its nonzeros, and scales it up. An
/// estimate from sizes alone (expected_terms) assumes that coordinates of different operands are independent
/// of one another, which those of real tensors are not.
///
/// A sample does not pay for few nonzeros, or if the outermost loop cannot be cut: then sizes alone are used.
/// Cost: about a hundredth of the loops, without reading values, unless few coordinates of the outermost
/// variable have most of the work.
template <class S>
ExpectedWork sampled_work(const S& statement) {
  using Nest = NestRun<S>;
  constexpr std::int64_t least_nonzeros = 20'000;  // fewer are multiplied within the time of a sample
  constexpr std::int64_t parts = 8;                // number of parts of the outermost loop, with equal
                                                   // numbers of nonzeros
  constexpr std::int64_t share = 64;               // one in this many coordinates of a part is sampled
  constexpr int innermost = Nest::classification.bound_depth - 1;
  const double expected = expected_runs<innermost>(statement);
  const double terms = expected_terms(statement);
  const ExpectedWork by_sizes{expected, expected, terms, std::min(most_blocks(statement), terms)};
  if constexpr (!Nest::splittable) {
    return by_sizes;
  } else {
    std::int64_t nonzeros = 0;
    for_each_access(statement.right(), [&](const auto& access) {
      using Operand = std::remove_cvref_t<decltype(access)>;
      if constexpr (!Operand::format::is_dense) nonzeros += access.tensor().nnz();
    });
    const Nest nest(statement);
    if (nonzeros < least_nonzeros || nest.bounds().outermost.end < parts * share) return by_sizes;
    const auto cuts = nest.cuts(parts);
    ExpectedWork sum{1, 1, 1, 1};  // at least: a sample may miss what is rare
    for (std::size_t part = 0; part + 1 < cuts.size(); ++part) {
      const std::int64_t coordinates = cuts[part + 1] - cuts[part];
      if (coordinates == 0) continue;
      const std::int64_t sampled = std::max<std::int64_t>(1, coordinates / share);
      const std::int64_t begin = cuts[part] + (coordinates - sampled) / 2;
      auto bounds = nest.bounds();
      bounds.outermost = {begin, begin + sampled};
      bounds.first_chunk = part == 0;
      TermBound<typename Nest::Traits, Innermost::counted> count(bounds);
      const double scale = static_cast<double>(coordinates) / static_cast<double>(sampled);
      sum.terms += scale * static_cast<double>(count.of(nest.source()));
      sum.begun += scale * static_cast<double>(count.begun());
      sum.runs += scale * static_cast<double>(count.runs());
      sum.blocks += scale * static_cast<double>(count.blocks());
    }
    return sum;
  }
}

}  // namespace sporos::detail

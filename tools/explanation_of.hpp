// SPDX-License-Identifier: Apache-2.0
/// @file explanation_of.hpp
/// The templates that implement explanations.hpp: statements as a user would write them, and their runs.
#pragma once

#include <sporos/core/index.hpp>
#include <sporos/core/statement.hpp>
#include <sporos/formats/named.hpp>
#include <sporos/kernels/statement/explain.hpp>
#include <sporos/kernels/statement/plan.hpp>
#include <type_traits>
#include <utility>

#include "assembled.hpp"
#include "explanations.hpp"

namespace sporos::tool {

template <class F>
Tensor<double, F> first_operand(const StatementOperands& operands) {
  return assembled<F>(std::get<Entries<double, F::order>>(operands.A));
}
template <class F>
Tensor<double, F> second_operand(const StatementOperands& operands) {
  return assembled<F>(std::get<Entries<double, F::order>>(operands.B));
}

/// A dense factor with values in (0, 1]; a product takes the same time as with random ones.
template <class F = DenseMatrix<>>
Tensor<double, F> factor(const Extents<F::order>& extents) {
  Tensor<double, F> out(extents);
  for (std::size_t q = 0; q < out.values().extent(0); ++q)
    out.values()(q) = 1.0 / static_cast<double>(1 + q % 17);
  return out;
}

template <class S>
StatementRuns runs_of(const S& statement, double seconds) {
  StatementRuns out;
  if constexpr (S::result_type::format::is_dense) {
    auto product = plan(statement);
    out.kernel = product.candidate();
    out.times = times_within(seconds, [&] { product.run(); });
  } else {
    out.kernel =
        with_candidate<std::string>(statement, Use::once, []<class K>() { return std::string(K::name); });
    out.times = times_within(seconds, [&] { statement.run(); });
  }
  out.bytes = statement.result().tensor().bytes();
  out.result_values = statement.result().tensor().nnz();
  for_each_access(statement.right(), [&](const auto& access) { out.bytes += access.tensor().bytes(); });
  return out;
}

template <class S>
std::vector<CandidateRuns> runs_by_candidates(const S& statement, int repeats) {
  std::vector<CandidateRuns> out;
  const auto measure = [&]<class K>(std::type_identity<K>) {
    CandidateRuns& one = out.emplace_back();
    one.kernel = K::name;
    const Offer offer = sporos::detail::offer_of<K>(statement);
    if (!offer.takes()) {
      one.reason = offer.reason();
      return;
    }
    one.expected_seconds = offer.cost().once;
    one.times = times_of(repeats, [&] {
      typename K::template Plan<S> plan(statement, statement.resources());
      plan.run();
    });
  };
  [&]<class... K>(TypeList<K...>) { (measure(std::type_identity<K>{}), ...); }(CandidatesOf<S>{});
  return out;
}

/// The explanation of the statement that `make` builds from operands.
template <class Make>
Explanation explanation_of(const char* name, const char* format, int order, Make make) {
  return {
      name,
      format,
      order,
      [make](const StatementOperands& operands) { return explain(make(operands)); },
      [make](const StatementOperands& operands, double seconds) { return runs_of(make(operands), seconds); },
      [make](const StatementOperands& operands, int repeats) {
        return runs_by_candidates(make(operands), repeats);
      }};
}

}  // namespace sporos::tool

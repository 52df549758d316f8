// SPDX-License-Identifier: Apache-2.0
/// @file precomputed.hpp
/// Statements of which a part is computed first are run, estimated, planned and explained as the two
/// statements that they consist of.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../core/precompute.hpp"
#include "../../core/statement.hpp"
#include "../nest/bounds.hpp"
#include "../protocol/demands.hpp"
#include "estimate.hpp"
#include "explain.hpp"
#include "plan.hpp"
#include "run.hpp"

namespace sporos {

namespace detail {

/// The tensor that takes the part of a precomputed statement.
template <class Producer>
using PartTensor = typename Producer::result_type::tensor_type;
/// Whether it gets arrays of its own when the part is computed, in a pattern that is known only then.
template <class Producer>
inline constexpr bool makes_part = !Producer::result_type::format::is_dense;

/// The statement that reads the part, within what is left of the memory bound beside the part.
template <class Consumer, class Producer>
Consumer beside_part(const Precomputed<Consumer, Producer>& both) {
  const Consumer& consumer = both.consumer();
  if constexpr (makes_part<Producer>)
    return consumer.on(besides(consumer.resources(), both.producer().result().tensor().bytes()));
  else
    return consumer;
}

/// The statement that reads the part as it will run: where the part has a pattern of its own, that is
/// computed, into another tensor.
template <class Consumer, class Producer>
Consumer as_it_will_run(const Precomputed<Consumer, Producer>& both) {
  const Consumer& consumer = both.consumer();
  const Producer& producer = both.producer();
  using T = PartTensor<Producer>;
  if constexpr (makes_part<Producer> && !is_distributed_v<T>) {
    const T& part = producer.result().tensor();
    const T computed(part.extents());
    run(Producer(typename Producer::result_type(computed), producer.right(), producer.options(), false,
                 producer.resources()));
    return Consumer(consumer.result(), with_tensor(consumer.right(), part.identity(), computed),
                    consumer.options(), consumer.accumulates(), consumer.resources());
  } else {
    return consumer;
  }
}

/// The bytes of the operands of both statements, but for the part, each tensor counted once.
template <class Consumer, class Producer>
std::int64_t operand_bytes_of(const Precomputed<Consumer, Producer>& both) {
  const auto of_part = views_of(both.producer().right());
  const auto of_rest = views_of(both.consumer().right());
  std::vector<AccessView> operands(of_part.begin(), of_part.end());
  const void* const part = both.producer().result().tensor().identity();
  for (const AccessView& operand : of_rest)
    if (operand.identity() != part) operands.push_back(operand);
  return operand_bytes(std::span<const AccessView>(operands));
}

/// What both statements allocate: the part, while the second one runs, and the larger of the two workspaces.
template <class Producer>
Estimate estimate_of(const Estimate& part, const Estimate& rest, std::int64_t operands) {
  Estimate out = rest;
  out.workspace = std::max(part.workspace, rest.workspace) + (makes_part<Producer> ? part.result : 0);
  out.messages = part.messages + rest.messages;
  out.sent = part.sent + rest.sent;
  out.operands = operands;
  return out;
}

}  // namespace detail

template <class Consumer, class Producer>
void run(const Precomputed<Consumer, Producer>& both) {
  run(both.producer());
  run(detail::beside_part(both));
}

/// An upper bound on what a run of both statements allocates: the tensor of the part, if it is sparse, counts
/// as workspace, next to the larger one of the workspaces of the two. Nothing is changed.
///
/// Cost: that of both estimates. If the tensor of the part is sparse, the part is computed, into a tensor
/// that is then discarded, since the pattern of the part tells what the second statement takes; a distributed
/// one is taken to have the pattern that it has now.
/// @throws what a run of the part throws, MemoryError among it if the part exceeds the memory bound; besides
/// what `estimate` of a statement does
template <class Consumer, class Producer>
Estimate estimate(const Precomputed<Consumer, Producer>& both) {
  const Estimate part = estimate(both.producer());
  return detail::estimate_of<Producer>(part, estimate(detail::as_it_will_run(both)),
                                       detail::operand_bytes_of(both));
}

/// The plans of a statement and of a part that is computed first; see Plan. The tensor of the part is kept.
///
///     const auto part = B(i, k) * C(k, j);
///     auto both = plan(assign(A(i, j), D(i, j) * part).precompute(part, W(i, j)));
///     both.run();              // W and A have their patterns and values
///     B.values()(0) = 3;
///     both.run();              // the new values of both
///
/// If the tensor of the part is sparse, the second statement is planned once the first run has made the
/// part's pattern; and at each run, if values of operands decide that pattern.
template <class Consumer, class Producer>
class PrecomputedPlan {
 public:
  /// Analyses the statements and changes nothing.
  /// @throws what Plan throws
  explicit PrecomputedPlan(Precomputed<Consumer, Producer> both)
      : both_(std::move(both)), part_(both_.producer()) {
    if constexpr (!Consumer::result_type::format::is_dense) {
      auto tensors = detail::views_of_tensors(both_.producer());
      tensors[0] = detail::AccessView(both_.consumer().result());
      detail::expect_other_tensors(both_, tensors);
    }
    if constexpr (!detail::makes_part<Producer>)
      rest_.emplace(both_.consumer());
    else if constexpr (!is_distributed_statement<Consumer>)
      bounds_of(both_.consumer());  // throws ShapeError if extents do not match
  }

  /// Computes the part and the result from the current values of the operands.
  /// @throws ScheduleError if a tensor of the statements has a different pattern now; with nothing changed,
  /// if it is an operand
  void run() {
    if (rest_ && !part_.makes_pattern_anew()) rest_->expect_patterns();
    part_.run();
    if (!rest_ || part_.makes_pattern_anew()) {
      rest_.reset();
      rest_.emplace(detail::beside_part(both_));
    }
    rest_->run();
  }

  const Precomputed<Consumer, Producer>& statement() const { return both_; }
  /// The name of the candidate that computes the part, and of the one that computes the result.
  std::string candidate() const {
    return std::string(part_.candidate()) + ", then " +
           (rest_ ? std::string(rest_->candidate()) : "not yet known");
  }
  /// Bytes that the plans hold in addition to the tensors.
  std::int64_t bytes() const { return part_.bytes() + (rest_ ? rest_->bytes() : 0); }
  /// The seconds that it took to make the plans.
  double seconds() const { return part_.seconds() + (rest_ ? rest_->seconds() : 0); }

  /// An upper bound on what the first run allocates; its cost is that of `estimate` of both statements.
  Estimate estimate() const { return sporos::estimate(both_); }

  /// Prints what the plans do.
  void explain(std::ostream& out) const {
    part_.explain(out);
    if (rest_) rest_->explain(out);
  }

 private:
  Precomputed<Consumer, Producer> both_;
  Plan<Producer> part_;
  std::optional<Plan<Consumer>> rest_;
};

/// Analyses both statements, so that they can be run again whenever their operands' values change; see
/// PrecomputedPlan.
template <class Consumer, class Producer>
auto plan(const Precomputed<Consumer, Producer>& both) {
  return PrecomputedPlan<Consumer, Producer>(both);
}

/// What both statements will do, in words, the part first.
///
/// If the tensor of the part is sparse, the part is computed into a tensor that is then discarded, as
/// `estimate` does; nothing is changed.
/// @throws what a run of the part throws, besides what `explain` of either statement does
template <class Consumer, class Producer>
std::string explain(const Precomputed<Consumer, Producer>& both) {
  return both.str() + "\n\nThe part, which is computed first:\n\n" + explain(both.producer()) +
         "\nThe statement that reads it:\n\n" + explain(detail::as_it_will_run(both));
}

/// "A(i, j) = D(i, j) * W(i, j) where W(i, j) = B(i, k) * C(k, j)"
template <class Consumer, class Producer>
std::ostream& operator<<(std::ostream& out, const Precomputed<Consumer, Producer>& both) {
  return out << both.str();
}

}  // namespace sporos

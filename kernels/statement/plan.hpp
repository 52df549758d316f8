// SPDX-License-Identifier: Apache-2.0
/// @file plan.hpp
/// Plans: what of a statement depends on patterns alone is done once, and run again with new values.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/statement.hpp"
#include "../../formats/pattern.hpp"
#include "../results/refill.hpp"
#include "run.hpp"

namespace sporos {

/// A statement whose symbolic part is done: the pattern of a sparse result, where each of its values comes to
/// stand, and the buffers. `run()` computes the values anew, as often as the operands' values change.
///
///     auto product = plan(assign(A(i, j), B(i, k) * C(k, j)));   // A has its pattern now, and its values
///     B.values()(0) = 3;
///     product.run();                                             // A has the new values
///
/// Patterns stay what they were when the plan was made. Operands may be given other arrays that hold the same
/// pattern; coordinates that are changed in place, in arrays that a tensor keeps, are not noticed.
template <class S>
class Plan {
 public:
  using Result = typename S::result_type;
  using Right = typename S::right_type;
  using Tensor = typename Result::tensor_type;

  /// Runs the statement.
  /// @throws ScheduleError where a sparse result is one of the operands, and what the statement throws
  explicit Plan(const S& statement) : statement_(statement), refill_(made(statement)) { keep_patterns(); }

  /// Computes the result's values from the operands' present ones.
  /// @throws ScheduleError, with nothing changed, where a tensor of the statement has another pattern now
  void run() {
    check_patterns();
    refill_.run(statement_);
  }

  const S& statement() const { return statement_; }

  /// Bytes that the plan holds besides the tensors.
  std::int64_t bytes() const { return refill_.bytes(); }

 private:
  static detail::Refill<S> made(const S& statement) {
    if constexpr (!Tensor::format_type::is_dense)
      for_each_access(statement.right(), [&](const auto& access) {
        if (access.tensor().identity() == statement.result().tensor().identity())
          throw ScheduleError(text(statement.str(),
                                   ": the sparse result of a plan is one of its operands, whose pattern it "
                                   "would change: write to a tensor of its own"));
      });
    sporos::run(statement);
    return detail::Refill<S>(statement);
  }

  /// A tensor of the statement with the pattern that it had.
  struct Kept {
    std::string which;  ///< "operand C"
    std::function<bool()> is_same;
  };
  template <class T>
  void keep(std::string which, const T& tensor) {
    kept_.push_back(
        {std::move(which), [tensor, pattern = detail::Pattern<T>(tensor)] { return pattern.is_of(tensor); }});
  }
  void keep_patterns() {
    TensorLetters letters;
    const auto& result = statement_.result().tensor();
    keep(text("the result ", letters.of(result)), result);
    for_each_access(statement_.right(), [&](const auto& access) {
      keep(text("operand ", letters.of(access.tensor())), access.tensor());
    });
  }
  void check_patterns() const {
    for (const Kept& kept : kept_)
      if (!kept.is_same())
        throw ScheduleError(text("the plan of ", statement_.str(), " was made for another pattern of ",
                                 kept.which, ": make a new one with plan(...)"));
  }

  S statement_;
  detail::Refill<S> refill_;
  std::vector<Kept> kept_;
};

/// Does a statement's symbolic part, and runs it a first time; see Plan.
template <class Result, class Right, class Order, class How>
auto plan(const Statement<Result, Right, Order, How>& statement) {
  return Plan<Statement<Result, Right, Order, How>>(statement);
}

}  // namespace sporos

// SPDX-License-Identifier: Apache-2.0
/// @file statement.hpp
/// Statement: an assignment in index notation and how it is to be run, as an object.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "expression.hpp"
#include "loops.hpp"
#include "schedule.hpp"
#include "sum.hpp"

namespace sporos {

template <class Result, class Right, class Order, class How = Schedule<>>
class Statement;

/// Runs a statement in the space of its result (kernels/statement/run.hpp).
template <class Result, class Right, class Order, class How>
void run(const Statement<Result, Right, Order, How>& statement);

/// `Result = Right` with the loops in `Order` (outermost first). Nothing has run until `run()`.
template <class Result, class Right, class Order, class How>
class Statement {
 public:
  using result_type = Result;
  using right_type = Right;
  using order = Order;  ///< LoopOrder<…>, outermost first
  using schedule = How;

  Statement(Result result, Right right, bool accumulates = false)
      : result_(std::move(result)), right_(std::move(right)), accumulates_(accumulates) {}

  const Result& result() const { return result_; }
  const Right& right() const { return right_; }

  /// The same statement with its loops in the given order, outermost first; every variable stands in it once.
  /// An order in which an operand cannot be read does not compile, and the message says which operand and the
  /// cure.
  template <char... Names>
  auto reorder(Index<Names>...) const {
    constexpr NameList given = NameList::of(Names...);
    static_assert(detail::same_names(given, statement_variables<Result, Right>()),
                  "reorder(...) takes every index variable of the statement, each once");
    return Statement<Result, Right, LoopOrder<Names...>, How>(result_, right_, accumulates_);
  }

  /// The same statement, added to what a dense result holds: `y(i) += A(i, j) * x(j)`.
  Statement accumulate() const {
    static_assert(Result::format::is_dense,
                  "only dense results are added to in place: write A(i, j) = A(i, j) + ...");
    return Statement(result_, right_, true);
  }
  bool accumulates() const { return accumulates_; }

  /// The same statement, run by the loop nest even where a specialised kernel could take its place.
  auto generic() const { return with<typename How::as_generic>(); }

  /// The same statement, bit by bit the same result for any number of threads, and on a device for any order
  /// in which its threads run. What scatters into a dense result is then summed in fixed parts.
  auto deterministic() const { return with<typename How::as_deterministic>(); }

  /// The same statement with other operations for + and *: `.over(MinPlus{})`, `.over(Semiring<Max, Min>{})`.
  /// What is not stored, in the operands and in a sparse result, is the neutral element of the semiring's
  /// addition; a dense result holds it where nothing was added.
  template <class Add, class Multiply>
  auto over(Semiring<Add, Multiply>) const {
    return with<typename How::template over<Semiring<Add, Multiply>>>();
  }

  /// The same statement with a scattered sparse result gathered in `dense_workspace` or
  /// `coordinate_workspace`, and not where the engine would.
  template <WorkspaceChoice Choice>
  auto workspace(WorkspaceConstant<Choice>) const {
    return with<typename How::template gathered_in<Choice>>();
  }

  /// Runs the statement: the result's old values, and for a sparse result its old pattern, are replaced.
  void run() const { sporos::run(*this); }

  /// "A(i, j) = B(i, k) * C(k, j)"
  std::string str() const {
    TensorLetters letters;
    Notation notation(letters);
    const std::string left = notation.of(result_) + (accumulates_ ? " += " : " = ");
    return left + notation.of(right_);
  }

 private:
  template <class Other>
  auto with() const {
    return Statement<Result, Right, Order, Other>(result_, right_, accumulates_);
  }

  Result result_;
  Right right_;
  bool accumulates_;
};

/// The statement `result = right` as an object, its loop order derived from the operands' formats.
template <class TensorType, char... Names, class E>
  requires Expression<E> || ScalarValue<E>
auto assign(const Access<TensorType, Names...>& result, const E& right) {
  using Result = Access<TensorType, Names...>;
  using Given = decltype(as_expression(right));
  static_assert(detail::sums_own_their_variables<Given>(),
                "the variable of an explicit sum stands in that sum alone: give it a letter of its own");
  auto expression = detail::without_loop_sums<detail::SumPlace::term>(as_expression(right));
  using Right = decltype(expression);
  static_assert(!(detail::summed_names<Right>().contains(Names) || ...),
                "the variable of an explicit sum stands in the result: what is summed over is gone");
  return Statement<Result, Right, derived_order<Result, Right>>(result, std::move(expression));
}

}  // namespace sporos

// SPDX-License-Identifier: Apache-2.0
/// @file statement.hpp
/// Statement: an assignment in index notation, and how it is run, as an object.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "expression.hpp"
#include "loop_order.hpp"
#include "map.hpp"
#include "resources.hpp"
#include "schedule.hpp"
#include "sum.hpp"

namespace sporos {

template <class Result, class Right, class Order, class Options = Schedule<>>
class Statement;

/// Runs a statement with its resources (kernels/statement/run.hpp).
template <class Result, class Right, class Order, class Options>
void run(const Statement<Result, Right, Order, Options>& statement);

/// `Result = Right` with the loops in `Order`, outermost first. Nothing is computed before `run()`.
template <class Result, class Right, class Order, class Options>
class Statement {
 public:
  using result_type = Result;
  using right_type = Right;
  using order = Order;  ///< LoopOrder<…>, outermost first
  using schedule = Options;
  using space_type = typename Result::tensor_type::space_type;

  Statement(Result result, Right right, Options options = {}, bool accumulates = false,
            Resources<space_type> resources = {})
      : result_(std::move(result)),
        right_(std::move(right)),
        options_(std::move(options)),
        resources_(std::move(resources)),
        accumulates_(accumulates) {}

  const Result& result() const { return result_; }
  const Right& right() const { return right_; }
  const Options& options() const { return options_; }
  const Resources<space_type>& resources() const { return resources_; }

  /// The same statement with its loops in the given order, outermost first, which names every variable
  /// exactly once. An order in which an operand cannot be read is a compile-time error that names the operand
  /// and the remedy.
  template <char... Names>
  auto reorder(Index<Names>...) const {
    constexpr NameList given = NameList::of(Names...);
    constexpr bool valid = detail::same_names(given, statement_variables<Result, Right>());
    static_assert(valid, "reorder(...) takes every index variable of the statement, each once");
    using Reordered = std::conditional_t<valid, loops_over<Names...>, Order>;
    return Statement<Result, Right, Reordered, Options>(result_, right_, options_, accumulates_, resources_);
  }

  /// The same statement, adding to the values of a dense result: `y(i) += A(i, j) * x(j)`.
  Statement accumulate() const {
    static_assert(Result::format::is_dense,
                  "only dense results are added to in place: write A(i, j) = A(i, j) + ...");
    return Statement(result_, right_, options_, true, resources_);
  }
  bool accumulates() const { return accumulates_; }

  /// The same statement on a space instance (a CUDA stream, say), within a memory bound: core/resources.hpp.
  Statement on(const Resources<space_type>& resources) const {
    return Statement(result_, right_, options_, accumulates_, resources);
  }

  /// The same statement, run by the loop nest even if a specialised kernel could run it.
  auto generic() const { return with(option::RunBy<option::Choice::nest>{}); }

  /// The same statement, run by the given candidate (kernels/statement/candidate.hpp) and no other. Running
  /// it throws ScheduleError, with the reason, if the candidate declines the statement.
  template <class Candidate>
  auto use() const {
    return with(option::RunBy<option::Choice::one, Candidate>{});
  }

  /// The same statement with a reproducible result: bitwise the same for any number of threads and, on a
  /// device, in whatever order its threads run. Sums that scatter into a dense result are then formed in
  /// fixed parts.
  auto deterministic() const { return with(option::Deterministic<true>{}); }

  /// The same statement with other operations for + and *: `.over(MinPlus{})`, `.over(Semiring<Max, Min>{})`.
  /// A value that is not stored, in an operand or in a sparse result, is the neutral element of the
  /// semiring's addition; so is a value of a dense result to which nothing is added.
  template <class Add, class Multiply>
  auto over(Semiring<Add, Multiply>) const {
    return with(option::Over<Semiring<Add, Multiply>>{});
  }

  /// The same statement with the workspace of the user's choice for a scattered sparse result:
  /// `dense_workspace`, `coordinate_workspace`, `hash_workspace`, or any WorkspacePolicy
  /// (workspace/policy.hpp).
  template <class Policy>
  auto workspace(const Policy& policy) const {
    return with(option::GatheredIn<Policy>{policy});
  }

  /// Runs the statement. It replaces the result's values and, if the result is sparse, its pattern.
  /// @throws ShapeError if extents do not match; RangeError if the result's index type is too narrow;
  /// MemoryError if memory cannot be allocated or the bound of the resources is exceeded; ScheduleError if
  /// the candidate chosen with use() declines the statement
  void run() const { sporos::run(*this); }

  /// "A(i, j) = B(i, k) * C(k, j)"
  std::string str() const {
    TensorLetters letters;
    Notation notation(letters);
    const std::string left = notation.of(result_) + (accumulates_ ? " += " : " = ");
    return left + notation.of(right_);
  }

 private:
  template <class Option>
  auto with(const Option& option) const {
    auto options = options_.with(option);
    return Statement<Result, Right, Order, decltype(options)>(result_, right_, options, accumulates_,
                                                              resources_);
  }

  Result result_;
  Right right_;
  [[no_unique_address]] Options options_;
  Resources<space_type> resources_;
  bool accumulates_;
};

/// The statement `result = right` as an object, its loop order derived from the operands' formats.
template <class TensorType, char... Names, class E>
  requires Expression<E> || ScalarValue<E>
auto assign(const Access<TensorType, Names...>& result, const E& right) {
  using Result = Access<TensorType, Names...>;
  using Given = decltype(as_expression(right));
  static_assert(detail::sums_own_their_variables<Given>(),
                "the variable of an explicit sum stands in that sum alone: use another letter elsewhere");
  auto expression = detail::without_loop_sums<detail::SumPlace::term>(as_expression(right));
  using Right = decltype(expression);
  static_assert(!(detail::summed_names<Right>().contains(Names) || ...),
                "the variable of an explicit sum cannot be used in the result: it is summed over");
  return Statement<Result, Right, derived_order<Result, Right>>(result, std::move(expression));
}

}  // namespace sporos

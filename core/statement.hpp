// SPDX-License-Identifier: Apache-2.0
/// @file statement.hpp
/// Statement: an assignment in index notation, and how it is run, as an object.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "access_view.hpp"
#include "activations.hpp"
#include "elementwise.hpp"
#include "expression.hpp"
#include "loop_order.hpp"
#include "map.hpp"
#include "mask.hpp"
#include "operands.hpp"
#include "precompute.hpp"
#include "resources.hpp"
#include "schedule.hpp"
#include "sum.hpp"
#include "without_indices.hpp"

namespace sporos {

template <class Result, class Right, class Order, class Options = Schedule<>>
class Statement;

namespace detail {

template <class A, class... Accesses>
constexpr bool is_one_of(TypeList<Accesses...>) {
  return (std::is_same_v<A, Accesses> || ...);
}

template <class... Accesses>
constexpr bool any_is_distributed(TypeList<Accesses...>) {
  return (is_distributed_v<typename Accesses::tensor_type> || ...);
}

/// Whether the variables are consecutive levels of an operand, all of them ordered.
template <class A>
constexpr bool are_levels_of(const NameList& variables) {
  if (A::format::is_blocked) return false;
  const int first = A::level_names.find(variables[0]);
  for (int at = 0; at < variables.size; ++at) {
    if (first + at >= A::level_names.size || A::level_names[first + at] != variables[at]) return false;
    if (!A::format::properties[static_cast<std::size_t>(first + at)].ordered) return false;
  }
  return true;
}

/// Whether the levels above those of some variables are bound by loops outside theirs.
template <class A>
constexpr bool levels_above_are_bound(const NameList& variables, const NameList& order) {
  for (int level = 0; level < A::level_names.find(variables[0]); ++level)
    if (order.find(A::level_names[level]) > order.find(variables[0])) return false;
  return true;
}

template <class A, class... Operands>
constexpr std::tuple<const Operands*..., const A*> appended(std::tuple<const Operands*...>) {
  return {};
}

}  // namespace detail

/// Runs a statement with its resources (kernels/statement/run.hpp).
template <class Result, class Right, class Order, class Options>
void run(const Statement<Result, Right, Order, Options>& statement);

/// `Result = Right` with the loops in `Order`, outermost first. Nothing is computed before `run()`.
template <class Result, class Right, class Order, class Options>
class Statement {
 public:
  using result_type = Result;
  using right_type = Right;
  using order = Order;  ///< `LoopOrder<…>`, outermost first
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

  /// The same statement with its loops in the given order, outermost first, which names every loop exactly
  /// once. An order in which an operand cannot be read is a compile-time error that names the operand and the
  /// remedy.
  template <char... Names>
  auto reorder(Index<Names>...) const {
    constexpr NameList given = NameList::of(Names...);
    if constexpr (Options::loops::are_plain) {
      constexpr bool valid = detail::same_names(given, statement_variables<Result, Right>());
      static_assert(valid, "reorder(...) takes every index variable of the statement, each once");
      using Reordered = std::conditional_t<valid, loops_over<Names...>, Order>;
      return Statement<Result, Right, Reordered, Options>(result_, right_, options_, accumulates_,
                                                          resources_);
    } else {
      static_assert(detail::same_names(given, loops().current),
                    "reorder(...) takes every loop of the statement as split, fuse and pos have left them, "
                    "each once");
      constexpr LoopSchedule reordered = [] {
        LoopSchedule out = loops();
        out.current = NameList::of(Names...);
        return out;
      }();
      static_assert(reordered.is_nested(),
                    "the outer loop of a split runs over strips, and the inner one within a strip: name the "
                    "outer one first");
      static_assert(reordered.parallel == ' ' || reordered.parallel == reordered.current[0],
                    "threads share the outermost loop, and parallelize(...) has named another: reorder the "
                    "loops first");
      return with_loops<reordered>(operands_of_loops(), sizes_of_loops());
    }
  }

  /// The same statement with the loop over `from` cut into strips of `size` coordinates: `outer` runs over
  /// the strips, and `inner`, right inside it, over the coordinates of a strip. `reorder` then moves loops in
  /// between: `.split(j, j0, j1, 64).reorder(j0, i, k, j1)` computes 64 columns at a time. Strips begin at
  /// multiples of `size`; those with other loops in between are visited even where nothing is stored.
  /// @throws ScheduleError if size is not positive
  template <char From, char Outer, char Inner>
  auto split(Index<From>, Index<Outer>, Index<Inner>, std::int64_t size) const {
    expect_loop<From>();
    expect_new<Outer>();
    expect_new<Inner>();
    static_assert(Outer != Inner, "the two loops of a split have different names");
    static_assert(
        loops().can_be_split(From),
        "fused loops of which one runs over strips are not split: split them before they are fused");
    if (size < 1)
      throw ScheduleError(text(str(), ": split(", From, ", ", Outer, ", ", Inner, ", ", size,
                               "): a strip has at least one coordinate"));
    constexpr LoopSchedule split = loops().with({LoopRelation::Kind::split, From, ' ', Outer, Inner});
    auto sizes = sizes_of_loops();
    sizes[static_cast<std::size_t>(loops().count)] = size;
    return with_loops<split>(operands_of_loops(), sizes);
  }

  /// The same statement with two loops, the second directly inside the first, fused into one over their pairs
  /// of coordinates, which split and parallelize can then divide anywhere.
  template <char Outer, char Inner, char Fused>
  auto fuse(Index<Outer>, Index<Inner>, Index<Fused>) const {
    expect_loop<Outer>();
    expect_loop<Inner>();
    expect_new<Fused>();
    static_assert(loops().current.find(Inner) == loops().current.find(Outer) + 1,
                  "the loops that are fused follow each other: reorder them first");
    return with_loops<loops().with({LoopRelation::Kind::fuse, Outer, Inner, Fused})>(operands_of_loops(),
                                                                                     sizes_of_loops());
  }

  /// The same statement with the loop over `from` counted in positions of an operand, that is, in its stored
  /// coordinates, so that strips hold equal numbers of these:
  /// `.fuse(i, k, f).pos(f, p, B(i, k)).split(p, p0, p1, 1000).parallelize(p0)` gives each thread strips of
  /// 1000 nonzeros of B.
  ///
  /// The operand must store the loop's variables in consecutive, ordered levels. Above these it may have only
  /// variables whose loops run outside.
  /// @throws ScheduleError if the operand is not the statement's first one of its type and variables
  template <char From, char Made, class T, char... Names>
  auto pos(Index<From>, Index<Made>, const Access<T, Names...>& operand) const {
    using A = Access<T, Names...>;
    expect_loop<From>();
    expect_new<Made>();
    static_assert(!loops().is_outer(From),
                  "a loop over strips does not run over positions: call pos before split");
    static_assert(detail::is_one_of<A>(accesses_of<Right>{}),
                  "pos(...) takes an operand of the statement, with its variables");
    static_assert(!is_part_v<std::remove_const_t<T>>,
                  "positions are those of a whole tensor, not of a part of it");
    constexpr bool has_levels = detail::are_levels_of<A>(loops().variables_of(From));
    static_assert(has_levels,
                  "the variables of a loop over positions are consecutive levels of the operand, in their "
                  "order; the levels are ordered, and the operand is not blocked");
    static_assert(
        !has_levels || detail::levels_above_are_bound<A>(loops().variables_of(From), loops().lowered().order),
        "the loops over the levels above those of a loop over positions run outside it");
    const void* first = nullptr;
    for_each_access(right_, [&](const auto& access) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(access)>, A>)
        if (!first) first = access.tensor().identity();
    });
    if (first != operand.tensor().identity())
      throw ScheduleError(text(str(), ": pos(", From, ", ", Made,
                               ", ...) names another tensor than the first operand of its format with these "
                               "variables: name that one, or exchange the two"));
    constexpr int place = static_cast<int>(std::tuple_size_v<typename Options::loops::operands>);
    return with_loops<loops().with({LoopRelation::Kind::pos, From, ' ', Made, ' ', place})>(
        detail::appended<A>(operands_of_loops()), sizes_of_loops());
  }

  /// The same statement with its outermost loop shared among threads. Without this, threads share the
  /// coordinates of the outermost variable; with it, they can also share strips, or the pairs of fused loops.
  template <char Name>
  auto parallelize(Index<Name>) const {
    expect_loop<Name>();
    static_assert(loops().current[0] == Name,
                  "threads share the outermost loop: name it, or bring another one there with reorder(...)");
    constexpr LoopSchedule shared = [] {
      LoopSchedule out = loops();
      out.parallel = Name;
      return out;
    }();
    return with_loops<shared>(operands_of_loops(), sizes_of_loops());
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

  /// The same statement, run by the given candidate (kernels/protocol/candidate.hpp) and no other. Running
  /// it throws ScheduleError, with the reason, if the candidate declines the statement.
  template <class Candidate>
  auto use() const {
    return with(option::RunBy<option::Choice::one, Candidate>{});
  }

  /// The same statement with a reproducible result: bitwise the same for any number of threads and, on a
  /// device, in whatever order its threads run. Sums that scatter into a dense result are then formed in
  /// fixed parts.
  auto deterministic() const { return with(option::Deterministic<true>{}); }

  /// The same statement, whose plan may keep what it makes of the values of sparse operands, such as weights
  /// packed for tensor cores: the caller promises that they stay the same once the plan is made.
  auto with_constant_operands() const { return with(option::ConstantOperands<true>{}); }

  /// The same statement, whose floats may be rounded to the 11 significant bits of tf32 before they are
  /// multiplied; products are still added in float. Dense and N:M products on a GPU then take half the time
  /// or less; every other kernel computes as it does without this.
  auto allow_tf32() const { return with(option::AllowTf32<true>{}); }

  /// The same statement; the caller promises that its dense operands hold no infinity and no NaN. Kernels
  /// that also multiply the zeros of a sparse operand then skip the step that keeps such values out of
  /// results to which they do not contribute. If the promise is broken, such results may become NaN.
  auto with_finite_operands() const { return with(option::FiniteOperands<true>{}); }

  /// The same statement on distributed tensors, divided by the owners of a tensor, which may be one of the
  /// statement's or another: each rank computes the part for the coordinates that it owns of that tensor.
  /// `.on_owners_of(x(j))` divides a sum over j in the way that x is divided. Without this, the statement
  /// chooses the tensor for which it expects to send least.
  /// @throws ScheduleError, when it runs, if a variable that is divided in this way neither belongs to the
  /// result nor is summed over in every term
  template <class T, char... Names>
  auto on_owners_of(const Access<T, Names...>& access) const {
    constexpr NameList variables = statement_variables<Result, Right>();
    static_assert(is_distributed_v<std::remove_const_t<T>> &&
                      detail::any_is_distributed(accesses_of<Right>{} + TypeList<Result>{}),
                  "on_owners_of(...) takes a distributed tensor, in a statement on distributed tensors");
    static_assert((variables.contains(Names) && ...),
                  "on_owners_of(...) names index variables of the statement");
    return with(option::OnOwnersOf<Access<T, Names...>>{access});
  }

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
    constexpr bool is_policy = detail::NamesWorkspace<Policy>;
    static_assert(is_policy,
                  "workspace(...) takes a workspace policy: dense_workspace, coordinate_workspace, "
                  "hash_workspace, HashPolicy{.settings = {.capacity = 1 << 16}}, or a type with what "
                  "workspace/policy.hpp lists");
    if constexpr (is_policy)
      return with(option::GatheredIn<Policy>{policy});
    else
      return Refused{};
  }

  /// The same statement with a part of its right side computed first, into a tensor: `W(i, j) = part`, and
  /// then the statement with `W(i, j)` in place of the part. Variables of the part that W lacks are summed
  /// over and must occur nowhere else. The loops of the part keep their order. Values are rounded to the type
  /// of W.
  ///
  ///     assign(A(i, j), D(i, j) * (B(i, k) * C(k, j))).precompute(B(i, k) * C(k, j), W(i, j)).run();
  ///
  /// @throws ScheduleError if W is a tensor of the statement or shares memory with one, or if the part has
  /// other tensors or scalars than the place in the statement that has its form
  template <class E, class T, char... Names>
  auto precompute(const E& expression, const Access<T, Names...>& workspace) const {
    using Part = decltype(as_expression(expression));
    constexpr NameList kept = NameList::of(Names...);
    detail::expect_writable<Access<T, Names...>>();
    static_assert(Options::loops::are_plain, "precompute a part before loops are split, fused or shared");
    static_assert(
        detail::occurrences<Part, Right>() == 1,
        "the part stands in the right side once, as it is written there: put parentheses around it");
    static_assert(detail::keeps_all<Part>(kept) ||
                      (detail::sums_alone<Part, Result, Right>(kept) && detail::is_linear_in<Part, Right>()),
                  "variables of the part that the workspace lacks are summed over first: they stand nowhere "
                  "else, and the right side is linear in the part");
    if constexpr (detail::occurrences<Part, Right>() == 1) {
      const Part part = as_expression(expression);
      if (!detail::same_operands(part, detail::part_of<Part>(right_)))
        throw ScheduleError(text(str(),
                                 ": the part to precompute has the form of a part of the right side, but "
                                 "other tensors or scalars"));
      // Its letters are those of str(), and the next one for the workspace.
      TensorLetters letters;
      Notation notation(letters);
      notation.of(result_);
      notation.of(right_);
      const auto expect_apart = [&](const auto& access) {
        if (access.tensor().identity() == workspace.tensor().identity())
          throw ScheduleError(text(str(),
                                   ": the tensor for the precomputed part is one of the statement's: "
                                   "give the part a tensor of its own"));
        if constexpr (!is_distributed_v<std::remove_const_t<T>>)
          if (detail::AccessView(access).has_array_in(detail::MemoryRange::of(workspace.tensor().values())))
            throw ScheduleError(text(str(), ": the tensor for the precomputed part, ", notation.of(workspace),
                                     ", shares memory with ", notation.of(access),
                                     ": give the part memory of its own"));
      };
      expect_apart(result_);
      for_each_access(right_, expect_apart);

      const auto rest = detail::replaced<Part>(right_, workspace);
      using Rest = std::remove_const_t<decltype(rest)>;
      // The values of the workspace change from run to run.
      const auto of_rest = without_constant_operands();
      using Consumer =
          Statement<Result, Rest, derived_order<Result, Rest>, std::remove_const_t<decltype(of_rest)>>;
      using Workspace = Access<T, Names...>;
      constexpr NameList loops = detail::only(Order::names, statement_variables<Workspace, Part>());
      return [&]<int... At>(std::integer_sequence<int, At...>) {
        using Producer = Statement<Workspace, Part, loops_over<loops[At]...>, Options>;
        return Precomputed<Consumer, Producer>(Consumer(result_, rest, of_rest, accumulates_, resources_),
                                               Producer(workspace, part, options_, false, resources_));
      }(std::make_integer_sequence<int, loops.size>{});
    } else {
      return *this;
    }
  }
  /// The same statement with a workspace policy for its whole right side, like `workspace(policy)`.
  template <class E, class Policy>
  auto precompute(const E&, const Policy& policy) const {
    static_assert(std::is_same_v<decltype(as_expression(std::declval<const E&>())), Right>,
                  "a workspace policy gathers the whole right side; for a part of it, name a tensor: "
                  "precompute(part, W(i, j))");
    return workspace(policy);
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

  /// Whether a loop is one of the statement's, as split, fuse and pos have left them.
  static constexpr bool has_loop(char name) { return loops().current.contains(name); }

 private:
  auto without_constant_operands() const {
    if constexpr (Options::has_constant_operands)
      return options_.with(option::ConstantOperands<false>{});
    else
      return options_;
  }
  /// The loops as the schedule has left them.
  static constexpr LoopSchedule loops() {
    if constexpr (Options::loops::are_plain) {
      LoopSchedule out;
      out.current = Order::names;
      return out;
    } else {
      return Options::loops::value;
    }
  }
  template <char Name>
  static consteval void expect_loop() {
    static_assert(loops().current.contains(Name),
                  "this names a loop that the statement does not have, or that split, fuse or pos have made "
                  "into others");
  }
  template <char Name>
  static consteval void expect_new() {
    static_assert(!statement_variables<Result, Right>().contains(Name) && !loops().knows(Name),
                  "a new loop takes a new name: this one is a variable of the statement, or of a loop that "
                  "exists");
    static_assert(loops().count < LoopSchedule::capacity, "a schedule has at most eight split, fuse and pos");
  }
  static constexpr auto operands_of_loops() { return typename Options::loops::operands{}; }
  auto sizes_of_loops() const {
    std::array<std::int64_t, LoopSchedule::capacity> out{};
    if constexpr (!Options::loops::are_plain) out = options_.scheduled_loops().sizes;
    return out;
  }
  template <LoopSchedule Loops, class... Operands>
  auto with_loops(std::tuple<const Operands*...>,
                  const std::array<std::int64_t, LoopSchedule::capacity>& sizes) const {
    constexpr NameList loops = Loops.lowered().order;
    // Once a name has been refused, nothing more is reported.
    if constexpr (detail::same_names(loops, Order::names) && detail::same_names(Order::names, loops)) {
      const auto options = options_.with(ScheduledLoopsOf<Loops, Operands...>{sizes});
      return [&]<int... At>(std::integer_sequence<int, At...>) {
        return Statement<Result, Right, loops_over<loops[At]...>, std::remove_const_t<decltype(options)>>(
            result_, right_, options, accumulates_, resources_);
      }(std::make_integer_sequence<int, loops.size>{});
    } else {
      return *this;
    }
  }

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
  const auto given = detail::with_sums_inside<NameList::of(Names...)>(as_expression(right));
  using Given = std::remove_const_t<decltype(given)>;
  detail::expect_writable<Result>();
  constexpr bool own_variables = detail::sums_own_their_variables<Given>();
  constexpr bool as_written = detail::sums_own_their_variables<decltype(as_expression(right))>();
  static_assert(own_variables || as_written,
                "the variable of an explicit sum stands in that sum alone: use another letter elsewhere");
  static_assert(own_variables || !as_written || !detail::applies<Rectifier, Given>(),
                "relu is applied to sums, so a variable inside it that the result lacks is summed over there "
                "and stands in relu alone: use another letter elsewhere");
  static_assert(own_variables || !as_written || detail::applies<Rectifier, Given>(),
                "gelu is applied to sums, so a variable inside it that the result lacks is summed over there "
                "and stands in gelu alone: use another letter elsewhere");
  auto expression = detail::without_loop_sums<detail::SumPlace::term>(given);
  using Right = decltype(expression);
  static_assert(!(detail::summed_names<Given>().contains(Names) || ...),
                "the variable of an explicit sum cannot be used in the result: it is summed over");
  return Statement<Result, Right, derived_order<Result, Right>>(result, std::move(expression));
}
/// Of notation that has been refused.
template <class TensorType, char... Names, class E>
  requires(Expression<E> || ScalarValue<E>) && (is_refused<E>())
Refused assign(const Access<TensorType, Names...>&, const E&) {
  return {};
}
template <std::same_as<Refused> R, class E>
Refused assign(const R&, const E&) {
  return {};
}
/// Of a statement that has been refused.
template <std::same_as<Refused> R>
void run(const R&) {}

namespace detail {

/// Writes a statement as index notation on demand, for functions that are compiled once rather than for each
/// statement. Refers to the statement, which must outlive it.
class StatementText {
 public:
  template <class S>
  StatementText(const S& statement)  // NOLINT: implicit, so that callers pass the statement
      : statement_(&statement), str_(&str_of<S>) {}

  std::string str() const { return str_(statement_); }

 private:
  template <class S>
  static std::string str_of(const void* statement) {
    return static_cast<const S*>(statement)->str();
  }

  const void* statement_;
  std::string (*str_)(const void* statement);
};

/// The tensors of a statement: the result, then those of the right side from the left.
template <class S>
auto views_of_tensors(const S& statement) {
  std::array<AccessView, 1 + count_of(accesses_of<typename S::right_type>{})> out;
  out[0] = AccessView(statement.result());
  write_accesses(statement.right(), out.data() + 1);
  return out;
}

/// Refuses an assignment, which has already run, where a statement is expected.
template <class A>
Refused refuse_assignment() {
  static_assert(never<A>,
                "an assignment runs at once, before its plan, estimate or explanation is made: write it as a "
                "statement, assign(C(i, j), A(i, k) * B(k, j)) in place of C(i, j) = A(i, k) * B(k, j)");
  return {};
}

}  // namespace detail

}  // namespace sporos

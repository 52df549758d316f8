// SPDX-License-Identifier: Apache-2.0
/// @file plan.hpp
/// Plans: what depends only on the patterns of a statement is computed once, and reused with new values.
#pragma once

#include <Kokkos_Timer.hpp>
#include <concepts>
#include <cstdint>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../core/bytes_text.hpp"
#include "../../core/error.hpp"
#include "../../core/statement.hpp"
#include "../../formats/pattern.hpp"
#include "../nest/nest_run.hpp"
#include "../protocol/measured.hpp"
#include "candidates_text.hpp"
#include "estimate.hpp"
#include "run.hpp"

namespace sporos {

namespace detail {

/// A plan of any candidate, with one interface for all. It is compiled where plans are made, not where
/// statements are run directly.
class AnyPlan {
 public:
  virtual ~AnyPlan() = default;
  virtual void run() = 0;
  virtual void refill() = 0;
  virtual Bytes bytes() const = 0;
  virtual std::int64_t held_bytes() const = 0;
  virtual void explain(std::ostream& out) const = 0;
  virtual std::string_view name() const = 0;
};

template <class K, class S>
class PlanBy : public AnyPlan {
  using P = typename K::template Plan<S>;
  static_assert(CandidatePlan<P, S>,
                "the Plan of a candidate lacks a part of the protocol of kernels/protocol/candidate.hpp");

 public:
  explicit PlanBy(const S& statement) : statement_(statement), plan_(statement, statement.resources()) {
    expect_within_limit<K>(plan_, statement_);
    if constexpr (requires(P& plan) { plan.prepare(); })
      within_memory<K>(plan_, statement_, [&] { plan_.prepare(); });
    expect_within_limit<K>(plan_, statement_);  // with what it keeps for later runs
  }
  void run() override {
    expect_within_limit<K>(plan_, statement_);
    within_memory<K>(plan_, statement_, [&] { plan_.run(); });
  }
  void refill() override {
    within_memory<K>(plan_, statement_, [&] {
      if constexpr (requires { plan_.refill(); })
        plan_.refill();
      else
        plan_.run();
    });
  }
  Bytes bytes() const override { return plan_.bytes(); }
  std::int64_t held_bytes() const override {
    if constexpr (requires(const P& plan) { plan.held_bytes(); })
      return plan_.held_bytes();
    else
      return 0;
  }
  void explain(std::ostream& out) const override { plan_.explain(out); }
  std::string_view name() const override { return K::name; }

 private:
  const S& statement_;
  P plan_;
};

/// The pattern that a tensor had when a plan was made.
class AnyPattern {
 public:
  virtual ~AnyPattern() = default;
  /// Whether the tensor still has it. Coordinates that were changed in place are not noticed.
  virtual bool is_kept() const = 0;
  /// Whether the tensor still has it, also comparing each coordinate if the tensor is distributed.
  virtual bool is_unchanged() const = 0;
};
template <class T>
class PatternOf : public AnyPattern {
 public:
  explicit PatternOf(const T& tensor) : tensor_(tensor), pattern_(tensor) {}
  bool is_kept() const override { return pattern_.is_of(tensor_); }
  bool is_unchanged() const override {
    if constexpr (is_distributed_v<T>)
      return is_kept() && pattern_.has_kept_coordinates(tensor_);
    else
      return is_kept();
  }

 private:
  T tensor_;
  Pattern<T> pattern_;
};

/// A tensor of a plan's statement, and its pattern.
struct KeptPattern {
  std::string which;  ///< "operand C"
  std::unique_ptr<const AnyPattern> pattern;
};
inline void expect_kept(const std::vector<KeptPattern>& patterns, const StatementText& statement,
                        bool looks_in_place = false) {
  for (const KeptPattern& kept : patterns)
    if (!(looks_in_place ? kept.pattern->is_unchanged() : kept.pattern->is_kept()))
      throw ScheduleError(text("the plan of ", statement.str(), " was made for another pattern of ",
                               kept.which, ": make a new one with plan(...)"));
}

/// Throws a ScheduleError if the sparse result of a plan is one of its operands.
inline void expect_other_tensors(const StatementText& statement, std::span<const AccessView> tensors) {
  for (const AccessView& operand : tensors.subspan(1))
    if (operand.identity() == tensors[0].identity())
      throw ScheduleError(text(statement.str(),
                               ": the sparse result of a plan is one of its operands, whose pattern it would "
                               "change: write to a tensor of its own"));
}

}  // namespace detail

/// A statement whose analysis is done and kept: what depends only on the operands' patterns is computed once.
/// The first `run()` makes the result's pattern and values; later ones compute only the values, whenever the
/// operands' values have changed.
///
///     auto product = plan(assign(A(i, j), B(i, k) * C(k, j)));   // nothing is computed
///     product.run();                                             // A has its pattern and its values
///     B.values()(0) = 3;
///     product.run();                                             // A has the new values
///
/// If the values of an operand decide what a sparse result stores, like those of M in !M(i, j) * B(i, j),
/// each run makes the pattern again, and allocates anew what that needs.
///
/// The patterns must remain those for which the plan was made. Operands may be given other arrays that hold
/// the same pattern. Coordinates that are changed in place, in arrays that a tensor keeps, are not noticed,
/// except by expect_unchanged() in distributed tensors.
template <class S>
class Plan {
 public:
  using Result = typename S::result_type;
  using Right = typename S::right_type;
  using Tensor = typename Result::tensor_type;

  /// Analyses the statement and changes nothing.
  /// @throws ScheduleError if a sparse result is one of the operands, and whatever the statement throws
  explicit Plan(const S& statement) : statement_(std::make_unique<const S>(statement)) {
    require_valid<S>();
    if constexpr (can_run<S>)
      detail::step_of(*statement_, [this] {
        const Kokkos::Timer timer;
        analyse();
        seconds_ = timer.seconds();
      });
  }

  /// Computes the result from the current values of the operands.
  /// @throws ScheduleError, with nothing changed, if a tensor of the statement has a different pattern now
  void run() {
    detail::step_of(*statement_, [this] { run_again(); });
  }

  /// Checks that the tensors of a distributed statement still store the coordinates that they had when the
  /// plan was made, or after its first run, even where they were changed in place. Collective. Cost: reads
  /// the patterns of the tensors. If Kokkos checks bounds, run() does this as well.
  /// @throws ScheduleError, on all ranks if on any
  void expect_unchanged() const {
    static_assert(is_distributed_statement<S>,
                  "plans of tensors that are not distributed keep no fingerprint");
    detail::step_of(*statement_, [this] {
      detail::expect_kept(kept_, *statement_, true);
      return true;  // for which the ranks agree
    });
  }

  /// Checks that the tensors of the statement have the patterns for which the plan was made, as run() does.
  /// @throws ScheduleError if they have not
  void expect_patterns() const { detail::expect_kept(kept_, *statement_); }
  /// Whether each run makes the pattern of the result anew, because values of operands decide it.
  static constexpr bool makes_pattern_anew() { return has_pattern_of_values; }

  const S& statement() const { return *statement_; }

  /// The name of the candidate that runs the statement.
  std::string_view candidate() const { return plan_->name(); }

  /// Bytes that the plan holds in addition to the tensors and to working memory that it shares with other
  /// statements on its resources.
  std::int64_t bytes() const { return plan_->held_bytes(); }

  /// An upper bound on what the first run allocates.
  Estimate estimate() const {
    return {plan_->bytes(), detail::operand_bytes(detail::views_of(statement_->right()))};
  }

  /// The seconds that it took to make the plan: to choose a candidate, to analyse the operands, and to pack
  /// those that are packed. On a GPU, packing may not have ended; but what was counted of a pattern has been
  /// waited for, and with it all work that the stream had before.
  double seconds() const { return seconds_; }

  /// Prints what the plan does, what it took to make it and what it holds, and which candidates it chose
  /// between.
  void explain(std::ostream& out) const {
    out << "  run by " << candidate() << '\n';
    plan_->explain(out);
    if constexpr (!is_distributed_statement<S>) out << detail::computing_text<S>();
    out << "  plan: made in " << detail::seconds_text(seconds()) << ", holds " << bytes_text(bytes()) << '\n';
    out << detail::candidates_text(considered_);
  }

 private:
  static constexpr bool has_pattern_of_values = [] {
    if constexpr (is_distributed_v<Tensor>)
      return detail::is_present_by_value<Right>();
    else
      return detail::is_present_by_value<Right>() && !Tensor::format_type::is_dense;
  }();

  void analyse() {
    const S& statement = *statement_;
    expect_kokkos();
    expect_zero_kept(statement);
    if constexpr (!Tensor::format_type::is_dense)
      detail::expect_other_tensors(statement, detail::views_of_tensors(statement));
    const detail::Measurements measurements;
    plan_ = with_candidate<std::unique_ptr<detail::AnyPlan>>(
        *statement_, Use::often,
        [&]<class K>() { return std::unique_ptr<detail::AnyPlan>(new detail::PlanBy<K, S>(*statement_)); },
        &considered_);
    keep_patterns_of_operands();
  }
  void run_again() {
    detail::expect_kept(kept_, *statement_);
    const detail::ProfiledRegion region(*statement_);
    if constexpr (has_pattern_of_values) {
      plan_->run();
      return;
    }
    if (has_run_) {
      if constexpr (!Tensor::format_type::is_dense && !is_distributed_v<Tensor>) leave_values_to_operands();
      plan_->refill();
      return;
    }
    plan_->run();
    has_run_ = true;
    TensorLetters letters;
    const auto& result = statement_->result().tensor();
    keep(text("the result ", letters.of(result)), result);
  }

  template <class T>
  void keep(std::string which, const T& tensor) {
    kept_.push_back(
        {std::move(which), std::unique_ptr<const detail::AnyPattern>(new detail::PatternOf<T>(tensor))});
  }
  void keep_patterns_of_operands() {
    TensorLetters letters;
    letters.of(statement_->result().tensor());
    for_each_access(statement_->right(), [&](const auto& access) {
      keep(text("operand ", letters.of(access.tensor())), access.tensor());
    });
  }
  /// Gives the result an array of its own if its array of values has been given to an operand.
  void leave_values_to_operands() const {
    if (!reads_result(*statement_)) return;
    const auto& result = statement_->result().tensor();
    result.replace(result.extents(), result.levels(),
                   make_array<typename Tensor::value_type, typename Tensor::memory_space>(
                       "sporos::Tensor values", result.nnz()));
  }

  std::unique_ptr<const S> statement_;  ///< keeps its address when the plan is moved
  Considered considered_;
  std::unique_ptr<detail::AnyPlan> plan_;
  std::vector<detail::KeptPattern> kept_;
  double seconds_ = 0;
  bool has_run_ = false;
};

/// Analyses a statement, so that it can be run again whenever its operands' values change; see Plan.
template <class Result, class Right, class Order, class Options>
auto plan(const Statement<Result, Right, Order, Options>& statement) {
  return Plan<Statement<Result, Right, Order, Options>>(statement);
}

/// Does not compile: the message says what to write.
template <class T, char... Names>
Refused plan(const Access<T, Names...>&) {
  return detail::refuse_assignment<Access<T, Names...>>();
}
/// Of a statement that has been refused.
template <std::same_as<Refused> R>
R plan(const R& refused) {
  return refused;
}

}  // namespace sporos

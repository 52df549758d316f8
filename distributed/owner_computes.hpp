// SPDX-License-Identifier: Apache-2.0
/// @file owner_computes.hpp
/// Any statement on distributed tensors: each rank computes its part from the parts of the operands that it
/// needs, and results go to their owners.
#pragma once

#include <Kokkos_Core.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/statement.hpp"
#include "../formats/format_name.hpp"
#include "../kernels/protocol/candidate.hpp"
#include "../kernels/statement/estimate.hpp"
#include "../kernels/statement/plan.hpp"
#include "agree.hpp"
#include "assemble.hpp"
#include "localise.hpp"
#include "numbering.hpp"
#include "operand.hpp"
#include "result_exchange.hpp"
#include "sum_of_ranks.hpp"
#include "tensor.hpp"
#include "traffic.hpp"
#include "variable_numbering.hpp"
#include "work_division.hpp"

namespace sporos {

/// Each rank computes the part of a statement that belongs to the coordinates that it owns of certain
/// variables.
///
/// These are the variables that divide one of the tensors, which then stays where it is: the one for which
/// all ranks together are expected to receive the fewest values. The rank has that tensor's part. Of each
/// other operand it needs the coordinates of these variables and, for a summed variable, those that its part
/// of a sparse operand stores:
///
///     M(i, r) = T(i, k, l) * U(k, r) * V(l, r)   T and M divided along i: the rank needs the rows of U and
///                                                V that are k or l of one of its nonzeros
///     A(i, j) = B(i, k) * C(k, j)                B and A divided along i: the rows of C that are its k
///     y(i) = A(i, j) * x(j)                      A divided along j: x where A is, and sums for others' y
///
/// If the nonzeros of an operand are dealt out one by one, as in a fine-grained distribution of T, the rank
/// computes the terms of its own: it needs the rows of U and V at them, and has sums for the rows of M at
/// them, which it sends to their owners.
///
/// What it lacks is fetched from its owners (operand.hpp). The local statement is the same statement on these
/// tensors, and any candidate can run it. If a divided variable is summed over, the ranks' results are added;
/// otherwise one rank computes each coordinate of the result and sends it to its owner. A statement for which
/// every rank has all it needs, like x(i) = y(i) + z(i) with vectors distributed in the same way, sends
/// nothing, and a plan of it with dense operands needs no agreement when it runs again. If no variable can be
/// divided, as in a deterministic sum, all operands come to all ranks, which is always correct.
struct OwnerComputes {
  static constexpr std::string_view name = "parts by owners";
  static constexpr std::string_view takes = "any statement on distributed tensors";
  static constexpr bool deterministic = true;
  static constexpr bool any_schedule = true;

  template <class S>
  static constexpr bool matches = is_distributed_statement<S>;

  template <class S>
  static Offer cost(const S&, const Resources<typename S::space_type>&) {
    return Cost{1};
  }

  template <class S>
  class Plan {
   public:
    using Result = typename S::result_type;
    using Right = typename S::right_type;
    using ResultTensor = typename Result::tensor_type;
    using Local = typename detail::LocalOf<ResultTensor>::type;
    using Value = typename Local::value_type;
    using F = typename Local::format_type;
    using Space = typename S::space_type;
    static constexpr int order = Local::order;
    static constexpr auto modes = static_cast<std::size_t>(order);

    Plan(const S& statement, const Resources<Space>& resources)
        : statement_(statement),
          space_(resources.space()),
          ranks_(detail::ranks_of(statement)),
          written_(statement.str()),
          result_distribution_(detail::distribution_of(statement.result(), ranks_)),
          run_signature_(detail::agree_on(statement, written_)),
          work_(statement, ranks_),
          sums_(work_.sums()),
          stays_(work_.is_in_place(statement.result()) && !sums_),
          variables_(detail::VariableNumbering<S>(statement, work_, ranks_)
                         .find(!stays_ && !result_distribution_.is_replicated())) {
      make_operands();
      jointly(ranks_, [&] {
        place_result();
        make_local_statement();
        find_touched();
        agree(ranks_, "the plan of a statement");
      });
      if constexpr (F::is_dense) {
        if (is_reduced_) sum_of_ranks_ = detail::SumOfRanks<Local>(ranks_);
        if (!in_place_ && !is_reduced_)
          to_owners_ =
              detail::ResultExchange<Local>(*own_result_, numberings_of<Result>(variables_.numberings),
                                            touched_, result_distribution_, !work_.is_divided());
      }
      collect_traffic();
    }

    void prepare() { planned_ = true; }

    void run() {
      fetch();
      jointly(ranks_, [&] {
        if (planned_) {
          local_plan_ = std::make_unique<sporos::Plan<LocalStatement>>(*local_);
          local_plan_->run();
        } else {
          sporos::run(*local_);
        }
        agree(ranks_, run_signature_, written_);
      });
      take_result(true);
    }

    void refill() {
      if (!local_plan_) return run();
      fetch();
      jointly(ranks_, [&] {
        local_plan_->run();
        if (!is_dense_and_local() || !(fetches_ || all_dense)) agree(ranks_, run_signature_, written_);
      });
      take_result(false);
    }

    Bytes bytes() const {
      Estimate local = sporos::estimate(*local_);
      local.workspace += held_bytes() + (in_place_ ? 0 : 2 * local.result);
      local.messages = traffic_.ranks[static_cast<std::size_t>(ranks_.rank())].messages;
      local.sent = traffic_.ranks[static_cast<std::size_t>(ranks_.rank())].sent;
      return local;
    }
    std::int64_t held_bytes() const {
      std::int64_t sum = in_place_ ? 0 : own_result_->bytes();
      for_each_operand([&](const auto& operand) { sum += operand.held_bytes(); });
      if (local_plan_) sum += local_plan_->bytes();
      if constexpr (F::is_dense) sum += to_owners_.held_bytes();
      return sum;
    }
    const Traffic& traffic() const { return traffic_; }

    void explain(std::ostream& out) const {
      out << "  each rank computes ";
      if (work_.nonzeros()) {
        out << "the terms of its nonzeros at (" << work_.nonzeros()->variables << ')';
      } else if (!work_.is_divided()) {
        out << (ranks_.size() == 1 ? "all of it" : "all of it, from all of the operands");
      } else {
        out << "its coordinates of ";
        for (std::size_t at = 0; at < work_.divisions().size(); ++at)
          out << (at ? ", " : "") << work_.divisions()[at].variable << " ("
              << work_.divisions()[at].partition.str() << ')';
      }
      if (S::schedule::owners::are_given && work_.is_divided()) out << ", as on_owners_of says";
      out << "\n";
      TensorLetters letters;
      out << "    " << letters.of(statement_.result().tensor()) << '(' << Result::names.str()
          << "): " << result_text() << "\n";
      std::size_t at = 0;
      for_each_access(statement_.right(), [&](const auto& access) {
        using A = std::remove_cvref_t<decltype(access)>;
        out << "    " << letters.of(access.tensor()) << '(' << A::names.str() << "): " << access_texts_[at++]
            << "\n";
      });
      traffic_.print(out);
      with_candidate<void>(*local_, Use::often,
                           [&]<class K>() { out << "  locally run by " << K::name << "\n"; });
    }

   private:
    using Accesses = accesses_of<Right>;
    /// Whether no operand has a pattern that could have changed.
    static constexpr bool all_dense = []<class... A>(TypeList<A...>) {
      return (A::format::is_dense && ...);
    }(Accesses{});
    template <class List>
    struct OperandsOf;
    template <class... A>
    struct OperandsOf<TypeList<A...>> {
      using locals = std::tuple<typename detail::LocalOf<typename A::tensor_type>::type...>;
      using operands = std::tuple<
          std::optional<detail::LocalOperand<typename detail::LocalOf<typename A::tensor_type>::type>>...>;
    };
    using Locals = typename OperandsOf<Accesses>::locals;
    using Operands = typename OperandsOf<Accesses>::operands;
    using LocalStatement = std::remove_const_t<decltype(detail::local_statement(
        std::declval<const S&>(), std::declval<const Local&>(), std::declval<const Locals&>(), false))>;

    template <class Visit>
    void for_each_operand(const Visit& visit) const {
      std::apply([&](const auto&... operand) { (visit(*operand), ...); }, operands_);
    }
    template <class Visit>
    void for_each_operand(const Visit& visit) {
      std::apply([&](auto&... operand) { (visit(*operand), ...); }, operands_);
    }

    /// Whether whole rows of an operand are fetched, and its columns are not renumbered.
    template <class A>
    bool fetches_rows(const A& access) const {
      if constexpr (detail::stores_rows<typename A::format>) {
        for (int mode = 1; mode < A::names.size; ++mode)
          if (!variables_.numberings[A::names[mode]].is_whole() ||
              detail::distribution_of(access, ranks_).partition(mode).parts() > 1)
            return false;
        using T = typename detail::LocalOf<typename A::tensor_type>::type;
        return detail::RowFetch<T>::takes(variables_.numberings[A::names[0]],
                                          detail::distribution_of(access, ranks_));
      } else {
        return false;
      }
    }

    template <class A>
    static auto numberings_of(const detail::Numberings& all) {
      std::array<detail::Numbering, static_cast<std::size_t>(A::names.size)> out;
      for (int mode = 0; mode < A::names.size; ++mode)
        out[static_cast<std::size_t>(mode)] = all[A::names[mode]];
      return out;
    }

    void make_operands() {
      const auto make = [&]<std::size_t At, class A>(const A& access) {
        using enum detail::Obtained;
        auto how = work_.is_in_place(access) ? direct : fetched;
        if (how == direct)
          for (int mode = 0; mode < A::names.size; ++mode) {
            if (!variables_.listed.contains(A::names[mode])) continue;
            if (!detail::has_coordinate_array<typename A::format>(mode)) {
              how = fetched;
              break;
            }
            how = renumbered;
          }
        if (how == fetched && fetches_rows(access)) how = rows;
        fetches_ = fetches_ || how == fetched || how == rows;
        std::get<At>(operands_).emplace(how, numberings_of<A>(variables_.numberings),
                                        numberings_of<A>(variables_.needed),
                                        detail::LocalOf<typename A::tensor_type>::local(access.tensor()),
                                        detail::distribution_of(access, ranks_));
        access_texts_.push_back(how == direct       ? "as it is stored"
                                : how == renumbered ? "as it is stored, with its coordinates renumbered"
                                : how == rows       ? "the rows that are needed, fetched from their owners"
                                                    : "the part that is needed, fetched from its owners");
      };
      for_each_numbered<0>(statement_.right(), make);
    }
    template <std::size_t At, class E, class Visit>
    static void for_each_numbered(const E& e, const Visit& visit) {
      if constexpr (AnyAccess<E>) {
        visit.template operator()<At>(e);
      } else if constexpr (has_one_child<E>) {
        for_each_numbered<At>(e.operand, visit);
      } else if constexpr (has_two_children<E>) {
        for_each_numbered<At>(e.left, visit);
        for_each_numbered<At + static_cast<std::size_t>(detail::count_accesses<decltype(E::left)>)>(e.right,
                                                                                                    visit);
      }
    }

    /// Decides where the local statement writes: into what this rank stores of the result, or into a tensor
    /// whose values are then sent to their owners.
    void place_result() {
      is_listed_ = false;
      for (int mode = 0; mode < order; ++mode)
        is_listed_ = is_listed_ || variables_.listed.contains(Result::names[mode]);
      in_place_ = stays_ && !is_listed_;
      if (in_place_) return;
      if (statement_.accumulates() && !S::schedule::is_arithmetic)
        throw ScheduleError(
            text(written_,
                 ": a result that is added to over a semiring is distributed like the operand whose "
                 "variables are divided: redistribute it"));
      Extents<order> extents{};
      bool whole = true;
      for (int mode = 0; mode < order; ++mode) {
        extents[static_cast<std::size_t>(mode)] = variables_.numberings[Result::names[mode]].size();
        whole = whole && variables_.numberings[Result::names[mode]].is_whole();
      }
      own_result_.emplace(extents);
      is_reduced_ = F::is_dense && sums_ && whole && result_distribution_.is_replicated();
    }

    void make_local_statement() {
      const Local& given = detail::LocalOf<ResultTensor>::local(statement_.result().tensor());
      const auto locals =
          std::apply([](const auto&... operand) { return Locals(operand->tensor()...); }, operands_);
      local_.emplace(detail::local_statement(statement_, in_place_ ? given : *own_result_, locals,
                                             in_place_ && statement_.accumulates()));
    }

    /// Finds the coordinates of a dense result at which this rank's operands have terms, if it also computes
    /// other coordinates: the zeros there are not sent.
    void find_touched() {
      if (in_place_ || !work_.is_divided()) return;
      for (int mode = 0; mode < order; ++mode) {
        const char variable = Result::names[mode];
        if (variables_.listed.contains(variable) || !detail::WorkDivision<S>::sends_touched(variable))
          continue;
        has_untouched_ = true;
        auto& touched = touched_[static_cast<std::size_t>(mode)];
        touched.resize(static_cast<std::size_t>(own_result_->extent(mode)));
        for (const std::int64_t c :
             detail::bounded_coordinates<0>(local_->right(), variable, detail::all_known))
          touched[static_cast<std::size_t>(c)] = true;
      }
    }

    /// Whether nothing can fail on only one rank when it computes again: the result is dense and stays.
    bool is_dense_and_local() const { return in_place_ && F::is_dense; }

    void fetch() {
      if (!fetches_) return refresh();
      agree(ranks_, run_signature_, written_);
      refresh();
    }
    void refresh() {
      for_each_operand([&](auto& operand) { operand.start(space_); });
      for_each_operand([&](auto& operand) { operand.finish(space_); });
    }

    /// Sends the local result to its owners.
    void take_result(bool has_new_pattern) {
      if (in_place_) return;
      const Local& to = detail::LocalOf<ResultTensor>::local(statement_.result().tensor());
      const Local& from = *own_result_;
      if (stays_) {
        if (!has_new_pattern) {
          to.replace(to.extents(), to.levels(), from.values());
          return;
        }
        jointly(ranks_, [&] {
          auto levels = detail::copied_levels(from);
          for (int mode = 0; mode < order; ++mode)
            if (variables_.listed.contains(Result::names[mode])) {
              const detail::Numbering& numbering = variables_.numberings[Result::names[mode]];
              detail::renumber_mode<F>(levels, mode,
                                       [&](std::int64_t number) { return numbering.global(number); });
            }
          to.replace(to.extents(), std::move(levels), from.values());
          agree(ranks_, "the result of a statement");
        });
        return;
      }
      if constexpr (F::is_dense) {
        if (is_reduced_) {
          sum_of_ranks_.run(space_, from, to, statement_.accumulates());
        } else {
          const bool keeps = statement_.accumulates();
          to_owners_.run(space_, from, to, !keeps && (sums_ || is_listed_ || has_untouched_), sums_ || keeps);
        }
      } else {
        jointly(ranks_, [&] {
          const auto mine = contributions();
          const auto all =
              detail::entries_to_owners(result_distribution_, mine, "the result of a statement", 0);
          const auto result = assemble<F, Space>(all, F::is_unique ? Duplicates::sum : default_duplicates<F>);
          to.replace(result.extents(), result.levels(), result.values());
          agree(ranks_, "the result of a statement");
        });
      }
    }

    /// What this rank has computed for the owners of the result, with global coordinates.
    auto contributions() const {
      auto out = entries(*own_result_);
      out.extents = result_distribution_.extents();
      for (int mode = 0; mode < order; ++mode) {
        const detail::Numbering& numbering = variables_.numberings[Result::names[mode]];
        if (numbering.is_whole()) continue;
        std::int64_t* const coordinates = out.coordinates[static_cast<std::size_t>(mode)].data();
        for (std::int64_t e = 0; e < out.size(); ++e) coordinates[e] = numbering.global(coordinates[e]);
      }
      if (work_.is_divided()) return out;
      // Every rank has computed all of it, so one of them contributes it.
      if (ranks_.rank() == 0) return out;
      return decltype(out)(out.extents, 0);
    }

    void collect_traffic() {
      RankTraffic mine;
      for_each_operand([&](const auto& operand) {
        using T = std::remove_cvref_t<decltype(operand.tensor())>;
        if (!T::format_type::is_dense) mine.work += operand.tensor().nnz();
        mine.messages += operand.messages();
        mine.sent += operand.bytes_sent();
        mine.received += operand.bytes_received();
      });
      if constexpr (all_dense)
        for_each_operand([&](const auto& operand) { mine.work += operand.tensor().nnz(); });
      // What is sent of a sparse result is unknown until it has been computed.
      if constexpr (F::is_dense) {
        if (is_reduced_) {
          const std::int64_t bytes = own_result_->nnz() * static_cast<std::int64_t>(sizeof(Value));
          mine.messages += 1;
          mine.sent += bytes;
          mine.received += bytes;
        } else if (!in_place_) {
          mine.messages += to_owners_.values().messages();
          mine.sent += to_owners_.values().bytes_sent();
          mine.received += to_owners_.values().bytes_received();
        }
      }
      traffic_.ranks = ranks_.all(mine);
    }

    std::string result_text() const {
      if (in_place_) return "computed where it is stored";
      if (stays_) return "computed where it is stored, its coordinates renumbered";
      if (is_reduced_) return "the sum of all ranks' results";
      return sums_ ? "sums of ranks' results, added by their owners" : "sent to its owners";
    }

    const S& statement_;
    Space space_;
    Communicator ranks_;
    std::string written_;
    Distribution<order> result_distribution_;
    Signature run_signature_;
    detail::WorkDivision<S> work_;
    bool sums_;   ///< whether the ranks' results are added
    bool stays_;  ///< whether this rank owns exactly what it computes
    detail::NumberedVariables variables_;
    std::array<std::vector<bool>, modes> touched_;
    Operands operands_;
    std::vector<std::string> access_texts_;
    bool fetches_ = false;        ///< whether an operand comes from other ranks
    bool has_untouched_ = false;  ///< whether zero values of the result are not sent
    bool is_listed_ = false;      ///< whether a variable of the result is numbered by a list
    bool in_place_ = false;       ///< whether it stays, under the same numbers
    bool is_reduced_ = false;     ///< whether the result is a sum over ranks that all of them get
    std::optional<Local> own_result_;
    std::conditional_t<F::is_dense, detail::ResultExchange<Local>, std::nullptr_t> to_owners_{};
    std::conditional_t<F::is_dense, detail::SumOfRanks<Local>, std::nullptr_t> sum_of_ranks_{};
    std::optional<LocalStatement> local_;
    std::unique_ptr<sporos::Plan<LocalStatement>> local_plan_;
    Traffic traffic_;
    bool planned_ = false;
  };
};

}  // namespace sporos

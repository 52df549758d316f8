// SPDX-License-Identifier: Apache-2.0
/// @file statement.hpp
/// Statements on distributed tensors: the candidates that run them, and how they fail and explain themselves.
#pragma once

#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

#include "../formats/format_name.hpp"
#include "../kernels/statement/explain.hpp"
#include "../kernels/statement/plan.hpp"
#include "../kernels/statement/ranks.hpp"
#include "../kernels/statement/run.hpp"
#include "agree.hpp"
#include "halo_product.hpp"
#include "halo_spgemm.hpp"
#include "owner_computes.hpp"
#include "summa_spgemm.hpp"

namespace sporos {

/// The candidates for statements on distributed tensors. A new one is a file of its own, its `#include` and
/// its name here; the cheapest runs, and all ranks must find the same one cheapest.
using DistributedCandidates = TypeList<HaloProduct, HaloSpgemm, SummaSpgemm, OwnerComputes>;

template <class S>
struct AcrossRanks {
  using candidates = DistributedCandidates;

  /// Runs f(), a step of the statement. If it returns something, it may fail after the last agreement of the
  /// ranks, so they agree once more.
  template <class F>
  static decltype(auto) jointly(const S& statement, F&& f) {
    const Communicator& ranks = detail::ranks_of(statement);
    return sporos::jointly(ranks, [&]() -> decltype(auto) {
      if constexpr (std::is_void_v<decltype(f())>) {
        f();
      } else {
        auto out = f();
        agree(ranks, "the end of a statement's estimate or explanation");
        return out;
      }
    });
  }

  static std::string explain(const S& statement) {
    return jointly(statement, [&] {
      expect_kokkos();
      std::ostringstream out;
      out << statement.str() << "\n\n";
      TensorLetters letters;
      const auto line = [&](const auto& access) {
        using A = std::remove_cvref_t<decltype(access)>;
        using T = typename A::tensor_type;
        const auto& tensor = access.tensor();
        out << "  " << letters.of(tensor) << '(' << A::names.str()
            << "): " << format_name<typename A::format>() << ", " << (A::format::order == 1 ? "extent " : "")
            << to_string(tensor.extents());
        if constexpr (AnyDistributed<T>)
          out << ", " << tensor.distribution().str() << "\n";
        else
          out << ", on every rank\n";
      };
      line(statement.result());
      for_each_access(statement.right(), line);
      out << "\n";
      with_candidate<void>(statement, Use::often, [&]<class K>() {
        const typename K::template Plan<S> plan(statement, statement.resources());
        out << "  run by " << K::name << " on " << detail::ranks_of(statement).size() << " ranks\n";
        plan.explain(out);
      });
      return out.str();
    });
  }
};

/// What each rank computes and sends in one run of a statement. Collective; runs nothing.
template <class Result, class Right, class Order, class Options>
Traffic traffic(const Statement<Result, Right, Order, Options>& statement) {
  using S = Statement<Result, Right, Order, Options>;
  static_assert(is_distributed_statement<S>, "only statements on distributed tensors send messages");
  require_valid<S>();
  return detail::step_of(statement, [&] {
    return with_candidate<Traffic>(statement, Use::often, [&]<class K>() {
      return typename K::template Plan<S>(statement, statement.resources()).traffic();
    });
  });
}

}  // namespace sporos

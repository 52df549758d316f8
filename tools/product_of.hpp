// SPDX-License-Identifier: Apache-2.0
/// @file product_of.hpp
/// The template that implements product.hpp: formats by loop order, and the statement.
#pragma once

#include <Kokkos_Timer.hpp>
#include <sporos/core/index.hpp>
#include <sporos/core/statement.hpp>
#include <sporos/formats/entries_of.hpp>
#include <sporos/formats/format_name.hpp>
#include <sporos/formats/named.hpp>
#include <sporos/kernels/statement/run.hpp>

#include "assembled.hpp"
#include "product.hpp"

namespace sporos::tool {

template <AnyTensor T>
Stored stored_as(const T& tensor, double seconds) {
  return {format_name<typename T::format_type>(), tensor.nnz(), tensor.bytes(), seconds};
}

template <class Value>
class ProductRun {
 public:
  ProductRun(const Entries<Value, 2>& A, const Entries<Value, 2>& B, const ProductPlan& plan)
      : a_(A), b_(B), plan_(plan) {}

  Product run() const {
    using namespace sporos::indices;
    switch (plan_.order) {
      case ProductOrder::kij:
        return in_order<CSR<>, CSC<>, CSR<>>(automatic_workspace, k, i, j);
      case ProductOrder::ijk:
        return in_order<CSR<>, CSR<>, CSC<>>(automatic_workspace, i, j, k);
      case ProductOrder::jki:
        return gathered<CSC<>, CSC<>, CSC<>>(j, k, i);
      case ProductOrder::kji:
        return in_order<CSC<>, CSC<>, CSR<>>(automatic_workspace, k, j, i);
      case ProductOrder::jik:
        return in_order<CSC<>, CSR<>, CSC<>>(automatic_workspace, j, i, k);
      case ProductOrder::ikj:
        break;
    }
    return gathered<CSR<>, CSR<>, CSR<>>(i, k, j);
  }

 private:
  /// Runs a loop order that allows a choice of workspaces.
  template <class ResultFormat, class FormatA, class FormatB, char... Names>
  Product gathered(Index<Names>... order) const {
    switch (plan_.workspace) {
      case WorkspaceChoice::dense:
        return in_order<ResultFormat, FormatA, FormatB>(dense_workspace, order...);
      case WorkspaceChoice::coordinate:
        return in_order<ResultFormat, FormatA, FormatB>(coordinate_workspace, order...);
      case WorkspaceChoice::automatic:
        break;
    }
    return in_order<ResultFormat, FormatA, FormatB>(automatic_workspace, order...);
  }

  template <class ResultFormat, class FormatA, class FormatB, class Policy, char... Names>
  Product in_order(Policy workspace, Index<Names>... order) const {
    using namespace sporos::indices;
    Product out;
    Kokkos::Timer timer;
    const auto A = assembled<FormatA>(a_);
    out.A = stored_as(A, timer.seconds());
    timer.reset();
    const auto B = assembled<FormatB>(b_);
    out.B = stored_as(B, timer.seconds());
    const Tensor<Value, ResultFormat> C({A.extent(0), B.extent(1)});
    const auto statement = assign(C(i, j), A(i, k) * B(k, j)).reorder(order...).workspace(workspace);

    out.times = times_of(plan_.repeats, [&] { statement.run(); });
    out.C = stored_as(C, 0);
    out.entries = entries(C);
    return out;
  }

  const Entries<Value, 2>& a_;
  const Entries<Value, 2>& b_;
  const ProductPlan& plan_;
};

template <class Value>
Product multiply(const Entries<Value, 2>& A, const Entries<Value, 2>& B, const ProductPlan& plan) {
  return ProductRun<Value>(A, B, plan).run();
}

}  // namespace sporos::tool

// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The product of two sparse matrices on the GPU, as a candidate for statements.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../cuda/operands.hpp"
#include "../../nest/bounds.hpp"
#include "../../nest/work.hpp"
#include "../../statement/candidate.hpp"
#include "../pattern.hpp"
#include "spgemm.hpp"

namespace sporos::gpu {

/// A(i, j) = B(i, k) * C(k, j), all in CSR, A of the type in which the product computes: spgemm.hpp.
struct SpgemmByBins {
  using Pattern = SpgemmPattern<GpuOperands>;
  static constexpr std::string_view name = "SpGEMM by bins";
  static constexpr std::string_view takes =
      "A(i, j) = B(i, k) * C(k, j), all in CSR in the memory of the GPU, A of the type in which the product "
      "computes";
  static constexpr bool deterministic = false;
  static constexpr bool replaces_nest = true;
  static constexpr double seconds_of_launch = 1e-4;
  static constexpr double seconds_of_term = 20e-12;

  template <class S>
  static constexpr bool computes() {
    using Value = typename S::result_type::value_type;
    if constexpr (Pattern::matches<S>)
      return std::is_same_v<detail::compute_of<S>, Value> && !std::is_same_v<Value, bool>;
    else
      return false;
  }
  template <class S>
  static constexpr bool matches = computes<S>();

  template <class S>
  static Cost cost(const S& statement, const Resources<Kokkos::Cuda>&) {
    return {seconds_of_launch + sporos::detail::expected_terms(statement) * seconds_of_term};
  }

  template <class S>
  class Plan;
};

template <class S>
class SpgemmByBins::Plan {
  using Compute = detail::compute_of<S>;
  using Tensor = typename S::result_type::tensor_type;
  using New = detail::NewCsr<Tensor>;
  using B = decltype(detail::csr_view(Pattern::left(std::declval<const S&>()).tensor()));
  using C = decltype(detail::csr_view(Pattern::right(std::declval<const S&>()).tensor()));
  using Product = Spgemm<Compute, B, C, typename New::View>;

 public:
  Plan(const S& statement, const Resources<Kokkos::Cuda>& resources)
      : statement_(statement),
        workspace_((bounds_of(statement), resources.scratch().template borrow<SpgemmWorkspace>())),
        product_(resources.space(), left(), right(), *workspace_) {}

  /// The first pass: how many nonzeros each row of the result has.
  void prepare() { count(); }

  void run() {
    product_.read(left(), right());
    if (!made_) count();
    product_.fill(made_->make_room(nonzeros_));
    made_->put_into(statement_.result().tensor());
    made_.reset();
    space().fence("sporos::spgemm");
  }

  /// The second pass alone.
  void refill() {
    product_.read(left(), right());
    const auto& result = statement_.result().tensor();
    product_.fill(detail::csr_view(result));
    space().fence("sporos::spgemm");
  }

  /// Exact for the result, since the first pass counts its nonzeros.
  Bytes bytes() const {
    if (!made_) count();
    return {nonzeros_, New::bytes(statement_.result().tensor().extents(), nonzeros_),
            product_.most_workspace_bytes()};
  }
  std::int64_t held_bytes() const { return workspace_->size(); }
  void explain(std::ostream& out) const {
    out << "  result: in two passes: the sizes of rows, then their columns and values; rows sorted into bins "
           "by size\n";
  }

 private:
  auto left() const { return detail::csr_view(Pattern::left(statement_).tensor()); }
  auto right() const { return detail::csr_view(Pattern::right(statement_).tensor()); }
  const Kokkos::Cuda& space() const { return statement_.resources().space(); }

  void count() const {
    made_.emplace(statement_.result().tensor().extents());
    nonzeros_ = product_.count(made_->positions());
  }

  const S& statement_;
  Scratch::Loan<SpgemmWorkspace> workspace_;
  // Analysis on demand: what estimate() finds, run() uses.
  mutable Product product_;
  mutable std::optional<New> made_;
  mutable std::int64_t nonzeros_ = 0;
};

}  // namespace sporos::gpu

// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The sum of two scaled sparse matrices on the GPU, as a candidate for statements.
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
#include "add.hpp"

namespace sporos::gpu {

/// A(i, j) = ± b * B(i, j) ± c * C(i, j) with scalars b and c or without, all in CSR: add.hpp.
struct SparseSumByMatches {
  using Pattern = AddPattern<GpuOperands>;
  static constexpr std::string_view name = "sparse sum by matches";
  static constexpr std::string_view takes =
      "A(i, j) = b * B(i, j) + c * C(i, j), with either sign, with scalars or without, all in CSR in the "
      "memory of the GPU";
  static constexpr bool deterministic = true;
  static constexpr bool replaces_nest = true;
  static constexpr double seconds_of_launch = 3e-5;
  static constexpr double seconds_of_term = 5e-12;

  template <class S>
  static constexpr bool matches =
      Pattern::matches<S> && !std::is_same_v<typename S::result_type::value_type, bool>;

  template <class S>
  static Cost cost(const S& statement, const Resources<Kokkos::Cuda>&) {
    return {seconds_of_launch + sporos::detail::expected_terms(statement) * seconds_of_term};
  }

  template <class S>
  class Plan;
};

template <class S>
class SparseSumByMatches::Plan {
  using Compute = detail::compute_of<S>;
  using Tensor = typename S::result_type::tensor_type;
  using New = detail::NewCsr<Tensor>;
  using B = decltype(detail::csr_view(Pattern::left(std::declval<const S&>()).tensor()));
  using C = decltype(detail::csr_view(Pattern::right(std::declval<const S&>()).tensor()));
  using Sum = SparseSum<Compute, B, C, typename New::View>;

 public:
  Plan(const S& statement, const Resources<Kokkos::Cuda>& resources)
      : statement_(statement),
        workspace_((bounds_of(statement), resources.scratch().template borrow<Workspace>())),
        sum_(resources.space(), left(), right(), *workspace_) {}

  /// The first pass: how many nonzeros each row of the result has.
  void prepare() { count(); }

  void run() {
    sum_.read(left(), right());
    if (!made_) count();
    sum_.fill(made_->make_room(nonzeros_), Pattern::template left_coefficient<Compute>(statement_),
              Pattern::template right_coefficient<Compute>(statement_));
    made_->put_into(statement_.result().tensor());
    made_.reset();
    space().fence("sporos::add");
  }

  /// The second pass alone.
  void refill() {
    sum_.read(left(), right());
    const auto& result = statement_.result().tensor();
    sum_.fill(detail::csr_view(result), Pattern::template left_coefficient<Compute>(statement_),
              Pattern::template right_coefficient<Compute>(statement_));
    space().fence("sporos::add");
  }

  /// Exact for the result, since the first pass counts its nonzeros.
  Bytes bytes() const {
    if (!made_) count();
    return {nonzeros_, New::bytes(statement_.result().tensor().extents(), nonzeros_), workspace_->size()};
  }
  std::int64_t held_bytes() const { return workspace_->size(); }
  void explain(std::ostream& out) const {
    out << "  result: in two passes: which nonzeros are in both operands, then columns and values\n";
  }

 private:
  auto left() const { return detail::csr_view(Pattern::left(statement_).tensor()); }
  auto right() const { return detail::csr_view(Pattern::right(statement_).tensor()); }
  const Kokkos::Cuda& space() const { return statement_.resources().space(); }

  void count() const {
    made_.emplace(statement_.result().tensor().extents());
    nonzeros_ = sum_.count(made_->positions());
  }

  const S& statement_;
  Scratch::Loan<Workspace> workspace_;
  // Analysis on demand: what estimate() finds, run() uses.
  mutable Sum sum_;
  mutable std::optional<New> made_;
  mutable std::int64_t nonzeros_ = 0;
};

}  // namespace sporos::gpu

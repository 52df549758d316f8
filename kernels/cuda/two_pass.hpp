// SPDX-License-Identifier: Apache-2.0
/// @file two_pass.hpp
/// The plan of a statement that makes a new CSR matrix of two others in two passes on the GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <utility>

#include "../nest/bounds.hpp"
#include "../statement/candidate.hpp"
#include "operands.hpp"

namespace sporos::gpu {

/// The first pass counts the nonzeros in each row of the result, the second writes columns and values.
///
/// Candidate has
///  - Pattern, with left() and right(), the operands, in CSR;
///  - Passes<Compute, B, C, New>, made of a space, both operands and a PassesWorkspace, with read(), count(),
///    and most_workspace_bytes(), which is asked after count();
///  - PassesWorkspace, borrowed from the scratch, with size() in bytes;
///  - fill(statement, passes, to), the second pass into the view of a CSR matrix;
///  - fence_name, and explanation, a line for explain().
template <class Candidate, class S>
class TwoPassPlan {
  using Pattern = typename Candidate::Pattern;
  using Workspace = typename Candidate::PassesWorkspace;
  using New = detail::NewCsr<typename S::result_type::tensor_type>;
  using B = decltype(detail::csr_view(Pattern::left(std::declval<const S&>()).tensor()));
  using C = decltype(detail::csr_view(Pattern::right(std::declval<const S&>()).tensor()));
  using Passes = typename Candidate::template Passes<detail::compute_of<S>, B, C, typename New::View>;

 public:
  TwoPassPlan(const S& statement, const Resources<Kokkos::Cuda>& resources)
      : statement_(statement),
        workspace_((bounds_of(statement), resources.scratch().template borrow<Workspace>())),
        passes_(resources.space(), left(), right(), *workspace_) {}

  /// The first pass: how many nonzeros each row of the result has.
  void prepare() { count(); }

  void run() {
    passes_.read(left(), right());
    if (!made_) count();
    Candidate::fill(statement_, passes_, made_->make_room(nonzeros_));
    made_->put_into(statement_.result().tensor());
    made_.reset();
    fence();
  }

  /// The second pass alone.
  void refill() {
    passes_.read(left(), right());
    Candidate::fill(statement_, passes_, detail::csr_view(statement_.result().tensor()));
    fence();
  }

  /// Exact for the result, since the first pass counts its nonzeros.
  Bytes bytes() const {
    if (!made_) count();
    return {nonzeros_, New::bytes(statement_.result().tensor().extents(), nonzeros_),
            passes_.most_workspace_bytes()};
  }
  std::int64_t held_bytes() const { return workspace_->size(); }
  void explain(std::ostream& out) const {
    out << "  result: in two passes: " << Candidate::explanation << '\n';
  }

 private:
  auto left() const { return detail::csr_view(Pattern::left(statement_).tensor()); }
  auto right() const { return detail::csr_view(Pattern::right(statement_).tensor()); }
  void fence() const { statement_.resources().space().fence(Candidate::fence_name); }

  void count() const {
    made_.emplace(statement_.result().tensor().extents());
    nonzeros_ = passes_.count(made_->positions());
  }

  const S& statement_;
  Scratch::Loan<Workspace> workspace_;
  // Analysis on demand: what estimate() finds, run() uses.
  mutable Passes passes_;
  mutable std::optional<New> made_;
  mutable std::int64_t nonzeros_ = 0;
};

}  // namespace sporos::gpu

// SPDX-License-Identifier: Apache-2.0
/// @file two_pass.hpp
/// The plan of a statement that makes a new CSR matrix from two others, in two passes on the GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <type_traits>
#include <utility>

#include "../../nest/bounds.hpp"
#include "../../operands/by_rows.hpp"
#include "../../operands/cuda/matrix_by_rows.hpp"
#include "../../operands/cuda/operands.hpp"
#include "../../protocol/candidate.hpp"

namespace sporos::gpu {

/// The first pass counts the nonzeros in each row of the result, the second writes columns and values.
///
/// Candidate has
///  - Pattern, with left() and right(): the operands, in CSR or, copied, in CSC;
///  - `is_transposed<S>`: whether the transpose of the result is made, which swaps the operands;
///  - `Passes<Compute, B, C, New>`, made from a space, both operands and a PassesWorkspace, with read(),
///    count() and, after count(), most_workspace_bytes();
///  - PassesWorkspace, borrowed from the scratch, with size() in bytes;
///  - fill(statement, passes, to): the second pass, into the view of a CSR matrix;
///  - fence_name, and explanation, a line for explain().
template <class Candidate, class S>
class TwoPassPlan {
  using Pattern = typename Candidate::Pattern;
  using Workspace = typename Candidate::PassesWorkspace;
  static constexpr bool is_transposed = Candidate::template is_transposed<S>;
  using New = detail::NewCsr<typename S::result_type::tensor_type, is_transposed>;
  using Operands = OperandsByRows<Pattern, is_transposed>;
  using First =
      MatrixByRows<std::remove_cvref_t<decltype(Operands::first(std::declval<const S&>()))>, is_transposed>;
  using Second =
      MatrixByRows<std::remove_cvref_t<decltype(Operands::second(std::declval<const S&>()))>, is_transposed>;
  using Passes = typename Candidate::template Passes<detail::compute_of<S>, typename First::View,
                                                     typename Second::View, typename New::View>;

 public:
  TwoPassPlan(const S& statement, const Resources<Kokkos::Cuda>& resources)
      : statement_(statement),
        workspace_((bounds_of(statement), resources.scratch().template borrow<Workspace>())),
        first_(resources),
        second_(resources),
        passes_(resources.space(), first_.view(Operands::first(statement)),
                second_.view(Operands::second(statement)), *workspace_) {}

  /// Runs the first pass, which counts the nonzeros in each row of the result.
  void prepare() { count(); }

  void run() {
    if (made_)
      read();
    else
      count();
    Candidate::fill(statement_, passes_, made_->make_room(nonzeros_));
    fence();
    made_->put_into(statement_.result().tensor());
    made_.reset();
  }

  /// Runs the second pass alone.
  void refill() {
    read();
    Candidate::fill(statement_, passes_, detail::csr_view<is_transposed>(statement_.result().tensor()));
    fence();
  }

  /// Exact for the result, since the first pass counts its nonzeros.
  Bytes bytes() const {
    if (!made_) count();
    return {nonzeros_, New::bytes(statement_.result().tensor().extents(), nonzeros_),
            passes_.most_workspace_bytes() + First::most_bytes(Operands::first(statement_)) +
                Second::most_bytes(Operands::second(statement_))};
  }
  std::int64_t held_bytes() const { return workspace_->size() + first_.held_bytes() + second_.held_bytes(); }
  void explain(std::ostream& out) const {
    constexpr int copies = First::is_copied + Second::is_copied;
    if constexpr (copies > 0)
      out << "  operands: " << (copies == 2 ? "both are" : "one is") << " copied by "
          << (is_transposed ? "columns" : "rows") << " first\n";
    out << "  result: in two passes: " << Candidate::explanation << '\n';
  }

 private:
  void read() const {
    first_.read(Operands::first(statement_));
    second_.read(Operands::second(statement_));
    passes_.read(first_.view(Operands::first(statement_)), second_.view(Operands::second(statement_)));
  }
  void fence() const { statement_.resources().space().fence(Candidate::fence_name); }

  void count() const {
    read();
    made_.emplace(statement_.result().tensor().extents());
    nonzeros_ = passes_.count(made_->positions());
  }

  const S& statement_;
  Scratch::Loan<Workspace> workspace_;
  // Analysis on demand: run() uses what estimate() has found.
  mutable First first_;
  mutable Second second_;
  mutable Passes passes_;
  mutable std::optional<New> made_;
  mutable std::int64_t nonzeros_ = 0;
};

}  // namespace sporos::gpu

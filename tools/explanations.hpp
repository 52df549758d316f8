// SPDX-License-Identifier: Apache-2.0
/// @file explanations.hpp
/// The statements that `sporos explain` and `sporos bench` know, each in a few formats of its operands.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <sporos/core/entries.hpp>
#include <string>
#include <vector>

#include "input.hpp"
#include "timing.hpp"

namespace sporos::tool {

/// The number of columns of dense factors unless an option says otherwise.
inline constexpr int columns_of_factors = 16;

/// The sparse operands of a statement; its dense factors have made-up values.
struct StatementOperands {
  AnyEntries A;  ///< sorted and merged, with real values
  AnyEntries B;  ///< the other sparse operand of spgemm, add and inner
  int columns = columns_of_factors;
};

/// Runs of a statement by the candidate that the library chooses.
struct StatementRuns {
  std::string kernel;
  Times times;
  std::int64_t bytes = 0;          ///< bytes of the operands and the result
  std::int64_t result_values = 0;  ///< number of values that the result stores
};

/// One candidate: what the library expects of it, and what was measured.
struct CandidateRuns {
  std::string kernel;
  double expected_seconds = 0;
  std::optional<Times> times;  ///< empty if it declines the statement
  std::string reason;          ///< why it declines the statement
};

/// One statement over tensors of given formats.
struct Explanation {
  std::string name;    ///< "spgemm"
  std::string format;  ///< format or loop order that tells it from others with this name: "csr", "ikj"
  int order;           ///< order of the sparse operands
  std::function<std::string(const StatementOperands&)> text;  ///< the output of explain()
  /// Runs it for this many seconds. A statement with a dense result runs as a plan; one with a sparse result
  /// finds its pattern in each run.
  std::function<StatementRuns(const StatementOperands&, double seconds)> run;
  /// Runs it this many times by each candidate, as a statement that is run once.
  std::function<std::vector<CandidateRuns>(const StatementOperands&, int repeats)> run_candidates;

  /// The statement itself: "A(i, j) = B(i, k) * C(k, j)".
  std::string statement() const;
};

/// The matrix used by statements explained without a file: entries on the diagonal and next to it.
Entries<double, 2> band();

/// Made-up operands for a statement: 1000 along each mode, a band of nonzeros.
StatementOperands made_up_operands(const Explanation& what, int columns = columns_of_factors);

/// The operands of a statement from the tensor in a file. B is A, except that spgemm multiplies A by its
/// transpose if it is not square, and add adds the transpose if it is square.
/// @param command  name of the command, for messages
/// @throws UsageError if the tensor is not of the statement's order, or does not fit
StatementOperands operands_from(const Input& input, const Explanation& what, int columns,
                                std::string_view command);

/// All explanations. Those with one name are consecutive, and the first is the default if no format is given.
/// The tensors of a statement are made only when it is explained or run.
std::vector<Explanation> explanations();

/// Parts of these, which are compiled separately.
std::vector<Explanation> explained_products();         ///< spmv, spmm
std::vector<Explanation> explained_sparse_products();  ///< spgemm
std::vector<Explanation> explained_sums();             ///< sddmm, add
std::vector<Explanation> explained_tensors();          ///< mttkrp, ttv, inner

}  // namespace sporos::tool

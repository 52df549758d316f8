// SPDX-License-Identifier: Apache-2.0
/// @file explanations.hpp
/// The statements that `sporos explain` and `sporos bench` know, each for a few formats of its operands.
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

/// Dense factors have as many columns unless an option says otherwise.
inline constexpr int columns_of_factors = 16;

/// What a statement is about; its dense factors have made-up values.
struct StatementOperands {
  AnyEntries A;  ///< sorted and merged, of real values
  AnyEntries B;  ///< the other sparse operand of spgemm, add and inner
  int columns = columns_of_factors;
};

/// Runs of a statement by the candidate that the library chooses.
struct StatementRuns {
  std::string kernel;
  Times times;
  std::int64_t bytes = 0;          ///< of the operands and the result
  std::int64_t result_values = 0;  ///< that the result stores
};

/// One candidate: what the library expects of it, and what was measured.
struct CandidateRuns {
  std::string kernel;
  double expected_seconds = 0;
  std::optional<Times> times;  ///< none if it does not take the statement
  std::string reason;          ///< why not
};

/// One statement over tensors of given formats.
struct Explanation {
  std::string name;    ///< "spgemm"
  std::string format;  ///< the format or loop order that distinguishes it from others of that name: "csr",
                       ///< "ikj"
  int order;           ///< of the sparse operands
  std::function<std::string(const StatementOperands&)> text;  ///< the output of explain()
  /// Runs it for so many seconds. A statement with a dense result is a plan; one with a sparse result finds
  /// its pattern in each run.
  std::function<StatementRuns(const StatementOperands&, double seconds)> run;
  /// Runs it so often by each candidate, as a statement that is run once.
  std::function<std::vector<CandidateRuns>(const StatementOperands&, int repeats)> run_candidates;

  /// The statement itself: "A(i, j) = B(i, k) * C(k, j)".
  std::string statement() const;
};

/// The matrix of statements that are explained without a file: entries on the diagonal and next to it.
Entries<double, 2> band();

/// Made-up operands for a statement: 1000 along each mode, a band of nonzeros.
StatementOperands made_up_operands(const Explanation& what, int columns = columns_of_factors);

/// The operands of a statement about the tensor in a file. B is A, except that spgemm multiplies A by its
/// transpose where it is not square, and add adds the transpose where it is.
/// @param command  for messages
/// @throws UsageError if the tensor is not of the statement's order, or does not fit
StatementOperands operands_from(const Input& input, const Explanation& what, int columns,
                                std::string_view command);

/// All explanations. Those of one name follow each other, and the first is the default if no format is given.
/// The tensors of a statement are made only when it is explained or run.
std::vector<Explanation> explanations();

/// Its parts, which are compiled apart from each other.
std::vector<Explanation> explained_products();         ///< spmv, spmm
std::vector<Explanation> explained_sparse_products();  ///< spgemm
std::vector<Explanation> explained_sums();             ///< sddmm, add
std::vector<Explanation> explained_tensors();          ///< mttkrp, ttv, inner

}  // namespace sporos::tool

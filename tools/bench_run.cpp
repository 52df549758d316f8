// SPDX-License-Identifier: Apache-2.0
/// @file bench_run.cpp
/// Runs the statements that `explain` knows, and times storing and converting tensors.
#include "bench_run.hpp"

#include <algorithm>
#include <array>
#include <sporos/formats/convert.hpp>
#include <utility>

#include "assembled.hpp"
#include "command.hpp"
#include "product.hpp"

namespace sporos::tool {
namespace {

constexpr std::int64_t most_products = std::int64_t{1} << 32;  // larger products take minutes

/// How long it takes to store entries in a format.
struct Assembly {
  std::string_view format;
  int order;
  Measurement (*measure)(const AnyEntries&, double seconds);
};

template <class F>
Measurement assemble_as(const AnyEntries& any, double seconds) {
  const auto& entries = std::get<Entries<double, F::order>>(any);
  return {.times = times_within(seconds, [&] { assembled<F>(entries); }),
          .bytes = assembled<F>(entries).bytes()};
}

constexpr std::array assemblies = {
    Assembly{"csr", 2, assemble_as<CSR<>>},          Assembly{"csc", 2, assemble_as<CSC<>>},
    Assembly{"coo", 2, assemble_as<COO<2>>},         Assembly{"dcsr", 2, assemble_as<DCSR<>>},
    Assembly{"bcsr2x2", 2, assemble_as<BCSR<2, 2>>}, Assembly{"csf", 3, assemble_as<CSF<3>>},
    Assembly{"coo", 3, assemble_as<COO<3>>}};

Measurement csr_to_csc(const AnyEntries& any, double seconds) {
  const auto A = assembled<CSR<>>(std::get<Entries<double, 2>>(any));
  return {.statement = "CSR -> CSC",
          .times = times_within(seconds, [&] { convert<CSC<>>(A); }),
          .bytes = 2 * A.bytes()};
}

bool is_in(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The format of all sparse operands of a statement; empty if they differ.
std::string format_of(const Explanation& what) {
  if (what.name != "spgemm") return what.format;
  return what.format == "ikj" ? "csr" : what.format == "jki" ? "csc" : "";
}

/// The additions and multiplications of one run.
double operations_of(const Explanation& what, const StatementOperands& operands, std::int64_t result_values) {
  const auto nnz = static_cast<double>(size_of(operands.A));
  const double columns = operands.columns;
  if (what.name == "spmm") return 2 * nnz * columns;
  if (what.name == "sddmm") return nnz * (2 * columns + 1);
  if (what.name == "mttkrp") return 3 * nnz * columns;
  if (what.name == "spgemm") return 2 * static_cast<double>(count_products(operands.A, operands.B));
  if (what.name == "add")
    return nnz + static_cast<double>(size_of(operands.B)) - static_cast<double>(result_values);
  return 2 * nnz;
}

/// The statement, with A under its own name if both operands are made from it.
std::string statement_of(const Explanation& what, const Input& input) {
  const bool square = input.extents()[0] == input.extents()[1];
  if (what.name == "spgemm") return square ? "C = A * A" : "C = A * transpose(A)";
  if (what.name == "add") return square ? "C = A + transpose(A)" : "C = A + A";
  return what.statement();
}

Measurement measure(const Explanation& what, const Input& input, const BenchPlan& plan) {
  const StatementOperands operands = operands_from(input, what, plan.columns, "bench");
  Measurement out{.statement = statement_of(what, input)};
  if (what.name == "spgemm" && operations_of(what, operands, 0) > 2 * static_cast<double>(most_products)) {
    out.left_out = text("more than ", most_products, " products of entries are too many");
    return out;
  }
  StatementRuns runs = what.run(operands, plan.seconds);
  out.kernel = runs.kernel;
  out.operations = operations_of(what, operands, runs.result_values);
  out.bytes = runs.bytes;
  out.times = std::move(runs.times);
  return out;
}

}  // namespace

std::vector<std::string> bench_operations() {
  std::vector<std::string> names;
  for (const Explanation& one : explanations())
    if (!is_in(names, one.name)) names.push_back(one.name);
  names.insert(names.end(), {"assemble", "to_csc"});
  return names;
}

std::vector<std::string> bench_formats() {
  std::vector<std::string> names;
  for (const Assembly& one : assemblies)
    if (!is_in(names, one.format)) names.emplace_back(one.format);
  return names;
}

std::vector<Measurement> measure(const Input& input, const BenchPlan& plan) {
  if (input.order() != 2 && input.order() != 3)
    throw UsageError(text(input.path, ": holds a tensor of order ", input.order(),
                          "; bench takes matrices and tensors of order 3"));
  std::vector<Measurement> out;
  const auto add = [&](std::string_view operation, std::string_view format, const auto& run) {
    if (!is_in(plan.operations, operation) || !is_in(plan.formats, format)) return;
    out.push_back(run());
    out.back().operation = operation;
    out.back().format = format;
  };
  const std::vector<Explanation> all = explanations();
  const auto has_order = [&](const Explanation& what) { return what.order == input.order(); };
  const AnyEntries entries =
      operands_from(input, *std::find_if(all.begin(), all.end(), has_order), 1, "bench").A;
  for (const Explanation& what : all)
    if (has_order(what)) add(what.name, format_of(what), [&] { return measure(what, input, plan); });
  for (const Assembly& one : assemblies)
    if (one.order == input.order())
      add("assemble", one.format, [&] {
        Measurement measured = one.measure(entries, plan.seconds);
        measured.statement = text("entries -> ", one.format);
        return measured;
      });
  if (input.order() == 2) add("to_csc", "csr", [&] { return csr_to_csc(entries, plan.seconds); });
  return out;
}

}  // namespace sporos::tool

// SPDX-License-Identifier: Apache-2.0
/// @file explain_on_device.cpp
/// The operands of explained products, and the table of their plans.
#include "explain_on_device.hpp"

#include <exception>
#include <optional>
#include <sporos/core/error.hpp>
#include <utility>
#include <variant>
#include <vector>

#include "assembled.hpp"
#include "device_product.hpp"
#include "explanations.hpp"
#include "memory.hpp"
#include "modes.hpp"
#include "operands.hpp"
#include "statistics.hpp"

namespace sporos::tool {
namespace {

/// Fills a tensor with values in (0, 1], which every type can hold; a product takes the same time as with
/// random ones.
template <class T>
T filled(T tensor) {
  for (std::int64_t q = 0; q < tensor.nnz(); ++q) tensor.values()(q) = 1.0 / static_cast<double>(1 + q % 17);
  return tensor;
}

/// A dense factor.
RealMatrix factor(std::int64_t rows, std::int64_t columns) {
  expect_memory(sizeof(double) * static_cast<double>(rows) * static_cast<double>(columns),
                text("a dense factor of ", columns, " columns"));
  return filled(RealMatrix({rows, columns}));
}

/// The statement, with operands on the host.
class Explained {
 public:
  Explained(const DeviceExplanation& what, const Entries<double, 2>& A)
      : is_sparse_(what.name == "spgemm"), a_(filled(assembled<CSR<>>(A))) {
    if (is_sparse_ && A.extents[0] != A.extents[1])
      b_ =
          assembled<CSR<>>(std::get<Entries<double, 2>>(merged(permuted(A, {1, 0}), Duplicates::sum, false)));
    else if (is_sparse_)
      b_ = a_;
    else
      dense_b_ = factor(a_.extent(1), what.name == "spmv" ? 1 : what.columns);
  }

  DeviceRun run(const DeviceSettings& settings) const {
    if (is_sparse_) return spgemm_on_device(a_, b_, settings).run;
    return spmm_on_device(a_, dense_b_, settings).run;
  }

 private:
  bool is_sparse_;
  RealRows a_, b_;
  RealMatrix dense_b_;
};

void expect_statement(const DeviceExplanation& what, const DeviceSettings& settings) {
  if (what.name != "spmv" && what.name != "spmm" && what.name != "spgemm")
    throw UsageError("on the GPU, explain knows spmv, spmm and spgemm, not " +
                     (what.name.empty() ? "no name" : what.name));
  if (what.name != "spmm" && settings.plan != DevicePlan::automatic)
    throw UsageError(text("--plan is for spmm; ", what.name, " has one kernel on the GPU"));
  if (what.name == "spgemm" && settings.value != DeviceValue::real64)
    throw UsageError("--type is for spmv and spmm; spgemm multiplies doubles");
}

/// Adds the measured plans, and why others decline the operands.
void measure_plans(Report& report, const Explained& statement, const DeviceSettings& settings, bool all) {
  std::vector<std::vector<Cell>> measured, refused;
  std::vector<std::string> remarks;
  for (const DevicePlan plan : all ? device_plans() : std::vector{settings.plan}) {
    DeviceSettings one = settings;
    one.plan = plan;
    const std::string name(to_string(plan));
    const auto refuse = [&](const std::exception& why) {
      if (!all) throw;
      refused.push_back({name, std::string(why.what())});
      remarks.emplace_back(why.what());
    };
    try {
      const DeviceRun run = statement.run(one);
      measured.push_back({name, run.kernel, Seconds{run.expected_seconds}, Seconds{run.times.median()},
                          Seconds{run.times.fastest()}});
    } catch (const UsageError& why) {
      refuse(why);
    } catch (const MemoryError& why) {
      refuse(why);
    }
  }
  report.table("plans",
               {{"plan", "plan"},
                {"kernel", "kernel"},
                {"expected_seconds", "expected"},
                {"seconds", "median"},
                {"fastest_seconds", "fastest"}},
               std::move(measured));
  report.table("refused", {{"plan", ""}, {"reason", ""}}, std::move(refused));
  for (const std::string& remark : remarks) report.remark(remark);
}

}  // namespace

Outcome explain_on_device(const DeviceExplanation& what, const DeviceSettings& settings) {
  expect_statement(what, settings);
  std::optional<Input> input;
  if (!what.file.empty()) {
    input = read_matrix(what.file, what.input);
    expect_real(*input, "explain");
    expect_narrow(*input, "explain");
  }
  const Explained statement(what, input ? operand_of<double>(*input) : band());
  DeviceSettings unrun = settings;
  unrun.explain = true;
  unrun.repeats = 0;
  const DeviceRun run = statement.run(unrun);

  Outcome outcome;
  Report& report = outcome.report;
  report.fact("command", "", std::string("explain"));
  report.fact("name", "", what.name);
  report.fact("space", "", std::string("cuda"));
  report.fact("device", "", run.device);
  report.fact("type", "", std::string(to_string(settings.value)));
  report.fact("kernel", "", run.kernel);
  report.fact("expected_seconds", "", Seconds{run.expected_seconds});
  report.fact("explanation", "", run.explanation);
  if (input) describe(report.section("A", "A  " + input->path), *input);
  std::string text = run.explanation;
  report.fact("statement", "", text.substr(0, text.find('\n')));
  while (text.ends_with('\n')) text.pop_back();
  report.remark(text);
  if (input) {
    const bool all = what.name == "spmm" && settings.plan == DevicePlan::automatic;
    measure_plans(report, statement, settings, all);
  }
  return outcome;
}

}  // namespace sporos::tool

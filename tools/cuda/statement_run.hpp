// SPDX-License-Identifier: Apache-2.0
/// @file statement_run.hpp
/// Runs a statement on the GPU as a plan, and records its time and the time that the library predicts.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <sporos/core/statement.hpp>
#include <sporos/formats/format_name.hpp>
#include <sporos/kernels/statement/explain.hpp>
#include <sporos/kernels/statement/plan.hpp>
#include <sstream>
#include <string>

#include "../command.hpp"
#include "../device_product.hpp"

namespace sporos::tool {

/// The time of one call of `body`, including the work that it starts on the GPU.
template <class Body>
double seconds_of(const Body& body) {
  Kokkos::fence("sporos: before it is timed");
  const Kokkos::Timer timer;
  body();
  Kokkos::fence("sporos: until the GPU is through");
  return timer.seconds();
}

/// A copy in the GPU's memory; copying time is added to the run's copy_seconds.
template <class T>
auto copied(const T& tensor, DeviceRun& run) {
  Tensor<typename T::value_type, typename T::format_type, Cuda> out;
  run.copy_seconds += seconds_of([&] { out = tensor.template copy_to<Cuda>(); });
  return out;
}

template <class T>
Stored stored_on_device(const T& tensor) {
  return {format_name<typename T::format_type>(), tensor.nnz(), tensor.bytes(), 0};
}

/// The seconds that the candidates predict for a run of the cheapest plan.
template <class S>
double expected_seconds(const S& statement) {
  return [&]<class... K>(TypeList<K...>) {
    std::string why_not;
    return std::min({sporos::detail::seconds<K>(statement, Use::often, why_not)...});
  }(CandidatesOf<S>{});
}

/// Plans the statement, and runs it as many times as the settings say.
/// @param run_again  the step that is repeated: given the plan, runs it once
/// @throws ScheduleError if no candidate can run the statement
template <class S, class RunAgain>
void run_statement(const S& statement, const DeviceSettings& settings, DeviceRun& out,
                   const RunAgain& run_again) {
  out.device = Cuda().cuda_device_prop().name;
  const Kokkos::Timer timer;
  auto product = plan(statement);
  Kokkos::fence("sporos: until the plan is there");
  out.plan_seconds = timer.seconds();
  out.plan_bytes = product.bytes();
  if (settings.explain) {
    std::ostringstream words;
    words << statement << "\n\n";
    product.explain(words);
    out.explanation = words.str();
  }
  out.kernel = product.candidate();
  out.expected_seconds = expected_seconds(statement);
  if (settings.repeats == 0) return;
  const auto run = [&] {
    run_again(product);
    Kokkos::fence("sporos: until the GPU is through");
  };
  run();
  out.times = times_of(settings.repeats, run);
}

/// Does the same for a statement that a candidate of the plan in the settings has to run: the first of them
/// that takes it.
/// @throws UsageError with the last one's reason for declining it
template <class Candidate, class... Others, class S>
void run_statement_by(const S& statement, const DeviceSettings& settings, DeviceRun& out) {
  const std::string refused = text("--plan ", to_string(settings.plan), ": ", Candidate::name);
  const auto forced = statement.template use<Candidate>();
  if constexpr (std::is_same_v<CandidatesOf<decltype(forced)>, TypeList<>>) {
    throw UsageError(text(refused, " does not take values of type ", to_string(settings.value),
                          ": it computes ", Candidate::takes));
  } else {
    const auto offer = sporos::detail::offer_of<Candidate>(forced, Use::often);
    if (offer.takes())
      run_statement(forced, settings, out, [](auto& product) { product.run(); });
    else if constexpr (sizeof...(Others) > 0)
      run_statement_by<Others...>(statement, settings, out);
    else
      throw UsageError(text(refused, " does not take these matrices: ", offer.reason()));
  }
}

}  // namespace sporos::tool

// SPDX-License-Identifier: Apache-2.0
/// @file cp_run_of.hpp
/// The template that implements cp_run.hpp, instantiated in cp_run_<orders>.cpp.
#pragma once

#include <Kokkos_Timer.hpp>

#include "../examples/cp_als/cp_als.hpp"
#include "assembled.hpp"
#include "cp_run.hpp"

namespace sporos::tool {

template <int Order>
CpRun run_cp(const Entries<double, Order>& entries, const CpSearch& search) {
  CpRun out;
  Kokkos::Timer timer;
  const auto tensor = assembled<CSF<Order>>(entries);
  out.tensor = {format_name<CSF<Order>>(), tensor.nnz(), tensor.bytes(), timer.seconds()};

  timer.reset();
  cp::Options options;
  options.rank = search.rank;
  options.iterations = search.iterations;
  options.tolerance = search.tolerance;
  options.seed = search.seed;
  const cp::Model model = cp::als(tensor, options);
  out.seconds = timer.seconds();

  out.fits = model.fits;
  out.converged = model.converged;
  for (const auto& factor : model.factors) out.factors.push_back(sporos::entries(factor, Zeros::keep));
  out.lambda = Entries<double, 2>({search.rank, 1}, search.rank);
  for (std::int64_t r = 0; r < search.rank; ++r)
    out.lambda.set(r, {r, 0}, model.lambda[static_cast<std::size_t>(r)]);
  return out;
}

}  // namespace sporos::tool

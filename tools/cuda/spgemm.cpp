// SPDX-License-Identifier: Apache-2.0
/// @file spgemm.cpp
/// Products of two sparse matrices on the GPU.
#include <sporos/core/index.hpp>
#include <sporos/kernels/statement/run.hpp>

#include "statement_run.hpp"

namespace sporos::tool {

DeviceProduct<RealRows> spgemm_on_device(const RealRows& A, const RealRows& B,
                                         const DeviceSettings& settings) {
  using namespace sporos::indices;
  DeviceProduct<RealRows> out;
  const auto a = copied(A, out.run), b = copied(B, out.run);
  const Tensor<double, CSR<>, Cuda> c({A.extent(0), B.extent(1)});
  const auto statement = assign(c(i, j), a(i, k) * b(k, j));
  // As on the host, each run finds the pattern of C again.
  run_statement(statement, settings, out.run, [&](auto&) { statement.run(); });
  out.run.plan_seconds.reset();
  out.run.plan_bytes.reset();
  if (settings.explain) out.run.explanation = explain(statement);
  out.run.A = stored_on_device(a);
  out.run.B = stored_on_device(b);
  out.run.C = stored_on_device(c);
  out.C = c.copy_to<Host>();
  return out;
}

}  // namespace sporos::tool

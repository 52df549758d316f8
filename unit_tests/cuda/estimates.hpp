// SPDX-License-Identifier: Apache-2.0
/// @file estimates.hpp
/// What statements on the GPU allocate against what they are estimated to.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <sporos/core/peak_memory.hpp>
#include <sporos/sporos.hpp>

namespace sporos::test {

/// Runs a statement with scratch memory that is empty, and compares.
template <class Statement>
void expect_bounded(const Statement& statement) {
  SCOPED_TRACE(statement.str());
  const Estimate most = estimate(statement);
  const Resources<Cuda> fresh{Cuda()};
  std::optional<PeakMemory> peak(std::in_place);
  statement.on(fresh).run();
  const std::int64_t taken = peak->bytes();
  peak.reset();
  const std::int64_t result = Statement::result_type::format::is_dense ? 0 : most.result;
  EXPECT_LE(taken, result + most.workspace + 4096);
}

}  // namespace sporos::test

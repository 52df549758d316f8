// SPDX-License-Identifier: Apache-2.0
/// @file bounded.hpp
/// What statements and plans on the host allocate, as it happens, against what their estimates say.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <sporos/core/peak_memory.hpp>
#include <sporos/sporos.hpp>
#include <string>

namespace sporos::test {

/// Tables of where chunks begin and the like, which are not counted and not estimated either, but for small
/// arrays that are rounded up to their alignment.
inline constexpr std::int64_t unestimated = 4096;

/// The most memory that work() takes at a time, from a pool that is empty.
template <class Work>
std::int64_t memory_of(const Work& work) {
  pool().release();
  std::optional<PeakMemory> peak(std::in_place);
  work();
  return peak->bytes();
}

/// The bytes that an estimate allows to allocate: a dense result is there before.
template <class Statement>
std::int64_t allowed_by(const Estimate& most) {
  return (Statement::result_type::format::is_dense ? 0 : most.result) + most.workspace;
}

/// Runs a statement.
/// @return what is wrong with its estimate; "" if nothing is
template <class Statement>
std::string wrong_estimate(const Statement& statement) {
  const Estimate most = estimate(statement);
  const std::int64_t taken = memory_of([&] { statement.run(); });
  const std::int64_t allowed = allowed_by<Statement>(most), values = statement.result().tensor().nnz();
  if (taken > allowed + unestimated)
    return text(statement.str(), " allocates ", taken, " bytes, and its estimate is ", allowed);
  if (values > most.values)
    return text(statement.str(), " has ", values, " values, and its estimate is ", most.values);
  // The levels may be shared with an operand.
  using Value = typename Statement::result_type::value_type;
  if (!Statement::result_type::format::is_dense && taken < values * static_cast<std::int64_t>(sizeof(Value)))
    return text("of ", statement.str(), " ", taken, " bytes are counted, fewer than its values have");
  return {};
}

/// The same of a plan, which is made, run and run again.
template <class Statement>
std::string wrong_estimate_of_plan(const Statement& statement) {
  std::int64_t allowed = 0, held = 0;
  const std::int64_t taken = memory_of([&] {
    auto product = plan(statement);
    allowed = allowed_by<Statement>(product.estimate());
    product.run();
    product.run();
    held = product.bytes();
  });
  if (taken > allowed + unestimated)
    return text("a plan of ", statement.str(), " allocates ", taken, " bytes, and its estimate is ", allowed);
  if (taken + unestimated < held)
    return text("a plan of ", statement.str(), " says that it holds ", held, " bytes, of which ", taken,
                " are counted");
  return {};
}

}  // namespace sporos::test

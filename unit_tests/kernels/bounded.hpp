// SPDX-License-Identifier: Apache-2.0
/// @file bounded.hpp
/// What statements and plans on the host allocate, as it happens, against what their estimates say.
#pragma once

#include <cstdint>
#include <sporos/sporos.hpp>
#include <string>

#include "allocated.hpp"

namespace sporos::test {

/// Runs a statement from a pool that is empty.
/// @return what is wrong with its estimate; "" if nothing is
template <class Statement>
std::string wrong_estimate(const Statement& statement) {
  const Estimate most = estimate(statement);
  pool().release();
  const std::int64_t taken = memory_of([&] { statement.run(); });
  const std::int64_t allowed = allocated<Statement>(most), values = statement.result().tensor().nnz();
  if (taken > allowed + uncounted)
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
  pool().release();
  const std::int64_t taken = memory_of([&] {
    auto product = plan(statement);
    allowed = allocated<Statement>(product.estimate());
    product.run();
    product.run();
    held = product.bytes();
  });
  if (taken > allowed + uncounted)
    return text("a plan of ", statement.str(), " allocates ", taken, " bytes, and its estimate is ", allowed);
  if (taken + uncounted < held)
    return text("a plan of ", statement.str(), " says that it holds ", held, " bytes, of which ", taken,
                " are counted");
  return {};
}

}  // namespace sporos::test

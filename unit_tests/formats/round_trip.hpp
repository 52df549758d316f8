// SPDX-License-Identifier: Apache-2.0
/// @file round_trip.hpp
/// Entries into a format, over another one, and back.
#pragma once

#include <sporos/formats/convert.hpp>
#include <sporos/formats/validate.hpp>

#include "reference.hpp"

namespace sporos::test {

template <TensorFormat F, TensorFormat Other>
void expect_round_trip(const Entries<double, F::order>& entries) {
  const auto expected = table(entries);
  const auto t = assemble<F>(entries);
  EXPECT_NO_THROW(validate(t));
  EXPECT_TRUE(same(table(t), expected)) << F::str();
  const auto other = convert<Other>(t);
  EXPECT_NO_THROW(validate(other));
  EXPECT_TRUE(same(table(other), expected)) << Other::str();
  EXPECT_TRUE(same(table(convert<F>(other)), expected)) << F::str();
}

}  // namespace sporos::test

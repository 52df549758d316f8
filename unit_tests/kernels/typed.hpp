// SPDX-License-Identifier: Apache-2.0
/// @file typed.hpp
/// Operands of any value type, for tests that are not about formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>

#include "statements.hpp"

namespace sporos::test {

/// A random pattern whose values are drawn one after another by `value(std::mt19937_64&)`.
template <class Value, class F, class Draw>
Tensor<Value, F> tensor_with(const Sizes& sizes, std::string_view modes, double density, std::uint64_t seed,
                             const Draw& value) {
  // The pattern is taken from a tensor of doubles, so that each format is assembled for one type only.
  const auto pattern = random_tensor<F>(sizes, modes, density, false, seed);
  const auto values = make_array<Value>("values", pattern.nnz());
  std::mt19937_64 draw(seed);
  for (std::size_t at = 0; at < values.extent(0); ++at) values(at) = static_cast<Value>(value(draw));
  return {pattern.extents(), pattern.levels(), values};
}

/// A tensor of small nonzero values.
template <class Value, class F>
Tensor<Value, F> small_tensor(const Sizes& sizes, std::string_view modes, double density,
                              std::uint64_t seed) {
  return tensor_with<Value, F>(sizes, modes, density, seed, small_value<Value>);
}

}  // namespace sporos::test

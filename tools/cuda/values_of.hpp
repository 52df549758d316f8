// SPDX-License-Identifier: Apache-2.0
/// @file values_of.hpp
/// Operands in the type of value in which they are multiplied, and how sums of that type are rounded.
#pragma once

#include <cstddef>
#include <sporos/core/tensor.hpp>
#include <sporos/formats/value_cast.hpp>
#include <string_view>
#include <type_traits>

#include "../command.hpp"
#include "../device_product.hpp"

namespace sporos::tool {

/// A tensor with its values converted to another type; the levels are shared.
/// @param name  name of the operand, for messages
template <class Value, class F>
Tensor<Value, F> with_values_of(const Tensor<double, F>& tensor, std::string_view name,
                                const DeviceSettings& settings) {
  if constexpr (std::is_same_v<Value, double>) {
    return tensor;
  } else {
    const auto values = make_array<Value>("sporos::operand", tensor.nnz());
    for (std::size_t q = 0; q < values.extent(0); ++q)
      if (!value_cast(tensor.values()(q), values(q)))
        throw UsageError(text("the value ", tensor.values()(q), " of ", name, " is too large for --type ",
                              to_string(settings.value),
                              std::is_same_v<Value, half> ? "; bfloat16 has the range of float" : ""));
    return {tensor.extents(), tensor.levels(), values};
  }
}

template <class Value>
Rounding rounding_of_sums() {
  if (std::is_same_v<Value, float>) return {.sum = 0x1p-24, .least = 0x1p-149};
  // Tensor cores truncate where other additions round.
  if (is_narrow_float_v<Value>) return {.sum = 0x1p-23, .least = 0x1p-149};
  return {};
}

}  // namespace sporos::tool

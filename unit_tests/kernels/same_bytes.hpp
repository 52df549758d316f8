// SPDX-License-Identifier: Apache-2.0
/// @file same_bytes.hpp
/// Whether two tensors store the same, to the last bit.
#pragma once

#include <cstring>
#include <sporos/core/tensor.hpp>

namespace sporos::test {

/// Whether two tensors of one format consist of the same bytes: values, and all arrays of the levels.
template <AnyTensor Left, AnyTensor Right>
bool same_bytes(const Left& a, const Right& b) {
  const auto same_array = [](const auto& x, const auto& y) {
    return x.extent(0) == y.extent(0) &&
           (x.extent(0) == 0 || std::memcmp(x.data(), y.data(), x.extent(0) * sizeof(*x.data())) == 0);
  };
  bool same = same_array(a.values(), b.values());
  a.for_each_level([&](auto level, const auto& storage) {
    const auto& other = b.template level<decltype(level)::value>();
    if constexpr (requires { storage.positions; })
      same = same && same_array(storage.positions, other.positions);
    if constexpr (requires { storage.coordinates; })
      same = same && same_array(storage.coordinates, other.coordinates);
  });
  return same;
}

}  // namespace sporos::test

// SPDX-License-Identifier: Apache-2.0
/// @file assembled.hpp
/// The assembly of formats that several commands use, compiled once because it takes long.
#pragma once

#include <sporos/core/tensor.hpp>
#include <sporos/formats/duplicates.hpp>
#include <sporos/formats/named.hpp>

#include "input.hpp"

namespace sporos::tool {

/// COO with coordinates wide enough for any extent.
template <int Order>
using WideCoo = COO<Order, detail::natural_order<Order>, std::int64_t, std::int64_t>;

/// Does the same as `assemble<F>(entries, duplicates)`, but is compiled once, in passage_<...>.cpp, for the
/// formats listed there.
template <TensorFormat F, TensorValue Value>
Tensor<Value, F> assembled(const Entries<Value, F::order>& entries,
                           Duplicates duplicates = default_duplicates<F>);

}  // namespace sporos::tool

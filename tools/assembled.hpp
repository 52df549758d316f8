// SPDX-License-Identifier: Apache-2.0
/// @file assembled.hpp
/// The assembly of formats that several commands use, which takes long to compile.
#pragma once

#include <sporos/core/tensor.hpp>
#include <sporos/formats/duplicates.hpp>
#include <sporos/formats/named.hpp>

#include "input.hpp"

namespace sporos::tool {

/// COO with coordinates that no extent exceeds.
template <int Order>
using WideCoo = COO<Order, detail::natural_order<Order>, std::int64_t, std::int64_t>;

/// The same as `assemble<F>(entries, duplicates)`, compiled once, in passage_<...>.cpp, for the formats that
/// are listed there.
template <TensorFormat F, TensorValue Value>
Tensor<Value, F> assembled(const Entries<Value, F::order>& entries,
                           Duplicates duplicates = default_duplicates<F>);

}  // namespace sporos::tool

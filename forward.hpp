// SPDX-License-Identifier: Apache-2.0
/// @file forward.hpp
/// For headers of programs that name tensors: Tensor, the formats and the spaces, without what computes with
/// them. Parsed in little more time than Kokkos itself.
#pragma once

#include "core/space.hpp"
#include "core/tensor.hpp"
#include "formats/named.hpp"

namespace sporos {

template <TensorValue Value, int Order>
struct Entries;
template <class Result, class Right, class Order, class Options>
class Statement;
template <class S>
class Plan;

}  // namespace sporos

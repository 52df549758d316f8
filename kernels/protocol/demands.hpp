// SPDX-License-Identifier: Apache-2.0
/// @file demands.hpp
/// Passes the demands of a statement on its computation to a statement that computes a part of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "../../core/resources.hpp"
#include "../../core/statement.hpp"

namespace sporos::detail {

/// The resources that are left for a part of a computation if `bytes` bytes are allocated besides.
template <class Space>
Resources<Space> besides(const Resources<Space>& resources, std::int64_t bytes) {
  if (resources.memory_limit() == Resources<Space>::unlimited) return resources;
  return resources.within(std::max<std::int64_t>(0, resources.memory_limit() - bytes));
}

/// The statement `part` with the resources of another one, and with those options of its schedule that
/// concern parts of a computation.
/// @param bytes  that the whole allocates besides the part
template <class S, class Result, class Right, class Order, class Options>
auto with_demands_of(const S& whole, const Statement<Result, Right, Order, Options>& part,
                     std::int64_t bytes = 0) {
  const auto options = whole.options().passed_on_to(part.options());
  return Statement<Result, Right, Order, std::remove_const_t<decltype(options)>>(
      part.result(), part.right(), options, part.accumulates(), besides(whole.resources(), bytes));
}

}  // namespace sporos::detail

// SPDX-License-Identifier: Apache-2.0
/// @file expression_base.hpp
/// ExpressionBase: what all nodes of index notation have in common.
#pragma once

#include "notation.hpp"

namespace sporos {

/// The base of all nodes, with what holds for a node that does not say otherwise.
struct ExpressionBase {
  /// Whether the node is a sum: linear in all its children, and present wherever one of them is. Other nodes
  /// that are not a product in this respect have a member `presence` (presence.hpp).
  static constexpr bool is_sum = false;
  /// The number of children, from the left, in which the node is linear: a sum over such a child equals the
  /// sum over the node.
  static constexpr int factors = 0;
  /// Whether the node has one value, because no index variable is left in it.
  static constexpr bool is_number = false;
  /// Whether its values are real numbers whatever those of its children are: abs, or a comparison. Children
  /// are then computed with in a type of their own, complex where they are.
  static constexpr bool gives_real = false;
  /// How tightly its text binds.
  static constexpr Binding binding = Binding::whole;
};

}  // namespace sporos

// SPDX-License-Identifier: Apache-2.0
/// @file presence.hpp
/// Where a node with two children is present, given where they are.
#pragma once

namespace sporos {

/// Which children must be present for a node to be present. Where the node is present and a child is not, the
/// child counts as zero.
enum class Presence {
  all,    ///< present where both are, as a product is
  any,    ///< present where either is, as a sum is
  first,  ///< present where the left one is
  second  ///< present where the right one is
};

/// Whether a node, or a node's operation, says itself where it is present.
template <class Node>
concept has_presence = requires { Node::presence; };

/// The presence of a node, or of a node's operation: its member `presence`, or else that of a sum or of a
/// product, depending on `is_sum`.
template <class Node>
constexpr Presence presence_of() {
  if constexpr (has_presence<Node>)
    return Node::presence;
  else
    return Node::is_sum ? Presence::any : Presence::all;
}

/// Whether a node is present, given whether each child is.
constexpr bool is_present(Presence presence, bool left, bool right) {
  switch (presence) {
    case Presence::all:
      return left && right;
    case Presence::any:
      return left || right;
    case Presence::first:
      return left;
    case Presence::second:
      return right;
  }
  return false;
}

/// Whether bounds on the coordinates of the given children bound those of the node.
constexpr bool is_bounded_by(Presence presence, bool left, bool right) {
  switch (presence) {
    case Presence::all:
      return left || right;
    case Presence::any:
      return left && right;
    case Presence::first:
      return left;
    case Presence::second:
      return right;
  }
  return false;
}

}  // namespace sporos

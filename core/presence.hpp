// SPDX-License-Identifier: Apache-2.0
/// @file presence.hpp
/// Where a node of two children is present, given where they are.
#pragma once

namespace sporos {

/// The children of which a node needs one to be present. Where it is present and one of them is not, that
/// one counts as zero.
enum class Presence {
  all,    ///< present where both are, as a product is
  any,    ///< present where either is, as a sum is
  first,  ///< present where the left one is
  second  ///< present where the right one is
};

/// Whether a node, or the operation of one, says itself where it is present.
template <class Node>
concept has_presence = requires { Node::presence; };

/// The presence of a node, or of the operation of one: its member `presence`; without one, that of a sum or
/// of a product, as `is_sum` says.
template <class Node>
constexpr Presence presence_of() {
  if constexpr (has_presence<Node>)
    return Node::presence;
  else
    return Node::is_sum ? Presence::any : Presence::all;
}

/// Whether a node is present where its children are or are not.
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

/// Whether something that bounds the coordinates of children bounds those of the node.
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

// SPDX-License-Identifier: Apache-2.0
/// @file loops.hpp
/// The loops of a statement as types: the variable of each, and their order.
#pragma once

#include "index.hpp"

namespace sporos {

/// One loop of a statement: it runs over all coordinates of an index variable.
template <char Variable>
struct Loop {
  static constexpr char variable = Variable;
};

/// The loops of a statement, outermost first, as a type: `LoopOrder<Loop<'i'>, Loop<'k'>, Loop<'j'>>`.
template <class... Loops>
struct LoopOrder {
  static constexpr int size = static_cast<int>(sizeof...(Loops));
  static constexpr NameList names = NameList::of(Loops::variable...);
};

/// A loop order by its variables: `loops_over<'i', 'k', 'j'>`.
template <char... Variables>
using loops_over = LoopOrder<Loop<Variables>...>;

}  // namespace sporos

// SPDX-License-Identifier: Apache-2.0
/// @file by_positions.hpp
/// Shares the outermost loops of a statement among the threads of a GPU, by nonzeros of the operand that
/// these loops run over, so that long rows do not keep one thread busy while others wait.
#pragma once

#include <tuple>
#include <type_traits>

#include "../../../core/statement.hpp"

namespace sporos::gpu::detail {

/// An operand whose outermost levels match the outermost loops, level by level, and how many do.
struct LeadingOperand {
  int place = -1;
  int loops = 0;
};

/// The operand with the most such loops; none if only one loop would be shared, or no nonzeros counted.
template <class... A>
constexpr LeadingOperand leading_operand(const NameList& order, TypeList<A...>) {
  LeadingOperand best{-1, 1};
  int place = 0;
  const auto look = [&]<class Access>(TypeList<Access>) {
    using F = typename Access::format;
    int loops = 0;
    bool is_sparse = false;
    while (!F::is_blocked && !is_part_v<typename Access::tensor_type> && loops < F::levels &&
           loops < order.size && Access::level_names[loops] == order[loops] &&
           F::properties[static_cast<std::size_t>(loops)].ordered) {
      is_sparse = is_sparse || !F::properties[static_cast<std::size_t>(loops)].full;
      ++loops;
    }
    if (is_sparse && loops > best.loops) best = {place, loops};
    ++place;
  };
  (look(TypeList<A>{}), ...);
  return best;
}

/// The outermost loops, fused and shared by positions.
template <class Order>
constexpr LoopSchedule shared_by_positions(int loops) {
  LoopSchedule out;
  out.current = Order::names;
  char fused = Order::names[0];
  for (int at = 1; at < loops; ++at) {
    const char made = static_cast<char>('0' + at);
    out = out.with({LoopRelation::Kind::fuse, fused, Order::names[at], made});
    fused = made;
  }
  out = out.with({LoopRelation::Kind::pos, fused, ' ', '0', ' ', 0});
  out.parallel = '0';
  return out;
}

/// The statement with its outermost loops shared in this way; unchanged if the user has scheduled its loops,
/// or if no operand leads them.
template <class S>
auto share_by_positions(const S& statement) {
  constexpr LeadingOperand leading = leading_operand(S::order::names, accesses_of<typename S::right_type>{});
  if constexpr (!S::schedule::loops::are_plain || leading.place < 0) {
    return statement;
  } else {
    return [&]<class... A>(TypeList<A...>) {
      using Operand = std::tuple_element_t<leading.place, std::tuple<A...>>;
      constexpr LoopSchedule loops = shared_by_positions<typename S::order>(leading.loops);
      const auto options = statement.options().with(ScheduledLoopsOf<loops, Operand>{});
      using Options = std::remove_const_t<decltype(options)>;
      return Statement<typename S::result_type, typename S::right_type, typename S::order, Options>(
          statement.result(), statement.right(), options, statement.accumulates(), statement.resources());
    }(accesses_of<typename S::right_type>{});
  }
}

}  // namespace sporos::gpu::detail

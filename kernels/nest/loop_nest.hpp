// SPDX-License-Identifier: Apache-2.0
/// @file loop_nest.hpp
/// The loop nest: one loop for each variable of the order, over the stream of the expression at that
/// variable.
///
/// `nest<D>` opens a stream over the D-th variable of the remaining expression, and runs the remaining loops
/// for each coordinate. Everything that depends on types alone is decided when the templates are
/// instantiated: which operands are iterated, which are located, which are absent, and where values are
/// reduced. What remains is the loop that a person would write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../../core/expression.hpp"
#include "../../core/inline.hpp"
#include "../../workspace/classify.hpp"
#include "stream/linear_sum.hpp"
#include "stream/stream.hpp"
#include "strips.hpp"

namespace sporos {

/// The number of neighbouring threads of a GPU that run the same chunk and share the coordinates of one loop.
inline constexpr std::int64_t lanes_of_warp = 32;

/// The result of a statement as the code of its nest knows it, whatever the host space: statements of all
/// host spaces run the same code, which is compiled once.
template <class Result>
struct HostSpaceErased {
  using type = Result;
};
template <class Value, class F, HostSpace Space, char... Names>
struct HostSpaceErased<Access<Tensor<Value, F, Space>, Names...>> {
  using type = Access<Tensor<Value, F, Host>, Names...>;
};
template <class Result>
using InAnyHostSpace = typename HostSpaceErased<Result>::type;

/// What is known about a loop over strips at run time.
struct StripSize {
  std::int64_t size = 1;  ///< number of coordinates or positions in a strip
  std::int64_t most = 1;  ///< an upper bound on the number of strips
};

/// What is known at run time: the extent of each loop, and the part of the outermost loop that this chunk
/// covers.
template <int Loops, int Strips = 0>
struct NestBounds {
  std::int64_t extent[std::size_t{Loops > 0 ? Loops : 1}];
  Bounds outermost;         ///< range of coordinates, or of strips if threads share these
  bool first_chunk = true;  ///< terms without the outermost variable are added once, by the first chunk
  std::int64_t lane = 0;
  StripSize strips[std::size_t{Strips}];
};
template <int Loops>
struct NestBounds<Loops, 0> {
  std::int64_t extent[std::size_t{Loops > 0 ? Loops : 1}];
  Bounds outermost;
  bool first_chunk = true;
  std::int64_t lane = 0;
};

/// The coordinates that loops have bound, and the strips that are open.
template <class Loops, int Depths>
struct CoordinatesWithStrips {
  static constexpr int variables = [] {
    int most = 1;
    for (int at = 0; at < Loops::stripped.count; ++at)
      if (Loops::stripped.strips[at].variables.size > most) most = Loops::stripped.strips[at].variables.size;
    return most;
  }();
  using type = StrippedCoordinates<Depths, Loops::stripped.count, variables>;
};
template <int Depths>
struct CoordinatesWithStrips<option::PlainLoops, Depths> {
  using type = stream::Coordinates<Depths>;
};

/// What is known about the nest of a statement at compile time.
/// @tparam InOrder  see classify
/// @tparam Loops    the schedule's option: PlainLoops or ScheduledLoops
template <class Result, class Order, class Compute, class Policy = AutomaticWorkspace,
          int InOrder = Result::level_names.size, class Loops = option::PlainLoops>
struct NestTraits {
  using result = Result;
  using compute = Compute;
  using order_type = Order;
  static constexpr NameList order = Order::names;
  static constexpr int loops = order.size;
  static constexpr StrippedLoops stripped = Loops::stripped;
  static constexpr int strips = stripped.count;
  static constexpr int opened = 0;  ///< the loops over strips outside the current one
  using strip_operands = typename Loops::operands;
  static constexpr Classification classification = classify<Result, Policy>(order, InOrder, stripped);
  /// Whether threads share the outermost strips, instead of the coordinates of the outermost loop.
  static constexpr bool shares_strips = Loops::share_strips;
  static constexpr int lane_depth = -1;  ///< the loop whose coordinates the lanes share, or -1

  using bounds_type = NestBounds<loops, strips>;
  using coordinates_type = typename CoordinatesWithStrips<Loops, loops>::type;

  static constexpr bool is_result_variable(int depth) { return Result::level_names.contains(order[depth]); }
};

/// The same traits, with the coordinates of the loop at `Depth` shared among lanes. All lanes run the loops
/// outside it; they write nothing there, because the loop is over a variable of the result.
template <class Traits, int Depth>
struct InLanes : Traits {
  static constexpr int lane_depth = Depth;
};

/// Reduces into a local variable: a result value whose variables are all bound.
template <class T>
struct ScalarOutput {
  static constexpr bool is_scalar = true;
  static constexpr bool is_independent = false;
  T* sum;
  bool* present;

  template <class Traits, int Depth, class Env>
  SPOROS_INLINE ScalarOutput bind(const Env&) const {
    return *this;
  }
  template <int Depth>
  SPOROS_INLINE void leave(std::int64_t) const {}
  template <class Env>
  SPOROS_INLINE void add(const T& value, const Env&) const {
    *sum = plus(*sum, value);
    *present = true;
  }
};

/// The base of an output that takes each value with its coordinates, in the order of the loops, for any kind
/// of result.
template <class Output>
struct EachValue {
  static constexpr bool is_scalar = false;
  /// Neighbouring coordinates may share a word of a workspace's bitmap.
  static constexpr bool is_independent = false;

  template <class F>
  SPOROS_INLINE void with_copy(const F& f) const {
    f(static_cast<const Output&>(*this));
  }
  template <class Traits, int Depth, class Env>
  SPOROS_INLINE Output bind(const Env&) const {
    return static_cast<const Output&>(*this);
  }
  SPOROS_MAY_CALL_HOST
  template <int Depth>
  SPOROS_INLINE void leave(std::int64_t) const {}
};

namespace detail {

template <class E>
SPOROS_INLINE auto value_of(const stream::Loaded<E>& loaded) {
  return loaded.value;
}

}  // namespace detail

template <class Traits, int Depth, class Env, class E, class Output>
SPOROS_INLINE void nest(const typename Traits::bounds_type& bounds, Env& env, const E& e,
                        const Output& output);

/// Whether the loop over the variable of `Depth` is a sum without gaps: every stream is full, and the
/// expression is complete once that variable is bound.
template <class Traits, int Depth, class E, class Stream>
inline constexpr bool is_full_sum =
    Depth + 1 == Traits::loops && !Stream::has_walks && !stream::is_loaded<E> &&
    std::is_arithmetic_v<typename Traits::compute> && !std::is_same_v<typename Traits::compute, bool> &&
    !stream::searches<typename Traits::order_type, Depth + 1, E>();

/// Computes such a sum, with numeric factors taken out of it: b * (c0 * d0 + c1 * d1) for b * c0 * d0 + b *
/// c1 * d1. The terms are added in the lanes of a vector: not in sequential order, but always in the same
/// one.
template <class Traits, int Depth, class Env, class E, class Output>
SPOROS_INLINE void add_up(const typename Traits::bounds_type& bounds, const Bounds& range, Env& env,
                          const E& e, const Output& output) {
  using Compute = typename Traits::compute;
  if (range.begin >= range.end) return;
  auto numbers = stream::factors_of<true>(e);
  auto stream = stream::open<Traits::order[Depth]>(stream::factors_of<false>(e), bounds.extent[Depth]);
  Compute sum{};
  SPOROS_SUM_IN_ANY_ORDER(sum)
  for (std::int64_t c = range.begin; c < range.end; ++c) {
    Compute term{};
    stream.visit(c, [&] SPOROS_INLINE_LAMBDA(const auto& below) {
      env.at[Depth] = c;
      term = detail::value_of(stream::advance<typename Traits::order_type, Depth + 1>(below, env));
    });
    sum += term;
  }
  output.add(detail::value_of(stream::times(numbers, stream::Loaded<Compute>{sum})), env);
}

/// The coordinates of the loop at `Depth` that lie in this chunk and in the open strips.
template <class Traits, int Depth, class Env>
SPOROS_INLINE Bounds range_of(const typename Traits::bounds_type& bounds, const Env& env) {
  constexpr bool shared = Depth == 0 && !Traits::shares_strips;
  return in_strips<Traits, Depth>(shared ? bounds.outermost : Bounds{0, bounds.extent[Depth]}, env);
}

/// Whether terms that lack the variable of `Depth`, over which other terms are summed, are added here: they
/// are added by the first chunk, in the strip in which the variable begins.
template <class Traits, int Depth, class Env>
SPOROS_INLINE bool adds_the_others(const typename Traits::bounds_type& bounds, const Env& env) {
  if (Depth == 0 && !bounds.first_chunk) return false;
  if constexpr (is_stripped<Traits, Depth>()) {
    const Bounds range = in_strips<Traits, Depth>({0, bounds.extent[Depth]}, env);
    return range.begin == 0 && (range.end > 0 || bounds.extent[Depth] == 0);
  } else {
    return true;
  }
}

/// One loop, over the stream of `e` at the variable of `Depth`.
template <class Traits, int Depth, class Env, class E, class Output>
SPOROS_INLINE void loop(const typename Traits::bounds_type& bounds, Env& env, const E& e,
                        const Output& output) {
  constexpr char variable = Traits::order[Depth];
  constexpr bool outermost = Depth == 0;
  constexpr bool independent = Traits::is_result_variable(Depth) && Output::is_independent;
  constexpr bool stripped = is_stripped<Traits, Depth>();
  const Bounds range = range_of<Traits, Depth>(bounds, env);
  auto stream = stream::open<variable>(e, bounds.extent[Depth]);
  constexpr bool restrict = outermost && !stripped && decltype(stream)::ordered;
  // Most strips consist of whole rows, which need no search.
  if constexpr (stripped && decltype(stream)::ordered)
    if (range.begin > 0 || range.end < bounds.extent[Depth]) stream.restrict_to(range.begin, range.end);
  // The innermost loop reads scattered elements of other operands, whose coordinates are known in advance.
  constexpr char ahead = Depth + 2 == Traits::loops ? variable : 0;
  if constexpr (Output::is_scalar && is_full_sum<Traits, Depth, E, decltype(stream)>) {
    add_up<Traits, Depth>(bounds, range, env, e, output);
  } else {
    const auto at = [&] SPOROS_INLINE_LAMBDA(std::int64_t c, const auto& below) {
      using Below = std::remove_cvref_t<decltype(below)>;
      if constexpr (!stream::is_absent<Below>) {
        if constexpr (stripped && !decltype(stream)::ordered)
          if (c < range.begin || c >= range.end) return;
        env.at[Depth] = c;
        auto bound_output = output.template bind<Traits, Depth + 1>(env);
        stream::advance_into<typename Traits::order_type, Depth + 1>(
            below, env, [&] SPOROS_INLINE_LAMBDA(const auto& advanced) {
              nest<Traits, Depth + 1>(bounds, env, advanced, bound_output);
            });
        bound_output.template leave<Depth>(c);
      }
    };
    if constexpr (Depth == Traits::lane_depth) {
      static_assert(!decltype(stream)::iterates && !decltype(stream)::has_walks);
      for (std::int64_t c = range.begin + bounds.lane; c < range.end; c += lanes_of_warp)
        stream.visit(c, [&] SPOROS_INLINE_LAMBDA(const auto& below) { at(c, below); });
    } else {
      stream::for_each<restrict, independent, ahead>(stream, range, at);
    }
  }
}

/// Runs the loops for a sum of terms that have different variables, inside operations that are linear in it:
/// 2 * (b(i) - A(i, j) * x(j)). If only numbers are left around the sum, it is added up first; otherwise the
/// operations apply to each term.
template <class Traits, int Depth, class Env, class E, class Output>
SPOROS_INLINE void add_linear(const typename Traits::bounds_type& bounds, Env& env, const E& e,
                              const Output& output) {
  using Compute = typename Traits::compute;
  constexpr char variable = Traits::order[Depth];
  const auto number = [] SPOROS_INLINE_LAMBDA(const auto&) { return stream::Loaded<Compute>{}; };
  if constexpr (Output::is_scalar && stream::is_loaded<decltype(stream::replace_sum<variable>(e, number))>) {
    Compute sum{};
    bool present = false;
    nest<Traits, Depth>(bounds, env, stream::sum_in<variable>(e), ScalarOutput<Compute>{&sum, &present});
    if (!present) return;
    const auto added = [&] SPOROS_INLINE_LAMBDA(const auto&) { return stream::Loaded<Compute>{sum}; };
    output.add(detail::value_of(stream::replace_sum<variable>(e, added)), env);
  } else {
    static_assert(!std::is_integral_v<Compute> || !stream::divides_sum<E>(variable),
                  "integers are divided after their sum is complete, but in this loop order its terms are "
                  "added up in the result: divide in a statement of its own");
    stream::for_both_terms<variable>(
        e, [&] SPOROS_INLINE_LAMBDA(const auto& term) { nest<Traits, Depth>(bounds, env, term, output); });
  }
}

/// The loops from `Depth` on, for the remaining expression.
SPOROS_MAY_CALL_HOST
template <class Traits, int Depth, class Env, class E, class Output>
SPOROS_INLINE void nest(const typename Traits::bounds_type& bounds, Env& env, const E& e,
                        const Output& output) {
  using Compute = typename Traits::compute;
  constexpr Classification classification = Traits::classification;
  constexpr bool reducing = Output::is_scalar;
  if constexpr (stream::is_absent<E>) {
    return;
  } else if constexpr (Depth == classification.prefix && requires { output.workspace(); }) {
    auto workspace = output.workspace();
    nest<Traits, Depth>(bounds, env, e, workspace);
    output.drain(workspace, env);
  } else if constexpr (!reducing && Depth == classification.bound_depth && Depth < Traits::loops) {
    Compute sum{};
    bool present = false;
    nest<Traits, Depth>(bounds, env, e, ScalarOutput<Compute>{&sum, &present});
    if constexpr (requires { output.add_sum(sum, present, env); })
      output.add_sum(sum, present, env);
    else if (present)
      output.add(sum, env);
  } else if constexpr (Depth == Traits::loops) {
    output.add(detail::value_of(e), env);
  } else if constexpr (Depth + 1 == Traits::loops && requires { Output::takes_innermost; }) {
    output.add_innermost(e, env);
  } else if constexpr (opens_strips<Traits, Depth>()) {
    for_each_strip<Traits, Depth>(bounds, env, e, [&] SPOROS_INLINE_LAMBDA() {
      nest<StripOpened<Traits>, Depth>(bounds, env, e, output);
    });
  } else {
    constexpr char variable = Traits::order[Depth];
    constexpr bool mentions = stream::mentions<E>(variable);
    if constexpr (Traits::is_result_variable(Depth)) {
      loop<Traits, Depth>(bounds, env, e, output);
    } else if constexpr (!mentions) {
      if (!adds_the_others<Traits, Depth>(bounds, env)) return;
      // Loops over other variables of the same strip ask for the coordinate of this one.
      if constexpr (is_stripped<Traits, Depth>()) env.at[Depth] = 0;
      nest<Traits, Depth + 1>(bounds, env, e, output);
    } else if constexpr (stream::is_add<E>) {
      // A reduction of a sum is the sum of the reductions: each term runs over its own variables only.
      nest<Traits, Depth>(bounds, env, e.left, output);
      nest<Traits, Depth>(bounds, env, e.right, output);
    } else if constexpr (!stream::reduces_whole<E>(variable)) {
      constexpr bool is_linear = stream::is_linear_in_sum<E>(variable);
      static_assert(
          is_linear,
          "a reduction variable stands in one term of a sum only, and the sum is inside a function, or next "
          "to a factor that has the variable too: say what is summed with sum(...)");
      if constexpr (is_linear) add_linear<Traits, Depth>(bounds, env, e, output);
    } else {
      loop<Traits, Depth>(bounds, env, e, output);
    }
  }
}

}  // namespace sporos

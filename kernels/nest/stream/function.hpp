// SPDX-License-Identifier: Apache-2.0
/// @file function.hpp
/// Functions inside the loop nest: of one value, and of several, whose operands are kept side by side, absent
/// ones too, until all are known; and complements, which become absent if their operand is nonzero.
#pragma once

#include <type_traits>

#include "../../../core/map.hpp"
#include "../../../core/presence.hpp"
#include "expression.hpp"

namespace sporos::stream {

/// The operands of a function side by side. Nothing is computed from them until the function is.
/// @tparam Left, Right  the number of operands on each side
template <Presence Where, int Left, int Right>
struct Beside {
  static constexpr Presence presence = Where;
  static constexpr bool is_sum = false;
  static constexpr int left = Left;
  static constexpr int right = Right;
};

/// !R: 1 where R is zero or absent. L is a zero that is bound once all variables of R are.
template <bool Structural>
struct Excluding {
  static constexpr Presence presence = Presence::first;
  static constexpr bool is_sum = false;

  /// What a node folds to, by type, once its variables are bound and its operand is known.
  template <class L, class R>
    requires(is_loaded<L> && (is_absent<R> || (Structural && is_loaded<R>)))
  SPOROS_INLINE static auto fold() {
    if constexpr (is_absent<R>)
      return Loaded<typename L::compute>{static_cast<typename L::compute>(true)};
    else
      return Absent{};
  }
};

template <class E>
inline constexpr bool is_beside = false;
template <Presence Where, int Left, int Right, class L, class R>
inline constexpr bool is_beside<Binary<Beside<Where, Left, Right>, L, R>> = true;

/// Whether the operands of a function are all numbers, or known to be absent.
template <class E>
constexpr bool are_known() {
  if constexpr (is_beside<E>)
    return are_known<decltype(E::left)>() && are_known<decltype(E::right)>();
  else
    return is_absent<E> || is_loaded<E>;
}

/// The number of operands that are present.
template <class E>
constexpr int count_present() {
  if constexpr (is_beside<E>)
    return count_present<decltype(E::left)>() + count_present<decltype(E::right)>();
  else
    return is_absent<E> ? 0 : 1;
}
/// The operand that is present, if there is only one.
template <class E>
SPOROS_INLINE auto the_one_present(const E& e) {
  if constexpr (!is_beside<E>)
    return e;
  else if constexpr (count_present<decltype(E::left)>() > 0)
    return the_one_present(e.left);
  else
    return the_one_present(e.right);
}

/// Calls f(values...) with the values of all operands in a node, from the left: the value of a number, and
/// `fill` for each operand that is absent.
SPOROS_MAY_CALL_HOST
template <int Count, class E, class T, class F>
SPOROS_INLINE auto with_values(const E& e, const T& fill, const F& f) {
  if constexpr (is_beside<E>) {
    using Operation = typename E::operation_type;
    return with_values<Operation::left>(e.left, fill, [&] SPOROS_INLINE_LAMBDA(const auto&... l) {
      return with_values<Operation::right>(
          e.right, fill, [&] SPOROS_INLINE_LAMBDA(const auto&... r) { return f(l..., r...); });
    });
  } else if constexpr (is_loaded<E>) {
    return f(e.value);
  } else if constexpr (Count == 1) {
    return f(fill);
  } else {
    return with_values<Count - 1>(e, fill,
                                  [&] SPOROS_INLINE_LAMBDA(const auto&... more) { return f(fill, more...); });
  }
}

/// The value of a function for the given arguments, as a value of type T. A user's function is given the
/// numbers that elements of a semiring hold.
SPOROS_MAY_CALL_HOST
template <class T, class F, class... Values>
SPOROS_INLINE T value_of_function(const F& function, const Values&... values) {
  if constexpr (requires { requires F::takes_elements; })
    return static_cast<T>(function(values...));
  else
    return static_cast<T>(function(number_of(values)...));
}

/// The value that a function is given in place of an operand that is not stored.
template <class T, class F>
SPOROS_INLINE T fill_of([[maybe_unused]] const F& function) {
  if constexpr (requires { function.fill; })
    return static_cast<T>(function.fill);
  else
    return T{};
}

/// f(E), or f(E, G, ...) of operands side by side, present where they are.
/// @tparam As  the type of its values, if that is not the type of its operands
template <class F, class As>
struct Function {
  using compute = As;

  F function;

  template <class T>
  Function<F, T> giving() const {
    return {function};
  }

  SPOROS_MAY_CALL_HOST
  template <class E>
  SPOROS_INLINE auto operator()(const E& e) const {
    if constexpr (is_absent<E>) {
      return e;
    } else if constexpr (is_beside<E>) {
      using T = typename E::compute;
      using Value = std::conditional_t<std::is_void_v<As>, T, As>;
      if constexpr (!are_known<E>()) {
        return Unary<Function, E>{e, *this};
      } else if constexpr (sporos::detail::at_zero_of<F>() == AtZero::identity && count_present<E>() == 1) {
        return the_one_present(e);
      } else {
        return Loaded<Value>{
            with_values<1>(e, fill_of<T>(function), [&] SPOROS_INLINE_LAMBDA(const auto&... values) {
              return value_of_function<Value>(function, values...);
            })};
      }
    } else if constexpr (!is_loaded<E>) {
      return Unary<Function, E>{e, *this};
    } else if constexpr (std::is_same_v<F, Minus>) {
      return E{function(e.value)};
    } else if constexpr (!std::is_void_v<As>) {
      return Loaded<As>{value_of_function<As>(function, e.value)};
    } else {
      return E{value_of_function<typename E::compute>(function, e.value)};
    }
  }
};

/// Whether an expression is a complement whose operand's value decides it, and has not done so yet.
template <class E>
inline constexpr bool is_complement_by_value = false;
template <class L, class R>
inline constexpr bool is_complement_by_value<Binary<Excluding<false>, L, R>> = !is_absent<R>;
template <class E>
inline constexpr bool is_undecided = false;
template <class L, class R>
inline constexpr bool is_undecided<Binary<Excluding<false>, Loaded<L>, Loaded<R>>> = true;

/// Decides such a complement once its operand is a number: calls f with 1, or with Absent.
template <class E, class F>
SPOROS_INLINE void decide(const E& e, const F& f) {
  using T = typename E::compute;
  if (number_of(e.right.value) == number_of(decltype(e.right.value){}))
    f(Loaded<T>{static_cast<T>(true)});
  else
    f(Absent{});
}

}  // namespace sporos::stream

// SPDX-License-Identifier: Apache-2.0
/// @file located.hpp
/// Results in a format whose levels are all full: each value has its place, found by arithmetic as loops
/// bind.
#pragma once

#include <cstdint>

#include "../nest/loop_nest.hpp"

namespace sporos {

/// Adds into the values of a dense result, with its levels 0 to K-1 bound.
///
/// @tparam Atomic  whether other threads may write to the same place
/// @tparam Once    whether the loops come to each place once, with all that is summed there
template <class A, class T, bool Atomic, bool Once, int K = 0>
struct LocatedOutput {
  static constexpr bool is_scalar = false;
  static constexpr bool is_located = true;
  /// Each coordinate of a result variable has a place of its own, so that loops over it may vectorise.
  static constexpr bool is_independent = true;
  using view_type = typename A::tensor_type::view_type;

  const view_type* view;
  T* values;
  bool accumulates;  ///< whether values hold what a sum is added to, and not their start alone
  std::int64_t position = 0;

  /// Calls f with an output whose view is in the caller's own frame.
  template <class F>
  SPOROS_INLINE void with_copy(const F& f) const {
    view_type mine = *view;
    f(LocatedOutput{&mine, values, accumulates, position});
  }

  template <class Traits, int Depth, class Env>
  SPOROS_INLINE auto bind(const Env& env) const {
    if constexpr (K == A::format::levels)
      return *this;
    else {
      constexpr int loop = Traits::order.find(A::level_names[K]);
      if constexpr (loop < Depth) {
        using Expression = typename A::format::template expression<K>;
        const std::int64_t q = view->template level<K>().insert(position, Expression::of(env.at[loop]));
        return LocatedOutput<A, T, Atomic, Once, K + 1>{view, values, accumulates, q}
            .template bind<Traits, Depth>(env);
      } else {
        return *this;
      }
    }
  }
  template <int Depth>
  SPOROS_INLINE void leave(std::int64_t) const {}

  template <class V, class Env>
  SPOROS_INLINE void add(const V& value, const Env&) const {
    if constexpr (Atomic && !std::is_same_v<T, bool>)
      Kokkos::atomic_add(values + position, static_cast<T>(value));
    else
      values[position] = plus(values[position], static_cast<T>(value));
  }
  /// Takes the sum of a reduction: where it is all there is, it is written, and the loops wait for no load.
  template <class V, class Env>
  SPOROS_INLINE void add_sum(const V& sum, bool present, const Env& env) const {
    if (Once && !accumulates)
      values[position] = static_cast<T>(sum);
    else if (present)
      add(sum, env);
  }
};

}  // namespace sporos

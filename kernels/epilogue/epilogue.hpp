// SPDX-License-Identifier: Apache-2.0
/// @file epilogue.hpp
/// Right-hand sides that are computed, element by element, from the sums of one product:
///
///     Y(i, j) = gelu(X(i, k) * W(j, k) + b(j))
///     C(i, j) = 2.0 * A(i, k) * B(k, j) * s(j) - D(i, j)
///
/// The accesses with a variable that the result lacks are the factors of the product. The rest, dense
/// operands and scalars, is the *epilogue*: a function of each sum and its coordinates, which a kernel
/// applies before it stores the result.
///
/// If the result is sparse, so is one of the factors, whose pattern the result has, and the epilogue keeps
/// zeros:
///
///     A(i, j) = 0.125 * B(i, j) * C(i, k) * D(j, k) * s(i)
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "../../core/array.hpp"
#include "../../core/map.hpp"
#include "../../core/statement.hpp"
#include "../../formats/chunks.hpp"
#include "../nest/lower.hpp"
#include "../protocol/compute_type.hpp"
#include "../protocol/factors.hpp"

namespace sporos {

namespace detail {

/// Whether an operand has the format and the variables of a sparse result, so that a product with it can have
/// its pattern.
template <class Result, class A>
inline constexpr bool may_have_pattern_of_result =
    !Result::format::is_dense && std::is_same_v<typename A::format, typename Result::format> &&
    A::names == Result::names;

/// Whether an expression contains a factor: an access with a variable that the result lacks, or one that may
/// have the pattern of a sparse result.
template <class Result, class E>
constexpr bool has_factor() {
  if constexpr (AnyAccess<E>) {
    bool is_factor = may_have_pattern_of_result<Result, E>;
    for (int at = 0; at < E::names.size; ++at) is_factor = is_factor || !Result::names.contains(E::names[at]);
    return is_factor;
  } else {
    return fold<E>([]<class... C>(TypeList<C...>) { return (has_factor<Result, C>() || ...); });
  }
}

/// Whether a node gives the same for a stored zero as where nothing is stored.
template <class E>
inline constexpr bool ignores_storage = !drops_values<E>;
template <class E, class F>
inline constexpr bool ignores_storage<Mapped<E, F>> =
    at_zero_of<F>() != AtZero::skipped && at_zero_of<F>() != AtZero::skipped_unless_all;

/// The same where the result is sparse: then a function may be called only where something is stored.
template <class Result, class E>
inline constexpr bool may_apply = Result::format::is_dense ? ignores_storage<E> : !drops_values<E>;

/// Whether terms are divided before they are summed, which of integers is not the quotient of the sum.
/// @param is_in_sum  whether E stands in an explicit sum
template <class Result, class E>
constexpr bool divides_terms(bool is_in_sum = false) {
  if constexpr (AnyAccess<E>)
    return false;
  else if constexpr (is_reduction<E>)
    return divides_terms<Result, decltype(E::operand)>(true);
  else
    return fold<E>([&]<class... C>(TypeList<C...>) {
      [[maybe_unused]] bool is_dividend = is_ratio<E>;  // the first child
      bool found = false;
      [[maybe_unused]] const auto look = [&]<class Child>(TypeList<Child>) {
        if (std::exchange(is_dividend, false) && has_factor<Result, Child>() &&
            (is_in_sum || sums_among_factors<Child>() == 0))
          found = true;
        found = found || divides_terms<Result, Child>(is_in_sum);
      };
      (look(TypeList<C>{}), ...);
      return found;
    });
}

/// Whether an expression without factors has a value at every element of the result that needs no loop.
template <class E>
constexpr bool is_known_at_element() {
  if constexpr (AnyAccess<E>)
    return E::format::is_dense && !E::format::is_blocked;
  else if constexpr (is_reduction<E>)
    return false;
  else
    return ignores_storage<E> &&
           fold<E>([]<class... C>(TypeList<C...>) { return (is_known_at_element<C>() && ...); });
}

/// Whether an expression is a product of all its factors and of values known at an element of the result.
template <class Result, class E>
constexpr bool is_scaled_product() {
  if constexpr (AnyAccess<E>)
    return has_factor<Result, E>();
  else if constexpr (is_reduction<E> || E::is_sum)
    return false;
  else
    return fold<E>([]<class... C>(TypeList<C...>) {
      [[maybe_unused]] int at = 0;
      [[maybe_unused]] const auto is_part = [&]<class Child>(TypeList<Child>) {
        const bool is_linear = at++ < E::factors;
        if constexpr (has_factor<Result, Child>())
          return is_linear && is_scaled_product<Result, Child>();
        else
          return is_known_at_element<Child>();
      };
      return sizeof...(C) > 0 && (is_part(TypeList<C>{}) && ...);
    });
}

/// Whether an expression is made of the sums of one product and of values known at an element of the result.
/// @param sums_terms  whether the terms of the expression are summed over the variables that the result
///                    lacks, or only explicit sums are
template <class Result, class E>
constexpr bool is_of_sums(bool sums_terms) {
  if constexpr (is_reduction<E>) {
    constexpr NameList left = free_variables<E>();
    for (int at = 0; at < left.size; ++at)
      if (!Result::names.contains(left[at])) return false;
    return is_scaled_product<Result, decltype(E::operand)>();
  } else {
    if (sums_terms && is_scaled_product<Result, E>()) return true;
    if (!may_apply<Result, E>) return false;
    return fold<E>([&]<class... C>(TypeList<C...>) {
      if ((0 + ... + (has_factor<Result, C>() ? 1 : 0)) != 1) return false;
      [[maybe_unused]] int at = 0;
      [[maybe_unused]] const auto is_part = [&]<class Child>(TypeList<Child>) {
        const bool is_linear = at++ < E::factors || E::is_sum;
        if constexpr (has_factor<Result, Child>())
          return is_of_sums<Result, Child>(sums_terms && is_linear);
        else
          return is_known_at_element<Child>();
      };
      return (is_part(TypeList<C>{}) && ...);
    });
  }
}

/// The factors among some accesses.
template <class Result, class... Accesses>
constexpr auto factors_among(TypeList<Accesses...>) {
  return (TypeList<>{} + ... +
          std::conditional_t<has_factor<Result, Accesses>(), TypeList<Accesses>, TypeList<>>{});
}

template <class Result, class Right>
constexpr auto list_of_factors() {
  if constexpr (has_factor<Result, Right>() && is_of_sums<Result, Right>(true) &&
                (Result::format::is_dense || !is_present_everywhere<Right>())) {
    constexpr auto factors = factors_among<Result>(accesses_of<Right>{});
    using Sum = typename ComputeOf<Result, decltype(value_types(factors)), TypeList<>>::type;
    using Compute = compute_t<Result, Right>;
    if constexpr (std::is_same_v<Compute, Sum> && std::is_same_v<Compute, widest_t<Result, Right>> &&
                  !(std::is_integral_v<Compute> && divides_terms<Result, Right>()))
      return factors;
  }
}

/// The sum of the product, in an epilogue.
template <class Compute>
struct TheSum {
  using compute = Compute;
};

/// An element of a dense operand, in an epilogue.
template <class T, class Compute, int Order>
struct Element {
  using compute = Compute;
  static constexpr int order = Order;
  const T* values;
  std::int64_t strides[static_cast<std::size_t>(Order) +
                       1];  ///< distance in memory between neighbouring coordinates of the result, by mode
};

template <class E>
inline constexpr bool is_the_sum = false;
template <class Compute>
inline constexpr bool is_the_sum<TheSum<Compute>> = true;
template <class E>
inline constexpr bool is_element = false;
template <class T, class Compute, int Order>
inline constexpr bool is_element<Element<T, Compute, Order>> = true;

/// The node of an epilogue that reads what `access` is at an element of the result.
template <class Compute, class Result, class A>
auto element_of(const A& access) {
  using Format = typename A::format;
  Element<typename A::value_type, Compute, Result::names.size> out{access.tensor().values().data(), {}};
  std::int64_t stride = 1;
  for (int level = Format::order; level-- > 0;) {
    const int mode = Format::mode_of_level[static_cast<std::size_t>(level)];
    out.strides[Result::names.find(A::names[mode])] += stride;
    stride *= access.tensor().extent(mode);
  }
  return out;
}

/// A number that replaces a product without factors.
template <class Compute, class E>
auto as_number(const E& e) {
  if constexpr (std::is_same_v<E, stream::One>)
    return stream::Loaded<Compute>{Compute(1)};
  else
    return e;
}

/// An expression as a function of the sum of its product: the product's first factor becomes the sum, the
/// others become 1.
/// @tparam HoldsFirst  whether the first factor, if there is one, is in e
template <class Compute, class Result, bool HoldsFirst, class E>
auto epilogue_of(const E& e) {
  if constexpr (AnyAccess<E>) {
    if constexpr (!has_factor<Result, E>())
      return element_of<Compute, Result>(e);
    else if constexpr (HoldsFirst)
      return TheSum<Compute>{};
    else
      return stream::One{};
  } else if constexpr (AnyLiteral<E>) {
    return stream::Loaded<Compute>{static_cast<Compute>(e.value)};
  } else if constexpr (is_zero_node<E>) {
    return stream::Loaded<Compute>{Compute(0)};
  } else if constexpr (is_reduction<E>) {
    return epilogue_of<Compute, Result, HoldsFirst>(e.operand);
  } else if constexpr (has_one_child<E>) {
    return operation_of(e)(as_number<Compute>(epilogue_of<Compute, Result, HoldsFirst>(e.operand)));
  } else {
    using Operation = decltype(operation_of(e));
    const auto left = epilogue_of<Compute, Result, HoldsFirst>(e.left);
    const auto right = epilogue_of < Compute, Result,
               HoldsFirst && !has_factor<Result, decltype(E::left)>() > (e.right);
    if constexpr (std::is_same_v<Operation, stream::Multiplication>)
      return stream::times(left, right);
    else
      return stream::combine<Operation>(as_number<Compute>(left), as_number<Compute>(right));
  }
}

SPOROS_MAY_CALL_HOST
template <class Compute, class E>
SPOROS_INLINE auto value_at(const E& e, Compute sum, const std::int64_t* at) {
  if constexpr (is_the_sum<E>) {
    return stream::Loaded<Compute>{sum};
  } else if constexpr (is_element<E>) {
    std::int64_t place = 0;
    for (int mode = 0; mode < E::order; ++mode) place += at[mode] * e.strides[mode];
    using T = std::remove_cvref_t<decltype(*e.values)>;
    return stream::Loaded<Compute>{static_cast<Compute>(static_cast<accumulate_t<T>>(e.values[place]))};
  } else if constexpr (stream::is_loaded<E>) {
    return e;
  } else if constexpr (has_one_child<E>) {
    return e.operation(value_at(e.operand, sum, at));
  } else {
    return stream::combine<typename E::operation_type>(value_at(e.left, sum, at), value_at(e.right, sum, at));
  }
}

}  // namespace detail

/// The factors, from left to right, of the product from whose sums an epilogue computes the right side of a
/// statement; none if the right side is something else, or has operands wider than the product's sums.
template <class S>
using factors_of_sums =
    ListOf<decltype(detail::list_of_factors<typename S::result_type, typename S::right_type>())>;

/// The K-th of these factors.
template <int K, class S>
const auto& factor_of_sums(const S& statement) {
  using Factor = typename factors_of_sums<S>::template at<K>;
  const Factor* found = nullptr;
  int place = 0;
  for_each_access(statement.right(), [&]<class A>(const A& access) {
    if constexpr (detail::has_factor<typename S::result_type, A>()) {
      if constexpr (std::is_same_v<A, Factor>)
        if (place == K) found = &access;
      ++place;
    }
  });
  return *found;
}

/// What a statement computes from the sums of its product: epilogue(sum, coordinates of the result...).
template <class E>
struct Epilogue {
  using compute = typename E::compute;
  /// Whether the result is just the sums.
  static constexpr bool is_identity = detail::is_the_sum<E>;

  E expression;

  SPOROS_MAY_CALL_HOST
  template <class... Coordinates>
  SPOROS_INLINE compute operator()(compute sum, Coordinates... at) const {
    const std::int64_t coordinates[] = {static_cast<std::int64_t>(at)..., 0};
    return this->at(sum, coordinates);
  }
  SPOROS_MAY_CALL_HOST
  SPOROS_INLINE compute at(compute sum, const std::int64_t* coordinates) const {
    return detail::value_at(expression, sum, coordinates).value;
  }
};

/// The epilogue of a bare product, in the type of its sums.
template <class Compute>
using NoEpilogue = Epilogue<detail::TheSum<Compute>>;

/// The epilogue of a statement that has `factors_of_sums`.
template <class S>
auto epilogue_of(const S& statement) {
  using Result = typename S::result_type;
  using Compute = compute_t<Result, typename S::right_type>;
  const auto expression = detail::epilogue_of<Compute, Result, true>(statement.right());
  return Epilogue<std::remove_const_t<decltype(expression)>>{expression};
}

namespace detail {

/// Applies an epilogue to a piece of a line of sums; a line is the last level of a dense format.
template <int Order, class Sum, class Out, class E>
struct ApplyEpilogue {
  const Sum* sums;  ///< null if they are zero
  Out* values;
  bool accumulates;
  E epilogue;
  static constexpr std::size_t size =
      static_cast<std::size_t>(Order) + 1;  // one more, for tensors of order 0
  int modes[size];                          ///< mode of each level
  std::int64_t extents[size];
  std::int64_t length;  ///< elements per piece
  std::int64_t pieces;  ///< pieces per line

  SPOROS_MAY_CALL_HOST
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    constexpr int last = Order > 0 ? Order - 1 : 0;  // a tensor of order 0 is a line of one element
    const std::int64_t line = at / pieces, begin = at % pieces * length;
    const std::int64_t end = begin + length < extents[last] ? begin + length : extents[last];
    std::int64_t coordinates[size] = {};
    std::int64_t left = line;
    for (int level = last; level-- > 0; left /= extents[level])
      coordinates[modes[level]] = left % extents[level];
    SPOROS_INDEPENDENT_ITERATIONS
    for (std::int64_t c = begin; c < end; ++c) {
      std::int64_t here[size];
      for (int mode = 0; mode < Order; ++mode) here[mode] = mode == modes[last] ? c : coordinates[mode];
      const std::int64_t place = line * extents[last] + c;
      const Sum sum = sums != nullptr ? sums[place] : Sum(0);
      auto value = epilogue.at(sum, here);
      if (accumulates) value = plus(static_cast<Sum>(static_cast<accumulate_t<Out>>(values[place])), value);
      values[place] = static_cast<Out>(static_cast<accumulate_t<Out>>(value));
    }
  }
};

}  // namespace detail

/// Writes to the result, or adds to it, what a statement computes from the sums of its product.
/// @param sums    in the layout of the dense result's values, and possibly these values; null if all are zero
/// @param values  those of the result
template <class S, class Sum, class Out>
void apply_epilogue(const S& statement, const Sum* sums, Out* values) {
  using Space = typename S::space_type;
  using Format = typename S::result_type::format;
  const auto& result = statement.result().tensor();
  if (result.nnz() == 0) return;
  const auto epilogue = epilogue_of(statement);
  detail::ApplyEpilogue<Format::order, Sum, Out, std::remove_const_t<decltype(epilogue)>> apply{
      sums, values, statement.accumulates(), epilogue, {}, {1}, 1, 1};
  std::int64_t lines = 1, of_line = 1;
  for (int level = 0; level < Format::order; ++level) {
    apply.modes[level] = Format::mode_of_level[static_cast<std::size_t>(level)];
    apply.extents[level] = result.extent(apply.modes[level]);
    lines *= std::exchange(of_line, apply.extents[level]);
  }
  if (HostSpace<Space>) apply.length = std::min<std::int64_t>(of_line, 4096);
  apply.pieces = (of_line + apply.length - 1) / apply.length;
  const Space& space = statement.resources().space();
  const std::int64_t count = lines * apply.pieces;
  if constexpr (HostSpace<Space>) {                 // where functions may throw
    constexpr std::int64_t least_elements = 16384;  // that are worth waking a thread for
    const detail::HostThreads threads(space);
    const std::int64_t least =
        std::max<std::int64_t>(1, least_elements / std::max<std::int64_t>(1, apply.length));
    detail::for_each_part(threads, count, detail::chunks_for(threads, count, 1, least),
                          [&](std::int64_t begin, std::int64_t end, std::int64_t) {
                            for (std::int64_t piece = begin; piece < end; ++piece) apply(piece);
                          });
  } else {
    Kokkos::parallel_for("sporos::epilogue", Kokkos::RangePolicy<Space>(space, 0, count), apply);
  }
}

}  // namespace sporos

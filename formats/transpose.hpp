// SPDX-License-Identifier: Apache-2.0
/// @file transpose.hpp
/// The modes of a tensor in another order: as a tensor of the same format, or as another view of the same
/// memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../core/error.hpp"
#include "../core/tensor.hpp"
#include "convert.hpp"

namespace sporos {
namespace detail {

/// Whether `Modes` contains each of 0 to its size - 1 exactly once.
template <int... Modes>
inline constexpr bool is_permutation = [] {
  std::array<bool, sizeof...(Modes)> seen{};
  constexpr int order = static_cast<int>(sizeof...(Modes));
  ((Modes >= 0 && Modes < order ? void(seen[static_cast<std::size_t>(Modes)] = true) : void()), ...);
  for (const bool one : seen)
    if (!one) return false;
  return true;
}();

/// The mode of the new tensor that mode D of the old one becomes: the place of D in Modes.
template <int D, int... Modes>
inline constexpr int new_mode = [] {
  int at = 0;
  int found = 0;
  ((Modes == D ? void(found = at) : void(), ++at), ...);
  return found;
}();

template <class Expression, int... Modes>
struct RelabelledExpression;
template <int D, int... Modes>
struct RelabelledExpression<Dim<D>, Modes...> {
  using type = Dim<new_mode<D, Modes...>>;
};
template <int D, std::int64_t Block, int... Modes>
struct RelabelledExpression<Quotient<D, Block>, Modes...> {
  using type = Quotient<new_mode<D, Modes...>, Block>;
};
template <int D, std::int64_t Block, int... Modes>
struct RelabelledExpression<Remainder<D, Block>, Modes...> {
  using type = Remainder<new_mode<D, Modes...>, Block>;
};

template <class F, int... Modes>
struct Relabelled;
template <class... Expressions, class... Levels, int... Modes>
struct Relabelled<Format<Map<Expressions...>, Levels...>, Modes...> {
  using type = Format<Map<typename RelabelledExpression<Expressions, Modes...>::type...>, Levels...>;
};

template <class T, int... Modes>
concept PermutesModesOf = sizeof...(Modes) == static_cast<std::size_t>(T::order) && is_permutation<Modes...>;

}  // namespace detail

/// The format of a tensor of format F whose modes are relabelled: CSR relabelled <1, 0> is CSC.
template <TensorFormat F, int... Modes>
using RelabelledFormat = typename detail::Relabelled<F, Modes...>::type;

/// The tensor B whose mode m is mode Modes[m] of A, in the memory of A: nothing is copied, only the format's
/// map is relabelled. The transpose of a CSR matrix is the same arrays as CSC.
///
///     auto B = relabel<1, 0>(A);     // B(j, i) = A(i, j)
///
/// Cost: none.
template <int... Modes, AnyTensor T>
auto relabel(const T& t) {
  static_assert(detail::PermutesModesOf<T, Modes...>,
                "relabel takes each mode of the tensor once: relabel<2, 0, 1>(t) for a tensor of order 3");
  using F = RelabelledFormat<typename T::format_type, Modes...>;
  return Tensor<typename T::value_type, F, typename T::space_type>(
      Extents<T::order>{t.extents()[static_cast<std::size_t>(Modes)]...}, t.levels(), t.values(), t.owner());
}

/// The tensor B whose mode m is mode Modes[m] of A, in the format of A: B(c[Modes[0]], c[Modes[1]], …) =
/// A(c).
///
///     auto B = permute<2, 0, 1>(A);  // B(k, i, j) = A(i, j, k)
///
/// Cost: that of `convert` from the relabelled format.
template <int... Modes, AnyTensor T>
T permute(const T& t) {
  return convert<typename T::format_type>(relabel<Modes...>(t));
}
/// `permute` on the threads of a space instance.
template <int... Modes, HostSpace Space, TensorValue Value, TensorFormat F>
Tensor<Value, F, Space> permute(const Space& space, const Tensor<Value, F, Space>& t) {
  return convert<F>(space, relabel<Modes...>(t));
}

/// The transpose of a matrix, in the same format: B(j, i) = A(i, j).
template <AnyTensor T>
T transpose(const T& t) {
  static_assert(T::order == 2,
                "transpose takes a matrix: for other tensors name the modes, permute<2, 0, 1>(t)");
  return permute<1, 0>(t);
}
/// `transpose` on the threads of a space instance.
template <HostSpace Space, TensorValue Value, TensorFormat F>
Tensor<Value, F, Space> transpose(const Space& space, const Tensor<Value, F, Space>& t) {
  return permute<1, 0>(space, t);
}

}  // namespace sporos

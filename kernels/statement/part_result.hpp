// SPDX-License-Identifier: Apache-2.0
/// @file part_result.hpp
/// Results that are parts of dense tensors: rows, blocks, diagonals.
///
/// The values are computed by a statement with a dense result of the part's own shape, by any candidate, and
/// then put in their places. So a statement may read what it writes, in other places too.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "../../core/part.hpp"
#include "../../core/statement.hpp"
#include "../../formats/named.hpp"
#include "run.hpp"

namespace sporos {

namespace detail {

template <int Order>
struct DenseOfOrder {
  using type = DenseTensor<Order>;
};
template <>
struct DenseOfOrder<0> {
  using type = Scalar;
};

/// The variables of a part, each once.
template <class A>
constexpr NameList variables_of_part() {
  NameList out;
  for (int at = 0; at < A::names.size; ++at) out.push_new(A::names[at]);
  return out;
}

/// Puts values, in row-major order of the part's variables, into their places in a dense tensor.
template <class A, bool Adds>
struct PutInPlace {
  using F = typename A::format;
  using Value = typename A::value_type;
  static constexpr NameList variables = variables_of_part<A>();
  static constexpr int count = variables.size;
  static constexpr std::size_t capacity = count > 0 ? std::size_t{count} : 1;

  TensorView<Value, F> tensor;
  Value* places;
  const Value* values;
  Extents<F::order> first;
  std::int64_t extents[capacity];

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t at) const {
    std::int64_t coordinate[capacity] = {};
    std::int64_t rest = at;
    for (int variable = count - 1; variable >= 0; --variable) {
      coordinate[variable] = rest % extents[variable];
      rest /= extents[variable];
    }
    const std::int64_t place = place_of<0>(coordinate, 0);
    places[place] = Adds ? plus(places[place], values[at]) : values[at];
  }

 private:
  template <int K>
  KOKKOS_INLINE_FUNCTION std::int64_t place_of(const std::int64_t* coordinate, std::int64_t parent) const {
    if constexpr (K == F::levels) {
      return parent;
    } else {
      using Expression = typename F::template expression<K>;
      constexpr char name = A::names[Expression::mode];
      std::int64_t c = first[std::size_t{Expression::mode}];
      if constexpr (name != no_variable) {
        constexpr int variable = variables.find(name);
        c += coordinate[variable];
      }
      return place_of<K + 1>(coordinate,
                             tensor.template level<K>().locate(parent, Expression::of(c)).position);
    }
  }
};

/// The extents of a part's variables.
/// @throws ShapeError if a variable stands at modes of different extents, or the tensor lacks the part
template <class A>
auto extents_of_part(const A& part) {
  constexpr NameList variables = variables_of_part<A>();
  const auto& tensor = part.tensor();
  const std::string name = text("A(", text_of_modes(tensor, A::names), ')');
  if constexpr (is_part_v<typename A::tensor_type>)
    if (tensor.mode_outside() < A::names.size) refuse_part("", text("the result ", name), tensor);
  Extents<variables.size> out{};
  for (int mode = A::names.size - 1; mode >= 0; --mode) {
    if (A::names[mode] == no_variable) continue;
    const int first = A::names.find(A::names[mode]);
    expect_same_extent(text("mode ", first, " of the result ", name), tensor.extent(first),
                       text("its mode ", mode), tensor.extent(mode));
    out[static_cast<std::size_t>(variables.find(A::names[mode]))] = tensor.extent(mode);
  }
  return out;
}

}  // namespace detail

/// Runs `part = expression`, or `part += expression` if it Adds, for a part of a dense tensor.
/// @throws ShapeError if the tensor does not have the part, or extents differ; and what run() throws
/// Cost: that of the statement with a dense result of the part's extents, which is copied.
template <bool Adds, class T, char... Names, class E>
void write_part(const Access<T, Names...>& part, const E& expression) {
  using A = Access<T, Names...>;
  static_assert(A::format::is_dense,
                "a part of a sparse tensor is not written to: its pattern is made as a whole. Write a dense "
                "tensor, or compute the whole result by one statement");
  if constexpr (A::format::is_dense) {
    constexpr NameList variables = detail::variables_of_part<A>();
    using Value = typename T::value_type;
    using Space = typename T::space_type;
    const auto extents = detail::extents_of_part(part);
    const Tensor<Value, typename detail::DenseOfOrder<variables.size>::type, Space> computed(extents);
    [&]<int... At>(std::integer_sequence<int, At...>) {
      run(assign(computed(Index<variables[At]>{}...), expression));
    }(std::make_integer_sequence<int, variables.size>{});

    const auto& whole = detail::whole_of(part.tensor());
    detail::PutInPlace<A, Adds> put{whole.view(), whole.values().data(), computed.values().data(), {}, {}};
    if constexpr (is_part_v<T>) put.first = part.tensor().first();
    for (std::size_t at = 0; at < extents.size(); ++at) put.extents[at] = extents[at];
    const Space space;
    Kokkos::parallel_for("sporos::put in place", Kokkos::RangePolicy<Space>(space, 0, computed.nnz()), put);
    space.fence("sporos::put in place");
  }
}

}  // namespace sporos

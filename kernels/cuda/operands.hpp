// SPDX-License-Identifier: Apache-2.0
/// @file operands.hpp
/// What the kernels of this folder need of a statement: its factors, their arrays, and room for a CSR result.
#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../../core/statement.hpp"
#include "../../formats/named.hpp"
#include "../compute_type.hpp"
#include "csr.hpp"
#include "launch.hpp"

namespace sporos::cuda {

namespace detail {

template <class F>
inline constexpr bool is_csr = false;
template <class Position, class Coordinate>
inline constexpr bool is_csr<CSR<Position, Coordinate>> = true;

template <class A>
inline constexpr bool is_access = false;
template <class TensorType, char... Names>
inline constexpr bool is_access<Access<TensorType, Names...>> = true;

/// The accesses of an expression that is a product of accesses and nothing else, from the left; void where it
/// is something else.
template <class E>
struct Factors {
  using type = void;
};
template <class TensorType, char... Names>
struct Factors<Access<TensorType, Names...>> {
  using type = TypeList<Access<TensorType, Names...>>;
};
template <class L, class R>
  requires(!std::is_void_v<typename Factors<L>::type> && !std::is_void_v<typename Factors<R>::type>)
struct Factors<Product<L, R>> {
  using type = accesses_of<Product<L, R>>;
};
template <class E>
using factors_of = typename Factors<E>::type;

template <class List>
struct ListOf {
  static constexpr int size = 0;
};
template <class... Accesses>
struct ListOf<TypeList<Accesses...>> {
  static constexpr int size = static_cast<int>(sizeof...(Accesses));
  template <int K>
  using at = std::tuple_element_t<static_cast<std::size_t>(K), std::tuple<Accesses...>>;
};

/// Calls visit(std::integral_constant<int, place>, access) for every access.
template <class E, class Visit>
void for_each_factor(const E& e, const Visit& visit) {
  const auto walk = [&]<int First>(const auto& self, const auto& node, std::integral_constant<int, First>) {
    using Node = std::remove_cvref_t<decltype(node)>;
    if constexpr (is_access<Node>) {
      visit(std::integral_constant<int, First>{}, node);
    } else {
      constexpr int left = ListOf<accesses_of<std::remove_cvref_t<decltype(node.left)>>>::size;
      self(self, node.left, std::integral_constant<int, First>{});
      self(self, node.right, std::integral_constant<int, First + left>{});
    }
  };
  walk(walk, e, std::integral_constant<int, 0>{});
}

/// Access number K of a product.
template <int K, class E>
const auto& factor(const E& e) {
  using Factor = typename ListOf<factors_of<E>>::template at<K>;
  const Factor* found = nullptr;
  for_each_factor(e, [&](auto place, const auto& access) {
    if constexpr (decltype(place)::value == K) found = &access;
  });
  return *found;
}

/// What every kernel here asks: tensors in the GPU's space, the loop order that was derived.
template <class S>
inline constexpr bool runs_on_gpu =
    std::is_same_v<typename S::result_type::tensor_type::space_type, Kokkos::Cuda> &&
    std::is_same_v<typename S::order, derived_order<typename S::result_type, typename S::right_type>> &&
    []<class... Accesses>(TypeList<Accesses...>) {
      return (std::is_same_v<typename Accesses::tensor_type::memory_space, Memory> && ...);
    }(accesses_of<typename S::right_type>{});

/// Whether a statement kernel computes statements of type S: looked into on the GPU only.
template <class Kernel, class S>
constexpr bool matches() {
  if constexpr (runs_on_gpu<S>)
    return Kernel::template computes<S>();
  else
    return false;
}

template <class S>
using compute_of = compute_t<typename S::result_type, typename S::right_type>;

template <class TensorType>
auto csr_view(const TensorType& t) {
  const auto& columns = t.template level<1>();
  using Position = typename std::remove_cvref_t<decltype(columns.positions)>::value_type;
  using Coordinate = typename std::remove_cvref_t<decltype(columns.coordinates)>::value_type;
  return CsrView<typename TensorType::value_type, Position, Coordinate>{
      t.extent(0),      t.extent(1), t.nnz(), columns.positions.data(), columns.coordinates.data(),
      t.values().data()};
}

/// Whether an access of the right side reads the values that the result stands in.
template <class S>
bool reads_result(const S& statement) {
  bool found = false;
  const void* const mine = statement.result().tensor().values().data();
  for_each_access(statement.right(), [&](const auto& access) {
    found = found || static_cast<const void*>(access.tensor().values().data()) == mine;
  });
  return found;
}

/// A CSR result in the making: positions first, then room for what they hold.
template <class TensorType>
class NewCsr {
 public:
  using Level = typename TensorType::format_type::template level<1>;
  using Value = typename TensorType::value_type;
  using Position = typename Level::position_type;
  using View = CsrView<Value, Position, typename Level::coordinate_type>;

  explicit NewCsr(const Extents<2>& extents) : extents_(extents) {
    Level::check_extent(extents[1]);
    storage_.positions = make_array<Position, Memory>("sporos::Compressed positions", extents[0] + 1);
  }
  Position* positions() const { return storage_.positions.data(); }

  View make_room(std::int64_t nonzeros) {
    storage_.coordinates =
        make_array<typename Level::coordinate_type, Memory>("sporos::Compressed coordinates", nonzeros);
    values_ = make_array<Value, Memory>("sporos::Tensor values", nonzeros);
    return {extents_[0],   extents_[1], nonzeros, storage_.positions.data(), storage_.coordinates.data(),
            values_.data()};
  }
  void put_into(const TensorType& result) const {
    result.replace(extents_, {{extents_[0]}, storage_}, values_);
  }

 private:
  Extents<2> extents_;
  typename Level::template Storage<Memory> storage_;
  Array<Value, Memory> values_;
};

}  // namespace detail

}  // namespace sporos::cuda

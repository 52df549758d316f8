// SPDX-License-Identifier: Apache-2.0
/// @file tensor.hpp
/// Tensor: values in a format, in the memory of a space; a cheap handle to shared components.
#pragma once

#include <Kokkos_Core.hpp>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "array.hpp"
#include "error.hpp"
#include "extents.hpp"
#include "format.hpp"
#include "index.hpp"
#include "space.hpp"
#include "value.hpp"

namespace sporos {

template <class TensorType, char... Names>
class Access;
struct Refused;
struct ExpressionBase;

template <class T>
inline constexpr bool is_index_v = false;
template <char Name>
inline constexpr bool is_index_v<Index<Name>> = true;

namespace detail {
/// False, but not before a template is instantiated: for functions whose purpose is to refuse their
/// arguments.
template <class...>
inline constexpr bool never = false;

/// Complete when it is called: refused.hpp.
template <class T, class R = Refused>
R refused() {
  return R();
}
}  // namespace detail

template <TensorValue Value, TensorFormat F, ExecutionSpace Space>
class Tensor;
/// A tensor that is only read (read_only.hpp).
template <TensorValue Value, TensorFormat F, ExecutionSpace Space>
class Tensor<const Value, F, Space>;

template <class T>
inline constexpr bool is_read_only_v = false;
template <class Value, class F, class Space>
inline constexpr bool is_read_only_v<Tensor<const Value, F, Space>> = true;
template <class T>
inline constexpr bool is_tensor_v = false;
template <class Value, class F, class Space>
inline constexpr bool is_tensor_v<Tensor<Value, F, Space>> = !std::is_const_v<Value>;

/// Any Tensor<Value, Format, Space> that can be written.
template <class T>
concept AnyTensor = is_tensor_v<std::remove_cvref_t<T>>;
/// Any Tensor<const Value, Format, Space>.
template <class T>
concept ReadOnlyTensor = is_read_only_v<std::remove_cvref_t<T>>;

/// Whether a tensor is distributed over processes (distributed/tensor.hpp); statements on such tensors are
/// run by all of them together.
template <class T>
inline constexpr bool is_distributed_v = false;

/// Ranges of coordinates of a tensor (part.hpp).
template <AnyTensor T, unsigned Restricted>
class Part;
template <class T>
inline constexpr bool is_part_v = false;
template <class T, unsigned Restricted>
inline constexpr bool is_part_v<Part<T, Restricted>> = true;

namespace detail {
template <class T, class... Args>
auto access_of(const T& tensor, const Args&... args);
}  // namespace detail

namespace detail {

/// The views of the levels in order: a std::tuple that can be used in device code.
template <class... Views>
struct ViewPack {};
template <class Head, class... Tail>
struct ViewPack<Head, Tail...> {
  Head head;
  ViewPack<Tail...> tail;
};

template <int K, class Head, class... Tail>
KOKKOS_INLINE_FUNCTION constexpr const auto& get(const ViewPack<Head, Tail...>& pack) {
  if constexpr (K == 0)
    return pack.head;
  else
    return get<K - 1>(pack.tail);
}

template <class F, class Levels>
struct LevelsOf;
template <class F, std::size_t... K>
struct LevelsOf<F, std::index_sequence<K...>> {
  template <class MemorySpace>
  using storage =
      std::tuple<typename F::template level<static_cast<int>(K)>::template Storage<MemorySpace>...>;
  using views = ViewPack<typename F::template level<static_cast<int>(K)>::View...>;
};
template <class F>
using levels_of = LevelsOf<F, std::make_index_sequence<static_cast<std::size_t>(F::levels)>>;

/// What all handles to one tensor share.
template <class Value, class F, class MemorySpace>
struct Components {
  Extents<F::order> extents{};
  typename levels_of<F>::template storage<MemorySpace> levels;
  Array<Value, MemorySpace> values;
  std::shared_ptr<const void> owner;  ///< keeps foreign memory alive if the arrays do not
};

}  // namespace detail

/// A tensor as kernels see it: views of the levels and a pointer to the values. Trivially copyable; owns
/// nothing.
template <class Value, TensorFormat F>
struct TensorView {
  using value_type = Value;
  using format_type = F;

  typename detail::levels_of<F>::views levels;
  const Value* values = nullptr;

  template <int K>
  KOKKOS_INLINE_FUNCTION const auto& level() const {
    return detail::get<K>(levels);
  }
};

/// A tensor of `F::order` modes in format F, living in the memory of `Space`, whose statements run in
/// `Space`.
///
/// A tensor is a handle: copies refer to the same components, so `B = A` copies no data, and when a statement
/// writes A, B changes with it. `clone()` makes a deep copy.
///
///     Tensor<double, CSR<>> A({497, 497});      // no nonzero yet
///     auto B = assemble<CSR<>>(entries);        // from coordinates and values
///     A(i, j) = B(i, k) * B(k, j);              // index notation
///
/// @tparam Value  type of a value (TensorValue)
/// @tparam F      storage format
/// @tparam Space  Kokkos execution space; its memory space holds the arrays
template <TensorValue Value, TensorFormat F, ExecutionSpace Space = Host>
class Tensor {
 public:
  using value_type = Value;
  using format_type = F;
  using space_type = Space;
  using memory_space = typename Space::memory_space;
  using level_storage = typename detail::levels_of<F>::template storage<memory_space>;
  using view_type = TensorView<Value, F>;
  static constexpr int order = F::order;

  /// A tensor whose extents are all 0.
  Tensor() : Tensor(Extents<order>{}) {}

  /// A tensor that stores no nonzero; the values of a dense tensor are 0.
  /// @throws ShapeError for a negative extent, RangeError if the format's coordinates cannot hold an extent,
  /// MemoryError if the memory cannot be allocated
  explicit Tensor(const Extents<order>& extents) {
    expect_valid_extents(extents);
    components_ = std::make_shared<Components>();
    components_->extents = extents;
    const std::int64_t positions =
        make_empty_levels(std::make_index_sequence<static_cast<std::size_t>(F::levels)>{});
    components_->values = zeroed_array<Value, memory_space>("sporos::Tensor values", positions);
  }

  /// The same, with extents in braces: `Tensor<double, CSR<>> A({497, 497})`.
  explicit Tensor(const std::int64_t (&extents)[std::size_t{order > 0 ? order : 1}])
    requires(order > 0)
      : Tensor(std::to_array(extents)) {}
  /// The same, with extents of an unsigned type, such as the sizes of containers.
  template <std::unsigned_integral Extent>
    requires(order > 0)
  explicit Tensor(const Extent (&extents)[std::size_t{order > 0 ? order : 1}])
      : Tensor(narrow_extents<order>(extents)) {}
  /// The same, with an argument for each extent: `Tensor<double, CSR<>> A(497, 497)`.
  template <std::integral... Extent>
    requires(order > 0 && sizeof...(Extent) == std::size_t{order})
  explicit Tensor(Extent... extents) : Tensor(Extents<order>{static_cast<std::int64_t>(extents)...}) {}

  /// A tensor of the given components, which are not checked; `wrap` and `assemble` are the checked
  /// alternatives.
  /// @param owner  keeps foreign memory alive if the arrays themselves do not
  Tensor(const Extents<order>& extents, level_storage levels, Array<Value, memory_space> values,
         std::shared_ptr<const void> owner = {})
      : components_(std::make_shared<Components>(
            Components{extents, std::move(levels), std::move(values), std::move(owner)})) {}

  /// Does not compile: the message says how to convert a tensor of another type explicitly.
  template <AnyTensor Other>
    requires(!std::is_same_v<Other, Tensor>)
  Tensor(const Other&) {
    static_assert(
        std::is_same_v<Other, Tensor>,
        "the tensors differ in format, values or space: write A = convert<CSR<>>(B) for another format, "
        "A = convert<CSR<>, double>(B) for other values, A = B.copy_to<Space>() for another space");
  }

  /// Accepts refused notation, so that nothing else is reported.
  template <std::same_as<Refused> R>
  Tensor& operator=(const R&) {
    return *this;
  }
  /// Does not compile: an expression is assigned to a tensor with its index variables.
  template <std::derived_from<ExpressionBase> E>
    requires(!std::same_as<E, Refused>)
  Tensor& operator=(const E&) {
    static_assert(
        detail::never<E>,
        "the result needs its index variables as well, which say how the modes meet: y(i) = A(i, j) * x(j)");
    return *this;
  }
  /// Does not compile: the message says how to convert a tensor of another type explicitly.
  template <AnyTensor Other>
    requires(!std::is_same_v<Other, Tensor>)
  Tensor& operator=(const Other&) {
    static_assert(
        std::is_same_v<Other, Tensor>,
        "the tensors differ in format, values or space: write A = convert<CSR<>>(B) for another format, "
        "A = convert<CSR<>, double>(B) for other values, A = B.copy_to<Space>() for another space");
    return *this;
  }

  const Extents<order>& extents() const { return components_->extents; }
  std::int64_t extent(int mode) const { return components_->extents.at(static_cast<std::size_t>(mode)); }

  /// The number of stored values: all values of a dense tensor, otherwise the stored nonzeros, including
  /// explicit zeros and the padding of blocks.
  std::int64_t nnz() const { return static_cast<std::int64_t>(components_->values.extent(0)); }

  /// Bytes of all arrays together.
  std::int64_t bytes() const {
    std::int64_t sum = nnz() * static_cast<std::int64_t>(sizeof(Value));
    for_each_level([&](auto, const auto& storage) {
      storage.for_each_array([&](Role, const char*, const auto& array) {
        sum += static_cast<std::int64_t>(array.extent(0) *
                                         sizeof(typename std::decay_t<decltype(array)>::value_type));
      });
    });
    return sum;
  }

  /// Storage of level K: its arrays by name, e.g. `t.level<1>().coordinates`.
  template <int K>
  const auto& level() const {
    return std::get<static_cast<std::size_t>(K)>(components_->levels);
  }
  const level_storage& levels() const { return components_->levels; }

  const Array<Value, memory_space>& values() const { return components_->values; }

  /// Calls visit(std::integral_constant<int, k>, storage) for each level, outermost first.
  template <class Visitor>
  void for_each_level(Visitor&& visit) const {
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      (visit(std::integral_constant<int, static_cast<int>(K)>{}, std::get<K>(components_->levels)), ...);
    }(std::make_index_sequence<static_cast<std::size_t>(F::levels)>{});
  }

  /// The object that keeps foreign memory alive; empty if the arrays do.
  const std::shared_ptr<const void>& owner() const { return components_->owner; }

  view_type view() const { return {pack_views<0>(), components_->values.data()}; }

  /// Replaces the components; every handle to this tensor sees the new ones.
  void replace(const Extents<order>& extents, level_storage levels, Array<Value, memory_space> values) const {
    *components_ = Components{extents, std::move(levels), std::move(values), {}};
  }

  /// A deep copy.
  /// @throws MemoryError if the memory cannot be allocated
  Tensor clone() const { return copy_to<Space>(); }

  /// A deep copy in another space.
  /// @throws MemoryError if the memory cannot be allocated
  template <ExecutionSpace Other>
  Tensor<Value, F, Other> copy_to() const {
    using memory = typename Other::memory_space;
    auto levels =
        std::apply([](const auto&... storage) { return std::tuple(storage.template copy_to<memory>()...); },
                   components_->levels);
    return {extents(), std::move(levels), copy_array<memory>(components_->values)};
  }

  /// The tensor in another space: a handle to the same components if both spaces share the memory, else a
  /// deep copy.
  template <ExecutionSpace Other>
  Tensor<Value, F, Other> move_to() const {
    if constexpr (std::is_same_v<typename Other::memory_space, memory_space>)
      return Tensor<Value, F, Other>(components_);
    else
      return copy_to<Other>();
  }

  /// Whether both handles refer to the same components.
  template <class Other>
  bool shares_with(const Other& other) const {
    return identity() == other.identity();
  }
  const void* identity() const { return components_.get(); }

  /// Index notation: `A(i, j)`, with an index variable for each mode; coordinates may take their place: `A(i,
  /// 3)` (part.hpp).
  template <char... Names>
    requires(sizeof...(Names) == order)
  auto operator()(Index<Names>...) const {
    return Access<Tensor, Names...>(*this);
  }
  template <class... Args>
    requires(sizeof...(Args) != order || !(is_index_v<Args> && ...))
  auto operator()(const Args&... args) const {
    return detail::access_of(*this, args...);
  }
  /// Does not compile: the message says how to iterate.
  template <class T = Tensor>
  const Value* begin() const {
    static_assert(
        detail::never<T>,
        "for (const auto& [coordinate, value] : entries(A)) iterates over what a tensor stores, and values() "
        "are its values");
    return nullptr;
  }
  template <class T = Tensor>
  const Value* end() const {
    return nullptr;
  }
  /// Does not compile: the message says how a value is read.
  template <class Coordinate, class R = Refused>
  R operator[](const Coordinate&) const {
    static_assert(
        detail::never<Coordinate>,
        "a tensor has no operator[]: x(3) and A(3, 4) are values in index notation, at(A, {3, 4}) looks "
        "one up, and values() are the stored ones");
    return {};
  }

 private:
  using Components = detail::Components<Value, F, memory_space>;
  template <TensorValue, TensorFormat, ExecutionSpace>
  friend class Tensor;

  /// A template, so that it takes no braced list: Tensor({0, 5}) gives extents, although 0 converts to a null
  /// pointer.
  template <std::same_as<std::shared_ptr<Components>> Shared>
  explicit Tensor(Shared components) : components_(std::move(components)) {}

  template <std::size_t... K>
  std::int64_t make_empty_levels(std::index_sequence<K...>) {
    [[maybe_unused]] const auto level_extents = F::level_extents(components_->extents);
    std::int64_t positions = 1;
    ((std::get<K>(components_->levels) =
          std::tuple_element_t<K, level_storage>::empty(positions, level_extents[K]),
      positions = std::get<K>(components_->levels).size(positions)),
     ...);
    return positions;
  }

  template <std::size_t K>
  auto pack_views() const {
    if constexpr (K == static_cast<std::size_t>(F::levels))
      return detail::ViewPack<>{};
    else
      return pack_from(std::get<K>(components_->levels).view(), pack_views<K + 1>());
  }
  template <class Head, class... Tail>
  static detail::ViewPack<Head, Tail...> pack_from(Head head, detail::ViewPack<Tail...> tail) {
    return {head, tail};
  }

  std::shared_ptr<Components> components_;
};

}  // namespace sporos

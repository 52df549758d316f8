// SPDX-License-Identifier: Apache-2.0
/// @file wrap.hpp
/// Tensors over foreign memory: bare pointers and Kokkos Views, without a copy.
#pragma once

#include <Kokkos_Core.hpp>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../core/array.hpp"
#include "../core/error.hpp"
#include "../core/tensor.hpp"
#include "format_name.hpp"
#include "named.hpp"
#include "structure.hpp"
#include "validate.hpp"

namespace sporos {

/// Promises that arrays obey the rules of their format, so that they are not checked: `wrap<CSR<>>(trusted,
/// …)`.
struct Trusted {};
inline constexpr Trusted trusted{};

namespace detail {

/// The number of arrays of the levels of F above level `Below`, not counting the values.
template <TensorFormat F, class MemorySpace, int Below = F::levels>
inline constexpr int array_count_of_levels = []<std::size_t... K>(std::index_sequence<K...>) {
  return (0 + ... + F::template level<static_cast<int>(K)>::template Storage<MemorySpace>::array_count);
}(std::make_index_sequence<static_cast<std::size_t>(Below)>{});

template <class View>
concept RankOneView = Kokkos::is_view_v<View> && View::rank() == 1;

/// The foreign arrays of one level, beginning with number `First` of all: see WrappableLevel.
template <class MemorySpace, int First, class Sources>
class ForeignArrays {
 public:
  explicit ForeignArrays(const Sources& sources) : sources_(sources) {}

  /// An array over a pointer gets `length` elements; a View has a length of its own.
  template <int At, class T>
  Array<T, MemorySpace> get(std::int64_t length) const {
    const auto& source = std::get<static_cast<std::size_t>(First + At)>(sources_);
    if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(source)>>)
      return Array<T, MemorySpace>(source, static_cast<std::size_t>(length));
    else
      return source;
  }

  /// The last element of an array, which is a number of coordinates; 0 where the array is empty.
  template <class T>
  std::int64_t last(const Array<T, MemorySpace>& array) const {
    if (array.extent(0) == 0) return 0;
    const std::size_t at = array.extent(0) - 1;
    T value{};
    if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible)
      value = array.data()[at];
    else
      Kokkos::deep_copy(Kokkos::View<T, Kokkos::HostSpace>(&value), Kokkos::subview(array, at));
    if (value < 0)
      throw FormatError(text("positions[", at, "], the number of coordinates of a level, is ",
                             static_cast<std::int64_t>(value), ": it must not be negative"));
    return static_cast<std::int64_t>(value);
  }

 private:
  const Sources& sources_;
};

/// Makes the levels of a tensor over foreign arrays, outermost first.
template <TensorFormat F, TensorValue Value, ExecutionSpace Space>
class Wrapping {
 public:
  using tensor_type = Tensor<Value, F, Space>;
  using memory_space = typename Space::memory_space;

  explicit Wrapping(const Extents<F::order>& extents)
      : extents_(extents), level_extents_(F::level_extents(extents)) {
    expect_valid_extents(extents);
  }

  /// From Views, which know their lengths.
  template <class Views>
  tensor_type from_views(const Views& views) {
    take_levels(views);
    return {extents_, std::move(levels_), std::get<std::tuple_size_v<Views> - 1>(views)};
  }

  /// From pointers: lengths follow from the levels above and from the contents of the arrays.
  /// @param count  the number of values that the caller expects
  template <class Pointers>
  tensor_type from_pointers(std::int64_t count, const Pointers& pointers) {
    const std::int64_t found = take_levels(pointers);
    if (count >= 0 && count != found)
      throw FormatError(text("the arrays given to wrap describe ", found, " values in format ",
                             format_name<F>(), ", but ", count,
                             " were announced: the last of the positions must be their number"));
    return {extents_, std::move(levels_),
            Array<Value, memory_space>(std::get<std::tuple_size_v<Pointers> - 1>(pointers),
                                       static_cast<std::size_t>(found))};
  }

 private:
  /// Makes all levels; returns the number of positions of the last one.
  template <class Sources>
  std::int64_t take_levels(const Sources& sources) {
    std::int64_t positions = 1;
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      ((positions = take_level<static_cast<int>(K)>(sources, positions)), ...);
    }(std::make_index_sequence<static_cast<std::size_t>(F::levels)>{});
    return positions;
  }

  template <int K, class Sources>
  std::int64_t take_level(const Sources& sources, std::int64_t parents) {
    constexpr auto k = static_cast<std::size_t>(K);
    auto& storage = std::get<k>(levels_);
    const std::int64_t extent = level_extents_[k];
    if constexpr (!Structure<F>::full(K)) F::template level<K>::check_extent(extent);
    storage = std::decay_t<decltype(storage)>::from_arrays(
        ForeignArrays<memory_space, array_count_of_levels<F, memory_space, K>, Sources>(sources), parents,
        extent);
    return storage.size(parents);
  }

  Extents<F::order> extents_;
  Extents<F::levels> level_extents_;
  typename tensor_type::level_storage levels_;
};

template <class T>
const T& checked(const T& t) {
  validate(t);
  return t;
}

/// The element type of a pointer or View.
template <class Source>
struct ElementOf {
  using type = std::remove_pointer_t<Source>;
};
template <class Source>
  requires Kokkos::is_view_v<Source>
struct ElementOf<Source> {
  using type = typename Source::value_type;
};
template <class... Sources>
using last_element =
    typename ElementOf<std::tuple_element_t<sizeof...(Sources) - 1, std::tuple<Sources...>>>::type;

template <class Source>
concept Wrappable = std::is_pointer_v<Source> || RankOneView<Source>;

template <class Source>
inline constexpr bool is_const_source = [] {
  if constexpr (Kokkos::is_view_v<Source>)
    return std::is_const_v<typename Source::data_type>;
  else
    return std::is_const_v<std::remove_pointer_t<Source>>;
}();

}  // namespace detail

/// A tensor over foreign arrays, not validated: see the checked form below.
template <TensorFormat F, ExecutionSpace Space = Host, detail::Wrappable... Sources>
auto wrap(Trusted, const Extents<F::order>& extents, std::int64_t count, Sources... sources) {
  constexpr int expected = detail::array_count_of_levels<F, typename Space::memory_space> + 1;
  static_assert(static_cast<int>(sizeof...(Sources)) == expected,
                "wrap takes the arrays of each level, outermost first (Compressed: positions, coordinates; "
                "Singleton: coordinates; Dense: none), then the values");
  static_assert(
      !(detail::is_const_source<Sources> || ...),
      "a tensor's arrays can be written through it: wrap takes pointers and Views to non-const elements");
  using Value = std::remove_cv_t<detail::last_element<Sources...>>;
  detail::Wrapping<F, Value, Space> wrapping(extents);
  if constexpr ((std::is_pointer_v<Sources> && ...))
    return wrapping.from_pointers(count, std::tuple<Sources...>(sources...));
  else
    return wrapping.from_views(std::tuple<Sources...>(sources...));
}
template <TensorFormat F, ExecutionSpace Space = Host, detail::Wrappable... Sources>
auto wrap(Trusted, const Extents<F::order>& extents, Sources... sources) {
  static_assert(F::is_dense || (!std::is_pointer_v<Sources> && ...),
                "pointers do not know their length: say the number of values behind the extents, "
                "wrap<CSR<>>({m, n}, nnz, positions, coordinates, values)");
  return wrap<F, Space>(trusted, extents, std::int64_t{-1}, sources...);
}

/// A tensor of format F over foreign arrays, without a copy. Its statements read and write that memory.
///
///     auto A = wrap<CSR<int, int>>({m, n}, nnz, row_positions, columns, values);  // pointers
///     auto B = wrap<DCSR<>>({m, n}, positions0, coordinates0, positions1, coordinates1, values);  // Views
///     auto D = wrap<DenseMatrix<ColumnMajor>>({m, n}, pointer);
///
/// Memory behind pointers must outlive the tensor and all that share it; Views are kept alive.
///
/// @tparam F       format; its index types are the arrays' element types
/// @tparam Space   where the memory is
/// @param extents  extents of the modes
/// @param count    number of values, for pointers
/// @param sources  arrays in the order of the levels (Compressed: positions, coordinates; Singleton:
///                 coordinates; Dense: none; others as their from_arrays says), then the values; all pointers
///                 or all rank-1 Views
/// @throws FormatError  where the arrays break the rules of the format (`validate`); with `trusted` as first
///                      argument nothing is checked
/// @throws RangeError   where the index types cannot hold an extent
/// Cost: that of `validate`.
template <TensorFormat F, ExecutionSpace Space = Host, detail::Wrappable... Sources>
auto wrap(const Extents<F::order>& extents, std::int64_t count, Sources... sources) {
  return detail::checked(wrap<F, Space>(trusted, extents, count, sources...));
}
template <TensorFormat F, ExecutionSpace Space = Host, detail::Wrappable... Sources>
auto wrap(const Extents<F::order>& extents, Sources... sources) {
  return detail::checked(wrap<F, Space>(trusted, extents, sources...));
}

/// The format of a dense View of a rank and layout: LayoutRight has the last mode contiguous, LayoutLeft the
/// first.
namespace detail {
template <class Layout, class Modes>
struct DenseViewFormat;
template <int... Modes>
struct DenseViewFormat<Kokkos::LayoutRight, std::integer_sequence<int, Modes...>> {
  using type = DenseTensor<static_cast<int>(sizeof...(Modes)), ModeOrder<Modes...>>;
};
template <int... Modes>
struct DenseViewFormat<Kokkos::LayoutLeft, std::integer_sequence<int, Modes...>> {
  static constexpr int order = static_cast<int>(sizeof...(Modes));
  using type = DenseTensor<order, ModeOrder<(order - 1 - Modes)...>>;
};
}  // namespace detail

/// A dense tensor over a Kokkos View of rank 1 to 8, LayoutRight or LayoutLeft, without a copy; the View is
/// kept alive.
///
///     Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> x("x", m, n);
///     auto X = wrap(x);   // Tensor<double, DenseMatrix<ColumnMajor>>
///
/// @throws FormatError where the View is padded or strided: its elements must be contiguous
template <class View>
  requires(Kokkos::is_view_v<View> && View::rank() > 0)
auto wrap(const View& view) {
  using Layout = typename View::array_layout;
  constexpr int rank = static_cast<int>(View::rank());
  static_assert(std::is_same_v<Layout, Kokkos::LayoutRight> || std::is_same_v<Layout, Kokkos::LayoutLeft>,
                "wrap takes Views of LayoutRight or LayoutLeft");
  static_assert(!std::is_const_v<std::remove_all_extents_t<typename View::value_type>> &&
                    !detail::is_const_source<View>,
                "a tensor's values can be written through it: wrap takes Views of non-const elements");
  using F = typename detail::DenseViewFormat<std::conditional_t<rank == 1, Kokkos::LayoutRight, Layout>,
                                             std::make_integer_sequence<int, rank>>::type;
  using Space =
      std::conditional_t<HostSpace<typename View::execution_space>, Host, typename View::execution_space>;
  Extents<rank> extents{};
  std::int64_t count = 1;
  for (std::size_t mode = 0; mode < extents.size(); ++mode)
    count *= extents[mode] = static_cast<std::int64_t>(view.extent(mode));
  if (count > 0 && static_cast<std::int64_t>(view.span()) != count)
    throw FormatError(text("the View \"", view.label(), "\" of ", to_string(extents), " spans ", view.span(),
                           " elements, not ", count,
                           ": wrap takes contiguous Views; copy it into one without padding"));
  using Value = typename View::non_const_value_type;
  const auto t = wrap<F, Space>(trusted, extents, count, view.data());
  return Tensor<Value, F, Space>(t.extents(), t.levels(), t.values(), std::make_shared<View>(view));
}

}  // namespace sporos

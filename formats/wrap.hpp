// SPDX-License-Identifier: Apache-2.0
/// @file wrap.hpp
/// Tensors over foreign memory without a copy: bare pointers, Kokkos Views, std::vector, std::span. For
/// Eigen's matrices, see eigen.hpp.
#pragma once

#include <Kokkos_Core.hpp>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/array.hpp"
#include "../core/error.hpp"
#include "../core/read_only.hpp"
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

/// The foreign arrays of one level, the first of which is number `First` of all: see WrappableLevel.
template <class MemorySpace, int First, class Sources>
class ForeignArrays {
 public:
  explicit ForeignArrays(const Sources& sources) : sources_(sources) {}

  /// An array over a pointer gets `length` elements; a View has its own length.
  template <int At, class T>
  Array<T, MemorySpace> get(std::int64_t length) const {
    const auto& source = std::get<static_cast<std::size_t>(First + At)>(sources_);
    if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(source)>>)
      return Array<T, MemorySpace>(source, static_cast<std::size_t>(length));
    else
      return source;
  }

  /// The last element of an array, which is a number of coordinates; 0 if the array is empty.
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

  /// The tensor over Views, which know their lengths.
  template <class Views>
  tensor_type from_views(const Views& views) {
    take_levels(views);
    return {extents_, std::move(levels_), std::get<std::tuple_size_v<Views> - 1>(views)};
  }

  /// The tensor over pointers, whose lengths follow from the levels above and from the contents of the
  /// arrays.
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
  if constexpr (ReadOnlyTensor<T>)
    validate(readable(t));
  else
    validate(t);
  return t;
}

/// Arrays of the standard library, which know their length.
template <class T>
inline constexpr bool is_standard_array = false;
template <class T, class Allocator>
inline constexpr bool is_standard_array<std::vector<T, Allocator>> = !std::is_same_v<T, bool>;
template <class T, std::size_t Size>
inline constexpr bool is_standard_array<std::array<T, Size>> = true;
template <class T, std::size_t Size>
inline constexpr bool is_standard_array<std::span<T, Size>> = true;

template <class T>
inline constexpr bool is_span = false;
template <class T, std::size_t Size>
inline constexpr bool is_span<std::span<T, Size>> = true;

template <class Source>
concept StandardArray = is_standard_array<std::remove_cvref_t<Source>>;
template <class Source>
concept Wrappable = std::is_pointer_v<std::remove_cvref_t<Source>> ||
                    RankOneView<std::remove_cvref_t<Source>> || StandardArray<Source>;

/// An argument of wrap as a pointer or a View.
template <class MemorySpace, class Source>
auto as_source(Source&& source) {
  if constexpr (StandardArray<Source>) {
    static_assert(std::is_lvalue_reference_v<Source> || is_span<std::remove_cvref_t<Source>>,
                  "wrap refers to the memory of an array, which a temporary one frees at once: give the "
                  "array a name");
    static_assert(Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible,
                  "arrays of the standard library are in host memory: wrap them there, and move the tensor "
                  "with move_to<Space>()");
    using Element = std::remove_pointer_t<decltype(source.data())>;
    return Array<Element, MemorySpace>(source.data(), source.size());
  } else {
    return source;
  }
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
template <class Source>
inline constexpr bool is_const_source = std::is_const_v<typename ElementOf<Source>::type>;

/// The source with elements that are not const, for a read-only tensor.
template <class MemorySpace, class Source>
auto without_const(const Source& source) {
  using Element = std::remove_const_t<typename ElementOf<Source>::type>;
  if constexpr (!is_const_source<Source>)
    return source;
  else if constexpr (std::is_pointer_v<Source>)
    return const_cast<Element*>(source);
  else
    return Array<Element, MemorySpace>(const_cast<Element*>(source.data()), source.extent(0));
}

/// The tensor over pointers or Views; it is read-only if any of their elements are const.
template <TensorFormat F, ExecutionSpace Space, class... Sources>
auto wrap_sources(const Extents<F::order>& extents, std::int64_t count, const Sources&... sources) {
  using Memory = typename Space::memory_space;
  constexpr int expected = array_count_of_levels<F, Memory> + 1;
  constexpr bool are_pointers = (std::is_pointer_v<Sources> && ...);
  static_assert(static_cast<int>(sizeof...(Sources)) == expected,
                "wrap takes the arrays of each level, outermost first (Compressed: positions, coordinates; "
                "Singleton: coordinates; Dense: none), then the values");
  static_assert(are_pointers || (!std::is_pointer_v<Sources> && ...),
                "wrap takes pointers alone, or arrays that know their length alone: make a std::span of the "
                "pointer and its length");
  using Last = std::tuple_element_t<sizeof...(Sources) - 1, std::tuple<Sources...>>;
  using Value = std::remove_cv_t<typename ElementOf<Last>::type>;
  Wrapping<F, Value, Space> wrapping(extents);
  const std::tuple arrays(without_const<Memory>(sources)...);
  const auto made = [&] {
    if constexpr (are_pointers)
      return wrapping.from_pointers(count, arrays);
    else
      return wrapping.from_views(arrays);
  }();
  if constexpr ((is_const_source<Sources> || ...)) {
    // The owner keeps alive what was stripped of const.
    const auto owner = std::make_shared<std::tuple<Sources...>>(sources...);
    return Tensor<const Value, F, Space>(
        Tensor<Value, F, Space>(made.extents(), made.levels(), made.values(), owner));
  } else {
    return made;
  }
}

}  // namespace detail

/// A tensor over foreign arrays, not validated: see the checked form below.
template <TensorFormat F, ExecutionSpace Space = Host, detail::Wrappable... Sources>
auto wrap(Trusted, const Extents<F::order>& extents, std::int64_t count, Sources&&... sources) {
  using Memory = typename Space::memory_space;
  return detail::wrap_sources<F, Space>(extents, count,
                                        detail::as_source<Memory>(std::forward<Sources>(sources))...);
}
template <TensorFormat F, ExecutionSpace Space = Host, detail::Wrappable... Sources>
auto wrap(Trusted, const Extents<F::order>& extents, Sources&&... sources) {
  static_assert(F::is_dense || (!std::is_pointer_v<std::remove_cvref_t<Sources>> && ...),
                "pointers do not know their length: say the number of values behind the extents, "
                "wrap<CSR<>>({m, n}, nnz, positions, coordinates, values)");
  return wrap<F, Space>(trusted, extents, std::int64_t{-1}, std::forward<Sources>(sources)...);
}

/// A tensor of format F over foreign arrays, without a copy. Its statements read and write that memory. If
/// any of the arrays is const, the tensor is read-only: Tensor<const Value, F, Space>.
///
///     auto A = wrap<CSR<int, int>>({m, n}, nnz, row_positions, columns, values);  // pointers
///     auto B = wrap<DCSR<>>({m, n}, positions0, coordinates0, positions1, coordinates1, values);  // Views
///     auto C = wrap<CSR<int, int>>({m, n}, positions_vector, columns_vector, values_vector);
///     auto D = wrap<DenseMatrix<ColumnMajor>>({m, n}, pointer);
///
/// The memory of pointers, vectors and spans must outlive the tensor and all that share it; Views are kept
/// alive.
///
/// @tparam F       format; its index types are the arrays' element types
/// @tparam Space   where the memory is
/// @param extents  extents of the modes
/// @param count    number of values, for pointers
/// @param sources  arrays in the order of the levels (Compressed: positions, coordinates; Singleton:
///                 coordinates; Dense: none; others as their from_arrays says), then the values; all
///                 pointers, or all rank-1 Views, std::vector, std::array or std::span
/// @throws FormatError  if the arrays break the rules of the format (`validate`), or their lengths differ
///                      from what it says; with `trusted` as the first argument, nothing is checked
/// @throws RangeError   if the index types cannot hold an extent
/// Cost: that of `validate`.
template <TensorFormat F, ExecutionSpace Space = Host, detail::Wrappable... Sources>
auto wrap(const Extents<F::order>& extents, std::int64_t count, Sources&&... sources) {
  return detail::checked(wrap<F, Space>(trusted, extents, count, std::forward<Sources>(sources)...));
}
template <TensorFormat F, ExecutionSpace Space = Host, detail::Wrappable... Sources>
auto wrap(const Extents<F::order>& extents, Sources&&... sources) {
  return detail::checked(wrap<F, Space>(trusted, extents, std::forward<Sources>(sources)...));
}

/// A dense vector over a std::vector, std::array or std::span, of the same length; read-only if the elements
/// are const.
///
///     std::vector<double> values(n);
///     auto x = wrap(values);   // Tensor<double, DenseVector>
template <detail::StandardArray Source>
auto wrap(Source&& array) {
  return wrap<DenseVector>(trusted, {static_cast<std::int64_t>(array.size())}, std::forward<Source>(array));
}

/// The format of a dense View with a given rank and layout: LayoutRight has the last mode contiguous,
/// LayoutLeft the first.
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
/// kept alive. A View of const elements makes a read-only tensor.
///
///     Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> x("x", m, n);
///     auto X = wrap(x);   // Tensor<double, DenseMatrix<ColumnMajor>>
///
/// @throws FormatError if the View is padded or strided: its elements must be contiguous
template <class View>
  requires(Kokkos::is_view_v<View> && View::rank() > 0)
auto wrap(const View& view) {
  using Layout = typename View::array_layout;
  constexpr int rank = static_cast<int>(View::rank());
  static_assert(std::is_same_v<Layout, Kokkos::LayoutRight> || std::is_same_v<Layout, Kokkos::LayoutLeft>,
                "wrap takes Views of LayoutRight or LayoutLeft");
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
  const auto t = wrap<F, Space>(trusted, extents, count, const_cast<Value*>(view.data()));
  const Tensor<Value, F, Space> kept(t.extents(), t.levels(), t.values(), std::make_shared<View>(view));
  if constexpr (std::is_const_v<typename View::value_type>)
    return Tensor<const Value, F, Space>(kept);
  else
    return kept;
}

}  // namespace sporos

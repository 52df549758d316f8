// SPDX-License-Identifier: Apache-2.0
/// @file part.hpp
/// Parts of a tensor: rows, columns, blocks, and one coordinate of a mode, without a copy.
///
///     y(i) = A(i, 3)                                    column 3
///     y(i) = rows(A, 2, 5)(i, j) * x(j)                 rows 2, 3 and 4, counted from 0 by i
///     block(D, {0, 2}, {4, 6})(i, j) = B(i, j)          a block of a dense tensor, written
///     D(i, i) = 1.0                                     its diagonal
///
/// A part holds a handle to its tensor and the coordinates at which it begins. Operands may be parts of
/// tensors of any format: the loops start at the part's place in each level. Only parts of dense tensors can
/// be written to.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "error.hpp"
#include "extents.hpp"
#include "index.hpp"
#include "tensor.hpp"

namespace sporos {

/// The coordinates from `begin` up to, and without, `end`.
struct Range {
  std::int64_t begin;
  std::int64_t end;
};

/// A part of a tensor as kernels see it.
template <class Value, TensorFormat F>
struct PartView : TensorView<Value, F> {
  std::int64_t first[std::size_t{F::order > 0 ? F::order : 1}];  ///< the first coordinate of each mode
  std::int64_t count[std::size_t{F::order > 0 ? F::order : 1}];  ///< the number of coordinates of each mode
};

/// A range of coordinates of each mode of a tensor.
/// @tparam Restricted  bit m: whether the range of mode m may be less than its extent
template <AnyTensor T, unsigned Restricted>
class Part {
 public:
  using value_type = typename T::value_type;
  using format_type = typename T::format_type;
  using space_type = typename T::space_type;
  using memory_space = typename T::memory_space;
  using level_storage = typename T::level_storage;
  using view_type = PartView<value_type, format_type>;
  static constexpr int order = T::order;
  static constexpr bool restricts(int mode) { return (Restricted >> mode & 1u) != 0; }

  Part(T whole, const Extents<order>& first, const Extents<order>& extents)
      : whole_(std::move(whole)), first_(first), extents_(extents) {}

  const T& whole() const { return whole_; }
  /// The coordinate of the tensor at which each mode of the part begins.
  const Extents<order>& first() const { return first_; }
  /// The extents of the part.
  const Extents<order>& extents() const { return extents_; }
  std::int64_t extent(int mode) const { return extents_[static_cast<std::size_t>(mode)]; }

  // Of the whole tensor:
  std::int64_t nnz() const { return whole_.nnz(); }
  std::int64_t bytes() const { return whole_.bytes(); }
  const auto& values() const { return whole_.values(); }
  const level_storage& levels() const { return whole_.levels(); }
  template <class Visitor>
  void for_each_level(Visitor&& visit) const {
    whole_.for_each_level(std::forward<Visitor>(visit));
  }
  const void* identity() const { return whole_.identity(); }

  view_type view() const {
    view_type out;
    static_cast<TensorView<value_type, format_type>&>(out) = whole_.view();
    for (std::size_t mode = 0; mode < first_.size(); ++mode) {
      out.first[mode] = first_[mode];
      out.count[mode] = extents_[mode];
    }
    return out;
  }

  /// The first mode in which the part lies outside the tensor; `order` if there is none.
  int mode_outside() const {
    for (int mode = 0; mode < order; ++mode) {
      const auto at = static_cast<std::size_t>(mode);
      if (first_[at] < 0 || extents_[at] < 0 || first_[at] > whole_.extent(mode) - extents_[at]) return mode;
    }
    return order;
  }

  /// Index notation, with coordinates counted from where the part begins: `rows(A, 2, 5)(i, j)`.
  template <class... Args>
  auto operator()(const Args&... args) const {
    return detail::access_of(*this, args...);
  }

 private:
  T whole_;
  Extents<order> first_;
  Extents<order> extents_;
};

namespace detail {

template <class T, unsigned Restricted>
const T& whole_of(const Part<T, Restricted>& part) {
  return part.whole();
}
template <AnyTensor T>
const T& whole_of(const T& tensor) {
  return tensor;
}

/// Whether two tensors, or parts, of one type are the same.
template <class T>
bool same_place(const T& a, const T& b) {
  if constexpr (is_part_v<T>)
    return a.identity() == b.identity() && a.first() == b.first() && a.extents() == b.extents();
  else
    return a.identity() == b.identity();
}

template <class T>
constexpr unsigned restricted_modes() {
  unsigned out = 0;
  if constexpr (is_part_v<T>)
    for (int mode = 0; mode < T::order; ++mode) out |= T::restricts(mode) ? 1u << mode : 0u;
  return out;
}

template <class Arg>
constexpr char name_of_argument() {
  if constexpr (is_index_v<Arg>)
    return Arg::name;
  else
    return no_variable;
}

/// The access of a tensor, or a part, at index variables and coordinates.
template <class T, class... Args>
auto access_of(const T& tensor, const Args&... args) {
  constexpr bool are_places = ((is_index_v<Args> || std::integral<Args>) && ...);
  constexpr bool one_a_mode = static_cast<int>(sizeof...(Args)) == T::order;
  static_assert(are_places,
                "an access takes an index variable, or a coordinate, for each mode of the tensor");
  static_assert(!are_places || one_a_mode, "an access takes one index variable for each mode of the tensor");
  if constexpr (!are_places || !one_a_mode) {
    return refused<T>();
  } else if constexpr ((is_index_v<Args> && ...)) {
    return Access<T, Args::name...>(tensor);
  } else {
    constexpr unsigned fixed = [] {
      unsigned bits = 0, mode = 0;
      ((bits |= is_index_v<Args> ? 0u : 1u << mode, ++mode), ...);
      return bits;
    }();
    auto extents = tensor.extents();
    Extents<T::order> first{};
    if constexpr (is_part_v<T>) first = tensor.first();
    std::size_t mode = 0;
    const auto fix = [&](const auto& arg) {
      if constexpr (!is_index_v<std::remove_cvref_t<decltype(arg)>>) {
        // A coordinate outside the part is moved outside the tensor, so that it is refused.
        const bool inside = arg >= 0 && static_cast<std::int64_t>(arg) < extents[mode];
        first[mode] = inside || !is_part_v<T> ? first[mode] + static_cast<std::int64_t>(arg) : -1;
        extents[mode] = 1;
      }
      ++mode;
    };
    (fix(args), ...);
    using Whole = std::remove_cvref_t<decltype(whole_of(tensor))>;
    using P = Part<Whole, fixed | restricted_modes<T>()>;
    return Access<P, name_of_argument<Args>()...>(P(whole_of(tensor), first, extents));
  }
}

/// The text of an access's modes: "i, 3" for A(i, 3), "2 + i, j" for rows(A, 2, 5)(i, j).
template <class T>
std::string text_of_modes(const T& tensor, const NameList& names) {
  if constexpr (!is_part_v<T>) {
    return names.str();
  } else {
    std::string out;
    for (int mode = 0; mode < names.size; ++mode) {
      const std::int64_t first = tensor.first()[static_cast<std::size_t>(mode)];
      if (mode) out += ", ";
      if (names[mode] == no_variable)
        out += text(first);
      else
        out += first == 0 ? text(names[mode]) : text(first, " + ", names[mode]);
    }
    return out;
  }
}

/// Throws a ShapeError for a part that lies outside its tensor.
/// @param where   text before the message
/// @param tensor  the tensor's name in the message
template <class T, unsigned Restricted>
[[noreturn, gnu::cold]] void refuse_part(const std::string& where, const std::string& tensor,
                                         const Part<T, Restricted>& part) {
  const int mode = part.mode_outside();
  const std::int64_t first = part.first()[static_cast<std::size_t>(mode)], count = part.extent(mode);
  const std::string what = count == 1
                               ? text("coordinate ", first, " lies")
                               : text("coordinates ", first, " up to and without ", first + count, " lie");
  throw ShapeError(text(where, "mode ", mode, " of ", tensor, " has extent ", part.whole().extent(mode),
                        ", and ", what, " outside of it: coordinates are counted from 0"));
}

/// Throws a ShapeError for a range that is not one of a mode with the given extent.
[[noreturn, gnu::cold]] inline void refuse_range(const char* name, int mode, std::int64_t extent,
                                                 const Range& range) {
  const auto fault = range.begin > range.end ? text("begins after its end")
                     : range.begin < 0       ? text("begins before 0")
                                             : text("ends after ", extent);
  throw ShapeError(text(name, ": mode ", mode, " of the tensor has extent ", extent, ", and the range from ",
                        range.begin, " up to and without ", range.end, ' ', fault,
                        ": choose 0 <= begin <= end <= ", extent));
}

template <AnyTensor T>
auto part_of_ranges(const char* name, const T& tensor,
                    const std::array<Range, std::size_t{T::order}>& ranges) {
  constexpr unsigned all = (1u << T::order) - 1u;
  Extents<T::order> first{}, extents{};
  for (std::size_t mode = 0; mode < ranges.size(); ++mode) {
    const Range& range = ranges[mode];
    const std::int64_t extent = tensor.extents()[mode];
    if (range.begin < 0 || range.begin > range.end || range.end > extent)
      refuse_range(name, static_cast<int>(mode), extent, range);
    first[mode] = range.begin;
    extents[mode] = range.end - range.begin;
  }
  return Part<T, all>(tensor, first, extents);
}

template <int Mode, AnyTensor T>
auto part_of_one_mode(const char* name, const T& tensor, std::int64_t begin, std::int64_t end) {
  static_assert(T::order == 2,
                "rows and columns are those of a matrix: block(T, {b, e}, {b, e}, {b, e}) takes "
                "a range for each mode");
  std::array<Range, std::size_t{T::order}> ranges;
  for (std::size_t mode = 0; mode < ranges.size(); ++mode) ranges[mode] = {0, tensor.extents()[mode]};
  ranges[std::size_t{Mode}] = {begin, end};
  const auto part = part_of_ranges(name, tensor, ranges);
  return Part<T, 1u << Mode>(tensor, part.first(), part.extents());
}

}  // namespace detail

/// Rows `begin` to `end - 1` of a matrix, without a copy, like `A[begin:end]` in NumPy.
///
///     y(i) = rows(A, 2, 5)(i, j) * x(j)      y has extent 3
///
/// @throws ShapeError if the matrix does not have these rows
template <AnyTensor T>
auto rows(const T& matrix, std::int64_t begin, std::int64_t end) {
  return detail::part_of_one_mode<0>("rows", matrix, begin, end);
}
/// Columns `begin` to `end - 1` of a matrix, without a copy.
/// @throws ShapeError if the matrix does not have these columns
template <AnyTensor T>
auto columns(const T& matrix, std::int64_t begin, std::int64_t end) {
  return detail::part_of_one_mode<1>("columns", matrix, begin, end);
}
/// The part of a tensor at a range of coordinates of each mode, without a copy: `block(A, {2, 5}, {0, 4})`.
/// @throws ShapeError if the tensor does not have these coordinates
template <AnyTensor T>
  requires(T::order == 1)
auto block(const T& tensor, Range range) {
  return detail::part_of_ranges("block", tensor, {range});
}
template <AnyTensor T>
  requires(T::order == 2)
auto block(const T& tensor, Range first, Range second) {
  return detail::part_of_ranges("block", tensor, {first, second});
}
template <AnyTensor T>
  requires(T::order == 3)
auto block(const T& tensor, Range first, Range second, Range third) {
  return detail::part_of_ranges("block", tensor, {first, second, third});
}
/// A part of a tensor of any order: `block(T, {{{0, 2}, {1, 3}, {0, 1}, {2, 4}}})`.
template <AnyTensor T>
  requires(T::order != 1)  // for order 1, {b, e} is a range
auto block(const T& tensor, const std::array<Range, std::size_t{T::order}>& ranges) {
  return detail::part_of_ranges("block", tensor, ranges);
}

}  // namespace sporos

// SPDX-License-Identifier: Apache-2.0
/// @file prune.hpp
/// Prunes a tensor to N:M sparsity: chooses which units of each window are kept.
#pragma once

#include <Kokkos_Core.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "../core/tensor.hpp"
#include "convert.hpp"
#include "format_name.hpp"
#include "named.hpp"

namespace sporos {

/// How the magnitude of a unit is measured.
enum class Magnitude {
  l1,  ///< the sum of the absolute values
  l2   ///< the square root of the sum of the squares
};

/// What prune() does, apart from choosing.
struct PruneOptions {
  Magnitude by = Magnitude::l1;
  bool scale = false;  ///< multiply what is kept by M / N, as equation 1 of NM-SpMM (arXiv 2503.01253) does
};

namespace detail {

/// The place of a format's N:M level, all others being full; -1 if it has none.
template <TensorFormat F>
inline constexpr int place_of_windows = [] {
  int place = -1;
  bool others_are_full = true;
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    ((is_n_of_m<typename F::template level<static_cast<int>(K)>>
          ? void(place = static_cast<int>(K))
          : void(others_are_full = others_are_full && F::properties[K].full)),
     ...);
  }(std::make_index_sequence<static_cast<std::size_t>(F::levels)>{});
  return others_are_full ? place : -1;
}();

}  // namespace detail

/// A format with one N:M level, all other levels being full: `NM<…>`, TwoFour, and the like.
template <class F>
concept WindowedFormat = TensorFormat<F> && detail::place_of_windows<F> >= 0;

namespace detail {

/// |x| as a number that can be compared. A NaN counts as larger than everything, so that it is kept and seen.
template <class Value>
KOKKOS_INLINE_FUNCTION double magnitude(const Value& value) {
  double size;
  if constexpr (is_complex_v<Value>) {
    const double real = static_cast<double>(value.real()), imaginary = static_cast<double>(value.imag());
    size = Kokkos::hypot(real, imaginary);
  } else {
    size = Kokkos::abs(static_cast<double>(static_cast<accumulate_t<Value>>(value)));
  }
  return Kokkos::isnan(size) ? Kokkos::Experimental::infinity_v<double> : size;
}

/// The size of a unit as a number that can be compared; of doubles, also where their squares are too small or
/// too large for one.
/// @param for_each  calls what it is given with each value of the unit
template <class ForEach>
KOKKOS_INLINE_FUNCTION double size_of_unit(Magnitude by, const ForEach& for_each) {
  double sum = 0, most = 0;
  for_each([&](const auto& value) {
    const double size = magnitude(value);
    sum += by == Magnitude::l1 ? size : size * size;
    most = most < size ? size : most;
  });
  if (by == Magnitude::l1) return sum;
  constexpr double smallest = 1e-280, largest = 1e300;
  if (most == 0 || !(most <= std::numeric_limits<double>::max())) return most;
  if (smallest <= sum && sum <= largest) return Kokkos::sqrt(sum);
  double scaled = 0;
  for_each([&](const auto& value) {
    const double size = magnitude(value) / most;
    scaled += size * size;
  });
  return most * Kokkos::sqrt(scaled);
}

/// The factor by which values are scaled if windows keep `kept` of `window` units.
inline double scale_of(PruneOptions options, std::int64_t kept, std::int64_t window) {
  return options.scale ? static_cast<double>(window) / static_cast<double>(kept) : 1.0;
}

template <class Value>
KOKKOS_INLINE_FUNCTION Value scaled_by(const Value& value, double scale) {
  if (scale == 1) return value;
  using Computed = accumulate_t<Value>;
  return static_cast<Value>(static_cast<Computed>(value) * static_cast<Computed>(scale));
}

/// Fills the windows of a tensor of format F from a dense one: window p keeps its N largest units, the first
/// among equal ones, or those that a mask selects.
template <TensorFormat F, class Value, class MaskValue, TensorFormat From>
struct FillWindows {
  static constexpr int place = place_of_windows<F>;
  using Level = typename F::template level<place>;
  static constexpr int n = Level::kept, m = Level::window;
  static constexpr int in_byte = Level::in_byte;
  static constexpr std::int64_t windows = 8;  ///< number of windows that a call fills: whole bytes

  const Value* from;      // dense, with the same extents
  const MaskValue* mask;  // dense, with the same extents; null if magnitude decides
  std::uint8_t* indices;
  Value* values;
  Extents<F::order> extents;
  Extents<F::levels> level_extents;
  std::int64_t parents;  ///< number of windows
  std::int64_t unit;     ///< number of values in a unit
  Magnitude by;
  double scale;

  /// The offset in the dense tensor of element `at` of unit i of window p; -1 if it lies beyond the extents.
  KOKKOS_INLINE_FUNCTION std::int64_t offset(std::int64_t p, std::int64_t i, std::int64_t at) const {
    Extents<F::levels> level{};
    for (int k = F::levels - 1; k > place; --k) {
      level[static_cast<std::size_t>(k)] = at % level_extents[static_cast<std::size_t>(k)];
      at /= level_extents[static_cast<std::size_t>(k)];
    }
    level[static_cast<std::size_t>(place)] = i;
    for (int k = place - 1; k >= 0; --k) {
      level[static_cast<std::size_t>(k)] = p % level_extents[static_cast<std::size_t>(k)];
      p /= level_extents[static_cast<std::size_t>(k)];
    }
    const Extents<F::order> coordinate = F::coordinate(level);
    std::int64_t out = 0;
    for (int k = 0; k < From::levels; ++k) {
      constexpr auto modes = From::mode_of_level;
      const auto mode = static_cast<std::size_t>(modes[static_cast<std::size_t>(k)]);
      if (coordinate[mode] >= extents[mode]) return -1;
      out = out * extents[mode] + coordinate[mode];
    }
    return out;
  }

  KOKKOS_INLINE_FUNCTION double weight(std::int64_t p, int i) const {
    bool inside = false;
    for (std::int64_t at = 0; at < unit; ++at) {
      const std::int64_t q = offset(p, i, at);
      if (q < 0) continue;
      inside = true;
      if (mask == nullptr) break;
      if (!(mask[q] == MaskValue{})) return 1;
    }
    if (!inside) return -1;  // units beyond the extents are chosen last
    if (mask != nullptr) return 0;
    return size_of_unit(by, [&](const auto& visit) {
      for (std::int64_t at = 0; at < unit; ++at)
        if (const std::int64_t q = offset(p, i, at); q >= 0) visit(from[q]);
    });
  }

  /// Fills a group of windows. Lowers `overfull` to the first of them for which the mask has too many units.
  KOKKOS_FUNCTION void operator()(std::int64_t group, std::int64_t& overfull) const {
    unsigned byte = 0;
    std::int64_t q = group * windows * n;
    for (std::int64_t p = group * windows; p < (group + 1) * windows && p < parents; ++p) {
      double weights[static_cast<std::size_t>(m)];
      int wanted = 0;
      for (int i = 0; i < m; ++i) {
        weights[i] = weight(p, i);
        wanted += weights[i] > 0 ? 1 : 0;
      }
      if (mask != nullptr && wanted > n && p < overfull) overfull = p;
      for (int i = 0, kept = 0; i < m && kept < n; ++i) {
        int before = 0;  // units that are preferred to this one
        for (int other = 0; other < m; ++other)
          before += weights[other] > weights[i] || (weights[other] == weights[i] && other < i) ? 1 : 0;
        if (before >= n) continue;
        byte |= static_cast<unsigned>(i) << (q % in_byte * (8 / in_byte));
        if ((q + 1) % in_byte == 0) {
          indices[q / in_byte] = static_cast<std::uint8_t>(byte);
          byte = 0;
        }
        for (std::int64_t at = 0; at < unit; ++at) values[q * unit + at] = kept_value(offset(p, i, at));
        ++q;
        ++kept;
      }
    }
    if (q % in_byte != 0) indices[q / in_byte] = static_cast<std::uint8_t>(byte);
  }

  KOKKOS_INLINE_FUNCTION Value kept_value(std::int64_t q) const {
    if (q < 0 || (mask != nullptr && mask[q] == MaskValue{})) return Value{};
    return scaled_by(from[q], scale);
  }
};

template <WindowedFormat F, class Value, TensorFormat From, ExecutionSpace Space, class MaskValue>
Tensor<Value, F, Space> fill_windows(const Tensor<Value, From, Space>& t, const MaskValue* mask,
                                     PruneOptions options) {
  static_assert(From::is_dense && !From::is_blocked && From::order == F::order);
  constexpr int place = place_of_windows<F>;
  using Level = typename F::template level<place>;
  Tensor<Value, F, Space> out(t.extents());
  const auto level_extents = F::level_extents(t.extents());
  std::int64_t parents = 1, unit = 1;
  for (int k = 0; k < F::levels; ++k)
    (k < place ? parents : unit) *= k == place ? 1 : level_extents[static_cast<std::size_t>(k)];
  using Fill = FillWindows<F, Value, MaskValue, From>;
  const Fill fill{t.values().data(),
                  mask,
                  out.template level<place>().indices.data(),
                  out.values().data(),
                  t.extents(),
                  level_extents,
                  parents,
                  unit,
                  options.by,
                  scale_of(options, Level::kept, Level::window)};
  std::int64_t overfull = parents;
  if (parents > 0 && unit > 0)
    Kokkos::parallel_reduce("sporos::prune",
                            Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(
                                0, (parents + Fill::windows - 1) / Fill::windows),
                            fill, Kokkos::Min<std::int64_t>(overfull));
  if (overfull < parents)
    throw FormatError(text("window ", overfull, " of the mask keeps more than ", Level::kept, " of ",
                           Level::window, " units, as many as ", format_name<F>(), " holds"));
  return out;
}

/// A dense tensor with the same values.
template <AnyTensor T>
auto as_dense(const T& t) {
  using From = typename T::format_type;
  if constexpr (From::is_dense && !From::is_blocked)
    return t;
  else
    return convert<DenseTensor<From::order>>(t);
}

}  // namespace detail

/// The N:M sparse tensor that keeps, in each window of M units, the N of largest magnitude; among equal ones,
/// the first. Units with a NaN are kept.
///
///     auto B = prune<NM<2, 4, 32>>(W);                            // by the sum of absolute values
///     auto A = prune<TwoFour>(W, {.by = Magnitude::l2});
///
/// @tparam F  `NM<…>`, TwoFour, or any other format with one N:M level among full ones
/// @param t   a tensor of any format; not changed. If it is not dense, it is first converted to a dense one,
/// M / N times the size of the result.
/// @throws MemoryError if the memory cannot be allocated
/// Cost: one pass over the dense tensor in its space, on the GPU if it lives there.
template <WindowedFormat F, AnyTensor T>
auto prune(const T& t, PruneOptions options = {}) {
  static_assert(F::order == T::order, "prune keeps the modes of a tensor: the format must be of its order");
  using Value = typename T::value_type;
  return detail::fill_windows<F>(detail::as_dense(t), static_cast<const Value*>(nullptr), options);
}

/// The N:M sparse tensor of the values where a mask of the same extents is nonzero. A unit is kept if the
/// mask has any of its elements; its other elements become zero.
/// @throws ShapeError if the mask has other extents; FormatError, naming the window, if the mask has more
/// than N units of one
template <WindowedFormat F, AnyTensor T, AnyTensor Mask>
auto prune(const T& t, const Mask& mask, PruneOptions options = {}) {
  static_assert(F::order == T::order && F::order == Mask::order,
                "prune keeps the modes of a tensor: the format and the mask must be of its order");
  static_assert(std::is_same_v<typename T::space_type, typename Mask::space_type>,
                "the mask lives in another space than the tensor: move it there with move_to<Space>()");
  if (t.extents() != mask.extents())
    throw ShapeError(text("the tensor is of extents ", to_string(t.extents()), ", but the mask of ",
                          to_string(mask.extents()), ": both must be the same"));
  using From = typename decltype(detail::as_dense(t))::format_type;
  const auto dense_mask = convert<From>(mask);
  return detail::fill_windows<F>(detail::as_dense(t), std::as_const(dense_mask).values().data(), options);
}

}  // namespace sporos

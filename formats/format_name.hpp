// SPDX-License-Identifier: Apache-2.0
/// @file format_name.hpp
/// The names that formats go by: "CSR", "COO<3>", "CSF<3, 2-0-1>".
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "../core/error.hpp"
#include "../core/format.hpp"
#include "../core/value.hpp"
#include "named.hpp"

namespace sporos {
namespace detail {

/// The index types of the first level that has both, or else those that named formats have by default.
template <class... Levels>
struct IndexTypes {
  using position = std::int64_t;
  using coordinate = std::int32_t;
};
template <class First, class... Rest>
struct IndexTypes<First, Rest...> : IndexTypes<Rest...> {};
template <class First, class... Rest>
  requires requires { typename First::position_type; }
struct IndexTypes<First, Rest...> {
  using position = typename First::position_type;
  using coordinate = typename First::coordinate_type;
};

/// The arguments of a format's name that differ from the defaults.
class NameArguments {
 public:
  NameArguments& add(const std::string& argument) {
    list_ += (list_.empty() ? "" : ", ") + argument;
    return *this;
  }
  template <int... Modes>
  NameArguments& add_order(ModeOrder<Modes...>) {
    add(std::to_string(sizeof...(Modes)));
    if (std::is_same_v<ModeOrder<Modes...>, natural_order<static_cast<int>(sizeof...(Modes))>>) return *this;
    std::string modes;
    ((modes += (modes.empty() ? "" : "-") + std::to_string(Modes)), ...);
    return add(modes);
  }
  template <class Position, class Coordinate>
  NameArguments& add_widths() {
    if (std::is_same_v<Position, std::int64_t> && std::is_same_v<Coordinate, std::int32_t>) return *this;
    return add(text(value_name<Position>(), ", ", value_name<Coordinate>()));
  }
  std::string behind(const std::string& name) const {
    return list_.empty() ? name : name + '<' + list_ + '>';
  }

 private:
  std::string list_;
};

template <class F>
struct NameOf {
  static std::string str() { return F::str(); }
};

template <>
struct NameOf<Scalar> {
  static std::string str() { return "Scalar"; }
};

template <std::int64_t Rows, std::int64_t Columns, class Position, class Coordinate>
struct NameOf<BCSR<Rows, Columns, Position, Coordinate>> {
  static std::string str() {
    return NameArguments()
        .add(std::to_string(Rows))
        .add(std::to_string(Columns))
        .template add_widths<Position, Coordinate>()
        .behind("BCSR");
  }
};

/// Whether a format is an `NM<…>`: not one with other indices, as TwoFour.
template <class F>
inline constexpr bool is_nm = [] {
  using Traits = NmTraits<F>;
  if constexpr (Traits::is)
    return std::is_same_v<F, NM<Traits::kept, Traits::window, Traits::unit, Traits::along>>;
  else
    return false;
}();
template <class F>
  requires is_nm<F>
struct NameOf<F> {
  static std::string str() {
    using Traits = NmTraits<F>;
    NameArguments arguments;
    arguments.add(std::to_string(Traits::kept)).add(std::to_string(Traits::window));
    if (Traits::unit != 1 || Traits::along != 0) arguments.add(std::to_string(Traits::unit));
    if (Traits::along != 0) arguments.add(std::to_string(Traits::along));
    return arguments.behind("NM");
  }
};
template <>
struct NameOf<TwoFour> {
  static std::string str() { return "TwoFour"; }
};

/// Formats without blocks are compared with each named format of the same mode order and index types.
template <int FirstMode, int... Modes, class... Levels>
struct NameOf<Format<Map<Dim<FirstMode>, Dim<Modes>...>, Levels...>> {
  using F = Format<Map<Dim<FirstMode>, Dim<Modes>...>, Levels...>;
  using Order = ModeOrder<FirstMode, Modes...>;
  using P = typename IndexTypes<Levels...>::position;
  using C = typename IndexTypes<Levels...>::coordinate;
  static constexpr int order = static_cast<int>(sizeof...(Levels));
  template <class Named>
  static constexpr bool is = std::is_same_v<F, Named>;

  static std::string str() {
    NameArguments arguments;
    if constexpr (is<DenseVector>) return "DenseVector";
    if constexpr (is<DenseMatrix<RowMajor>>) return "DenseMatrix<RowMajor>";
    if constexpr (is<DenseMatrix<ColumnMajor>>) return "DenseMatrix<ColumnMajor>";
    if constexpr (is<DenseTensor<order, Order>>) return arguments.add_order(Order{}).behind("DenseTensor");
    if constexpr (order > 1 && !is<CSR<P, C>> && !is<UnorderedCSR<P, C>> && !is<CSC<P, C>> &&
                  !is<DCSR<P, C>> && !is<DCSC<P, C>>)
      arguments.add_order(Order{});
    arguments.template add_widths<P, C>();
    if constexpr (is<SparseVector<P, C>>) return arguments.behind("SparseVector");
    if constexpr (is<CSR<P, C>>) return arguments.behind("CSR");
    if constexpr (is<UnorderedCSR<P, C>>) return arguments.behind("UnorderedCSR");
    if constexpr (is<CSC<P, C>>) return arguments.behind("CSC");
    if constexpr (is<DCSR<P, C>>) return arguments.behind("DCSR");
    if constexpr (is<DCSC<P, C>>) return arguments.behind("DCSC");
    if constexpr (is<CSF<order, Order, P, C>>) return arguments.behind("CSF");
    if constexpr (is<COO<order, Order, P, C, true>>) return arguments.behind("COO");
    if constexpr (is<COO<order, Order, P, C, false>>) return arguments.add("not unique").behind("COO");
    return F::str();
  }
};

}  // namespace detail

/// The name of a format: "CSR", "CSC", "COO<3>", "BCSR<2, 3>"; "CSF<3, 2-0-1>" with the mode order if it is
/// not the natural one; "CSR<int32, int32>" with the types of positions and coordinates if they are not the
/// defaults; "Batches<CSR>". A composition without a name is written as its levels, "Dense(d0),
/// Singleton(d1)".
template <TensorFormat F>
std::string format_name() {
  if constexpr (BatchTraits<F>::is && !F::is_dense) {
    using Matrix = typename BatchTraits<F>::matrix;
    if (std::string matrix = detail::NameOf<Matrix>::str(); matrix != Matrix::str())
      return "Batches<" + matrix + ">";
  }
  return detail::NameOf<F>::str();
}

}  // namespace sporos

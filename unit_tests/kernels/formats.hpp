// SPDX-License-Identifier: Apache-2.0
/// @file formats.hpp
/// The formats in which tensors of each order are tested.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sporos/formats/assemble.hpp>
#include <sporos/formats/named.hpp>
#include <tuple>

namespace sporos::test {

using RowMajorMatrix = DenseMatrix<>;
using ColumnMajorMatrix = DenseMatrix<ColumnMajor>;
using RepeatedVector = COO<1, ModeOrder<0>, std::int64_t, std::int32_t, false>;
using ColumnCoo = COO<2, ColumnMajor>;
using RepeatedMatrix = COO<2, RowMajor, std::int64_t, std::int32_t, false>;
using Blocks = BCSR<2, 3>;
using Csf021 = CSF<3, ModeOrder<0, 2, 1>>;
using Csf102 = CSF<3, ModeOrder<1, 0, 2>>;
using Csf120 = CSF<3, ModeOrder<1, 2, 0>>;
using Csf201 = CSF<3, ModeOrder<2, 0, 1>>;
using Csf210 = CSF<3, ModeOrder<2, 1, 0>>;
using Coo201 = COO<3, ModeOrder<2, 0, 1>>;
using RepeatedCube = COO<3, ModeOrder<0, 1, 2>, std::int64_t, std::int32_t, false>;
using Csf3120 = CSF<4, ModeOrder<3, 1, 2, 0>>;
using Csf1302 = CSF<4, ModeOrder<1, 3, 0, 2>>;

template <class... F>
struct Formats {
  static constexpr int size = static_cast<int>(sizeof...(F));
  template <int At>
  using get = std::tuple_element_t<static_cast<std::size_t>(At), std::tuple<F...>>;
};

template <int Order>
struct FormatsOfOrder;
template <>
struct FormatsOfOrder<0> {
  using type = Formats<Scalar>;
};
template <>
struct FormatsOfOrder<1> {
  using type = Formats<DenseVector, SparseVector<>, RepeatedVector>;
};
template <>
struct FormatsOfOrder<2> {
  using type = Formats<RowMajorMatrix, ColumnMajorMatrix, CSR<>, CSC<>, DCSR<>, DCSC<>, COO<2>, ColumnCoo,
                       RepeatedMatrix, Blocks>;
};
template <>
struct FormatsOfOrder<3> {
  using type =
      Formats<DenseTensor<3>, CSF<3>, Csf021, Csf102, Csf120, Csf201, Csf210, COO<3>, Coo201, RepeatedCube>;
};
template <>
struct FormatsOfOrder<4> {
  using type = Formats<DenseTensor<4>, CSF<4>, Csf3120, Csf1302, COO<4>>;
};
template <std::size_t Order>
using formats_of_order = typename FormatsOfOrder<static_cast<int>(Order)>::type;

}  // namespace sporos::test

// The assembly of these formats is compiled once, in formats_*.cpp, instead of with every statement.
#define SPOROS_TEST_FORMATS(Each)                                                                        \
  Each(SparseVector<>) Each(test::RepeatedVector) Each(CSR<>) Each(CSC<>) Each(DCSR<>) Each(DCSC<>)      \
      Each(COO<2>) Each(test::ColumnCoo) Each(test::RepeatedMatrix) Each(test::Blocks) Each(CSF<3>)      \
          Each(test::Csf021) Each(test::Csf102) Each(test::Csf120) Each(test::Csf201) Each(test::Csf210) \
              Each(COO<3>) Each(test::Coo201) Each(test::RepeatedCube) Each(CSF<4>) Each(test::Csf3120)  \
                  Each(test::Csf1302) Each(COO<4>)
#define SPOROS_TEST_ASSEMBLE(F, Space)                          \
  template Tensor<double, F, Space> assemble<F, Space, double>( \
      const Space&, const Entries<double, F::order>&, Duplicates);
#define SPOROS_TEST_EXTERN(F) extern SPOROS_TEST_ASSEMBLE(F, Serial) extern SPOROS_TEST_ASSEMBLE(F, OpenMP)

namespace sporos {
#ifndef SPOROS_TEST_INSTANTIATES
SPOROS_TEST_FORMATS(SPOROS_TEST_EXTERN)
#endif
}  // namespace sporos

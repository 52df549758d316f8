// SPDX-License-Identifier: Apache-2.0
/// @file explanations.cpp
/// Statements as a user would write them, over tensors with a few diagonals.
#include "explanations.hpp"

#include <algorithm>
#include <cstdint>
#include <sporos/core/index.hpp>
#include <sporos/core/statement.hpp>
#include <sporos/formats/named.hpp>
#include <sporos/kernels/statement/explain.hpp>
#include <utility>

#include "assembled.hpp"

namespace sporos::tool {
namespace {

using namespace sporos::indices;

constexpr std::int64_t extent = 1000;  ///< of every mode
constexpr std::int64_t columns = columns_of_factors;

/// Entries on the diagonal and next to it, at the same coordinate in all modes but the first.
template <int Order>
Entries<double, Order> entries_of_band() {
  Extents<Order> extents;
  extents.fill(extent);
  Entries<double, Order> entries(extents, 3 * extent - 2);
  std::int64_t at = 0;
  for (std::int64_t row = 0; row < extent; ++row)
    for (std::int64_t column = std::max<std::int64_t>(row - 1, 0); column <= std::min(row + 1, extent - 1);
         ++column) {
      Extents<Order> place;
      place.fill(column);
      place[0] = row;
      entries.set(at++, place, 1.0);
    }
  return entries;
}

template <class F>
Tensor<double, F> banded() {
  return assembled<F>(entries_of_band<F::order>());
}

/// A tensor that stores nothing, or zeros.
template <class F>
Tensor<double, F> empty(std::int64_t rows = extent, std::int64_t other = extent) {
  if constexpr (F::order == 1)
    return Tensor<double, F>({rows});
  else
    return Tensor<double, F>({rows, other});
}

template <class F>
auto spmv() {
  return assign(empty<DenseVector>()(i), banded<F>()(i, j) * empty<DenseVector>()(j));
}

template <class F>
auto spmm() {
  return assign(empty<DenseMatrix<>>(extent, columns)(i, r),
                banded<F>()(i, k) * empty<DenseMatrix<>>(extent, columns)(k, r));
}

template <class Result, class Left, class Right>
auto spgemm() {
  return assign(empty<Result>()(i, j), banded<Left>()(i, k) * banded<Right>()(k, j));
}

template <class F>
auto sddmm() {
  const auto C = empty<DenseMatrix<>>(extent, columns), D = empty<DenseMatrix<>>(columns, extent);
  return assign(empty<F>()(i, j), banded<F>()(i, j) * C(i, k) * D(k, j));
}

template <class F>
auto add() {
  return assign(empty<F>()(i, j), banded<F>()(i, j) + banded<F>()(i, j));
}

template <class F>
auto mttkrp() {
  const auto C = empty<DenseMatrix<>>(extent, columns), D = empty<DenseMatrix<>>(extent, columns);
  return assign(empty<DenseMatrix<>>(extent, columns)(i, r), banded<F>()(i, k, l) * C(k, r) * D(l, r));
}

template <class F, class Result>
auto ttv() {
  return assign(empty<Result>()(i, j), banded<F>()(i, j, k) * empty<DenseVector>()(k));
}

template <class F>
auto inner() {
  return assign(Tensor<double, Scalar>(Extents<0>{})(), banded<F>()(i, j, k) * banded<F>()(i, j, k));
}

/// The explanation of the statement that `make` makes, with its derived loop order.
template <class Make>
Explanation of(const char* name, const char* format, Make make) {
  return {name, format, [make] { return explain(make()); }};
}

/// The product of sparse matrices with a given loop order.
template <class Result, class Left, class Right, char... Names>
Explanation product(const char* order, Index<Names>... loops) {
  return {"spgemm", order, [=] { return explain(spgemm<Result, Left, Right>().reorder(loops...)); }};
}

}  // namespace

Entries<double, 2> band() { return entries_of_band<2>(); }

std::string Explanation::statement() const {
  const std::string all = text();
  return all.substr(0, all.find('\n'));  // the statement is the first line of its explanation
}

std::vector<Explanation> explanations() {
  using Coo = COO<2>;
  using Csf = CSF<3>;
  using Coo3 = COO<3>;
  return {of("spmv", "csr", spmv<CSR<>>),
          of("spmv", "csc", spmv<CSC<>>),
          of("spmv", "coo", spmv<Coo>),
          of("spmv", "dcsr", spmv<DCSR<>>),
          of("spmv", "bcsr2x2", spmv<BCSR<2, 2>>),
          of("spmm", "csr", spmm<CSR<>>),
          of("spmm", "csc", spmm<CSC<>>),
          of("spmm", "coo", spmm<Coo>),
          product<CSR<>, CSR<>, CSR<>>("ikj", i, k, j),
          product<CSR<>, CSC<>, CSR<>>("kij", k, i, j),
          product<CSR<>, CSR<>, CSC<>>("ijk", i, j, k),
          product<CSC<>, CSC<>, CSC<>>("jki", j, k, i),
          product<CSC<>, CSC<>, CSR<>>("kji", k, j, i),
          product<CSC<>, CSR<>, CSC<>>("jik", j, i, k),
          of("sddmm", "csr", sddmm<CSR<>>),
          of("sddmm", "coo", sddmm<Coo>),
          of("add", "csr", add<CSR<>>),
          of("add", "csc", add<CSC<>>),
          of("add", "coo", add<Coo>),
          of("mttkrp", "csf", mttkrp<Csf>),
          of("mttkrp", "coo", mttkrp<Coo3>),
          of("ttv", "csf", ttv<Csf, DCSR<>>),
          of("ttv", "coo", ttv<Coo3, Coo>),
          of("inner", "csf", inner<Csf>),
          of("inner", "coo", inner<Coo3>)};
}

}  // namespace sporos::tool

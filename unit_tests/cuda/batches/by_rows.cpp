// SPDX-License-Identifier: Apache-2.0
/// @file by_rows.cpp
/// Batches of products with matrices in CSR on the GPU as one kernel: with one matrix, with one for each
/// batch, and with one dense factor; long rows, epilogues, plans in graphs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <sporos/sporos.hpp>
#include <sstream>
#include <string>
#include <type_traits>

#include "../inputs.hpp"
#include "../kept_memory.hpp"
#include "kernels/batches/products.hpp"
#include "kernels/kernel_of.hpp"

namespace sporos::test::batches_by_rows {
namespace {

using namespace sporos::indices;
using test::batches::b;
using test::batches::expect_products_of_batches;
using test::batches::numbers;

/// Which of the two factors is there for each batch.
enum class Which { dense, sparse, both };

/// Small integers that are not zero, and zero elsewhere: one in `of` of all, and one in two of every eleventh
/// row, so that some rows are cut.
template <class Value, int Order>
Tensor<Value, DenseTensor<Order>> sparse_numbers(const Extents<Order>& extents, unsigned of) {
  Tensor<Value, DenseTensor<Order>> out(extents);
  const std::int64_t columns = extents.back();
  for (std::int64_t at = 0; at < out.nnz(); ++at) {
    const std::int64_t row = at / columns;
    const auto drawn = static_cast<std::uint64_t>(at) * 0x9e3779b97f4a7c15u >> 40;
    if (drawn % (row % 11 == 5 ? 2 : of) == 0)
      out.values()(at) = static_cast<Value>(static_cast<float>(drawn / 7 % 3 + 1));
  }
  return out;
}

template <Which Of, class S, class D>
auto product_of(const S& s, const D& d) {
  if constexpr (Of == Which::dense)
    return s(i, k) * d(b, k, j);
  else if constexpr (Of == Which::sparse)
    return s(b, i, k) * d(k, j);
  else
    return s(b, i, k) * d(b, k, j);
}

template <Which Of, class Value, class Out, class Position = std::int64_t>
struct Case {
  static constexpr int order_of_s = Of == Which::dense ? 2 : 3, order_of_d = Of == Which::sparse ? 2 : 3;
  using Rows = CSR<Position, std::int32_t>;
  using S = Tensor<Value, std::conditional_t<Of == Which::dense, Rows, Batches<Rows>>, Cuda>;
  using D = Tensor<Value, DenseTensor<order_of_d>, Cuda>;

  Extents<4> shape;
  Tensor<Value, DenseTensor<order_of_s>> dense_s;
  Tensor<Value, DenseTensor<order_of_d>> dense_d;
  Tensor<Out, DenseTensor<3>> before;
  Tensor<float, DenseVector> bias;
  Tensor<float, DenseMatrix<>> of_rows;
  S s;
  D d;

  /// @param shape  batches, rows, columns, and the summed extent
  Case(const Extents<4>& shape, unsigned of) : shape(shape) {
    const auto [batches, rows, columns, inner] = shape;
    if constexpr (Of == Which::dense)
      dense_s = sparse_numbers<Value, 2>({rows, inner}, of);
    else
      dense_s = sparse_numbers<Value, 3>({batches, rows, inner}, of);
    if constexpr (Of == Which::sparse)
      dense_d = numbers<Value, DenseTensor<2>>({inner, columns}, 2);
    else
      dense_d = numbers<Value, DenseTensor<3>>({batches, inner, columns}, 2);
    before = numbers<Out, DenseTensor<3>>({batches, rows, columns}, 3);
    bias = numbers<float, DenseVector>({columns}, 4);
    of_rows = numbers<float, DenseMatrix<>>({batches, rows}, 5);
    s = convert<typename S::format_type>(dense_s).template copy_to<Cuda>();
    d = dense_d.template copy_to<Cuda>();
  }

  /// What is expected: sums in double, with the epilogue and what was there before, as they are stored.
  Tensor<double, DenseTensor<3>> expected(bool has_epilogue, bool accumulates) const {
    const auto [batches, rows, columns, inner] = shape;
    const Tensor<double, DenseTensor<3>> out({batches, rows, columns});
    const auto number = [](auto value) { return static_cast<double>(static_cast<float>(value)); };
    for (std::int64_t batch = 0; batch < batches; ++batch)
      for (std::int64_t row = 0; row < rows; ++row) {
        double* const to = out.values().data() + (batch * rows + row) * columns;
        for (std::int64_t at = 0; at < inner; ++at) {
          const double factor =
              number(dense_s.values()(((Of == Which::dense ? 0 : batch) * rows + row) * inner + at));
          if (factor == 0) continue;
          const std::int64_t of_d = ((Of == Which::sparse ? 0 : batch) * inner + at) * columns;
          for (std::int64_t column = 0; column < columns; ++column)
            to[column] += factor * number(dense_d.values()(of_d + column));
        }
        for (std::int64_t column = 0; column < columns; ++column) {
          if (has_epilogue)
            to[column] = std::max(to[column] + number(bias.values()(column)), 0.0) *
                         number(of_rows.values()(batch * rows + row));
          if (accumulates) to[column] += number(before.values()((batch * rows + row) * columns + column));
          to[column] = number(static_cast<Out>(static_cast<float>(to[column])));
        }
      }
    return out;
  }

  template <class Kernel = gpu::SpmmByGroups>
  void expect(bool has_epilogue, bool accumulates, bool is_planned, bool is_constant = false) const {
    SCOPED_TRACE(text(to_string(shape), ", ", has_epilogue, accumulates, is_planned));
    const auto c = before.template copy_to<Cuda>();
    if (!accumulates && c.nnz() > 0)
      Kokkos::deep_copy(c.values(), static_cast<Out>(std::numeric_limits<float>::quiet_NaN()));
    const auto p = bias.copy_to<Cuda>();
    const auto t = of_rows.copy_to<Cuda>();
    const auto start = [&](const auto& statement) {
      const auto one = statement.template use<Kernel>();
      const auto run = [&](const auto& of) {
        if (is_constant)
          plan(of.with_constant_operands()).run();
        else
          is_planned ? plan(of).run() : of.run();
      };
      accumulates ? run(one.accumulate()) : run(one);
    };
    if (has_epilogue)
      start(assign(c(b, i, j), relu(sum(k, product_of<Of>(s, d)) + p(j)) * t(b, i)));
    else
      start(assign(c(b, i, j), product_of<Of>(s, d)));
    test::batches::expect_same_values(c.template copy_to<Host>(), expected(has_epilogue, accumulates));
  }
  template <class Kernel = gpu::SpmmByGroups>
  void expect_all() const {
    for (const bool has_epilogue : {false, true})
      for (const bool accumulates : {false, true})
        for (const bool is_planned : {false, true})
          expect<Kernel>(has_epilogue, accumulates, is_planned, is_planned && !accumulates);
  }
};

template <Which Of>
void expect_products() {
  for (const std::int64_t columns : {1, 6, 8, 64, 300}) {
    Case<Of, float, float>({3, 70, columns, 500}, 20).expect_all();
    Case<Of, double, double, std::int32_t>({3, 70, columns, 300}, 9).expect_all();
  }
  Case<Of, half, float>({4, 65, 40, 300}, 12).expect_all();
  Case<Of, half, half>({2, 33, 9, 60}, 9).expect_all();
  // Few rows that are long enough to be cut, and many that are short.
  Case<Of, float, float>({2, 6, 24, 5000}, 2).expect_all();
  Case<Of, float, float>({2, 17, 300, 3000}, 3).expect_all();
  Case<Of, float, float>({3, 3000, 5, 60}, 30).expect_all();
  // Few long rows among short ones: of one piece, and of two.
  Case<Of, float, float>({3, 300, 24, 400}, 200).expect_all();
  Case<Of, float, float>({3, 300, 24, 700}, 200).expect_all();
  for (const auto& shape : {Extents<4>{0, 5, 7, 8}, Extents<4>{2, 0, 7, 8}, Extents<4>{2, 5, 0, 8},
                            Extents<4>{2, 5, 7, 0}, Extents<4>{1, 1, 1, 1}})
    Case<Of, float, float>(shape, 2).expect_all();
}
TEST(CudaBatchesByRows, OfOneMatrix) { expect_products<Which::dense>(); }
TEST(CudaBatchesByRows, OfAMatrixForEachBatch) { expect_products<Which::both>(); }
TEST(CudaBatchesByRows, OfAMatrixForEachBatchAndOneDense) { expect_products<Which::sparse>(); }

/// On tensor cores, where tiles end within the rows and columns of a matrix and those of the next begin.
template <Which Of>
void expect_products_by_tiles() {
  using Kernel = gpu::SpmmOnTensorCores;
  for (const std::int64_t columns : {8, 64, 130, 300}) {
    Case<Of, half, float>({3, 70, columns, 100}, 4).template expect_all<Kernel>();
    Case<Of, half, half>({2, 128, columns, 128}, 9).template expect_all<Kernel>();
  }
  Case<Of, half, float>({5, 300, 40, 200}, 3).template expect_all<Kernel>();
  Case<Of, half, float>({2, 5, 7, 40}, 3).template expect_all<Kernel>();
  Case<Of, half, float>({0, 5, 7, 8}, 2).template expect_all<Kernel>();
}
TEST(CudaBatchesByRows, OfOneMatrixByTiles) { expect_products_by_tiles<Which::dense>(); }
TEST(CudaBatchesByRows, OfAMatrixForEachBatchByTiles) { expect_products_by_tiles<Which::sparse>(); }

/// What is not finite stays in its batch.
TEST(CudaBatchesByRows, InfinitiesStayInTheirBatch) {
  const Case<Which::dense, half, float> of({3, 70, 72, 100}, 4);
  of.dense_d.values()(100 * 72) = half(std::numeric_limits<float>::infinity());
  Kokkos::deep_copy(of.d.values(), copy_array<gpu::Memory>(of.dense_d.values()));
  of.expect<gpu::SpmmOnTensorCores>(false, false, true);
  of.expect<gpu::SpmmByGroups>(false, false, true);
}

/// All orders of modes, by whichever candidate or loop nest takes them.
TEST(CudaBatchesByRows, InAnyOrder) {
  for (const std::int64_t batches : {0, 1, 3})
    expect_products_of_batches<Cuda, float, Batches<CSR<>>>({batches, 33, 20, 40});
  expect_products_of_batches<Cuda, double, Batches<CSR<std::int32_t, std::int32_t>>>({2, 5, 6, 0});
}

template <class S>
std::string explained(const S& statement) {
  EXPECT_EQ(kernel_of(statement), gpu::SpmmByGroups::name);
  std::ostringstream out;
  out << explain(statement);
  return out.str();
}
TEST(CudaBatchesByRows, AreOneKernelUnlessForced) {
  const Case<Which::both, float, float> both({4, 128, 32, 200}, 20);
  const Case<Which::dense, float, float> one({4, 128, 32, 200}, 20);
  const Tensor<float, DenseTensor<3>, Cuda> C({4, 128, 32});
  const std::string of_both = explained(assign(C(b, i, j), product_of<Which::both>(both.s, both.d)));
  EXPECT_NE(of_both.find("batches: 4, of which each has rows of its own, by one kernel"), std::string::npos)
      << of_both;
  const std::string of_one = explained(assign(C(b, i, j), product_of<Which::dense>(one.s, one.d)));
  EXPECT_NE(of_one.find("batches: 4, of which each has the same sparse matrix, by one kernel"),
            std::string::npos)
      << of_one;
}

/// More panels of columns, in all batches together, than a launch has.
TEST(CudaBatchesByRows, OfMorePanelsThanALaunchHas) {
  Case<Which::dense, float, float>({70000, 3, 5, 4}, 2).expect(false, false, false);
  Case<Which::dense, float, float>({70000, 2, 5, 4}, 2).expect(true, true, true);
}

/// Plans follow values in a graph, also of rows that are cut, and give the same bits each time.
template <Which Of>
void expect_plans_in_graphs() {
  const OwnStream stream;
  const Case<Of, float, float> small({3, 40, 24, 3000}, 5), large({3, 400, 24, 3000}, 5);
  const Tensor<float, DenseTensor<3>, Cuda> C({3, 40, 24}), first({3, 40, 24}), wide({3, 400, 24});
  auto product = plan(assign(C(b, i, j), product_of<Of>(small.s, small.d))
                          .template use<gpu::SpmmByGroups>()
                          .on(stream.resources()));
  product.run();
  const auto expected = [&] {
    Kokkos::fence();
    assign(first(b, i, j), product_of<Of>(small.s, small.d)).generic().run();
    return first.copy_to<Host>();
  };
  stream.wait();
  expect_equal_tensors(expected(), C);
  const auto run = [&] { product.run(); };
  const auto run_larger = [&] {
    assign(wide(b, i, j), product_of<Of>(large.s, large.d))
        .template use<gpu::SpmmByGroups>()
        .on(stream.resources())
        .run();
  };
  const auto change = [&] {
    Kokkos::deep_copy(small.s.values(), 2.0F);
    Kokkos::deep_copy(C.values(), -1.0F);
  };
  expect_graph_keeps_memory(stream, run, run_larger, change, [&] { expect_equal_tensors(expected(), C); });
}
TEST(CudaBatchesByRows, PlansFollowValuesInAGraph) {
  expect_plans_in_graphs<Which::dense>();
  expect_plans_in_graphs<Which::both>();
  expect_plans_in_graphs<Which::sparse>();
}

/// Sums that round are the same bits in each run, also of rows that are cut.
template <Which Of>
void expect_same_bits() {
  const Case<Of, float, float> of({3, 40, 24, 3000}, 5);
  for (std::int64_t at = 0; at < of.dense_d.nnz(); ++at)
    of.dense_d.values()(at) = 1.0F / static_cast<float>(at % 997 + 3);
  Kokkos::deep_copy(of.d.values(), copy_array<gpu::Memory>(of.dense_d.values()));
  const Tensor<float, DenseTensor<3>, Cuda> first({3, 40, 24}), again({3, 40, 24});
  auto product = plan(assign(first(b, i, j), product_of<Of>(of.s, of.d)).template use<gpu::SpmmByGroups>());
  product.run();
  const auto bits = first.copy_to<Host>();
  for (int run = 0; run < 20; ++run) {
    Kokkos::deep_copy(first.values(), -1.0F);
    product.run();
    expect_equal_tensors(bits, first);
  }
  for (int run = 0; run < 5; ++run) {
    const auto one = assign(again(b, i, j), product_of<Of>(of.s, of.d)).template use<gpu::SpmmByGroups>();
    one.run();
    const auto of_one = again.copy_to<Host>();
    one.run();
    expect_equal_tensors(of_one, again);
  }
}
TEST(CudaBatchesByRows, AreTheSameBitsInEachRun) {
  expect_same_bits<Which::dense>();
  expect_same_bits<Which::both>();
}

}  // namespace
}  // namespace sporos::test::batches_by_rows

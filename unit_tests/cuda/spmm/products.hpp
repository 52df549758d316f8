// SPDX-License-Identifier: Apache-2.0
/// @file products.hpp
/// What the kernels for products of sparse and dense matrices are tested by: against sums in double.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <sporos/kernels/spmm/cuda/dot_products_candidate.hpp>
#include <sporos/sporos.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "../dense_products.hpp"
#include "../estimates.hpp"
#include "../inputs.hpp"

namespace sporos::test {

using IntCsr = CSR<std::int32_t, std::int32_t>;

/// A dense matrix of which one in `of` elements is not zero.
template <class Value>
Tensor<Value, DenseMatrix<>> thinned(const Extents<2>& extents, unsigned of, unsigned seed) {
  auto out = random_dense<Value, DenseMatrix<>>(extents, seed);
  std::mt19937_64 draw(seed + 1);
  for (std::int64_t at = 0; at < out.nnz(); ++at)
    if (draw() % of != 0) out.values()(at) = Value{};
  return out;
}

/// A matrix of small integers with that many nonzeros in each row, at most `columns`.
template <class Value>
Entries<Value, 2> with_lengths(const std::vector<std::int64_t>& lengths, std::int64_t columns = 1000) {
  std::int64_t nonzeros = 0, at = 0;
  for (const std::int64_t length : lengths) nonzeros += length;
  Entries<Value, 2> out({static_cast<std::int64_t>(lengths.size()), columns}, nonzeros);
  for (std::size_t row = 0; row < lengths.size(); ++row)
    for (std::int64_t entry = 0; entry < lengths[row]; ++entry, ++at)
      out.set(at, {static_cast<std::int64_t>(row), (entry * columns + 7) / lengths[row] % columns},
              static_cast<Value>(static_cast<float>(1 + (at + entry) % 3)));
  return out;
}

/// A kernel, the type of the operands' values, and that of the result's.
template <class Kernel, class Value, class Out>
struct SpmmCase {};
/// Calls work.template operator()<Kernel, Value, Out>() for each case.
template <class... Kernel, class... Value, class... Out, class Work>
void with_each(const Work& work, SpmmCase<Kernel, Value, Out>...) {
  const auto one = [&]<class K, class V, class O>() {
    SCOPED_TRACE(std::string(K::name));
    work.template operator()<K, V, O>();
  };
  (one.template operator()<Kernel, Value, Out>(), ...);
}
/// The same for each kernel that takes a transpose, and for others.
template <class Work, class... Others>
void with_each_kernel(const Work& work, Others... others) {
  with_each(work, SpmmCase<gpu::SpmmByGroups, float, float>{},
            SpmmCase<gpu::SpmmByDotProducts, half, float>{}, SpmmCase<gpu::SpmmOnTensorCores, half, float>{},
            SpmmCase<gpu::SpmmBySplitTiles, float, float>{}, SpmmCase<gpu::SpmmByWindows, double, double>{},
            SpmmCase<gpu::SpmmByPaddedRows, half, float>{}, SpmmCase<gpu::SpmmByCublas, half, float>{},
            others...);
}

/// Rounds elements to what a kernel multiplies exactly.
template <class Kernel, class Value, class F>
void round_for_kernel(const Tensor<Value, F>& tensor) {
  if constexpr (std::is_same_v<Kernel, gpu::SpmmByDotProducts> && std::is_same_v<Value, float>)
    for (std::int64_t at = 0; at < tensor.nnz(); ++at)
      tensor.values()(at) = static_cast<float>(bfloat16(tensor.values()(at)));
}

/// A product of two matrices in double, and how far sums in another type may be off.
/// @tparam Value, Out  the types of the operands and of the result
template <class Value, class Out>
struct BoundedProduct {
  std::int64_t n;
  std::vector<double> sums, bounds;  ///< [m, n]

  BoundedProduct(const Tensor<Value, DenseMatrix<>>& a, const Tensor<Value, DenseMatrix<>>& b)
      : n(b.extent(1)),
        sums(static_cast<std::size_t>(a.extent(0) * n)),
        bounds(static_cast<std::size_t>(a.extent(0) * n), 1e-7) {
    const std::int64_t inner = a.extent(1);
    for (std::int64_t entry = 0; entry < a.nnz(); ++entry) {
      const double of_a = static_cast<accumulate_t<Value>>(a.values()(entry));
      if (of_a == 0) continue;
      for (std::int64_t column = 0; column < n; ++column) {
        const double of_b = static_cast<accumulate_t<Value>>(b.values()(entry % inner * n + column));
        const auto at = static_cast<std::size_t>(entry / inner * n + column);
        sums[at] += of_a * of_b;
        bounds[at] +=
            static_cast<double>(inner) * 2 * rounding<accumulate_t<Value>>() * std::abs(of_a * of_b);
      }
    }
  }
  /// Whether an element is this product, added to `before`.
  bool is_near(std::int64_t row, std::int64_t column, Out element, Out before) const {
    const auto at = static_cast<std::size_t>(row * n + column);
    const double exact = sums[at] + static_cast<double>(static_cast<accumulate_t<Out>>(before));
    const double bound = bounds[at] + 2 * rounding<accumulate_t<Value>>() * std::abs(exact) +
                         rounding<Out>() * (std::abs(exact) + bounds[at]);
    return std::abs(static_cast<double>(static_cast<accumulate_t<Out>>(element)) - exact) <= bound;
  }
};

/// A product for kernels that are called without a candidate: [203, 700] times [700, n]. One row of A alone
/// meets an infinity and a NaN; another one an infinity, at its end.
template <class Value, class Out>
class ProductWithInfinities {
 public:
  using View = gpu::CsrView<const Value, const std::int32_t, const std::int32_t>;
  static constexpr std::int64_t m = 203, inner = 700, row_of_both = 51, row_of_last = 52;

  /// The elements of `dense_A` in the columns that meet something not finite are replaced.
  ProductWithInfinities(const Tensor<Value, DenseMatrix<>>& dense_A, std::int64_t n)
      : n_(n), B_({inner, stride()}), some_(random_dense<Out, DenseMatrix<>>({m, n}, 3)) {
    const auto of_a = [&](std::int64_t row, std::int64_t column) -> Value& {
      return dense_A.values()(row * inner + column);
    };
    for (std::int64_t row = 0; row < m; ++row)
      for (const std::int64_t column : {of_infinity, of_nan, of_last}) of_a(row, column) = Value{};
    const auto B = random_dense<Value, DenseMatrix<>>({inner, n}, 2);
    expected_.emplace(dense_A, B);
    for (const std::int64_t column : {of_infinity, of_nan}) of_a(row_of_both, column) = Value(1.0F);
    of_a(row_of_last, of_last) = Value(1.0F);
    const Value infinity(std::numeric_limits<float>::infinity());
    for (std::int64_t column = 0; column < n; ++column) {
      if (column % 2 == 0)
        B.values()(of_infinity * n + column) = infinity;
      else
        B.values()(of_nan * n + column) = Value(std::numeric_limits<float>::quiet_NaN());
      B.values()(of_last * n + column) = infinity;
    }
    host_A_ = convert<IntCsr>(dense_A);
    A_ = host_A_.template copy_to<Cuda>();
    const Tensor<Value, DenseMatrix<>> strided_B({inner, stride()});
    for (std::int64_t row = 0; row < inner; ++row)
      for (std::int64_t column = 0; column < n; ++column)
        strided_B.values()(row * stride() + column) = B.values()(row * n + column);
    B_ = strided_B.template copy_to<Cuda>();
  }

  View view() const {
    const auto& columns = A_.template level<1>();
    return {m, inner, A_.nnz(), columns.positions.data(), columns.coordinates.data(), A_.values().data()};
  }
  std::int64_t length(std::int64_t row) const {
    const auto& positions = host_A_.template level<1>().positions;
    return positions(row + 1) - positions(row);
  }
  /// Rows of B begin at multiples of 16 bytes, and further apart than they are long.
  const Value* b() const { return B_.values().data(); }
  std::int64_t stride() const { return (n_ + 15) / 8 * 8; }
  bool can_have_packs() const { return n_ * sizeof(Out) % 16 == 0; }

  /// Expects what `run` computes, once into what was not a number and once added to something.
  /// @param run  takes a TiledProduct
  template <class Run>
  void expect(const Run& run) const {
    using namespace sporos::indices;
    for (const bool accumulates : {false, true}) {
      const auto C = accumulates ? some_.template copy_to<Cuda>() : poisoned<Out, DenseMatrix<>>({m, n_});
      const auto epilogue = epilogue_of(assign(C(i, j), A_(i, k) * B_(k, j)));
      run(gpu::TiledProduct<Out, std::remove_const_t<decltype(epilogue)>>{m, n_, inner, C.values().data(),
                                                                          accumulates, epilogue});
      const auto result = C.template copy_to<Host>();
      std::int64_t wrong = 0;
      for (std::int64_t at = 0; at < m * n_; ++at)
        wrong += !is_right(at / n_, at % n_, result.values()(at), accumulates ? some_.values()(at) : Out{});
      EXPECT_EQ(wrong, 0) << (accumulates ? "added" : "stored");
    }
  }

 private:
  static constexpr std::int64_t of_infinity = 13, of_nan = 14, of_last = inner - 1;

  bool is_right(std::int64_t row, std::int64_t column, Out element, Out before) const {
    const auto value = static_cast<double>(static_cast<accumulate_t<Out>>(element));
    if (row == row_of_last || (row == row_of_both && column % 2 == 0))
      return value == std::numeric_limits<double>::infinity();
    if (row == row_of_both) return std::isnan(value);
    return expected_->is_near(row, column, element, before);
  }

  std::int64_t n_;
  Tensor<Value, IntCsr> host_A_;
  Tensor<Value, IntCsr, Cuda> A_;
  Tensor<Value, DenseMatrix<>, Cuda> B_;
  Tensor<Out, DenseMatrix<>> some_;
  std::optional<BoundedProduct<Value, Out>> expected_;
};

/// C = A B or C += A B, as a statement and as a plan that is run twice.
/// @tparam AF          the format of A
/// @tparam Transposed  whether A is stored and indexed as its transpose
/// @tparam BF          the format of B
/// @param shape        m, n, k of A B
template <class Kernel, class Value, class Out, class AF, bool Transposed, class BF>
void expect_product(const Extents<3>& shape, unsigned of = 5, bool accumulates = false) {
  using namespace sporos::indices;
  const auto [m, n, inner] = shape;
  SCOPED_TRACE(text(value_name<Value>(), ", ", format_name<AF>(), ", ", Transposed, ", ", format_name<BF>(),
                    ", ", to_string(shape)));
  const auto dense_A = thinned<Value>(Transposed ? Extents<2>{inner, m} : Extents<2>{m, inner}, of, 1);
  round_for_kernel<Kernel>(dense_A);
  const auto A = convert<AF>(dense_A).template copy_to<Cuda>();
  const auto B = random_dense<Value, BF>({inner, n}, 2);
  round_for_kernel<Kernel>(B);
  const auto device_B = B.template copy_to<Cuda>();
  const auto before = random_dense<Out, DenseMatrix<>>({m, n}, 3);
  auto wide_A = convert<DenseMatrix<>, double>(dense_A);
  if constexpr (Transposed) wide_A = transpose(wide_A);
  const auto wide_B = convert<DenseMatrix<>, double>(B);
  const auto check = [&](const auto& run) {
    const auto C = before.template copy_to<Cuda>();
    if (!accumulates && C.nnz() > 0)
      Kokkos::deep_copy(C.values(), static_cast<Out>(std::numeric_limits<float>::quiet_NaN()));
    const auto start = [&](const auto& statement) {
      const auto by_kernel = statement.template use<Kernel>();
      accumulates ? run(by_kernel.accumulate()) : run(by_kernel);
    };
    if constexpr (Transposed)
      start(assign(C(i, j), A(k, i) * device_B(k, j)));
    else
      start(assign(C(i, j), A(i, k) * device_B(k, j)));
    EXPECT_EQ(
        (wrong_sums<Value, Out>(wide_A, wide_B, accumulates ? &before : nullptr, C.template copy_to<Host>())),
        0);
  };
  check([](const auto& statement) { statement.run(); });
  check([&](const auto& statement) {
    auto product = plan(statement);
    product.run();
    if (!accumulates) product.run();
  });
  if constexpr (std::is_same_v<Kernel, gpu::SpmmOnTensorCores> ||  // tiles may be stored with their zeros
                std::is_same_v<Kernel, gpu::SpmmBySplitTiles> || std::is_same_v<Kernel, gpu::SpmmByWindows> ||
                std::is_same_v<Kernel, gpu::SpmmByPaddedRows> || std::is_same_v<Kernel, gpu::SpmmByCublas>)
    check([&](const auto& statement) { plan(statement.with_constant_operands()).run(); });
}

/// C = A B into what was not a number, and C += A B, as statements and as plans of constant operands. Sums of
/// small integers are exact in every kernel.
template <class Kernel, class Value, class Out>
void expect_right(const Entries<Value, 2>& entries, std::int64_t columns) {
  using namespace sporos::indices;
  const auto A = assemble<IntCsr>(entries);
  const auto B = filled<Value, DenseMatrix<>>({A.extent(1), columns}, 2);
  const Tensor<Out, DenseMatrix<>> expected({A.extent(0), columns}), twice({A.extent(0), columns});
  for (std::int64_t entry = 0; entry < entries.size(); ++entry)
    for (std::int64_t column = 0; column < columns; ++column)
      expected.values()(entries.coordinates[0](entry) * columns + column) +=
          static_cast<Out>(static_cast<float>(entries.values(static_cast<std::size_t>(entry))) *
                           static_cast<float>(B.values()(entries.coordinates[1](entry) * columns + column)));
  for (std::int64_t at = 0; at < expected.nnz(); ++at) twice.values()(at) = 2 * expected.values()(at);
  const auto a = A.template copy_to<Cuda>();
  const auto b = B.template copy_to<Cuda>();
  const auto c = expected.template copy_to<Cuda>();
  const auto statement = assign(c(i, j), a(i, k) * b(k, j)).template use<Kernel>();
  const auto check = [&](const auto& run) {
    Kokkos::deep_copy(c.values(), Out(std::numeric_limits<float>::quiet_NaN()));
    run(statement);
    expect_equal_tensors(expected, c);
    run(statement.accumulate());
    expect_equal_tensors(twice, c);
  };
  check([](const auto& one) { one.run(); });
  check([](const auto& one) { plan(one.with_constant_operands()).run(); });
}

/// Tails of every group, panel and pack; empty matrices.
inline const std::vector<Extents<3>> spmm_shapes = {
    {1, 1, 1},      {7, 3, 5},     {130, 8, 33},    {65, 32, 100},  {33, 64, 517},
    {40, 100, 90},  {21, 257, 64}, {300, 256, 129}, {50, 520, 300}, {9, 12, 2100},
    {5, 1030, 200}, {0, 5, 7},     {5, 0, 7},       {5, 7, 0}};

template <class Kernel, class Value, class Out, class AF, bool Transposed, class BF>
void expect_products() {
  for (const auto& shape : spmm_shapes) expect_product<Kernel, Value, Out, AF, Transposed, BF>(shape);
  expect_product<Kernel, Value, Out, AF, Transposed, BF>({30, 40, 900}, 1);
  expect_product<Kernel, Value, Out, AF, Transposed, BF>({130, 270, 300}, 5, true);
}
/// The same by kernels for tiles: several blocks for a tile, several tiles for a block; empty tiles.
template <class Kernel, class Value, class Out, class AF, bool Transposed, class BF>
void expect_products_by_tiles() {
  expect_products<Kernel, Value, Out, AF, Transposed, BF>();
  expect_product<Kernel, Value, Out, AF, Transposed, BF>({256, 256, 1500}, 2);
  expect_product<Kernel, Value, Out, AF, Transposed, BF>({260, 70, 3000}, 10, true);
  expect_product<Kernel, Value, Out, AF, Transposed, BF>({3000, 600, 200}, 20);
  expect_product<Kernel, Value, Out, AF, Transposed, BF>({700, 130, 1000}, 300);
}

/// Y = X W', Y += X W' and the same into a result by columns; X by rows or by columns, W in `WF`, as it is or
/// its transpose.
template <class Kernel, class Value, class Out, class WF, bool Transposed, class XF, class YF>
void expect_columns(const Extents<3>& shape, unsigned of = 5) {
  using namespace sporos::indices;
  const auto [m, n, inner] = shape;
  SCOPED_TRACE(text(value_name<Value>(), ", ", format_name<WF>(), ", ", Transposed, ", ", format_name<XF>(),
                    ", ", format_name<YF>(), ", ", to_string(shape)));
  const auto dense_W = thinned<Value>(Transposed ? Extents<2>{inner, n} : Extents<2>{n, inner}, of, 1);
  const auto W = convert<WF>(dense_W).template copy_to<Cuda>();
  const auto X = random_dense<Value, XF>({m, inner}, 2);
  const auto device_X = X.template copy_to<Cuda>();
  const auto wide_X = convert<DenseMatrix<>, double>(X);
  const Tensor<double, DenseMatrix<>> wide_W({inner, n});
  for (std::int64_t row = 0; row < inner; ++row)
    for (std::int64_t column = 0; column < n; ++column)
      wide_W.values()(row * n + column) = static_cast<double>(static_cast<accumulate_t<Value>>(
          dense_W.values()(Transposed ? row * n + column : column * inner + row)));
  const auto before = random_dense<Out, DenseMatrix<>>({m, n}, 3);
  for (const bool accumulates : {false, true}) {
    const auto Y = convert<YF>(before).template copy_to<Cuda>();
    const auto check = [&](const auto& product) {
      const auto statement = accumulates ? product.accumulate() : product;
      auto again = plan(statement.template use<Kernel>());
      again.run();
      const auto first = convert<DenseMatrix<>>(Y.template copy_to<Host>());
      EXPECT_EQ((wrong_sums<Value, Out>(wide_X, wide_W, accumulates ? &before : nullptr, first)), 0);
      if (accumulates) return;
      Kokkos::deep_copy(Y.values(), Out{});
      again.run();
      EXPECT_EQ((wrong_sums<Value, Out>(wide_X, wide_W, nullptr,
                                        convert<DenseMatrix<>>(Y.template copy_to<Host>()))),
                0);
    };
    if constexpr (Transposed)
      check(assign(Y(i, j), device_X(i, k) * W(k, j)));
    else
      check(assign(Y(i, j), device_X(i, k) * W(j, k)));
  }
}
template <class Kernel, class Value, class Out, class WF, bool Transposed, class XF, class YF>
void expect_columns_of_shapes() {
  for (const auto& shape : spmm_shapes) {
    constexpr std::int64_t most_shared = 1500;  // summed, 32 rows of which fit in shared memory
    if (std::is_same_v<Kernel, gpu::SpmmFromSharedRows> && shape[2] > most_shared) continue;
    expect_columns<Kernel, Value, Out, WF, Transposed, XF, YF>(shape);
  }
  expect_columns<Kernel, Value, Out, WF, Transposed, XF, YF>({30, 900, 40}, 1);
}
template <class Kernel, class Value, class Out = float>
void expect_new_values() {
  using namespace sporos::indices;
  const auto A = convert<IntCsr>(thinned<Value>({200, 300}, 3, 1)).template copy_to<Cuda>();
  const auto B = random_dense<Value, DenseMatrix<>>({300, 65}, 2).template copy_to<Cuda>();
  const Tensor<Out, DenseMatrix<>, Cuda> C({200, 65}), kept({200, 65}), by_groups({200, 65});
  auto product = plan(assign(C(i, j), A(i, k) * B(k, j)).template use<Kernel>());
  auto constant = plan(assign(kept(i, j), A(i, k) * B(k, j)).with_constant_operands().template use<Kernel>());
  product.run();
  constant.run();
  const auto first = C.template copy_to<Host>(), first_kept = kept.template copy_to<Host>();
  for (std::int64_t at = 0; at < first.nnz(); ++at)
    EXPECT_NEAR(first.values()(at), first_kept.values()(at), 1e-4);
  Kokkos::deep_copy(A.values(), Value(2.0f));
  Kokkos::deep_copy(B.values(), Value(3.0f));
  product.run();
  constant.run();
  assign(by_groups(i, j), A(i, k) * B(k, j)).template use<gpu::SpmmByGroups>().run();
  expect_equal_tensors(C.template copy_to<Host>(), by_groups.template copy_to<Host>());
  EXPECT_NE(kept.template copy_to<Host>().values()(0), C.template copy_to<Host>().values()(0));
}

/// Of statements, and of plans, which may add up rows in another order than statements.
template <class Kernel, class Value = float>
void expect_same_from_run_to_run() {
  using namespace sporos::indices;
  const auto A = convert<IntCsr>(thinned<Value>({20, 40000}, 2, 1)).template copy_to<Cuda>();
  const auto B = random_dense<Value, DenseMatrix<>>({40000, 70}, 2).template copy_to<Cuda>();
  const Tensor<Value, DenseMatrix<>, Cuda> C({20, 70});
  const auto statement = assign(C(i, j), A(i, k) * B(k, j)).template use<Kernel>();
  const auto expect_same = [&](const auto& run) {
    run();
    const auto first = C.template copy_to<Host>();
    for (int again = 0; again < 5; ++again) {
      Kokkos::deep_copy(C.values(), Value(-1));
      run();
      expect_equal_tensors(first, C.template copy_to<Host>());
    }
  };
  auto product = plan(statement);
  expect_same([&] { statement.run(); });
  expect_same([&] { product.run(); });
  expect_same([&] { plan(statement).run(); });
}

/// An infinity reaches the rows that store something in its row of B, and no others.
template <class Kernel, class Value, class Out = float>
void expect_infinities() {
  using namespace sporos::indices;
  const Tensor<Value, DenseMatrix<>> dense({70, 70});
  for (std::int64_t row = 0; row < 70; ++row)
    for (const std::int64_t column : {std::int64_t{0}, 1 + row % 3, 40 + row % 7})
      dense.values()(row * 70 + column) = Value(1.0f);
  const auto A = convert<IntCsr>(dense).template copy_to<Cuda>();
  const Tensor<Value, DenseMatrix<>> B({70, 65});
  for (std::int64_t column = 0; column < 65; ++column)
    B.values()(2 * 65 + column) = Value(std::numeric_limits<float>::infinity());
  const Tensor<Out, DenseMatrix<>, Cuda> C({70, 65});
  const auto device_B = B.template copy_to<Cuda>();
  const auto check = [&](const auto& run) {
    Kokkos::deep_copy(C.values(), Out(-1));
    run(assign(C(i, j), A(i, k) * device_B(k, j)).template use<Kernel>());
    const auto result = C.template copy_to<Host>();
    for (std::int64_t row = 0; row < 70; ++row)
      for (std::int64_t column = 0; column < 65; ++column)
        EXPECT_EQ(result.values()(row * 65 + column),
                  1 + row % 3 == 2 ? Out(std::numeric_limits<float>::infinity()) : Out(0));
  };
  check([](const auto& statement) { statement.run(); });
  check([](const auto& statement) { plan(statement.with_constant_operands()).run(); });
}

/// What a kernel packs, and its copies of B, take no more memory than is estimated.
template <class Kernel, class TA, class TB>
void expect_within_estimate(const TA& A, const TB& B) {
  using namespace sporos::indices;
  const Tensor<typename TB::value_type, DenseMatrix<>, Cuda> C({A.extent(0), B.extent(1)});
  const auto device_A = on_device(A);
  const auto device_B = on_device(B);
  const auto statement = assign(C(i, j), device_A(i, k) * device_B(k, j)).template use<Kernel>();
  expect_bounded(statement);
  const Estimate most = estimate(statement);
  const Resources<Cuda> fresh{Cuda()};
  std::optional<PeakMemory> peak(std::in_place);
  auto product = plan(statement.with_constant_operands().on(fresh));
  product.run();
  product.run();
  const std::int64_t taken = peak->bytes();
  peak.reset();
  EXPECT_LE(taken, most.workspace + 4096);
  EXPECT_GE(taken, product.bytes());
}
/// The same for B of any number of columns and by columns.
template <class Kernel, class T>
void expect_within_estimates() {
  const auto A = thinned<T>({300, 500}, 5, 1);
  expect_within_estimate<Kernel>(convert<IntCsr>(A), random_dense<T, DenseMatrix<>>({500, 64}, 2));
  expect_within_estimate<Kernel>(convert<IntCsr>(A), random_dense<T, DenseMatrix<>>({500, 67}, 2));
  expect_within_estimate<Kernel>(convert<CSC<>>(A), random_dense<T, DenseMatrix<ColumnMajor>>({500, 67}, 2));
}

}  // namespace sporos::test

// SPDX-License-Identifier: Apache-2.0
/// @file tensor_cores.cpp
/// Sampled products of 16-bit floats on the GPU, by each of the kernels: against sums in double, over
/// formats, layouts, types and shapes; what is not finite; what plans choose and keep.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <sporos/sporos.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "../dense_products.hpp"
#include "../estimates.hpp"
#include "../inputs.hpp"
#include "../kept_memory.hpp"

namespace sporos::test {
namespace sampled_products {

using namespace sporos::indices;
using Narrow = CSR<std::int32_t, std::int32_t>;

/// Entries at distinct places of [rows, columns], each there with a given probability, of values in [-1, 1).
template <class Value>
Entries<Value, 2> scattered(std::int64_t rows, std::int64_t columns, double density, unsigned seed) {
  std::mt19937_64 draw(seed);
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<Extents<2>> places;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      if (number(draw) * 0.5 + 0.5 < density) places.push_back({i, j});
  Entries<Value, 2> out({rows, columns}, static_cast<std::int64_t>(places.size()));
  for (std::size_t at = 0; at < places.size(); ++at)
    out.set(static_cast<std::int64_t>(at), places[at],
            static_cast<Value>(static_cast<accumulate_t<Value>>(number(draw))));
  return out;
}

/// Entries in some rows alone, in all of their columns.
template <class Value>
Entries<Value, 2> full_rows(const Extents<2>& extents, const std::vector<std::int64_t>& rows) {
  Entries<Value, 2> out(extents, static_cast<std::int64_t>(rows.size()) * extents[1]);
  std::int64_t at = 0;
  for (const std::int64_t i : rows)
    for (std::int64_t j = 0; j < extents[1]; ++j, ++at)
      out.set(at, {i, j}, static_cast<Value>(static_cast<float>(at % 7) / 4 - 1));
  return out;
}

/// Blocks of 3 x 3 on and beside the diagonal and at a distance: three unknowns a node of a mesh.
template <class Value>
Entries<Value, 2> mesh(std::int64_t nodes, std::int64_t distance) {
  std::vector<Extents<2>> places;
  for (std::int64_t node = 0; node < nodes; ++node)
    for (const std::int64_t step : {-distance - 1, -distance, -distance + 1, std::int64_t{-1},
                                    std::int64_t{0}, std::int64_t{1}, distance - 1, distance, distance + 1})
      if (node + step >= 0 && node + step < nodes)
        for (std::int64_t u = 0; u < 9; ++u) places.push_back({node * 3 + u / 3, (node + step) * 3 + u % 3});
  Entries<Value, 2> out({nodes * 3, nodes * 3}, static_cast<std::int64_t>(places.size()));
  for (std::size_t at = 0; at < places.size(); ++at)
    out.set(static_cast<std::int64_t>(at), places[at],
            static_cast<Value>(static_cast<float>(at % 11) / 8 - 0.6F));
  return out;
}

/// Rows of one entry or none, and behind them rows of many: long enough on average.
template <class Value>
Entries<Value, 2> short_rows_and_long_ones(std::int64_t columns) {
  constexpr std::int64_t short_rows = 2000, long_rows = 400, in_long_row = 190;
  std::vector<Extents<2>> places;
  for (std::int64_t i = 0; i < short_rows; ++i)
    if (i % 5 != 0) places.push_back({i, i * 7 % columns});
  for (std::int64_t i = 0; i < long_rows; ++i)
    for (std::int64_t at = 0; at < in_long_row; ++at)
      places.push_back({short_rows + i, (at * columns + i) / in_long_row % columns});
  Entries<Value, 2> out({short_rows + long_rows, columns}, static_cast<std::int64_t>(places.size()));
  for (std::size_t at = 0; at < places.size(); ++at)
    out.set(static_cast<std::int64_t>(at), places[at],
            static_cast<Value>(static_cast<float>(at % 13) / 8 - 0.7F));
  return out;
}

template <class T>
double number(T x) {
  return static_cast<double>(static_cast<accumulate_t<T>>(x));
}

/// A pattern on the host and on the GPU with its dense factors, and what their product is.
template <class Value, class T, class F, class LayoutC, class LayoutD>
struct Sampled {
  Tensor<Value, F> B;
  Tensor<T, DenseMatrix<LayoutC>> C;
  Tensor<T, DenseMatrix<LayoutD>> D;
  Tensor<Value, F, Cuda> device_B, device_A;
  Tensor<T, DenseMatrix<LayoutC>, Cuda> device_C;
  Tensor<T, DenseMatrix<LayoutD>, Cuda> device_D;

  Sampled(const Entries<Value, 2>& entries, std::int64_t inner)
      : B(assemble<F>(entries)),
        C(random_dense<T, DenseMatrix<LayoutC>>({B.extent(0), inner}, 11)),
        D(random_dense<T, DenseMatrix<LayoutD>>({inner, B.extent(1)}, 12)),
        device_B(on_device(B)),
        device_A(B.extents()),
        device_C(on_device(C)),
        device_D(on_device(D)) {}

  auto statement() const { return assign(device_A(i, j), device_C(i, k) * device_B(i, j) * device_D(k, j)); }

  /// How many values of a result are further from the sums in double than rounding explains.
  std::int64_t wrong(const Tensor<Value, F, Cuda>& result) const {
    const auto back = result.template copy_to<Host>();
    if (back.nnz() != B.nnz()) return -1;
    std::int64_t wrong = 0, at = 0;
    const std::int64_t inner = C.extent(1), rows = C.extent(0), columns = D.extent(1);
    constexpr bool c_by_rows = std::is_same_v<LayoutC, RowMajor>,
                   d_by_rows = std::is_same_v<LayoutD, RowMajor>;
    for_each_entry(B, [&](const Extents<2>& place, Value b) {
      const auto [row, column] = place;
      double sum = 0, size = 0;
      for (std::int64_t p = 0; p < inner; ++p) {
        const double term = number(C.values()(c_by_rows ? row * inner + p : p * rows + row)) *
                            number(D.values()(d_by_rows ? p * columns + column : column * inner + p));
        sum += term;
        size += std::abs(term);
      }
      const double exact = number(b) * sum;
      const double bound =
          std::abs(number(b)) * static_cast<double>(inner + 2) * 2 * rounding<float>() * size +
          rounding<Value>() * std::abs(exact) + 1e-7;
      wrong += !(std::abs(number(back.values()(at++)) - exact) <= bound);
    });
    return wrong;
  }

 private:
  /// Calls visit(coordinates, value) in the order in which values are stored.
  template <class Visit>
  static void for_each_entry(const Tensor<Value, F>& t, const Visit& visit) {
    const auto& outer = t.template level<0>();
    const auto& inner = t.template level<1>();
    constexpr bool by_columns = F::mode_of_level[0] == 1;
    const auto call = [&](std::int64_t o, std::int64_t n, std::int64_t q) {
      visit(by_columns ? Extents<2>{n, o} : Extents<2>{o, n}, t.values()(static_cast<std::size_t>(q)));
    };
    if constexpr (requires { outer.coordinates; }) {
      for (std::int64_t q = 0; q < t.nnz(); ++q)
        call(outer.coordinates(static_cast<std::size_t>(q)), inner.coordinates(static_cast<std::size_t>(q)),
             q);
    } else {
      for (std::int64_t o = 0; o < t.extent(by_columns ? 1 : 0); ++o)
        for (std::int64_t q = inner.positions(static_cast<std::size_t>(o));
             q < inner.positions(static_cast<std::size_t>(o + 1)); ++q)
          call(o, inner.coordinates(static_cast<std::size_t>(q)), q);
    }
  }
};

/// Sets what a result holds to NaN.
template <class Value, class F>
void poison(const Tensor<Value, F, Cuda>& result) {
  Kokkos::deep_copy(result.values(),
                    static_cast<Value>(std::numeric_limits<accumulate_t<Value>>::quiet_NaN()));
}

template <class Function>
void with_each_kernel(const Function& function) {
  {
    SCOPED_TRACE(gpu::SddmmByWarps::name);
    function.template operator()<gpu::SddmmByWarps>();
  }
  {
    SCOPED_TRACE(gpu::SddmmByTiles::name);
    function.template operator()<gpu::SddmmByTiles>();
  }
  {
    SCOPED_TRACE(gpu::SddmmByWindows::name);
    function.template operator()<gpu::SddmmByWindows>();
  }
  {
    SCOPED_TRACE(gpu::SddmmByNonzeros::name);
    function.template operator()<gpu::SddmmByNonzeros>();
  }
}

template <class Value, class T, class F, class LayoutC = RowMajor, class LayoutD = ColumnMajor>
void expect_sums(const Entries<Value, 2>& entries, const std::vector<std::int64_t>& inners) {
  for (const std::int64_t inner : inners) {
    SCOPED_TRACE(text(F::str(), ", ", entries.extents[0], " x ", entries.extents[1], " x ", inner));
    const Sampled<Value, T, F, LayoutC, LayoutD> in(entries, inner);
    with_each_kernel([&]<class K>() {
      const auto statement = in.statement().template use<K>();
      statement.run();
      EXPECT_EQ(in.wrong(in.device_A), 0);
      auto product = plan(statement);
      product.run();
      EXPECT_EQ(in.wrong(in.device_A), 0);
      poison(in.device_A);
      product.run();
      EXPECT_EQ(in.wrong(in.device_A), 0);
    });
  }
}

TEST(CudaSampledProducts, AreTheSumsInDoubleForAnyExtents) {
  const std::vector<std::int64_t> inners{1, 8, 32, 100, 128, 200, 512};
  expect_sums<half, half, Narrow>(scattered<half>(300, 217, 0.2, 1), inners);
  expect_sums<half, half, Narrow>(scattered<half>(1, 1, 1, 2), {1, 16});
  expect_sums<half, half, Narrow>(mesh<half>(50, 12), {24, 64, 128});
  expect_sums<half, half, Narrow>(scattered<half>(128, 256, 0.95, 3), {64, 256});
}

TEST(CudaSampledProducts, AreTheSumsWhereRowsAreEmptyOrFull) {
  expect_sums<half, half, Narrow>(full_rows<half>({1000, 3001}, {17, 18, 900}), {40});
  expect_sums<half, half, Narrow>(full_rows<half>({5, 64}, {4}), {8});
  expect_sums<half, half, Narrow>(scattered<half>(2000, 2000, 0.0005, 4), {32});
  expect_sums<half, half, Narrow>(Entries<half, 2>({70, 90}, 0), {16});
}

/// So many nonzeros that not all warps run at the same time.
TEST(CudaSampledProducts, AreTheSumsOfManyNonzerosInRowsOfAnyLength) {
  expect_sums<half, half, Narrow>(scattered<half>(700, 620, 0.2, 17), {40, 100, 128, 200});
  expect_sums<half, half, Narrow>(short_rows_and_long_ones<half>(1000), {128, 160});
}

TEST(CudaSampledProducts, TakeDenseMatricesStoredAlongEitherMode) {
  const auto entries = scattered<half>(131, 197, 0.3, 5);
  const std::vector<std::int64_t> inners{8, 37, 64};
  expect_sums<half, half, Narrow, RowMajor, RowMajor>(entries, inners);
  expect_sums<half, half, Narrow, ColumnMajor, ColumnMajor>(entries, inners);
  expect_sums<half, half, Narrow, ColumnMajor, RowMajor>(entries, inners);
}

TEST(CudaSampledProducts, TakeOtherFormatsAndTypes) {
  expect_sums<bfloat16, bfloat16, CSC<>>(scattered<bfloat16>(300, 217, 0.2, 6), {33, 128});
  expect_sums<bfloat16, bfloat16, CSR<>, RowMajor, RowMajor>(scattered<bfloat16>(217, 300, 0.1, 7), {128});
  expect_sums<half, half, COO<2>>(scattered<half>(300, 217, 0.2, 8), {12, 128});
  expect_sums<float, half, Narrow>(scattered<float>(150, 217, 0.2, 9), {7, 96});
}

TEST(CudaSampledProducts, KeepWhatIsNotFiniteToTheResultsThatUseIt) {
  Sampled<half, half, Narrow, RowMajor, ColumnMajor> in(scattered<half>(200, 180, 0.3, 10), 72);
  constexpr std::int64_t row = 33, column = 100;
  in.C.values()(row * 72 + 5) = half(std::numeric_limits<float>::quiet_NaN());
  in.D.values()(column * 72 + 9) = half(std::numeric_limits<float>::infinity());
  Kokkos::deep_copy(in.device_C.values(), in.C.values());
  Kokkos::deep_copy(in.device_D.values(), in.D.values());
  const auto& levels = in.B.level<1>();
  with_each_kernel([&]<class K>() {
    in.statement().template use<K>().run();
    const auto back = in.device_A.template copy_to<Host>();
    std::int64_t reached = 0, finite = 0;
    for (std::size_t i = 0; i < 200; ++i)
      for (auto q = static_cast<std::size_t>(levels.positions(i));
           q < static_cast<std::size_t>(levels.positions(i + 1)); ++q) {
        const bool uses = i == row || levels.coordinates(q) == column;
        reached += uses;
        finite += std::isfinite(static_cast<float>(back.values()(q)));
        EXPECT_NE(uses, std::isfinite(static_cast<float>(back.values()(q))))
            << i << ", " << levels.coordinates(q);
      }
    EXPECT_GT(reached, 20);
    EXPECT_EQ(finite + reached, in.B.nnz());
  });
}

TEST(CudaSampledProducts, OfAPlanFollowValuesOnAStreamAndInAGraph) {
  const Sampled<half, half, Narrow, RowMajor, ColumnMajor> in(scattered<half>(257, 190, 0.3, 11), 64);
  const OwnStream stream;
  Kokkos::fence();
  with_each_kernel([&]<class K>() {
    auto product = plan(in.statement().template use<K>().on(stream.resources()));
    product.run();
    product.run();
    const Graph graph(stream, [&] { product.run(); }, cudaStreamCaptureModeRelaxed);
    poison(in.device_A);
    graph.launch();
    EXPECT_EQ(in.wrong(in.device_A), 0);
  });
}

/// Both dense matrices are copied first, into the stream's memory.
TEST(CudaSampledProducts, OfAPlanThatCopiesFollowValuesInAGraph) {
  using In = Sampled<half, half, Narrow, ColumnMajor, RowMajor>;
  with_each_kernel([&]<class K>() {
    pool<Cuda>().release();
    const OwnStream stream;
    const In in(scattered<half>(257, 190, 0.3, 18), 40), larger(scattered<half>(700, 620, 0.2, 19), 512);
    Kokkos::fence();
    auto product = plan(in.statement().template use<K>().on(stream.resources()));
    product.run();
    expect_graph_keeps_shared_memory(
        stream, [&] { product.run(); },
        [&] { larger.statement().template use<K>().on(stream.resources()).run(); },
        [&] {
          const auto change = [](const auto& values, const auto& device, const auto& other) {
            Kokkos::deep_copy(values.values(), other.values());
            Kokkos::deep_copy(device.values(), other.values());
          };
          change(in.C, in.device_C, random_dense<half, DenseMatrix<ColumnMajor>>(in.C.extents(), 20));
          change(in.D, in.device_D, random_dense<half, DenseMatrix<>>(in.D.extents(), 21));
          poison(in.device_A);
        },
        [&] { EXPECT_EQ(in.wrong(in.device_A), 0); });
  });
}

TEST(CudaSampledProducts, OfAPlanAllocateNothingWhereTheResultHasItsPattern) {
  const Sampled<half, half, Narrow, ColumnMajor, RowMajor> in(scattered<half>(257, 190, 0.3, 22), 40);
  with_each_kernel([&]<class K>() {
    const Resources<Cuda> fresh{Cuda()};
    auto product = plan(in.statement().template use<K>().on(fresh));
    product.run();
    EXPECT_EQ(memory_of([&] { product.run(); }), 0);
  });
}

TEST(CudaSampledProducts, AreTheSameBitByBitInEveryRun) {
  const Sampled<half, half, Narrow, RowMajor, ColumnMajor> in(scattered<half>(500, 400, 0.1, 12), 136);
  with_each_kernel([&]<class K>() {
    const auto statement = in.statement().template use<K>().deterministic();
    statement.run();
    const auto first = in.device_A.template copy_to<Host>();
    for (int again = 0; again < 3; ++again) {
      poison(in.device_A);
      plan(statement).run();
      const auto other = in.device_A.template copy_to<Host>();
      for (std::size_t q = 0; q < static_cast<std::size_t>(first.nnz()); ++q)
        ASSERT_EQ(first.values()(q).bits, other.values()(q).bits) << q;
    }
  });
}

TEST(CudaSampledProducts, RunByTheKernelThatIsFastestForTheirPattern) {
  const auto chosen = [](const Entries<half, 2>& entries, std::int64_t inner) {
    const Sampled<half, half, Narrow, RowMajor, ColumnMajor> in(entries, inner);
    return std::string(plan(in.statement()).candidate());
  };
  EXPECT_EQ(chosen(scattered<half>(512, 512, 0.3, 13), 128), gpu::SddmmByTiles::name);
  EXPECT_EQ(chosen(mesh<half>(10000, 100), 128), gpu::SddmmByWindows::name);
  EXPECT_EQ(chosen(scattered<half>(2048, 2048, 0.002, 14), 32), gpu::SddmmByNonzeros::name);
}

TEST(CudaSampledProducts, TakeNoMoreMemoryThanEstimated) {
  const Sampled<half, half, Narrow, ColumnMajor, RowMajor> in(scattered<half>(700, 900, 0.1, 15), 50);
  const Sampled<half, half, COO<2>, RowMajor, ColumnMajor> listed(scattered<half>(700, 900, 0.1, 16), 64);
  with_each_kernel([&]<class K>() {
    expect_bounded(in.statement().template use<K>());
    expect_bounded(listed.statement().template use<K>());
    std::ostringstream words;
    words << explain(in.statement().template use<K>());
    EXPECT_NE(words.str().find(std::string(K::name)), std::string::npos) << words.str();
  });
}

}  // namespace sampled_products
}  // namespace sporos::test

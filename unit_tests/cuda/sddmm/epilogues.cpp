// SPDX-License-Identifier: Apache-2.0
/// @file epilogues.cpp
/// Sampled products with epilogues and in batches on the GPU, by each of the kernels, against the host's loop
/// nest.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sporos/sporos.hpp>
#include <sstream>
#include <string>
#include <type_traits>

#include "../estimates.hpp"
#include "../inputs.hpp"
#include "../kept_memory.hpp"

namespace sporos::test::sampled_epilogues {
namespace {

using namespace sporos::indices;
constexpr Index<'b'> b;
using Narrow = CSR<std::int32_t, std::int32_t>;

/// Keeps zero; half of the products are negative.
struct Relu {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    return x > T(0) ? x : T(0);
  }
};

template <class Work>
void with_each_kernel(const Work& work) {
  const auto one = [&]<class K>() {
    SCOPED_TRACE(std::string(K::name));
    work.template operator()<K>();
  };
  one.template operator()<gpu::SddmmByWarps>();
  one.template operator()<gpu::SddmmByTiles>();
  one.template operator()<gpu::SddmmByWindows>();
  one.template operator()<gpu::SddmmByNonzeros>();
}

/// Entries of which half are negative.
template <class Value, int Order>
Entries<Value, Order> signed_entries(const Extents<Order>& extents, std::int64_t count, unsigned seed) {
  auto out = random_entries<Value, Order>(extents, count, seed);
  for (std::int64_t at = 1; at < out.size(); at += 2) {
    const auto value = static_cast<std::size_t>(at);
    out.values(value) = static_cast<Value>(-static_cast<float>(out.values(value)));
  }
  return out;
}

/// Powers of two, by which division is exact.
template <class F>
Tensor<float, F> powers(const Extents<F::order>& extents) {
  Tensor<float, F> out(extents);
  for (std::int64_t at = 0; at < out.nnz(); ++at)
    out.values()(at) = static_cast<float>(1 << (at % 3)) * (at % 5 == 2 ? -1.0F : 1.0F);
  return out;
}

/// The statement that `make` makes of the result and the operands, by a kernel as it is, as a plan, and as
/// the same plan with new values, on the GPU; against the host.
template <class K, class Make, class A, class B, class... Dense>
void expect_host_result(const Make& make, const A& result, const B& sparse, const Dense&... dense) {
  const auto expect = [&](const auto& device_result) {
    make(result, sparse, dense...).generic().run();
    expect_equal_tensors(result, device_result);
  };
  const auto device_sparse = on_device(sparse);
  const Tensor<typename A::value_type, typename A::format_type, Cuda> device_result(result.extents());
  const auto statement = make(device_result, device_sparse, on_device(dense)...).template use<K>();
  statement.run();
  expect(device_result);
  auto product = plan(statement);
  product.run();
  expect(device_result);
  for (std::int64_t at = 0; at < sparse.nnz(); at += 3)
    sparse.values().data()[at] = static_cast<typename A::value_type>(-2.0F);
  Kokkos::deep_copy(device_sparse.values(), sparse.values());
  Kokkos::deep_copy(device_result.values(),
                    static_cast<typename A::value_type>(std::numeric_limits<float>::quiet_NaN()));
  product.run();
  expect(device_result);
}

/// A function of the product and what stands in the rows, columns and elements of the result.
constexpr auto by_elements = [](const auto& to, const auto& of, const auto& c, const auto& d,
                                const auto& of_rows, const auto& of_columns, const auto& of_both,
                                const auto& of_both_turned) {
  return assign(to(i, j), -map(Relu{}, 0.5 * sum(k, c(i, k) * of(i, j) * d(j, k)) * of_both(i, j)) /
                              of_columns(j) * of_both_turned(i, j) * of_rows(i));
};

template <class Value, class T, class F, class LayoutC = RowMajor, class LayoutD = RowMajor>
void expect_epilogues(const Extents<2>& extents, std::int64_t inner, std::int64_t count) {
  const auto [m, n] = extents;
  SCOPED_TRACE(text(value_name<Value>(), ", ", F::str(), ", ", m, " x ", n, " x ", inner));
  const auto B = assemble<F>(signed_entries<Value, 2>(extents, count, 1));
  const auto C = filled<T, DenseMatrix<LayoutC>>({m, inner}, 2);
  const auto D = filled<T, DenseMatrix<LayoutD>>({n, inner}, 3);
  const auto s = powers<DenseVector>({m}), t = powers<DenseVector>({n});
  const auto E = powers<DenseMatrix<>>({m, n});
  const auto turned_E = powers<DenseMatrix<ColumnMajor>>({m, n});
  const Tensor<Value, F> A(extents);
  with_each_kernel([&]<class K>() {
    constexpr bool is_taken = K::template matches<decltype(by_elements(
        on_device(A), on_device(B), on_device(C), on_device(D), on_device(s), on_device(t), on_device(E),
        on_device(turned_E)))>;
    static_assert(is_taken || (std::is_same_v<T, float> && !std::is_same_v<K, gpu::SddmmByWarps>));
    if constexpr (is_taken)
      expect_host_result<K>(by_elements, A, B.template copy_to<Host>(), C, D, s, t, E, turned_E);
  });
}

TEST(CudaSampledEpilogues, EqualTheHosts) {
  expect_epilogues<half, half, Narrow>({130, 70}, 16, 900);
  expect_epilogues<half, half, Narrow>({5, 7}, 3, 0);
  expect_epilogues<half, half, Narrow>({1, 1}, 1, 1);
}
TEST(CudaSampledEpilogues, EqualTheHostsByColumns) {
  expect_epilogues<float, float, CSC<>, ColumnMajor, ColumnMajor>({300, 211}, 33, 4000);
  expect_epilogues<float, float, CSC<>, ColumnMajor, ColumnMajor>({1, 1}, 1, 1);
}

/// Batches, with everything that an epilogue may have.
constexpr auto in_batches = [](const auto& to, const auto& of, const auto& c, const auto& d,
                               const auto& of_batches, const auto& of_all, const auto& of_each) {
  return assign(to(b, i, j), map(Relu{}, 0.5 * sum(k, of(b, i, j) * c(b, i, k) * d(b, j, k)) * of_batches(b) *
                                             of_all(b, i, j)) *
                                 of_each(i, j));
};

/// Batches of half and what stands around their products.
struct OfBatches {
  using F = Batches<Narrow>;
  Tensor<half, F> B, A;
  Tensor<half, DenseTensor<3>> C, D;
  Tensor<float, DenseVector> s;
  Tensor<float, DenseTensor<3>> E;
  Tensor<float, DenseMatrix<>> t;

  explicit OfBatches(const Tensor<half, F>& sparse, std::int64_t inner)
      : B(sparse),
        A(B.extents()),
        C(filled<half, DenseTensor<3>>({B.extent(0), B.extent(1), inner}, 2)),
        D(filled<half, DenseTensor<3>>({B.extent(0), B.extent(2), inner}, 3)),
        s(powers<DenseVector>({B.extent(0)})),
        E(powers<DenseTensor<3>>(B.extents())),
        t(powers<DenseMatrix<>>({B.extent(1), B.extent(2)})) {}
  static OfBatches random(const Extents<3>& extents, std::int64_t inner, std::int64_t count) {
    return OfBatches(
        count == 0 ? Tensor<half, F>(extents) : assemble<F>(signed_entries<half, 3>(extents, count, 1)),
        inner);
  }
};

void expect_batches(const OfBatches& in) {
  SCOPED_TRACE(to_string(in.B.extents()));
  const auto [batches, m, n] = in.B.extents();
  const auto turned_C = filled<half, DenseTensor<3>>({batches, in.C.extent(2), m}, 4);
  const auto turned_D = filled<half, DenseTensor<3>>({batches, in.D.extent(2), n}, 5);
  with_each_kernel([&]<class K>() {
    // The others decline a product in which nothing is summed.
    if (in.C.extent(2) == 0 && !std::is_same_v<K, gpu::SddmmByWarps>) return;
    expect_host_result<K>(in_batches, in.A, in.B.copy_to<Host>(), in.C, in.D, in.s, in.E, in.t);
    expect_host_result<K>(
        [](const auto& to, const auto& of, const auto& c, const auto& d) {
          return assign(to(b, i, j), c(b, k, i) * of(b, i, j) * d(b, k, j));
        },
        in.A, in.B.copy_to<Host>(), turned_C, turned_D);
  });
}

TEST(CudaSampledBatches, EqualTheHosts) {
  expect_batches(OfBatches::random({3, 130, 70}, 16, 2000));
  expect_batches(OfBatches::random({7, 33, 64}, 9, 1500));
}
TEST(CudaSampledBatches, EqualTheHostsWhereThereIsNothing) {
  expect_batches(OfBatches::random({3, 10, 20}, 4, 0));
  expect_batches(OfBatches::random({0, 10, 20}, 4, 0));
  expect_batches(OfBatches::random({2, 0, 20}, 4, 0));
  expect_batches(OfBatches::random({1, 1, 1}, 1, 1));
  expect_batches(OfBatches::random({2, 30, 20}, 0, 100));
}
/// Only the first and the last matrix have nonzeros.
TEST(CudaSampledBatches, MayHaveEmptyMatrices) {
  Entries<half, 3> entries({40, 30, 20}, 60);
  for (std::int64_t at = 0; at < entries.size(); ++at)
    entries.set(at, {at < 30 ? 0 : 39, at % 30, at * 7 % 20}, half(1.0F));
  expect_batches(OfBatches(assemble<Batches<Narrow>>(entries), 24));
}

/// Plans follow values in a graph, and keep within what is estimated.
TEST(CudaSampledBatches, InPlansFollowValuesInAGraphAndKeepWithinEstimates) {
  const auto in = OfBatches::random({4, 100, 90}, 20, 3000);
  in_batches(in.A, in.B, in.C, in.D, in.s, in.E, in.t).generic().run();
  const auto A = on_device(in.A);
  with_each_kernel([&]<class K>() {
    const auto statement = in_batches(A, on_device(in.B), on_device(in.C), on_device(in.D), on_device(in.s),
                                      on_device(in.E), on_device(in.t))
                               .template use<K>();
    expect_all_bounded(statement);
    const OwnStream stream;
    Kokkos::fence();
    auto product = plan(statement.on(stream.resources()));
    product.run();
    product.run();
    const Graph graph(stream, [&] { product.run(); }, cudaStreamCaptureModeRelaxed);
    Kokkos::deep_copy(A.values(), half(std::numeric_limits<float>::quiet_NaN()));
    graph.launch();
    expect_equal_tensors(in.A, A);
    std::ostringstream words;
    product.explain(words);
    EXPECT_NE(words.str().find("the epilogue applied as they are stored"), std::string::npos) << words.str();
  });
}

/// A statement that may not take what it needs says so, and changes nothing.
TEST(CudaSampledBatches, KeepWithinMemoryBounds) {
  const auto in = OfBatches::random({4, 100, 90}, 20, 3000);
  const auto before = assemble<Batches<Narrow>>(signed_entries<half, 3>({4, 100, 90}, 50, 2));
  with_each_kernel([&]<class K>() {
    const auto A = on_device(before);
    expect_kept_within(in_batches(A, on_device(in.B), on_device(in.C), on_device(in.D), on_device(in.s),
                                  on_device(in.E), on_device(in.t))
                           .template use<K>(),
                       [&] { expect_equal_tensors(before, A); });
  });
}

}  // namespace
}  // namespace sporos::test::sampled_epilogues

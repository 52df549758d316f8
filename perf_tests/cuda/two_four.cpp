// SPDX-License-Identifier: Apache-2.0
/// @file two_four.cpp
/// Layers with 2:4 sparse weights, y = x w^T in halfs, beside cuBLAS's product with dense weights and, where
/// it is found, cuSPARSELt's, with its default algorithm and with the one that its search finds.
///
/// `sporos_by_warps` is the product by the kernel for GPUs that lack the instructions of Hopper.
/// `layer` is the product with a bias and an activation, y = max(x w^T + b, 0), in the kernel's epilogue;
/// `layer_in_two_passes`, in a pass of its own.
///
/// Every contender is replayed from a CUDA graph. flops_per_second counts dense terms, zeros included.
/// `difference` is the largest from cuBLAS's product, over the largest entry.
#include <memory>

#include "cublas.hpp"
#ifdef SPOROS_HAVE_CUSPARSELT
#include "cusparselt_product.hpp"
#endif

namespace sporos::perf {

namespace {

using namespace sporos::indices;

struct Relu {
  KOKKOS_FUNCTION float operator()(float x) const { return x > 0 ? x : 0; }
};

/// y = x w^T by cuBLAS.
void multiply(const Matrix<half>& x, const Matrix<half>& w, const Matrix<half>& y) {
  const float one = 1, zero = 0;
  const auto m = static_cast<int>(y.extent(0)), n = static_cast<int>(y.extent(1)),
             inner = static_cast<int>(x.extent(1));
  check(cublasGemmEx(cublas(), CUBLAS_OP_T, CUBLAS_OP_N, n, m, inner, &one, w.values().data(), CUDA_R_16F,
                     inner, x.values().data(), CUDA_R_16F, inner, &zero, y.values().data(), CUDA_R_16F, n,
                     CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
        "cublasGemmEx");
}

void add_layer(std::int64_t m, const Matrix<half>& unpruned, const Tensor<half, TwoFour, Cuda>& w) {
  const std::int64_t n = w.extent(0), inner = w.extent(1);
  const std::string tail = text("/", m, "x", n, "x", inner);
  const auto x = random_matrix<half>(m, inner, 1);
  const Matrix<half> y({m, n}), peer_y({m, n});
  const auto count = [=](benchmark::State& state) {
    state.counters["flops_per_second"] = benchmark::Counter(
        20.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(inner),
        benchmark::Counter::kIsIterationInvariantRate);
  };
  const auto add_product = [&](const char* name, const auto& statement) {
    add(
        name + tail,
        [=](benchmark::State& state) {
          auto layer = plan(statement);
          measure_graph(state, [&] { layer.run(); });
          count(state);
          multiply(x, convert<DenseMatrix<>>(w), peer_y);
          state.counters["difference"] = difference(convert<DenseMatrix<>, float>(y).values(),
                                                    convert<DenseMatrix<>, float>(peer_y).values());
        },
        10);
  };
  add_product("two_four/sporos", assign(y(i, j), x(i, k) * w(j, k)));
  add_product("two_four/sporos_by_warps", assign(y(i, j), x(i, k) * w(j, k)).use<gpu::TwoFourByWarps>());
  const Tensor<half, DenseVector, Cuda> b({n});
  const auto activated = [=] { return map(Relu{}, sum(k, x(i, k) * w(j, k)) + b(j)); };
  add(
      "two_four/layer" + tail,
      [=](benchmark::State& state) {
        auto layer = plan(assign(y(i, j), activated()));
        measure_graph(state, [&] { layer.run(); });
        count(state);
      },
      10);
  add(
      "two_four/layer_in_two_passes" + tail,
      [=](benchmark::State& state) {
        auto layer = plan(assign(y(i, j), activated()).use<SumsFirst>());
        measure_graph(state, [&] { layer.run(); });
        count(state);
      },
      10);
  add(
      "two_four/cublas" + tail,
      [=](benchmark::State& state) {
        measure_graph(state, [&] { multiply(x, unpruned, peer_y); });
        count(state);
      },
      10);
#ifdef SPOROS_HAVE_CUSPARSELT
  add(
      "two_four/cusparselt" + tail,
      [=](benchmark::State& state) {
        auto layer = plan(
            assign(peer_y(i, j), x(i, k) * w(j, k)).with_constant_operands().use<gpu::TwoFourByCusparselt>());
        measure_graph(state, [&] { layer.run(); });
        count(state);
      },
      10);
  add(
      "two_four/cusparselt_searched" + tail,
      [=, product = std::shared_ptr<SearchedProduct>()](benchmark::State& state) mutable {
        if (!product) product = std::make_shared<SearchedProduct>(x, convert<DenseMatrix<>>(w), peer_y);
        measure_graph(state, [&] { product->run(); });
        count(state);
      },
      10);
#endif
}

}  // namespace

void add_two_four() {
  for (const std::int64_t n : {4096, 11008})
    for (const std::int64_t inner : {4096, 11008}) {
      const auto unpruned = random_matrix<half>(n, inner, 2);
      const auto w = prune<TwoFour>(unpruned);
      for (const std::int64_t m : {256, 512, 1024, 2048, 4096}) add_layer(m, unpruned, w);
    }
}

}  // namespace sporos::perf

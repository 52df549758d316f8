// SPDX-License-Identifier: Apache-2.0
/// @file pruned_mlp.cpp
/// The feed-forward block of a transformer, Y = relu(X V^T + b) W^T + c, with dense weights and with pruned
/// ones: 2:4, 16 and 8 of 32 in units of 32, and the largest tenth of all, in CSR. Only the format of the
/// weights changes; the statements stay the same.
///
///     pruned_mlp [tokens] [width of the model] [width of the block]
///
/// Weights and inputs are random; the widths are those of the transformer in the Deep Learning Matrix
/// Collection (Gale et al., "Sparse GPU kernels for deep learning", SC 2020). With CUDA, everything is in
/// half on the GPU, and structured weights run on tensor cores; otherwise everything is in float on the host.
#include <fmt/core.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <random>
#include <sporos/sporos.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace sporos::indices;
using sporos::DenseMatrix;
using sporos::DenseVector;
using sporos::Tensor;

#ifdef KOKKOS_ENABLE_CUDA
using Space = sporos::Cuda;
using Value = sporos::half;
#else
using Space = sporos::Host;
using Value = float;
#endif
using Matrix = Tensor<Value, DenseMatrix<>, Space>;
using Vector = Tensor<Value, DenseVector, Space>;
using Unstructured = sporos::CSR<std::int32_t, std::int32_t>;

/// Normally distributed values with a given standard deviation.
template <class F>
Tensor<Value, F, Space> random(const sporos::Extents<F::order>& extents, float deviation, unsigned seed) {
  std::mt19937 draw(seed);
  std::normal_distribution<float> number(0, deviation);
  const Tensor<Value, F> out(extents);
  for (std::int64_t at = 0; at < out.nnz(); ++at) out.values()(at) = static_cast<Value>(number(draw));
  return out.template copy_to<Space>();
}

/// The weights in a format: all of them, the largest tenth wherever it is, or as many per window as the
/// format keeps.
template <class Format>
Tensor<Value, Format, Space> weights(const Matrix& dense) {
  if constexpr (Format::is_dense) {
    return dense;
  } else if constexpr (std::is_same_v<Format, Unstructured>) {
    const auto kept = dense.copy_to<sporos::Host>();
    const auto size = [](Value x) { return std::abs(static_cast<float>(x)); };
    std::vector<float> sizes;
    for (std::int64_t at = 0; at < kept.nnz(); ++at) sizes.push_back(size(kept.values()(at)));
    const auto least = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() - sizes.size() / 10);
    std::nth_element(sizes.begin(), least, sizes.end());
    for (std::int64_t at = 0; at < kept.nnz(); ++at)
      if (size(kept.values()(at)) < *least) kept.values()(at) = Value{};
    return sporos::convert<Format>(kept).template copy_to<Space>();
  } else {
    return sporos::prune<Format>(dense);
  }
}

/// A block that computes Y [tokens, to] from X [tokens, from] each time it is called, with weights [to, from]
/// in any format. Its two layers are planned once: what a kernel packs of the weights stays with the plans,
/// and X may change from one call to the next.
template <class Weights>
auto feed_forward(const Matrix& X, const Weights& V, const Vector& b, const Weights& W, const Vector& c,
                  const Matrix& Y) {
  const Matrix hidden({X.extent(0), V.extent(0)});
  auto first = plan(assign(hidden(i, j), relu(X(i, k) * V(j, k) + b(j))).with_constant_operands());
  auto second = plan(assign(Y(i, j), hidden(i, k) * W(j, k) + c(j)).with_constant_operands());
  return [first = std::move(first), second = std::move(second)]() mutable {
    first.run();
    second.run();
  };
}

/// |A - B| / |B| in the Frobenius norm.
double difference(const Matrix& A, const Matrix& B) {
  const auto a = A.copy_to<sporos::Host>(), b = B.copy_to<sporos::Host>();
  double apart = 0, size = 0;
  for (std::int64_t at = 0; at < a.nnz(); ++at) {
    const double here = static_cast<float>(a.values()(at)), there = static_cast<float>(b.values()(at));
    apart += (here - there) * (here - there);
    size += there * there;
  }
  return std::sqrt(apart / size);
}

/// The shortest of five times, in seconds.
template <class Work>
double seconds(Work work) {
  double least = 1e300;
  for (int round = 0; round < 5; ++round) {
    const Kokkos::Timer timer;
    work();
    Kokkos::fence();
    least = std::min(least, timer.seconds());
  }
  return least;
}

}  // namespace

int main(int argc, char** argv) {
  const sporos::ScopeGuard guard(argc, argv);
  try {
    const std::int64_t tokens = argc > 1 ? std::atoll(argv[1]) : 32;
    const std::int64_t width = argc > 2 ? std::atoll(argv[2]) : 512;
    const std::int64_t inner = argc > 3 ? std::atoll(argv[3]) : 2048;

    const auto X = random<DenseMatrix<>>({tokens, width}, 1, 1);
    const auto V = random<DenseMatrix<>>({inner, width}, 1 / std::sqrt(static_cast<float>(width)), 2);
    const auto W = random<DenseMatrix<>>({width, inner}, 1 / std::sqrt(static_cast<float>(inner)), 3);
    const auto b = random<DenseVector>({inner}, 0.1f, 4), c = random<DenseVector>({width}, 0.1f, 5);
    const Matrix dense_Y({tokens, width}), Y({tokens, width}), Y_of_zeros({tokens, width});

    fmt::print("{} tokens, {} -> {} -> {}\n\n", tokens, width, inner, width);
    fmt::print("  {:<22} {:>12} {:>12} {:>14}\n", "weights", "kept", "time", "from dense");
    const auto bytes_of = [](const auto& v, const auto& w) {
      return static_cast<double>(v.bytes() + w.bytes());
    };
    const double of_dense = bytes_of(V, W);
    fmt::print("  {:<22} {:>8.2f} MB {:>9.3f} ms\n", "dense", 1e-6 * of_dense,
               1e3 * seconds(feed_forward(X, V, b, W, c, dense_Y)));

    bool is_right = true;
    const auto show = [&]<class Format>(const Format&, const std::string& name) {
      const auto pruned_V = weights<Format>(V), pruned_W = weights<Format>(W);
      const double bytes = bytes_of(pruned_V, pruned_W);
      const double time = seconds(feed_forward(X, pruned_V, b, pruned_W, c, Y));
      const double apart = difference(Y, dense_Y);
      fmt::print("  {:<22} {:>8.2f} MB {:>9.3f} ms {:>13.1f}%\n", name, 1e-6 * bytes, 1e3 * time,
                 100 * apart);

      // The same weights with their zeros stored give the same result.
      feed_forward(X, sporos::convert<DenseMatrix<>>(pruned_V), b, sporos::convert<DenseMatrix<>>(pruned_W),
                   c, Y_of_zeros)();
      is_right = is_right && difference(Y, Y_of_zeros) < 2e-3 && bytes < 0.6 * of_dense;
    };
    show(sporos::TwoFour{}, "2:4");
    show(sporos::NM<16, 32, 32, 1>{}, "16:32, units of 32");
    show(sporos::NM<8, 32, 32, 1>{}, "8:32, units of 32");
    show(Unstructured{}, "the largest tenth");
    return is_right ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "pruned_mlp: {}\n", error.what());
    return 2;
  }
}

// SPDX-License-Identifier: Apache-2.0
/// @file n_of_m_batches.cpp
/// Batches of products of dense matrices with one N:M or 2:4 sparse matrix, beside cuBLAS's strided batches
/// with the same matrix dense.
///
/// `by_rows` is C(b, i, j) = A(b, i, k) * B(k, j), `by_columns` C(b, i, j) = A(b, k, i) * B(k, j); of both,
/// all batches are the rows of one product. With 2:4 weights, C(b, i, j) = A(b, i, k) * W(j, k). `cublas` is
/// one call for all batches, with a stride of zero for B; `cublas_as_one`, for `by_rows`, the product of all
/// rows. Of `by_rows`, `sporos_activated` is max(A B + p, 0) with a bias p(j) and `sporos_in_two_passes` the
/// same by the sums first.
///
/// All contenders for a case are measured in turn; the rest is as in n_of_m_layers.cpp. `difference` is the
/// largest from cuBLAS's product with the pruned matrix, over the largest entry.
#include "rounds.hpp"

namespace sporos::perf {

namespace {

using namespace sporos::indices;
inline constexpr Index<'b'> batch{};

template <class T>
using Batches = Tensor<T, DenseTensor<3>, Cuda>;

template <class T>
Batches<T> random_batches(const Extents<3>& extents, unsigned seed) {
  const auto matrix = random_matrix<T>(extents[0] * extents[1], extents[2], seed);
  const Batches<T> out(extents);
  Kokkos::deep_copy(out.values(), matrix.values());
  return out;
}

enum class Modes { rows, columns };

/// Row-major C = A B in every batch, or with the batches as rows of one product; A and B may be stored as
/// their transposes.
template <class T>
void multiply(const Batches<T>& a, bool a_transposed, const Matrix<T>& b, bool b_transposed,
              const Batches<T>& c, bool as_one = false) {
  constexpr cudaDataType type = std::is_same_v<T, float> ? CUDA_R_32F : CUDA_R_16F;
  constexpr cublasComputeType_t compute =
      std::is_same_v<T, float> ? CUBLAS_COMPUTE_32F_PEDANTIC : CUBLAS_COMPUTE_32F;
  const float one = 1, zero = 0;
  const std::int64_t batches = as_one ? 1 : c.extent(0);
  const auto m = static_cast<int>(c.extent(0) / batches * c.extent(1)), n = static_cast<int>(c.extent(2)),
             k = static_cast<int>(a.extent(a_transposed ? 1 : 2));
  check(cublasGemmStridedBatchedEx(
            cublas(), b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, n,
            m, k, &one, b.values().data(), type, b_transposed ? k : n, 0, a.values().data(), type,
            a_transposed ? m : k, std::int64_t{m} * k, &zero, c.values().data(), type, n, std::int64_t{m} * n,
            static_cast<int>(batches), compute, CUBLAS_GEMM_DEFAULT),
        "cublasGemmStridedBatchedEx");
}

struct Case {
  std::int64_t batches, m, n, k;
};

template <class T, class Format, Modes Order>
std::map<std::string, Figures> measure(const Case& of) {
  constexpr int rounds = 7;
  constexpr bool by_rows = Order == Modes::rows, is_two_four = std::is_same_v<Format, TwoFour>;
  const auto [batches, m, n, inner] = of;
  const auto a =
      random_batches<T>(by_rows ? Extents<3>{batches, m, inner} : Extents<3>{batches, inner, m}, 1);
  const auto unpruned = is_two_four ? random_matrix<T>(n, inner, 2) : random_matrix<T>(inner, n, 2);
  const auto sparse = prune<Format>(unpruned);
  const Batches<T> c({batches, m, n}), expected({batches, m, n});
  const auto statement = [&] {
    if constexpr (is_two_four)
      return assign(c(batch, i, j), a(batch, i, k) * sparse(j, k)).with_constant_operands();
    else if constexpr (by_rows)
      return assign(c(batch, i, j), a(batch, i, k) * sparse(k, j)).with_constant_operands();
    else
      return assign(c(batch, i, j), a(batch, k, i) * sparse(k, j)).with_constant_operands();
  };
  [[maybe_unused]] const auto activated = [&](const auto& p) {
    const auto product = statement().right();
    return assign(c(batch, i, j), relu(sum(k, product) + p(j))).with_constant_operands();
  };
  auto product = plan(statement());
  product.run();
  multiply<T>(a, !by_rows, convert<DenseMatrix<>>(sparse), is_two_four, expected);
  Rounds all;
  all.add("sporos", [&] { product.run(); },
          {{"difference", difference(convert<DenseTensor<3>, float>(c).values(),
                                     convert<DenseTensor<3>, float>(expected).values())}});
  all.add("cublas", [=] { multiply<T>(a, !by_rows, unpruned, is_two_four, expected); });
  if constexpr (by_rows) {
    all.add("cublas_as_one", [=] { multiply<T>(a, false, unpruned, is_two_four, expected, true); });
    const Tensor<float, DenseVector, Cuda> bias({n});
    Kokkos::deep_copy(bias.values(), 0.5f);
    auto at_once = plan(activated(bias));
    auto in_two_passes = plan(activated(bias).template use<SumsFirst>());
    all.add("sporos_activated", [&] { at_once.run(); });
    all.add("sporos_in_two_passes", [&] { in_two_passes.run(); });
    return all.measure(rounds);
  } else {
    return all.measure(rounds);
  }
}

template <class T, class Format, Modes Order>
void add_case(const std::string& format, double kept_part, const Case& of) {
  const auto figures = std::make_shared<std::map<std::string, Figures>>();
  for (const std::string contender :
       {"sporos", "cublas", "cublas_as_one", "sporos_activated", "sporos_in_two_passes"}) {
    if (Order == Modes::columns && contender != "sporos" && contender != "cublas") continue;
    add(
        text("batches/", contender, "/", format, Order == Modes::rows ? "/by_rows/" : "/by_columns/",
             of.batches, "x", of.m, "x", of.n, "x", of.k, "/", value_name<T>()),
        [=](benchmark::State& state) {
          if (figures->empty()) *figures = measure<T, Format, Order>(of);
          figures->at(contender).report(state);
          state.counters["flops_per_second"] = benchmark::Counter(
              2.0 * static_cast<double>(of.batches * of.m) * static_cast<double>(of.n * of.k) * kept_part,
              benchmark::Counter::kIsIterationInvariantRate);
        },
        1);
  }
}

}  // namespace

void add_batches() {
  for (const auto& of : {Case{8, 128, 4096, 4096},
                         {32, 128, 4096, 4096},
                         {8, 512, 4096, 4096},
                         {64, 64, 1024, 1024},
                         {16, 256, 2048, 2048}}) {
    add_case<half, TwoFour, Modes::rows>("2:4", 0.5, of);
    add_case<half, NM<16, 32, 32>, Modes::rows>("16:32/L32", 16 / 32.0, of);
    add_case<half, NM<8, 32, 32>, Modes::rows>("8:32/L32", 8 / 32.0, of);
    add_case<half, NM<16, 32, 32>, Modes::columns>("16:32/L32", 16 / 32.0, of);
    add_case<float, NM<16, 32, 32>, Modes::rows>("16:32/L32", 16 / 32.0, of);
    add_case<float, NM<8, 32, 32>, Modes::rows>("8:32/L32", 8 / 32.0, of);
    add_case<float, NM<16, 32, 32>, Modes::columns>("16:32/L32", 16 / 32.0, of);
  }
}

}  // namespace sporos::perf

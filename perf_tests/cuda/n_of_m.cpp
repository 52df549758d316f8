// SPDX-License-Identifier: Apache-2.0
/// @file n_of_m.cpp
/// The product of a dense and an N:M sparse matrix, M = 32, beside cuBLAS's product with the same matrix
/// dense.
///
/// Every contender is replayed from a CUDA graph. `sporos` is a plan whose sparse operand is packed once,
/// with everything else that a run does, by the candidate that is expected to be fastest;
/// `sporos_tensor_cores` and `sporos_blocks` are those that are asked for, and `sporos_tf32` a plan of floats
/// that may be rounded to tf32, as those of `cublas_tf32` are. The parts of the former are shown
/// apart: `pass`, which makes the dense factor k-major where the product's kernel does not, and `pack`.
/// Where an eighth is kept or less, `sporos_blocks_by_columns` is a plan of a dense factor stored by columns,
/// for which the model chooses which of its rows are copied to shared memory, `sporos_packing_by_columns` one
/// that copies those that some unit of a tile keeps, `sporos_no_packing_by_columns` one that copies all, and
/// `predicted` the microseconds that each is expected to take.
/// flops_per_second counts what is kept.
/// `difference` is the largest from cuBLAS's product in float, over the largest entry. Of floats, `error` and
/// `error_of_cublas` are the distances of both from the product in double, over its size, in the Frobenius
/// norm (SGEMM without tensor cores, with the same sparse matrix stored dense), and `largest_error` and
/// `largest_error_of_cublas` those of the worst entry, over the largest.
#include "cublas.hpp"

namespace sporos::perf {

namespace {

using namespace sporos::indices;

/// Row-major C = A B by cuBLAS.
template <class T>
void multiply(const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& c, cublasComputeType_t compute) {
  constexpr cudaDataType type = std::is_same_v<T, float> ? CUDA_R_32F : CUDA_R_16F;
  const float one = 1, zero = 0;
  const auto m = static_cast<int>(c.extent(0)), n = static_cast<int>(c.extent(1)),
             k = static_cast<int>(a.extent(1));
  check(cublasGemmEx(cublas(), CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b.values().data(), type, n,
                     a.values().data(), type, k, &zero, c.values().data(), type, n, compute,
                     CUBLAS_GEMM_DEFAULT),
        "cublasGemmEx");
}

struct Widen {
  const float* from;
  double* to;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const { to[at] = from[at]; }
};
inline Matrix<double> widen(const Matrix<float>& narrow) {
  const Matrix<double> out(narrow.extents());
  Kokkos::parallel_for("widen", Kokkos::RangePolicy<Kokkos::Cuda>(0, narrow.nnz()),
                       Widen{narrow.values().data(), out.values().data()});
  return out;
}

/// Squares of the distances of floats from doubles and of the doubles, and the largest of each.
struct Distances {
  const float* from;
  const double* to;
  KOKKOS_FUNCTION void operator()(std::int64_t at, double& apart, double& size, double& worst,
                                  double& largest) const {
    const double distance = Kokkos::abs(from[at] - to[at]), entry = Kokkos::abs(to[at]);
    apart += distance * distance;
    size += entry * entry;
    worst = distance > worst ? distance : worst;
    largest = entry > largest ? entry : largest;
  }
};
inline void count_errors(benchmark::State& state, const Matrix<float>& c, const Matrix<double>& exact,
                         const std::string& of) {
  double apart = 0, size = 0, worst = 0, largest = 0;
  Kokkos::parallel_reduce("distances", Kokkos::RangePolicy<Kokkos::Cuda>(0, c.nnz()),
                          Distances{c.values().data(), exact.values().data()}, apart, size,
                          Kokkos::Max<double>(worst), Kokkos::Max<double>(largest));
  state.counters["error" + of] = std::sqrt(apart / size);
  state.counters["largest_error" + of] = worst / largest;
}
inline void count_errors(benchmark::State& state, const Matrix<float>& a, const Matrix<float>& b,
                         const Matrix<float>& c, const Matrix<float>& of_cublas) {
  const Matrix<double> wide_a = widen(a), wide_b = widen(b), exact(c.extents());
  const double one = 1, zero = 0;
  const auto m = static_cast<int>(c.extent(0)), n = static_cast<int>(c.extent(1)),
             k = static_cast<int>(a.extent(1));
  check(cublasDgemm(cublas(), CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, wide_b.values().data(), n,
                    wide_a.values().data(), k, &zero, exact.values().data(), n),
        "cublasDgemm");
  count_errors(state, c, exact, "");
  count_errors(state, of_cublas, exact, "_of_cublas");
}

/// Products on CUDA cores of which so little is kept that not all rows of the dense factor need be copied.
template <int N>
void add_packing(std::int64_t m, std::int64_t n, std::int64_t k, const Matrix<float>& a,
                 const Matrix<float>& unpruned) {
  const auto b = prune<NM<N, 32, 32>>(unpruned);
  const auto by_columns = convert<DenseMatrix<ColumnMajor>>(a);
  const Matrix<float> c({m, n}), peer_c({m, n});
  const std::string tail = text("/", N, ":32/L32/", m, "x", n, "x", k, "/float");
  const auto add_plan = [&]<class Candidate>(const std::string& name, Candidate) {
    add(
        name + tail,
        [=](benchmark::State& state) {
          const auto statement = assign(c(i, j), by_columns(i, sporos::indices::k) * b(sporos::indices::k, j))
                                     .with_constant_operands()
                                     .template use<Candidate>();
          auto product = plan(statement);
          measure_graph(state, [&] { product.run(); });
          state.counters["predicted"] = least_cost(statement).again * 1e6;
          state.counters["flops_per_second"] = benchmark::Counter(
              2.0 * 10 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) * N / 32,
              benchmark::Counter::kIsIterationInvariantRate);
          multiply(a, convert<DenseMatrix<>>(b), peer_c, CUBLAS_COMPUTE_32F_PEDANTIC);
          report_difference(state, difference(c.values(), peer_c.values()), 1e-5);
        },
        10);
  };
  add_plan("n_of_m/sporos_blocks_by_columns", gpu::NmByBlocks{});
  add_plan("n_of_m/sporos_packing_by_columns", gpu::NmByBlocksOfListedRows{});
  add_plan("n_of_m/sporos_no_packing_by_columns", gpu::NmByBlocksOfAllRows{});
}
void add_packing_of_shape(std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto a = random_matrix<float>(m, k, 1), unpruned = random_matrix<float>(k, n, 2);
  add_packing<4>(m, n, k, a, unpruned);
  add_packing<2>(m, n, k, a, unpruned);
  add_packing<1>(m, n, k, a, unpruned);
}

template <class T, int N, int L>
void add_product(std::int64_t m, std::int64_t n, std::int64_t k, const Matrix<T>& a,
                 const Matrix<T>& unpruned) {
  const auto b = prune<NM<N, 32, L>>(unpruned);
  const Matrix<T> c({m, n}), peer_c({m, n});
  const std::string tail = text("/", N, ":32/L", L, "/", m, "x", n, "x", k, "/", value_name<T>());
  const auto statement = [=] {
    return assign(c(i, j), a(i, sporos::indices::k) * b(sporos::indices::k, j)).with_constant_operands();
  };
  const auto count = [=](benchmark::State& state) {
    state.counters["flops_per_second"] = benchmark::Counter(
        2.0 * 10 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) * N / 32,
        benchmark::Counter::kIsIterationInvariantRate);
  };
  const auto add_plan = [&](const std::string& name, const auto& of_statement) {
    add(
        name + tail,
        [=](benchmark::State& state) {
          auto product = plan(of_statement());
          measure_graph(state, [&] { product.run(); });
          count(state);
          const auto dense = convert<DenseMatrix<>>(b);
          multiply(a, dense, peer_c,
                   std::is_same_v<T, float> ? CUBLAS_COMPUTE_32F_PEDANTIC : CUBLAS_COMPUTE_32F);
          if constexpr (std::is_same_v<T, float>) count_errors(state, a, dense, c, peer_c);
          const bool is_rounded = std::is_same_v<T, half> || decltype(of_statement())::schedule::allows_tf32;
          report_difference(state,
                            difference(convert<DenseMatrix<>, float>(c).values(),
                                       convert<DenseMatrix<>, float>(peer_c).values()),
                            is_rounded ? 5e-3 : 1e-5);
        },
        10);
  };
  add_plan("n_of_m/sporos", statement);
  add_plan("n_of_m/sporos_tensor_cores", [=] { return statement().template use<gpu::NmByGathering>(); });
  if constexpr (std::is_same_v<T, float> || L % 32 != 0)
    add_plan("n_of_m/sporos_blocks", [=] { return statement().template use<gpu::NmByBlocks>(); });
  if constexpr (std::is_same_v<T, float>)
    add_plan("n_of_m/sporos_tf32", [=] { return statement().allow_tf32(); });
  if (std::is_same_v<T, float>)
    add(
        "n_of_m/sporos_cuda_cores" + tail,
        [=](benchmark::State& state) {
          gpu::NmGather<T, T, NoEpilogue<T>> in{};
          in.m = m;
          in.rows_of_batch = m;
          in.a = a.values().data();
          in.a_row = k;
          in.a_column = 1;
          in.b = {k,
                  n,
                  N,
                  32,
                  L,
                  gpu::ceil_div(n, L) * N,
                  N,
                  b.template level<2>().indices.data(),
                  b.values().data()};
          in.c = c.values().data();
          in.c_row = n;
          in.c_column = 1;
          measure_graph(state, [&] { gpu::nm_gather(Kokkos::Cuda(), in); });
          count(state);
        },
        10);
  add(
      "n_of_m/sporos_pass" + tail,
      [=](benchmark::State& state) {
        using Packed = gpu::packed_t<T>;
        const Array<Packed, gpu::Memory> high("high", static_cast<std::size_t>(m * k)),
            low("low", static_cast<std::size_t>(m * k));
        const Array<int, gpu::Memory> exponents("exponents", static_cast<std::size_t>(m + 2));
        measure_graph(state, [&] {
          if constexpr (std::is_same_v<T, float>)
            gpu::exponents_of_rows(Kokkos::Cuda(), a.values().data(), m, k, false, {}, exponents.data(),
                                   exponents.data() + m, exponents.data() + m + 1);
          gpu::copy_k_major<gpu::planes_of<T>>(Kokkos::Cuda(), a.values().data(), m, k, false, {},
                                               high.data(), low.data(), m, exponents.data(),
                                               exponents.data() + m + 1);
        });
      },
      10);
  add(
      "n_of_m/sporos_pack" + tail,
      [=](benchmark::State& state) {
        auto product = plan(assign(c(i, j), a(i, sporos::indices::k) * b(sporos::indices::k, j)));
        measure_graph(state, [&] { product.run(); });
        state.counters["with_the_product"] = 1;
        product.run();
        state.counters["held_bytes"] = static_cast<double>(product.bytes());
      },
      10);
  for (const bool exact : {true, false}) {
    if (!exact && !std::is_same_v<T, float>) continue;
    add(
        std::string("n_of_m/") + (exact ? "cublas" : "cublas_tf32") + tail,
        [=](benchmark::State& state) {
          const auto compute = !exact                     ? CUBLAS_COMPUTE_32F_FAST_TF32
                               : std::is_same_v<T, float> ? CUBLAS_COMPUTE_32F_PEDANTIC
                                                          : CUBLAS_COMPUTE_32F;
          measure_graph(state, [&] { multiply(a, unpruned, peer_c, compute); });
          count(state);
        },
        10);
  }
}

template <class T>
void add_shape(std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto a = random_matrix<T>(m, k, 1), unpruned = random_matrix<T>(k, n, 2);
  add_product<T, 16, 32>(m, n, k, a, unpruned);
  add_product<T, 12, 32>(m, n, k, a, unpruned);
  add_product<T, 8, 32>(m, n, k, a, unpruned);
  add_product<T, 4, 32>(m, n, k, a, unpruned);
  if (m == 4096) {
    add_product<T, 16, 16>(m, n, k, a, unpruned);
    add_product<T, 8, 16>(m, n, k, a, unpruned);
    add_product<T, 16, 8>(m, n, k, a, unpruned);
    add_product<T, 8, 8>(m, n, k, a, unpruned);
  }
  if (m == 4096 || std::is_same_v<T, half>) {
    add_product<T, 16, 128>(m, n, k, a, unpruned);
    add_product<T, 8, 128>(m, n, k, a, unpruned);
  }
}

}  // namespace

void add_n_of_m() {
  add_shape<half>(4096, 4096, 4096);
  add_shape<half>(256, 4096, 4096);
  add_shape<float>(4096, 4096, 4096);
  add_shape<float>(256, 4096, 4096);
  add_shape<float>(512, 2048, 2048);
  add_shape<float>(512, 1024, 1024);
  add_shape<float>(512, 512, 512);
  add_packing_of_shape(4096, 4096, 4096);
  add_packing_of_shape(256, 4096, 4096);
  add_packing_of_shape(2052, 4100, 700);
  add_packing_of_shape(512, 2048, 2048);
}

}  // namespace sporos::perf

// SPDX-License-Identifier: Apache-2.0
/// @file spmm.cpp
/// Products of a sparse matrix in CSR and a dense one of 32 to 512 columns, as a plan of the statement
/// computes them, beside cuSPARSE's algorithms for CSR, each preprocessed, and, for 16-bit types, beside
/// cuBLAS with the sparse matrix stored dense; layers, Y(i, j) = X(i, k) W(j, k), of as many rows of X; and
/// products with the transpose, C(i, j) = A(k, i) B(k, j), as of the backward pass of a layer: by a plan
/// whose sparse values are constant (`sporos`) or not (`sporos_values`), by a statement without a plan
/// (`sporos_statement`, which is started anew each time), and by a plan of the transpose stored beforehand
/// (`sporos_stored`).
///
/// Every contender is replayed from a CUDA graph; preparing it is not counted. Of plans, `plan_seconds` is
/// how long one takes to make, memory from the pool included, `held_bytes` what it holds. Of the one that
/// chooses its kernel, `products_to_amortise` is after how many products it has paid off: plan_seconds over
/// what a product gains on the faster of the statement without a plan (`statement_seconds`, with starting it)
/// and cuSPARSE's best algorithm, which is prepared (`cusparse_seconds`); absent if it gains nothing.
/// SPOROS_MATRICES names more matrices: files, separated by colons.
/// SPOROS_SPMM_COLUMNS names the numbers of columns, separated by commas. `difference` is the largest from
/// the sums of cuSPARSE in a wider type, over the largest entry.
///
/// Products of other libraries are measured as well where CMake is told of their sources (CMakeLists.txt here
/// says how): Sputnik, RoDe, FlashSparse, DTC-SpMM. What they prepare is not counted; what their kernels
/// expect of the result is: those that add to it set it to zero first.
#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <memory>
#include <sporos/kernels/spmm/cuda/dot_products_candidate.hpp>

#include "cublas.hpp"
#include "cusparse_spmm.hpp"
#include "peers/spmm_peer.hpp"

namespace sporos::perf {

namespace {

using namespace sporos::indices;

/// The operands of a product, of which only the last one asked for is kept: B and C, or X and Y.
template <class Value, Form Which>
struct Operands {
  DeviceCsr<Value> a;
  Matrix<Value> b, c, peer_c;

  static const Operands& of(const Input& input, std::int64_t columns) {
    static std::unique_ptr<Operands> kept;
    static std::string which;
    [[maybe_unused]] static const bool is_dropped = [] {
      Kokkos::push_finalize_hook([] { kept.reset(); });
      return true;
    }();
    const std::string wanted = text(input.name, "/", columns);
    if (which != wanted) {
      const bool is_same_matrix = kept && which.substr(0, which.rfind('/')) == input.name;
      const auto a = is_same_matrix ? kept->a : input.make().template make<Value>();
      kept.reset();
      const std::int64_t rows = a.extent(0), inner = a.extent(1);
      if constexpr (Which == Form::product)
        kept.reset(new Operands{a, random_matrix<Value>(inner, columns, 2), Matrix<Value>({rows, columns}),
                                Matrix<Value>({rows, columns})});
      else if constexpr (Which == Form::transposed)
        kept.reset(new Operands{a, random_matrix<Value>(rows, columns, 2), Matrix<Value>({inner, columns}),
                                Matrix<Value>({inner, columns})});
      else
        kept.reset(new Operands{a, random_matrix<Value>(columns, inner, 2), Matrix<Value>({columns, rows}),
                                Matrix<Value>({columns, rows})});
      which = wanted;
    }
    return *kept;
  }

  CusparseSpmm<Value> by_cusparse(cusparseSpMMAlg_t algorithm) const {
    return {a, b, peer_c, algorithm, Which};
  }
};

constexpr std::array cusparse_algorithms = {std::pair("cusparse_default", CUSPARSE_SPMM_ALG_DEFAULT),
                                            std::pair("cusparse_alg1", CUSPARSE_SPMM_CSR_ALG1),
                                            std::pair("cusparse_alg2", CUSPARSE_SPMM_CSR_ALG2),
                                            std::pair("cusparse_alg3", CUSPARSE_SPMM_CSR_ALG3)};

/// The seconds of a product by the fastest of cuSPARSE's algorithms; infinite if none takes these operands.
template <class Value, Form Which>
double best_of_cusparse(const Operands<Value, Which>& in) {
  constexpr int calls = 10, replays = 3;
  double best = std::numeric_limits<double>::infinity();
  for (const auto& [name, algorithm] : cusparse_algorithms) {
    try {
      const auto product = in.by_cusparse(algorithm);
      best = std::min(best, seconds_of_replays(calls, replays, product)[replays / 2] / calls);
    } catch (const std::exception&) {  // not every algorithm takes matrices by columns
      continue;
    }
  }
  return best;
}

/// The seconds to make a plan, from an idle device to an idle device: the median of five, after a first that
/// loads kernels and fills the pool.
template <class S>
double seconds_to_plan(const S& statement) {
  constexpr int plans = 5;
  std::vector<double> seconds;
  for (int made = 0; made <= plans; ++made) {
    Kokkos::fence();
    const auto begin = std::chrono::steady_clock::now();
    const auto product = plan(statement);
    Kokkos::fence();
    if (made > 0)
      seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[plans / 2];
}

/// The seconds of a statement without a plan, started anew each time.
template <class S>
double seconds_without_plan(const S& statement) {
  constexpr int calls = 10, rounds = 5;
  std::vector<double> seconds = seconds_of(rounds, [&] {
    for (int call = 0; call < calls; ++call) statement.run();
  });
  std::sort(seconds.begin(), seconds.end());
  return seconds[rounds / 2] / calls;
}

/// A product of another library, of which only the last one asked for is kept.
template <class Value>
class PeerSpmm {
  using In = Operands<Value, Form::product>;
  using Element = std::conditional_t<std::is_same_v<Value, half>, __half, Value>;

 public:
  using Make = std::function<std::unique_ptr<SpmmPeer>(const PeerProduct<Element>&)>;

  static const SpmmPeer& of(const std::string& name, const In& in, const Make& make) {
    static std::unique_ptr<SpmmPeer> kept;
    static std::string which;
    if (which == name) return *kept;
    kept.reset();
    which.clear();
    const auto& columns = in.a.template level<1>();
    kept = make({static_cast<int>(in.a.extent(0)), static_cast<int>(in.a.extent(1)),
                 static_cast<int>(in.b.extent(1)), static_cast<int>(in.a.nnz()), columns.positions.data(),
                 columns.coordinates.data(), reinterpret_cast<const Element*>(in.a.values().data()),
                 reinterpret_cast<const Element*>(in.b.values().data())});
    which = name;
    return *kept;
  }

  /// Those that CMake was told of.
  static std::vector<std::pair<const char*, Make>> all() {
    std::vector<std::pair<const char*, Make>> out;
#ifdef SPOROS_HAVE_RODE
    if constexpr (!std::is_same_v<Value, half>)
      out.emplace_back("rode", [](const auto& in) { return rode_spmm(in); });
#endif
#ifdef SPOROS_HAVE_SPUTNIK
    if constexpr (!std::is_same_v<Value, double>)
      out.emplace_back("sputnik", [](const auto& in) { return sputnik_spmm(in); });
#endif
    if constexpr (std::is_same_v<Value, half>) {
#ifdef SPOROS_HAVE_FLASHSPARSE
      out.emplace_back("flashsparse", [](const auto& in) { return flash_sparse_spmm(in, false); });
      out.emplace_back("flashsparse_balanced", [](const auto& in) { return flash_sparse_spmm(in, true); });
#endif
    }
    if constexpr (std::is_same_v<Value, float>) {
#ifdef SPOROS_HAVE_DTC_SPMM
      out.emplace_back("dtc_tf32", [](const auto& in) { return dtc_spmm(in, false); });
      out.emplace_back("dtc_tf32_balanced", [](const auto& in) { return dtc_spmm(in, true); });
#endif
    }
    return out;
  }
};

template <class Value, Form Which>
void add_product(const Input& input, std::int64_t columns) {
  using In = Operands<Value, Which>;
  const std::string family = Which == Form::product ? "spmm/"
                             : Which == Form::layer ? "spmm_layer/"
                                                    : "spmm_transposed/";
  const std::string tail = text("/", input.name, "/", columns, "/", value_name<Value>());
  const auto count = [=](benchmark::State& state, const In& in) {
    state.counters["flops_per_second"] =
        benchmark::Counter(2.0 * 10 * static_cast<double>(in.a.nnz()) * static_cast<double>(columns),
                           benchmark::Counter::kIsIterationInvariantRate);
    state.counters["nonzeros"] = static_cast<double>(in.a.nnz());
  };
  const auto difference_from_peer = [](const In& in) {
    in.by_cusparse(Which == Form::product ? CUSPARSE_SPMM_CSR_ALG3 : CUSPARSE_SPMM_ALG_DEFAULT)();
    using Wide = accumulate_t<Value>;
    return difference(convert<DenseMatrix<>, Wide>(in.c).values(),
                      convert<DenseMatrix<>, Wide>(in.peer_c).values());
  };
  const auto add_sporos = [&](const char* name, const auto& measure) {
    add(
        text(family, name, tail),
        [=](benchmark::State& state) {
          const auto& in = In::of(input, columns);
          try {
            measure(state, in);
          } catch (const Error& error) {
            state.SkipWithError(error.what());
            return;
          }
          count(state, in);
          state.counters["difference"] = difference_from_peer(in);
        },
        10);
  };
  // The seconds of a product and of making its plan.
  const auto measure_plan = [](benchmark::State& state, const auto& statement) {
    auto product = plan(statement);
    const double planned = measure_graph(state, [&] { product.run(); });
    const double to_plan = seconds_to_plan(statement);
    state.counters["plan_seconds"] = to_plan;
    state.counters["held_bytes"] = static_cast<double>(product.bytes());
    state.SetLabel(std::string(product.candidate()));
    return std::pair(planned, to_plan);
  };
  const auto statement_of = [](const In& in) {
    if constexpr (Which == Form::product)
      return assign(in.c(i, j), in.a(i, k) * in.b(k, j)).with_constant_operands();
    else if constexpr (Which == Form::transposed)
      return assign(in.c(i, j), in.a(k, i) * in.b(k, j)).with_constant_operands();
    else
      return assign(in.c(i, j), in.b(i, k) * in.a(j, k)).with_constant_operands();
  };
  const auto add_contender = [&]<class K>(const char* name, std::type_identity<K>) {
    add_sporos(name, [=](benchmark::State& state, const In& in) {
      measure_plan(state, statement_of(in).template use<K>());
    });
  };
  add_sporos("sporos", [=](benchmark::State& state, const In& in) {
    const auto statement = statement_of(in);
    const auto [planned, to_plan] = measure_plan(state, statement);
    const double unplanned = seconds_without_plan(statement), cusparse = best_of_cusparse(in);
    state.counters["statement_seconds"] = unplanned;
    if (cusparse < std::numeric_limits<double>::infinity()) state.counters["cusparse_seconds"] = cusparse;
    const double gain = std::min(unplanned, cusparse) - planned;
    if (gain > 0) state.counters["products_to_amortise"] = to_plan / gain;
  });
  if constexpr (Which == Form::product) {
    add_contender("sporos_groups", std::type_identity<gpu::SpmmByGroups>{});
    add_contender("sporos_padded_rows", std::type_identity<gpu::SpmmByPaddedRows>{});
    if constexpr (is_narrow_float_v<Value>)
      add_contender("sporos_tiles", std::type_identity<gpu::SpmmOnTensorCores>{});
    if constexpr (std::is_same_v<Value, float>)
      add_contender("sporos_split_tiles", std::type_identity<gpu::SpmmBySplitTiles>{});
    if constexpr (std::is_same_v<Value, double> || is_narrow_float_v<Value>)
      add_contender("sporos_windows", std::type_identity<gpu::SpmmByWindows>{});
    // Beside the others in another precision: floats are multiplied in tf32.
    if constexpr (sizeof(Value) <= 4)
      add_contender("sporos_dot_products", std::type_identity<gpu::SpmmByDotProducts>{});
    add_contender("sporos_cublas", std::type_identity<gpu::SpmmByCublas>{});
    if constexpr (is_narrow_float_v<Value>)  // as cuBLAS itself takes them
      add_sporos("sporos_with_finite_operands", [=](benchmark::State& state, const In& in) {
        measure_plan(
            state,
            assign(in.c(i, j), in.a(i, k) * in.b(k, j)).with_constant_operands().with_finite_operands());
      });
  } else if constexpr (Which == Form::transposed) {
    add_contender("sporos_groups", std::type_identity<gpu::SpmmByGroups>{});
    add_contender("sporos_cublas", std::type_identity<gpu::SpmmByCublas>{});
    add_sporos("sporos_values", [=](benchmark::State& state, const In& in) {
      measure_plan(state, assign(in.c(i, j), in.a(k, i) * in.b(k, j)));
    });
    add_sporos("sporos_stored", [=](benchmark::State& state, const In& in) {
      const auto stored = transpose(in.a);
      measure_plan(state, assign(in.c(i, j), stored(i, k) * in.b(k, j)).with_constant_operands());
    });
    add_sporos("sporos_statement", [](benchmark::State& state, const In& in) {
      constexpr int calls = 10;  // as of the others
      const double seconds = seconds_without_plan(assign(in.c(i, j), in.a(k, i) * in.b(k, j)));
      for (auto _ : state) state.SetIterationTime(seconds * calls);
      state.counters["calls"] = calls;
    });
  } else {
    add_contender("sporos_transposed", std::type_identity<gpu::SpmmIntoColumns>{});
    add_contender("sporos_shared_rows", std::type_identity<gpu::SpmmFromSharedRows>{});
    add_contender("sporos_cublas", std::type_identity<gpu::SpmmByCublas>{});
  }
  for (const auto& [name, algorithm] : cusparse_algorithms)
    add(
        text(family, name, tail),
        [=, algorithm = algorithm](benchmark::State& state) {
          const auto& in = In::of(input, columns);
          try {
            const auto product = in.by_cusparse(algorithm);
            measure_graph(state, product);
          } catch (const std::exception& error) {  // not every algorithm takes matrices by columns
            state.SkipWithError(error.what());
            return;
          }
          count(state, in);
        },
        10);
  if constexpr (Which == Form::product && !std::is_same_v<Value, bfloat16>)
    for (const auto& [name, make] : PeerSpmm<Value>::all())
      add(
          text(family, name, tail),
          [=, name = text(name, tail), make = make](benchmark::State& state) {
            const auto& in = In::of(input, columns);
            try {
              const SpmmPeer& peer = PeerSpmm<Value>::of(name, in, make);
              measure_graph(state, [&] { peer.run(Kokkos::Cuda().cuda_stream()); });
              count(state, in);
              state.counters["held_bytes"] = static_cast<double>(peer.held_bytes());
              in.by_cusparse(CUSPARSE_SPMM_CSR_ALG3)();
              const Tensor<double, DenseMatrix<>> result(in.c.extents());
              const std::vector<double> sums = peer.result();
              std::copy(sums.begin(), sums.end(), result.values().data());
              state.counters["difference"] =
                  difference(result.template copy_to<sporos::Cuda>().values(),
                             convert<DenseMatrix<>, accumulate_t<Value>>(in.peer_c).values());
            } catch (const std::exception& error) {
              cudaGetLastError();  // of a launch that was refused
              state.SkipWithError(error.what());
            }
          },
          10);
  if constexpr (is_narrow_float_v<Value> && Which == Form::product)
    add(
        family + "cublas" + tail,
        [=](benchmark::State& state) {
          const auto& in = In::of(input, columns);
          const auto m = static_cast<int>(in.a.extent(0)), inner = static_cast<int>(in.a.extent(1));
          if (in.a.extent(0) * in.a.extent(1) > std::int64_t{1} << 30) {
            state.SkipWithError("too large to be dense");
            return;
          }
          const auto dense = convert<DenseMatrix<>>(in.a);
          const float one = 1, zero = 0;
          measure_graph(state, [&] {
            check(cublasGemmEx(cublas(), CUBLAS_OP_N, CUBLAS_OP_N, static_cast<int>(columns), m, inner, &one,
                               in.b.values().data(), cuda_type<Value>, static_cast<int>(columns),
                               dense.values().data(), cuda_type<Value>, inner, &zero,
                               in.peer_c.values().data(), cuda_type<Value>, static_cast<int>(columns),
                               CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
                  "cublasGemmEx");
          });
          count(state, in);
        },
        10);
}

}  // namespace

void add_spmm() {
  std::vector<Input> inputs = named_inputs();
  for (const int percent : {50, 70, 80, 90, 95, 98, 99})
    for (const std::int64_t extent : {4096, 8192})
      inputs.push_back({text("random_", extent, "_", percent),
                        [=] { return random_square(extent, (100 - percent) * 0.01); }});
  inputs.push_back({"laplacian7_80", [] { return laplacian(80, false); }});
  inputs.push_back({"laplacian27_45", [] { return laplacian(45, true); }});
  inputs.push_back({"rmat_17_2M", [] { return rmat(17, 2'000'000); }});
  inputs.push_back({"rmat_20_10M", [] { return rmat(20, 10'000'000); }});
  inputs.push_back({"uniform_20k_4M", [] { return uniform(20'000, 200'000, 4'000'000); }});
  // To whose times no costs were fitted: fitted_matrices.txt names the others.
  inputs.push_back({"random_3000_85", [] { return random_square(3000, 0.15); }});
  inputs.push_back({"random_6144_97", [] { return random_square(6144, 0.03); }});
  inputs.push_back({"laplacian27_30", [] { return laplacian(30, true); }});
  inputs.push_back({"rmat_16_500k", [] { return rmat(16, 500'000); }});
  inputs.push_back({"uniform_10k_1M", [] { return uniform(10'000, 30'000, 1'000'000); }});
  std::vector<std::int64_t> columns;
  for (const auto& number : split(std::getenv("SPOROS_SPMM_COLUMNS"), ','))
    columns.push_back(std::stoll(number));
  if (columns.empty()) columns = {32, 64, 128, 256, 512};
  const auto add_all = [&]<class Value>(Value) {
    for (const auto& input : inputs)
      for (const std::int64_t n : columns) add_product<Value, Form::product>(input, n);
  };
  add_all(half{});
  add_all(bfloat16{});
  add_all(float{});
  add_all(double{});
  for (const auto& input : inputs)
    if (input.name.find("__") != std::string::npos || input.name.starts_with("random")) {
      for (const std::int64_t n : columns) add_product<half, Form::layer>(input, n);
      for (const std::int64_t n : columns) add_product<float, Form::layer>(input, n);
    }
  for (const auto& input : inputs)
    for (const std::int64_t n : columns) {
      add_product<half, Form::transposed>(input, n);
      add_product<float, Form::transposed>(input, n);
    }
}

}  // namespace sporos::perf

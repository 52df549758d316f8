// SPDX-License-Identifier: Apache-2.0
/// @file cublas.hpp
/// What the benchmarks beside cuBLAS share: its handle, random matrices, time by the replay of a graph.
#pragma once

#include <cublas_v2.h>

#include <algorithm>

#include "harness.hpp"

namespace sporos::perf {

inline void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) throw StateError(text(what, ": ", cublasGetStatusString(status)));
}

inline cublasHandle_t cublas() {
  static cublasHandle_t handle = [] {
    constexpr std::size_t room = std::size_t{64} << 20;
    static void* workspace = nullptr;
    cublasHandle_t made = nullptr;
    check(cublasCreate(&made), "cublasCreate");
    perf::check(cudaMalloc(&workspace, room), "a workspace for cuBLAS");
    check(cublasSetStream(made, Kokkos::Cuda().cuda_stream()), "cublasSetStream");
    check(cublasSetWorkspace(made, workspace, room), "cublasSetWorkspace");
    return made;
  }();
  return handle;
}

template <class T>
using Matrix = Tensor<T, DenseMatrix<>, Cuda>;

/// The seconds that each replay of a graph of so many calls of `work` takes, in ascending order.
template <class Work>
std::vector<double> seconds_of_replays(int calls, int replays, const Work& work) {
  const cudaStream_t stream = Kokkos::Cuda().cuda_stream();
  work();
  perf::check(cudaStreamSynchronize(stream), "warming up");
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t replay = nullptr;
  perf::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
  for (int call = 0; call < calls; ++call) work();
  perf::check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  perf::check(cudaGraphInstantiate(&replay, graph, 0), "cudaGraphInstantiate");
  std::vector<double> seconds =
      seconds_of(replays, [&] { perf::check(cudaGraphLaunch(replay, stream), "cudaGraphLaunch"); });
  std::sort(seconds.begin(), seconds.end());
  cudaGraphExecDestroy(replay);
  cudaGraphDestroy(graph);
  return seconds;
}

/// Times the replay of a graph of ten calls of `work`. What is reported is the median of all replays, which
/// is returned as the seconds of one call.
template <class Work>
double measure_graph(benchmark::State& state, const Work& work) {
  constexpr int calls = 10;
  const std::vector<double> seconds = seconds_of_replays(calls, static_cast<int>(state.max_iterations), work);
  for (auto _ : state) state.SetIterationTime(seconds[seconds.size() / 2]);
  state.counters["fastest"] = seconds.front() * 1e6;
  state.counters["slowest"] = seconds.back() * 1e6;
  state.counters["calls"] = calls;
  return seconds[seconds.size() / 2] / calls;
}

/// Numbers from -1 to 1, each made from its place by the mixing of splitmix64.
template <class T>
struct FillAtRandom {
  T* values;
  std::uint64_t seed;

  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    std::uint64_t bits = (static_cast<std::uint64_t>(at) + (seed << 40) + 1) * 0x9e3779b97f4a7c15U;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebU;
    values[at] = T(static_cast<float>(bits >> 40) / 8388608.0F - 1);
  }
};

template <class T>
Matrix<T> random_matrix(std::int64_t rows, std::int64_t columns, unsigned seed) {
  const Matrix<T> out({rows, columns});
  Kokkos::parallel_for("random matrix",
                       Kokkos::RangePolicy<Kokkos::Cuda, Kokkos::IndexType<std::int64_t>>(0, out.nnz()),
                       FillAtRandom<T>{out.values().data(), seed});
  return out;
}

}  // namespace sporos::perf

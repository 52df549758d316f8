// SPDX-License-Identifier: Apache-2.0
/// @file harness.hpp
/// What the benchmarks on the GPU share: matrices, time by device events, cuSPARSE's handle.
#pragma once

#include <benchmark/benchmark.h>
#include <cuda_runtime.h>
#include <cusparse.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <sporos/sporos.hpp>
#include <string>
#include <vector>

#include "../laplacian.hpp"

namespace sporos::perf {

using Csr = CSR<std::int32_t, std::int32_t>;
template <class Value>
using DeviceCsr = Tensor<Value, Csr, Cuda>;

inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw StateError(text(what, ": ", cudaGetErrorString(status)));
}
inline void check(cusparseStatus_t status, const char* what) {
  if (status != CUSPARSE_STATUS_SUCCESS) throw StateError(text(what, ": ", cusparseGetErrorString(status)));
}

inline cusparseHandle_t cusparse() {
  static cusparseHandle_t handle = [] {
    cusparseHandle_t made = nullptr;
    check(cusparseCreate(&made), "cusparseCreate");
    check(cusparseSetStream(made, Kokkos::Cuda().cuda_stream()), "cusparseSetStream");
    return made;
  }();
  return handle;
}

template <class Value>
inline constexpr cudaDataType cuda_type = std::is_same_v<Value, half>       ? CUDA_R_16F
                                          : std::is_same_v<Value, bfloat16> ? CUDA_R_16BF
                                          : std::is_same_v<Value, float>    ? CUDA_R_32F
                                                                            : CUDA_R_64F;

template <class Value>
cusparseSpMatDescr_t describe(const DeviceCsr<Value>& a) {
  cusparseSpMatDescr_t out = nullptr;
  check(cusparseCreateCsr(&out, a.extent(0), a.extent(1), a.nnz(), a.template level<1>().positions.data(),
                          a.template level<1>().coordinates.data(), a.values().data(), CUSPARSE_INDEX_32I,
                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, cuda_type<Value>),
        "cusparseCreateCsr");
  return out;
}

/// The seconds that each of `count` calls of `work` takes on the device.
template <class Work>
std::vector<double> seconds_of(int count, const Work& work) {
  const cudaStream_t stream = Kokkos::Cuda().cuda_stream();
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  work();
  check(cudaStreamSynchronize(stream), "warming up");
  std::vector<double> out;
  for (int call = 0; call < count; ++call) {
    check(cudaEventRecord(begin, stream), "cudaEventRecord");
    work();
    check(cudaEventRecord(end, stream), "cudaEventRecord");
    check(cudaEventSynchronize(end), "cudaEventSynchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
    out.push_back(static_cast<double>(milliseconds) * 1e-3);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return out;
}

/// One iteration is `batch` calls of `work` between two events; its time is that of one call.
template <class Work>
void measure(benchmark::State& state, int batch, const Work& work) {
  const std::vector<double> seconds = seconds_of(static_cast<int>(state.max_iterations), [&] {
    for (int call = 0; call < batch; ++call) work();
  });
  auto next = seconds.begin();
  for (auto _ : state) state.SetIterationTime(*next++ / batch);
}

/// The largest |a - b|, and the largest |b|; infinite where one of them is not a number.
template <class Value, class OtherValue>
struct LargestDifference {
  const Value* a;
  const OtherValue* b;

  KOKKOS_FUNCTION void operator()(std::int64_t at, double& most, double& largest) const {
    const double x = static_cast<double>(a[at]), y = static_cast<double>(b[at]);
    const double apart = x > y ? x - y : y - x, size = y < 0 ? -y : y;
    if (!(apart <= most)) most = apart == apart ? apart : 1e300;
    if (size > largest) largest = size;
  }
};

/// The largest difference of two arrays on the device, over the largest entry of the second.
template <class Value, class OtherValue>
double difference(const Array<Value, gpu::Memory>& a, const Array<OtherValue, gpu::Memory>& b) {
  if (a.extent(0) != b.extent(0)) return 1e300;
  double most = 0, largest = 0;
  const auto size = static_cast<std::int64_t>(a.extent(0));
  Kokkos::parallel_reduce("difference",
                          Kokkos::RangePolicy<Kokkos::Cuda, Kokkos::IndexType<std::int64_t>>(0, size),
                          LargestDifference<Value, OtherValue>{a.data(), b.data()}, Kokkos::Max<double>(most),
                          Kokkos::Max<double>(largest));
  return std::max(most, 0.0) / std::max(largest, 1e-300);
}

/// Counts a difference from a peer's result, and makes the measurement an error if it is larger than rounding
/// explains.
inline void report_difference(benchmark::State& state, double difference, double most) {
  state.counters["difference"] = difference;
  if (!(difference <= most)) state.SkipWithError("the result differs from the peer's by more than rounding");
}

inline auto add(const std::string& name, const std::function<void(benchmark::State&)>& run, int iterations) {
  return benchmark::RegisterBenchmark(name.c_str(), run)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond)
      ->Iterations(iterations);
}

/// A matrix row by row, in ascending order of columns.
class CsrMaker {
 public:
  CsrMaker(std::int64_t rows, std::int64_t columns) : extents_{rows, columns}, positions_{0} {}
  void put(std::int64_t column) { coordinates_.push_back(static_cast<std::int32_t>(column)); }
  void end_row() { positions_.push_back(static_cast<std::int32_t>(coordinates_.size())); }

  template <class Value>
  DeviceCsr<Value> make() const {
    std::mt19937 draw(3);
    std::vector<Value> values(coordinates_.size());
    for (auto& value : values) value = static_cast<Value>(0.5 + static_cast<double>(draw()) / 4294967296.0);
    auto& self = const_cast<CsrMaker&>(*this);
    return wrap<Csr, Host>(trusted, extents_, static_cast<std::int64_t>(values.size()),
                           self.positions_.data(), self.coordinates_.data(), values.data())
        .template copy_to<Cuda>();
  }

 private:
  Extents<2> extents_;
  std::vector<std::int32_t> positions_;
  std::vector<std::int32_t> coordinates_;
};

/// The Laplacian of a grid of n^3 points: 27 points with `corners`, else 7.
inline CsrMaker laplacian(std::int64_t n, bool corners) { return laplacian_as<CsrMaker>(n, corners); }

/// Rows of distinct, sorted columns from a generator of (row, column).
template <class Draw>
CsrMaker from_pairs(std::int64_t rows, std::int64_t columns, std::int64_t count, const Draw& draw) {
  std::vector<std::vector<std::int32_t>> lists(static_cast<std::size_t>(rows));
  for (std::int64_t at = 0; at < count; ++at) {
    const auto [row, column] = draw();
    lists[static_cast<std::size_t>(row)].push_back(static_cast<std::int32_t>(column));
  }
  CsrMaker out(rows, columns);
  for (auto& list : lists) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    for (const auto column : list) out.put(column);
    out.end_row();
  }
  return out;
}

inline CsrMaker rmat(int scale, std::int64_t count) {
  std::mt19937_64 random(11);
  const std::int64_t n = std::int64_t{1} << scale;
  return from_pairs(n, n, count, [&] {
    std::int64_t row = 0;
    std::int64_t column = 0;
    for (int bit = 0; bit < scale; ++bit) {
      const double x = static_cast<double>(random() >> 11) * 0x1p-53;  // a = 0.57, b = c = 0.19, d = 0.05
      row = 2 * row + (x >= 0.76 ? 1 : 0);
      column = 2 * column + (x >= 0.57 && x < 0.76 ? 1 : x >= 0.95 ? 1 : 0);
    }
    return std::pair(row, column);
  });
}

inline CsrMaker uniform(std::int64_t rows, std::int64_t columns, std::int64_t count) {
  std::mt19937_64 random(12);
  return from_pairs(rows, columns, count, [&] {
    return std::pair(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(rows)),
                     static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(columns)));
  });
}

/// Four rows hold a quarter of all nonzeros.
inline CsrMaker few_long_rows(std::int64_t rows, std::int64_t count) {
  std::mt19937_64 random(13);
  return from_pairs(rows, rows, count, [&] {
    const std::uint64_t x = random();
    const auto row = x % 4 == 0 ? static_cast<std::int64_t>(x / 4 % 4) * (rows / 4) + rows / 8
                                : static_cast<std::int64_t>(x / 4 % static_cast<std::uint64_t>(rows));
    return std::pair(row, static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(rows)));
  });
}

void add_spmv();
void add_spmm();
void add_row_classes();
void add_sddmm();
void add_mttkrp();
void add_spgemm();
void add_sums();
void add_scans();
void add_scattered_results();
void add_n_of_m();
void add_two_four();
void add_layers();
void add_batches();
void add_nests();

}  // namespace sporos::perf

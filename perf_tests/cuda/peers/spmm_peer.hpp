// SPDX-License-Identifier: Apache-2.0
/// @file spmm_peer.hpp
/// What the benchmark of SpMM asks of products by other libraries, whose sources CMake is told of
/// (perf_tests/cuda/CMakeLists.txt). Plain CUDA: sources here are compiled with those libraries' headers.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace sporos::perf {

/// C = A B, A in CSR, all in the GPU's memory, B by rows.
template <class Value>
struct PeerProduct {
  int rows, inner, columns, nonzeros;
  const int* positions;    ///< [rows + 1]
  const int* coordinates;  ///< [nonzeros], ascending in each row
  const Value* values;     ///< [nonzeros]
  const Value* b;          ///< [inner, columns]
};

/// A product that is prepared: whatever the library asks for, done once.
class SpmmPeer {
 public:
  virtual ~SpmmPeer() = default;
  /// Computes C from nothing: where a library adds to C, C is set to zero before.
  virtual void run(cudaStream_t stream) const = 0;
  /// C, by rows. Waits for the GPU.
  virtual std::vector<double> result() const = 0;
  /// Of the library's own form of A; not of C.
  virtual std::size_t held_bytes() const = 0;
};

/// These throw std::runtime_error where the library does not take such a product.
std::unique_ptr<SpmmPeer> sputnik_spmm(const PeerProduct<__half>& in);
std::unique_ptr<SpmmPeer> sputnik_spmm(const PeerProduct<float>& in);
std::unique_ptr<SpmmPeer> rode_spmm(const PeerProduct<float>& in);
std::unique_ptr<SpmmPeer> rode_spmm(const PeerProduct<double>& in);
/// By windows of 8 rows, the sums formed in half.
/// @param is_balanced  whether windows are cut, and their sums added to a C of floats by atomics
std::unique_ptr<SpmmPeer> flash_sparse_spmm(const PeerProduct<__half>& in, bool is_balanced);
/// By windows of 16 rows, in tf32.
/// @param is_balanced  whether blocks have equally many tiles, and add their sums by atomics
std::unique_ptr<SpmmPeer> dtc_spmm(const PeerProduct<float>& in, bool is_balanced);

namespace peers {

inline void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

/// An array in the GPU's memory.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t size) : size_(size) { check(cudaMalloc(&data_, bytes() + 16)); }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    check(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice));
  }
  DeviceArray(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }
  T* get() const { return data_; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  void set_zero(cudaStream_t stream) const { check(cudaMemsetAsync(data_, 0, bytes(), stream)); }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

template <class T>
std::vector<T> to_host(const T* from, std::size_t count) {
  std::vector<T> out(count);
  check(cudaMemcpy(out.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost));
  return out;
}

/// What a type of the device is converted to first.
template <class T>
using wide_t = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// The first `count` elements of C.
template <class T>
std::vector<double> result_of(const DeviceArray<T>& c, std::size_t count) {
  check(cudaDeviceSynchronize());
  std::vector<double> out;
  out.reserve(count);
  for (const T value : to_host(c.get(), count))
    out.push_back(static_cast<double>(static_cast<wide_t<T>>(value)));
  return out;
}

/// A on the host.
template <class Value>
struct HostCsr {
  std::vector<int> positions, coordinates;
  std::vector<Value> values;
  explicit HostCsr(const PeerProduct<Value>& in)
      : positions(to_host(in.positions, static_cast<std::size_t>(in.rows) + 1)),
        coordinates(to_host(in.coordinates, static_cast<std::size_t>(in.nonzeros))),
        values(to_host(in.values, static_cast<std::size_t>(in.nonzeros))) {}
};

/// What `prepare` makes of A, which does not depend on the number of columns of B: it takes seconds of a
/// large matrix, so the last is kept.
template <class Value, class Prepare>
const auto& prepared_once(const PeerProduct<Value>& in, const Prepare& prepare) {
  static std::optional<std::invoke_result_t<Prepare, const HostCsr<Value>&>> kept;
  static std::tuple<const void*, const void*, const void*, int> made_of;
  const std::tuple<const void*, const void*, const void*, int> now{in.positions, in.coordinates, in.values,
                                                                   in.nonzeros};
  if (!kept || made_of != now) {
    kept.reset();
    kept.emplace(prepare(HostCsr<Value>(in)));
    made_of = now;
  }
  return *kept;
}

/// The nonzeros of several consecutive rows, and the columns that they have, ascending.
template <class Value>
struct RowWindow {
  struct Nonzero {
    int row;     ///< of the window
    int column;  ///< its place among the window's columns
    Value value;
  };
  std::vector<int> columns;
  std::vector<Nonzero> nonzeros;

  /// The rows [first, first + height), of those that there are.
  RowWindow(const HostCsr<Value>& a, int first, int height) {
    const int rows = static_cast<int>(a.positions.size()) - 1;
    const int begin = a.positions[first], end = a.positions[std::min(first + height, rows)];
    columns.assign(a.coordinates.begin() + begin, a.coordinates.begin() + end);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    for (int row = first; row < std::min(first + height, rows); ++row)
      for (int q = a.positions[row]; q < a.positions[row + 1]; ++q)
        nonzeros.push_back(
            {row - first,
             static_cast<int>(std::lower_bound(columns.begin(), columns.end(), a.coordinates[q]) -
                              columns.begin()),
             a.values[q]});
  }
};

}  // namespace peers

}  // namespace sporos::perf

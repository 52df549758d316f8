// SPDX-License-Identifier: Apache-2.0
/// @file cublas.hpp
/// Products of dense matrices by cuBLAS.
#pragma once

#include <cublas_v2.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "../../../core/error.hpp"
#include "../../../core/value.hpp"
#include "../../cuda/launch.hpp"

namespace sporos::gpu {

/// Throws StateError or MemoryError with cuBLAS's own message if a call failed.
inline void expect_success(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const auto why = text("cuBLAS: ", what, ": ", cublasGetStatusString(status));
  if (status == CUBLAS_STATUS_ALLOC_FAILED) throw MemoryError(why);
  throw StateError(why);
}

/// A cuBLAS handle with its own workspace, kept in the scratch memory of a stream: making one takes
/// milliseconds, and since its memory is already allocated, products can be captured in a graph.
class Cublas {
 public:
  /// The size that NVIDIA recommends for Hopper.
  static constexpr std::int64_t workspace_bytes = std::int64_t{32} << 20;

  Cublas() = default;
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;
  ~Cublas() {
    if (handle_ != nullptr) cublasDestroy(handle_);
  }

  /// The handle, for work on the stream of `space`.
  cublasHandle_t on(const Kokkos::Cuda& space) {
    if (workspace_.extent(0) == 0)
      workspace_ = make_array<char, Memory>("sporos::workspace of cuBLAS", workspace_bytes);
    if (handle_ == nullptr) expect_success(cublasCreate(&handle_), "create");
    // Where cuBLAS cuts sums of 16-bit floats into parts, the parts are added in float as well.
    expect_success(cublasSetMathMode(
                       handle_, static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH |
                                                          CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)),
                   "set how sums are formed");
    // Setting the stream takes the workspace away, so it comes first.
    expect_success(cublasSetStream(handle_, space.cuda_stream()), "set the stream");
    expect_success(cublasSetWorkspace(handle_, workspace_.data(), workspace_bytes), "set the workspace");
    return handle_;
  }

 private:
  cublasHandle_t handle_ = nullptr;
  Array<char, Memory> workspace_;
};

/// cuBLAS's name for a type of values; `is` is false for types that it does not multiply.
template <class T>
struct CublasType {
  static constexpr bool is = false;
};
template <cudaDataType_t Data, cublasComputeType_t Compute>
struct CublasTypeOf {
  static constexpr bool is = true;
  static constexpr cudaDataType_t data = Data;
  static constexpr cublasComputeType_t compute = Compute;  ///< how sums are formed
};
template <>
struct CublasType<half> : CublasTypeOf<CUDA_R_16F, CUBLAS_COMPUTE_32F> {};
template <>
struct CublasType<bfloat16> : CublasTypeOf<CUDA_R_16BF, CUBLAS_COMPUTE_32F> {};
template <>
struct CublasType<float> : CublasTypeOf<CUDA_R_32F, CUBLAS_COMPUTE_32F> {};
template <>
struct CublasType<double> : CublasTypeOf<CUDA_R_64F, CUBLAS_COMPUTE_64F> {};
template <>
struct CublasType<Kokkos::complex<float>> : CublasTypeOf<CUDA_C_32F, CUBLAS_COMPUTE_32F> {};
template <>
struct CublasType<Kokkos::complex<double>> : CublasTypeOf<CUDA_C_64F, CUBLAS_COMPUTE_64F> {};

/// A factor of a batch of products, in cuBLAS's terms: matrices stored by columns.
template <class T>
struct CublasFactor {
  const T* values;
  cublasOperation_t operation;  ///< whether the factor is transposed
  std::int64_t stride;          ///< from one column to the next
  std::int64_t of_matrix;       ///< from one matrix of the batch to the next; 0 if all use the same
};

/// The sizes of a batch of products.
struct CublasShape {
  std::int64_t m, n, k;  ///< C [m, n] = A [m, k] B [k, n], stored by columns
  std::int64_t batch;
};

/// C = A B, or C += A B if `accumulates`, for every matrix of a batch; C [m, n] has no gaps.
/// @tparam Compute  how sums are formed
template <cublasComputeType_t Compute, class T, class Out>
void multiply(Cublas& cublas, const Kokkos::Cuda& space, const CublasShape& shape, const CublasFactor<T>& a,
              const CublasFactor<T>& b, bool accumulates, Out* c) {
  using Scalar = accumulate_t<T>;
  const Scalar one(1), before(accumulates ? 1 : 0);
  expect_success(cublasGemmStridedBatchedEx_64(cublas.on(space), a.operation, b.operation, shape.m, shape.n,
                                               shape.k, &one, a.values, CublasType<T>::data, a.stride,
                                               a.of_matrix, b.values, CublasType<T>::data, b.stride,
                                               b.of_matrix, &before, c, CublasType<Out>::data, shape.m,
                                               shape.m * shape.n, shape.batch, Compute, CUBLAS_GEMM_DEFAULT),
                 "multiply");
}

}  // namespace sporos::gpu

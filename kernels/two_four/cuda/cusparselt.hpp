// SPDX-License-Identifier: Apache-2.0
/// @file cusparselt.hpp
/// Products of a 2:4 sparse and a dense matrix by cuSPARSELt.
#pragma once

#include <cusparseLt.h>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "../../../core/error.hpp"
#include "../../../core/value.hpp"
#include "../../cuda/once_per_device.hpp"
#include "../linear_epilogue.hpp"

namespace sporos::gpu {

/// Throws StateError or MemoryError with the name of the function of cuSPARSELt and its own message if a call
/// failed.
inline void expect_success(cusparseStatus_t status, const char* function) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  const auto why = text("cuSPARSELt: ", function, ": ", cusparseLtGetErrorString(status));
  if (status == CUSPARSE_STATUS_ALLOC_FAILED || status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES)
    throw MemoryError(why);
  throw StateError(why);
}

/// A handle of cuSPARSELt for the current GPU.
class CusparseltHandle {
 public:
  CusparseltHandle() : status_(cusparseLtInit(&handle_)) {}
  CusparseltHandle(const CusparseltHandle&) = delete;
  CusparseltHandle& operator=(const CusparseltHandle&) = delete;
  ~CusparseltHandle() {
    if (is_there()) cusparseLtDestroy(&handle_);
  }

  /// Whether cuSPARSELt has kernels for the GPU.
  bool is_there() const { return status_ == CUSPARSE_STATUS_SUCCESS; }
  /// @throws StateError if it has none
  const cusparseLtHandle_t* get() const {
    expect_success(status_, "cusparseLtInit");
    return &handle_;
  }

 private:
  cusparseLtHandle_t handle_{};
  cusparseStatus_t status_;
};

/// The handle for the GPU of `space`, made once and kept until the process ends.
inline const CusparseltHandle& cusparselt_of(const Kokkos::Cuda& space) {
  return once_per_device(space, [] { return CusparseltHandle(); });
}

/// A product C = A B of a 2:4 sparse A [m, k] and a dense B [k, n].
struct CusparseltShape {
  std::int64_t m, n, k;
  bool b_is_by_rows, c_is_by_rows;  ///< or by columns

  /// cuSPARSELt takes 16-bit values with these multiples only, and arrays aligned to as many bytes.
  static constexpr std::int64_t multiple_of_m_and_k = 16, multiple_of_n = 8, alignment = 16;

  constexpr bool has_multiples() const {
    return m > 0 && n > 0 && k > 0 && m % multiple_of_m_and_k == 0 && k % multiple_of_m_and_k == 0 &&
           n % multiple_of_n == 0;
  }
};

namespace detail {

/// An object of cuSPARSELt that stays where it was made.
/// @tparam Destroy  the function of cuSPARSELt that destroys it; nullptr if there is none
template <class Object, auto Destroy>
class CusparseltObject {
 public:
  /// @param init  makes the object at the address that it is given, or throws
  template <class Init>
  explicit CusparseltObject(const Init& init) {
    init(&object_);
  }
  CusparseltObject(const CusparseltObject&) = delete;
  CusparseltObject& operator=(const CusparseltObject&) = delete;
  ~CusparseltObject() {
    if constexpr (!std::is_null_pointer_v<decltype(Destroy)>) Destroy(&object_);
  }

  Object* get() { return &object_; }
  const Object* get() const { return &object_; }

 private:
  Object object_{};
};

using CusparseltMatrix = CusparseltObject<cusparseLtMatDescriptor_t, &cusparseLtMatDescriptorDestroy>;

}  // namespace detail

/// A product as it is described to cuSPARSELt, with its default algorithm. Everything is made in host memory;
/// what the GPU needs, the caller allocates.
/// @tparam T  half or bfloat16, of A, B, C and the bias; sums are formed in float
template <class T>
class CusparseltProduct {
  static_assert(is_narrow_float_v<T>);

 public:
  /// @param space  on whose GPU it is computed, which is the current one
  /// @throws StateError  if cuSPARSELt does not take the product
  CusparseltProduct(const Kokkos::Cuda& space, const CusparseltShape& shape,
                    const LinearEpilogue<T>& epilogue = {})
      : handle_(cusparselt_of(space).get()),
        epilogue_(epilogue),
        a_([&](cusparseLtMatDescriptor_t* a) {
          expect_success(
              cusparseLtStructuredDescriptorInit(handle_, a, shape.m, shape.k, shape.k, alignment, type,
                                                 CUSPARSE_ORDER_ROW, CUSPARSELT_SPARSITY_50_PERCENT),
              "cusparseLtStructuredDescriptorInit");
        }),
        b_([&](cusparseLtMatDescriptor_t* b) {
          const std::int64_t rows = shape.b_is_by_rows ? shape.k : shape.n,
                             columns = shape.b_is_by_rows ? shape.n : shape.k;
          expect_success(cusparseLtDenseDescriptorInit(handle_, b, rows, columns, columns, alignment, type,
                                                       CUSPARSE_ORDER_ROW),
                         "cusparseLtDenseDescriptorInit of B");
        }),
        c_([&](cusparseLtMatDescriptor_t* c) {
          const auto order = shape.c_is_by_rows ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
          expect_success(
              cusparseLtDenseDescriptorInit(handle_, c, shape.m, shape.n,
                                            shape.c_is_by_rows ? shape.n : shape.m, alignment, type, order),
              "cusparseLtDenseDescriptorInit of C");
        }),
        product_([&](cusparseLtMatmulDescriptor_t* product) { describe(product, shape.b_is_by_rows); }),
        algorithm_([&](cusparseLtMatmulAlgSelection_t* algorithm) {
          expect_success(cusparseLtMatmulAlgSelectionInit(handle_, algorithm, product_.get(),
                                                          CUSPARSELT_MATMUL_ALG_DEFAULT),
                         "cusparseLtMatmulAlgSelectionInit");
        }),
        plan_([&](cusparseLtMatmulPlan_t* plan) {
          expect_success(cusparseLtMatmulPlanInit(handle_, plan, product_.get(), algorithm_.get()),
                         "cusparseLtMatmulPlanInit");
        }) {
    std::size_t compressed = 0, buffer = 0, workspace = 0;
    expect_success(cusparseLtSpMMACompressedSize(handle_, plan_.get(), &compressed, &buffer),
                   "cusparseLtSpMMACompressedSize");
    expect_success(cusparseLtMatmulGetWorkspace(handle_, plan_.get(), &workspace),
                   "cusparseLtMatmulGetWorkspace");
    compressed_bytes_ = static_cast<std::int64_t>(compressed) + bytes_behind;
    buffer_bytes_ = static_cast<std::int64_t>(buffer);
    workspace_bytes_ = static_cast<std::int64_t>(workspace);
  }
  CusparseltProduct(const CusparseltProduct&) = delete;
  CusparseltProduct& operator=(const CusparseltProduct&) = delete;

  /// Of A, compressed, and behind it what kernels may read.
  std::int64_t compressed_bytes() const { return compressed_bytes_; }
  std::int64_t buffer_bytes() const { return buffer_bytes_; }        ///< that compressing works in
  std::int64_t workspace_bytes() const { return workspace_bytes_; }  ///< that multiplying works in
  const LinearEpilogue<T>& epilogue() const { return epilogue_; }

  /// Compresses A, in the order of the stream of `space`.
  /// @param dense       A [m, k] by rows, with zeros; two of every four elements of a row may be nonzero
  /// @param buffer      buffer_bytes()
  /// @param compressed  compressed_bytes()
  void compress(const Kokkos::Cuda& space, const T* dense, void* buffer, void* compressed) const {
    expect_success(
        cusparseLtSpMMACompress(handle_, plan_.get(), dense, compressed, buffer, space.cuda_stream()),
        "cusparseLtSpMMACompress");
  }

  /// C = f(A B), or C = f(A B + C) if it accumulates, in the order of the stream of `space`.
  /// @param workspace  workspace_bytes()
  void run(const Kokkos::Cuda& space, const void* compressed, const T* b, bool accumulates, T* c,
           void* workspace) const {
    const float before = accumulates ? 1 : 0;
    cudaStream_t stream = space.cuda_stream();
    expect_success(cusparseLtMatmul(handle_, plan_.get(), &epilogue_.scale, compressed, b, &before, c, c,
                                    workspace, &stream, 1),
                   "cusparseLtMatmul");
  }

  /// For calls that have no function here.
  const cusparseLtHandle_t* handle() const { return handle_; }
  cusparseLtMatmulPlan_t* plan() { return plan_.get(); }

 private:
  static constexpr cudaDataType type = std::is_same_v<T, half> ? CUDA_R_16F : CUDA_R_16BF;
  static constexpr unsigned alignment = CusparseltShape::alignment;

  void describe(cusparseLtMatmulDescriptor_t* out, bool b_is_by_rows) const {
    expect_success(cusparseLtMatmulDescriptorInit(
                       handle_, out, CUSPARSE_OPERATION_NON_TRANSPOSE,
                       b_is_by_rows ? CUSPARSE_OPERATION_NON_TRANSPOSE : CUSPARSE_OPERATION_TRANSPOSE,
                       a_.get(), b_.get(), c_.get(), c_.get(), CUSPARSE_COMPUTE_32F),
                   "cusparseLtMatmulDescriptorInit");
    const auto set = [&](cusparseLtMatmulDescAttribute_t attribute, const auto& value, const char* name) {
      expect_success(cusparseLtMatmulDescSetAttribute(handle_, out, attribute, &value, sizeof(value)), name);
    };
    if (epilogue_.rectifies) {
      constexpr int yes = 1;
      constexpr float least = 0, most = std::numeric_limits<float>::infinity();
      set(CUSPARSELT_MATMUL_ACTIVATION_RELU, yes, "CUSPARSELT_MATMUL_ACTIVATION_RELU");
      set(CUSPARSELT_MATMUL_ACTIVATION_RELU_THRESHOLD, least, "CUSPARSELT_MATMUL_ACTIVATION_RELU_THRESHOLD");
      set(CUSPARSELT_MATMUL_ACTIVATION_RELU_UPPERBOUND, most, "CUSPARSELT_MATMUL_ACTIVATION_RELU_UPPERBOUND");
    }
    if (epilogue_.bias != nullptr)
      set(CUSPARSELT_MATMUL_BIAS_POINTER, epilogue_.bias, "CUSPARSELT_MATMUL_BIAS_POINTER");
  }

  const cusparseLtHandle_t* handle_;
  LinearEpilogue<T> epilogue_;
  detail::CusparseltMatrix a_, b_, c_;
  detail::CusparseltObject<cusparseLtMatmulDescriptor_t, nullptr> product_;
  detail::CusparseltObject<cusparseLtMatmulAlgSelection_t, &cusparseLtMatmulAlgSelectionDestroy> algorithm_;
  detail::CusparseltObject<cusparseLtMatmulPlan_t, &cusparseLtMatmulPlanDestroy> plan_;
  /// Kernels of cuSPARSELt 0.8 read the last metadata in pieces of up to 1 KiB, of which some begin less than
  /// that before the end of the size that it asks for.
  static constexpr std::int64_t bytes_behind = 4096;

  std::int64_t compressed_bytes_ = 0, buffer_bytes_ = 0, workspace_bytes_ = 0;
};

}  // namespace sporos::gpu

// SPDX-License-Identifier: Apache-2.0
/// @file cusparselt_product.hpp
/// The product of a dense matrix and the transpose of a 2:4 sparse one by cuSPARSELt.
#pragma once

#include <cusparseLt.h>

#include "cublas.hpp"

namespace sporos::perf {

/// y = x w^T in halfs, x [m, k], w [n, k], y [m, n], all row-major: y^T = w x^T, with columns as rows.
class CusparseltProduct {
 public:
  /// Compresses w and, if asked, searches for the fastest algorithm.
  CusparseltProduct(const Matrix<half>& x, const Matrix<half>& w, const Matrix<half>& y, bool searches)
      : x_(x), y_(y) {
    const std::int64_t m = y.extent(0), n = y.extent(1), k = x.extent(1);
    constexpr unsigned alignment = 16;
    check(cusparseLtInit(&handle_), "cusparseLtInit");
    check(cusparseLtStructuredDescriptorInit(&handle_, &of_w_, n, k, k, alignment, CUDA_R_16F,
                                             CUSPARSE_ORDER_ROW, CUSPARSELT_SPARSITY_50_PERCENT),
          "w");
    check(cusparseLtDenseDescriptorInit(&handle_, &of_x_, k, m, k, alignment, CUDA_R_16F, CUSPARSE_ORDER_COL),
          "x");
    check(cusparseLtDenseDescriptorInit(&handle_, &of_y_, n, m, n, alignment, CUDA_R_16F, CUSPARSE_ORDER_COL),
          "y");
    check(cusparseLtMatmulDescriptorInit(&handle_, &matmul_, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                         CUSPARSE_OPERATION_NON_TRANSPOSE, &of_w_, &of_x_, &of_y_, &of_y_,
                                         CUSPARSE_COMPUTE_32F),
          "cusparseLtMatmulDescriptorInit");
    check(cusparseLtMatmulAlgSelectionInit(&handle_, &algorithm_, &matmul_, CUSPARSELT_MATMUL_ALG_DEFAULT),
          "cusparseLtMatmulAlgSelectionInit");
    check(cusparseLtMatmulPlanInit(&handle_, &plan_, &matmul_, &algorithm_), "cusparseLtMatmulPlanInit");
    std::size_t compressed = 0, buffer = 0;
    check(cusparseLtSpMMACompressedSize(&handle_, &plan_, &compressed, &buffer),
          "cusparseLtSpMMACompressedSize");
    compressed_ = Array<char, gpu::Memory>("compressed", compressed);
    const Array<char, gpu::Memory> work("work", buffer + 1);
    check(cusparseLtSpMMACompress(&handle_, &plan_, w.values().data(), compressed_.data(), work.data(),
                                  stream()),
          "cusparseLtSpMMACompress");
    workspace_ = Array<char, gpu::Memory>("workspace", std::size_t{64} << 20);
    cudaStream_t streams[1] = {stream()};
    if (searches)
      check(cusparseLtMatmulSearch(&handle_, &plan_, &one_, compressed_.data(), x_.values().data(), &zero_,
                                   y_.values().data(), y_.values().data(), workspace_.data(), streams, 1),
            "cusparseLtMatmulSearch");
  }
  CusparseltProduct(const CusparseltProduct&) = delete;
  CusparseltProduct& operator=(const CusparseltProduct&) = delete;
  ~CusparseltProduct() {
    cusparseLtMatmulPlanDestroy(&plan_);
    cusparseLtMatDescriptorDestroy(&of_w_);
    cusparseLtMatDescriptorDestroy(&of_x_);
    cusparseLtMatDescriptorDestroy(&of_y_);
    cusparseLtDestroy(&handle_);
  }

  void run() {
    cudaStream_t streams[1] = {stream()};
    check(cusparseLtMatmul(&handle_, &plan_, &one_, compressed_.data(), x_.values().data(), &zero_,
                           y_.values().data(), y_.values().data(), workspace_.data(), streams, 1),
          "cusparseLtMatmul");
  }

 private:
  static cudaStream_t stream() { return Kokkos::Cuda().cuda_stream(); }

  const float one_ = 1, zero_ = 0;
  Matrix<half> x_, y_;
  cusparseLtHandle_t handle_{};
  cusparseLtMatDescriptor_t of_w_{}, of_x_{}, of_y_{};
  cusparseLtMatmulDescriptor_t matmul_{};
  cusparseLtMatmulAlgSelection_t algorithm_{};
  cusparseLtMatmulPlan_t plan_{};
  Array<char, gpu::Memory> compressed_, workspace_;
};

}  // namespace sporos::perf

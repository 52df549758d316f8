// SPDX-License-Identifier: Apache-2.0
/// @file cusparse_product.hpp
/// The product of two CSR matrices by cuSPARSE.
#pragma once

#include "harness.hpp"

namespace sporos::perf {

/// One product by cuSPARSE in buffers that are fetched as they are asked for, and may be kept.
template <class Value>
class CusparseProduct {
 public:
  CusparseProduct(const DeviceCsr<Value>& a, const DeviceCsr<Value>& b, cusparseSpGEMMAlg_t algorithm)
      : a_(a), b_(b), algorithm_(algorithm) {}

  void release() {
    for (auto& buffer : buffers_) buffer = {};
    release_result();
  }
  /// Frees the result alone.
  void release_result() {
    coordinates_ = {};
    values_ = {};
    positions_ = {};
  }
  double workspace_bytes() const {
    double sum = 0;
    for (const auto& buffer : buffers_) sum += static_cast<double>(buffer.extent(0));
    return sum;
  }
  const Array<Value, gpu::Memory>& values() const { return values_; }

  void operator()() {
    const auto rows = a_.extent(0);
    fit(positions_, rows + 1);
    const auto left = describe(a_);
    const auto right = describe(b_);
    cusparseSpMatDescr_t product = nullptr;
    check(
        cusparseCreateCsr(&product, rows, b_.extent(1), 0, positions_.data(), nullptr, nullptr,
                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, cuda_type<Value>),
        "cusparseCreateCsr");
    cusparseSpGEMMDescr_t plan = nullptr;
    check(cusparseSpGEMM_createDescr(&plan), "cusparseSpGEMM_createDescr");
    const Value one{1};
    const Value zero{0};
    std::size_t size = 0;
    const auto estimate = [&](void* buffer) {
      check(cusparseSpGEMM_workEstimation(cusparse(), operation, operation, &one, left, right, &zero, product,
                                          cuda_type<Value>, algorithm_, plan, &size, buffer),
            "cusparseSpGEMM_workEstimation");
    };
    estimate(nullptr);
    fit(buffers_[0], size);
    estimate(buffers_[0].data());
    if (algorithm_ != CUSPARSE_SPGEMM_ALG1) {
      std::size_t size3 = 0;
      check(cusparseSpGEMM_estimateMemory(cusparse(), operation, operation, &one, left, right, &zero, product,
                                          cuda_type<Value>, algorithm_, plan, 0.2F, &size3, nullptr, nullptr),
            "cusparseSpGEMM_estimateMemory");
      fit(buffers_[2], size3);
      check(cusparseSpGEMM_estimateMemory(cusparse(), operation, operation, &one, left, right, &zero, product,
                                          cuda_type<Value>, algorithm_, plan, 0.2F, &size3,
                                          buffers_[2].data(), &size),
            "cusparseSpGEMM_estimateMemory");
    } else {
      check(cusparseSpGEMM_compute(cusparse(), operation, operation, &one, left, right, &zero, product,
                                   cuda_type<Value>, algorithm_, plan, &size, nullptr),
            "cusparseSpGEMM_compute");
    }
    fit(buffers_[1], size);
    check(cusparseSpGEMM_compute(cusparse(), operation, operation, &one, left, right, &zero, product,
                                 cuda_type<Value>, algorithm_, plan, &size, buffers_[1].data()),
          "cusparseSpGEMM_compute");
    std::int64_t found_rows = 0;
    std::int64_t found_columns = 0;
    std::int64_t nonzeros = 0;
    check(cusparseSpMatGetSize(product, &found_rows, &found_columns, &nonzeros), "cusparseSpMatGetSize");
    fit(coordinates_, nonzeros);
    fit(values_, nonzeros);
    check(cusparseCsrSetPointers(product, positions_.data(), coordinates_.data(), values_.data()),
          "cusparseCsrSetPointers");
    check(cusparseSpGEMM_copy(cusparse(), operation, operation, &one, left, right, &zero, product,
                              cuda_type<Value>, algorithm_, plan),
          "cusparseSpGEMM_copy");
    cusparseSpGEMM_destroyDescr(plan);
    cusparseDestroySpMat(left);
    cusparseDestroySpMat(right);
    cusparseDestroySpMat(product);
  }

 private:
  template <class T, class Size>
  static void fit(Array<T, gpu::Memory>& array, Size count) {
    if (array.extent(0) == static_cast<std::size_t>(count)) return;
    array = {};
    array = make_array<T, gpu::Memory>("buffer", static_cast<std::int64_t>(count));
  }

  static constexpr auto operation = CUSPARSE_OPERATION_NON_TRANSPOSE;

  DeviceCsr<Value> a_, b_;
  cusparseSpGEMMAlg_t algorithm_;
  Array<char, gpu::Memory> buffers_[3];
  Array<std::int32_t, gpu::Memory> positions_;
  Array<std::int32_t, gpu::Memory> coordinates_;
  Array<Value, gpu::Memory> values_;
};

}  // namespace sporos::perf

// SPDX-License-Identifier: Apache-2.0
/// @file cusparse_spmm.hpp
/// Products of a sparse and a dense matrix by cuSPARSE.
#pragma once

#include <cstddef>
#include <type_traits>

#include "cublas.hpp"
#include "patterns.hpp"

namespace sporos::perf {

/// A matrix stored by rows, or its transpose, stored by columns.
template <class Value>
cusparseDnMatDescr_t describe(const Matrix<Value>& a, bool is_transposed) {
  cusparseDnMatDescr_t out = nullptr;
  check(cusparseCreateDnMat(&out, a.extent(is_transposed ? 1 : 0), a.extent(is_transposed ? 0 : 1),
                            a.extent(1), a.values().data(), cuda_type<Value>,
                            is_transposed ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW),
        "cusparseCreateDnMat");
  return out;
}

/// C = A B, the layer C = B A', or C = A' B, all dense matrices by rows.
enum class Form { product, layer, transposed };

/// Such a product, prepared.
template <class Value>
class CusparseSpmm {
  using Sum = std::conditional_t<std::is_same_v<Value, double>, double, float>;

 public:
  CusparseSpmm(const DeviceCsr<Value>& a, const Matrix<Value>& b, const Matrix<Value>& c,
               cusparseSpMMAlg_t algorithm, Form form = Form::product)
      : operation_(form == Form::transposed ? CUSPARSE_OPERATION_TRANSPOSE : none),
        algorithm_(algorithm),
        a_(describe(a)),
        b_(describe(b, form == Form::layer)),
        c_(describe(c, form == Form::layer)) {
    std::size_t size = 0;
    check(cusparseSpMM_bufferSize(cusparse(), operation_, none, &one_, a_, b_, &zero_, c_, cuda_type<Sum>,
                                  algorithm_, &size),
          "cusparseSpMM_bufferSize");
    buffer_ = Array<char, gpu::Memory>("buffer", size + 256);
    check(cusparseSpMM_preprocess(cusparse(), operation_, none, &one_, a_, b_, &zero_, c_, cuda_type<Sum>,
                                  algorithm_, buffer_.data()),
          "cusparseSpMM_preprocess");
  }
  CusparseSpmm(const CusparseSpmm&) = delete;
  ~CusparseSpmm() {
    cusparseDestroySpMat(a_);
    cusparseDestroyDnMat(b_);
    cusparseDestroyDnMat(c_);
  }
  void operator()() const {
    check(cusparseSpMM(cusparse(), operation_, none, &one_, a_, b_, &zero_, c_, cuda_type<Sum>, algorithm_,
                       buffer_.data()),
          "cusparseSpMM");
  }

 private:
  static constexpr auto none = CUSPARSE_OPERATION_NON_TRANSPOSE;
  Sum one_ = 1, zero_ = 0;
  cusparseOperation_t operation_;
  cusparseSpMMAlg_t algorithm_;
  cusparseSpMatDescr_t a_;
  cusparseDnMatDescr_t b_, c_;
  Array<char, gpu::Memory> buffer_;
};

}  // namespace sporos::perf

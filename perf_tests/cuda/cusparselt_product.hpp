// SPDX-License-Identifier: Apache-2.0
/// @file cusparselt_product.hpp
/// The product of a dense matrix and the transpose of a 2:4 sparse one by the algorithm that cuSPARSELt's
/// search finds, which the library does not use.
#pragma once

#include <sporos/kernels/two_four/cuda/cusparselt.hpp>

#include "cublas.hpp"

namespace sporos::perf {

/// y = x w^T in halfs, x [m, k], w [n, k], y [m, n], all row-major.
class SearchedProduct {
 public:
  /// Compresses w and searches.
  SearchedProduct(const Matrix<half>& x, const Matrix<half>& w, const Matrix<half>& y)
      : x_(x),
        y_(y),
        product_(Kokkos::Cuda(), {y.extent(1), y.extent(0), x.extent(1), false, false}),
        compressed_("compressed", static_cast<std::size_t>(product_.compressed_bytes())),
        workspace_("workspace", std::size_t{64} << 20) {  // more than any algorithm works in
    const Array<char, gpu::Memory> buffer("buffer", static_cast<std::size_t>(product_.buffer_bytes() + 1));
    const Kokkos::Cuda space;
    product_.compress(space, w.values().data(), buffer.data(), compressed_.data());
    const float one = 1, zero = 0;
    cudaStream_t stream = space.cuda_stream();
    gpu::expect_success(cusparseLtMatmulSearch(product_.handle(), product_.plan(), &one, compressed_.data(),
                                               x_.values().data(), &zero, y_.values().data(),
                                               y_.values().data(), workspace_.data(), &stream, 1),
                        "cusparseLtMatmulSearch");
  }

  void run() const {
    product_.run(Kokkos::Cuda(), compressed_.data(), x_.values().data(), false, y_.values().data(),
                 workspace_.data());
  }

 private:
  Matrix<half> x_, y_;
  gpu::CusparseltProduct<half> product_;
  Array<char, gpu::Memory> compressed_, workspace_;
};

}  // namespace sporos::perf

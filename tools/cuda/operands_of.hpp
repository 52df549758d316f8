// SPDX-License-Identifier: Apache-2.0
/// @file operands_of.hpp
/// What the products of a sparse and a dense matrix have in common, whichever kernels compute them.
#pragma once

#include <sporos/formats/named.hpp>

#include "../device_product.hpp"
#include "values_of.hpp"

namespace sporos::tool {

/// The operands of C = A B in the type in which they are multiplied, and what is found out about the product.
template <class Value>
class DeviceOperands {
 public:
  DeviceOperands(const RealRows& A, const RealMatrix& B, const DeviceSettings& settings)
      : a_(with_values_of<Value>(A, "A", settings)),
        b_(with_values_of<Value>(B, "B", settings)),
        settings_(settings) {}

 protected:
  using Sum = accumulate_t<Value>;
  using Matrix = Tensor<Value, DenseMatrix<>>;

  Tensor<Value, CSR<>> a_;
  Matrix b_;
  const DeviceSettings& settings_;
  DeviceProduct<RealMatrix> out_;
};

}  // namespace sporos::tool

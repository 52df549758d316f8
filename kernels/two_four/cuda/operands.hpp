// SPDX-License-Identifier: Apache-2.0
/// @file operands.hpp
/// The operands of 2:4 products as kernels read them.
#pragma once

#include <cstdint>

namespace sporos::gpu {

/// The operands in the GPU's memory, in arrays aligned to 16 bytes.
template <class T>
struct TwoFourOperands {
  const T* values;               ///< [m, padded_k / 2]: the elements that each row keeps
  const std::uint8_t* metadata;  ///< [m, padded_k / 8]
  std::int64_t padded_k;         ///< a multiple of the columns that a kernel reads at a time
  const T* b;
  std::int64_t rows_of_b, columns_of_b, stride_of_b;  ///< as B is stored; the stride is a multiple of 8
};

}  // namespace sporos::gpu

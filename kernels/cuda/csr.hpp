// SPDX-License-Identifier: Apache-2.0
/// @file csr.hpp
/// A matrix in CSR as kernels see it.
#pragma once

#include <cstdint>

namespace sporos::gpu {

/// Row i has the nonzeros [positions[i], positions[i + 1]), their columns ascending.
template <class Value, class Position, class Coordinate>
struct CsrView {
  using value_type = Value;
  using position_type = Position;
  using coordinate_type = Coordinate;

  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t nonzeros = 0;
  Position* positions = nullptr;      ///< [rows + 1]
  Coordinate* coordinates = nullptr;  ///< [nonzeros]
  Value* values = nullptr;            ///< [nonzeros]
};

}  // namespace sporos::gpu

// SPDX-License-Identifier: Apache-2.0
/// @file dense_blocks.cpp
/// Sparse results of dense blocks: a row that nothing is added to takes no room.
#include <cstdint>
#include <span>

#include "../typed.hpp"
#include "reference.hpp"

namespace sporos::test {
namespace {

/// Rows that hold something, each dense.
using SparseRowsOfDense = Format<Map<Dim<0>, Dim<1>>, Compressed<>, Dense>;

template <class Space>
void check_blocks() {
  // Long rows, so that one row too many in the room of the others does not go unnoticed.
  const Sizes sizes("ij", 100000);
  Entries<double, 2> entries({40, sizes['j']}, {{{3, 7}, 2.0}, {{30, 99999}, 3.0}, {{31, 0}, 4.0}});
  const auto B = assemble<BCSR<2, 3>, Space>(entries);
  const Tensor<double, DenseMatrix<>, Space> C({40, sizes['j']});
  Kokkos::deep_copy(C.values(), 5.0);
  const Tensor<double, SparseRowsOfDense, Space> A({40, sizes['j']});
  A(i, j) = B(i, j) * C(i, j);
  for (double& value : std::span(entries.values.data(), 3)) value *= 5;
  EXPECT_TRUE(same(table(A), table(entries)));
  EXPECT_NO_THROW(validate(A));
}

TEST(ResultsOfDenseBlocks, StoreOnlyRowsThatHoldSomething) {
  check_blocks<Serial>();
  check_blocks<OpenMP>();
}

}  // namespace
}  // namespace sporos::test

// SPDX-License-Identifier: Apache-2.0
/// @file in_batches.hpp
/// The epilogue of batched products that a kernel computes as the rows of one product.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "epilogue.hpp"

namespace sporos {

/// The batch of a row of all batches, one after another.
SPOROS_MAY_CALL_HOST
SPOROS_INLINE std::int64_t batch_of_row(std::int64_t row, std::int64_t rows_of_batch) {
  // Dividing 32-bit numbers is much faster.
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  return row <= most && rows_of_batch <= most
             ? static_cast<std::int64_t>(static_cast<std::uint32_t>(row) /
                                         static_cast<std::uint32_t>(rows_of_batch))
             : row / rows_of_batch;
}

/// An epilogue of elements (b, i, j) as a function of the rows of all batches, one batch after another.
template <class E>
struct EpilogueInBatches {
  using compute = typename E::compute;
  static constexpr bool is_identity = false;

  E epilogue;
  std::int64_t rows_of_batch = 1;

  SPOROS_MAY_CALL_HOST
  SPOROS_INLINE compute operator()(compute sum, std::int64_t row, std::int64_t column) const {
    const std::int64_t batch = batch_of_row(row, rows_of_batch);
    return epilogue(sum, batch, row - batch * rows_of_batch, column);
  }
};

/// An epilogue of a matrix as a function of the coordinates of its transpose.
template <class E>
struct EpilogueOfTranspose {
  using compute = typename E::compute;
  static constexpr bool is_identity = E::is_identity;

  E epilogue;

  SPOROS_MAY_CALL_HOST
  SPOROS_INLINE compute operator()(compute sum, std::int64_t row, std::int64_t column) const {
    return epilogue(sum, column, row);
  }
};

/// The epilogue of a statement, as a function of a row and a column, whether the result is a matrix or
/// batches of them.
template <class S>
auto epilogue_by_rows(const S& statement) {
  const auto epilogue = epilogue_of(statement);
  using E = std::remove_const_t<decltype(epilogue)>;
  if constexpr (S::result_type::format::order == 3 && !E::is_identity)
    return EpilogueInBatches<E>{epilogue, statement.result().tensor().extent(1)};
  else
    return epilogue;
}

/// Whether a statement does more with the sums of its product than store them.
template <class S>
constexpr bool has_epilogue() {
  if constexpr (factors_of_sums<S>::size > 0)
    return !decltype(epilogue_of(std::declval<const S&>()))::is_identity;
  else
    return false;
}

}  // namespace sporos

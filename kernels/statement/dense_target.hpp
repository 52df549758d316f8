// SPDX-License-Identifier: Apache-2.0
/// @file dense_target.hpp
/// Where a kernel writes the values of a dense result that one of its operands may read.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "../../core/array.hpp"
#include "../../core/statement.hpp"
#include "../nest/nest_run.hpp"

namespace sporos::detail {

/// The values of a dense result, for a kernel that writes them while it reads its operands: the result's own
/// values, or, if an operand shares their memory, a temporary array that is copied into them at the end.
template <class S>
class DenseTarget {
  using Tensor = typename S::result_type::tensor_type;
  using Value = typename Tensor::value_type;
  using Memory = typename Tensor::memory_space;

 public:
  explicit DenseTarget(const S& statement)
      : statement_(statement), values_(statement.result().tensor().values()) {
    if (!reads_result(statement)) return;
    values_ = make_array<Value, Memory>("sporos::result", own().nnz());
    if (statement.accumulates()) Kokkos::deep_copy(statement.resources().space(), values_, own().values());
  }

  Value* data() const { return values_.data(); }

  /// Called after the kernel has been launched: copies the temporary array, if there is one, into the result.
  void finish() const {
    if (values_.data() == own().values().data()) return;
    const auto& space = statement_.resources().space();
    Kokkos::deep_copy(space, own().values(), values_);
    space.fence("sporos::copy result");
  }

  /// Bytes of the temporary array.
  static std::int64_t bytes(const S& statement) {
    return reads_result(statement)
               ? statement.result().tensor().nnz() * static_cast<std::int64_t>(sizeof(Value))
               : 0;
  }

 private:
  const Tensor& own() const { return statement_.result().tensor(); }

  const S& statement_;
  Array<Value, Memory> values_;
};

}  // namespace sporos::detail

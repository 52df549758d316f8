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
/// values, or, if they cannot hold sums or an operand shares their memory, a temporary array that is copied
/// into them at the end. What the statement adds to is in it from the start.
///
/// @tparam T  the type of the sums
template <class S, class T = typename S::result_type::value_type>
class DenseTarget {
  using Tensor = typename S::result_type::tensor_type;
  using Value = typename Tensor::value_type;
  using Space = typename S::space_type;
  using Memory = typename Tensor::memory_space;

 public:
  explicit DenseTarget(const S& statement) : statement_(statement) {
    if constexpr (std::is_same_v<T, Value>) values_ = own().values();
    if (is_own(statement)) return;
    values_ = make_array<T, Memory>("sporos::result", own().nnz());
    if (statement.accumulates()) copy("sporos::start", own().values(), values_);
  }

  const Array<T, Memory>& values() const { return values_; }
  T* data() const { return values_.data(); }

  /// Called after the kernel has been launched: copies the temporary array, if there is one, into the result.
  void finish() const {
    if (is_own(statement_)) return;
    copy("sporos::copy result", values_, own().values());
    space().fence("sporos::copy result");
  }

  /// Bytes of the temporary array.
  static std::int64_t bytes(const S& statement) {
    return is_own(statement) ? 0 : array_bytes<T>(statement.result().tensor().nnz());
  }

 private:
  static bool is_own(const S& statement) { return std::is_same_v<T, Value> && !reads_result(statement); }
  const Tensor& own() const { return statement_.result().tensor(); }
  const auto& space() const { return statement_.resources().space(); }

  template <class From, class To>
  void copy(const char* name, const Array<From, Memory>& from, const Array<To, Memory>& to) const {
    Kokkos::parallel_for(name, Kokkos::RangePolicy<Space>(space(), 0, own().nnz()),
                         CopyValues<From, To>{from.data(), to.data()});
  }

  const S& statement_;
  Array<T, Memory> values_;
};

}  // namespace sporos::detail

// SPDX-License-Identifier: Apache-2.0
/// @file dense_target.hpp
/// Where a kernel writes the values of a dense result that one of its operands may read.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "../../core/array.hpp"
#include "../../core/few_steps.hpp"
#include "../../core/statement.hpp"
#include "../nest/nest_run.hpp"

namespace sporos::detail {

/// Copies to[at] = from[at] for the values of two arrays of the same length.
template <class Space, class From, class To, class Memory>
void copy_values(const Space& space, const char* name, const Array<From, Memory>& from,
                 const Array<To, Memory>& to) {
  for_each_element(space, name, static_cast<std::int64_t>(to.extent(0)),
                   CopyValues<From, To>{from.data(), to.data()});
}

/// The values of a dense result, for a kernel that writes them while it reads its operands: the result's own
/// values, or, if they cannot hold sums or an operand shares their memory, a temporary array that is copied
/// into them at the end. If the statement accumulates, that array starts with the result's values.
///
/// @tparam T  the type of the sums
template <class Tensor, class T>
class ValuesOfResult {
  using Value = typename Tensor::value_type;
  using Space = typename Tensor::space_type;
  using Memory = typename Tensor::memory_space;

 public:
  ValuesOfResult(const Tensor& own, const Space& space, bool operand_reads_it, bool accumulates)
      : own_(own), space_(space), is_own_(std::is_same_v<T, Value> && !operand_reads_it) {
    if constexpr (std::is_same_v<T, Value>) values_ = own.values();
    if (is_own_) return;
    values_ = make_array<T, Memory>("sporos::result", own.nnz());
    if (accumulates) copy_values(space_, "sporos::start", own.values(), values_);
  }

  const Array<T, Memory>& values() const { return values_; }
  T* data() const { return values_.data(); }

  /// Called after the kernel has been launched: copies the temporary array, if there is one, into the result.
  void finish() const {
    if (is_own_) return;
    copy_values(space_, "sporos::copy result", values_, own_.values());
    space_.fence("sporos::copy result");
  }

 private:
  const Tensor& own_;
  const Space& space_;
  bool is_own_;
  Array<T, Memory> values_;
};

/// ValuesOfResult for the result of a statement.
template <class S, class T = typename S::result_type::value_type>
class DenseTarget : public ValuesOfResult<typename S::result_type::tensor_type, T> {
  using Tensor = typename S::result_type::tensor_type;

 public:
  explicit DenseTarget(const S& statement)
      : ValuesOfResult<Tensor, T>(statement.result().tensor(), statement.resources().space(),
                                  reads_result(statement), statement.accumulates()) {}

  /// Bytes of the temporary array.
  static std::int64_t bytes(const S& statement) {
    const bool is_own = std::is_same_v<T, typename Tensor::value_type> && !reads_result(statement);
    return is_own ? 0 : array_bytes<T>(statement.result().tensor().nnz());
  }
};

}  // namespace sporos::detail

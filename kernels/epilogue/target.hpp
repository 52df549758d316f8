// SPDX-License-Identifier: Apache-2.0
/// @file target.hpp
/// Where an epilogue that is applied in a pass of its own writes: into the result, or beside it where it
/// reads the result at other places.
#pragma once

#include <cstdint>
#include <type_traits>

#include "../../core/access_view.hpp"
#include "../results/dense_target.hpp"
#include "epilogue.hpp"

namespace sporos {

namespace detail {

/// Whether an epilogue reads an access, which may share memory with the result, just where it writes: each
/// element of the result from the same element.
template <class S, class A>
bool is_read_in_place(const S& statement, const A& access) {
  using Result = typename S::result_type;
  using Compute = compute_t<Result, typename S::right_type>;
  if constexpr (!std::is_same_v<typename A::value_type, typename Result::value_type>) {
    return false;
  } else {
    const auto read = element_of<Compute, Result>(access);
    const auto written = element_of<Compute, Result>(statement.result());
    for (int mode = 0; mode < Result::names.size; ++mode)
      if (read.strides[mode] != written.strides[mode]) return false;
    return read.values == written.values;
  }
}

/// Whether an epilogue reads values of the result at other places than those that it writes, as that of
/// C(i, j) = relu(A(i, k) * B(k, j) + C(j, i)) does; or an operand whose memory overlaps that of C.
template <class S>
bool epilogue_reads_elsewhere(const S& statement) {
  using Result = typename S::result_type;
  const auto written = MemoryRange::of(statement.result().tensor().values());
  bool found = false;
  for_each_access(statement.right(), [&]<class A>(const A& access) {
    if constexpr (!has_factor<Result, A>())
      found = found || (has_array_in(access.tensor(), written) && !is_read_in_place<S, A>(statement, access));
  });
  return found;
}

}  // namespace detail

/// The values that an epilogue writes after the sums of its product are complete: the result's own, or, if it
/// reads these at other places, a temporary array that is copied into them at the end. What the statement
/// adds to is in it from the start.
template <class S>
class EpilogueTarget : public detail::ValuesOfResult<typename S::result_type::tensor_type,
                                                     typename S::result_type::value_type> {
  using Value = typename S::result_type::value_type;
  using Values = detail::ValuesOfResult<typename S::result_type::tensor_type, Value>;

 public:
  explicit EpilogueTarget(const S& statement)
      : Values(statement.result().tensor(), statement.resources().space(),
               detail::epilogue_reads_elsewhere(statement), statement.accumulates()) {}

  /// Bytes of the temporary array.
  static std::int64_t bytes(const S& statement) {
    return detail::epilogue_reads_elsewhere(statement) ? array_bytes<Value>(statement.result().tensor().nnz())
                                                       : 0;
  }
};

}  // namespace sporos

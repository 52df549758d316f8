// SPDX-License-Identifier: Apache-2.0
/// @file entries_of.hpp
/// The stored values of a tensor as a list of entries, in storage order: the inverse of `assemble`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../core/entries.hpp"
#include "../core/tensor.hpp"
#include "chunks.hpp"
#include "structure.hpp"
#include "walk.hpp"

namespace sporos {

/// Whether values that are 0 count as entries.
enum class Zeros { keep, drop };

/// `drop` for formats that pad with zeros (dense tensors, dense blocks), else `keep`.
template <TensorFormat F>
inline constexpr Zeros default_zeros = detail::Structure<F>::padded ? Zeros::drop : Zeros::keep;

namespace detail {

/// The stored values that are wanted, with their coordinates, in storage order; `all` says that every value
/// is.
template <HostSpace Space, TensorValue Value, TensorFormat F, class Wanted>
Entries<Value, F::order> entries_where(const Space& space, const Tensor<Value, F, Space>& t, bool all,
                                       const Wanted& wanted) {
  const Walk walk(t);
  const std::int64_t chunks = chunks_for(space, t.nnz(), 4);
  std::vector<std::int64_t> at(static_cast<std::size_t>(chunks) + 1);
  if (F::is_blocked) all = false;  // blocks at the edge reach beyond the extents
  if (!all)
    for_each_chunk(space, chunks, [&](std::int64_t chunk) {
      const auto [begin, end] = chunk_bounds(t.nnz(), chunk, chunks);
      std::int64_t count = 0;
      walk.visit(begin, end, [&](const auto&, const Value& value) { count += wanted(value); });
      at[static_cast<std::size_t>(chunk)] = count;
    });
  std::int64_t sum = 0;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    auto& first = at[static_cast<std::size_t>(chunk)];
    const auto [begin, end] = chunk_bounds(t.nnz(), chunk, chunks);
    const std::int64_t count = all ? end - begin : first;
    first = sum;
    sum += count;
  }
  Entries<Value, F::order> out(t.extents(), sum);
  for_each_chunk(space, chunks, [&](std::int64_t chunk) {
    const auto [begin, end] = chunk_bounds(t.nnz(), chunk, chunks);
    std::int64_t e = at[static_cast<std::size_t>(chunk)];
    walk.visit(begin, end, [&](const Extents<F::order>& coordinate, const Value& value) {
      if (!wanted(value)) return;
      for (std::size_t mode = 0; mode < coordinate.size(); ++mode)
        out.coordinates[mode].data()[e] = coordinate[mode];
      out.values.data()[e++] = value;
    });
  });
  return out;
}

}  // namespace detail

/// The coordinates and values that `t` stores, collected on the threads of a space instance; see below.
template <HostSpace Space, TensorValue Value, TensorFormat F>
Entries<Value, F::order> entries(const Space& space, const Tensor<Value, F, Space>& t,
                                 Zeros zeros = default_zeros<F>) {
  return detail::entries_where(space, t, zeros == Zeros::keep, [zeros](const Value& value) {
    return zeros == Zeros::keep || !(value == Value{});
  });
}

/// The coordinates and values that `t` stores, in storage order.
///
/// @param zeros  whether stored zeros count as entries. The padding of blocks beyond the extents never does.
/// @throws MemoryError
/// Cost: one parallel pass over the values, or two if some are left out.
template <AnyTensor T>
Entries<typename T::value_type, T::order> entries(const T& t,
                                                  Zeros zeros = default_zeros<typename T::format_type>) {
  if constexpr (HostSpace<typename T::space_type>)
    return entries(typename T::space_type(), t, zeros);
  else
    return entries(t.template move_to<Host>(), zeros);
}

}  // namespace sporos

// SPDX-License-Identifier: Apache-2.0
/// @file allocated.hpp
/// What statements and plans allocate, and what an estimate allows them.
#pragma once

#include <cstdint>
#include <optional>
#include <sporos/core/peak_memory.hpp>
#include <sporos/sporos.hpp>

namespace sporos::test {

/// The most memory that work() takes at a time.
template <class Work>
std::int64_t memory_of(const Work& work) {
  std::optional<PeakMemory> peak(std::in_place);
  work();
  return peak->bytes();
}

/// What an estimate says of arrays that are not there before, as those of a dense result are.
template <class S>
std::int64_t allocated(const Estimate& most) {
  return (S::result_type::format::is_dense ? 0 : most.result) + most.workspace;
}

/// Bytes of arrays that are neither counted nor estimated: tables of where chunks begin and the like, and
/// what is rounded up to an alignment.
inline constexpr std::int64_t uncounted = 4096;

}  // namespace sporos::test

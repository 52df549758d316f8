// SPDX-License-Identifier: Apache-2.0
/// @file pool_limit.hpp
/// The pool of the GPU's memory, for the tests.
#pragma once

#include <cstdint>
#include <sporos/core/array.hpp>

namespace sporos::test {

/// Empties the pool, gives it another limit, and afterwards empties it again and sets the limit back.
class PoolLimit {
 public:
  explicit PoolLimit(std::int64_t bytes) {
    pool<Cuda>().release();
    pool<Cuda>().limit(bytes);
  }
  PoolLimit() : PoolLimit(pool<Cuda>().limit()) {}
  ~PoolLimit() {
    pool<Cuda>().limit(before_);
    pool<Cuda>().release();
  }
  PoolLimit(const PoolLimit&) = delete;
  PoolLimit& operator=(const PoolLimit&) = delete;

 private:
  const std::int64_t before_ = pool<Cuda>().limit();
};

}  // namespace sporos::test

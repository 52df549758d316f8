// SPDX-License-Identifier: Apache-2.0
/// @file refill.hpp
/// The values of a product by rows anew, its pattern being known.
#pragma once

#include <atomic>
#include <cstdint>

#include "work.hpp"

namespace sporos::detail {

/// A product A * B of which the pattern is known: how its rows are grouped and dealt to threads, and the
/// memory of these, are kept from one time to the next.
template <class Acc, HostSpace Space, class A, class B, class Value, class Position, class Coordinate>
class ProductRefill : ProductWork<Acc, Space, A, B, Value, Coordinate> {
  using Work = ProductWork<Acc, Space, A, B, Value, Coordinate>;
  using Work::chunks_, Work::workers_;

 public:
  ProductRefill(const A& a, const B& b) : Work(a, b) { this->prepare(); }

  /// Computes the values of the product of matrices with the patterns of those that this was made with.
  /// @param positions,columns  the product's pattern
  void run(const A& a, const B& b, const Position* positions, const Coordinate* columns, Value* values) {
    this->a_ = a;
    this->b_ = b;
    std::atomic<std::size_t> next{0};
    for_each_chunk<Space>(static_cast<int>(workers_.size()), [&](int w) {
      auto& worker = workers_[static_cast<std::size_t>(w)];
      auto rows = this->rows_of(worker);
      for (std::size_t number = next++; number < chunks_.size(); number = next++)
        rows.refill(chunks_[number].begin, chunks_[number].end, positions, columns,
                    worker.buffer_coordinates.data(), worker.buffer_values.data(), values);
    });
    this->keep_blocks();
  }

  /// Bytes that are kept.
  std::int64_t bytes() const { return this->kept_bytes(); }
};

}  // namespace sporos::detail

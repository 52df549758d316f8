// SPDX-License-Identifier: Apache-2.0
/// @file product.hpp
/// The whole product of two matrices by rows: what memory it takes, and how the parts of the threads come
/// together.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "../../../core/error.hpp"
#include "../../../core/first_touch.hpp"
#include "../../../core/pool.hpp"
#include "../../../core/space.hpp"
#include "../../../formats/chunks.hpp"
#include "../../../workspace/pipeline.hpp"
#include "rows.hpp"
#include "work.hpp"

namespace sporos::detail {

/// A product's own arrays.
template <class Value, class Position, class Coordinate>
struct ProductArrays {
  HostArray<Position> positions;      // [rows + 1]
  HostArray<Coordinate> coordinates;  // [nnz]
  HostArray<Value> values;            // [nnz]
};

/// One product A * B.
template <class Acc, HostSpace Space, class A, class B, class Value, class Position, class Coordinate>
class ProductByRows : ProductWork<Acc, Space, A, B, Value, Coordinate> {
  using Work = ProductWork<Acc, Space, A, B, Value, Coordinate>;
  using typename Work::Chunk, typename Work::Worker;
  using Work::a_, Work::bound_, Work::chunks_, Work::threads_, Work::workers_;

 public:
  using Arrays = ProductArrays<Value, Position, Coordinate>;

  /// @param most_reserved  bytes up to which the result is computed in one pass, by what it can take at most
  ProductByRows(const A& a, const B& b, std::int64_t most_reserved)
      : Work(a, b), most_reserved_(most_reserved) {}

  Arrays compute() {
    Arrays result{pool().array<Position>("sporos::positions", a_.rows + 1), {}, {}};
    ends_ = result.positions.data() + 1;
    result.positions.data()[0] = 0;
    if (!this->prepare()) {
      std::fill(ends_, ends_ + a_.rows, Position{0});
      result.coordinates = make_array<Coordinate>("sporos::coordinates", 0);
      result.values = make_array<Value>("sporos::values", 0);
      return result;
    }
    if (!in_one_pass(result)) in_two_passes(result);
    this->keep_blocks();
    return result;
  }

 private:
  /// Every row is computed once, into memory reserved for as many elements as there can be.
  /// @return false where that much memory cannot be reserved
  bool in_one_pass(Arrays& result) {
    constexpr std::int64_t bytes_each = sizeof(Value) + sizeof(Coordinate);
    if (bound_ > most_reserved_ / bytes_each) return false;
    HostArray<Coordinate> coordinates;
    HostArray<Value> values;
    try {
      coordinates = pool().reserve<Coordinate>("sporos::coordinates", bound_ + row_slack);
      values = pool().reserve<Value>("sporos::values", bound_ + row_slack);
      if (threads_ > 1) reserve_for_chunks(chunks_in_worker);
    } catch (const MemoryError&) {
      for (auto& worker : workers_) worker.coordinates = {}, worker.values = {};
      return false;
    }
    if (threads_ > 1)
      in_turns(coordinates.data(), values.data());
    else
      alone(coordinates.data(), values.data());
    const std::int64_t size = total();
    result.coordinates = exactly("sporos::coordinates", coordinates, size);
    result.values = exactly("sporos::values", values, size);
    return true;
  }

  /// One thread writes the rows where they belong.
  void alone(Coordinate* coordinates, Value* values) {
    Worker& worker = workers_[0];
    auto rows = this->rows_of(worker);
    auto output = worker.output(coordinates, values);
    for (Chunk& chunk : chunks_)
      chunk.size = rows.compute(chunk.begin, chunk.end, output.size(), ends_, output);
  }

  /// Several threads compute chunks into memory of their own, and copy them to the result in order.
  void in_turns(Coordinate* coordinates, Value* values) {
    Placed placed{chunks_,
                  {{{reinterpret_cast<std::byte*>(values), bound_ * value_bytes},
                    {reinterpret_cast<std::byte*>(coordinates), bound_ * coordinate_bytes}}}};
    run_pipeline<std::int64_t>(Space(), static_cast<std::int64_t>(workers_.size()),
                               static_cast<std::int64_t>(chunks_.size()), placed, [&](std::int64_t number) {
                                 Worker& worker = workers_[static_cast<std::size_t>(number)];
                                 return InTurns{*this, worker, this->rows_of(worker), coordinates, values};
                               });
    keep_memory_of_chunks();
  }

  static constexpr std::int64_t value_bytes = sizeof(Value), coordinate_bytes = sizeof(Coordinate);

  /// The result as run_pipeline sees it.
  struct Placed {
    const std::vector<Chunk>& chunks;
    std::array<FirstTouch, 2> touched;  ///< of the values and of the coordinates

    std::int64_t end_of(std::int64_t number, std::int64_t from) const {
      return from + chunks[static_cast<std::size_t>(number)].size;
    }
    auto& pages() { return touched; }
    std::pair<std::int64_t, std::int64_t> bytes(std::size_t array, std::int64_t from,
                                                std::int64_t end) const {
      const std::int64_t each = array == 0 ? value_bytes : coordinate_bytes;
      return {from * each, end * each};
    }
  };

  /// A worker of run_pipeline: chunks stand one behind the other in its memory until none of them waits.
  struct InTurns {
    ProductByRows& product;
    Worker& worker;
    RowProduct<Acc, A, B> rows;
    Coordinate* coordinates;
    Value* values;
    std::int64_t used = 0;

    Chunk& chunk(std::int64_t number) const { return product.chunks_[static_cast<std::size_t>(number)]; }
    bool has_room(std::int64_t number, std::int64_t waiting) {
      if (waiting == 0) used = 0;
      return used + chunk(number).bound + row_slack <= static_cast<std::int64_t>(worker.values.extent(0));
    }
    void compute(std::int64_t number) {
      Chunk& it = chunk(number);
      auto output = worker.output(worker.coordinates.data() + used, worker.values.data() + used);
      it.at = used;
      it.size = rows.compute(it.begin, it.end, 0, product.ends_, output);
      used += it.size;
      worker.touched = std::max(worker.touched, used);
    }
    void move(std::int64_t number, std::int64_t place) const {
      product.copy_elements(worker, chunk(number), place, coordinates, values);
    }
  };

  /// Every row is computed twice: to count its elements, then to write them where they belong. Takes no
  /// memory but the result's own and a chunk's.
  void in_two_passes(Arrays& result) {
    reserve_for_chunks(1);
    const auto pass = [&](const auto& then) {
      std::atomic<std::size_t> next{0};
      for_each_chunk<Space>(static_cast<int>(workers_.size()), [&](int w) {
        Worker& worker = workers_[static_cast<std::size_t>(w)];
        auto rows = this->rows_of(worker);
        for (std::size_t number = next++; number < chunks_.size(); number = next++) {
          Chunk& chunk = chunks_[number];
          auto output = worker.output(worker.coordinates.data(), worker.values.data());
          chunk.size = rows.compute(chunk.begin, chunk.end, 0, ends_, output);
          worker.touched = std::max(worker.touched, chunk.size);
          then(worker, chunk);
        }
      });
    };
    pass([](const Worker&, const Chunk&) {});
    const std::int64_t size = total();
    std::vector<std::int64_t> places(chunks_.size());
    std::transform_exclusive_scan(chunks_.begin(), chunks_.end(), places.begin(), std::int64_t{0},
                                  std::plus<>(), [](const Chunk& chunk) { return chunk.size; });
    result.coordinates = pool().array<Coordinate>("sporos::coordinates", size);
    result.values = pool().array<Value>("sporos::values", size);
    pass([&](const Worker& worker, const Chunk& chunk) {
      copy_elements(worker, chunk, places[static_cast<std::size_t>(&chunk - chunks_.data())],
                    result.coordinates.data(), result.values.data());
    });
    keep_memory_of_chunks();
  }

  /// Gives each worker room for `count` chunks.
  void reserve_for_chunks(std::int64_t count) {
    std::int64_t largest = 0;
    for (const Chunk& chunk : chunks_) largest = std::max(largest, chunk.bound);
    const std::int64_t room = std::min(bound_, count * largest) + row_slack;
    for (auto& worker : workers_) {
      worker.coordinates = pool().reserve<Coordinate>("sporos::coordinates of rows", room);
      worker.values = pool().reserve<Value>("sporos::values of rows", room);
    }
  }
  void keep_memory_of_chunks() {
    for (auto& worker : workers_) {
      pool().keep(worker.coordinates, worker.touched);
      pool().keep(worker.values, worker.touched);
    }
  }

  /// The size of the result.
  std::int64_t total() const {
    std::int64_t size = 0;
    for (const Chunk& chunk : chunks_) size += chunk.size;
    narrow<Position>(size, "the number of stored elements of a product");
    return size;
  }

  /// A chunk's elements to their place `to` in the result, past the caches where the result will not stay in
  /// them; and the ends of its rows from the chunk's to the result's count.
  void copy_elements(const Worker& worker, const Chunk& chunk, std::int64_t to, Coordinate* coordinates,
                     Value* values) {
    const auto* const from_coordinates = worker.coordinates.data() + chunk.at;
    const auto* const from_values = worker.values.data() + chunk.at;
    if (to > RowOutput<Coordinate, Value>::most_at_once) {
      stream_copy(from_coordinates, chunk.size, coordinates + to);
      stream_copy(from_values, chunk.size, values + to);
    } else {
      std::copy_n(from_coordinates, chunk.size, coordinates + to);
      std::copy_n(from_values, chunk.size, values + to);
    }
    if (to == 0) return;
    for (std::int64_t row = chunk.begin; row < chunk.end; ++row)
      ends_[row] = static_cast<Position>(ends_[row] + static_cast<Position>(to));
  }

  /// An array of `size` elements that were written to the front of `reserved`. Small ones are copied, so that
  /// they do not sit on a large reservation.
  template <class T>
  static HostArray<T> exactly(const std::string& label, const HostArray<T>& reserved, std::int64_t size) {
    const HostArray<T> kept = pool().keep(reserved, size);
    if (size * static_cast<std::int64_t>(sizeof(T)) >= Pool::smallest_block) return kept;
    const HostArray<T> copy = make_array<T>(label, size);
    std::copy_n(kept.data(), size, copy.data());
    return copy;
  }

  static constexpr std::int64_t chunks_in_worker = 4;  ///< for which a worker has room

  const std::int64_t most_reserved_;
  Position* ends_ = nullptr;
};

/// A * B by rows.
/// @tparam Acc           the type in which products are formed and summed
/// @param most_reserved  a result that could take more bytes is computed twice: to be counted, then written
template <class Acc, HostSpace Space, class Value, class Position, class Coordinate, class A, class B>
ProductArrays<Value, Position, Coordinate> multiply_rows(const A& a, const B& b,
                                                         std::int64_t most_reserved = Pool::machine_bytes() /
                                                                                      2) {
  return ProductByRows<Acc, Space, A, B, Value, Position, Coordinate>(a, b, most_reserved).compute();
}

}  // namespace sporos::detail

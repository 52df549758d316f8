// SPDX-License-Identifier: Apache-2.0
/// @file product.hpp
/// The product of two matrices by rows: analysed once, computed, and recomputed with other values.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../../core/compiled_once.hpp"
#include "../../../core/error.hpp"
#include "../../../core/first_touch.hpp"
#include "../../../core/pool.hpp"
#include "../../../core/space.hpp"
#include "../../../core/stream_copy.hpp"
#include "../../../workspace/pipeline.hpp"
#include "places.hpp"
#include "row_output.hpp"
#include "rows.hpp"
#include "work.hpp"

namespace sporos::detail {

/// The arrays of a product.
template <class Value, class Position, class Coordinate>
struct ProductArrays {
  HostArray<Position> positions;      // [rows + 1]
  HostArray<Coordinate> coordinates;  // [nnz]
  HostArray<Value> values;            // [nnz]
};

/// An array of the `size` elements written to the front of `reserved`, which is memory of the pool. Small
/// ones are copied if they would otherwise hold on to a much larger reservation.
template <class T>
HostArray<T> exactly(std::string_view label, const HostArray<T>& reserved, std::int64_t size) {
  const HostArray<T> kept = pool().keep(reserved, size);
  if (size * static_cast<std::int64_t>(sizeof(T)) >= Pool::smallest_block) return kept;
  if (3 * size >= static_cast<std::int64_t>(reserved.extent(0))) return kept;
  const HostArray<T> copy = pool().array<T>(label, size);
  std::copy_n(kept.data(), size, copy.data());
  return copy;
}

/// One product A * B.
///
///     ProductByRows<…> product(threads, a, b);
///     product.prepare();                       // looks at the patterns
///     product.most_bytes();                    // how much memory compute() takes at most
///     auto arrays = product.compute();         // pattern and values
///     product.refill(c, d, positions, …);      // the values of c * d, which have the patterns of a and b
///
/// @tparam Acc  the type in which products are formed and summed
template <class Acc, class A, class B, class Value, class Position, class Coordinate>
class ProductByRows : ProductWork<Acc, A, B, Value, Coordinate> {
  using Work = ProductWork<Acc, A, B, Value, Coordinate>;
  using typename Work::Chunk, typename Work::Worker;
  using Work::a_, Work::b_, Work::bound_, Work::chunks_, Work::element_bytes, Work::form_, Work::in_one_pass_,
      Work::threads_, Work::work_, Work::workers_;

 public:
  using Arrays = ProductArrays<Value, Position, Coordinate>;

  /// @param most_reserved  up to this many bytes, memory is reserved for the largest possible result;
  ///                       a result that could be larger is computed twice: first counted, then written
  ProductByRows(const HostThreads& threads, const A& a, const B& b,
                std::int64_t most_reserved = Pool::machine_bytes() / 2)
      : Work(threads, a, b, most_reserved) {}

  /// Computes rows in this form instead of the one that suits the processor.
  void use(SpgemmForm form) { form_ = form; }

  /// Analyses the patterns; reserves nothing yet for the result or the workers. To be called once.
  /// @param finds_similar_rows  whether to look for rows with the same columns, to compute them together
  /// @param first_in_b          if the rows of A are consecutive rows of B, except for one shift of all
  ///                            columns, the first of them; otherwise -1
  void prepare(bool finds_similar_rows = true, std::int64_t first_in_b = -1);

  using Work::bytes_of_marks;

  /// Takes new arrays of the matrices, whose patterns must be the same.
  void read(const A& a, const B& b) {
    a_ = a;
    b_ = b;
  }

  /// The most elements that the product can have; known after prepare().
  std::int64_t most_elements() const { return bound_; }

  /// An upper bound of the bytes that prepare(), compute() and refill() touch, including the result.
  std::int64_t most_bytes() const;

  /// Memory for the elements of a product, with room for row_slack more than there can be.
  struct Room {
    HostArray<Coordinate> coordinates;
    HostArray<Value> values;
  };

  /// Computes the product.
  /// @param room  where its elements are put if it is large enough; otherwise they get their own arrays
  /// @throws RangeError   if Position cannot hold its number of elements
  /// @throws MemoryError  if there is no memory for it
  Arrays compute(const Room& room = {});

  /// Computes the values of a product of matrices with the same patterns as the original ones.
  /// @param positions,columns  the product's pattern
  /// @param as_first           whether sums must be rounded as by compute()
  /// @param most_for_places    bytes that may be allocated, and kept, for the places of products
  void refill(const A& a, const B& b, const Position* positions, const Coordinate* columns, Value* values,
              bool as_first, std::int64_t most_for_places = 0);

  /// The bytes that are held for the next refill().
  std::int64_t held_bytes() const {
    return this->work_bytes() + static_cast<std::int64_t>(places_.extent(0) * sizeof(PlaceInRow));
  }

 private:
  /// Products can be added directly to the result only if its values have the type of the sums.
  static constexpr bool has_places = std::is_same_v<Value, Acc>;

  /// Whether the places of products are known and pay off. They are found at the first call, unless there is
  /// no memory for them.
  bool have_places(const Position* positions, const Coordinate* columns, std::int64_t most_bytes) {
    const auto elements = static_cast<double>(positions[a_.rows]);
    if (!has_places || !places_fit_ ||
        static_cast<double>(this->expected_work_) > most_products_of_place * elements)
      return false;
    if (places_.data()) return true;
    if (work_ * static_cast<std::int64_t>(sizeof(PlaceInRow)) > most_bytes) return false;
    try {
      places_ = pool().array<PlaceInRow>("sporos::places", work_);
    } catch (const MemoryError&) {
      return false;  // the sums are computed without places
    }
    std::int64_t begin = 0;
    for (Chunk& chunk : chunks_) {
      chunk.places = begin;
      begin += chunk.products;
    }
    std::atomic<bool> fit{true};
    this->for_each_chunk_of_rows([&](Worker&, auto& rows, const Chunk& chunk) {
      if (!rows.find_places(chunk.begin, chunk.end, positions, columns, places_of(chunk))) fit = false;
    });
    places_fit_ = fit;
    if (!fit) places_ = {};
    return fit;
  }
  PlaceInRow* places_of(const Chunk& chunk) const { return places_.data() + chunk.places; }

  /// Computes every row once, into memory reserved for as many elements as there can be.
  /// @return false if that much memory cannot be reserved
  bool compute_in_one_pass(Arrays& result, const Room& room) {
    const bool in_room = static_cast<std::int64_t>(room.values.extent(0)) >= bound_ + row_slack;
    HostArray<Coordinate> coordinates = room.coordinates;
    HostArray<Value> values = room.values;
    try {
      if (!in_room) {
        const std::int64_t likely = bound_ / 2;  // most often it is a third to two thirds
        coordinates = pool().reserve_for<Coordinate>("sporos::coordinates", bound_ + row_slack, likely);
        values = pool().reserve_for<Value>("sporos::values", bound_ + row_slack, likely);
      }
      if (threads_ > 1) reserve_for_chunks();
    } catch (const MemoryError&) {
      release_chunks();
      in_one_pass_ = false;
      if (threads_ == 1) this->cut();
      return false;
    }
    if (threads_ > 1)
      compute_in_order(coordinates.data(), values.data());
    else
      compute_alone(coordinates, values);
    const std::int64_t size = total();
    if (in_room) {
      const auto first = std::pair(std::int64_t{0}, size);
      result.coordinates = Kokkos::subview(coordinates, first);
      result.values = Kokkos::subview(values, first);
    } else {
      result.coordinates = exactly("sporos::coordinates", coordinates, size);
      result.values = exactly("sporos::values", values, size);
    }
    return true;
  }

  /// One thread writes the rows directly to their final place.
  void compute_alone(const HostArray<Coordinate>& coordinates, const HostArray<Value>& values) {
    Worker& worker = workers_[0];
    auto rows = this->rows_of(worker);
    auto output = worker.output(coordinates.data(), values.data());
    output.populate({coordinates.data(), bound_ * coordinate_bytes, pool().backed_bytes(coordinates)},
                    {values.data(), bound_ * value_bytes, pool().backed_bytes(values)});
    FirstTouch coordinate_pages(reinterpret_cast<std::byte*>(coordinates.data()), bound_ * coordinate_bytes);
    FirstTouch value_pages(reinterpret_cast<std::byte*>(values.data()), bound_ * value_bytes);
    for (Chunk& chunk : chunks_) {
      // Only so far ahead that an array of less than a page does not get two.
      coordinate_pages.touch_to(output.size() * coordinate_bytes + large_page / 2);
      value_pages.touch_to(output.size() * value_bytes + large_page / 2);
      chunk.size = rows.compute(chunk.begin, chunk.end, output.size(), ends_, output);
    }
    pool().note_populated(coordinates, output.populated_columns());
    pool().note_populated(values, output.populated_values());
  }

  /// Several threads compute chunks in their own memory and copy them to the result in order.
  void compute_in_order(Coordinate* coordinates, Value* values) {
    Placed placed{chunks_,
                  {{{reinterpret_cast<std::byte*>(values), bound_ * value_bytes},
                    {reinterpret_cast<std::byte*>(coordinates), bound_ * coordinate_bytes}}}};
    run_pipeline<std::int64_t>(this->host_threads_, threads_, static_cast<std::int64_t>(chunks_.size()),
                               placed, [&](std::int64_t number) {
                                 Worker& worker = workers_[static_cast<std::size_t>(number)];
                                 return InOrder{*this, worker, this->rows_of(worker), coordinates, values};
                               });
    release_chunks();
  }

  static constexpr std::int64_t value_bytes = sizeof(Value), coordinate_bytes = sizeof(Coordinate);

  /// The result in the form that run_pipeline needs.
  struct Placed {
    const std::vector<Chunk>& chunks;
    std::array<FirstTouch, 2> touched;  ///< first touch of values and of coordinates

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

  /// A worker of run_pipeline: chunks lie one after another in its memory until none of them waits.
  struct InOrder {
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

  /// Computes every row twice: first to count its elements, then to write them directly to their final place.
  /// Needs no memory except the result's and one chunk's for each worker.
  void compute_in_two_passes(Arrays& result) {
    reserve_for_chunks();
    const auto pass = [&](const auto& then) {
      this->for_each_chunk_of_rows([&](Worker& worker, auto& rows, Chunk& chunk) {
        auto output = worker.output(worker.coordinates.data(), worker.values.data());
        chunk.at = 0;
        chunk.size = rows.compute(chunk.begin, chunk.end, 0, ends_, output);
        worker.touched = std::max(worker.touched, chunk.size);
        then(worker, chunk);
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
    release_chunks();
  }

  /// How many elements, including slack, each worker has room for.
  std::int64_t room_for_chunks() const {
    const std::int64_t chunks = in_one_pass_ ? chunks_in_worker : 1;
    return std::min(bound_, chunks * this->largest_chunk()) + row_slack;
  }
  void reserve_for_chunks() {
    const std::int64_t room = room_for_chunks();
    for (auto& worker : workers_) {
      worker.coordinates = pool().reserve<Coordinate>("sporos::coordinates of rows", room);
      worker.values = pool().reserve<Value>("sporos::values of rows", room);
    }
  }
  /// Returns the chunks' memory to the pool.
  void release_chunks() {
    for (auto& worker : workers_) {
      if (worker.values.data()) {
        pool().keep(worker.coordinates, worker.touched);
        pool().keep(worker.values, worker.touched);
      }
      worker.coordinates = {};
      worker.values = {};
      worker.touched = 0;
    }
  }

  /// The number of elements of the result.
  std::int64_t total() const {
    std::int64_t size = 0;
    for (const Chunk& chunk : chunks_) size += chunk.size;
    narrow<Position>(size, "the number of stored elements of a product");
    return size;
  }

  /// Copies a chunk's elements to their place `to` in the result, bypassing the caches if the result does not
  /// fit in them, and makes the ends of its rows relative to the result's first element.
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

  /// How many chunks a worker has room for: one is computed while others wait to be placed.
  static constexpr std::int64_t chunks_in_worker = 4;

  Position* ends_ = nullptr;
  HostArray<PlaceInRow> places_;  // [products], chunk by chunk; empty until they are found
  bool places_fit_ = true;        ///< whether no row is too long for them
};

template <class Acc, class A, class B, class Value, class Position, class Coordinate>
[[gnu::noinline]] void ProductByRows<Acc, A, B, Value, Position, Coordinate>::prepare(
    bool finds_similar_rows, std::int64_t first_in_b) {
  this->analyse(finds_similar_rows, first_in_b);
}

template <class Acc, class A, class B, class Value, class Position, class Coordinate>
[[gnu::noinline]] std::int64_t ProductByRows<Acc, A, B, Value, Position, Coordinate>::most_bytes() const {
  const std::int64_t positions = most_array_bytes<Position>(a_.rows + 1);
  if (work_ == 0) return positions + this->most_work_bytes();
  const auto chunks = static_cast<std::int64_t>(chunks_.size());
  std::int64_t sum = positions + this->most_work_bytes() + most_array_bytes<Coordinate>(bound_ + row_slack) +
                     most_array_bytes<Value>(bound_ + row_slack);
  // A small result is copied out of its reservation.
  if (in_one_pass_) sum += 2 * Pool::smallest_block;
  const std::int64_t room = in_one_pass_ && threads_ == 1 ? 0 : room_for_chunks();
  if (room > 0) sum += threads_ * (most_array_bytes<Coordinate>(room) + most_array_bytes<Value>(room));
  sum += pipeline_bytes<std::int64_t>(threads_, chunks) + bound_ * element_bytes / large_page;
  return sum;
}

template <class Acc, class A, class B, class Value, class Position, class Coordinate>
[[gnu::noinline]] auto ProductByRows<Acc, A, B, Value, Position, Coordinate>::compute(const Room& room)
    -> Arrays {
  Arrays result{pool().array<Position>("sporos::positions", a_.rows + 1), {}, {}};
  places_ = {};
  ends_ = result.positions.data() + 1;
  result.positions.data()[0] = 0;
  if (work_ == 0) {
    std::fill(ends_, ends_ + a_.rows, Position{0});
    result.coordinates = make_array<Coordinate>("sporos::coordinates", 0);
    result.values = make_array<Value>("sporos::values", 0);
    return result;
  }
  this->make_workers();
  if (!in_one_pass_ || !compute_in_one_pass(result, room)) compute_in_two_passes(result);
  this->keep_blocks();
  return result;
}

template <class Acc, class A, class B, class Value, class Position, class Coordinate>
[[gnu::noinline]] void ProductByRows<Acc, A, B, Value, Position, Coordinate>::refill(
    const A& a, const B& b, const Position* positions, const Coordinate* columns, Value* values,
    bool as_first, std::int64_t most_for_places) {
  read(a, b);
  if (work_ == 0) return;
  this->make_workers();
  // An accumulator over all columns has to be cleared once for each worker.
  const bool one_by_one = !as_first && !this->has_similar_rows_often() && b_.columns * threads_ <= work_;
  if (one_by_one && have_places(positions, columns, most_for_places)) {
    if constexpr (has_places)
      this->for_each_chunk_of_rows([&](Worker&, auto& rows, const Chunk& chunk) {
        rows.refill_by_places(chunk.begin, chunk.end, positions, places_of(chunk), values);
      });
  } else {
    this->for_each_chunk_of_rows([&](Worker& worker, auto& rows, const Chunk& chunk) {
      if (one_by_one) return rows.refill_plainly(chunk.begin, chunk.end, positions, columns, values);
      rows.refill(chunk.begin, chunk.end, positions, columns, worker.buffer_coordinates, worker.buffer_values,
                  values);
    });
  }
  this->keep_blocks();
}

#define SPOROS_PRODUCT_BY_ROWS(EXTERN, Value)                                                             \
  EXTERN template class ProductByRows<Value, SparseRows<Value, std::int64_t, std::int32_t>,               \
                                      SparseRows<Value, std::int64_t, std::int32_t>, Value, std::int64_t, \
                                      std::int32_t>;
SPOROS_DECLARE_COMPILED(SPOROS_PRODUCT_BY_ROWS)

/// Computes A * B by rows, once.
template <class Acc, class Value, class Position, class Coordinate, class A, class B>
ProductArrays<Value, Position, Coordinate> multiply_rows(const HostThreads& threads, const A& a, const B& b) {
  ProductByRows<Acc, A, B, Value, Position, Coordinate> product(threads, a, b);
  product.prepare();
  return product.compute();
}

}  // namespace sporos::detail

// SPDX-License-Identifier: Apache-2.0
/// @file product.hpp
/// The whole product of two matrices by rows: what memory it takes, how rows are dealt to threads, and how
/// their parts come together.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/pool.hpp"
#include "../../core/space.hpp"
#include "../../formats/chunks.hpp"
#include "first_touch.hpp"
#include "operand.hpp"
#include "rows.hpp"
#include "similar_rows.hpp"

namespace sporos::detail {

/// A product's own arrays.
template <class Value, class Position, class Coordinate>
struct ProductArrays {
  HostArray<Position> positions;      // [rows + 1]
  HostArray<Coordinate> coordinates;  // [nnz]
  HostArray<Value> values;            // [nnz]
};

/// Carves arrays, each aligned to a cache line, out of one block; with no block, only adds up what they take.
class Carver {
 public:
  explicit Carver(std::byte* block) : block_(block) {}
  template <class T>
  T* take(std::int64_t count) {
    std::byte* const at = block_ ? block_ + bytes_ : nullptr;
    bytes_ += (count * static_cast<std::int64_t>(sizeof(T)) + 63) / 64 * 64;
    return reinterpret_cast<T*>(at);
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::byte* block_;
  std::int64_t bytes_ = 0;
};

/// The arrays of a thread, for products of `columns` columns; those of a DiagonalProduct, which are large,
/// only where they are needed.
template <class Acc>
RowSpace<Acc> carve_row_space(Carver& carver, std::int64_t columns, bool with_diagonals) {
  using Limits = DiagonalLimits;
  using Diagonals = DiagonalSpace<Acc>;
  using Real = real_part_t<Acc>;
  RowSpace<Acc> space;
  space.marks_columns = (columns + 64 + 4095) / 4096 * 4096;
  space.marks.bytes = carver.take<std::uint8_t>(space.marks_columns);
  space.marks.bits = carver.take<std::uint64_t>(space.marks_columns / 64);
  space.marks.words = carver.take<std::uint8_t>(space.marks_columns / 64);
  if (with_diagonals) {
    auto& diagonals = space.diagonals;
    diagonals.columns = carver.take<std::int32_t>(Limits::products + order_slack);
    diagonals.b_columns = carver.take<std::int32_t>(Limits::products);
    diagonals.begin = carver.take<std::uint32_t>(Limits::products + 1);
    diagonals.a_at = carver.take<std::uint32_t>(Limits::products);
    diagonals.b_at = carver.take<std::uint32_t>(Limits::products);
    diagonals.slot = carver.take<std::uint32_t>(std::min(columns, Limits::window));
    diagonals.a_values = carver.take<Real>(Diagonals::planes * Diagonals::a_plane);
    diagonals.b_values = carver.take<Real>(Diagonals::planes * Diagonals::b_plane);
    diagonals.sums = carver.take<Real>(Diagonals::planes * Diagonals::sums_plane);
  }
  using Widest = Packet<Acc, RowSpace<Acc>::most_lanes>;
  space.sums_bytes =
      std::max(columns * static_cast<std::int64_t>(sizeof(Acc)),
               std::min(columns, RowSpace<Acc>::widest_group) * static_cast<std::int64_t>(sizeof(Widest)));
  space.sums = carver.take<std::byte>(space.sums_bytes);
  return space;
}

/// One product A * B.
template <class Acc, HostSpace Space, class A, class B, class Value, class Position, class Coordinate>
class ProductByRows {
 public:
  using Arrays = ProductArrays<Value, Position, Coordinate>;

  /// @param most_reserved  bytes up to which the result is computed in one pass, by what it can take at most
  ProductByRows(const A& a, const B& b, std::int64_t most_reserved)
      : a_(a), b_(b), block_(rows_in_block(a.rows)), most_reserved_(most_reserved) {}

  Arrays compute() {
    Arrays result{pool().array<Position>("sporos::positions", a_.rows + 1), {}, {}};
    ends_ = result.positions.data() + 1;
    result.positions.data()[0] = 0;
    measure();
    if (work_ == 0) {
      std::fill(ends_, ends_ + a_.rows, Position{0});
      result.coordinates = make_array<Coordinate>("sporos::coordinates", 0);
      result.values = make_array<Value>("sporos::values", 0);
      return result;
    }
    find_similar();
    cut();
    make_workers();
    if (!in_one_pass(result)) in_two_passes(result);
    for (auto& worker : workers_)
      pool().keep(worker.block, std::min<std::int64_t>(space_bytes_, front_bytes_ + worker.space.clean_sums));
    return result;
  }

 private:
  /// Rows of a part of the work that a thread takes at a time.
  struct Chunk {
    std::int64_t begin = 0, end = 0;  ///< rows
    std::int64_t bound = 0;           ///< elements at most
    std::int64_t at = 0;              ///< where in the arrays of the worker that computed it
    std::int64_t size = 0;            ///< elements
  };

  struct Worker {
    HostArray<std::byte> block;
    RowSpace<Acc> space;
    HostArray<Coordinate> coordinates, buffer_coordinates;
    HostArray<Value> values, buffer_values;
    std::int64_t touched = 0;  ///< elements of `coordinates` and `values`

    RowOutput<Coordinate, Value> output(Coordinate* to_coordinates, Value* to_values) const {
      return {to_coordinates, to_values, buffer_coordinates.data(), buffer_values.data()};
    }
  };

  /// Products of each block of rows, and the elements that they can make; both at most, where the rows of B
  /// are even.
  void measure() {
    even_ = even_length(b_);
    const std::int64_t blocks = (a_.rows + block_ - 1) / block_;
    products_.resize(static_cast<std::size_t>(blocks));
    bounds_.resize(static_cast<std::size_t>(blocks));
    const int chunks = chunks_for<Space>(a_.nnz(), 8);
    for_each_chunk<Space>(chunks, [&](int chunk) {
      const auto [first, last] = chunk_bounds(blocks, chunk, chunks);
      for (std::int64_t block = first; block < last; ++block) {
        std::int64_t products = 0, bound = 0;
        const std::int64_t end = std::min(a_.rows, (block + 1) * block_);
        for (std::int64_t row = block * block_; row < end; ++row) {
          std::int64_t of_row = 0;
          if (even_ > 0)
            of_row = a_.length(row) * even_;
          else
            for (std::int64_t q = a_.begin(row); q < a_.begin(row + 1); ++q)
              of_row += b_.length(a_.coordinates[q]);
          products += of_row;
          bound += std::min(of_row, b_.columns);
        }
        products_[static_cast<std::size_t>(block)] = products;
        bounds_[static_cast<std::size_t>(block)] = bound;
      }
    });
    for (std::size_t block = 0; block < products_.size(); ++block) {
      work_ += products_[block];
      bound_ += bounds_[block];
    }
  }

  /// Runs of similar rows, cut at the same rows whatever the number of threads.
  void find_similar() {
    const auto find = [&](const auto& matrix, HostArray<std::uint8_t>& memory) {
      memory = pool().array<std::uint8_t>("sporos::similar rows", 2 * matrix.rows);
      SimilarRows similar{memory.data(), memory.data() + matrix.rows};
      if (work_ < least_products_a_row * matrix.rows || !has_similar_rows(matrix)) {
        std::fill_n(memory.data(), 2 * matrix.rows, std::uint8_t{0});
        return similar;
      }
      constexpr std::int64_t rows_in_part = 48 * 256;
      const std::int64_t parts = (matrix.rows + rows_in_part - 1) / rows_in_part;
      std::atomic<std::int64_t> same{0}, shifted{0};
      for_each_chunk<Space>(static_cast<int>(parts), [&](int part) {
        const SimilarCount count = find_similar_rows(
            matrix, part * rows_in_part, std::min(matrix.rows, (part + 1) * rows_in_part), similar);
        same += count.same;
        shifted += count.shifted;
      });
      similar.frequent = 8 * same > matrix.rows;
      similar.shifts = shifted > 0 && work_ >= least_diagonal_work;
      return similar;
    };
    similar_b_ = find(b_, memory_b_);
    if (static_cast<const void*>(a_.coordinates) == static_cast<const void*>(b_.coordinates) &&
        static_cast<const void*>(a_.positions) == static_cast<const void*>(b_.positions))
      similar_a_ = similar_b_;
    else
      similar_a_ = find(a_, memory_a_);
  }

  /// Cuts the rows into chunks of equal work.
  void cut() {
    const std::int64_t threads = work_ < least_parallel_work ? 1 : Space().concurrency();
    threads_ = threads;
    const std::int64_t wanted =
        threads == 1
            ? 1
            : std::clamp<std::int64_t>(work_ / least_work, 1, std::max(64 * threads, bound_ / most_in_chunk));
    std::int64_t done = 0;
    Chunk chunk;
    for (std::size_t block = 0; block < products_.size(); ++block) {
      done += products_[block];
      chunk.bound += bounds_[block];
      chunk.end = std::min(a_.rows, static_cast<std::int64_t>(block + 1) * block_);
      const auto number = static_cast<std::int64_t>(chunks_.size()) + 1;
      if (block + 1 == products_.size() || static_cast<double>(done) * static_cast<double>(wanted) >=
                                               static_cast<double>(work_) * static_cast<double>(number)) {
        chunks_.push_back(chunk);
        chunk = Chunk{.begin = chunk.end, .end = chunk.end};
      }
    }
    threads_ = std::min(threads_, static_cast<std::int64_t>(chunks_.size()));
  }

  void make_workers() {
    Carver measuring(nullptr);
    const bool with_diagonals = similar_a_.shifts && similar_b_.shifts;
    const auto measured = carve_row_space<Acc>(measuring, b_.columns, with_diagonals);
    space_bytes_ = measuring.bytes();
    front_bytes_ = space_bytes_ - measured.sums_bytes;
    workers_.resize(static_cast<std::size_t>(threads_));
    for (auto& worker : workers_) {
      worker.block = pool().reserve<std::byte>("sporos::row workspace", space_bytes_);
      Carver carver(worker.block.data());
      worker.space = carve_row_space<Acc>(carver, b_.columns, with_diagonals);
      const std::int64_t buffer =
          *std::max_element(bounds_.begin(), bounds_.end()) + RowOutput<Coordinate, Value>::buffered();
      worker.buffer_coordinates = pool().reserve<Coordinate>("sporos::buffer", buffer + row_slack);
      worker.buffer_values = pool().reserve<Value>("sporos::buffer", buffer + row_slack);
    }
  }

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
    RowProduct<Acc, A, B> rows(a_, b_, even_, similar_a_, similar_b_, worker.space);
    auto output = worker.output(coordinates, values);
    for (Chunk& chunk : chunks_)
      chunk.size = rows.compute(chunk.begin, chunk.end, output.size(), ends_, output);
  }

  /// Each thread computes chunks into memory of its own, which stays in its caches, and copies them to the
  /// result once the sizes of all chunks before them are known: the threads take chunks in order, so that is
  /// soon. Whoever has taken the first chunk not yet computed has no chunk that waits, and so always room:
  /// nobody waits for ever.
  void in_turns(Coordinate* coordinates, Value* values) {
    places_.assign(chunks_.size() + 1, 0);
    std::atomic<std::int64_t> next{0};
    std::atomic<std::int64_t> placed{0};  // chunks whose places are known, besides the first
    std::mutex guard;
    const auto count = static_cast<std::int64_t>(chunks_.size());
    std::vector<std::uint8_t> computed(chunks_.size(), 0);
    constexpr std::int64_t value_bytes = sizeof(Value), coordinate_bytes = sizeof(Coordinate);
    constexpr std::int64_t most_ahead = FirstTouch::page / value_bytes;
    FirstTouch touch_values(reinterpret_cast<std::byte*>(values), bound_ * value_bytes);
    FirstTouch touch_coordinates(reinterpret_cast<std::byte*>(coordinates), bound_ * coordinate_bytes);
    const auto place = [&](std::int64_t number) {
      const std::lock_guard lock(guard);
      computed[static_cast<std::size_t>(number)] = 1;
      std::int64_t known = placed.load(std::memory_order_relaxed);
      for (; known < count && computed[static_cast<std::size_t>(known)]; ++known)
        places_[static_cast<std::size_t>(known) + 1] =
            places_[static_cast<std::size_t>(known)] + chunks_[static_cast<std::size_t>(known)].size;
      placed.store(known, std::memory_order_release);
    };
    for_each_chunk<Space>(static_cast<int>(workers_.size()), [&](int w) {
      Worker& worker = workers_[static_cast<std::size_t>(w)];
      const auto room = static_cast<std::int64_t>(worker.values.extent(0)) - row_slack;
      RowProduct<Acc, A, B> rows(a_, b_, even_, similar_a_, similar_b_, worker.space);
      std::deque<std::int64_t> waiting;
      std::int64_t used = 0;
      // Copies what can be copied; `ahead` of that, touches memory for what comes next.
      const auto copy_placed = [&](std::int64_t ahead) {
        const std::int64_t known = placed.load(std::memory_order_acquire);
        for (; !waiting.empty() && waiting.front() <= known; waiting.pop_front()) {
          const Chunk& chunk = chunks_[static_cast<std::size_t>(waiting.front())];
          const std::int64_t from = places_[static_cast<std::size_t>(waiting.front())];
          const std::int64_t end = from + chunk.size;
          while (touch_values.touch_next(end * value_bytes) ||
                 touch_coordinates.touch_next(end * coordinate_bytes)) {
          }
          if (!touch_values.is_touched(from * value_bytes, end * value_bytes) ||
              !touch_coordinates.is_touched(from * coordinate_bytes, end * coordinate_bytes)) {
            if (ahead > 0) {
              const std::int64_t to = std::min(bound_, end + ahead);
              if (!touch_values.touch_next(to * value_bytes))
                touch_coordinates.touch_next(to * coordinate_bytes);
            }
            return;
          }
          copy_elements(worker, chunk, coordinates, values);
        }
        if (waiting.empty()) used = 0;
      };
      for (std::int64_t number = next++; number < count; number = next++) {
        Chunk& chunk = chunks_[static_cast<std::size_t>(number)];
        for (; used + chunk.bound > room; copy_placed(most_ahead)) std::this_thread::yield();
        auto output = worker.output(worker.coordinates.data() + used, worker.values.data() + used);
        chunk.at = used;
        chunk.size = rows.compute(chunk.begin, chunk.end, 0, ends_, output);
        used += chunk.size;
        worker.touched = std::max(worker.touched, used);
        place(number);
        waiting.push_back(number);
        copy_placed(0);
      }
      for (; !waiting.empty(); copy_placed(0)) std::this_thread::yield();
      finish_stream_copies();
    });
    keep_memory_of_chunks();
  }

  /// Every row is computed twice: to count its elements, then to write them where they belong. Takes no
  /// memory but the result's own and a chunk's.
  void in_two_passes(Arrays& result) {
    reserve_for_chunks(1);
    const auto pass = [&](const auto& then) {
      std::atomic<std::size_t> next{0};
      for_each_chunk<Space>(static_cast<int>(workers_.size()), [&](int w) {
        Worker& worker = workers_[static_cast<std::size_t>(w)];
        RowProduct<Acc, A, B> rows(a_, b_, even_, similar_a_, similar_b_, worker.space);
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
    result.coordinates = pool().array<Coordinate>("sporos::coordinates", size);
    result.values = pool().array<Value>("sporos::values", size);
    pass([&](const Worker& worker, const Chunk& chunk) {
      copy_elements(worker, chunk, result.coordinates.data(), result.values.data());
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

  /// The size of the result; each chunk learns its place.
  std::int64_t total() {
    places_.assign(chunks_.size() + 1, 0);
    for (std::size_t number = 0; number < chunks_.size(); ++number)
      places_[number + 1] = places_[number] + chunks_[number].size;
    narrow<Position>(places_.back(), "the number of stored elements of a product");
    return places_.back();
  }

  /// A chunk's elements to their place in the result, past the caches where the result will not stay in them;
  /// and the ends of its rows from the chunk's to the result's count.
  void copy_elements(const Worker& worker, const Chunk& chunk, Coordinate* coordinates, Value* values) {
    const std::int64_t to = places_[static_cast<std::size_t>(&chunk - chunks_.data())];
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

  /// Fewer products are made as fast as similar rows are found.
  static constexpr std::int64_t least_products_a_row = 8;
  /// A DiagonalProduct's arrays want to be paid for.
  static constexpr std::int64_t least_diagonal_work = 20'000;
  static constexpr std::int64_t least_parallel_work = 20'000;  ///< products
  static constexpr std::int64_t least_work = 4'000;            ///< products of a chunk
  static constexpr std::int64_t most_in_chunk = 32'768;        ///< elements, so that they stay in the caches
  static constexpr std::int64_t chunks_in_worker = 4;          ///< for which a worker has room

  const A& a_;
  const B& b_;
  const std::int64_t block_, most_reserved_;
  Position* ends_ = nullptr;
  std::vector<std::int64_t> products_, bounds_;
  std::int64_t work_ = 0, bound_ = 0;
  std::int64_t even_ = 0;  ///< even_length of B
  HostArray<std::uint8_t> memory_a_, memory_b_;
  SimilarRows similar_a_, similar_b_;
  std::vector<Chunk> chunks_;
  std::vector<std::int64_t> places_;
  std::int64_t threads_ = 1;
  std::vector<Worker> workers_;
  std::int64_t space_bytes_ = 0, front_bytes_ = 0;
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

// SPDX-License-Identifier: Apache-2.0
/// @file work.hpp
/// What a product by rows knows before it computes: how much work each row is, which rows resemble each
/// other, how rows are dealt to threads, and the memory of each thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../../core/pool.hpp"
#include "../../../core/space.hpp"
#include "../../../formats/chunks.hpp"
#include "../../host/sparse_rows.hpp"
#include "rows.hpp"
#include "similar_rows.hpp"

namespace sporos::detail {

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

/// The work of one product A * B, of which only the patterns matter.
template <class Acc, HostSpace Space, class A, class B, class Value, class Coordinate>
class ProductWork {
 protected:
  ProductWork(const A& a, const B& b) : a_(a), b_(b), block_(rows_in_block(a.rows)) {}

  /// @return false where there is nothing to do
  bool prepare() {
    measure();
    if (work_ == 0) return false;
    find_similar();
    similar_b_.repeated = repeated_length(b_, even_);
    cut();
    make_workers();
    return true;
  }

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

  RowProduct<Acc, A, B> rows_of(Worker& worker) const {
    return {a_, b_, even_, is_few(), similar_a_, similar_b_, worker.space};
  }

  /// Tells the pool what of the workers' blocks has been touched.
  void keep_blocks() {
    for (auto& worker : workers_)
      pool().keep(worker.block, std::min(space_bytes_, front_bytes_ + worker.space.clean_sums));
  }

  /// Bytes of the workers' memory that have been touched at most, and of what is known of rows.
  std::int64_t kept_bytes() const {
    auto sum = static_cast<std::int64_t>(memory_a_.extent(0) + memory_b_.extent(0));
    for (const Worker& worker : workers_)
      sum += std::min(space_bytes_, front_bytes_ + worker.space.clean_sums) +
             static_cast<std::int64_t>(worker.buffer_coordinates.extent(0) * sizeof(Coordinate) +
                                       worker.buffer_values.extent(0) * sizeof(Value));
    return sum;
  }

  A a_;
  B b_;
  std::vector<Chunk> chunks_;
  std::vector<Worker> workers_;
  std::int64_t bound_ = 0;  ///< elements of the result at most
  std::int64_t threads_ = 1;
  std::int64_t space_bytes_ = 0, front_bytes_ = 0;  ///< of a worker's block, and of what is before its sums

 private:
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

  /// Runs of similar rows, cut at the same rows whatever the number of threads; none where they would not
  /// pay.
  void find_similar() {
    const auto pays = [&](const auto& matrix) {
      return work_ >= least_products_a_row * matrix.rows && has_similar_rows(matrix);
    };
    const bool pays_in_a = pays(a_), pays_in_b = pays(b_);
    if (!pays_in_a && !pays_in_b) return;
    const auto find = [&](const auto& matrix, bool pays_here, HostArray<std::uint8_t>& memory) {
      memory = pool().array<std::uint8_t>("sporos::similar rows", 2 * matrix.rows);
      SimilarRows similar{memory.data(), memory.data() + matrix.rows};
      if (!pays_here) {
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
    similar_b_ = find(b_, pays_in_b, memory_b_);
    if (static_cast<const void*>(a_.coordinates) == static_cast<const void*>(b_.coordinates) &&
        static_cast<const void*>(a_.positions) == static_cast<const void*>(b_.positions))
      similar_a_ = similar_b_;
    else
      similar_a_ = find(a_, pays_in_a, memory_a_);
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

  /// Whether rows have so few products, on average, that they are made as fast as similar rows are found.
  bool is_few() const { return work_ < least_products_a_row * a_.rows; }

  static constexpr std::int64_t least_products_a_row = 8;
  /// A DiagonalProduct's arrays want to be paid for.
  static constexpr std::int64_t least_diagonal_work = 20'000;
  static constexpr std::int64_t least_parallel_work = 20'000;  ///< products
  static constexpr std::int64_t least_work = 4'000;            ///< products of a chunk
  static constexpr std::int64_t most_in_chunk = 32'768;        ///< elements, so that they stay in the caches

  std::int64_t block_;
  std::vector<std::int64_t> products_, bounds_;
  std::int64_t work_ = 0;
  std::int64_t even_ = 0;  ///< even_length of B
  HostArray<std::uint8_t> memory_a_, memory_b_;
  SimilarRows similar_a_, similar_b_;
};

}  // namespace sporos::detail

// SPDX-License-Identifier: Apache-2.0
/// @file work.hpp
/// What a product by rows finds out before it computes: how much work each row is, which rows are similar,
/// how rows are dealt out to workers, and how much memory these need.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../../../core/first_touch.hpp"
#include "../../../core/pool.hpp"
#include "../../../core/space.hpp"
#include "../../../formats/chunks.hpp"
#include "../../../formats/near_rows.hpp"
#include "../../host/sparse_rows.hpp"
#include "reach.hpp"
#include "row_output.hpp"
#include "row_space.hpp"
#include "rows.hpp"
#include "similar_rows.hpp"

namespace sporos::detail {

/// The most bytes of memory that an array of the pool takes if `count` of its elements are written, in whole
/// pages.
template <class T>
std::int64_t most_array_bytes(std::int64_t count) {
  constexpr std::int64_t small_pages = 2 * 4096;  // the array's first and last page
  constexpr std::int64_t on_large_pages = std::int64_t{512} << 10;
  const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(T));
  return bytes + (bytes >= on_large_pages ? large_page + small_pages : small_pages);
}

/// The work of one product A * B, which depends only on the patterns: what is found out before it is
/// computed, and the memory of the workers.
template <class Acc, class A, class B, class Value, class Coordinate>
class ProductWork {
 protected:
  /// @param most_reserved  up to this many bytes, memory is reserved for the largest possible result
  ProductWork(const HostThreads& threads, const A& a, const B& b, std::int64_t most_reserved)
      : host_threads_(threads), a_(a), b_(b), most_reserved_(most_reserved), block_(rows_in_block(a.rows)) {}

  // Two must not share their workers' memory.
  ProductWork(const ProductWork&) = delete;
  ProductWork(ProductWork&&) noexcept = default;
  ~ProductWork() = default;

  /// Analyses the patterns. Cost: one pass over A, and if rows may be similar, one over B.
  /// @param first_in_b  if the rows of A are consecutive rows of B, except for one shift of all columns,
  ///                    the first of them: then similar rows are looked for only once; otherwise -1
  void analyse(bool finds_similar_rows, std::int64_t first_in_b = -1) {
    measure();
    if (work_ == 0) return;
    if (finds_similar_rows) {
      const bool is_b =
          static_cast<const void*>(a_.coordinates) == static_cast<const void*>(b_.coordinates) &&
          static_cast<const void*>(a_.positions) == static_cast<const void*>(b_.positions);
      find_similar(is_b ? 0 : first_in_b);
      similar_b_.repeated = repeated_length(b_, short_);
    }
    has_near_rows_ = !RowProduct<Acc, A, B>::fits_caches(b_) && has_near_rows(a_);
    in_one_pass_ = bound_ <= most_reserved_ / element_bytes;
    cut();
    buffered_ = *std::max_element(bounds_.begin(), bounds_.end()) + RowOutput<Coordinate, Value>::buffered() +
                row_slack;
    Worker measured;
    Carver measuring(nullptr);
    carve(measuring, measured);
    space_bytes_ = measuring.bytes();
    front_bytes_ = space_bytes_ - measured.space.sums_bytes;
  }

  /// The bytes that are written to find similar rows.
  static std::int64_t bytes_of_marks(const A& a, const B& b) { return 2 * (a.rows + b.rows); }

  /// The rows that a worker takes at a time.
  struct Chunk {
    std::int64_t begin = 0, end = 0;  ///< rows
    std::int64_t bound = 0;           ///< the most elements that they can have
    std::int64_t products = 0;        ///< the most products
    std::int64_t places = 0;          ///< index of the first place of its products
    std::int64_t at = 0;              ///< index in the arrays of the worker that computed it
    std::int64_t size = 0;            ///< number of elements
  };

  struct Worker {
    HostArray<std::byte> block;  ///< the next three are parts of it
    Coordinate* buffer_coordinates = nullptr;
    Value* buffer_values = nullptr;
    RowSpace<Acc> space{};
    HostArray<Coordinate> coordinates;
    HostArray<Value> values;
    std::int64_t touched = 0;  ///< number of elements of `coordinates` and `values` that have been written

    RowOutput<Coordinate, Value> output(Coordinate* to_coordinates, Value* to_values) const {
      return {to_coordinates, to_values, buffer_coordinates, buffer_values};
    }
  };

  /// Makes the workers, unless they exist.
  void make_workers() {
    if (!workers_.empty()) return;
    std::vector<Worker> workers(static_cast<std::size_t>(threads_));
    for (auto& worker : workers) {
      worker.block = pool().reserve<std::byte>("sporos::row workspace", space_bytes_);
      Carver carver(worker.block.data());
      carve(carver, worker);
    }
    workers_ = std::move(workers);
  }

  RowProduct<Acc, A, B> rows_of(Worker& worker) const {
    return {a_, b_, short_, row_lengths(), has_near_rows_, form_, similar_a_, similar_b_, worker.space};
  }

  /// Calls body(worker, rows, chunk) for every chunk, in parallel, each with the next worker that is free.
  template <class Body>
  void for_each_chunk_of_rows(const Body& body) {
    ChunkQueue queue(static_cast<std::int64_t>(chunks_.size()));
    for_each_worker(host_threads_, static_cast<std::int64_t>(workers_.size()), queue,
                    [&](std::int64_t number) {
                      Worker& worker = workers_[static_cast<std::size_t>(number)];
                      auto rows = rows_of(worker);
                      for (std::int64_t chunk = 0; queue.take(chunk);)
                        body(worker, rows, chunks_[static_cast<std::size_t>(chunk)]);
                    });
  }

  /// Whether so many rows are similar that rows of a known pattern are computed faster together than one by
  /// one.
  bool has_similar_rows_often() const {
    return (similar_a_.shifts_often && similar_b_.shifts_often) || similar_a_.same_often ||
           similar_b_.same_often || similar_b_.repeated > 0;
  }

  /// The most elements that a chunk can have.
  std::int64_t largest_chunk() const {
    std::int64_t largest = 0;
    for (const Chunk& chunk : chunks_) largest = std::max(largest, chunk.bound);
    return largest;
  }

  /// Cuts the rows into chunks of about equal work. They are small, unless one thread writes the whole result
  /// to its final place: then a chunk's elements fill a few large pages, which are touched before it.
  void cut() {
    threads_ = work_ < least_parallel_work ? 1 : host_threads_.concurrency();
    const std::int64_t most = std::max(64 * threads_, bound_ / most_in_chunk);
    const std::int64_t wanted = threads_ == 1 && in_one_pass_
                                    ? std::max<std::int64_t>(1, bound_ / (2 * large_page / element_bytes))
                                    : std::clamp<std::int64_t>(work_ / least_work, 1, most);
    chunks_.clear();
    chunks_.reserve(std::min(products_.size(), static_cast<std::size_t>(wanted) + 1));
    std::int64_t done = 0;
    Chunk chunk;
    for (std::size_t block = 0; block < products_.size(); ++block) {
      done += products_[block];
      chunk.bound += bounds_[block];
      chunk.products += products_[block];
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

  /// Tells the pool how much of the workers' blocks has been touched.
  void keep_blocks() {
    for (auto& worker : workers_) pool().keep(worker.block, touched_bytes(worker));
  }

  /// The bytes held from one computation to the next.
  std::int64_t work_bytes() const {
    std::int64_t sum = analysis_bytes();
    for (const Worker& worker : workers_) sum += touched_bytes(worker);
    return sum;
  }
  /// The most bytes held, as known before there are workers.
  std::int64_t most_work_bytes() const {
    return analysis_bytes() +
           threads_ * (static_cast<std::int64_t>(sizeof(Worker)) + most_array_bytes<std::byte>(space_bytes_));
  }

  static constexpr std::int64_t element_bytes = sizeof(Value) + sizeof(Coordinate);

  const HostThreads host_threads_;
  A a_;
  B b_;
  const std::int64_t most_reserved_;
  std::vector<Chunk> chunks_;
  std::vector<Worker> workers_;
  std::int64_t work_ = 0;           ///< number of products; an upper bound if the rows of B are short
  std::int64_t expected_work_ = 0;  ///< then an estimate, else the same
  std::int64_t bound_ = 0;          ///< the most elements of the result
  bool in_one_pass_ = true;         ///< whether each row is computed once, into memory for `bound_` elements
  SpgemmForm form_ = spgemm_form();
  std::int64_t threads_ = 1;

 private:
  /// Divides a block into the arrays of a worker; the sums come last, since the smallest part of them is
  /// touched.
  void carve(Carver& carver, Worker& worker) const {
    worker.buffer_coordinates = carver.take<Coordinate>(buffered_);
    worker.buffer_values = carver.take<Value>(buffered_);
    worker.space = carve_row_space<Acc>(carver, b_.columns, has_shifts());
  }

  /// Counts the products of each block of rows, and the elements that they can make; these are upper bounds
  /// if the rows of B are short.
  void measure() {
    short_ = short_length(b_);
    const std::int64_t blocks = (a_.rows + block_ - 1) / block_;
    products_.resize(static_cast<std::size_t>(blocks));
    bounds_.resize(static_cast<std::size_t>(blocks));
    const std::int64_t chunks = chunks_for(host_threads_, a_.nnz(), 8);
    for_each_chunk(host_threads_, chunks, [&](std::int64_t chunk) {
      const auto [first, last] = chunk_bounds(blocks, chunk, chunks);
      for (std::int64_t block = first; block < last; ++block) {
        // One sum over all rows of a block, unless a row may have more products than there are columns:
        // the ends of short rows cannot be predicted.
        const std::int64_t first_row = block * block_, end = std::min(a_.rows, first_row + block_);
        const std::int64_t products = products_of(first_row, end);
        std::int64_t bound = products;
        if (products > b_.columns) {
          bound = 0;
          for (std::int64_t row = first_row; row < end; ++row)
            bound += std::min(products_of(row, row + 1), b_.columns);
        }
        products_[static_cast<std::size_t>(block)] = products;
        bounds_[static_cast<std::size_t>(block)] = bound;
      }
    });
    for (std::size_t block = 0; block < products_.size(); ++block) {
      work_ += products_[block];
      bound_ += bounds_[block];
    }
    expected_work_ =
        short_ == 0 ? work_
                    : static_cast<std::int64_t>(static_cast<double>(a_.nnz()) *
                                                static_cast<double>(b_.nnz()) / static_cast<double>(b_.rows));
  }

  /// The number of products of rows [begin, end); an upper bound if the rows of B are short.
  SPOROS_HOST_INLINE std::int64_t products_of(std::int64_t begin, std::int64_t end) const {
    const std::int64_t from = a_.begin(begin), to = a_.begin(end);
    if (short_ > 0) return (to - from) * short_;
    std::int64_t products = 0;
    if (gathers_slowly()) {
      for (std::int64_t q = from; q < to; ++q) {
        products += b_.length(a_.coordinates[q]);
        SPOROS_KEEP_SCALAR(products);
      }
    } else {
      for (std::int64_t q = from; q < to; ++q) products += b_.length(a_.coordinates[q]);
    }
    return products;
  }

  /// Finds runs of similar rows, cut at the same rows for any number of threads; none if looking for them
  /// would cost more than they save.
  void find_similar(std::int64_t first_in_b) {
    const auto is_worth_it = [&](const auto& matrix) {
      return expected_work_ >= std::max(least_products_a_row * matrix.rows, least_work_of_similar_rows);
    };
    const SimilarCount in_b = is_worth_it(b_) ? expected_similar_rows(b_) : SimilarCount{};
    const SimilarCount in_a = first_in_b >= 0   ? in_b
                              : is_worth_it(a_) ? expected_similar_rows(a_)
                                                : SimilarCount{};
    const bool pays_in_a = has_similar_rows(in_a, in_b), pays_in_b = has_similar_rows(in_b, in_a);
    if (!pays_in_a && !pays_in_b) return;
    const auto find = [&](const auto& matrix, bool pays_here, HostArray<std::uint8_t>& memory) {
      memory = pool().array<std::uint8_t>("sporos::similar rows", 2 * matrix.rows);
      SimilarRows similar{memory.data(), memory.data() + matrix.rows};
      if (!pays_here) {
        std::fill_n(memory.data(), 2 * matrix.rows, std::uint8_t{0});
        return similar;
      }
      constexpr std::int64_t rows_in_part = 48 * 256;  // a multiple of rows_in_block
      const std::int64_t parts = (matrix.rows + rows_in_part - 1) / rows_in_part;
      std::atomic<std::int64_t> same{0}, shifted{0};
      for_each_chunk(host_threads_, parts, [&](std::int64_t part) {
        const SimilarCount count = find_similar_rows(
            matrix, part * rows_in_part, std::min(matrix.rows, (part + 1) * rows_in_part), similar);
        same += count.same;
        shifted += count.shifted;
      });
      similar.frequent = least_frequent * same > matrix.rows;
      similar.shifts = shifted > 0 && work_ >= least_diagonal_work;
      similar.same_often = least_same_often * same > matrix.rows;
      similar.shifts_often = similar.shifts && least_shifts_often * (matrix.rows - shifted) < matrix.rows;
      return similar;
    };
    similar_b_ = find(b_, pays_in_b, memory_b_);
    if (first_in_b < 0) {
      similar_a_ = find(a_, pays_in_a, memory_a_);
      return;
    }
    similar_a_ = similar_b_;
    similar_a_.same += first_in_b;
    similar_a_.shifted += first_in_b;
  }

  bool has_shifts() const { return similar_a_.shifts && similar_b_.shifts; }

  /// Whether rows have so few products, on average, that computing them costs no more than looking for
  /// similar ones.
  bool has_short_rows() const { return expected_work_ < least_products_a_row * a_.rows; }

  RowLengths row_lengths() const {
    if (has_short_rows()) return RowLengths::brief;
    // Rows of B with the same columns are added up together only if a row is looked at.
    const bool more = (form_ == SpgemmForm::plain || form_ == SpgemmForm::in_a_row) && !similar_b_.frequent &&
                      similar_b_.repeated == 0;
    const std::int64_t most = more                                      ? most_products_of_more
                              : b_.columns <= RowSpace<Acc>::marks_step ? most_products_of_one_group
                                                                        : most_medium_products;
    return expected_work_ <= most * a_.rows && b_.columns <= most_plain_columns ? RowLengths::medium
                                                                                : RowLengths::any;
  }

  std::int64_t touched_bytes(const Worker& worker) const {
    return std::min(space_bytes_, front_bytes_ + worker.space.clean_sums);
  }
  std::int64_t analysis_bytes() const {
    return static_cast<std::int64_t>((products_.capacity() + bounds_.capacity()) * sizeof(std::int64_t) +
                                     chunks_.capacity() * sizeof(Chunk)) +
           most_array_bytes<std::uint8_t>(static_cast<std::int64_t>(memory_a_.extent(0))) +
           most_array_bytes<std::uint8_t>(static_cast<std::int64_t>(memory_b_.extent(0)));
  }

  /// A row of this many products takes as long as looking for similar rows.
  static constexpr std::int64_t least_products_a_row = 8;
  /// A product with fewer products than this is finished before similar rows are found.
  static constexpr std::int64_t least_work_of_similar_rows = 512;
  /// The most products per row, on average, with which rows are computed plainly; and the same if all their
  /// marks are in one group, or if the form has more rows plain.
  static constexpr std::int64_t most_medium_products = 24, most_products_of_one_group = 40,
                                most_products_of_more = 64;
  /// The most columns with which a row's marks are found by looking at each group of 4096 of them.
  static constexpr std::int64_t most_plain_columns = std::int64_t{1} << 16;
  /// If one row in this many has the columns of the next, looking for them pays off.
  static constexpr std::int64_t least_frequent = 8;
  /// The same if the pattern of the result is known, and only sums are computed.
  static constexpr std::int64_t least_same_often = 4;
  /// If at most one row in this many is not the previous one shifted, runs are long enough for a
  /// DiagonalProduct to be faster than sums whose places are known.
  static constexpr std::int64_t least_shifts_often = 8;
  /// With this many products, the arrays of a DiagonalProduct save more than they cost to set up.
  static constexpr std::int64_t least_diagonal_work = 20'000;
  static constexpr std::int64_t least_parallel_work = 20'000;  ///< products that are worth waking threads for
  static constexpr std::int64_t least_work = 4'000;            ///< products that are worth taking a chunk for
  static constexpr std::int64_t most_in_chunk = 32'768;        ///< elements, so that they stay in the caches

  const std::int64_t block_;
  std::vector<std::int64_t> products_, bounds_;  // [blocks of rows]
  std::int64_t short_ = 0;                       ///< short_length of B
  HostArray<std::uint8_t> memory_a_, memory_b_;
  SimilarRows similar_a_, similar_b_;
  bool has_near_rows_ = false;
  std::int64_t space_bytes_ = 0, front_bytes_ = 0;  ///< bytes of a worker's block, and of it before the sums
  std::int64_t buffered_ = 0;                       ///< elements of a worker's buffers
};

}  // namespace sporos::detail

// SPDX-License-Identifier: Apache-2.0
/// @file summa_stages.hpp
/// The stages of a product of matrices on a grid of ranks, and the blocks of a factor that each stage sends
/// along one line of the grid.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/array.hpp"
#include "../core/level.hpp"
#include "../core/tensor.hpp"
#include "../kernels/spgemm/host/multiply.hpp"
#include "agree.hpp"
#include "communicator.hpp"
#include "partition.hpp"

namespace sporos::detail {

/// One stage of C(i, j) = A(i, k) * B(k, j): coordinates of k that belong to one part of A's columns and one
/// part of B's rows, by their local numbers in both.
struct SummaStage {
  int left_part = 0, right_part = 0;
  Bounds left, right;
};

/// Whether the coordinates of k can be cut into stages.
inline bool has_stages(const Partition& left, const Partition& right) {
  return left == right || (left.is_contiguous() && right.is_contiguous());
}

/// The stages, which requires has_stages; stages without coordinates are left out. If both factors are
/// divided in the same way, there is a stage for each part. Otherwise the stages are the ranges between all
/// coordinates at which a part of either begins:
///
///     left       0         1         2            3 parts
///     right      0              1                 2 parts
///     stages     [  0    ][  1 ][ 2 ][   3    ]
inline std::vector<SummaStage> summa_stages(const Partition& left, const Partition& right) {
  std::vector<SummaStage> out;
  if (left == right) {
    for (int part = 0; part < left.parts(); ++part)
      if (const Bounds all{0, left.count(part)}; all.size() > 0) out.push_back({part, part, all, all});
    return out;
  }
  for (int l = 0, r = 0; l < left.parts() && r < right.parts();) {
    const Bounds of_left = left.range(l), of_right = right.range(r);
    const std::int64_t begin = std::max(of_left.begin, of_right.begin);
    const std::int64_t end = std::min(of_left.end, of_right.end);
    if (begin < end)
      out.push_back({l,
                     r,
                     {begin - of_left.begin, end - of_left.begin},
                     {begin - of_right.begin, end - of_right.begin}});
    l += of_left.end == end;
    r += of_right.end == end;
  }
  return out;
}

/// The block of a factor that a stage reads: rows and columns of what one rank of the line stores.
struct StageBlock {
  int owner = 0;  ///< the owner's rank in the line
  Bounds rows, columns;
};

/// A factor as the ranks of one line of the grid, a row or a column, read it stage by stage. They keep the
/// patterns of all blocks, with rows and columns numbered from 0, and the values of two stages: one being
/// computed with and one in flight.
template <class T>
class StagedFactor {
 public:
  using Value = typename T::value_type;
  using Rows = decltype(sparse_rows(std::declval<const T&>()));
  using Position = typename Rows::position_type;
  using Column = typename Rows::coordinate_type;

  /// Collective.
  /// @param ranks   all ranks of the grid
  /// @param line    the ranks of this rank's line
  /// @param source  what this rank stores of the factor
  /// @param blocks  the block for each stage
  StagedFactor(const Communicator& ranks, const Communicator& line, const T& source,
               const std::vector<StageBlock>& blocks)
      : line_(line), source_(source), stages_(blocks.size()) {
    jointly(ranks, [&] {
      for (std::size_t at = 0; at < blocks.size(); ++at) {
        Stage& stage = stages_[at];
        stage.owner = blocks[at].owner;
        stage.rows = blocks[at].rows.size();
        stage.columns = blocks[at].columns.size();
        stage.positions = make_array<Position>("sporos::StagedFactor positions", stage.rows + 1);
        if (is_own(stage)) find_rows(stage, blocks[at]);
      }
      agree(ranks, "the blocks of a product in stages");
    });
    for (const Stage& stage : stages_) line_.broadcast(stage.positions.data(), stage.rows + 1, stage.owner);
    jointly(ranks, [&] {
      std::int64_t most = 0;
      for (std::size_t at = 0; at < blocks.size(); ++at) {
        Stage& stage = stages_[at];
        most = std::max(most, stage.nnz());
        stage.coordinates = make_array<Column>("sporos::StagedFactor columns", stage.nnz());
        if (is_own(stage)) copy_columns(stage, blocks[at].columns.begin);
      }
      for (auto& buffer : values_) buffer = make_array<Value>("sporos::StagedFactor values", most);
      agree(ranks, "the blocks of a product in stages");
    });
    for (const Stage& stage : stages_) line_.broadcast(stage.coordinates.data(), stage.nnz(), stage.owner);
  }

  std::size_t stages() const { return stages_.size(); }

  /// Starts to send or receive the values of a stage.
  void start(Requests& into, std::size_t at) const {
    const Stage& stage = stages_[at];
    const HostArray<Value>& values = values_[at % values_.size()];
    if (is_own(stage)) pack(stage, values.data());
    line_.start_broadcast(into, values.data(), stage.nnz(), stage.owner,
                          std::make_shared<HostArray<Value>>(values));
  }
  /// The block of a stage, with the values that have arrived for it, or for the stage that shares its memory.
  Rows block(std::size_t at) const {
    const Stage& stage = stages_[at];
    return {stage.rows, stage.columns, stage.positions.data(), stage.coordinates.data(),
            values_[at % values_.size()].data()};
  }

  /// The number of rows in all blocks.
  std::int64_t rows() const {
    std::int64_t sum = 0;
    for (const Stage& stage : stages_) sum += stage.rows;
    return sum;
  }
  /// The number of nonzeros in all blocks, and in those that this rank sends.
  std::int64_t nnz() const { return count(false); }
  std::int64_t own_nnz() const { return count(true); }
  /// The number of messages that this rank sends, if each owner sends to all others of its line, and of
  /// values in them.
  std::int64_t messages() const {
    std::int64_t sum = 0;
    for (const Stage& stage : stages_) sum += is_own(stage) && stage.nnz() > 0 ? line_.size() - 1 : 0;
    return sum;
  }
  std::int64_t values_sent() const { return own_nnz() * (line_.size() - 1); }
  std::int64_t values_received() const { return nnz() - own_nnz(); }
  std::int64_t held_bytes() const {
    std::int64_t sum = 0;
    for (const Stage& stage : stages_)
      sum += array_bytes<Position>(stage.rows + 1) + array_bytes<Column>(stage.nnz()) +
             array_bytes<std::int64_t>(std::ssize(stage.first));
    for (const auto& buffer : values_) sum += array_bytes<Value>(static_cast<std::int64_t>(buffer.extent(0)));
    return sum;
  }

 private:
  struct Stage {
    int owner = 0;
    std::int64_t rows = 0, columns = 0;
    HostArray<Position> positions;    // [rows + 1]
    HostArray<Column> coordinates;    // [nnz]
    std::vector<std::int64_t> first;  // [rows] where each row begins in what the owner stores; on it alone

    std::int64_t nnz() const { return static_cast<std::int64_t>(positions(static_cast<std::size_t>(rows))); }
    std::int64_t length(std::size_t row) const {
      return static_cast<std::int64_t>(positions(row + 1) - positions(row));
    }
  };

  bool is_own(const Stage& stage) const { return stage.owner == line_.rank(); }
  std::int64_t count(bool own_alone) const {
    std::int64_t sum = 0;
    for (const Stage& stage : stages_) sum += !own_alone || is_own(stage) ? stage.nnz() : 0;
    return sum;
  }

  /// Finds the nonzeros of a block; columns ascend.
  void find_rows(Stage& stage, const StageBlock& block) const {
    const Rows from = sparse_rows(source_);
    stage.first.reserve(static_cast<std::size_t>(stage.rows));
    std::size_t row = 0;
    stage.positions(0) = 0;
    for (std::int64_t at = block.rows.begin; at < block.rows.end; ++at, ++row) {
      const Column* const end = from.coordinates + from.begin(at + 1);
      const Column* const first =
          std::lower_bound(from.coordinates + from.begin(at), end, block.columns.begin);
      const Column* const behind = std::lower_bound(first, end, block.columns.end);
      stage.first.push_back(first - from.coordinates);
      stage.positions(row + 1) = static_cast<Position>(stage.positions(row) + (behind - first));
    }
  }
  void copy_columns(const Stage& stage, std::int64_t first_column) const {
    const Column* const from = sparse_rows(source_).coordinates;
    Column* to = stage.coordinates.data();
    for (std::size_t row = 0; row < stage.first.size(); ++row)
      to = std::transform(from + stage.first[row], from + stage.first[row] + stage.length(row), to,
                          [&](Column column) { return static_cast<Column>(column - first_column); });
  }
  void pack(const Stage& stage, Value* to) const {
    const Value* const from = sparse_rows(source_).values;
    for (std::size_t row = 0; row < stage.first.size(); ++row)
      to = std::copy_n(from + stage.first[row], stage.length(row), to);
  }

  Communicator line_;
  T source_;
  std::vector<Stage> stages_;
  std::array<HostArray<Value>, 2> values_;
};

/// The blocks of all stages as one matrix, with its own values: those of a left factor side by side, those of
/// a right factor one below another.
///
///     left   [ stage 0 | stage 1 | stage 2 ]       right   [ stage 0 ]
///                                                          [ stage 1 ]
///                                                          [ stage 2 ]
template <class Factor>
class AllBlocks {
 public:
  using Value = typename Factor::Value;
  using Column = typename Factor::Column;
  using Rows = SparseRows<Value, std::int64_t, Column>;

  AllBlocks(const Factor& factor, bool side_by_side) : side_by_side_(side_by_side), places_(factor.stages()) {
    std::vector<typename Factor::Rows> blocks;
    for (std::size_t at = 0; at < factor.stages(); ++at) {
      blocks.push_back(factor.block(at));
      rows_ = side_by_side ? blocks[at].rows : rows_ + blocks[at].rows;
      columns_ = side_by_side ? columns_ + blocks[at].columns : blocks[at].columns;
    }
    positions_ = make_array<std::int64_t>("sporos::AllBlocks positions", rows_ + 1);
    coordinates_ = make_array<Column>("sporos::AllBlocks columns", factor.nnz());
    values_ = make_array<Value>("sporos::AllBlocks values", factor.nnz());
    positions_(0) = 0;
    std::size_t row = 0;
    std::int64_t to = 0;
    const auto add = [&](std::size_t at, std::int64_t of_block, std::int64_t first_column) {
      const typename Factor::Rows& block = blocks[at];
      places_[at].push_back(to);
      std::transform(block.coordinates + block.begin(of_block), block.coordinates + block.begin(of_block + 1),
                     coordinates_.data() + to,
                     [&](Column column) { return static_cast<Column>(column + first_column); });
      to += block.length(of_block);
    };
    if (side_by_side) {
      for (std::int64_t of_block = 0; of_block < rows_; ++of_block) {
        std::int64_t first_column = 0;
        for (std::size_t at = 0; at < blocks.size(); first_column += blocks[at++].columns)
          add(at, of_block, first_column);
        positions_(++row) = to;
      }
    } else {
      for (std::size_t at = 0; at < blocks.size(); ++at)
        for (std::int64_t of_block = 0; of_block < blocks[at].rows; ++of_block) {
          add(at, of_block, 0);
          positions_(++row) = to;
        }
    }
  }

  /// Takes the values that have arrived for a stage.
  void take(const Factor& factor, std::size_t at) const {
    const typename Factor::Rows block = factor.block(at);
    if (block.rows == 0) return;
    if (!side_by_side_) {
      std::copy_n(block.values, block.nnz(), values_.data() + places_[at][0]);
      return;
    }
    for (std::int64_t row = 0; row < block.rows; ++row)
      std::copy_n(block.values + block.begin(row), block.length(row),
                  values_.data() + places_[at][static_cast<std::size_t>(row)]);
  }

  Rows rows() const { return {rows_, columns_, positions_.data(), coordinates_.data(), values_.data()}; }
  std::int64_t bytes() const { return most_bytes(rows_, static_cast<std::int64_t>(values_.extent(0))); }
  /// An upper bound of the bytes that such a matrix takes.
  static std::int64_t most_bytes(std::int64_t rows, std::int64_t nnz) {
    return array_bytes<std::int64_t>(2 * rows + 1) + array_bytes<Column>(nnz) + array_bytes<Value>(nnz);
  }

 private:
  bool side_by_side_;
  std::int64_t rows_ = 0, columns_ = 0;
  std::vector<std::vector<std::int64_t>> places_;  ///< where each row of each stage's block begins
  HostArray<std::int64_t> positions_;              // [rows + 1]
  HostArray<Column> coordinates_;                  // [nnz]
  HostArray<Value> values_;                        // [nnz]
};

/// Calls multiply(stage) for each stage once the values of both factors' blocks have arrived, while those of
/// the next stage travel. If it throws, this rank still sends what others wait for, and throws at the end.
template <class Left, class Right, class Multiply>
void for_each_stage(const Left& left, const Right& right, const Multiply& multiply) {
  const std::size_t stages = left.stages();
  std::exception_ptr failure;
  std::array<Requests, 2> under_way;
  const auto start = [&](std::size_t at) {
    left.start(under_way[at % 2], at);
    right.start(under_way[at % 2], at);
  };
  if (stages > 0) start(0);
  for (std::size_t at = 0; at < stages; ++at) {
    if (at + 1 < stages) start(at + 1);
    under_way[at % 2].wait();
    if (failure) continue;
    try {
      multiply(at);
    } catch (...) {
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace sporos::detail

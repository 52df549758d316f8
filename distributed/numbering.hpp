// SPDX-License-Identifier: Apache-2.0
/// @file numbering.hpp
/// Numbering: the coordinates of an index variable over which a rank's part of a statement runs.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "../core/index.hpp"
#include "partition.hpp"

namespace sporos::detail {

/// Which mode of which distribution divides the coordinates of an index variable among ranks.
struct Division {
  char variable = ' ';
  Partition partition;
  int stride = 1;  ///< number of consecutive ranks with the same part

  int part(int rank) const { return rank / stride % partition.parts(); }
  bool operator==(const Division& other) const {
    return stride == other.stride && partition == other.partition;
  }
};

/// The coordinates of an index variable on one rank, numbered in ascending order: all of them, a part of a
/// partition, or a list.
class Numbering {
 public:
  static Numbering whole(std::int64_t extent) {
    Numbering out;
    out.extent_ = out.size_ = extent;
    return out;
  }
  static Numbering part(const Division& division, int rank) {
    Numbering out;
    out.division_ = std::make_shared<const Division>(division);
    out.part_ = division.part(rank);
    out.extent_ = division.partition.extent();
    out.size_ = division.partition.count(out.part_);
    return out;
  }
  /// @param coordinates  ascending, without repetition
  static Numbering list(std::vector<std::int64_t> coordinates, std::int64_t extent) {
    Numbering out;
    out.extent_ = extent;
    out.size_ = std::ssize(coordinates);
    out.list_ = std::make_shared<const std::vector<std::int64_t>>(std::move(coordinates));
    return out;
  }

  std::int64_t size() const { return size_; }
  std::int64_t extent() const { return extent_; }
  bool is_whole() const { return !division_ && !list_; }
  bool is_list() const { return list_ != nullptr; }
  /// The division of which this is a part; null if there is none.
  const Division* division() const { return division_.get(); }
  /// The coordinates of a list.
  const std::vector<std::int64_t>& coordinates() const { return *list_; }

  std::int64_t global(std::int64_t number) const {
    if (list_) return (*list_)[static_cast<std::size_t>(number)];
    return division_ ? division_->partition.global(part_, number) : number;
  }
  /// The number of a coordinate; -1 if it has none.
  std::int64_t local(std::int64_t c) const {
    if (list_) {
      const auto found = std::lower_bound(list_->begin(), list_->end(), c);
      return found != list_->end() && *found == c ? found - list_->begin() : -1;
    }
    if (!division_) return c;
    return division_->partition.owner(c) == part_ ? division_->partition.local(c) : -1;
  }

 private:
  std::int64_t extent_ = 0, size_ = 0;
  std::shared_ptr<const Division> division_;
  int part_ = 0;
  std::shared_ptr<const std::vector<std::int64_t>> list_;
};

/// A set of coordinates of one mode: as bits if there are enough coordinates to be worth it, otherwise as a
/// list.
class CoordinateSet {
 public:
  /// @param expected  about how many coordinates will be added, counting repetitions
  CoordinateSet(std::int64_t extent, std::int64_t expected) {
    if (extent / bits_for_each <= expected + most_without_a_reason / bits_for_each)
      bits_.resize(static_cast<std::size_t>((extent + 63) / 64));
  }
  void add(std::int64_t c) {
    if (bits_.empty())
      list_.push_back(c);
    else
      bits_[static_cast<std::size_t>(c / 64)] |= std::uint64_t{1} << (c % 64);
  }
  /// The coordinates, ascending and distinct. The set is empty afterwards.
  std::vector<std::int64_t> take() {
    if (bits_.empty()) {
      std::sort(list_.begin(), list_.end());
      list_.erase(std::unique(list_.begin(), list_.end()), list_.end());
      return std::move(list_);
    }
    std::size_t count = 0;
    for (const std::uint64_t word : bits_) count += static_cast<std::size_t>(std::popcount(word));
    list_.reserve(count);
    for (std::size_t at = 0; at < bits_.size(); ++at)
      for (std::uint64_t word = std::exchange(bits_[at], 0); word != 0; word &= word - 1)
        list_.push_back(static_cast<std::int64_t>(at) * 64 + std::countr_zero(word));
    return std::move(list_);
  }

 private:
  static constexpr std::int64_t bits_for_each = 64;  ///< take as much memory as a number in the list
  static constexpr std::int64_t most_without_a_reason = std::int64_t{1} << 20;  ///< bits anyway: 128 KiB
  std::vector<std::uint64_t> bits_;
  std::vector<std::int64_t> list_;
};

/// Numbers by coordinate, for many look-ups: a table if there are not too many coordinates, otherwise a
/// search.
class NumberTable {
 public:
  explicit NumberTable(Numbering&&) = delete;  // it keeps a reference
  explicit NumberTable(const Numbering& numbering) : numbering_(numbering) {
    if (!numbering.is_list() || numbering.extent() > 16 * numbering.size() + most_without_a_reason) return;
    table_.assign(static_cast<std::size_t>(numbering.extent()), -1);
    for (std::int64_t at = 0; at < numbering.size(); ++at)
      table_[static_cast<std::size_t>(numbering.global(at))] = at;
  }
  std::int64_t operator()(std::int64_t c) const {
    return table_.empty() ? numbering_.local(c) : table_[static_cast<std::size_t>(c)];
  }

 private:
  static constexpr std::int64_t most_without_a_reason = std::int64_t{1} << 20;  // a table anyway: 8 MiB
  const Numbering& numbering_;
  std::vector<std::int64_t> table_;
};

/// The numberings of a statement's index variables.
class Numberings {
 public:
  Numbering& operator[](char variable) { return of_[static_cast<unsigned char>(variable) % size]; }
  const Numbering& operator[](char variable) const {
    return of_[static_cast<unsigned char>(variable) % size];
  }

 private:
  static constexpr std::size_t size = 128;
  std::array<Numbering, size> of_{};
};

}  // namespace sporos::detail

// SPDX-License-Identifier: Apache-2.0
/// @file partition.hpp
/// Partition: which part owns each coordinate of one mode, and the coordinate's number within the part.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/level.hpp"
#include "agree.hpp"

namespace sporos {

/// The coordinates of one mode, divided among parts. Within its part each coordinate has a local number;
/// local numbers ascend with the coordinates.
///
///     coordinate                    0  1  2  3  4  5  6  7  8  9
///     blocks(10, 3)                 0  0  0  0  1  1  1  2  2  2     owner; sizes differ by 1 at most
///     ranges({0, 1, 7, 10})         0  1  1  1  1  1  1  2  2  2     part p owns [begins[p], begins[p + 1])
///     cyclic(10, 3)                 0  1  2  0  1  2  0  1  2  0     dealt out one by one
///     cyclic(10, 3, 2)              0  0  1  1  2  2  0  0  1  1     dealt out in blocks of 2
///     owned({0, 2, 2, …}, 3)        0  2  2  1  …                    as given
///     whole(10)                     every part has all of them
///
///     local number, cyclic(10, 3)   0  0  0  1  1  1  2  2  2  3
///
/// A partition knows the owner of every coordinate, on every rank: blocks, cyclic and whole by arithmetic,
/// ranges from the first coordinate of each part, owned from two numbers per coordinate. Copies share these
/// numbers.
class Partition {
 public:
  /// Has no coordinates.
  Partition() = default;

  /// All coordinates in every part: a replicated mode.
  /// @throws ShapeError for a negative extent
  static Partition whole(std::int64_t extent) { return Partition(Kind::whole, extent, 1); }

  /// Parts of consecutive coordinates; the first extent % parts of them have one more than the others.
  static Partition blocks(std::int64_t extent, int parts) { return Partition(Kind::blocks, extent, parts); }

  /// Blocks of `block` consecutive coordinates, dealt out to the parts in turn.
  static Partition cyclic(std::int64_t extent, int parts, std::int64_t block = 1) {
    if (block < 1)
      throw ShapeError(text("a cyclic partition deals out blocks of ", block, ": at least 1 is expected"));
    Partition out(Kind::cyclic, extent, parts);
    out.block_ = block;
    return out;
  }

  /// Part p owns the coordinates from begins[p] to begins[p + 1].
  /// @param begins  begins with 0, ends with the extent, and does not descend
  static Partition ranges(std::vector<std::int64_t> begins) {
    if (begins.size() < 2 || begins.front() != 0 || !std::is_sorted(begins.begin(), begins.end()))
      throw ShapeError(
          "the begins of a partition's ranges are 0, where each further part begins, and the extent, "
          "ascending");
    Partition out(Kind::ranges, begins.back(), static_cast<int>(begins.size()) - 1);
    out.table_ = std::make_shared<const Table>(Table{std::move(begins), {}, {}});
    return out;
  }

  /// Divides into runs of consecutive coordinates with about equal sums of weights; for example of nonzeros,
  /// if weights[c] is the number of nonzeros with coordinate c.
  static Partition balanced(const std::vector<std::int64_t>& weights, int parts) {
    std::int64_t left = 0;  // sum of the weights of this part and all later ones
    for (const std::int64_t weight : weights) left += weight;
    std::vector<std::int64_t> begins{0};
    std::size_t c = 0;
    for (int part = 0; part + 1 < parts; ++part) {
      // A part takes its share of what is left, to the nearest coordinate, and at least one coordinate.
      const std::int64_t share = left / (parts - part);
      const std::size_t first = c;
      std::int64_t sum = 0;
      while (c < weights.size() && (c == first || 2 * sum + weights[c] <= 2 * share)) sum += weights[c++];
      left -= sum;
      begins.push_back(static_cast<std::int64_t>(c));
    }
    begins.push_back(std::ssize(weights));
    return ranges(std::move(begins));
  }

  /// Coordinate c is owned by part owners[c].
  /// @throws ShapeError if an owner is not in [0, parts)
  static Partition owned(const std::vector<int>& owners, int parts) {
    Partition out(Kind::owned, static_cast<std::int64_t>(owners.size()), parts);
    Table table;
    table.members.resize(static_cast<std::size_t>(parts));
    table.owners = owners;
    for (std::size_t c = 0; c < owners.size(); ++c) {
      if (owners[c] < 0 || owners[c] >= parts)
        throw ShapeError(
            text("coordinate ", c, " is given to part ", owners[c], ", expected 0 to ", parts - 1));
      auto& members = table.members[static_cast<std::size_t>(owners[c])];
      table.begins.push_back(std::ssize(members));
      members.push_back(static_cast<std::int64_t>(c));
    }
    out.table_ = std::make_shared<const Table>(std::move(table));
    return out;
  }

  std::int64_t extent() const { return extent_; }
  int parts() const { return parts_; }
  bool is_whole() const { return kind_ == Kind::whole; }
  /// Whether each part is a range of coordinates, those of part p before those of part p + 1.
  bool is_contiguous() const {
    return kind_ == Kind::blocks || kind_ == Kind::ranges || kind_ == Kind::whole;
  }

  /// The part that owns a coordinate; 0 for a whole mode.
  int owner(std::int64_t c) const {
    switch (kind_) {
      case Kind::whole:
        return 0;
      case Kind::blocks: {
        const std::int64_t size = extent_ / parts_, longer = extent_ % parts_;
        return static_cast<int>(c < longer * (size + 1) ? c / (size + 1)
                                                        : longer + (c - longer * (size + 1)) / size);
      }
      case Kind::cyclic:
        return static_cast<int>(c / block_ % parts_);
      case Kind::ranges: {
        const auto& begins = table_->begins;
        return static_cast<int>(std::upper_bound(begins.begin(), begins.end(), c) - begins.begin()) - 1;
      }
      case Kind::owned:
        return table_->owners[static_cast<std::size_t>(c)];
    }
    return 0;
  }

  /// The number of a coordinate within its part.
  std::int64_t local(std::int64_t c) const {
    switch (kind_) {
      case Kind::whole:
        return c;
      case Kind::blocks:
      case Kind::ranges:
        return c - range(owner(c)).begin;
      case Kind::cyclic:
        return c / block_ / parts_ * block_ + c % block_;
      case Kind::owned:
        return table_->begins[static_cast<std::size_t>(c)];
    }
    return 0;
  }

  /// The coordinate with a given number within a part: global(owner(c), local(c)) = c.
  std::int64_t global(int part, std::int64_t local) const {
    switch (kind_) {
      case Kind::whole:
        return local;
      case Kind::blocks:
      case Kind::ranges:
        return range(part).begin + local;
      case Kind::cyclic:
        return (local / block_ * parts_ + part) * block_ + local % block_;
      case Kind::owned:
        return table_->members[static_cast<std::size_t>(part)][static_cast<std::size_t>(local)];
    }
    return 0;
  }

  /// The number of coordinates in a part.
  std::int64_t count(int part) const {
    switch (kind_) {
      case Kind::whole:
        return extent_;
      case Kind::blocks:
      case Kind::ranges:
        return range(part).size();
      case Kind::cyclic: {
        const std::int64_t blocks = extent_ / block_;  // whole ones
        const std::int64_t mine = blocks / parts_ + (part < blocks % parts_);
        return mine * block_ + (part == blocks % parts_ ? extent_ % block_ : 0);
      }
      case Kind::owned:
        return std::ssize(table_->members[static_cast<std::size_t>(part)]);
    }
    return 0;
  }

  /// The coordinates of a part, which must be a range.
  Bounds range(int part) const {
    if (kind_ == Kind::whole) return {0, extent_};
    if (kind_ == Kind::ranges)
      return {table_->begins[static_cast<std::size_t>(part)],
              table_->begins[static_cast<std::size_t>(part) + 1]};
    const std::int64_t size = extent_ / parts_, longer = extent_ % parts_;
    const std::int64_t begin = part * size + std::min<std::int64_t>(part, longer);
    return {begin, begin + size + (part < longer)};
  }

  bool operator==(const Partition& other) const {
    if (kind_ != other.kind_ || extent_ != other.extent_ || parts_ != other.parts_ || block_ != other.block_)
      return false;
    if (table_ == other.table_) return true;
    return table_->begins == other.table_->begins && table_->owners == other.table_->owners;
  }

  /// A number that differs for different partitions.
  Signature signature() const {
    Signature out("partition");
    out.mix(static_cast<std::uint64_t>(kind_)).mix(static_cast<std::uint64_t>(extent_));
    out.mix(static_cast<std::uint64_t>(parts_)).mix(static_cast<std::uint64_t>(block_));
    if (kind_ == Kind::ranges)
      for (const std::int64_t begin : table_->begins) out.mix(static_cast<std::uint64_t>(begin));
    if (kind_ == Kind::owned)
      for (const int owner : table_->owners) out.mix(static_cast<std::uint64_t>(owner));
    return out;
  }

  /// "blocks of 10 over 3 parts"
  std::string str() const {
    switch (kind_) {
      case Kind::whole:
        return "whole";
      case Kind::blocks:
        return text("blocks over ", parts_, " parts");
      case Kind::cyclic:
        return block_ == 1 ? text("cyclic over ", parts_, " parts")
                           : text("cyclic over ", parts_, " parts in blocks of ", block_);
      case Kind::ranges:
        return text("ranges over ", parts_, " parts");
      case Kind::owned:
        return text("owned by ", parts_, " parts");
    }
    return {};
  }

 private:
  enum class Kind { whole, blocks, cyclic, ranges, owned };

  struct Table {
    std::vector<std::int64_t> begins;  ///< for ranges; for owned, the local number of each coordinate
    std::vector<int> owners;           ///< owner of each coordinate
    std::vector<std::vector<std::int64_t>> members;  ///< the coordinates of each part, ascending
  };

  Partition(Kind kind, std::int64_t extent, int parts) : kind_(kind), extent_(extent), parts_(parts) {
    if (extent < 0) throw ShapeError(text("a partition of ", extent, " coordinates: extents are counts"));
    if (parts < 1) throw ShapeError(text("a partition into ", parts, " parts: at least 1 is expected"));
  }

  Kind kind_ = Kind::whole;
  std::int64_t extent_ = 0;
  int parts_ = 1;
  std::int64_t block_ = 1;
  std::shared_ptr<const Table> table_;
};

}  // namespace sporos

// SPDX-License-Identifier: Apache-2.0
/// @file matrix_market_triangles.hpp
/// Symmetric Matrix Market files with entries on both sides of the diagonal.
///
/// According to the standard they hold the lower triangle; many hold the upper one, or some entries of each.
/// All of them can be read, but of two entries that are mirror images of each other only one may be present.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "../../core/entries.hpp"

namespace sporos::io {

/// The line of each entry of a text. Takes memory for each block and for each line without an entry, but not
/// for each entry.
class EntryLines {
 public:
  /// Adds the next block of the text.
  /// @param lines    number of lines before the block
  /// @param entries  number of entries in the block
  /// @param gaps     the lines of the block without an entry, ascending and counted from 0
  void add(std::int64_t lines, std::int64_t entries, std::vector<std::int64_t> gaps) {
    blocks_.push_back({entries_, lines, std::move(gaps)});
    entries_ += entries;
  }

  /// The 1-based line of an entry; entries are counted from 0.
  std::int64_t line_of(std::int64_t entry) const {
    const auto behind =
        std::upper_bound(blocks_.begin(), blocks_.end(), entry,
                         [](std::int64_t number, const Lines& block) { return number < block.first_entry; });
    const Lines& block = *std::prev(behind);
    std::int64_t line = entry - block.first_entry;
    for (const std::int64_t gap : block.gaps) line += gap <= line;
    return block.lines_before + line + 1;
  }

 private:
  struct Lines {
    std::int64_t first_entry;
    std::int64_t lines_before;
    std::vector<std::int64_t> gaps;
  };
  std::vector<Lines> blocks_;
  std::int64_t entries_ = 0;
};

/// Calls `body(i, j, entry)` for the entries off the diagonal in the order of the file, where `entry` is the
/// number of the entry in the file.
/// @param expanded  whether each entry is followed in the list by its mirror image
template <class Value, class Body>
void for_each_off_diagonal(const Entries<Value, 2>& list, bool expanded, const Body& body) {
  const std::int64_t* const rows = list.coordinates[0].data();
  const std::int64_t* const columns = list.coordinates[1].data();
  const std::int64_t size = list.size();
  std::int64_t entry = 0;
  for (std::int64_t q = 0; q < size; ++q, ++entry) {
    if (rows[q] == columns[q]) continue;
    body(rows[q], columns[q], entry);
    q += expanded;
  }
}

/// Two entries of a file that are mirror images of each other, by their numbers.
struct MirrorImages {
  std::int64_t first, second;
};

/// Of all pairs of mirror images, the one whose second entry comes first in the file; nothing if there is
/// none. Cost: a sort of the entries off the diagonal.
template <class Value>
std::optional<MirrorImages> first_mirror_images(const Entries<Value, 2>& list, bool expanded,
                                                std::int64_t off_diagonal) {
  struct Place {
    std::int64_t row, column;  // of the entry if it is below the diagonal, else of its mirror image
    std::int64_t entry;
    bool above;
    auto operator<=>(const Place&) const = default;
  };
  std::vector<Place> places;
  places.reserve(static_cast<std::size_t>(off_diagonal));
  for_each_off_diagonal(list, expanded, [&](std::int64_t i, std::int64_t j, std::int64_t entry) {
    places.push_back({std::max(i, j), std::min(i, j), entry, i < j});
  });
  std::sort(places.begin(), places.end());

  std::optional<MirrorImages> earliest;
  const Place* first = places.data();  // the first of those with the same coordinates
  for (const Place& place : places) {
    if (place.row != first->row || place.column != first->column) first = &place;
    if (place.above != first->above && (!earliest || place.entry < earliest->second))
      earliest = MirrorImages{first->entry, place.entry};
  }
  return earliest;
}

}  // namespace sporos::io

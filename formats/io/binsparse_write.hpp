// SPDX-License-Identifier: Apache-2.0
/// @file binsparse_write.hpp
/// Writing binsparse files: one tensor in an HDF5 file, with a descriptor of how it is stored.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../core/entries.hpp"
#include "binsparse_header.hpp"
#include "binsparse_read.hpp"
#include "hdf5_file.hpp"
#include "matrix_market_write.hpp"
#include "memory_errors.hpp"
#include "output_file.hpp"

namespace sporos {

/// The version of the specification that is written.
inline constexpr std::string_view binsparse_version = "0.1.0";

/// How entries are written as a binsparse file.
struct BinsparseWriteOptions {
  std::optional<BinsparseLevels> levels =
      std::nullopt;  ///< unset: CVEC for vectors, CSR for matrices, one list of coordinates for others
  MatrixMarketSymmetry symmetry = MatrixMarketSymmetry::general;  ///< if not general, the entries are checked
                                                                  ///< and the lower triangle is written
  bool iso = true;                                                ///< if all values are equal, write only one
  int level = 0;  ///< level of compression; 0: none, 1 (fast) to 9 (small)
  std::map<std::string, std::string> attributes = {};  ///< the user's own texts
};

/// The levels of a format with a name in the specification: "CSR", "COOC", …
/// @throws FormatError if no format has this name
inline BinsparseLevels binsparse_levels_named(std::string_view name) {
  for (const auto& [known, levels] : io::binsparse_formats())
    if (known == name) return levels;
  std::string names;
  for (const auto& known : io::binsparse_formats()) names += text(names.empty() ? "" : ", ", known.first);
  throw FormatError(text("binsparse has no format '", name, "', expected one of ", names));
}

namespace io {

/// The levels in which tensors are written unless the caller says otherwise.
inline BinsparseLevels default_binsparse_levels(int order) {
  if (order == 1) return binsparse_levels_named("CVEC");
  if (order == 2) return binsparse_levels_named("CSR");
  BinsparseLevels out{{{.sparse = true, .modes = order}}, std::vector<int>(static_cast<std::size_t>(order))};
  std::iota(out.modes.begin(), out.modes.end(), 0);
  return out;
}

#ifdef SPOROS_HAVE_HDF5

/// Writes the arrays of one tensor.
template <class Value, int Order>
class BinsparseWriter {
 public:
  BinsparseWriter(const std::string& path, const Entries<Value, Order>& entries,
                  const BinsparseWriteOptions& options)
      : path_(path), entries_(entries), options_(options) {
    header_.version = binsparse_version;
    const auto type = binsparse_type<Value>();
    if (!type)
      throw FormatError(text(path, ": binsparse has no type for values of type ", value_name<Value>(),
                             ": write them as float or double"));
    header_.type = *type;
    header_.symmetry = options.symmetry;
    header_.levels = options.levels ? *options.levels : default_binsparse_levels(Order);
    header_.shape.assign(entries.extents.begin(), entries.extents.end());
    header_.attributes = options.attributes;
    expect_levels();
    const std::int64_t largest =
        std::max(entries.size(), *std::max_element(entries.extents.begin(), entries.extents.end()));
    narrow_ = largest <= std::numeric_limits<std::int32_t>::max();
  }

  void write() {
    sort();
    lay_out();
    OutputFile out(path_);
    out.write(image());
    out.commit();
  }

 private:
  /// A sparse level as it is written.
  struct Level {
    int depth = 0;                                        ///< number of modes in the levels above
    std::vector<std::int64_t> pointers = {};              ///< empty for the outermost level
    std::vector<std::vector<std::int64_t>> indices = {};  ///< one list for each mode
  };

  std::size_t mode_at(int depth) const {
    return static_cast<std::size_t>(header_.levels.modes[static_cast<std::size_t>(depth)]);
  }
  std::int64_t coordinate(std::int64_t q, int depth) const {
    return entries_.coordinates[mode_at(depth)](static_cast<std::size_t>(q));
  }

  void expect_levels() const {
    std::vector<int> natural(static_cast<std::size_t>(Order));
    std::iota(natural.begin(), natural.end(), 0);
    int order = 0;
    bool holds = true;
    for (const BinsparseLevel& level : header_.levels.levels) {
      order += level.modes;
      holds = holds && level.modes >= 1 && (level.sparse || level.modes == 1);
    }
    const std::vector<int>& modes = header_.levels.modes;
    if (!holds || order != Order ||
        !std::is_permutation(natural.begin(), natural.end(), modes.begin(), modes.end()))
      throw FormatError(text(path_, ": BinsparseWriteOptions::levels hold ", order,
                             " modes, or not each once, expected those of a tensor of order ", Order));
  }

  /// Chooses the entries that are stored and puts them into the order of the levels.
  void sort() {
    if constexpr (Order == 2) {
      if (options_.symmetry != MatrixMarketSymmetry::general)
        order_ = stored_triangle(entries_, options_.symmetry, true, path_);
    }
    if (options_.symmetry == MatrixMarketSymmetry::general) {
      order_.resize(static_cast<std::size_t>(entries_.size()));
      std::iota(order_.begin(), order_.end(), std::int64_t{0});
    }
    const auto before = [&](std::int64_t a, std::int64_t b) {
      for (int depth = 0; depth < Order; ++depth)
        if (coordinate(a, depth) != coordinate(b, depth)) return coordinate(a, depth) < coordinate(b, depth);
      return false;
    };
    if (!std::is_sorted(order_.begin(), order_.end(), before))
      std::sort(order_.begin(), order_.end(), before);
    for (std::size_t at = 1; at < order_.size(); ++at)
      if (!before(order_[at - 1], order_[at]))
        throw FormatError(text(path_, ": entries ", order_[at - 1], " and ", order_[at],
                               " have the same coordinates, which binsparse does not allow: assemble the "
                               "entries first"));
  }

  /// Builds the arrays of the levels and, for each entry, finds its position in the current level.
  void lay_out() {
    std::vector<std::int64_t> place(order_.size(), 0);
    std::int64_t positions = 1;
    int depth = 0;
    for (const BinsparseLevel& shape : header_.levels.levels) {
      if (shape.sparse) {
        positions = lay_out_sparse(depth, shape.modes, positions, place);
      } else {
        const std::int64_t extent = entries_.extents[mode_at(depth)];
        if (__builtin_mul_overflow(positions, extent, &positions))
          throw FormatError(text(path_, ": dense levels of a tensor of ", to_string(entries_.extents),
                                 " have more positions than 64 bits count: choose sparse ones"));
        for (std::size_t at = 0; at < place.size(); ++at)
          place[at] = place[at] * extent + coordinate(order_[at], depth);
      }
      depth += shape.modes;
    }
    header_.stored = positions;
    values_ = make_array<Value>("sporos::binsparse", positions);
    if (header_.levels.padded()) Kokkos::deep_copy(values_, Value(0));
    for (std::size_t at = 0; at < place.size(); ++at)
      values_(static_cast<std::size_t>(place[at])) = entries_.values(static_cast<std::size_t>(order_[at]));
  }

  /// Gives entries that agree in all modes so far one common position. Returns the number of positions.
  std::int64_t lay_out_sparse(int depth, int modes, std::int64_t parents, std::vector<std::int64_t>& place) {
    Level level{.depth = depth};
    if (depth > 0) level.pointers.assign(static_cast<std::size_t>(parents) + 1, 0);
    level.indices.resize(static_cast<std::size_t>(modes));
    std::int64_t positions = 0, parent = -1;
    for (std::size_t at = 0; at < place.size(); ++at) {
      bool is_new = place[at] != parent;
      for (int mode = depth; mode < depth + modes && !is_new; ++mode)
        is_new = coordinate(order_[at], mode) != coordinate(order_[at - 1], mode);
      parent = place[at];
      if (is_new) {
        ++positions;
        if (depth > 0) ++level.pointers[static_cast<std::size_t>(parent) + 1];
        for (int mode = 0; mode < modes; ++mode)
          level.indices[static_cast<std::size_t>(mode)].push_back(coordinate(order_[at], depth + mode));
      }
      place[at] = positions - 1;
    }
    std::partial_sum(level.pointers.begin(), level.pointers.end(), level.pointers.begin());
    levels_.push_back(std::move(level));
    return positions;
  }

  /// The bytes of the file. The writer's arrays are gone afterwards.
  std::string image() {
    const std::int64_t width = narrow_ ? sizeof(std::int32_t) : sizeof(std::int64_t);
    auto bytes = header_.stored * static_cast<std::int64_t>(sizeof(Value));
    for (const Level& level : levels_)
      bytes +=
          width * (std::ssize(level.pointers) + std::ssize(level.indices) * std::ssize(level.indices[0]));
    Hdf5Writer file(path_, bytes, options_.level);
    for (Level& level : levels_) {
      if (level.depth > 0) put_integers(file, binsparse_pointers(level.depth), std::move(level.pointers));
      for (std::size_t mode = 0; mode < level.indices.size(); ++mode)
        put_integers(file, binsparse_indices(level.depth + static_cast<int>(mode)),
                     std::move(level.indices[mode]));
    }
    put_values(file);
    file.put_attribute("binsparse", binsparse_descriptor(header_));
    return file.image();
  }

  void put_integers(Hdf5Writer& file, const std::string& name, std::vector<std::int64_t> integers) {
    header_.arrays[name] = {.stored = narrow_ ? "int32" : "int64"};
    if (!narrow_) return file.put(name, integers.data(), std::ssize(integers));
    const std::vector<std::int32_t> narrow(integers.begin(), integers.end());
    file.put(name, narrow.data(), std::ssize(narrow));
  }

  void put_values(Hdf5Writer& file) {
    const HostArray<Value> values = std::exchange(values_, {});
    const Value* const all = values.data();
    const auto same = [&](const Value& value) { return std::memcmp(&value, all, sizeof(Value)) == 0; };
    // A single boolean is written as the value of all entries, so that a pattern with one entry is also a
    // pattern.
    const bool several = header_.stored > 1 || (std::same_as<Value, bool> && header_.stored == 1);
    header_.type.iso = options_.iso && several && std::all_of(all, all + header_.stored, same);
    header_.arrays["values"] = header_.type;
    const std::int64_t count = header_.type.iso ? 1 : header_.stored;
    if constexpr (is_complex_v<Value>) {
      using Real = typename Value::value_type;
      file.put("values", reinterpret_cast<const Real*>(all), 2 * count);
    } else if constexpr (std::same_as<Value, bool>) {
      const std::vector<std::uint8_t> bytes(all, all + count);
      file.put("values", bytes.data(), count);
    } else if constexpr (std::is_arithmetic_v<Value>) {
      file.put("values", all, count);
    }
  }

  const std::string& path_;
  const Entries<Value, Order>& entries_;
  const BinsparseWriteOptions& options_;
  BinsparseHeader header_;
  bool narrow_ = false;
  std::vector<std::int64_t> order_;  ///< entries in the order in which the levels store them
  std::vector<Level> levels_;        ///< only sparse ones; dense levels have no arrays
  HostArray<Value> values_;
};

#endif

}  // namespace io

/// Writes `entries` as a binsparse file in an HDF5 container: a matrix as CSR, unless the options say
/// otherwise. Coordinates and positions have 32 bits if that suffices. The file appears when it is complete.
/// Cost: linear, plus a sort unless the entries are in the order of the levels; memory for two copies of the
/// file and, for dense levels, for all their positions.
///
/// @throws FormatError if a coordinate occurs twice, if options.levels cannot hold such a tensor, if the
/// entries do not have options.symmetry, or if the specification has no such type of values; MemoryError;
/// IoError if the file cannot be written, or this program was built without HDF5
template <TensorValue Value, int Order>
  requires(Order >= 1)
void write_binsparse(const std::string& path, [[maybe_unused]] const Entries<Value, Order>& entries,
                     [[maybe_unused]] const BinsparseWriteOptions& options = {}) {
#ifdef SPOROS_HAVE_HDF5
  io::writing(path, entries, [&] { io::BinsparseWriter<Value, Order>(path, entries, options).write(); });
#else
  io::refuse_hdf5(path);
#endif
}

}  // namespace sporos

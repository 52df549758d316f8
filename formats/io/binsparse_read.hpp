// SPDX-License-Identifier: Apache-2.0
/// @file binsparse_read.hpp
/// Reading binsparse files: HDF5 files that hold one tensor and say how it is stored (binsparse_header.hpp).
///
///     levels of CSR:   dense, row 0 1 2    sparse, pointers_to_1 0 1 1 3    indices_1 1 0 2    values 5 7 9
///                                          row 0 holds places 0 to 1, row 1 none, row 2 places 1 to 3
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../core/entries.hpp"
#include "../value_cast.hpp"
#include "binsparse_header.hpp"
#include "file_source.hpp"
#include "hdf5_file.hpp"
#include "matrix_market_read.hpp"
#include "memory_errors.hpp"
#include "read_options.hpp"

namespace sporos {
namespace io {

/// The first bytes of an HDF5 file.
inline constexpr std::string_view hdf5_magic = "\x89HDF\r\n\x1a\n";

/// Whether this program can read and write HDF5 files.
#ifdef SPOROS_HAVE_HDF5
inline constexpr bool has_hdf5 = true;
#else
inline constexpr bool has_hdf5 = false;
#endif

/// Throws the IoError of a program that was built without HDF5.
[[noreturn]] inline void refuse_hdf5(const std::string& file) {
  throw IoError(
      file,
      "is an HDF5 file, but this program was built without HDF5: install it (Debian's libhdf5-dev), "
      "configure Sporos again, and build the program anew");
}

#ifdef SPOROS_HAVE_HDF5

/// The arrays of a file and its descriptor.
class BinsparseFile {
 public:
  explicit BinsparseFile(FileSource& source, const std::string& group) : file_(open(source)) {
    if (!group.empty()) file_->enter(group);
    header_ = BinsparseDescriptor(file_->attribute("binsparse"), file_->name()).header();
    if (header_.type.iso && header_.type.stored == "bint8" && !header_.type.complex &&
        header_.levels.order() > 0) {
      bool all = false;
      read_values(&all, 1);
      if (all) header_.field = MatrixMarketField::pattern;
    }
  }

  const std::string& name() const { return file_->name(); }
  const BinsparseHeader& header() const { return header_; }

  /// An array that the descriptor names, checked against the type it states. Throws ParseError.
  Hdf5Array array(const std::string& array) const {
    const auto type = header_.arrays.find(array);
    if (type == header_.arrays.end())
      throw ParseError(name(), 0, text("its descriptor lacks the type of '", array, "' in 'data_types'"));
    Hdf5Array found = file_->array(array);
    const std::string& announced = type->second.stored;
    // A bint8 is an 8-bit integer, for which h5py has its own type.
    const bool one_byte = found.type_name().ends_with("int8") || found.type_name() == "bool";
    found.expect(
        announced == found.type_name() || (announced == "bint8" && one_byte),
        text("its elements are of type ", found.type_name(), ", but the descriptor says ", announced));
    return found;
  }

  /// Coordinates or positions, converted from the file's `index_base` to base 0.
  HostArray<std::int64_t> integers(const std::string& name) const {
    const Hdf5Array held = array(name);
    const bool whole = !held.type_name().starts_with("float") && !header_.arrays.at(name).iso;
    held.expect(whole, "it holds no list of integers");
    HostArray<std::int64_t> out = make_array<std::int64_t>("sporos::binsparse", held.count());
    held.read(out.data(), 0, held.count());
    if (header_.index_base == 0) return out;
    for (std::int64_t at = 0; at < held.count(); ++at) {
      std::int64_t& index = out(static_cast<std::size_t>(at));
      if (index > 0)
        --index;
      else
        index = -1;  // any value that is out of range
    }
    return out;
  }

  /// Reads the values of `count` positions; throws ParseError if their number differs, or if `Value` cannot
  /// hold one of them.
  template <class Value>
  void read_values(Value* out, std::int64_t count) const {
    const Hdf5Array held = array("values");
    const std::int64_t parts = header_.type.complex ? 2 : 1, distinct = header_.type.iso ? 1 : count;
    held.expect(
        held.count() % parts == 0 && held.count() / parts == distinct,
        text("it has ", held.count(), " elements, expected ", distinct, parts == 2 ? " pairs of them" : "",
             header_.type.iso ? ", as all values are the same" : ""));
    if (!read_as_they_are(held, out, parts * distinct)) {
      // HDF5 widens the numbers, which is exact.
      const std::string& type = header_.type.stored;
      if (header_.type.complex)
        convert<double, Kokkos::complex<double>>(held, out, distinct);
      else if (type == "bint8")
        convert<std::int8_t, bool>(held, out, distinct);
      else if (type.starts_with("float"))
        convert<double, double>(held, out, distinct);
      else if (type == "uint64")
        convert<std::uint64_t, std::uint64_t>(held, out, distinct);
      else
        convert<std::int64_t, std::int64_t>(held, out, distinct);
    }
    if (header_.type.iso && count > 1) std::fill(out + 1, out + count, out[0]);
  }

 private:
  static std::unique_ptr<Hdf5Reader> open(FileSource& source) {
    const PlainOrGzipStream stream(source.look(), source.name());
    if (source.is_named() && !stream.compressed()) return std::make_unique<Hdf5Reader>(source.name());
    PlainOrGzipStream all(source.open(), source.name());
    return std::make_unique<Hdf5Reader>(HeldBytes(all).take(), source.name());
  }

  /// Reads values directly to their final place if the file has their type; otherwise returns false, having
  /// read nothing.
  template <class Value>
  bool read_as_they_are(const Hdf5Array& held, Value* out, std::int64_t numbers) const {
    const auto type = binsparse_type<Value>();
    const bool same = type && type->stored == header_.type.stored && type->complex == header_.type.complex;
    if (!same) return false;
    if constexpr (is_complex_v<Value>) {
      held.read(reinterpret_cast<typename Value::value_type*>(out), 0, numbers);
      return true;
    } else if constexpr (std::is_arithmetic_v<Value> && !std::same_as<Value, bool>) {
      held.read(out, 0, numbers);
      return true;
    }
    return false;
  }

  /// Reads elements block by block; each has `sizeof(Stored) / sizeof(Number)` numbers.
  template <class Number, class Stored, class Value>
  void convert(const Hdf5Array& held, Value* out, std::int64_t count) const {
    constexpr std::int64_t parts = std::is_same_v<Stored, bool> ? 1 : sizeof(Stored) / sizeof(Number);
    constexpr std::int64_t block = std::int64_t{1} << 16;
    std::vector<Number> numbers(static_cast<std::size_t>(parts * std::min(count, block)));
    for (std::int64_t done = 0; done < count; done += block) {
      const std::int64_t some = std::min(block, count - done);
      held.read(numbers.data(), parts * done, parts * some);
      for (std::int64_t q = 0; q < some; ++q) {
        const auto at = static_cast<std::size_t>(parts * q);
        Stored element{};
        if constexpr (is_complex_v<Stored>)
          element = Stored(numbers[at], numbers[at + 1]);
        else
          element = static_cast<Stored>(numbers[at]);
        held.expect(value_cast(element, out[done + q]),
                    text("element ", done + q, " is ", value_text(element), ", which ", value_name<Value>(),
                         " cannot hold"));
      }
    }
  }

  std::unique_ptr<Hdf5Reader> file_;
  BinsparseHeader header_;
};

/// Reads the entries of a file.
template <class Value, int Order>
class BinsparseReader {
 public:
  explicit BinsparseReader(const BinsparseFile& file) : file_(file), header_(file.header()) {
    if (std::ssize(header_.shape) != Order)
      refuse_order(file.name(), text("a tensor in binsparse ", header_.format), std::ssize(header_.shape),
                   Order);
    std::copy(header_.shape.begin(), header_.shape.end(), extents_.begin());
  }

  Entries<Value, Order> read(bool expand) {
    read_levels();
    expect_fill();
    // This also avoids walking through dense levels if another level has no coordinates.
    if (header_.stored == 0) return Entries<Value, Order>(extents_, 0);
    Entries<Value, Order> out = header_.levels.padded() ? nonzeros() : entries();
    if constexpr (Order == 2)
      if (header_.symmetry != MatrixMarketSymmetry::general) return both_triangles(out, expand);
    return out;
  }

 private:
  /// A level as it is read: `positions` coordinates, or tuples of them, for each position of the level above.
  struct Level {
    bool sparse = false;
    std::size_t mode = 0;                   ///< first mode of the tensor in this level
    std::int64_t extent = 0;                ///< for a dense level
    int depth = 0;                          ///< number of modes in the levels above
    HostArray<std::int64_t> pointers = {};  ///< for a sparse level: one more than there are positions above
    std::vector<HostArray<std::int64_t>> indices =
        {};  ///< for a sparse level: one array for each of its modes
  };

  std::size_t mode_at(int depth) const {
    return static_cast<std::size_t>(header_.levels.modes[static_cast<std::size_t>(depth)]);
  }

  [[noreturn]] void refuse(const std::string& array, std::int64_t at, std::int64_t found,
                           const std::string& expected) const {
    throw ParseError(text(file_.name(), ": ", array), 0,
                     text("element ", at, " is ", found + header_.index_base, ", expected ", expected));
  }

  void read_levels() {
    std::int64_t positions = 1;
    int depth = 0;
    for (const BinsparseLevel& level : header_.levels.levels) {
      Level read{.sparse = level.sparse, .mode = mode_at(depth), .depth = depth};
      if (level.sparse) {
        positions = read_sparse(read, level.modes, positions);
      } else {
        read.extent = extents_[read.mode];
        if (__builtin_mul_overflow(positions, read.extent, &positions))
          throw ParseError(file_.name(), 0, "its dense levels have more positions than 64 bits count");
      }
      levels_.push_back(std::move(read));
      depth += level.modes;
    }
    if (positions != header_.stored)
      throw ParseError(file_.name(), 0,
                       text("its descriptor announces ", header_.stored,
                            " stored values, but its levels have ", positions));
  }

  /// Reads a sparse level below `parents` positions; returns the number of its positions.
  std::int64_t read_sparse(Level& level, int modes, std::int64_t parents) const {
    if (level.depth > 0) read_pointers(level, parents);
    for (int mode = 0; mode < modes; ++mode) {
      const std::string name = binsparse_indices(level.depth + mode);
      level.indices.push_back(file_.integers(name));
      const auto count = static_cast<std::int64_t>(level.indices.back().extent(0));
      const auto expected = level.depth > 0 ? level.pointers(static_cast<std::size_t>(parents))
                                            : static_cast<std::int64_t>(level.indices.front().extent(0));
      if (count != expected)
        throw ParseError(text(file_.name(), ": ", name), 0,
                         text("it has ", count, " elements, expected ", expected,
                              level.depth > 0 ? ", where the last position ends" : ", as many as indices_0"));
      const std::int64_t extent = extents_[mode_at(level.depth + mode)];
      const std::int64_t* const all = level.indices.back().data();
      for (std::int64_t q = 0; q < count; ++q)
        if (all[q] < 0 || all[q] >= extent)
          refuse(name, q, all[q], text(header_.index_base, " to ", extent - 1 + header_.index_base));
    }
    const auto count = static_cast<std::int64_t>(level.indices.front().extent(0));
    if (level.depth == 0) {
      level.pointers = make_array<std::int64_t>("sporos::binsparse", 2);
      level.pointers(0) = 0;
      level.pointers(1) = count;
    }
    for (std::int64_t p = 0; p < parents; ++p) expect_ascending(level, p);
    return count;
  }

  void read_pointers(Level& level, std::int64_t parents) const {
    const std::string name = binsparse_pointers(level.depth);
    level.pointers = file_.integers(name);
    const auto count = static_cast<std::int64_t>(level.pointers.extent(0));
    if (count - 1 != parents)
      throw ParseError(text(file_.name(), ": ", name), 0,
                       text("it has ", count, " elements, expected ", parents, " + 1"));
    const std::int64_t* const all = level.pointers.data();
    if (all[0] != 0) refuse(name, 0, all[0], text(header_.index_base));
    for (std::int64_t p = 1; p < count; ++p)
      if (all[p] < all[p - 1])
        refuse(name, p, all[p], text("at least ", all[p - 1] + header_.index_base, ", as the one before"));
  }

  /// Checks that tuples below a position ascend, so that none occurs twice.
  void expect_ascending(const Level& level, std::int64_t p) const {
    const std::int64_t begin = level.pointers(static_cast<std::size_t>(p));
    const std::int64_t end = level.pointers(static_cast<std::size_t>(p) + 1);
    for (std::int64_t q = begin + 1; q < end; ++q) {
      std::size_t mode = 0;
      const auto at = [&](std::int64_t which) {
        return level.indices[mode](static_cast<std::size_t>(which));
      };
      while (mode + 1 < level.indices.size() && at(q - 1) == at(q)) ++mode;
      if (at(q - 1) < at(q)) continue;
      refuse(binsparse_indices(level.depth + static_cast<int>(mode)), q, at(q),
             text("more than ", at(q - 1) + header_.index_base,
                  ", the one before: coordinates ascend, and none occurs twice"));
    }
  }

  void expect_fill() const {
    if (!header_.fill) return;
    const Hdf5Array held = file_.array("fill_value");
    std::vector<double> fill(static_cast<std::size_t>(std::clamp<std::int64_t>(held.count(), 0, 2)));
    held.read(fill.data(), 0, std::ssize(fill));
    const bool zero = std::all_of(fill.begin(), fill.end(), [](double part) { return part == 0; });
    held.expect(zero && !fill.empty(),
                "what is not stored has a value other than 0, which no tensor here has");
  }

  /// Calls `body(p)` for each position of level `last`, with the coordinates of the levels above in `at_`.
  template <class Body>
  void walk(std::size_t k, std::size_t last, std::int64_t p, const Body& body) {
    if (k == last) return body(p);
    const Level& level = levels_[k];
    if (!level.sparse) {
      for (std::int64_t i = 0; i < level.extent; ++i) {
        at_[level.mode] = i;
        walk(k + 1, last, p * level.extent + i, body);
      }
      return;
    }
    const std::int64_t end = level.pointers(static_cast<std::size_t>(p) + 1);
    for (std::int64_t q = level.pointers(static_cast<std::size_t>(p)); q < end; ++q) {
      for (std::size_t mode = 0; mode < level.indices.size(); ++mode)
        at_[mode_at(level.depth + static_cast<int>(mode))] = level.indices[mode](static_cast<std::size_t>(q));
      walk(k + 1, last, q, body);
    }
  }

  /// Every value is an entry; its last coordinates are those of the innermost level, as they were read.
  Entries<Value, Order> entries() {
    Entries<Value, Order> out;
    out.extents = extents_;
    out.values = make_array<Value>("sporos::Entries values", header_.stored);
    file_.read_values(out.values.data(), header_.stored);
    const Level& last = levels_.back();
    for (std::size_t mode = 0; mode < last.indices.size(); ++mode)
      out.coordinates[mode_at(last.depth + static_cast<int>(mode))] = last.indices[mode];
    for (int depth = 0; depth < last.depth; ++depth)
      out.coordinates[mode_at(depth)] =
          make_array<std::int64_t>("sporos::Entries coordinates", header_.stored);
    if (last.depth == 0) return out;
    walk(0, levels_.size() - 1, 0, [&](std::int64_t p) {
      const std::int64_t begin = last.pointers(static_cast<std::size_t>(p));
      const std::int64_t end = last.pointers(static_cast<std::size_t>(p) + 1);
      for (int depth = 0; depth < last.depth; ++depth) {
        const std::size_t mode = mode_at(depth);
        std::fill(out.coordinates[mode].data() + begin, out.coordinates[mode].data() + end, at_[mode]);
      }
    });
    return out;
  }

  /// If the innermost level is dense, zeros stand for missing entries.
  Entries<Value, Order> nonzeros() {
    const HostArray<Value> values = make_array<Value>("sporos::binsparse", header_.stored);
    file_.read_values(values.data(), header_.stored);
    const Value* const all = values.data();
    const auto is_entry = [](const Value& value) { return value != Value(0); };
    Entries<Value, Order> out(extents_, std::count_if(all, all + header_.stored, is_entry));
    std::int64_t next = 0;
    walk(0, levels_.size(), 0, [&](std::int64_t p) {
      if (is_entry(all[p])) out.set(next++, at_, all[p]);
    });
    return out;
  }

  /// Checks that the entries are those of one triangle, and adds the other triangle.
  Entries<Value, 2> both_triangles(const Entries<Value, 2>& one, bool expand) const {
    std::int64_t off_diagonal = 0;
    for (std::int64_t q = 0; q < one.size(); ++q) {
      const auto [i, j] = one.coordinate(q);
      const Value value = one.values(static_cast<std::size_t>(q));
      const auto refuse_entry = [&](std::string_view reason) {
        throw ParseError(file_.name(), 0,
                         text("the entry at row ", i, ", column ", j, ' ', reason, " in a ",
                              to_string(header_.symmetry), " matrix"));
      };
      if (header_.upper ? i > j : i < j)
        refuse_entry(header_.upper ? "lies below the diagonal, expected the upper triangle"
                                   : "lies above the diagonal, expected the lower triangle");
      if (i == j && header_.symmetry == MatrixMarketSymmetry::skew_symmetric && value != Value(0))
        refuse_entry("lies on the diagonal and is not 0");
      if (!has_mirror(value, header_.symmetry)) refuse_entry("has no mirror image of this type");
      if (std::is_unsigned_v<Value> && header_.symmetry == MatrixMarketSymmetry::skew_symmetric && i != j)
        refuse_entry("has no mirror image of this type");
      off_diagonal += i != j;
    }
    if (!expand) return one;
    Entries<Value, 2> out(one.extents, one.size() + off_diagonal);
    std::int64_t next = 0;
    for (std::int64_t q = 0; q < one.size(); ++q) {
      const auto [i, j] = one.coordinate(q);
      const Value value = one.values(static_cast<std::size_t>(q));
      out.set(next++, {i, j}, value);
      if (i != j) out.set(next++, {j, i}, mirrored(value, header_.symmetry));
    }
    return out;
  }

  const BinsparseFile& file_;
  const BinsparseHeader& header_;
  Extents<Order> extents_{}, at_{};
  std::vector<Level> levels_;
};

#endif

/// The contents of a file's descriptor. Throws ParseError, IoError.
inline BinsparseHeader take_binsparse_header(FileSource& source,
                                             [[maybe_unused]] const ReadOptions& options) {
#ifdef SPOROS_HAVE_HDF5
  return BinsparseFile(source, options.group).header();
#else
  refuse_hdf5(source.name());
#endif
}

}  // namespace io

/// Reads the descriptor of a binsparse file.
/// @throws ParseError, IoError
inline BinsparseHeader read_binsparse_header(const std::string& path, const ReadOptions& options = {}) {
  return io::take_binsparse_header(*io::file_at(path), options);
}

/// The entries of a binsparse file; see read_binsparse_entries(path).
template <TensorValue Value, int Order>
  requires(Order >= 1)
Entries<Value, Order> read_binsparse_entries(io::FileSource& source,
                                             [[maybe_unused]] const ReadOptions& options = {}) {
  expect_kokkos();
#ifdef SPOROS_HAVE_HDF5
  const io::BinsparseFile file(source, options.group);
  return io::BinsparseReader<Value, Order>(file).read(options.expand_symmetry);
#else
  io::refuse_hdf5(source.name());
#endif
}

/// The entries of a binsparse file in an HDF5 container, in the order of the file. All formats named in the
/// specification can be read, and custom ones made of dense and sparse levels. The other triangle of a
/// symmetric matrix is added, unless options.expand_symmetry is off. Stored zeros are kept, except if the
/// innermost level is dense: there they are padding. options.group names the group of the file that holds the
/// tensor. Cost: linear in the file.
///
/// @throws ParseError for an incomplete file, a descriptor or arrays that break the specification or do not
/// fit together, coordinates that are out of range, out of order or repeated, a fill value other than 0, and
/// values that `Value` cannot hold; ShapeError for a tensor of another order; IoError if the file cannot be
/// read, or this program was built without HDF5; MemoryError
template <TensorValue Value, int Order>
  requires(Order >= 1)
Entries<Value, Order> read_binsparse_entries(const std::string& path, const ReadOptions& options = {}) {
  return io::reading(path, [&] { return read_binsparse_entries<Value, Order>(*io::file_at(path), options); });
}

}  // namespace sporos

// SPDX-License-Identifier: Apache-2.0
/// @file npz_read.hpp
/// Reads sparse matrices written by SciPy's save_npz: ZIP archives of .npy arrays.
///
///     format.npy   b'csr'       indptr.npy, indices.npy    csr, csc and bsr
///     shape.npy    (3, 4)       row.npy, col.npy           coo; coords.npy for arrays of any order
///     data.npy     the values   offsets.npy                dia
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
#include "memory_errors.hpp"
#include "npy.hpp"
#include "random_bytes.hpp"
#include "read_options.hpp"
#include "zip_read.hpp"

namespace sporos {

/// The information in the small arrays of a .npz file.
struct NpzHeader {
  std::string format;               ///< csr, csc, coo, bsr or dia
  std::vector<std::int64_t> shape;  ///< extents of the tensor
  std::int64_t stored = 0;          ///< values in the file
  MatrixMarketField field = MatrixMarketField::real;
};

namespace io {

/// One array of an archive, whose header has been read.
class NpzArray {
 public:
  NpzArray(const ZipArchive& archive, const ZipMember& member)
      : file_(text(archive.name(), ": ", member.name)),
        stream_(archive.open(member)),
        header_(take_npy_header(*stream_, file_)),
        elements_size_(stream_->total() - stream_->taken()) {}

  const NpyHeader& header() const { return header_; }
  /// The name used in messages.
  const std::string& name() const { return file_; }

  void expect(bool holds, std::string_view reason) const {
    if (!holds) throw ParseError(file_, 0, std::string(reason));
  }

  /// Reads all elements to `room(count)`. This is only called once the size of the archive's member, which is
  /// bounded by what the file can hold, is known to be that of the array.
  template <class Value, class Room>
  void read_to(const Room& room) {
    std::int64_t bytes = 0;
    const bool fits = !__builtin_mul_overflow(header_.count, header_.type.bytes, &bytes);
    expect(fits && bytes == elements_size_,
           text("its header announces ", header_.count, " elements of type '", header_.descr, "', but ",
                elements_size_, " bytes follow"));
    NpyElements elements(*stream_, header_, file_);
    elements.read<Value>(room(header_.count), static_cast<std::size_t>(header_.count));
  }

  template <class Value>
  std::vector<Value> read() {
    std::vector<Value> values;
    read_to<Value>([&](std::int64_t count) {
      values.resize(static_cast<std::size_t>(count));
      return values.data();
    });
    return values;
  }

  /// The characters of a single text.
  std::string letters() {
    const char kind = header_.type.kind;
    expect((kind == 'S' || kind == 'U') && header_.count == 1 && elements_size_ == header_.type.bytes &&
               elements_size_ <= 64,
           "it is not the name of a format");
    std::string bytes(static_cast<std::size_t>(elements_size_), '\0');
    read_fully(*stream_, bytes.data(), bytes.size(), file_, "its text");
    std::erase(bytes, '\0');  // padding, and the upper bytes of the characters of 'U'
    return bytes;
  }

 private:
  std::string file_;
  std::unique_ptr<ByteStream> stream_;
  NpyHeader header_;
  std::int64_t elements_size_;
};

/// The arrays of a sparse matrix in an archive.
class NpzFile {
 public:
  NpzFile(std::unique_ptr<RandomBytes> bytes, const std::string& name) : archive_(std::move(bytes), name) {
    std::string names;
    for (const ZipMember& member : archive_.members())
      if (names.size() < 100) names += (names.empty() ? "" : ", ") + member.name;
    for (const std::string_view array : {"format.npy", "shape.npy", "data.npy"})
      if (!archive_.find(array))
        throw ParseError(
            name, 0,
            text("the archive holds ", names.empty() ? "nothing" : names,
                 ", expected the arrays of a sparse matrix as scipy.sparse.save_npz writes them: ", array,
                 " is missing"));
  }

  const std::string& name() const { return archive_.name(); }
  bool has(std::string_view array) const { return archive_.find(array) != nullptr; }
  NpzArray array(std::string_view array) const {
    const ZipMember* const member = archive_.find(array);
    if (!member) throw ParseError(archive_.name(), 0, text("the archive lacks ", array));
    return {archive_, *member};
  }

  NpzHeader header() const {
    NpzHeader out;
    out.format = array("format.npy").letters();
    NpzArray shape = array("shape.npy");
    shape.expect(shape.header().count <= 32, "it has more than 32 extents");
    out.shape = shape.read<std::int64_t>();
    for (const std::int64_t extent : out.shape)
      shape.expect(extent >= 0, text("an extent is ", extent, ", expected at least 0"));
    const NpzArray data = array("data.npy");
    out.stored = data.header().count;
    out.field = field_of(data.header().type);
    constexpr std::array known = {"csr", "csc", "coo", "bsr", "dia"};
    if (std::find(known.begin(), known.end(), out.format) == known.end())
      throw ParseError(name(), 0,
                       text("its format is '", out.format, "', expected csr, csc, coo, bsr or dia"));
    if (out.format != "coo" && out.shape.size() != 2)
      throw ParseError(name(), 0,
                       text("its format is ", out.format, ", but its shape has ", out.shape.size(),
                            " extents, expected 2"));
    return out;
  }

 private:
  ZipArchive archive_;
};

/// Reads one sparse matrix.
template <class Value, int Order>
class NpzReader {
 public:
  explicit NpzReader(const NpzFile& file) : file_(file), header_(file.header()) {
    if (std::ssize(header_.shape) != Order)
      refuse_order(file.name(), text("a shape of ", header_.shape.size(), " extents"),
                   std::ssize(header_.shape), Order);
    std::copy(header_.shape.begin(), header_.shape.end(), extents_.begin());
  }

  Entries<Value, Order> read() {
    if (header_.format == "coo") return read_coo();
    if constexpr (Order == 2) {
      if (header_.format == "dia") return read_dia();
      return header_.format == "bsr" ? read_bsr() : read_compressed(header_.format == "csr" ? 0 : 1);
    }
    throw InternalError("a header of another format has been refused");
  }

 private:
  /// Reads coordinates along a mode into `out`, and checks them.
  static void read_coordinates(NpzArray& array, std::int64_t extent, std::int64_t count, std::int64_t* out) {
    array.expect(array.header().count == count,
                 text("it has ", array.header().count, " elements, expected ", count, ", as many as values"));
    array.read_to<std::int64_t>([&](std::int64_t) { return out; });
    check(array, extent, count, out);
  }

  static void check(const NpzArray& array, std::int64_t extent, std::int64_t count, const std::int64_t* out) {
    for (std::int64_t q = 0; q < count; ++q)
      if (out[q] < 0 || out[q] >= extent)
        array.expect(false, text("element ", q, " is ", out[q], ", expected 0 to ", extent - 1));
  }

  /// Allocates as many entries as the array of values has elements; that number is bounded by the array's
  /// size in the file.
  Entries<Value, Order> with_values(NpzArray& data) {
    Entries<Value, Order> out;
    data.read_to<Value>([&](std::int64_t count) {
      out = Entries<Value, Order>(extents_, count);
      return out.values.data();
    });
    return out;
  }

  Entries<Value, Order> read_coo() {
    NpzArray data = file_.array("data.npy");
    Entries<Value, Order> out = with_values(data);
    if (file_.has("coords.npy")) {
      NpzArray coords = file_.array("coords.npy");
      coords.expect(!coords.header().fortran_order || Order == 1, "it is in Fortran order");
      coords.expect(coords.header().shape == std::vector<std::int64_t>{Order, out.size()},
                    text("its shape is not ", Order, " x ", out.size(), ", a coordinate for each value"));
      const auto all = coords.read<std::int64_t>();
      for (std::size_t mode = 0; mode < out.coordinates.size(); ++mode) {
        const std::int64_t* const part = all.data() + static_cast<std::int64_t>(mode) * out.size();
        check(coords, extents_[mode], out.size(), part);
        std::copy(part, part + out.size(), out.coordinates[mode].data());
      }
      return out;
    }
    if constexpr (Order == 2)
      for (const auto& [mode, name] :
           {std::pair(std::size_t{0}, "row.npy"), std::pair(std::size_t{1}, "col.npy")}) {
        NpzArray array = file_.array(name);
        read_coordinates(array, extents_[mode], out.size(), out.coordinates[mode].data());
      }
    else
      file_.array("coords.npy");  // throws, since it is missing
    return out;
  }

  /// Where each row (or column, block row) begins; the last element is at most `most`.
  std::vector<std::int64_t> read_offsets(std::int64_t rows, std::int64_t most) {
    NpzArray array = file_.array("indptr.npy");
    array.expect(array.header().count - 1 == rows,
                 text("it has ", array.header().count, " elements, expected ", rows, " + 1"));
    auto offsets = array.read<std::int64_t>();
    std::int64_t before = 0;
    for (std::size_t q = 0; q < offsets.size(); ++q) {
      if (offsets[q] < before || offsets[q] > most || (q == 0 && offsets[q] != 0))
        array.expect(false, text("element ", q, " is ", offsets[q], ", expected ",
                                 q == 0 ? std::string("0") : text("from ", before, " to ", most)));
      before = offsets[q];
    }
    return offsets;
  }

  /// Reads CSR, whose rows are mode 0, or CSC, whose "rows" are mode 1.
  Entries<Value, 2> read_compressed(std::size_t rows) {
    NpzArray data = file_.array("data.npy");
    Entries<Value, 2> all = with_values(data);
    NpzArray indices = file_.array("indices.npy");
    read_coordinates(indices, extents_[1 - rows], all.size(), all.coordinates[1 - rows].data());
    const auto offsets = read_offsets(extents_[rows], all.size());
    for (std::size_t row = 0; row + 1 < offsets.size(); ++row)
      std::fill(all.coordinates[rows].data() + offsets[row], all.coordinates[rows].data() + offsets[row + 1],
                static_cast<std::int64_t>(row));
    return offsets.back() == all.size() ? all : front(all, offsets.back());
  }

  /// The first `count` entries: the arrays may be longer than the part in use.
  static Entries<Value, 2> front(const Entries<Value, 2>& all, std::int64_t count) {
    Entries<Value, 2> out(all.extents, count);
    for (std::int64_t q = 0; q < count; ++q)
      out.set(q, all.coordinate(q), all.values(static_cast<std::size_t>(q)));
    return out;
  }

  /// Collects entries one by one, dropping zeros, which are padding.
  class Nonzeros {
   public:
    void put(std::int64_t row, std::int64_t column, const Value& value) {
      if (!(value != Value(0))) return;
      places_.push_back({row, column});
      values_.push_back(value);
    }
    Entries<Value, 2> entries(const Extents<2>& extents) const {
      Entries<Value, 2> out(extents, std::ssize(places_));
      for (std::size_t q = 0; q < places_.size(); ++q)
        out.set(static_cast<std::int64_t>(q), places_[q], values_[q]);
      return out;
    }

   private:
    std::vector<Extents<2>> places_;
    std::vector<Value> values_;
  };

  /// Reads dense blocks, arranged as the nonzeros of a CSR matrix.
  Entries<Value, 2> read_bsr() {
    NpzArray data = file_.array("data.npy");
    const auto shape = data.header().shape;
    const bool whole = shape.size() == 3 && shape[1] > 0 && shape[2] > 0 && extents_[0] % shape[1] == 0 &&
                       extents_[1] % shape[2] == 0;
    data.expect(whole && !data.header().fortran_order, "it does not hold blocks that divide the matrix");
    const Entries<Value, Order> blocks = with_values(data);
    std::vector<std::int64_t> columns(static_cast<std::size_t>(shape[0]));
    NpzArray indices = file_.array("indices.npy");
    read_coordinates(indices, extents_[1] / shape[2], shape[0], columns.data());
    const auto offsets = read_offsets(extents_[0] / shape[1], shape[0]);
    Nonzeros out;
    for (std::int64_t row = 0; row + 1 < std::ssize(offsets); ++row)
      for (std::int64_t b = offsets[static_cast<std::size_t>(row)];
           b < offsets[static_cast<std::size_t>(row) + 1]; ++b)
        for (std::int64_t i = 0; i < shape[1]; ++i)
          for (std::int64_t j = 0; j < shape[2]; ++j)
            out.put(row * shape[1] + i, columns[static_cast<std::size_t>(b)] * shape[2] + j,
                    blocks.values(static_cast<std::size_t>((b * shape[1] + i) * shape[2] + j)));
    return out.entries(extents_);
  }

  /// Reads diagonals: element (d, j) of the values belongs to column j, on the diagonal `offsets(d)` above
  /// the main one.
  Entries<Value, 2> read_dia() {
    NpzArray data = file_.array("data.npy");
    const auto shape = data.header().shape;
    data.expect(shape.size() == 2 && !data.header().fortran_order, "it does not hold rows of diagonals");
    const Entries<Value, Order> values = with_values(data);
    NpzArray array = file_.array("offsets.npy");
    array.expect(
        array.header().count == shape[0],
        text("it has ", array.header().count, " elements, expected ", shape[0], ", one for each diagonal"));
    const auto offsets = array.read<std::int64_t>();
    Nonzeros out;
    for (std::int64_t d = 0; d < shape[0]; ++d)
      for (std::int64_t j = 0; j < std::min(shape[1], extents_[1]); ++j) {
        std::int64_t i = 0;
        const bool far = __builtin_sub_overflow(j, offsets[static_cast<std::size_t>(d)], &i);
        if (!far && i >= 0 && i < extents_[0])
          out.put(i, j, values.values(static_cast<std::size_t>(d * shape[1] + j)));
      }
    return out.entries(extents_);
  }

  const NpzFile& file_;
  NpzHeader header_;
  Extents<Order> extents_{};
};

}  // namespace io

/// Reads the information in the small arrays of a .npz file. Throws ParseError, IoError.
inline NpzHeader read_npz_header(const std::string& path) {
  return io::NpzFile(std::make_unique<io::FileBytes>(path), path).header();
}

/// The entries of .npz data; see read_npz_entries(path).
template <TensorValue Value, int Order>
  requires(Order >= 1)
Entries<Value, Order> read_npz_entries(std::unique_ptr<io::RandomBytes> bytes, const std::string& name) {
  expect_kokkos();
  const io::NpzFile file(std::move(bytes), name);
  return io::NpzReader<Value, Order>(file).read();
}

/// The entries of a sparse matrix written by scipy.sparse.save_npz, compressed or not, in the order of the
/// file: formats csr, csc, coo, bsr and dia, and coo of other orders. Duplicates and stored zeros are kept;
/// zeros in blocks and diagonals are padding and are left out. Cost: linear in the file.
///
/// @throws ParseError for a broken archive, arrays that do not fit together, coordinates outside the shape
/// and values that `Value` cannot hold; ShapeError for a tensor of another order; IoError if the file cannot
/// be read; MemoryError
template <TensorValue Value, int Order>
  requires(Order >= 1)
Entries<Value, Order> read_npz_entries(const std::string& path) {
  return io::reading(
      path, [&] { return read_npz_entries<Value, Order>(std::make_unique<io::FileBytes>(path), path); });
}

}  // namespace sporos

// SPDX-License-Identifier: Apache-2.0
/// @file file.hpp
/// Files of entries of any kind: detecting the kind, reading by content, writing by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/entries.hpp"
#include "binsparse_header.hpp"
#include "binsparse_read.hpp"
#include "binsparse_write.hpp"
#include "edge_list.hpp"
#include "file_kind.hpp"
#include "file_source.hpp"
#include "frostt.hpp"
#include "matrix_market.hpp"
#include "memory_errors.hpp"
#include "npy.hpp"
#include "npz_read.hpp"
#include "npz_write.hpp"
#include "smtx.hpp"

namespace sporos {

/// What the first lines of a file say about it.
struct FileInfo {
  FileKind kind = FileKind::matrix_market;
  bool compressed = false;             ///< gzip
  std::int64_t bytes = 0;              ///< size of the file on disk; 0 if it is not a regular file
  int order = 2;                       ///< number of modes
  std::vector<std::int64_t> extents;   ///< empty if only the entries determine them
  std::optional<std::int64_t> stored;  ///< entries in the file; for a symmetric one, those of one triangle
  MatrixMarketField field = MatrixMarketField::real;  ///< what the values are; pattern: there are none
  std::optional<MatrixMarketHeader> matrix_market;    ///< field, symmetry, layout
  std::optional<BinsparseHeader> binsparse;           ///< format, structure, attributes

  /// The symmetry of the matrix if the file stores only one triangle.
  MatrixMarketSymmetry symmetry() const {
    if (matrix_market) return matrix_market->symmetry;
    return binsparse ? binsparse->symmetry : MatrixMarketSymmetry::general;
  }
};

namespace io {

/// Whether the name ends in `suffix`, ignoring case, folders and .gz.
inline bool has_suffix(std::string_view path, std::string_view suffix) {
  std::string name;
  for (const char c : path) name += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  return name.ends_with(suffix);
}

/// Whether the name is typical of edge lists and CSV files.
inline bool has_edge_list_name(std::string_view path) {
  for (const std::string_view suffix : {".csv", ".tsv", ".edges", ".edgelist", ".el", ".wel"})
    if (has_suffix(path, suffix)) return true;
  return false;
}

/// Whether the name is typical of HDF5 files, which compress their arrays themselves.
inline bool has_hdf5_name(std::string_view path) {
  return !path.ends_with(".gz") && (has_suffix(path, ".h5") || has_suffix(path, ".hdf5"));
}

/// The kind of a text, by its first line or, if that is not conclusive, by its name.
inline FileKind kind_of(TextSource& source) {
  const std::string& name = source.name();
  const char* const line = peek_line(source);
  if (!line) throw ParseError(name, 0, "the file is empty, expected .mtx, .tns, .smtx or .csv text");
  const char* p = line;
  if (take_word(p).starts_with("%%matrixmarket")) return FileKind::matrix_market;
  if (has_suffix(name, ".smtx")) return FileKind::smtx;
  if (has_suffix(name, ".tns")) return FileKind::tns;
  if (has_suffix(name, ".mtx")) return FileKind::matrix_market;
  if (has_edge_list_name(name)) return FileKind::edges;
  const char first = *skip_blanks(line);
  const auto holds = [&](char c) { return line_at(line).find(c) != std::string_view::npos; };
  if (is_digit(first)) return holds(',') ? FileKind::smtx : FileKind::tns;
  if (first == '#') return FileKind::tns;
  throw ParseError(
      name, 1,
      text("found ", found(line), ", expected the first line of a Matrix Market, .tns or .smtx file",
           holds('\0') ? " (if this is an archive, unpack it first)" : ""));
}

/// The kind of a file, as given by the caller, else by its first bytes, else by its name.
inline FileKind kind_of(FileSource& file, const ReadOptions& options) {
  if (options.kind) return *options.kind;
  {
    PlainOrGzipStream stream(file.look(), file.name());
    std::string front(std::max(npy_magic.size(), hdf5_magic.size()), '\0');
    std::size_t got = 0;
    while (got < front.size()) {
      const std::size_t count = stream.read(front.data() + got, front.size() - got);
      if (count == 0) break;
      got += count;
    }
    front.resize(got);
    if (front.starts_with(npy_magic)) return FileKind::npy;
    if (front == hdf5_magic) return FileKind::binsparse;
    const bool archive = front.starts_with("PK\3\4") || front.starts_with("PK\5\6");
    if (archive && !stream.compressed()) return FileKind::npz;
  }
  TextSource source(file.look(), file.name(), header_options());
  return kind_of(source);
}

}  // namespace io

/// The information in the first lines of a file: its kind and order, and its extents and number of entries if
/// they are given there. Reads a few kilobytes. Throws ParseError, IoError.
/// @param options  may set `kind`; otherwise the content decides
inline FileInfo inspect(io::FileSource& file, const ReadOptions& options = {}) {
  const auto look = [&](io::Cut cut = io::Cut::at_lines) {
    return io::TextSource(file.look(), file.name(), io::header_options(cut));
  };
  FileInfo info;
  info.kind = io::kind_of(file, options);
  {
    const io::PlainOrGzipStream stream(file.look(), file.name());
    info.compressed = stream.compressed();
    info.bytes = stream.total();
  }
  switch (info.kind) {
    case FileKind::matrix_market: {
      io::TextSource source = look();
      info.matrix_market = io::take_header(source);
      info.extents = {info.matrix_market->rows, info.matrix_market->columns};
      info.stored = info.matrix_market->stored;
      info.field = info.matrix_market->field;
      break;
    }
    case FileKind::tns: {
      io::TextSource source = look();
      const TnsHeader header = io::take_tns_header(source);
      info.order = header.order;
      info.extents = header.extents;
      break;
    }
    case FileKind::smtx: {
      io::TextSource source = look(io::Cut::at_words);
      const SmtxHeader header = io::take_smtx_header(source);
      info.extents = {header.rows, header.columns};
      info.stored = header.stored;
      info.field = MatrixMarketField::pattern;
      break;
    }
    case FileKind::edges: {
      io::TextSource source = look();
      if (io::take_edge_list_header(source).columns == 2) info.field = MatrixMarketField::pattern;
      break;
    }
    case FileKind::npy: {
      io::PlainOrGzipStream stream(file.look(), file.name());
      const NpyHeader header = io::take_npy_header(stream, file.name());
      info.order = static_cast<int>(std::ssize(header.shape));
      info.extents = header.shape;
      info.field = io::field_of(header.type);
      break;
    }
    case FileKind::npz: {
      const NpzHeader header = io::NpzFile(file.open_at_random(), file.name()).header();
      info.order = static_cast<int>(std::ssize(header.shape));
      info.extents = header.shape;
      info.stored = header.stored;
      info.field = header.field;
      break;
    }
    case FileKind::binsparse: {
      info.binsparse = io::take_binsparse_header(file, options);
      info.order = static_cast<int>(std::ssize(info.binsparse->shape));
      info.extents = info.binsparse->shape;
      info.stored = info.binsparse->stored;
      info.field = info.binsparse->field;
      break;
    }
  }
  return info;
}

/// Inspects the file at a path.
inline FileInfo inspect(const std::string& path, const ReadOptions& options = {}) {
  return inspect(*io::file_at(path), options);
}

/// The entries of a file of any kind, which is detected from its content or its name: see
/// read_matrix_market_entries, read_tns_entries, read_smtx_entries, read_edge_list_entries, read_npy_entries,
/// read_npz_entries, read_binsparse_entries.
/// @throws ParseError, IoError, MemoryError; ShapeError if the file holds a tensor of another order
/// (inspect(file) finds the order beforehand)
template <TensorValue Value, int Order>
  requires(Order >= 1)
Entries<Value, Order> read_entries(io::FileSource& file, const ReadOptions& options = {}) {
  expect_kokkos();
  return io::reading(file.name(), [&]() -> Entries<Value, Order> {
    const FileKind kind = io::kind_of(file, options);
    if (kind == FileKind::npz) return read_npz_entries<Value, Order>(file.open_at_random(), file.name());
    if (kind == FileKind::binsparse) return read_binsparse_entries<Value, Order>(file, options);
    if (kind == FileKind::npy) {
      io::PlainOrGzipStream stream(file.open(), file.name());
      return read_npy_entries<Value, Order>(stream, file.name());
    }
    // The text of a .smtx file is cut into blocks differently.
    io::TextSource source(
        file.open(), file.name(),
        kind == FileKind::smtx ? io::smtx_text_options(options) : io::text_options(options));
    if (kind == FileKind::tns) return read_tns_entries<Value, Order>(source, options);
    if constexpr (Order == 2) {
      if (kind == FileKind::smtx) return read_smtx_entries<Value>(source, options);
      if (kind == FileKind::edges) return read_edge_list_entries<Value>(source, options);
      return read_matrix_market_entries<Value>(source, options);
    } else {
      io::refuse_order(file.name(), text("a matrix (", to_string(kind), ")"), 2, Order);
    }
  });
}

/// The entries of the file at a path.
template <TensorValue Value, int Order>
  requires(Order >= 1)
Entries<Value, Order> read_entries(const std::string& path, const ReadOptions& options = {}) {
  return read_entries<Value, Order>(*io::file_at(path), options);
}

/// Writes `entries` in the format indicated by the file's name: .mtx, .tns, .smtx or .npy, optionally with
/// .gz, or .npz, .h5 (binsparse) or .hdf5.
/// @throws FormatError for any other name, and for entries that such a file cannot hold; IoError if it cannot
/// be written; MemoryError
template <TensorValue Value, int Order>
  requires(Order >= 1)
void write_entries(const std::string& path, const Entries<Value, Order>& entries) {
  if (io::has_suffix(path, ".tns")) return write_tns(path, entries);
  if (io::has_suffix(path, ".npy")) return write_npy(path, entries);
  if (path.ends_with(".npz")) return write_npz(path, entries);
  if (io::has_hdf5_name(path)) return write_binsparse(path, entries);
  if constexpr (Order == 2) {
    if (io::has_suffix(path, ".mtx")) return write_matrix_market(path, entries);
    if (io::has_suffix(path, ".smtx")) return write_smtx(path, entries);
  }
  throw FormatError(text(path, ": a tensor of order ", Order, " needs a file name that ends in ",
                         Order == 2 ? ".mtx, .tns, .smtx or .npy" : ".tns or .npy",
                         ", optionally followed by .gz, or in .npz or .h5"));
}

}  // namespace sporos

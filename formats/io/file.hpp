// SPDX-License-Identifier: Apache-2.0
/// @file file.hpp
/// Files of entries of any kind: finding out the kind, reading by content, writing by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/entries.hpp"
#include "frostt.hpp"
#include "matrix_market.hpp"
#include "smtx.hpp"

namespace sporos {

enum class FileKind { matrix_market, tns, smtx };

constexpr std::string_view to_string(FileKind kind) {
  switch (kind) {
    case FileKind::tns:
      return "FROSTT .tns";
    case FileKind::smtx:
      return "DLMC .smtx";
    default:
      return "Matrix Market";
  }
}

/// What the first lines of a file say about it.
struct FileInfo {
  FileKind kind = FileKind::matrix_market;
  bool compressed = false;             ///< gzip
  std::int64_t bytes = 0;              ///< size of the file on disk; 0 if it is not a regular file
  int order = 2;                       ///< number of modes
  std::vector<std::int64_t> extents;   ///< empty if only the entries determine them
  std::optional<std::int64_t> stored;  ///< entries in the file; of a symmetric one, those of one triangle
  std::optional<MatrixMarketHeader> matrix_market;  ///< field, symmetry, layout
};

namespace io {

/// Whether the name, in lower case and without folder and .gz, ends in `suffix`.
inline bool has_suffix(std::string_view path, std::string_view suffix) {
  std::string name;
  for (const char c : path) name += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  return name.ends_with(suffix);
}

/// The kind of a text according to its first line, or to its name if the line does not tell.
inline FileKind kind_of(TextSource& source) {
  const std::string& name = source.name();
  const char* const line = peek_line(source);
  if (!line) throw ParseError(name, 0, "the file is empty, expected .mtx, .tns or .smtx text");
  const char* p = line;
  if (take_word(p).starts_with("%%matrixmarket")) return FileKind::matrix_market;
  if (has_suffix(name, ".smtx")) return FileKind::smtx;
  if (has_suffix(name, ".tns")) return FileKind::tns;
  if (has_suffix(name, ".mtx")) return FileKind::matrix_market;
  const char first = *skip_blanks(line);
  const auto holds = [&](char c) { return line_at(line).find(c) != std::string_view::npos; };
  if (is_digit(first)) return holds(',') ? FileKind::smtx : FileKind::tns;
  if (first == '#') return FileKind::tns;
  throw ParseError(
      name, 1,
      text("found ", found(line), ", expected the first line of a Matrix Market, .tns or .smtx file",
           holds('\0') ? " (if this is an archive, unpack it first)" : ""));
}

}  // namespace io

/// What the first lines of a file say: its kind and order, and its extents and number of entries if they are
/// given there. Reads a few kilobytes. Throws ParseError, IoError.
inline FileInfo inspect(const std::string& path) {
  FileInfo info;
  {
    io::TextSource source(path, io::header_options());
    info.kind = io::kind_of(source);
    info.compressed = source.compressed();
    info.bytes = source.file_bytes();
  }
  switch (info.kind) {
    case FileKind::matrix_market:
      info.matrix_market = read_matrix_market_header(path);
      info.extents = {info.matrix_market->rows, info.matrix_market->columns};
      info.stored = info.matrix_market->stored;
      break;
    case FileKind::tns: {
      const TnsHeader header = read_tns_header(path);
      info.order = header.order;
      info.extents = header.extents;
      break;
    }
    case FileKind::smtx: {
      const SmtxHeader header = read_smtx_header(path);
      info.extents = {header.rows, header.columns};
      info.stored = header.stored;
      break;
    }
  }
  return info;
}

/// The entries of a file of any kind, which is recognised by its content: see read_matrix_market_entries,
/// read_tns_entries, read_smtx_entries.
/// @throws ParseError, IoError; ShapeError if the file holds a tensor of another order (inspect(path) tells
/// the order beforehand)
template <TensorValue Value, int Order>
  requires(Order >= 1)
Entries<Value, Order> read_entries(const std::string& path, const ReadOptions& options = {}) {
  expect_kokkos();
  io::TextSource source(path, io::text_options(options));
  const FileKind kind = io::kind_of(source);
  if (kind == FileKind::tns) return read_tns_entries<Value, Order>(source, options);
  if constexpr (Order == 2)
    return kind == FileKind::smtx
               ? read_smtx_entries<Value>(path, options)  // its text is cut into blocks differently
               : read_matrix_market_entries<Value>(source, options);
  else
    io::refuse_order(path, text("a matrix (", to_string(kind), ")"), 2, Order);
}

/// Writes `entries` in the format that the file's name stands for: .mtx, .tns or .smtx, optionally with .gz.
/// @throws FormatError for any other name and for entries that such a file cannot hold; IoError if it cannot
/// be written
template <TensorValue Value, int Order>
  requires(Order >= 1)
void write_entries(const std::string& path, const Entries<Value, Order>& entries) {
  if (io::has_suffix(path, ".tns")) return write_tns(path, entries);
  if constexpr (Order == 2) {
    if (io::has_suffix(path, ".mtx")) return write_matrix_market(path, entries);
    if (io::has_suffix(path, ".smtx")) return write_smtx(path, entries);
  }
  throw FormatError(text(path, ": a tensor of order ", Order, " needs a file name that ends in ",
                         Order == 2 ? ".mtx, .tns or .smtx" : ".tns", ", optionally followed by .gz"));
}

}  // namespace sporos

// SPDX-License-Identifier: Apache-2.0
/// @file matrix_market_header.hpp
/// The first lines of a Matrix Market file: what it holds and how much of it.
///
/// R. Boisvert, R. Pozo, K. Remington, "The Matrix Market exchange formats: initial design", NISTIR 5935
/// (1996).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "../../core/error.hpp"
#include "../../core/extents.hpp"
#include "number.hpp"
#include "read_options.hpp"
#include "text_source.hpp"

namespace sporos {

enum class MatrixMarketLayout { coordinate, array };
using MatrixMarketField = io::Field;
enum class MatrixMarketSymmetry { general, symmetric, skew_symmetric, hermitian };

/// The information in the first lines of a Matrix Market file.
struct MatrixMarketHeader {
  MatrixMarketLayout layout = MatrixMarketLayout::coordinate;
  MatrixMarketField field = MatrixMarketField::real;
  MatrixMarketSymmetry symmetry = MatrixMarketSymmetry::general;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t stored = 0;     ///< entries in the file; for a symmetric one, those of one triangle
  std::int64_t size_line = 0;  ///< 1-based number of the line with the three numbers above
};

constexpr std::string_view to_string(MatrixMarketLayout layout) {
  return layout == MatrixMarketLayout::array ? "array" : "coordinate";
}
constexpr std::string_view to_string(MatrixMarketSymmetry symmetry) {
  switch (symmetry) {
    case MatrixMarketSymmetry::symmetric:
      return "symmetric";
    case MatrixMarketSymmetry::skew_symmetric:
      return "skew-symmetric";
    case MatrixMarketSymmetry::hermitian:
      return "hermitian";
    default:
      return "general";
  }
}

namespace io {

using sporos::to_string;

constexpr std::string_view to_string(Field field) {
  switch (field) {
    case Field::integer:
      return "integer";
    case Field::complex:
      return "complex";
    case Field::pattern:
      return "pattern";
    default:
      return "real";
  }
}

/// Why the standard does not permit this banner; empty if it does.
inline std::string unlawful_banner(const MatrixMarketHeader& header) {
  using enum MatrixMarketSymmetry;
  const bool pattern = header.field == Field::pattern;
  if (pattern && header.layout == MatrixMarketLayout::array)
    return "'array pattern' is not a Matrix Market file: an array has values, expected 'coordinate pattern'";
  if (pattern && (header.symmetry == skew_symmetric || header.symmetry == hermitian))
    return text("'pattern ", to_string(header.symmetry),
                "' is not a Matrix Market file: a pattern has no values to negate, expected 'general' or "
                "'symmetric'");
  if (header.symmetry == hermitian && header.field != Field::complex)
    return text("'", to_string(header.field),
                " hermitian' is not a Matrix Market file: expected 'complex hermitian', or 'symmetric'");
  return {};
}

/// Counts the values of an array: all of them, or those of the lower triangle (of a skew-symmetric matrix,
/// without the diagonal). False if 64 bits cannot hold the number.
inline bool count_array(const MatrixMarketHeader& header, std::int64_t& count) {
  const std::int64_t n = header.rows;
  if (header.symmetry == MatrixMarketSymmetry::general)
    return !__builtin_mul_overflow(n, header.columns, &count);
  const bool skew = header.symmetry == MatrixMarketSymmetry::skew_symmetric;
  if (n == INT64_MAX || __builtin_mul_overflow(n, skew ? std::max<std::int64_t>(n - 1, 0) : n + 1, &count))
    return false;
  count /= 2;
  return true;
}

/// Parses the banner; the sizes follow on a separate line.
inline MatrixMarketHeader parse_banner(const char* line, const std::string& file) {
  const char* p = line;
  const char* before = line;  // the word taken last
  const auto take = [&] {
    before = p;
    return take_word(p);
  };
  const auto refuse = [&](const std::string& reason) { throw ParseError(file, 1, reason); };
  const auto expect = [&](bool holds, std::string_view expected) {
    if (!holds) refuse(text("found ", found(before), ", expected ", expected));
  };

  const bool banner = take() == "%%matrixmarket";
  if (!banner && line_at(line).find('\0') != std::string_view::npos)
    refuse("binary data, expected the text of a Matrix Market file (if this is an archive, unpack it first)");
  expect(banner, "'%%MatrixMarket matrix coordinate real general' or the like");
  expect(take() == "matrix", "'matrix': Sporos reads no other Matrix Market object");

  MatrixMarketHeader header;
  std::string word = take();
  expect(word == "coordinate" || word == "array", "'coordinate' or 'array'");
  if (word == "array") header.layout = MatrixMarketLayout::array;

  word = take();
  if (word == "integer") header.field = Field::integer;
  if (word == "complex") header.field = Field::complex;
  if (word == "pattern") header.field = Field::pattern;
  expect(header.field != Field::real || word == "real" || word == "double",
         "'real', 'double', 'integer', 'complex' or 'pattern'");

  word = take();
  using enum MatrixMarketSymmetry;
  if (word == "symmetric") header.symmetry = symmetric;
  if (word == "skew-symmetric") header.symmetry = skew_symmetric;
  if (word == "hermitian") header.symmetry = hermitian;
  expect(header.symmetry != general || word == "general",
         "'general', 'symmetric', 'skew-symmetric' or 'hermitian'");
  expect(take().empty(), "the end of the line after the banner's five words");
  if (const std::string reason = unlawful_banner(header); !reason.empty()) refuse(reason);
  return header;
}

/// Parses the line of sizes into `header`, and derives the number of values of an array.
inline void parse_sizes(const char* p, const std::string& file, std::int64_t line_number,
                        MatrixMarketHeader& header) {
  header.size_line = line_number;
  const bool array = header.layout == MatrixMarketLayout::array;
  const std::array<std::int64_t*, 3> sizes = {&header.rows, &header.columns, &header.stored};
  constexpr std::array<std::string_view, 3> names = {"the number of rows", "the number of columns",
                                                     "the number of entries"};
  for (std::size_t k = 0; k < (array ? 2u : 3u); ++k) {
    const char* const q = parse_count(skip_blanks(p), *sizes[k]);
    if (!q)
      throw ParseError(file, line_number,
                       text("found ", found(p), ", expected ", names[k], ", an integer from 0 to 2^63 - 1"));
    p = q;
  }
  if (*skip_blanks(p) != '\n')
    throw ParseError(
        file, line_number,
        text("found ", found(p), " after the sizes, expected ", array ? "two" : "three", " numbers"));
  if (header.symmetry != MatrixMarketSymmetry::general && header.rows != header.columns)
    throw ParseError(file, line_number,
                     text("a ", to_string(header.symmetry), " matrix is square, but this one is ",
                          header.rows, " x ", header.columns));
  if (!array) return;
  if (!count_array(header, header.stored))
    throw ParseError(
        file, line_number,
        text("an array of ", header.rows, " x ", header.columns, " has more entries than 64 bits count"));
}

/// Reads the banner, the comments and the sizes; the next line of the source is then the first with entries.
inline MatrixMarketHeader take_header(TextSource& source) {
  const char* line = take_line(source);
  if (!line) throw ParseError(source.name(), 0, "the file is empty, expected a Matrix Market file");
  MatrixMarketHeader header = parse_banner(line, source.name());
  while ((line = take_line(source))) {
    const char first = *skip_blanks(line);
    if (first == '%' || first == '\n') continue;
    parse_sizes(line, source.name(), source.lines_taken(), header);
    return header;
  }
  throw ParseError(source.name(), source.lines_taken(), "the file ends before its line of sizes");
}

}  // namespace io

/// Reads the header of a Matrix Market file, plain or gzip, and no more than that. Throws ParseError,
/// IoError.
inline MatrixMarketHeader read_matrix_market_header(const std::string& path) {
  io::TextSource source(path, io::header_options());
  return io::take_header(source);
}

}  // namespace sporos

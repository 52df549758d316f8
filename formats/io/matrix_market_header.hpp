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

/// What the first lines of a Matrix Market file say.
struct MatrixMarketHeader {
  MatrixMarketLayout layout = MatrixMarketLayout::coordinate;
  MatrixMarketField field = MatrixMarketField::real;
  MatrixMarketSymmetry symmetry = MatrixMarketSymmetry::general;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t stored = 0;     ///< entries that the file holds: of a symmetric one, those of one triangle
  std::int64_t size_line = 0;  ///< 1-based line on which the three numbers above stand
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

/// The word that `line` begins with, in lower case; `line` is left with what follows.
inline std::string take_word(std::string_view& line) {
  std::size_t at = 0;
  while (at < line.size() && is_blank(line[at])) ++at;
  std::string word;
  for (; at < line.size() && !is_blank(line[at]); ++at) {
    const char c = line[at];
    word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  line.remove_prefix(at);
  return word;
}

/// Why the standard has no such banner; empty where it has.
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

/// The number of values of an array: all, or those of the lower triangle (of a skew-symmetric one without the
/// diagonal). False where 64 bits do not hold it.
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

/// Reads the banner; the sizes follow on a line of their own.
inline MatrixMarketHeader parse_banner(std::string_view line, const std::string& file) {
  const auto refuse = [&](const std::string& reason) -> void { throw ParseError(file, 1, reason); };
  const char* const begin = line.data();
  std::string_view rest = line;
  if (take_word(rest) != "%%matrixmarket") {
    if (line.find('\0') != std::string_view::npos)
      refuse(
          "binary data, expected the text of a Matrix Market file (if this is an archive, unpack it first)");
    refuse(text("found ", found(begin),
                ", expected '%%MatrixMarket matrix coordinate real general' or the like"));
  }
  const auto word = [&](auto&& take) {
    const std::string_view at = rest;
    const std::string given = take_word(rest);
    if (!take(given)) return found(at.data());
    return std::string();
  };
  MatrixMarketHeader header;
  std::string wrong = word([](const std::string& w) { return w == "matrix"; });
  if (!wrong.empty())
    refuse(text("found ", wrong, ", expected 'matrix': Sporos reads no other Matrix Market object"));
  wrong = word([&](const std::string& w) {
    header.layout = w == "array" ? MatrixMarketLayout::array : MatrixMarketLayout::coordinate;
    return w == "array" || w == "coordinate";
  });
  if (!wrong.empty()) refuse(text("found ", wrong, ", expected 'coordinate' or 'array'"));
  wrong = word([&](const std::string& w) {
    if (w == "integer") header.field = Field::integer;
    if (w == "complex") header.field = Field::complex;
    if (w == "pattern") header.field = Field::pattern;
    return header.field != Field::real || w == "real" || w == "double";
  });
  if (!wrong.empty())
    refuse(text("found ", wrong, ", expected 'real', 'double', 'integer', 'complex' or 'pattern'"));
  wrong = word([&](const std::string& w) {
    using enum MatrixMarketSymmetry;
    if (w == "symmetric") header.symmetry = symmetric;
    if (w == "skew-symmetric") header.symmetry = skew_symmetric;
    if (w == "hermitian") header.symmetry = hermitian;
    return header.symmetry != general || w == "general";
  });
  if (!wrong.empty())
    refuse(text("found ", wrong, ", expected 'general', 'symmetric', 'skew-symmetric' or 'hermitian'"));
  if (const std::string_view at = rest; !take_word(rest).empty())
    refuse(text("found ", found(at.data()), " behind the banner's five words, expected the end of the line"));

  if (const std::string reason = unlawful_banner(header); !reason.empty()) refuse(reason);
  return header;
}

/// Reads the line of sizes into `header`, and derives what an array holds.
inline void parse_sizes(std::string_view line, const std::string& file, std::int64_t line_number,
                        MatrixMarketHeader& header) {
  header.size_line = line_number;
  const bool array = header.layout == MatrixMarketLayout::array;
  const std::array<std::int64_t*, 3> sizes = {&header.rows, &header.columns, &header.stored};
  constexpr std::array<std::string_view, 3> names = {"the number of rows", "the number of columns",
                                                     "the number of entries"};
  const char* p = line.data();
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
        text("found ", found(p), " behind the sizes, expected ", array ? "two" : "three", " numbers"));
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

/// Reads banner, comments and sizes; the source is left at the first line of entries.
inline MatrixMarketHeader take_header(TextSource& source) {
  std::string_view line;
  const auto next = [&](std::string_view& out) { return take_line(source, out); };
  if (!next(line)) throw ParseError(source.name(), 0, "the file is empty, expected a Matrix Market file");
  MatrixMarketHeader header = parse_banner(line, source.name());
  while (next(line)) {
    const char first = *skip_blanks(line.data());
    if (first == '%' || first == '\n') continue;
    parse_sizes(line, source.name(), source.lines_taken(), header);
    return header;
  }
  throw ParseError(source.name(), source.lines_taken(), "the file ends before its line of sizes");
}

}  // namespace io

/// Reads what a Matrix Market file, plain or gzip, says of itself, and no more of it. Throws ParseError,
/// IoError.
inline MatrixMarketHeader read_matrix_market_header(const std::string& path) {
  io::TextSource source(path, io::header_options());
  return io::take_header(source);
}

}  // namespace sporos

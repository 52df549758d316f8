// SPDX-License-Identifier: Apache-2.0
/// @file matrix_market_write.hpp
/// Writing entries as a Matrix Market file.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/entries.hpp"
#include "matrix_market_header.hpp"
#include "matrix_market_read.hpp"
#include "memory_errors.hpp"
#include "number.hpp"
#include "text_sink.hpp"

namespace sporos {

/// How entries are written as a Matrix Market file.
struct MatrixMarketWriteOptions {
  MatrixMarketLayout layout = MatrixMarketLayout::coordinate;
  MatrixMarketSymmetry symmetry =
      MatrixMarketSymmetry::general;  ///< if not general, the entries are checked and one triangle is written
  std::optional<MatrixMarketField> field =
      std::nullopt;               ///< unset: determined by the type of the values; pattern drops them
  std::string comment = {};       ///< lines to write after the banner
  bool expanded_symmetry = true;  ///< off: the entries already are only those of the lower triangle
  int threads = 0;     ///< for formatting and compressing; 0: as many as the default host space has
  int gzip_level = 6;  ///< 1 (fast) to 9 (small), for names that end in .gz
};

namespace io {

/// The field that describes the values of `entries` most precisely.
template <class Value, int Order>
Field natural_field(const Entries<Value, Order>& entries, MatrixMarketLayout layout) {
  if constexpr (is_complex_v<Value>) {
    return Field::complex;
  } else if constexpr (std::same_as<Value, bool>) {
    const bool* const values = entries.values.data();
    const bool all = std::all_of(values, values + entries.size(), [](bool x) { return x; });
    return all && layout == MatrixMarketLayout::coordinate ? Field::pattern : Field::integer;
  } else {
    return std::integral<Value> ? Field::integer : Field::real;
  }
}

template <class Value>
std::string value_text(const Value& value) {
  char digits[2 * scalar_width + 1];
  return std::string(digits, format_value(digits, value));
}

/// Whether `x` is an integer that fits in 64 bits.
template <class Value>
bool is_whole(Value x) {
  if constexpr (std::integral<Value>) {
    return true;
  } else {
    const auto wide = static_cast<double>(x);
    return wide >= -9223372036854775808.0 && wide < 9223372036854775808.0 &&
           static_cast<double>(static_cast<std::int64_t>(wide)) == wide;
  }
}

/// Whether `x`, or a part of it, is NaN.
template <class Value>
bool is_nan(const Value& x) {
  if constexpr (is_complex_v<Value>)
    return std::isnan(x.real()) || std::isnan(x.imag());
  else
    return std::isnan(static_cast<double>(x));
}

/// Checks that all values are valid with the given banner; throws FormatError for the first one that is not.
template <class Value>
void expect_field(const Entries<Value, 2>& entries, Field field, const std::string& path) {
  if (is_complex_v<Value> && field != Field::complex && field != Field::pattern)
    throw FormatError(text(path, ": complex values cannot be written as '", to_string(field),
                           "': leave the field open, or write the real parts"));
  if constexpr (!is_complex_v<Value> && !std::integral<Value>) {
    if (field != Field::integer) return;
    for (std::int64_t q = 0; q < entries.size(); ++q)
      if (!is_whole(entries.values(static_cast<std::size_t>(q))))
        throw FormatError(text(path, ": the value ", value_text(entries.values(static_cast<std::size_t>(q))),
                               " of entry ", q, " is not an integer: write the field 'real'"));
  }
}

/// The positions of the entries that a file of the given symmetry stores, in order. Throws FormatError if the
/// entries are not symmetric.
template <class Value>
std::vector<std::int64_t> stored_triangle(const Entries<Value, 2>& entries, MatrixMarketSymmetry symmetry,
                                          bool expanded, const std::string& path) {
  struct Place {
    std::int64_t row, column, position;  // those of the entry, or of its mirror image
  };
  const auto order = [](const Place& a, const Place& b) {
    if (a.row != b.row) return a.row < b.row;
    return a.column != b.column ? a.column < b.column : a.position < b.position;
  };
  const auto refuse = [&](std::int64_t i, std::int64_t j, const std::string& reason) {
    throw FormatError(text(path, ": entry (", i + 1, ", ", j + 1, ") ", reason, ", so the matrix is not ",
                           to_string(symmetry), ": write it as 'general'"));
  };
  const auto value = [&](std::int64_t q) { return entries.values(static_cast<std::size_t>(q)); };
  if (entries.extents[0] != entries.extents[1])
    throw FormatError(text(path, ": a matrix of ", to_string(entries.extents),
                           " is not square and cannot be ", to_string(symmetry), ": write it as 'general'"));
  std::vector<std::int64_t> stored;
  std::vector<Place> lower, upper;
  for (std::int64_t q = 0; q < entries.size(); ++q) {
    const auto [i, j] = entries.coordinate(q);
    if (i == j) {
      if (symmetry == MatrixMarketSymmetry::skew_symmetric) refuse(i, j, "lies on the diagonal");
      if constexpr (is_complex_v<Value>) {
        if (symmetry == MatrixMarketSymmetry::hermitian && !(value(q).imag() == 0))
          refuse(i, j, "lies on the diagonal and is not real");
      }
    }
    if (i < j) {
      if (!expanded) refuse(i, j, "lies above the diagonal");
      upper.push_back({j, i, q});
      continue;
    }
    stored.push_back(q);
    if (expanded && i > j) lower.push_back({i, j, q});
  }
  std::sort(lower.begin(), lower.end(), order);
  std::sort(upper.begin(), upper.end(), order);
  for (std::size_t k = 0; k < std::max(lower.size(), upper.size()); ++k) {
    const auto beyond = [&](const Place& a, const Place& b) {
      return a.row != b.row ? a.row > b.row : a.column > b.column;
    };
    if (k == upper.size() || (k < lower.size() && beyond(upper[k], lower[k])))
      refuse(lower[k].row, lower[k].column, "has no mirror image");
    if (k == lower.size() || beyond(lower[k], upper[k]))
      refuse(upper[k].column, upper[k].row, "has no mirror image");
    const Value below = value(lower[k].position), above = value(upper[k].position);
    const Value image = mirrored(below, symmetry);
    if (!(image == above) && !(is_nan(image) && is_nan(above)))
      refuse(lower[k].row, lower[k].column,
             text("is ", value_text(below), ", its mirror image ", value_text(above)));
  }
  return stored;
}

/// The text before the entries.
inline std::string matrix_market_head(const MatrixMarketHeader& header, std::string_view comment) {
  std::string head = text("%%MatrixMarket matrix ", to_string(header.layout), ' ', to_string(header.field),
                          ' ', to_string(header.symmetry), '\n');
  while (!comment.empty()) {
    const auto length = std::min(comment.find('\n'), comment.size());
    head += text('%', comment.substr(0, length), '\n');
    comment.remove_prefix(std::min(length + 1, comment.size()));
  }
  head += text(header.rows, ' ', header.columns);
  if (header.layout == MatrixMarketLayout::coordinate) head += text(' ', header.stored);
  return head + '\n';
}

/// Writes a value as text of `field`.
template <class Value>
char* format_as(char* p, const Value& value, Field field) {
  if constexpr (!is_complex_v<Value>) {
    if (field == Field::complex) {
      p = format_scalar(p, value);
      *p++ = ' ';
      *p++ = '0';
      return p;
    }
    if constexpr (!std::integral<Value>) {
      if (field == Field::integer)
        return format_scalar(p, static_cast<std::int64_t>(static_cast<double>(value)));
    }
  }
  return format_value(p, value);
}

/// The values of an array, column by column; for a symmetric matrix, its lower triangle. Missing entries are
/// 0.
template <class Value>
std::vector<Value> array_values(const Entries<Value, 2>& entries, const MatrixMarketHeader& header,
                                const std::vector<std::int64_t>& triangle, const std::string& path) {
  const bool general = header.symmetry == MatrixMarketSymmetry::general;
  const std::int64_t below = header.symmetry == MatrixMarketSymmetry::skew_symmetric ? 1 : 0;
  std::vector<Value> values(static_cast<std::size_t>(header.stored), Value(0));
  std::vector<bool> taken(values.size());
  const std::int64_t count = general ? entries.size() : static_cast<std::int64_t>(triangle.size());
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t q = general ? k : triangle[static_cast<std::size_t>(k)];
    const auto [i, j] = entries.coordinate(q);
    // Columns before j of the lower triangle hold n - below, n - below - 1, … values.
    const std::int64_t before = general ? j * header.rows : j * (header.rows - below) - j * (j - 1) / 2;
    const auto at = static_cast<std::size_t>(before + (general ? i : i - j - below));
    if (taken[at])
      throw FormatError(text(path, ": entry (", i + 1, ", ", j + 1,
                             ") occurs twice, but an array has one value there: assemble the entries first"));
    taken[at] = true;
    values[at] = entries.values(static_cast<std::size_t>(q));
  }
  return values;
}

}  // namespace io

/// Writes `entries`, in their order, as a Matrix Market file, compressed if `path` ends in .gz. Numbers have
/// the fewest digits that read back as the same number. The file appears when it is complete; until then, an
/// old file with that name remains. Cost: linear, parallel over pieces; checking a symmetry requires a sort.
///
/// @throws FormatError if the values do not fit the field or the symmetry that `options` ask for; IoError if
/// the file cannot be written; MemoryError
template <TensorValue Value>
void write_matrix_market(const std::string& path, const Entries<Value, 2>& entries,
                         const MatrixMarketWriteOptions& options = {}) {
  io::writing(path, entries, [&] {
    MatrixMarketHeader header;
    header.layout = options.layout;
    header.symmetry = options.symmetry;
    header.field = options.field ? *options.field : io::natural_field(entries, options.layout);
    header.rows = entries.extents[0];
    header.columns = entries.extents[1];
    header.stored = entries.size();
    io::expect_field(entries, header.field, path);
    const bool general = header.symmetry == MatrixMarketSymmetry::general;
    std::vector<std::int64_t> triangle;
    if (!general) {
      triangle = io::stored_triangle(entries, header.symmetry, options.expanded_symmetry, path);
      header.stored = static_cast<std::int64_t>(triangle.size());
    }
    if (const std::string reason = io::unlawful_banner(header); !reason.empty())
      throw FormatError(path + ": " + reason);
    if (header.layout == MatrixMarketLayout::array && !io::count_array(header, header.stored))
      throw FormatError(text(path, ": an array of ", to_string(entries.extents),
                             " has more values than 64 bits count: write it as 'coordinate'"));
    const std::string head = io::matrix_market_head(header, options.comment);

    if (header.layout == MatrixMarketLayout::array) {
      const std::vector<Value> values = io::array_values(entries, header, triangle, path);
      io::TextSink sink(path, options.gzip_level);
      sink.put(head);
      io::put_lines(sink, header.stored, 2 * io::scalar_width, options.threads, [&](std::int64_t q, char* p) {
        p = io::format_as(p, static_cast<Value>(values[static_cast<std::size_t>(q)]), header.field);
        *p++ = '\n';
        return p;
      });
      return sink.commit();
    }

    const std::int64_t* const rows = entries.coordinates[0].data();
    const std::int64_t* const columns = entries.coordinates[1].data();
    const Value* const values = entries.values.data();
    const bool with_values = header.field != io::Field::pattern;
    io::TextSink sink(path, options.gzip_level);
    sink.put(head);
    io::put_lines(sink, header.stored, 4 * io::scalar_width, options.threads, [&](std::int64_t k, char* p) {
      const std::int64_t q = general ? k : triangle[static_cast<std::size_t>(k)];
      p = io::format_scalar(p, rows[q] + 1);
      *p++ = ' ';
      p = io::format_scalar(p, columns[q] + 1);
      if (with_values) {
        *p++ = ' ';
        p = io::format_as(p, values[q], header.field);
      }
      *p++ = '\n';
      return p;
    });
    sink.commit();
  });
}

}  // namespace sporos

// SPDX-License-Identifier: Apache-2.0
/// @file report.hpp
/// What a command has to say: facts and tables, shown to a person as aligned text or to a program as one JSON
/// object.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sporos::tool {

/// Numbers with their unit: a person reads "24.1 KiB" where a program reads 24680.
struct Count {
  std::int64_t value;
};
struct Bytes {
  std::int64_t value;
};
struct Seconds {
  double value;
};
/// A part of a whole, 0 to 1; a person reads percent.
struct Part {
  double value;
};
/// Operations a second; a person reads "1.23 Gop/s".
struct PerSecond {
  double value;
};
/// Extents of a tensor.
struct Shape {
  std::vector<std::int64_t> extents;
};
/// Nothing to say here: "-", or null.
struct Absent {};

using Cell = std::variant<Absent, bool, Count, Bytes, Seconds, Part, PerSecond, double, Shape, std::string>;

/// A cell as a person reads it.
std::string to_text(const Cell& cell);

/// Facts and tables in the order in which they were put in. Keys are for programs, in snake_case; labels are
/// for people. A label that is empty hides the fact from people, a key that is empty from programs.
class Report {
 public:
  Report();
  Report(Report&&) noexcept;
  Report& operator=(Report&&) noexcept;
  ~Report();

  void fact(std::string_view key, std::string_view label, Cell cell);
  /// The same name for both.
  void fact(std::string_view name, Cell cell) { fact(name, name, std::move(cell)); }

  /// Facts of their own under a heading, a nested object for programs.
  Report& section(std::string_view key, std::string_view heading);

  /// A table; each row has a cell a column. For programs a list of objects. A table without headings is
  /// hidden from people, one without a key from programs.
  struct Column {
    std::string key;
    std::string heading;
  };
  void table(std::string_view key, std::vector<Column> columns, std::vector<std::vector<Cell>> rows);

  /// A remark for people alone, on a line of its own.
  void remark(std::string_view text);

  void write_text(std::ostream& out) const;
  void write_json(std::ostream& out) const;

 private:
  struct Contents;
  std::unique_ptr<Contents> contents_;
};

}  // namespace sporos::tool

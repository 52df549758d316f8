// SPDX-License-Identifier: Apache-2.0
/// @file report.hpp
/// The output of a command: facts and tables, printed as aligned text for people or as one JSON object for
/// programs.
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

/// Numbers with their units: people see "24.1 KiB" where programs see 24680.
struct Count {
  std::int64_t value;
};
struct Bytes {
  std::int64_t value;
};
struct Seconds {
  double value;
};
/// A fraction from 0 to 1; people see percent.
struct Part {
  double value;
};
/// Operations per second; people see "1.23 Gop/s".
struct PerSecond {
  double value;
};
/// Bytes per second; people see "12.3 GB/s", with 10^9 bytes per GB, as is usual for memory.
struct BytesPerSecond {
  double value;
};
/// Extents of a tensor.
struct Shape {
  std::vector<std::int64_t> extents;
};
/// No value: "-", or null.
struct Absent {};

using Cell = std::variant<Absent, bool, Count, Bytes, Seconds, Part, PerSecond, BytesPerSecond, double, Shape,
                          std::string>;

/// The text of a cell for people.
std::string to_text(const Cell& cell);

/// Facts and tables in the order in which they were added. Keys, in snake_case, are for programs; labels are
/// for people. An empty label hides a fact from people, an empty key hides it from programs.
class Report {
 public:
  Report();
  Report(Report&&) noexcept;
  Report& operator=(Report&&) noexcept;
  ~Report();

  void fact(std::string_view key, std::string_view label, Cell cell);
  /// A fact whose key is also its label.
  void fact(std::string_view name, Cell cell) { fact(name, name, std::move(cell)); }

  /// A group of facts under a heading; for programs, a nested object.
  Report& section(std::string_view key, std::string_view heading);

  /// A table, in which each row has one cell per column; for programs, a list of objects. A table without
  /// headings is hidden from people, one without a key from programs.
  struct Column {
    std::string key;
    std::string heading;
  };
  void table(std::string_view key, std::vector<Column> columns, std::vector<std::vector<Cell>> rows);

  /// A remark for people only, on a line of its own.
  void remark(std::string_view text);

  void write_text(std::ostream& out) const;
  void write_json(std::ostream& out) const;

 private:
  struct Contents;
  std::unique_ptr<Contents> contents_;
};

}  // namespace sporos::tool

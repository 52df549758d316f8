// SPDX-License-Identifier: Apache-2.0
/// @file report.cpp
/// Lays out facts and tables, as aligned text or JSON.
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <ostream>

#include "../core/bytes_text.hpp"

namespace sporos::tool {
namespace {

using Json = nlohmann::ordered_json;

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

/// A number with separators: "1,234,567".
std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

/// A duration with three significant digits: "812 ns", "1.24 ms", "12.4 s", "3 min 5 s".
std::string seconds_text(double seconds) {
  if (!(seconds >= 0)) return "-";
  if (seconds >= 119.5) {
    const auto whole = std::llround(seconds);
    return whole >= 7200 ? fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60)
                         : fmt::format("{} min {} s", whole / 60, whole % 60);
  }
  constexpr std::array units = {"s", "ms", "us", "ns"};
  std::size_t unit = 0;
  for (; seconds < 0.9995 && unit + 1 < units.size(); ++unit) seconds *= 1000;
  const int digits = seconds >= 99.95 ? 0 : seconds >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", seconds, unit == 3 ? 0 : digits, units[unit]);
}

std::string part_text(double part) {
  const double percent = 100 * part;
  if (percent == 0) return "0 %";
  if (percent < 0.001) return fmt::format("{:.1e} %", percent);
  return fmt::format("{:.{}g} %", percent, percent >= 99.5 ? 4 : 3);
}

/// A rate with three significant digits: "1.23 Gop/s".
std::string rate_text(double rate, std::string_view unit) {
  constexpr std::array prefixes = {"", "k", "M", "G", "T"};
  std::size_t prefix = 0;
  for (; rate >= 999.5 && prefix + 1 < prefixes.size(); ++prefix) rate /= 1000;
  return fmt::format("{:.3g} {}{}", rate, prefixes[prefix], unit);
}

Json to_json(const Cell& cell) {
  return std::visit(
      Overloaded{[](Absent) { return Json(); }, [](bool x) { return Json(x); },
                 [](double x) { return std::isfinite(x) ? Json(x) : Json(fmt::format("{}", x)); },
                 [](const std::string& x) { return Json(x); }, [](const Shape& x) { return Json(x.extents); },
                 [](const auto& x) { return Json(x.value); }},
      cell);
}

bool is_number(const Cell& cell) {
  return !std::holds_alternative<std::string>(cell) && !std::holds_alternative<bool>(cell);
}

/// The width of a UTF-8 text on a terminal, correct for Latin letters.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

void put_padded(std::ostream& out, std::string_view text, std::size_t to, bool right) {
  const std::string blanks(std::max(to, width(text)) - width(text), ' ');
  if (right)
    out << blanks << text;
  else
    out << text << blanks;
}

}  // namespace

std::string to_text(const Cell& cell) {
  return std::visit(
      Overloaded{[](Absent) { return std::string("-"); },
                 [](bool x) { return std::string(x ? "yes" : "no"); },
                 [](Count x) { return grouped(x.value); }, [](Bytes x) { return bytes_text(x.value); },
                 [](Seconds x) { return seconds_text(x.value); }, [](Part x) { return part_text(x.value); },
                 [](PerSecond x) { return rate_text(x.value, "op/s"); },
                 [](BytesPerSecond x) { return rate_text(x.value, "B/s"); },
                 [](double x) { return fmt::format("{:.4g}", x); },
                 [](const Shape& x) {
                   std::string text;
                   for (const std::int64_t extent : x.extents)
                     text += (text.empty() ? "" : " x ") + std::to_string(extent);
                   return text;
                 },
                 [](const std::string& x) { return x; }},
      cell);
}

struct Report::Contents {
  struct Fact {
    std::string key, label;
    Cell cell;
  };
  struct Section {
    std::string key, heading;
    std::unique_ptr<Report> report;
  };
  struct Table {
    std::string key;
    std::vector<Column> columns;
    std::vector<std::vector<Cell>> rows;
  };
  struct Remark {
    std::string text;
  };
  std::vector<std::variant<Fact, Section, Table, Remark>> parts;

  std::size_t label_width() const {
    std::size_t widest = 0;
    for (const auto& part : parts) {
      if (const auto* fact = std::get_if<Fact>(&part)) widest = std::max(widest, width(fact->label));
      if (const auto* section = std::get_if<Section>(&part))
        widest = std::max(widest, section->report->contents_->label_width());
    }
    return widest;
  }

  void write_text(std::ostream& out, std::size_t label_width) const {
    for (const auto& part : parts)
      std::visit(Overloaded{[&](const Fact& fact) {
                              if (fact.label.empty()) return;
                              out << "  ";
                              put_padded(out, fact.label, label_width, false);
                              out << "  " << to_text(fact.cell) << '\n';
                            },
                            [&](const Section& section) {
                              if (!section.heading.empty()) out << section.heading << '\n';
                              section.report->contents_->write_text(out, label_width);
                            },
                            [&](const Table& table) { write(out, table); },
                            [&](const Remark& remark) { out << remark.text << '\n'; }},
                 part);
  }

  /// Numbers are right-aligned, words left-aligned.
  static void write(std::ostream& out, const Table& table) {
    if (std::all_of(table.columns.begin(), table.columns.end(),
                    [](const Column& column) { return column.heading.empty(); }))
      return;
    std::vector<std::size_t> widths;
    std::vector<char> right;
    for (std::size_t at = 0; at < table.columns.size(); ++at) {
      std::size_t widest = width(table.columns[at].heading);
      for (const auto& row : table.rows) widest = std::max(widest, width(to_text(row[at])));
      widths.push_back(widest);
      right.push_back(std::all_of(table.rows.begin(), table.rows.end(),
                                  [&](const auto& row) { return is_number(row[at]); }));
    }
    const auto line = [&](const auto& text_of) {
      std::string text;
      for (std::size_t at = 0; at < widths.size(); ++at) {
        out << "  ";
        // A last column of words needs no padding.
        put_padded(out, text_of(at), right[at] || at + 1 < widths.size() ? widths[at] : 0, right[at]);
      }
      out << '\n';
    };
    out << '\n';
    line([&](std::size_t at) { return table.columns[at].heading; });
    for (const auto& row : table.rows) line([&](std::size_t at) { return to_text(row[at]); });
  }

  Json json() const {
    Json object = Json::object();
    for (const auto& part : parts)
      std::visit(Overloaded{[&](const Fact& fact) {
                              if (!fact.key.empty()) object[fact.key] = to_json(fact.cell);
                            },
                            [&](const Section& section) {
                              if (!section.key.empty())
                                object[section.key] = section.report->contents_->json();
                            },
                            [&](const Table& table) {
                              if (table.key.empty()) return;
                              Json& list = object[table.key] = Json::array();
                              for (const auto& row : table.rows) {
                                Json line = Json::object();
                                for (std::size_t at = 0; at < row.size(); ++at)
                                  line[table.columns[at].key] = to_json(row[at]);
                                list.push_back(std::move(line));
                              }
                            },
                            [](const Remark&) {}},
                 part);
    return object;
  }
};

Report::Report() : contents_(std::make_unique<Contents>()) {}
Report::Report(Report&&) noexcept = default;
Report& Report::operator=(Report&&) noexcept = default;
Report::~Report() = default;

void Report::fact(std::string_view key, std::string_view label, Cell cell) {
  contents_->parts.emplace_back(Contents::Fact{std::string(key), std::string(label), std::move(cell)});
}

Report& Report::section(std::string_view key, std::string_view heading) {
  contents_->parts.emplace_back(
      Contents::Section{std::string(key), std::string(heading), std::make_unique<Report>()});
  return *std::get<Contents::Section>(contents_->parts.back()).report;
}

void Report::table(std::string_view key, std::vector<Column> columns, std::vector<std::vector<Cell>> rows) {
  contents_->parts.emplace_back(Contents::Table{std::string(key), std::move(columns), std::move(rows)});
}

void Report::remark(std::string_view text) {
  contents_->parts.emplace_back(Contents::Remark{std::string(text)});
}

void Report::write_text(std::ostream& out) const { contents_->write_text(out, contents_->label_width()); }

void Report::write_json(std::ostream& out) const {
  // File names need not be UTF-8.
  out << contents_->json().dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace sporos::tool

// SPDX-License-Identifier: Apache-2.0
/// @file differences.cpp
/// Compares two sorted lists of entries side by side.
#include "differences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

namespace sporos::tool {
namespace {

/// A value of any type; long double holds it exactly.
struct Number {
  long double re = 0, im = 0;

  long double modulus() const { return std::hypot(re, im); }
};

Number number(double value) { return {value, 0}; }
Number number(std::int64_t value) { return {static_cast<long double>(value), 0}; }
Number number(const Complex& value) { return {value.real(), value.imag()}; }

/// All digits of a value, since values may differ only in the last one.
std::string digits(double value) { return fmt::format("{}", value); }
std::string digits(std::int64_t value) { return std::to_string(value); }
std::string digits(const Complex& value) { return fmt::format("{}{:+}i", value.real(), value.imag()); }

Cell cell(double value) { return value; }
Cell cell(std::int64_t value) { return Count{value}; }
Cell cell(const Complex& value) { return digits(value); }

/// The distance between two values; infinite if only one of them is NaN, or infinite.
long double distance(long double a, long double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const long double difference = std::abs(a - b);
  return std::isnan(difference) ? std::numeric_limits<long double>::infinity() : difference;
}
long double distance(const Number& a, const Number& b) {
  return std::hypot(distance(a.re, b.re), distance(a.im, b.im));
}

/// Entries whose order and value type are erased, so that the code that visits them is compiled only once.
class EntryList {
 public:
  explicit EntryList(const AnyEntries& any) {
    std::visit(
        [&](const auto& entries) {
          size_ = entries.size();
          values_ = entries.values.data();
          for (const auto& mode : entries.coordinates) coordinates_.push_back(mode.data());
        },
        any);
  }

  std::int64_t size() const { return size_; }
  std::vector<std::int64_t> coordinate(std::int64_t q) const {
    std::vector<std::int64_t> out;
    for (const std::int64_t* const mode : coordinates_) out.push_back(mode[q]);
    return out;
  }
  Number value(std::int64_t q) const {
    return std::visit([&](const auto* values) { return number(values[q]); }, values_);
  }
  std::pair<Cell, std::string> shown(std::int64_t q) const {
    return std::visit([&](const auto* values) { return std::pair(cell(values[q]), digits(values[q])); },
                      values_);
  }

  /// Compares the coordinate of entry p of this list with that of entry q of another one.
  std::strong_ordering compare(std::int64_t p, const EntryList& other, std::int64_t q) const {
    for (std::size_t mode = 0; mode < coordinates_.size(); ++mode)
      if (const auto order = coordinates_[mode][p] <=> other.coordinates_[mode][q]; order != 0) return order;
    return std::strong_ordering::equal;
  }

 private:
  std::int64_t size_ = 0;
  std::vector<const std::int64_t*> coordinates_;
  std::variant<const double*, const std::int64_t*, const Complex*> values_;
};

/// Collects the differences while two lists are visited.
class DifferenceFinder {
 public:
  DifferenceFinder(const EntryList& a, const EntryList& b, const Tolerance& tolerance)
      : a_(a), b_(b), tolerance_(tolerance) {}

  Differences run() {
    std::int64_t p = 0, q = 0;
    while (p < a_.size() || q < b_.size()) {
      const auto order = p == a_.size()   ? std::strong_ordering::greater
                         : q == b_.size() ? std::strong_ordering::less
                                          : a_.compare(p, b_, q);
      look(order <= 0 ? p++ : none, order >= 0 ? q++ : none);
    }
    return std::move(found_);
  }

 private:
  static constexpr std::int64_t none = -1;

  /// Compares the entries at one coordinate.
  void look(std::int64_t p, std::int64_t q) {
    const bool in_both = p != none && q != none;
    found_.in_both += in_both;
    found_.only_in_a += q == none;
    found_.only_in_b += p == none;
    bool differ = !in_both;
    if (in_both || tolerance_.missing_is_zero) {
      differ = values_differ(p, q);
      found_.beyond += differ;
    }
    if (!differ) return;
    ++found_.total;
    if (!found_.first) found_.first = place(p, q);
  }

  bool values_differ(std::int64_t p, std::int64_t q) {
    const Number x = p == none ? Number{} : a_.value(p), y = q == none ? Number{} : b_.value(q);
    const long double apart = distance(x, y);
    if (apart == 0) return false;
    const long double modulus = std::max(x.modulus(), y.modulus());
    keep(found_.absolute, apart, p, q);
    keep(found_.relative, std::isinf(apart) ? apart : apart / modulus, p, q);
    return !tolerance_.allows(apart, modulus);
  }

  void keep(Differences::Greatest& greatest, long double amount, std::int64_t p, std::int64_t q) const {
    const auto rounded = static_cast<double>(amount);
    if (!greatest.coordinate.empty() && !(rounded > greatest.amount)) return;
    greatest = {rounded, coordinate(p, q)};
  }

  std::vector<std::int64_t> coordinate(std::int64_t p, std::int64_t q) const {
    return p != none ? a_.coordinate(p) : b_.coordinate(q);
  }

  Differences::Place place(std::int64_t p, std::int64_t q) const {
    Differences::Place out;
    out.coordinate = coordinate(p, q);
    if (p != none) std::tie(out.a, out.text_a) = a_.shown(p);
    if (q != none) std::tie(out.b, out.text_b) = b_.shown(q);
    return out;
  }

  const EntryList& a_;
  const EntryList& b_;
  Tolerance tolerance_;
  Differences found_;
};

}  // namespace

bool Tolerance::allows(long double distance, long double modulus) const {
  return std::isfinite(distance) && distance <= std::max<long double>(absolute, relative * modulus);
}

Differences differences(const AnyEntries& a, const AnyEntries& b, const Tolerance& tolerance) {
  const EntryList list_a(a), list_b(b);
  return DifferenceFinder(list_a, list_b, tolerance).run();
}

}  // namespace sporos::tool

// SPDX-License-Identifier: Apache-2.0
/// @file statistics.cpp
/// Counting, sorting and comparing entries with plain loops, which share no code with what they check.
#include "statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

namespace sporos::tool {
namespace {

template <class Value, int Order>
bool same_place(const Entries<Value, Order>& entries, std::int64_t a, std::int64_t b) {
  for (const auto& mode : entries.coordinates)
    if (mode(static_cast<std::size_t>(a)) != mode(static_cast<std::size_t>(b))) return false;
  return true;
}

/// The numbers of the entries in the order of their coordinates, with modes compared in the given order;
/// entries with equal coordinates keep their order.
template <class Value, int Order>
std::vector<std::int64_t> sorted_order(
    const Entries<Value, Order>& entries,
    const std::array<std::size_t, static_cast<std::size_t>(Order)>& modes) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(entries.size()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto before = [&](std::int64_t a, std::int64_t b) {
    for (const std::size_t mode : modes) {
      const std::int64_t* const at = entries.coordinates[mode].data();
      if (at[a] != at[b]) return at[a] < at[b];
    }
    return a < b;
  };
  if (!std::is_sorted(order.begin(), order.end(), before)) std::sort(order.begin(), order.end(), before);
  return order;
}

template <class Value, int Order>
std::vector<std::int64_t> sorted_order(const Entries<Value, Order>& entries) {
  std::array<std::size_t, static_cast<std::size_t>(Order)> modes;
  std::iota(modes.begin(), modes.end(), std::size_t{0});
  return sorted_order(entries, modes);
}

double magnitude(double value) { return value; }
double magnitude(std::int64_t value) { return static_cast<double>(value); }
double magnitude(const Complex& value) { return std::hypot(value.real(), value.imag()); }

template <class Value, int Order>
void look_at_values(const Entries<Value, Order>& entries, Statistics& out) {
  bool any = false;
  for (std::int64_t q = 0; q < entries.size(); ++q) {
    const Value value = entries.values(static_cast<std::size_t>(q));
    const double x = magnitude(value);
    out.zeros += value == Value{};
    if (!std::isfinite(x)) {
      ++out.not_finite;
      continue;
    }
    out.least = any ? std::min(out.least, x) : x;
    out.most = any ? std::max(out.most, x) : x;
    any = true;
  }
}

ModeStatistics look_at_mode(const std::int64_t* coordinates, std::int64_t count, std::int64_t extent) {
  ModeStatistics out;
  out.extent = extent;
  const auto take = [&](std::int64_t entries) {
    if (entries == 0) return;
    out.least = out.used == 0 ? entries : std::min(out.least, entries);
    out.most = std::max(out.most, entries);
    ++out.used;
  };
  if (extent <= 4 * count + 1024) {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(extent));
    for (std::int64_t q = 0; q < count; ++q) ++counts[static_cast<std::size_t>(coordinates[q])];
    for (const std::int64_t entries : counts) take(entries);
  } else {
    std::vector<std::int64_t> sorted(coordinates, coordinates + count);
    std::sort(sorted.begin(), sorted.end());
    std::int64_t first = 0;
    for (std::int64_t q = 1; q <= count; ++q)
      if (q == count || sorted[static_cast<std::size_t>(q)] != sorted[static_cast<std::size_t>(first)]) {
        take(q - first);
        first = q;
      }
  }
  if (out.used < extent) out.least = 0;
  return out;
}

template <class Value>
bool is_conjugate(const Value& a, const Value& b) {
  if constexpr (is_complex_v<Value>)
    return a.real() == b.real() && a.imag() == -b.imag();
  else
    return a == b;
}

template <class Value>
MatrixStatistics look_at_matrix(const Entries<Value, 2>& entries, const std::vector<std::int64_t>& by_rows) {
  MatrixStatistics out;
  const std::vector<std::int64_t> by_columns = sorted_order(entries, {1, 0});
  out.symmetric_pattern = out.symmetric = out.hermitian = true;
  for (std::size_t at = 0; at < by_rows.size(); ++at) {
    const auto [i, j] = entries.coordinate(by_rows[at]);
    out.diagonal += i == j;
    out.lower_bandwidth = std::max(out.lower_bandwidth, i - j);
    out.upper_bandwidth = std::max(out.upper_bandwidth, j - i);
    const auto [mirrored_j, mirrored_i] = entries.coordinate(by_columns[at]);
    if (i != mirrored_i || j != mirrored_j) out.symmetric_pattern = false;
    const Value value = entries.values(static_cast<std::size_t>(by_rows[at]));
    const Value image = entries.values(static_cast<std::size_t>(by_columns[at]));
    out.symmetric = out.symmetric && value == image;
    out.hermitian = out.hermitian && is_conjugate(value, image);
  }
  out.symmetric = out.symmetric && out.symmetric_pattern;
  out.hermitian = out.hermitian && out.symmetric_pattern;
  return out;
}

template <class Value, int Order>
Entries<Value, Order> merged(const Entries<Value, Order>& entries, Duplicates duplicates, bool drop_zeros) {
  std::array<std::vector<std::int64_t>, static_cast<std::size_t>(Order)> coordinates;
  std::vector<Value> values;
  const std::vector<std::int64_t> order = sorted_order(entries);
  for (std::size_t at = 0; at < order.size();) {
    const std::int64_t first = order[at];
    Value value = entries.values(static_cast<std::size_t>(first));
    for (++at; at < order.size() && same_place(entries, first, order[at]); ++at)
      if (duplicates == Duplicates::sum) value = value + entries.values(static_cast<std::size_t>(order[at]));
    if (drop_zeros && value == Value{}) continue;
    for (std::size_t mode = 0; mode < coordinates.size(); ++mode)
      coordinates[mode].push_back(entries.coordinates[mode](static_cast<std::size_t>(first)));
    values.push_back(value);
  }
  Entries<Value, Order> out(entries.extents, static_cast<std::int64_t>(values.size()));
  for (std::size_t mode = 0; mode < coordinates.size(); ++mode)
    std::copy(coordinates[mode].begin(), coordinates[mode].end(), out.coordinates[mode].data());
  std::copy(values.begin(), values.end(), out.values.data());
  return out;
}

template <class A, class B>
bool same_value(const A& a, const B& b) {
  if constexpr (is_complex_v<A> != is_complex_v<B>) {
    return false;
  } else if constexpr (is_complex_v<A>) {
    return same_value(a.real(), b.real()) && same_value(a.imag(), b.imag());
  } else if constexpr (std::is_same_v<A, B>) {
    return a == b || (a != a && b != b);  // NaN equals NaN here
  } else {
    // An integer and a double are compared as integers if the double is one.
    const double real = std::is_same_v<A, double> ? static_cast<double>(a) : static_cast<double>(b);
    if (!(real >= -0x1p63 && real < 0x1p63) || real != std::trunc(real)) return false;
    return static_cast<std::int64_t>(a) == static_cast<std::int64_t>(b);
  }
}

template <class A, class B, int Order>
bool same(const Entries<A, Order>& a, const Entries<B, Order>& b) {
  if (a.extents != b.extents || a.size() != b.size()) return false;
  const std::vector<std::int64_t> in_a = sorted_order(a), in_b = sorted_order(b);
  for (std::size_t at = 0; at < in_a.size(); ++at)
    if (a.coordinate(in_a[at]) != b.coordinate(in_b[at]) ||
        !same_value(a.values(static_cast<std::size_t>(in_a[at])),
                    b.values(static_cast<std::size_t>(in_b[at]))))
      return false;
  return true;
}

}  // namespace

Statistics statistics(const AnyEntries& any) {
  return std::visit(
      []<class Value, int Order>(const Entries<Value, Order>& entries) {
        Statistics out;
        out.entries = entries.size();
        look_at_values(entries, out);
        for (std::size_t mode = 0; mode < entries.coordinates.size(); ++mode)
          out.modes.push_back(
              look_at_mode(entries.coordinates[mode].data(), entries.size(), entries.extents[mode]));
        const std::vector<std::int64_t> order = sorted_order(entries);
        for (std::size_t at = 1; at < order.size(); ++at)
          out.duplicates += same_place(entries, order[at - 1], order[at]);
        if constexpr (Order == 2)
          if (entries.extents[0] == entries.extents[1]) out.matrix = look_at_matrix(entries, order);
        return out;
      },
      any);
}

AnyEntries merged(const AnyEntries& any, Duplicates duplicates, bool drop_zeros) {
  return std::visit([&](const auto& entries) { return AnyEntries(merged(entries, duplicates, drop_zeros)); },
                    any);
}

bool same_entries(const AnyEntries& any_a, const AnyEntries& any_b) {
  return std::visit(
      []<class A, int OrderA, class B, int OrderB>(const Entries<A, OrderA>& a, const Entries<B, OrderB>& b) {
        if constexpr (OrderA == OrderB)
          return same(a, b);
        else
          return false;
      },
      any_a, any_b);
}

}  // namespace sporos::tool

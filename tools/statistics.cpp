// SPDX-License-Identifier: Apache-2.0
/// @file statistics.cpp
/// Counting, merging and comparing entries with plain loops over their sorted order, which is all that they
/// share with what they check.
#include "statistics.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <mutex>
#include <numeric>
#include <sporos/formats/chunks.hpp>
#include <utility>

#include "sorted.hpp"

namespace sporos::tool {
namespace {

template <class Value, int Order>
std::vector<std::int64_t> order_of(const Entries<Value, Order>& entries) {
  return sorted_order(coordinates_of(entries));
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
    const auto bin = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(entries)));
    if (out.lengths.size() <= bin) out.lengths.resize(bin + 1);
    ++out.lengths[bin];
  };
  if (extent <= 4 * count + 1024) {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(extent));
    for (std::int64_t q = 0; q < count; ++q) ++counts[static_cast<std::size_t>(coordinates[q])];
    for (const std::int64_t entries : counts) take(entries);
  } else {
    const std::vector<std::int64_t> order = sorted_order({{coordinates}, count});
    const auto at = [&](std::int64_t q) { return coordinates[order[static_cast<std::size_t>(q)]]; };
    std::int64_t first = 0;
    for (std::int64_t q = 1; q <= count; ++q)
      if (q == count || at(q) != at(first)) {
        take(q - first);
        first = q;
      }
  }
  if (out.used < extent) out.least = 0;
  if (out.lengths.empty()) out.lengths.resize(1);
  out.lengths[0] = extent - out.used;
  return out;
}

template <class Value>
bool is_conjugate(const Value& a, const Value& b) {
  if constexpr (is_complex_v<Value>)
    return a.real() == b.real() && a.imag() == -b.imag();
  else
    return a == b;
}

/// What holds of two parts of the entries together.
void add(MatrixStatistics& to, const MatrixStatistics& part) {
  to.diagonal += part.diagonal;
  to.lower_bandwidth = std::max(to.lower_bandwidth, part.lower_bandwidth);
  to.upper_bandwidth = std::max(to.upper_bandwidth, part.upper_bandwidth);
  to.symmetric_pattern = to.symmetric_pattern && part.symmetric_pattern;
  to.symmetric = to.symmetric && part.symmetric;
  to.hermitian = to.hermitian && part.hermitian;
}

template <class Value>
MatrixStatistics look_at_matrix(const Entries<Value, 2>& entries, const std::vector<std::int64_t>& by_rows) {
  CoordinateList columns_first = coordinates_of(entries);
  std::swap(columns_first.modes[0], columns_first.modes[1]);
  const std::vector<std::int64_t> by_columns = sorted_order(columns_first);
  MatrixStatistics out;
  out.symmetric_pattern = out.symmetric = out.hermitian = true;
  std::mutex guard;
  in_parts(entries.size(), [&](std::int64_t begin, std::int64_t end) {
    MatrixStatistics part;
    part.symmetric_pattern = part.symmetric = part.hermitian = true;
    for (auto at = static_cast<std::size_t>(begin); at < static_cast<std::size_t>(end); ++at) {
      const auto [i, j] = entries.coordinate(by_rows[at]);
      part.diagonal += i == j;
      part.lower_bandwidth = std::max(part.lower_bandwidth, i - j);
      part.upper_bandwidth = std::max(part.upper_bandwidth, j - i);
      const auto [mirrored_j, mirrored_i] = entries.coordinate(by_columns[at]);
      if (i != mirrored_i || j != mirrored_j) part.symmetric_pattern = false;
      const Value value = entries.values(static_cast<std::size_t>(by_rows[at]));
      const Value image = entries.values(static_cast<std::size_t>(by_columns[at]));
      part.symmetric = part.symmetric && value == image;
      part.hermitian = part.hermitian && is_conjugate(value, image);
    }
    const std::lock_guard lock(guard);
    add(out, part);
  });
  out.symmetric = out.symmetric && out.symmetric_pattern;
  out.hermitian = out.hermitian && out.symmetric_pattern;
  return out;
}

/// Merges entries at the same coordinate, which follow one another in a given order.
template <class Value, int Order>
class Merge {
 public:
  Merge(const Entries<Value, Order>& entries, Duplicates duplicates, bool drop_zeros)
      : entries_(entries),
        coordinates_(coordinates_of(entries)),
        order_(sorted_order(coordinates_)),
        duplicates_(duplicates),
        drop_zeros_(drop_zeros) {}

  /// The entries that remain, in parallel: each part of the order counts its own, then writes them behind
  /// those of the parts before it.
  Entries<Value, Order> run() const {
    const Host space;
    const std::int64_t parts = sporos::detail::chunks_for(space, entries_.size());
    std::vector<std::int64_t> begins(static_cast<std::size_t>(parts) + 1);
    sporos::detail::for_each_chunk(space, parts, [&](std::int64_t part) {
      visit(part, parts, [&](std::int64_t, Value) { ++begins[static_cast<std::size_t>(part) + 1]; });
    });
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    Entries<Value, Order> out(entries_.extents, begins.back());
    sporos::detail::for_each_chunk(space, parts, [&](std::int64_t part) {
      std::int64_t at = begins[static_cast<std::size_t>(part)];
      visit(part, parts,
            [&](std::int64_t first, Value value) { out.set(at++, entries_.coordinate(first), value); });
    });
    return out;
  }

 private:
  /// Calls body(first, value) with the first entry at each coordinate of a part, and the value of all of
  /// them.
  template <class Body>
  void visit(std::int64_t part, std::int64_t parts, const Body& body) const {
    const auto [begin, end] = sporos::detail::chunk_bounds(entries_.size(), part, parts);
    std::int64_t at = begin;
    while (at < end && repeats(at)) ++at;  // these belong to the part before
    while (at < end) {
      const std::int64_t first = number(at);
      Value value = value_of(first);
      for (++at; at < entries_.size() && repeats(at); ++at)
        if (duplicates_ == Duplicates::sum) value = value + value_of(number(at));
      if (!drop_zeros_ || !(value == Value{})) body(first, value);
    }
  }

  std::int64_t number(std::int64_t at) const { return order_[static_cast<std::size_t>(at)]; }
  Value value_of(std::int64_t number) const { return entries_.values(static_cast<std::size_t>(number)); }
  /// Whether the entry in place `at` has the coordinate of the one before.
  bool repeats(std::int64_t at) const { return at > 0 && coordinates_.same(number(at - 1), number(at)); }

  const Entries<Value, Order>& entries_;
  CoordinateList coordinates_;
  std::vector<std::int64_t> order_;
  Duplicates duplicates_;
  bool drop_zeros_;
};

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
  const std::vector<std::int64_t> in_a = order_of(a), in_b = order_of(b);
  std::atomic<bool> differ{false};
  in_parts(a.size(), [&](std::int64_t begin, std::int64_t end) {
    for (auto at = static_cast<std::size_t>(begin); at < static_cast<std::size_t>(end) && !differ; ++at)
      if (a.coordinate(in_a[at]) != b.coordinate(in_b[at]) ||
          !same_value(a.values(static_cast<std::size_t>(in_a[at])),
                      b.values(static_cast<std::size_t>(in_b[at]))))
        differ = true;
  });
  return !differ;
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
        const CoordinateList coordinates = coordinates_of(entries);
        const std::vector<std::int64_t> order = sorted_order(coordinates);
        std::atomic<std::int64_t> duplicates{0};
        in_parts(entries.size(), [&](std::int64_t begin, std::int64_t end) {
          std::int64_t here = 0;
          for (auto at = static_cast<std::size_t>(std::max<std::int64_t>(begin, 1));
               at < static_cast<std::size_t>(end); ++at)
            here += coordinates.same(order[at - 1], order[at]);
          duplicates += here;
        });
        out.duplicates = duplicates;
        if constexpr (Order == 2)
          if (entries.extents[0] == entries.extents[1]) out.matrix = look_at_matrix(entries, order);
        return out;
      },
      any);
}

AnyEntries merged(const AnyEntries& any, Duplicates duplicates, bool drop_zeros) {
  return std::visit(
      [&](const auto& entries) { return AnyEntries(Merge(entries, duplicates, drop_zeros).run()); }, any);
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

// SPDX-License-Identifier: Apache-2.0
/// @file statistics.cpp
/// Counts, merges and compares entries with plain loops over their sorted order, which is all that they share
/// with the code that they check.
#include "statistics.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <mutex>
#include <numeric>
#include <sporos/formats/chunks.hpp>
#include <utility>
#include <vector>

#include "in_order.hpp"
#include "sorted.hpp"

namespace sporos::tool {
namespace {

template <class Value, int Order>
std::vector<std::int64_t> order_of(const Entries<Value, Order>& entries) {
  return sorted_order(coordinates_of(entries));
}

constexpr std::int64_t piece = std::int64_t{1} << 18;  ///< entries; they take some milliseconds

/// The fraction of some work that is done, reported by whichever thread is working.
class Share {
 public:
  /// For work whose progress nobody follows.
  Share() : Share(1, {}) {}
  Share(std::int64_t total, std::function<void(double)> tell)
      : total_(std::max<std::int64_t>(total, 1)), tell_(std::move(tell)) {}

  void add(std::int64_t done) {
    done_ += done;
    if (!tell_) return;
    const std::unique_lock lock(guard_, std::try_to_lock);
    if (lock) tell_(static_cast<double>(done_) / static_cast<double>(total_));
  }

 private:
  std::int64_t total_;
  std::function<void(double)> tell_;
  std::atomic<std::int64_t> done_{0};
  std::mutex guard_;
};

double magnitude(double value) { return value; }
double magnitude(std::int64_t value) { return static_cast<double>(value); }
double magnitude(const Complex& value) { return std::hypot(value.real(), value.imag()); }

/// Combines what is found in parts of the entries, on all threads.
template <class Found, class Look>
Found over_parts(std::int64_t count, Share& share, const Look& look) {
  Found out;
  std::mutex guard;
  in_parts(count, [&](std::int64_t begin, std::int64_t end) {
    Found found;
    // Works in pieces, and reports progress after each.
    for (std::int64_t from = begin; from < end; from += piece) {
      const std::int64_t to = std::min(from + piece, end);
      look(from, to, found);
      share.add(to - from);
    }
    const std::lock_guard lock(guard);
    out.add(found);
  });
  return out;
}

struct ValueStatistics {
  std::int64_t zeros = 0, not_finite = 0;
  bool any = false;
  double least = 0, most = 0;

  void take(double x) {
    least = any ? std::min(least, x) : x;
    most = any ? std::max(most, x) : x;
    any = true;
  }
  void add(const ValueStatistics& part) {
    zeros += part.zeros;
    not_finite += part.not_finite;
    if (!part.any) return;
    take(part.least);
    take(part.most);
  }
};

template <class Value, int Order>
void look_at_values(const Entries<Value, Order>& entries, Share& share, Statistics& out) {
  const auto found = over_parts<ValueStatistics>(
      entries.size(), share, [&](std::int64_t begin, std::int64_t end, ValueStatistics& part) {
        for (std::int64_t q = begin; q < end; ++q) {
          const Value value = entries.values(static_cast<std::size_t>(q));
          const double x = magnitude(value);
          part.zeros += value == Value{};
          if (std::isfinite(x))
            part.take(x);
          else
            ++part.not_finite;
        }
      });
  out.zeros = found.zeros;
  out.not_finite = found.not_finite;
  out.least = found.least;
  out.most = found.most;
}

/// How many coordinates have how many entries.
struct Lengths {
  std::int64_t used = 0, least = 0, most = 0;
  std::array<std::int64_t, 65> bins{};  ///< as in ModeStatistics

  void take(std::int64_t entries) {
    if (entries == 0) return;
    add({1, entries, entries, {}});
    ++bins[static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(entries)))];
  }
  void add(const Lengths& part) {
    if (part.used == 0) return;
    least = used == 0 ? part.least : std::min(least, part.least);
    most = std::max(most, part.most);
    used += part.used;
    for (std::size_t bin = 0; bin < bins.size(); ++bin) bins[bin] += part.bins[bin];
  }
};

/// Counts the entries at each coordinate; used if there are not many more coordinates than entries.
Lengths lengths_by_counts(const std::int64_t* coordinates, std::int64_t count, std::int64_t extent,
                          Share& share) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(extent));
  over_parts<Lengths>(count, share, [&](std::int64_t begin, std::int64_t end, Lengths&) {
    for (std::int64_t q = begin; q < end; ++q)
      std::atomic_ref(counts[static_cast<std::size_t>(coordinates[q])])
          .fetch_add(1, std::memory_order_relaxed);
  });
  Share uncounted;
  return over_parts<Lengths>(extent, uncounted, [&](std::int64_t begin, std::int64_t end, Lengths& part) {
    for (std::int64_t at = begin; at < end; ++at) part.take(counts[static_cast<std::size_t>(at)]);
  });
}

/// Finds the lengths of runs of equal coordinates after sorting them.
Lengths lengths_by_sorting(const std::int64_t* coordinates, std::int64_t count, std::int64_t extent,
                           Share& share) {
  Entries<char, 1> entries({extent}, 0);
  entries.coordinates[0] = make_array<std::int64_t>("sporos::lengths", count);
  std::copy(coordinates, coordinates + count, entries.coordinates[0].data());
  entries.values = make_array<char>("sporos::lengths", count);
  return in_order(entries, [&](const auto& sorted) {
    // Each part handles the runs that begin in it.
    return over_parts<Lengths>(count, share, [&](std::int64_t begin, std::int64_t end, Lengths& part) {
      const auto begins = [&](std::int64_t at) {
        return at == 0 || at == count || sorted.coordinate(at) != sorted.coordinate(at - 1);
      };
      while (begin < end && !begins(begin)) ++begin;
      while (begin < end) {
        std::int64_t next = begin + 1;
        while (!begins(next)) ++next;
        part.take(next - begin);
        begin = next;
      }
    });
  });
}

ModeStatistics look_at_mode(const std::int64_t* coordinates, std::int64_t count, std::int64_t extent,
                            Share& share) {
  const Lengths lengths = extent <= 4 * count + 1024 ? lengths_by_counts(coordinates, count, extent, share)
                                                     : lengths_by_sorting(coordinates, count, extent, share);
  ModeStatistics out;
  out.extent = extent;
  out.used = lengths.used;
  out.most = lengths.most;
  out.least = lengths.used < extent ? 0 : lengths.least;
  const auto last = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(lengths.most)));
  out.lengths.assign(lengths.bins.begin(), lengths.bins.begin() + static_cast<std::ptrdiff_t>(last) + 1);
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

/// What is found out about a matrix from a part of its entries.
struct MatrixPart : MatrixStatistics {
  MatrixPart() { symmetric_pattern = symmetric = hermitian = true; }

  void add(const MatrixPart& part) {
    diagonal += part.diagonal;
    lower_bandwidth = std::max(lower_bandwidth, part.lower_bandwidth);
    upper_bandwidth = std::max(upper_bandwidth, part.upper_bandwidth);
    symmetric_pattern = symmetric_pattern && part.symmetric_pattern;
    symmetric = symmetric && part.symmetric;
    hermitian = hermitian && part.hermitian;
  }
};

/// Looks up entries of a matrix whose entries are in order.
template <class Sorted>
class Finder {
 public:
  /// The beginning of each row is kept if that takes little memory.
  Finder(const Sorted& sorted, std::int64_t rows) : sorted_(sorted) {
    if (2 * rows > sorted.size()) return;
    begins_.resize(static_cast<std::size_t>(rows) + 1, sorted.size());
    in_parts(sorted.size(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t at = begin; at < end; ++at)
        for (std::int64_t row = at == 0 ? 0 : sorted.coordinate(at - 1)[0] + 1;
             row <= sorted.coordinate(at)[0]; ++row)
          begins_[static_cast<std::size_t>(row)] = at;
    });
  }

  /// The position of the first entry at a coordinate, or where it would be.
  std::int64_t operator()(const Extents<2>& coordinate) const {
    std::int64_t low = 0, high = sorted_.size();
    if (!begins_.empty()) {
      low = begins_[static_cast<std::size_t>(coordinate[0])];
      high = begins_[static_cast<std::size_t>(coordinate[0]) + 1];
    }
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (sorted_.coordinate(middle) < coordinate)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

 private:
  const Sorted& sorted_;
  std::vector<std::int64_t> begins_;
};

/// The mirror image of the k-th entry at (i, j) is the k-th at (j, i).
template <class Sorted>
MatrixStatistics look_at_matrix(const Sorted& sorted, std::int64_t rows, Share& share) {
  const Finder<Sorted> find(sorted, rows);
  std::atomic<bool> symmetric{true};  // once it is false, nothing more is looked up
  return over_parts<MatrixPart>(
      sorted.size(), share, [&](std::int64_t begin, std::int64_t end, MatrixPart& part) {
        for (std::int64_t at = begin; at < end; ++at) {
          const auto place = sorted.coordinate(at);
          const auto [i, j] = place;
          part.diagonal += i == j;
          part.lower_bandwidth = std::max(part.lower_bandwidth, i - j);
          part.upper_bandwidth = std::max(part.upper_bandwidth, j - i);
          if (!symmetric) continue;
          std::int64_t first = at;
          while (first > 0 && sorted.coordinate(first - 1) == place) --first;
          const std::int64_t image = find({j, i}) + at - first;
          if (image >= sorted.size() || sorted.coordinate(image) != Extents<2>{j, i}) {
            symmetric = part.symmetric_pattern = part.symmetric = part.hermitian = false;
            continue;
          }
          part.symmetric = part.symmetric && sorted.value(at) == sorted.value(image);
          part.hermitian = part.hermitian && is_conjugate(sorted.value(at), sorted.value(image));
        }
      });
}

/// The number of entries with the same coordinate as the one before.
struct Repeats {
  std::int64_t count = 0;
  void add(const Repeats& part) { count += part.count; }
};

template <class Sorted>
std::int64_t count_duplicates(const Sorted& sorted, Share& share) {
  return over_parts<Repeats>(sorted.size(), share,
                             [&](std::int64_t begin, std::int64_t end, Repeats& part) {
                               for (std::int64_t at = std::max<std::int64_t>(begin, 1); at < end; ++at)
                                 part.count += sorted.coordinate(at) == sorted.coordinate(at - 1);
                             })
      .count;
}

/// Merges entries with the same coordinate, which follow one another in a given order.
template <class Value, int Order>
class Merge {
 public:
  Merge(const Entries<Value, Order>& entries, Duplicates duplicates, bool drop_zeros)
      : entries_(entries),
        coordinates_(coordinates_of(entries)),
        order_(sorted_order(coordinates_)),
        duplicates_(duplicates),
        drop_zeros_(drop_zeros) {}

  /// The remaining entries, found in parallel: each part of the order counts its own, then writes them after
  /// those of earlier parts.
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
  /// Calls body(first, value) with the first entry at each coordinate of a part, and the merged value of all
  /// entries there.
  template <class Body>
  void visit(std::int64_t part, std::int64_t parts, const Body& body) const {
    const auto [begin, end] = sporos::detail::chunk_bounds(entries_.size(), part, parts);
    std::int64_t at = begin;
    while (at < end && repeats(at)) ++at;  // these belong to the previous part
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
  /// Whether the entry at place `at` has the same coordinate as the one before.
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

Statistics statistics(const AnyEntries& any, const std::function<void(double)>& progress) {
  return std::visit(
      [&]<class Value, int Order>(const Entries<Value, Order>& entries) {
        Statistics out;
        out.entries = entries.size();
        const bool square = Order == 2 && entries.extents[0] == entries.extents.back();
        // Sorting takes about as long as four passes over all entries.
        Share share(entries.size() * (2 + Order + 4 + square), progress);
        look_at_values(entries, share, out);
        for (std::size_t mode = 0; mode < entries.coordinates.size(); ++mode)
          out.modes.push_back(
              look_at_mode(entries.coordinates[mode].data(), entries.size(), entries.extents[mode], share));
        in_order(entries, [&](const auto& sorted) {
          share.add(4 * entries.size());
          out.duplicates = count_duplicates(sorted, share);
          if constexpr (Order == 2)
            if (square) out.matrix = look_at_matrix(sorted, entries.extents[0], share);
        });
        return out;
      },
      any);
}

std::int64_t count_blocks(const AnyEntries& any, int side) {
  return std::visit(
      [&]<class Value, int Order>(const Entries<Value, Order>& entries) {
        Entries<char, Order> blocks(entries.extents, entries.size());
        in_parts(entries.size(), [&](std::int64_t begin, std::int64_t end) {
          for (std::size_t mode = 0; mode < blocks.coordinates.size(); ++mode)
            for (auto q = static_cast<std::size_t>(begin); q < static_cast<std::size_t>(end); ++q)
              blocks.coordinates[mode](q) = entries.coordinates[mode](q) / side;
        });
        Share uncounted;
        return in_order(
            blocks, [&](const auto& sorted) { return sorted.size() - count_duplicates(sorted, uncounted); });
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

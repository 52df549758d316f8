// SPDX-License-Identifier: Apache-2.0
/// @file combinations.hpp
/// The product of operand formats, result format, loop order and space for one statement, at compile time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <source_location>
#include <sporos/core/index.hpp>
#include <string_view>
#include <type_traits>
#include <utility>

#include "formats.hpp"

namespace sporos::test {

/// A string as a template argument.
template <std::size_t Size>
struct Letters {
  char text[Size]{};

  constexpr Letters(const char (&from)[Size]) { std::copy_n(from, Size, text); }
  constexpr std::string_view view() const { return {text, Size - 1}; }
};

/// The variables of a statement's tensors, one letter per mode: Notation<"ij", "ik", "kj"> is A(i,j) = B(i,k)
/// C(k,j). A tensor that is read twice is one operand with two accesses: Notation<"ij", "ki,kj"> is A(i,j) =
/// B(k,i) B(k,j).
template <Letters Result, Letters... Operands>
struct Notation {
  static constexpr std::string_view result = Result.view();
  static constexpr int operand_count = static_cast<int>(sizeof...(Operands));
  static constexpr std::array<std::string_view, sizeof...(Operands)> operands{Operands.view()...};
  static constexpr NameList variables = [] {
    NameList out;
    const auto add = [&](std::string_view names) {
      for (const char name : names)
        if (name != ',') out.push_new(name);
    };
    add(Result.view());
    (add(Operands.view()), ...);
    return out;
  }();
};

/// The number of modes of a tensor with such accesses.
constexpr std::size_t mode_count(std::string_view accesses) {
  return std::min(accesses.find(','), accesses.size());
}

/// Calls visit(modes) for each access: "ki,kj" has two.
template <class Visitor>
constexpr void for_each_access_of(std::string_view accesses, const Visitor& visit) {
  const std::size_t modes = mode_count(accesses);
  for (std::size_t begin = 0; begin <= accesses.size(); begin += modes + 1)
    visit(accesses.substr(begin, modes));
}

/// One combination; formats are given by their places in the lists for their orders.
template <int Operands>
struct Combination {
  int order = 0;
  int result = 0;
  int space = 0;  ///< 0 Serial, 1 OpenMP
  std::array<int, static_cast<std::size_t>(Operands)> operands{};

  constexpr bool operator==(const Combination&) const = default;
};

/// The formats of tensors of a given order in which a statement is tested: those of all statements, or lists
/// of its own, `template <std::size_t Order> using formats = Formats<...>`.
template <class N, std::size_t Order>
struct FormatsFor {
  using type = formats_of_order<Order>;
};
template <class N, std::size_t Order>
  requires requires { typename N::template formats<Order>; }
struct FormatsFor<N, Order> {
  using type = typename N::template formats<Order>;
};
template <class N, std::size_t Order>
using formats_for = typename FormatsFor<N, Order>::type;

namespace detail {

/// The permutations of a statement's variables.
template <class N>
struct Orders {
  static constexpr int count = [] {
    int product = 1;
    for (int at = 2; at <= N::variables.size; ++at) product *= at;
    return product;
  }();

  static constexpr NameList at(int number) {
    NameList rest = N::variables;
    NameList out;
    int arrangements = count;
    for (int left = N::variables.size; left > 0; --left) {
      arrangements /= left;
      const int taken = number / arrangements;
      number %= arrangements;
      NameList next;
      for (int place = 0; place < rest.size; ++place) (place == taken ? out : next).push(rest[place]);
      rest = next;
    }
    return out;
  }
};

/// Whether a statement accepts a format for an operand: any format, unless it defines `admits<Place, F>`.
template <class N, int Place, class F>
constexpr bool admits() {
  if constexpr (requires { N::template admits<Place, F>; })
    return N::template admits<Place, F>;
  else
    return true;
}

/// The formats of one operand that can be read in each loop order.
template <class N, int Place>
struct Readable {
  static constexpr std::string_view accesses = N::operands[static_cast<std::size_t>(Place)];
  using formats = formats_for<N, mode_count(accesses)>;

  /// A level that stores coordinates can be reached only through all levels above it.
  template <class F>
  static constexpr bool in_order(const NameList& order) {
    bool readable = admits<N, Place, F>();
    for_each_access_of(accesses, [&](std::string_view modes) {
      const auto depth = [&](std::size_t level) {
        return order.find(modes[static_cast<std::size_t>(F::mode_of_level[level])]);
      };
      for (std::size_t k = 0; k < F::mode_of_level.size(); ++k)
        for (std::size_t above = 0; above < k && !F::properties[k].full; ++above)
          readable = readable && depth(above) <= depth(k);
    });
    return readable;
  }
  template <class... F>
  static constexpr std::array<bool, sizeof...(F)> list(int order, Formats<F...>) {
    return {in_order<F>(Orders<N>::at(order))...};
  }
};

/// The numbers of the formats of one operand that can be read in one order.
struct FormatList {
  std::array<int, 16> formats{};
  int size = 0;

  constexpr bool contains(int format) const {
    for (int at = 0; at < size; ++at)
      if (formats[static_cast<std::size_t>(at)] == format) return true;
    return false;
  }
};

/// [operand][order]
template <class N>
inline constexpr auto readable_formats = [] {
  std::array<std::array<FormatList, static_cast<std::size_t>(Orders<N>::count)>,
             static_cast<std::size_t>(N::operand_count)>
      out{};
  [&]<int... Place>(std::integer_sequence<int, Place...>) {
    const auto fill = [&]<int P>(std::integral_constant<int, P>) {
      using Operand = Readable<N, P>;
      for (int order = 0; order < Orders<N>::count; ++order) {
        FormatList& list = out[static_cast<std::size_t>(P)][static_cast<std::size_t>(order)];
        const auto readable = Operand::list(order, typename Operand::formats{});
        for (std::size_t f = 0; f < readable.size(); ++f)
          if (readable[f]) list.formats[static_cast<std::size_t>(list.size++)] = static_cast<int>(f);
      }
    };
    (fill(std::integral_constant<int, Place>{}), ...);
  }(std::make_integer_sequence<int, N::operand_count>{});
  return out;
}();

}  // namespace detail

/// All combinations of the statement N in which the operands can be read in the loop order, numbered.
template <class N>
class Product {
 public:
  using combination = Combination<N::operand_count>;
  using orders = detail::Orders<N>;
  template <int Place>
  using operand_formats = typename detail::Readable<N, Place>::formats;
  /// If the statement adds to its first operand, a placeholder for that operand's format.
  using result_formats = std::conditional_t<requires { requires N::adds_to_first; }, Formats<void>,
                                            formats_for<N, N::result.size()>>;
  static constexpr int spaces = 2;

  static constexpr std::int64_t size() {
    std::int64_t total = 0;
    for (int order = 0; order < orders::count; ++order) total += size_of_order(order);
    return total;
  }

  static constexpr combination at(std::int64_t number) {
    combination out;
    while (number >= size_of_order(out.order)) number -= size_of_order(out.order++);
    const auto take = [&](int count) {
      const auto digit = static_cast<int>(number % count);
      number /= count;
      return digit;
    };
    out.space = take(spaces);
    out.result = take(result_formats::size);
    for (std::size_t place = 0; place < out.operands.size(); ++place) {
      const detail::FormatList& list = readable(place, out.order);
      out.operands[place] = list.formats[static_cast<std::size_t>(take(list.size))];
    }
    return out;
  }

  /// Visits all combinations once, for places 0 to size() - 1, in an order whose first few are spread over
  /// all.
  static constexpr combination spread(std::int64_t place) {
    // Steps of about the golden section; a step that is coprime to the size reaches every number.
    auto step = static_cast<std::int64_t>(0.618033988749895 * static_cast<double>(size()));
    while (std::gcd(step, size()) != 1) ++step;
    return at(place * step % size());
  }

  /// `Count` combinations in which formats, orders and spaces occur about equally often, different for each
  /// statement.
  template <int Count>
  static constexpr auto cross_section() {
    std::array<combination, static_cast<std::size_t>(Count)> out{};
    std::uint32_t random = 2166136261u;
    for (const char letter : std::string_view(std::source_location::current().function_name()))
      random = (random ^ static_cast<unsigned char>(letter)) * 16777619u;
    const std::size_t first_space = random >> 31;
    for (std::size_t made = 0; made < out.size(); ++made) {
      combination& next = out[made];
      // The candidate that earlier combinations use least; ties are resolved from a random one on.
      const auto rarest = [&](int count, const auto& allowed, const auto& of) {
        random = random * 1664525u + 1013904223u;
        const auto start = static_cast<int>((random >> 8) % static_cast<std::uint32_t>(count));
        int best = -1;
        int best_uses = 0;
        for (int step = 0; step < count; ++step) {
          const int candidate = (start + step) % count;
          if (!allowed(candidate)) continue;
          int uses = 0;
          for (std::size_t before = 0; before < made; ++before) uses += of(out[before]) == candidate;
          if (best < 0 || uses < best_uses) {
            best = candidate;
            best_uses = uses;
          }
        }
        return best;
      };
      next.space = static_cast<int>((first_space + made) % spaces);
      next.order = rarest(
          orders::count, [](int order) { return size_of_order(order) > 0; },
          [](const combination& c) { return c.order; });
      next.result = rarest(
          result_formats::size, [](int) { return true; }, [](const combination& c) { return c.result; });
      for (std::size_t place = 0; place < next.operands.size(); ++place)
        next.operands[place] = rarest(
            16, [&](int format) { return readable(place, next.order).contains(format); },
            [&](const combination& c) { return c.operands[place]; });
    }
    return out;
  }

 private:
  static constexpr const detail::FormatList& readable(std::size_t place, int order) {
    return detail::readable_formats<N>[place][static_cast<std::size_t>(order)];
  }
  static constexpr std::int64_t size_of_order(int order) {
    std::int64_t size = spaces * result_formats::size;
    for (std::size_t place = 0; place < static_cast<std::size_t>(N::operand_count); ++place)
      size *= readable(place, order).size;
    return size;
  }
};

}  // namespace sporos::test

// SPDX-License-Identifier: Apache-2.0
/// @file statements.hpp
/// Runs statements over combinations of formats, loop orders and spaces, and compares each result with the
/// oracle's.
///
/// A statement under test is a Notation with two functions: `write`, the statement as a user writes it, and
/// `element`, the same for one coordinate of the result, by loops over terms.
///
///     struct MatrixProduct : Notation<"ij", "ik", "kj"> {
///       static auto write(const auto& A, const auto& B, const auto& C) {
///         return assign(A(i, j), B(i, k) * C(k, j));
///       }
///       static auto element(const Sizes& n, const auto& B, const auto& C, auto i, auto j) {
///         return sum(n['k'], [&](auto k) { return B(i, k) * C(k, j); });
///       }
///     };
///     TEST(MatrixProduct, EqualsTheDenseOne) { check<MatrixProduct, 16>(); }
///
/// A statement that adds to its result defines `adds_to_first`: the result is then a copy of its first
/// operand. One that does not accept some formats defines `admits<Place, F>`.
///
/// Statements under test are in `namespace sporos::test`, in which `i`, `j`, ... are index variables.
///
/// By default a small cross-section of the combinations runs. Compiled with SPOROS_TEST_PARTS=n and
/// SPOROS_TEST_PART=p (0 to n-1), a program runs every n-th of `full_count` combinations, from the p-th on,
/// so that the n programs together run `full_count` combinations of each statement, and compare what each
/// allocates with its estimate.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sporos/sporos.hpp>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#ifdef SPOROS_TEST_PARTS
#include "bounded.hpp"
#endif
#include "combinations.hpp"
#include "inputs.hpp"
#include "oracle.hpp"

namespace sporos::test {

using namespace sporos::indices;

/// A dense tensor of entries, some of which may have the same coordinate.
template <class F>
auto filled(const Entries<double, F::order>& entries) {
  const Tensor<double, F> out(entries.extents);
  const auto view = out.view();
  for (std::int64_t e = 0; e < entries.size(); ++e) {
    const auto at = F::level_coordinates(entries.coordinate(e));
    std::int64_t position = 0;
    [&]<int... K>(std::integer_sequence<int, K...>) {
      ((position = view.template level<K>().locate(position, at[K]).position), ...);
    }(std::make_integer_sequence<int, F::levels>{});
    out.values()(static_cast<std::size_t>(position)) += entries.values(static_cast<std::size_t>(e));
  }
  return out;
}

/// A tensor of random small integers.
template <class F>
auto random_tensor(const Sizes& sizes, std::string_view modes, double density, bool skewed,
                   std::uint64_t seed) {
  const auto extents = sizes.extents<F::order>(modes);
  const auto entries = random_entries<double, F::order>(extents, density, skewed, seed);
  if constexpr (F::is_dense)
    return filled<F>(entries);
  else
    return assemble<F, Host>(entries);
}

/// The statement with its loops in an order that is given as a value.
template <NameList Order, class Statement>
auto reordered(const Statement& statement) {
  return [&]<int... At>(std::integer_sequence<int, At...>) {
    return statement.reorder(Index<Order[At]>{}...);
  }(std::make_integer_sequence<int, Order.size>{});
}

/// Whether every stored value of F is a separate nonzero, so that the pattern of a result is known exactly.
template <class F>
inline constexpr bool stores_nonzeros_alone = F::levels > 0 && !F::properties.back().full;

/// How a result differs from the tensor of the expected terms; "" if it does not.
/// @param exact  whether the result must store what is expected and nothing else
/// @param nnz    the number of values that it stores
template <class T>
std::string difference(const Reading<T>& result, const Oracle<T>& expected, bool exact, std::int64_t nnz) {
  if (!result.fault.empty()) return "its structure is broken: " + result.fault;
  std::int64_t present = 0;
  for (std::size_t at = 0; at < expected.terms.size(); ++at) {
    const auto& want = expected.terms[at];
    const auto& have = result.terms.terms[at];
    const auto place = [&] {
      std::string out = "at (";
      for (const std::int64_t c : expected.coordinate(at)) out += text(' ', c);
      return out + " ) ";
    };
    if (!(have.value == want.value)) {
      if constexpr (is_complex_v<T>)
        return place() + "a value differs";
      else
        return text(place(), have.value, " instead of ", want.value);
    }
    if (want.present && !have.present) return place() + "a nonzero is not stored";
    if (exact && have.present && !want.present) return place() + "something is stored";
    present += want.present;
  }
  if (exact && nnz != present) return text(nnz, " values are stored for ", present, " nonzeros");
  return "";
}
template <class TensorType, class T>
std::string difference(const TensorType& result, const Oracle<T>& expected) {
  using F = typename TensorType::format_type;
  return difference(read(result), expected, stores_nonzeros_alone<F>, result.nnz());
}

/// The terms of a statement's result.
template <class S, class... Operands>
auto expected_terms(const Sizes& sizes, const Operands&... operands) {
  using T = std::remove_cvref_t<decltype(std::get<0>(std::tie(operands...)).terms[0].value)>;
  std::vector<std::int64_t> extents;
  for (const char variable : S::result) extents.push_back(sizes[variable]);
  Oracle<T> out(extents);
  for (std::size_t at = 0; at < out.terms.size(); ++at) {
    const auto coordinate = out.coordinate(at);
    [&]<std::size_t... Mode>(std::index_sequence<Mode...>) {
      out.terms[at] = S::element(sizes, operands..., coordinate[Mode]...);
    }(std::make_index_sequence<S::result.size()>{});
  }
  return out;
}

template <class S, auto C>
struct CombinationRun {
  using product = Product<S>;
  using Space = std::conditional_t<C.space == 0, Serial, OpenMP>;
  template <int Place>
  using operand_format = typename product::template operand_formats<Place>::template get<
      C.operands[static_cast<std::size_t>(Place)]>;
  static constexpr bool adds_to_first = requires { requires S::adds_to_first; };
  using ResultFormat = typename std::conditional_t<
      adds_to_first, typename product::template operand_formats<0>,
      typename product::result_formats>::template get<adds_to_first ? C.operands[0] : C.result>;
  static constexpr NameList order = product::orders::at(C.order);
  using places = std::make_integer_sequence<int, S::operand_count>;

  static std::string str() {
    std::string out = ResultFormat::str() + " = ";
    [&]<int... Place>(std::integer_sequence<int, Place...>) {
      ((out += (Place ? " ; " : "") + operand_format<Place>::str()), ...);
    }(places{});
    return out + " in the order " + order.str() + (C.space == 0 ? " (Serial)" : " (OpenMP)");
  }

  static void run() {
    SCOPED_TRACE(str());
    std::uint64_t seed = 1;
    for (Case& c : cases({S::variables.names, static_cast<std::size_t>(S::variables.size)})) {
      seed += 100;
      tie(c.sizes);
      const std::string what = run_case(c, seed, places{});
      EXPECT_EQ(what, "") << c.name;
    }
  }

 private:
  /// Variables at the same mode of a tensor have the same extent.
  static void tie(Sizes& sizes) {
    for (const std::string_view operand : S::operands)
      for_each_access_of(operand, [&](std::string_view modes) {
        for (std::size_t mode = 0; mode < modes.size(); ++mode) sizes[modes[mode]] = sizes[operand[mode]];
      });
  }

  template <int... Place>
  static std::string run_case(const Case& c, std::uint64_t seed, std::integer_sequence<int, Place...>) {
    const auto operands = std::tuple(random_tensor<operand_format<Place>>(
        c.sizes, S::operands[static_cast<std::size_t>(Place)], c.density, c.skewed, seed + Place)...);
    const auto result = [&] {
      if constexpr (adds_to_first)
        return std::get<0>(operands).template copy_to<Space>();
      else  // the old values of the result must not matter
        return random_tensor<ResultFormat>(c.sizes, S::result, 0.5, false, seed + 50)
            .template move_to<Space>();
    }();
    const auto statement =
        reordered<order>(S::write(result, std::get<Place>(operands).template move_to<Space>()...));
#ifdef SPOROS_TEST_PARTS  // estimates take long to compile
    if (const std::string wrong = wrong_estimate(statement); !wrong.empty()) return wrong;
#else
    statement.run();
#endif
    return difference(result.template move_to<Host>(),
                      expected_terms<S>(c.sizes, read(std::get<Place>(operands)).terms...));
  }
};

/// The number of combinations of each statement in the full tests; all of them if it has fewer.
inline constexpr std::int64_t full_count = 160;

/// Runs the statement S in a cross-section of `Count` combinations, or in this program's part of the full
/// tests.
template <class S, int Count>
void check() {
#ifdef SPOROS_TEST_PARTS
  constexpr std::int64_t all = std::min(Product<S>::size(), full_count);
  constexpr std::int64_t count = (all + SPOROS_TEST_PARTS - 1 - SPOROS_TEST_PART) / SPOROS_TEST_PARTS;
  testing::Test::RecordProperty("combinations", static_cast<int>(count));
  [&]<std::size_t... At>(std::index_sequence<At...>) {
    (CombinationRun<S, Product<S>::spread(SPOROS_TEST_PART + At * SPOROS_TEST_PARTS)>::run(), ...);
  }(std::make_index_sequence<static_cast<std::size_t>(count)>{});
#else
  static constexpr auto chosen = Product<S>::template cross_section<Count>();
  [&]<std::size_t... At>(std::index_sequence<At...>) {
    (CombinationRun<S, chosen[At]>::run(), ...);
  }(std::make_index_sequence<chosen.size()>{});
#endif
}

}  // namespace sporos::test

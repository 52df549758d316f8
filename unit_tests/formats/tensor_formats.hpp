// SPDX-License-Identifier: Apache-2.0
/// @file tensor_formats.hpp
/// Formats of tensors of order 3, and conversions from one of them to all.
#pragma once

#include <cstdint>
#include <sporos/formats/convert.hpp>
#include <sporos/formats/format_name.hpp>
#include <sporos/formats/named.hpp>
#include <vector>

#include "compiled_once.hpp"
#include "reference.hpp"

/// The formats.
#define SPOROS_TEST_TENSOR_FORMATS(Each)                                                            \
  Each(DenseTensor<3>) Each(DenseTensor<3, ModeOrder<1, 2, 0>>) Each(COO<3>)                        \
      Each(COO<3, ModeOrder<2, 0, 1>>) Each(test::RepeatedCoo3) Each(CSF<3>)                        \
          Each(CSF<3, ModeOrder<2, 1, 0>>) Each(CSF<3, ModeOrder<1, 0, 2>>) Each(test::DenseOfDcsr) \
              Each(test::DenseBetween) Each(test::CooOfFibers) Each(test::Blocks3)

namespace sporos::test {

using RepeatedCoo3 = COO<3, ModeOrder<0, 1, 2>, std::int64_t, std::int32_t, false>;
/// A CSR of each slice of the last mode.
using DenseOfDcsr = Format<Map<Dim<2>, Dim<0>, Dim<1>>, Dense, Compressed<>, Compressed<>>;
/// Rows of a mode that hold something, all of the next, the stored ones of the last.
using DenseBetween = Format<Map<Dim<0>, Dim<1>, Dim<2>>, Compressed<>, Dense, Compressed<>>;
/// Pairs of modes as in COO, and dense fibers.
using CooOfFibers = Format<Map<Dim<1>, Dim<2>, Dim<0>>, Compressed<std::int64_t, std::int32_t, true, false>,
                           Singleton<std::int32_t, true, true>, Dense>;
/// Blocks of 2 x 2 x 3, in a tree.
using Blocks3 = Format<
    Map<Quotient<0, 2>, Quotient<1, 2>, Quotient<2, 3>, Remainder<0, 2>, Remainder<1, 2>, Remainder<2, 3>>,
    Compressed<>, Compressed<>, Compressed<>, Dense, Dense, Dense>;

/// Calls visit.operator()<F>() for each of them.
template <class Visit>
void for_each_tensor_format(const Visit& visit) {
#define SPOROS_TEST_VISIT(...) visit.template operator()<__VA_ARGS__>();
  SPOROS_TEST_TENSOR_FORMATS(SPOROS_TEST_VISIT)
#undef SPOROS_TEST_VISIT
}

inline std::vector<Entries<double, 3>> tensors() {
  return {random_entries<double, 3>({5, 7, 4}, 60, 1),      random_entries<double, 3>({0, 0, 0}, 0, 2),
          random_entries<double, 3>({3, 0, 2}, 0, 3),       random_entries<double, 3>({1, 1, 1}, 2, 4),
          random_entries<double, 3>({1, 9, 1}, 5, 5),       random_entries<double, 3>({60, 3, 50}, 100, 6),
          random_entries<double, 3>({37, 29, 31}, 40000, 7)};
}

/// Converts every tensor from `From` to every format, and compares.
template <TensorFormat From>
void expect_tensor_conversions_to_every_format() {
  for (const auto& entries : tensors()) {
    const auto from = assemble<From>(entries);
    EXPECT_NO_THROW(validate(from));
    const auto expected = table(entries);
    EXPECT_TRUE(same(table(from), expected));
    for_each_tensor_format([&]<TensorFormat To>() {
      SCOPED_TRACE(format_name<From>() + " to " + format_name<To>() + ", " + to_string(entries.extents));
      const auto to = convert<To>(from);
      EXPECT_NO_THROW(validate(to));
      EXPECT_TRUE(same(table(to), expected));
    });
  }
}

}  // namespace sporos::test

namespace sporos {
#ifndef SPOROS_TEST_COMPILES_HERE
SPOROS_TEST_TENSOR_FORMATS(SPOROS_TEST_COMPILED_ELSEWHERE)
#endif
}  // namespace sporos

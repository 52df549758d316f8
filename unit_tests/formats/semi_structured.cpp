// SPDX-License-Identifier: Apache-2.0
/// @file semi_structured.cpp
/// 2:4 matrices to and from PyTorch's semi-structured tensors.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>
#include <sporos/formats/semi_structured.hpp>
#include <sporos/sporos.hpp>

namespace sporos::test {
namespace {

using HostMemory = Kokkos::HostSpace;

/// A matrix whose windows all keep two elements, in every way in turn.
Tensor<half, DenseMatrix<>> full_windows(std::int64_t rows, std::int64_t columns) {
  constexpr std::array<std::array<int, 2>, 6> pairs{{{0, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}, {2, 3}}};
  Tensor<half, DenseMatrix<>> out({rows, columns});
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t w = 0; w < columns / 4; ++w)
      for (const int at : pairs[static_cast<std::size_t>((r * 7 + w * 3 + r / 8) % 6)]) {
        const std::int64_t place = r * columns + w * 4 + at;
        out.values()(place) = half(static_cast<float>(1 + place % 31));
      }
  return out;
}

/// What `_sparse_semi_structured_from_dense_cutlass` of PyTorch 2.2.2 makes of the same matrix: the first
/// elements, and a hash (FNV-1a over whole elements) of all.
TEST(SemiStructured, MetadataIsThatOfPyTorch) {
  const auto packed = to_semi_structured(convert<TwoFour>(full_windows(64, 64)));
  ASSERT_EQ(packed.metadata.extent(0), 64u * 4);
  const std::array<std::uint16_t, 10> first{0xc4c4, 0x4c4c, 0xc4c4, 0x4c4c, 0xc4c4,
                                            0x4c4c, 0xc4c4, 0x4c4c, 0xd8d8, 0x8d8d};
  for (std::size_t at = 0; at < first.size(); ++at) EXPECT_EQ(packed.metadata(at), first[at]) << at;
  std::uint64_t hash = 1469598103934665603u;
  for (std::size_t at = 0; at < packed.metadata.extent(0); ++at)
    hash = (hash ^ packed.metadata(at)) * 1099511628211u;
  EXPECT_EQ(hash, 0xa018160cb6608783u);
}

TEST(SemiStructured, EveryElementOfMetadataHasAPlace) {
  std::set<std::int64_t> seen;
  for (std::int64_t r = 0; r < 96; ++r)
    for (std::int64_t c = 0; c < 6; ++c) seen.insert(detail::place_of_metadata(96, r, c));
  EXPECT_EQ(seen.size(), 96u * 6);
  EXPECT_EQ(*seen.begin(), 0);
  EXPECT_EQ(*seen.rbegin(), 96 * 6 - 1);
}

TEST(SemiStructured, ComesBack) {
  const auto t = convert<TwoFour>(full_windows(96, 128));
  const auto back = from_semi_structured<Host>(to_semi_structured(t));
  EXPECT_EQ(back.values().data(), t.values().data());
  for (std::size_t at = 0; at < t.level<2>().indices.extent(0); ++at)
    EXPECT_EQ(back.level<2>().indices(at), t.level<2>().indices(at)) << at;
}

/// PyTorch fills windows with fewer than two entries up with the last elements: 0b1110 and 0b1100.
TEST(SemiStructured, WindowsThatAreFilledUpAreRead) {
  SemiStructured<half, HostMemory> matrix{{32, 64},
                                          Array<half, HostMemory>("values", 32 * 32),
                                          Array<std::uint16_t, HostMemory>("metadata", 32 * 4)};
  for (std::size_t at = 0; at < matrix.metadata.extent(0); ++at) matrix.metadata(at) = 0xccee;
  matrix.values(0) = half(5.0f);
  matrix.values(4) = half(6.0f);
  const auto t = from_semi_structured<Host>(matrix);
  EXPECT_EQ(static_cast<float>(at(t, {0, 2})), 5.0f);
  EXPECT_EQ(static_cast<float>(at(t, {0, 8})), 6.0f);
  EXPECT_EQ(static_cast<float>(at(t, {0, 11})), 0.0f);
}

TEST(SemiStructured, WhatPyTorchCannotHoldIsRefused) {
  EXPECT_THROW(to_semi_structured(Tensor<half, TwoFour>({16, 64})), RangeError);
  EXPECT_THROW(to_semi_structured(Tensor<half, TwoFour>({32, 80})), RangeError);
  SemiStructured<half, HostMemory> matrix{{32, 64},
                                          Array<half, HostMemory>("values", 32 * 32),
                                          Array<std::uint16_t, HostMemory>("metadata", 32 * 4)};
  EXPECT_THROW(from_semi_structured<Host>(matrix), FormatError);  // element 0 twice
  matrix.metadata = Array<std::uint16_t, HostMemory>("metadata", 32);
  EXPECT_THROW(from_semi_structured<Host>(matrix), FormatError);
}

}  // namespace
}  // namespace sporos::test

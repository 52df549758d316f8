// SPDX-License-Identifier: Apache-2.0
/// @file frostt.cpp
/// FROSTT .tns files: forms, extents, faults with their lines, round trips.
#include "files.hpp"

#include <sporos/formats/io/frostt.hpp>

namespace {
namespace frostt {

using namespace sporos;
using namespace sporos_test;
using sporos::half;  // CUDA has one as well
using Complex = Kokkos::complex<double>;

template <class Value, int Order>
Entries<Value, Order> read(const std::string& text,
                           const std::optional<Extents<Order>>& extents = std::nullopt) {
  const Folder folder;
  return read_tns_entries<Value, Order>(folder.put("a.tns", text), {}, extents);
}

TEST(Frostt, ReadsEntriesAndTakesTheLargestCoordinatesForExtents) {
  const auto entries = read<double, 3>("2 1 3 1.5\n1 4 1\t-2\n");
  EXPECT_TRUE(identical(entries, Entries<double, 3>({2, 4, 3}, {{{1, 0, 2}, 1.5}, {{0, 3, 0}, -2.0}})));
}

TEST(Frostt, IsLenientWithBlanksCommentsAndLineEnds) {
  const auto entries = read<double, 2>("# a comment\r\n\r\n  2\t1   1.5 \r\n# 1 1 1\r\n\r\n1 4 2");
  EXPECT_TRUE(identical(entries, Entries<double, 2>({2, 4}, {{{1, 0}, 1.5}, {{0, 3}, 2.0}})));
}

TEST(Frostt, ReadsEveryOrderFromOneToEight) {
  EXPECT_TRUE(identical(read<double, 1>("3 7\n"), Entries<double, 1>({3}, {{{2}, 7.0}})));
  EXPECT_TRUE(identical(read<double, 8>("1 2 3 4 5 6 7 8 9\n"),
                        Entries<double, 8>({1, 2, 3, 4, 5, 6, 7, 8}, {{{0, 1, 2, 3, 4, 5, 6, 7}, 9.0}})));
}

TEST(Frostt, TakesTheExtentsThatTheCallerOrTheFileGives) {
  const Extents<2> given = {9, 9};
  EXPECT_EQ((read<double, 2>("1 1 1\n", given).extents), given);
  EXPECT_EQ((read<double, 2>("2\n5 6\n1 1 1\n").extents), (Extents<2>{5, 6}));
  EXPECT_EQ((read<double, 2>("# extents 5 6\n1 1 1\n").extents), (Extents<2>{5, 6}));
  EXPECT_EQ((read<double, 2>("# extents 5 6\n").size()), 0);
  EXPECT_EQ((read<double, 2>("2\n5 6\n").extents), (Extents<2>{5, 6}));
  EXPECT_EQ((read<double, 2>("# extents of 5 years\n2 1 1\n").extents), (Extents<2>{2, 1}));
}

TEST(Frostt, ReadsComplexValuesOfOneOrTwoNumbers) {
  EXPECT_TRUE(
      identical(read<Complex, 2>("1 1 2.5 -1\n"), Entries<Complex, 2>({1, 1}, {{{0, 0}, Complex(2.5, -1)}})));
  EXPECT_TRUE(
      identical(read<Complex, 2>("1 1 2.5\n"), Entries<Complex, 2>({1, 1}, {{{0, 0}, Complex(2.5, 0)}})));
}

TEST(Frostt, FindsOutTheOrder) {
  const Folder folder;
  EXPECT_EQ(read_tns_order(folder.put("a.tns", "# c\n\n1 2 3 4.5\n")), 3);
  EXPECT_EQ(read_tns_order(folder.put("a.tns.gz", gzip("4\n1 2 3 4\n1 1 1 1 1\n"))), 4);
  EXPECT_EQ(read_tns_order(folder.put("a.tns", "# extents 1 2\n")), 2);
}

template <class Value = double, int Order = 2>
void expect_frostt_fault(const std::string& text, std::int64_t line, const std::string& reason,
                         const std::optional<Extents<Order>>& extents = std::nullopt) {
  const Folder folder;
  for (const std::string& path : {folder.put("a.tns", text), folder.put("a.tns.gz", gzip(text))})
    for (const std::size_t bytes : {1u, 9u, 1u << 20})
      for (const int threads : {1, 3}) {
        ReadOptions options;
        options.threads = threads;
        options.block_bytes = bytes;
        expect_parse_error(path, line, reason,
                           [&] { read_tns_entries<Value, Order>(path, options, extents); });
        if (testing::Test::HasFailure()) return;
      }
}

TEST(Frostt, RefusesFilesWithoutEntriesAndExtents) {
  expect_frostt_fault("", 0, "the file is empty");
  expect_frostt_fault("# nothing\n\n", 2,
                      "the file ends before its first entry and does not give its extents");
  expect_frostt_fault("3\n", 1, "the file ends before its first entry and does not give its extents");
}

void expect_other_order(const std::string& text, const std::string& reason) {
  const Folder folder;
  const std::string path = folder.put("a.tns", text);
  try {
    read_tns_entries<double, 2>(path);
    ADD_FAILURE() << "no error, expected: " << reason;
  } catch (const ShapeError& error) {
    EXPECT_TRUE(std::string_view(error.what()).starts_with(path + ": " + reason)) << error.what();
  }
}

TEST(Frostt, RefusesAnotherOrder) {
  expect_other_order(
      "# c\n1 1 1 5\n",
      "holds entries of 4 numbers (line 2), order 3, expected a tensor of order 2: inspect(file)");
  expect_other_order("1 5\n",
                     "holds entries of 2 numbers (line 1), order 1, expected a tensor of order 2: "
                     "inspect(file).order tells the order before a file is read; coordinates without values "
                     "need a value on each line");
  expect_other_order("3\n5 6 7\n1 1 1 1\n",
                     "holds a tensor of 3 extents, order 3, expected a tensor of order 2");
  expect_other_order("# extents 5 6 7\n",
                     "holds a tensor of 3 extents, order 3, expected a tensor of order 2");
}

TEST(Frostt, RefusesTextThatIsNoEntryBeforeItCountsItsWords) {
  expect_frostt_fault("# c\nsome words here and there\n", 2,
                      "found 'some', expected coordinate 1, an integer from 1 to 2^63 - 1");
  expect_frostt_fault("# extents 5 6\nx 1 1\n", 2,
                      "found 'x', expected coordinate 1, an integer from 1 to 5");
  const Folder folder;
  const std::string path = folder.put("a.tns", "some words here\n");
  expect_parse_error(path, 1, "found 'some', expected coordinate 1", [&] { read_tns_header(path); });
}

TEST(Frostt, RefusesEntriesOfAnotherOrderThanTheOthers) {
  expect_frostt_fault("2\n5 6\n1 1 1 1\n", 3,
                      "this line holds 4 numbers, expected 3: 2 coordinates and a value");
  expect_frostt_fault("1 1 1\n1 1 1 1\n", 2,
                      "this line holds 4 numbers, expected 3: 2 coordinates and a value");
  expect_frostt_fault("1 1 1\n1 1\n", 2, "this line holds 2 numbers, expected 3: 2 coordinates and a value");
}

TEST(Frostt, RefusesBadHeaders) {
  expect_frostt_fault("2\n5 x\n", 2, "found 'x', expected an extent");
  expect_frostt_fault("2\n5 6 7\n", 2, "found 3 extents, expected 2");
  expect_frostt_fault("sptensor\n3\n", 1, "found 'sptensor' alone on the line, expected an entry");
  expect_frostt_fault("0\n", 1, "found '0' alone on the line");
}

TEST(Frostt, RefusesCoordinatesOutOfRange) {
  expect_frostt_fault("1 1 1\n\n0 1 1\n", 3,
                      "coordinate 1 is 0, expected 1 to 2^63 - 1: the coordinates of a .tns file begin at 1");
  expect_frostt_fault("1 1 1\n1 -1 1\n", 2, "found '-1', expected coordinate 2");
  expect_frostt_fault("1 1 1\n9223372036854775808 1 1\n", 2,
                      "found '9223372036854775808', expected coordinate 1");
  expect_frostt_fault("2\n5 6\n5 7 1\n", 3, "coordinate 2 is 7, expected 1 to 6");
  expect_frostt_fault("5 7 1\n", 1, "coordinate 2 is 7, expected 1 to 6", Extents<2>{5, 6});
}

TEST(Frostt, RefusesTextThatIsNoNumber) {
  expect_frostt_fault("1 1 1\n1 x 1\n", 2, "found 'x', expected coordinate 2");
  expect_frostt_fault("1 1 1\n1 1.5 1\n", 2, "found '1.5', expected coordinate 2");
  expect_frostt_fault("1 1 1\n1 1 y\n", 2, "found 'y', expected a real number");
  expect_frostt_fault("1 1 1\n1 1 1e999\n", 2, "'1e999' is too large for double");
  expect_frostt_fault<int>("1 1 1\n1 1 nan\n", 2, "found 'nan', which int32 cannot hold");
  expect_frostt_fault<int>("1 1 1\n1 1 1.5\n", 2, "found '1.5', which int32 cannot hold");
}

TEST(Frostt, RefusesADirectoryAndBrokenGzip) {
  const Folder folder;
  expect_parse_error(folder.path(), 0, "this is a directory",
                     [&] { read_tns_entries<double, 3>(folder.path()); });
  const std::string path = folder.put("a.tns", gzip("1 1 1\n").substr(0, 12));
  expect_parse_error(path, 0, "broken gzip data", [&] { read_tns_entries<double, 2>(path); });
}

TEST(Frostt, RoundTripsEntriesOfEveryKindOfValue) {
  const Folder folder;
  for (const std::string name : {"a.tns", "a.tns.gz"}) {
    const std::string path = folder.file(name);
    const auto trip = [&](const auto& entries) {
      using E = std::remove_cvref_t<decltype(entries)>;
      write_tns(path, entries, {.comment = "extents 1 1 1\nand more"});
      EXPECT_TRUE(identical(read_tns_entries<typename E::value_type, E::order>(path), entries));
      write_tns(path, entries);
      EXPECT_TRUE(identical(read_tns_entries<typename E::value_type, E::order>(path), entries));
    };
    trip(Entries<double, 3>({7, 8, 9}, {{{6, 0, 0}, 0.1}, {{6, 0, 0}, -1e-320}, {{0, 7, 3}, 0.0}}));
    trip(Entries<double, 3>({7, 1, 4}, {{{6, 0, 3}, 0.1}}));
    trip(Entries<float, 1>({INT64_MAX}, {{{INT64_MAX - 1}, 0.1f}}));
    trip(Entries<std::uint64_t, 2>({3, 3}, {{{2, 2}, UINT64_MAX}}));
    trip(Entries<Complex, 2>({3, 3}, {{{2, 2}, Complex(0.1, 0.2)}}));
    trip(Entries<bool, 2>({3, 3}, {{{2, 2}, true}, {{0, 0}, false}}));
    trip(Entries<half, 4>({2, 2, 2, 2}, {{{1, 1, 1, 1}, half(0.1f)}}));
    trip(Entries<double, 4>({0, 3, 0, 1}, {}));
  }
}

TEST(Frostt, WritesExtentsWhereTheEntriesDoNotTellThem) {
  const Folder folder;
  write_tns(folder.file("a.tns"), Entries<double, 2>({3, 3}, {{{2, 2}, 0.5}}));
  EXPECT_EQ(content(folder.file("a.tns")), "3 3 0.5\n");
  write_tns(folder.file("a.tns"), Entries<double, 2>({3, 4}, {{{2, 2}, 0.5}}));
  EXPECT_EQ(content(folder.file("a.tns")), "# extents 3 4\n3 3 0.5\n");
}

TEST(Frostt, WritesExtentsOfVectorsWhoseEntriesCouldBeEdges) {
  const Folder folder;
  write_tns(folder.file("a.tns"), Entries<int, 1>({3}, {{{2}, 5}}));
  EXPECT_EQ(content(folder.file("a.tns")), "# extents 3\n3 5\n");
}

TEST(Frostt, DoesNotDependOnThreadsOrBlocks) {
  std::string text;
  for (int k = 0; k < 3000; ++k)
    text += std::to_string(k % 91 + 1) + " " + std::to_string(k + 1) + " " + std::to_string(k * 0.01) +
            (k % 50 ? "\n" : "\n\n# c\n");
  const Folder folder;
  const std::string path = folder.put("a.tns", text);
  ReadOptions one;
  one.threads = 1;
  const auto expected = read_tns_entries<double, 2>(path, one);
  EXPECT_EQ(expected.extents, (Extents<2>{91, 3000}));
  for (const std::size_t bytes : {1u, 100u, 4096u})
    for (const int threads : {2, 5}) {
      ReadOptions options;
      options.threads = threads;
      options.block_bytes = bytes;
      EXPECT_TRUE(identical(read_tns_entries<double, 2>(path, options), expected));
    }
}

}  // namespace frostt
}  // namespace

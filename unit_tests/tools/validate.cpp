// SPDX-License-Identifier: Apache-2.0
/// @file validate.cpp
/// `sporos validate`: good files are valid, and what is odd in them is told or, if asked for, refused.
#include "tool.hpp"

namespace {

using namespace sporos_test;

constexpr std::string_view banner = "%%MatrixMarket matrix coordinate real general\n";

std::string matrix(const Folder& folder, const std::string& lines) {
  return folder.put("a.mtx", std::string(banner) + lines);
}

TEST(Validate, FindsEveryExampleValid) {
  for (const std::string& path : all_examples()) {
    SCOPED_TRACE(path);
    const Json found = report({"validate", path});
    EXPECT_EQ(found["command"], "validate");
    EXPECT_EQ(found["valid"], true);
    EXPECT_EQ(found["formats"], found["order"] == 2 ? "coo, csf, csr" : "coo, csf");
  }
}

TEST(Validate, TellsWhatIsWorthKnowing) {
  const Folder folder;
  const std::string path = matrix(folder, "2 2 5\n1 1 0\n1 2 5\n1 2 6\n2 1 inf\n2 2 nan\n");
  const Json found = report({"validate", path});
  EXPECT_EQ(found["duplicates"], 1);
  EXPECT_EQ(found["stored_zeros"], 1);
  EXPECT_EQ(found["not_finite"], 2);
  const std::string text = expect_done({"validate", path});
  EXPECT_TRUE(text.starts_with(path + ": valid\n")) << text;
  EXPECT_NE(text.find("1 duplicate coordinates, 1 stored zeros, 2 values that are not finite"),
            std::string::npos)
      << text;
}

TEST(Validate, RefusesThatWhenStrict) {
  const Folder folder;
  expect_refused({"validate", "--strict", matrix(folder, "2 2 2\n1 2 5\n1 2 6\n")},
                 "1 duplicate coordinates");
  expect_refused({"validate", "--strict", matrix(folder, "2 2 1\n1 2 0\n")}, "1 stored zeros");
  expect_refused({"validate", "--strict", matrix(folder, "2 2 1\n1 2 nan\n")},
                 "1 values that are not finite");
  EXPECT_EQ(report({"validate", "--strict", matrix(folder, "2 2 1\n1 2 3\n")})["valid"], true);
}

TEST(Validate, TellsOfEntriesAboveTheDiagonalOfASymmetricFileAndRefusesThemWhenStrict) {
  const Folder folder;
  const std::string path =
      folder.put("a.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n1 3\n");
  EXPECT_EQ(report({"validate", path})["entries_above_diagonal"], 1);
  const std::string text = expect_done({"validate", path});
  EXPECT_NE(text.find("1 entries above the diagonal of a symmetric file"), std::string::npos) << text;
  expect_refused({"validate", "--strict", path}, path + ":4: entry (1, 3) lies above the diagonal");
}

TEST(Validate, NamesFileLineAndReason) {
  const Folder folder;
  const std::string path = matrix(folder, "2 2 2\n1 1 1\n3 1 1\n");
  expect_refused({"validate", path}, path + ":4: ");
  expect_refused({"validate", "--json", path}, "row");
}

}  // namespace

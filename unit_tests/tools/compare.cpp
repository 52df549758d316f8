// SPDX-License-Identifier: Apache-2.0
/// @file compare.cpp
/// `sporos compare`: differences that are known, since the test has put them there.
#include "tool.hpp"

namespace {

using namespace sporos_test;

const std::string banner = "%%MatrixMarket matrix coordinate real general\n";

/// Runs `sporos compare --json` on files that differ, and returns what it says of them.
Json differences(Arguments arguments) {
  arguments.insert(arguments.begin(), "compare");
  arguments.push_back("--json");
  const Ran ran = run(arguments);
  EXPECT_EQ(ran.code, 1) << shown(arguments) << ran.out;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  return Json::parse(ran.out)["comparison"];
}

Json equal(Arguments arguments) {
  arguments.insert(arguments.begin(), "compare");
  const Json found = report(arguments)["comparison"];
  EXPECT_EQ(found["equal"], true);
  return found;
}

TEST(Compare, TheOrderOfEntriesAndTheKindOfFileDoNotMatter) {
  const Folder folder;
  const std::string a = folder.put("a.mtx", banner + "3 4 3\n1 1 0.5\n1 4 2\n3 2 -7\n");
  const std::string b = folder.put("b.mtx", banner + "3 4 4\n3 2 -7\n1 4 1\n1 1 0.5\n1 4 1\n");
  const std::string c = folder.put("c.tns", "# extents 3 4\n1 4 2\n3 2 -7\n1 1 0.5\n");
  EXPECT_EQ(equal({a, b})["in_both"], 3);
  EXPECT_EQ(equal({a, c})["in_both"], 3);
  for (const std::string& path : all_examples()) equal({path, path});
}

TEST(Compare, CountsAndPlacesDifferences) {
  const Folder folder;
  const std::string a = folder.put("a.mtx", banner + "3 4 5\n1 1 1\n1 2 100\n2 1 4\n3 2 8\n3 4 1\n");
  const std::string b = folder.put("b.mtx", banner + "3 4 5\n1 1 1\n1 2 101\n2 2 5\n3 2 7.5\n3 4 1\n");
  const Json found = differences({a, b});
  EXPECT_EQ(found["in_both"], 4);
  EXPECT_EQ(found["only_in_A"], 1);
  EXPECT_EQ(found["only_in_B"], 1);
  EXPECT_EQ(found["beyond_tolerance"], 2);
  EXPECT_EQ(found["differences"], 4);
  EXPECT_EQ(found["first_difference_at"], Json({1, 2}));
  EXPECT_EQ(found["first_in_A"], 100);
  EXPECT_EQ(found["first_in_B"], 101);
  EXPECT_EQ(found["greatest_difference"], 1);
  EXPECT_EQ(found["greatest_difference_at"], Json({1, 2}));
  EXPECT_EQ(found["greatest_relative_difference"], 0.0625);
  EXPECT_EQ(found["greatest_relative_difference_at"], Json({3, 2}));
  const Ran ran = run({"compare", a, b});
  EXPECT_EQ(ran.err, "sporos: " + a + " and " + b +
                         " differ at 4 coordinates, first at (1, 2), where the first has 100 and the second "
                         "101\n");
}

TEST(Compare, AllowsWhatEitherToleranceAllows) {
  const Folder folder;
  const std::string a = folder.put("a.mtx", banner + "2 2 2\n1 1 1000\n2 2 0.001\n");
  const std::string b = folder.put("b.mtx", banner + "2 2 2\n1 1 1001\n2 2 0.002\n");
  EXPECT_EQ(differences({a, b})["beyond_tolerance"], 2);
  EXPECT_EQ(differences({a, b, "--tolerance", "0.5"})["beyond_tolerance"], 1);
  EXPECT_EQ(differences({a, b, "--relative", "0.01"})["beyond_tolerance"], 1);
  equal({a, b, "--tolerance", "1"});
  equal({a, b, "--tolerance", "0.001", "--relative", "0.001"});
  differences({a, b, "--tolerance", "0.0009", "--relative", "0.001"});
}

TEST(Compare, AnEntryThatIsMissingIsAZeroOnDemand) {
  const Folder folder;
  const std::string a = folder.put("a.mtx", banner + "2 2 3\n1 1 1\n1 2 0\n2 1 1e-12\n");
  const std::string b = folder.put("b.mtx", banner + "2 2 2\n1 1 1\n2 2 0\n");
  EXPECT_EQ(differences({a, b})["differences"], 3);
  EXPECT_EQ(differences({a, b, "--missing-is-zero"})["differences"], 1);
  EXPECT_EQ(equal({a, b, "--missing-is-zero", "--tolerance", "1e-12"})["only_in_A"], 2);
}

TEST(Compare, NumbersThatAreNoneEqualThemselvesAlone) {
  const Folder folder;
  const std::string a = folder.put("a.mtx", banner + "1 4 3\n1 1 nan\n1 2 inf\n1 3 -inf\n");
  const std::string b = folder.put("b.mtx", banner + "1 4 3\n1 1 1\n1 2 -inf\n1 3 5\n");
  equal({a, a});
  const Json found = differences({a, b, "--tolerance", "1e300", "--relative", "1"});
  EXPECT_EQ(found["beyond_tolerance"], 3);
  EXPECT_EQ(found["greatest_difference"], "inf");
}

TEST(Compare, TypesOfValuesMeetInTheNumbersThatTheyAre) {
  const Folder folder;
  const std::string rest = "2 2 1\n1 2 9007199254740993";
  const std::string integers =
      folder.put("a.mtx", "%%MatrixMarket matrix coordinate integer general\n" + rest + "\n");
  const std::string complex =
      folder.put("c.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 3 4\n");
  const std::string real = folder.put("b.mtx", banner + "2 2 1\n1 2 9007199254740992\n");
  const Json found = differences({integers, real});
  EXPECT_EQ(found["greatest_difference"], 1);  // which no double can tell
  EXPECT_EQ(found["first_in_A"], 9007199254740993);
  const std::string three = folder.put("d.mtx", banner + "2 2 1\n1 2 3\n");
  EXPECT_EQ(differences({complex, three})["greatest_difference"], 4);
  equal({complex, three, "--tolerance", "4"});
  equal({complex, three, "--relative", "0.8"});
  differences({complex, three, "--relative", "0.79"});
}

TEST(Compare, OtherExtentsAreADifference) {
  const Folder folder;
  const std::string a = folder.put("a.mtx", banner + "3 4 1\n1 1 1\n");
  const std::string b = folder.put("b.mtx", banner + "4 3 1\n1 1 1\n");
  const Json found = differences({a, b});
  EXPECT_EQ(found["same_extents"], false);
  EXPECT_EQ(found["equal"], false);
  EXPECT_EQ(differences({a, example_data("aminoacid.tns.gz")})["same_extents"], false);
  EXPECT_EQ(run({"compare", a, b}).err,
            "sporos: " + a + " and " + b + " differ: the first is 3 x 4, the second 4 x 3\n");
}

TEST(Compare, ReadsOneOfTheTwoFromAPipe) {
  const Folder folder;
  const std::string text = banner + "3 4 1\n1 1 1\n", path = folder.put("a.mtx", text);
  EXPECT_EQ(run({"compare", "-", path}, text).code, 0);
  EXPECT_EQ(run({"compare", path, "-"}, banner + "3 4 1\n1 1 2\n").code, 1);
  expect_refused({"compare", "-", "-"}, "only one of the two files");
  expect_refused({"compare", path, path, "--tolerance", "-1"}, "at least 0");
  expect_refused({"compare", path, path, "--relative", "nan"}, "at least 0");
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
/// @file cp.cpp
/// `sporos cp`: factors in files that make up the tensor as well as the command says.
#include <cmath>

#include "plain_text.hpp"
#include "png.hpp"
#include "tool.hpp"

namespace {

using namespace sporos_test;

/// What `cp` has written, and the tensor that it stands for.
struct Files {
  std::vector<std::vector<double>> factors;  ///< by columns, as files have them
  std::vector<double> lambda;
  std::vector<std::int64_t> extents;

  Files(const std::string& prefix, const std::vector<std::int64_t>& extents) : extents(extents) {
    for (std::size_t mode = 0; mode < extents.size(); ++mode)
      factors.push_back(plain_array(prefix + ".mode" + std::to_string(mode) + ".mtx"));
    lambda = plain_array(prefix + ".lambda.mtx");
  }

  double element(const Coordinate& at) const {
    double sum = 0;
    for (std::size_t r = 0; r < lambda.size(); ++r) {
      double product = lambda[r];
      for (std::size_t mode = 0; mode < at.size(); ++mode)
        product *= factors[mode][r * static_cast<std::size_t>(extents[mode]) +
                                 static_cast<std::size_t>(at[mode] - 1)];
      sum += product;
    }
    return sum;
  }
};

/// 1 - |X - M| / |X| of a tensor of order 3, over all its elements.
double plain_fit(const PlainText& tensor, const Files& model) {
  double difference = 0, norm = 0;
  Coordinate at(3);
  for (at[0] = 1; at[0] <= model.extents[0]; ++at[0])
    for (at[1] = 1; at[1] <= model.extents[1]; ++at[1])
      for (at[2] = 1; at[2] <= model.extents[2]; ++at[2]) {
        const auto found = tensor.entries.find(at);
        const double x = found == tensor.entries.end() ? 0 : std::stod(found->second);
        difference += std::pow(x - model.element(at), 2);
        norm += x * x;
      }
  return 1 - std::sqrt(difference / norm);
}

TEST(Cp, WritesFactorsThatFitAsWellAsItSays) {
  const Folder folder;
  const std::string path = example_data("aminoacid.tns.gz");
  const Json done = report({"cp", path, "--rank", "3", "-o", folder.file("acid")});
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"acid.fit.png", "acid.lambda.mtx", "acid.mode0.mtx",
                                                      "acid.mode1.mtx", "acid.mode2.mtx"}));
  const Files files(folder.file("acid"), {5, 201, 61});
  EXPECT_EQ(files.lambda.size(), 3u);
  EXPECT_EQ(files.factors[1].size(), 3u * 201);
  const double fit = done["model"]["fit"];
  EXPECT_GT(fit, 0.97);
  EXPECT_NEAR(plain_fit(plain_tns(path, 3), files), fit, 1e-7);
  EXPECT_EQ(done["model"]["converged"], true);
  ASSERT_EQ(done["model"]["fits"].size(), done["model"]["iterations"]);
  EXPECT_EQ(done["model"]["fits"].back()["fit"], fit);
  EXPECT_EQ(done["output"]["factors"][1],
            (Json{{"mode", 1}, {"extents", {201, 3}}, {"file", folder.file("acid.mode1.mtx")}}));
  const Png picture = png(folder.file("acid.fit.png"));
  EXPECT_GT(picture.width, 300u);
  EXPECT_GT(picture.height, 200u);
}

TEST(Cp, DrawsTheChangeOfTheFitOnALogarithmicAxis) {
  const Folder folder;
  const Json done = report({"cp", example_data("aminoacid.tns.gz"), "--rank", "3", "--iterations", "3",
                            "--tolerance", "0", "-o", folder.file("acid")});
  const Png picture = png(folder.file("acid.fit.png"));
  const std::string pixels = picture.pixels();
  // The rows of the lower field, between its axes, in which the curve has a column's pixel.
  const auto height_at = [&](std::size_t x) {
    double sum = 0, count = 0;
    for (std::size_t y = picture.height / 2 + 50; y < picture.height - 70; ++y)
      if (pixels.compare(3 * (y * picture.width + x), 3, "\x1f\x5a\xa0") == 0) {
        sum += static_cast<double>(picture.height - 70 - y);
        ++count;
      }
    return count > 0 ? sum / count / 260 : -1;
  };
  const Json fits = done["model"]["fits"];
  const double second = std::log10(std::abs(fits[1]["change"].get<double>())),
               third = std::log10(std::abs(fits[2]["change"].get<double>()));
  const double least = std::floor(std::min(second, third)), most = std::ceil(std::max(second, third));
  EXPECT_NEAR(height_at(478), (second - least) / (most - least), 0.03);  // in the middle of three iterations
  EXPECT_NEAR(height_at(869), (third - least) / (most - least), 0.03);   // on the right
  EXPECT_EQ(height_at(200), -1);  // the first iteration changes nothing
}

TEST(Cp, RecoversATensorOfRankOne) {
  const Folder folder;
  std::string lines;
  for (int i = 1; i <= 4; ++i)
    for (int j = 1; j <= 3; ++j)
      for (int k = 1; k <= 5; ++k)
        lines += std::to_string(i) + ' ' + std::to_string(j) + ' ' + std::to_string(k) + ' ' +
                 std::to_string(i * (j - 5) * k) + '\n';
  const std::string path = folder.put("a.tns", lines);
  const Json done = report({"cp", path, "--rank", "1", "-o", folder.file("m"), "--tolerance", "1e-9"});
  EXPECT_GT(done["model"]["fit"], 0.9999);
  const Files files(folder.file("m"), {4, 3, 5});
  for (const auto& [at, value] : plain_tns(path, 3).entries)
    EXPECT_NEAR(files.element(at), std::stod(value), 1e-6) << value;
}

TEST(Cp, NeverMakesTheFitWorse) {
  for (const std::string name : {"openflight.tns.gz", "parti_3D_12031.tns.gz", "KG_JF17K_4.tns.gz"}) {
    const Json done =
        report({"cp", example_data(name), "--rank", "4", "--iterations", "8", "--tolerance", "0"});
    ASSERT_EQ(done["model"]["fits"].size(), 8u) << name;
    EXPECT_EQ(done["model"]["converged"], false);
    double before = 0;
    for (const Json& row : done["model"]["fits"]) {
      EXPECT_GE(row["fit"], before - 1e-7) << name << row;
      before = row["fit"];
    }
    EXPECT_GT(before, 0) << name;
  }
}

TEST(Cp, TakesTensorsOfOrderFourAndFive) {
  const Folder folder;
  const std::string four = folder.put("four.tns", "1 1 1 1 3\n2 2 2 2 -1\n3 1 2 1 0.5\n");
  expect_done({"cp", four, "--rank", "3", "-o", folder.file("four")});
  const Files files(folder.file("four"), {3, 2, 2, 2});
  EXPECT_EQ(files.factors.size(), 4u);
  expect_done({"cp", example_data("KG_JF17K_4.tns.gz"), "--rank", "2", "--iterations", "2", "-o",
               folder.file("five")});
  EXPECT_EQ(plain_array(folder.file("five.mode4.mtx")).size(), 2u * 6533);
}

TEST(Cp, DependsOnTheSeedAlone) {
  const Folder folder;
  const auto factor = [&](const std::string& seed) {
    expect_done({"cp", example_data("parti_3D_12031.tns.gz"), "--rank", "3", "--iterations", "3", "--seed",
                 seed, "--threads", "1", "-o", folder.file("m")});
    return content(folder.file("m.mode0.mtx"));
  };
  const std::string first = factor("1");
  EXPECT_EQ(factor("1"), first);
  EXPECT_NE(factor("2"), first);
}

TEST(Cp, FitsTheSameWithAnyNumberOfThreads) {
  const auto fit = [&](const std::string& threads) -> double {
    return report({"cp", example_data("parti_3D_12031.tns.gz"), "--rank", "3", "--iterations", "3",
                   "--tolerance", "0", "--threads", threads})["model"]["fit"];
  };
  const double one = fit("1");
  EXPECT_NEAR(fit("2"), one, 1e-9);
  EXPECT_NEAR(fit("3"), one, 1e-9);
}

TEST(Cp, WritesNothingUnlessAsked) {
  const Json done = report({"cp", example_data("aminoacid.tns.gz"), "--rank", "1", "--iterations", "1"});
  EXPECT_FALSE(done.contains("output"));
  const std::string text =
      expect_done({"cp", example_data("aminoacid.tns.gz"), "--rank", "2", "--iterations", "60"});
  EXPECT_NE(text.find("iteration"), std::string::npos) << text;
  // Of many iterations a person sees some.
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 30) << text;
}

TEST(Cp, RefusesWhatCannotBeDecomposed) {
  const Folder folder;
  const std::string out = folder.file("m");
  expect_refused({"cp", example_data("LFAT5.mtx"), "-o", out},
                 "holds a tensor of order 2; cp takes order 3 to 5");
  expect_refused({"cp", folder.put("six.tns", "1 1 1 1 1 1 2\n"), "-o", out}, "cp takes order 3 to 5");
  expect_refused({"cp", folder.put("zero.tns", "1 1 1 0\n"), "-o", out}, "holds no nonzero");
  expect_refused({"cp", folder.put("none.tns", "# extents 3 3 3\n"), "-o", out}, "holds no nonzero");
  expect_refused({"cp", folder.put("nan.tns", "1 1 1 nan\n"), "-o", out}, "holds a value that is not finite");
  expect_refused({"cp", folder.put("large.tns", "1 1 1 -1e200\n"), "-o", out}, "1e+200, whose square");
  expect_refused({"cp", folder.put("small.tns", "1 1 1 1e-200\n"), "-o", out}, "1e-200, whose square");
  expect_refused({"cp", folder.put("wide.tns", "1 1 5000000000 1\n"), "-o", out},
                 "the extent 5000000000 is too large");
  expect_refused({"cp", folder.put("bad.tns", "1 1 1 1\n1 1 1\n"), "-o", out}, ":2: ");
  for (const std::string option : {"--rank", "--iterations", "--tolerance", "--seed"})
    expect_refused({"cp", example_data("aminoacid.tns.gz"), option, "-1", "-o", out}, option);
  expect_refused({"cp", example_data("aminoacid.tns.gz"), "-o", folder.file("nowhere/m")},
                 "there is no folder");
  for (const std::string& name : folder.names()) EXPECT_TRUE(name.ends_with(".tns")) << name;
}

}  // namespace

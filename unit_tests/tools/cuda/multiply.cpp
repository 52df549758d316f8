// SPDX-License-Identifier: Apache-2.0
/// @file multiply.cpp
/// `sporos multiply --space cuda` and `explain --space cuda`, beside what the host computes.
#include <random>

#include "tools/tool.hpp"

namespace {

using namespace sporos_test;

/// The plans that take values of a type.
const std::vector<std::pair<std::string, Arguments>> plans_of_types = {
    {"double", {"auto", "rows", "padded", "window", "dense"}},
    {"float", {"auto", "rows", "padded", "tiles", "tca", "dense"}},
    {"half", {"auto", "rows", "padded", "window", "tiles", "tca", "dense"}},
    {"bfloat16", {"auto", "rows", "padded", "window", "tiles", "tca", "dense"}}};

/// Values of a matrix: small whole numbers, whose products every type adds up exactly, or others.
enum class Draw { whole, any };

std::string value(std::mt19937& random, Draw draw) {
  if (draw == Draw::whole) return std::to_string(static_cast<int>(random() % 9) - 4);
  return std::to_string(std::uniform_real_distribution<double>(-1, 1)(random));
}

/// A random sparse matrix; some rows are empty.
std::string sparse(const Folder& folder, int rows, int columns, Draw draw = Draw::whole, unsigned of = 5) {
  std::mt19937 random(static_cast<unsigned>(rows));
  std::string lines;
  int count = 0;
  for (int i = 1; i <= rows; ++i)
    for (int j = 1; j <= columns; ++j) {
      if (i % 7 == 3 || random() % of != 0) continue;
      ++count;
      lines += std::to_string(i) + ' ' + std::to_string(j) + ' ' + value(random, draw) + '\n';
    }
  return folder.put("a.mtx", "%%MatrixMarket matrix coordinate real general\n" + std::to_string(rows) + ' ' +
                                 std::to_string(columns) + ' ' + std::to_string(count) + '\n' + lines);
}

/// A random dense matrix in an array file.
std::string dense(const Folder& folder, int rows, int columns, Draw draw = Draw::whole) {
  std::mt19937 random(static_cast<unsigned>(columns + 1));
  std::string lines;
  for (int at = 0; at < rows * columns; ++at) lines += value(random, draw) + '\n';
  return folder.put("b.mtx", "%%MatrixMarket matrix array real general\n" + std::to_string(rows) + ' ' +
                                 std::to_string(columns) + '\n' + lines);
}

/// The product on the GPU, which holds against the reference and is the host's within a tolerance.
Json expect_host_product(const Folder& folder, const std::string& a, const std::string& b,
                         const Arguments& options, const std::string& tolerance = "0") {
  const std::string host = folder.file("host.mtx"), device = folder.file("device.mtx");
  if (!std::filesystem::exists(host)) expect_done({"multiply", a, b, "-o", host});
  Arguments arguments = {"multiply", a, b, "-o", device, "--space", "cuda", "--verify"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  SCOPED_TRACE(shown(arguments));
  const Json done = report(arguments);
  EXPECT_EQ(done["checks"]["holds"], true);
  EXPECT_EQ(done["checks"]["compared"], done["C"]["nonzeros"]);
  EXPECT_EQ(done["C"]["space"], "cuda");
  EXPECT_NE(done["C"]["kernel"], "");
  const Ran compared = run({"compare", host, device, "--tolerance", tolerance});
  EXPECT_EQ(compared.code, 0) << compared.out << compared.err;
  return done;
}

TEST(MultiplyOnDevice, IsTheHostsProductByEachPlanInEachType) {
  const Folder folder;
  const std::string a = sparse(folder, 131, 77), b = dense(folder, 77, 40);
  const std::map<std::string, std::string> kernels = {{"rows", "SpMM by groups of lanes"},
                                                      {"padded", "SpMM by padded rows"},
                                                      {"window", "SpMM by windows of rows on tensor cores"},
                                                      {"tca", "SpMM by dot products on tensor cores"},
                                                      {"dense", "SpMM by cuBLAS with zeros"}};
  for (const auto& [type, plans] : plans_of_types)
    for (const std::string& plan : plans) {
      const Json done = expect_host_product(folder, a, b, {"--plan", plan, "--type", type});
      EXPECT_EQ(done["C"]["plan"], plan);
      EXPECT_EQ(done["C"]["type"], type);
      if (plan == "tiles")
        EXPECT_EQ(done["C"]["kernel"], type == "float" ? "SpMM by tiles of split floats on tensor cores"
                                                       : "SpMM by tiles on tensor cores");
      else if (plan != "auto")
        EXPECT_EQ(done["C"]["kernel"], kernels.at(plan));
      EXPECT_GT(done["C"]["plan_seconds"], 0.0);
      EXPECT_GT(done["C"]["plan_bytes"], 0) << done;
      EXPECT_EQ(done["C"]["repeats"], 1);
    }
}

TEST(MultiplyOnDevice, RoundsAsItsBoundSays) {
  const Folder folder;
  const std::string a = sparse(folder, 200, 500, Draw::any), b = dense(folder, 500, 24, Draw::any);
  // 100 products of a row at most, of numbers below 1, with both factors rounded.
  const std::map<std::string, std::string> tolerances = {
      {"double", "1e-13"}, {"float", "0.05"}, {"half", "0.05"}, {"bfloat16", "0.4"}};
  for (const auto& [type, plans] : plans_of_types)
    for (const std::string& plan : plans)
      expect_host_product(folder, a, b, {"--plan", plan, "--type", type}, tolerances.at(type));
}

TEST(MultiplyOnDevice, TakesEmptyMatricesAndSingleElements) {
  const std::vector<Arguments> plans = {{},
                                        {"--plan", "rows"},
                                        {"--plan", "dense"},
                                        {"--plan", "padded"},
                                        {"--plan", "window"},
                                        {"--type", "half"},
                                        {"--type", "half", "--plan", "window"},
                                        {"--type", "half", "--plan", "tiles"},
                                        {"--type", "float", "--plan", "tiles"},
                                        {"--type", "half", "--plan", "tca"}};
  for (const auto& [rows, inner, columns] :
       {std::array{1, 1, 1}, {1, 1, 2}, {3, 0, 2}, {0, 4, 3}, {4, 5, 0}}) {
    const Folder folder;
    const std::string a = sparse(folder, rows, inner, Draw::whole, 1), b = dense(folder, inner, columns);
    for (const Arguments& plan : plans) expect_host_product(folder, a, b, plan);
  }
  // No entry at all.
  const Folder folder;
  const std::string a = folder.put("a.mtx", "%%MatrixMarket matrix coordinate real general\n5 6 0\n");
  for (const Arguments& plan : plans) expect_host_product(folder, a, dense(folder, 6, 3), plan);
}

TEST(MultiplyOnDevice, MultipliesByAVectorWhereBHasOneColumn) {
  const Folder folder;
  const std::string a = sparse(folder, 300, 120), b = dense(folder, 120, 1);
  for (const std::string type : {"double", "float", "half", "bfloat16"})
    EXPECT_EQ(expect_host_product(folder, a, b, {"--type", type})["C"]["kernel"], "SpMV by tiles");
  EXPECT_EQ(expect_host_product(folder, a, b, {"--plan", "rows"})["C"]["kernel"], "SpMM by groups of lanes");
}

TEST(MultiplyOnDevice, MultipliesTwoSparseMatrices) {
  {
    const Folder folder;
    const std::string a = sparse(folder, 90, 90);
    EXPECT_EQ(expect_host_product(folder, a, a, {"--repeats", "3"})["C"]["repeats"], 3);
  }
  {
    const Folder folder;
    const std::string a = folder.put("a.mtx", "%%MatrixMarket matrix coordinate real general\n4 4 0\n");
    expect_host_product(folder, a, a, {});
  }
  for (const std::string name : {"west0497.mtx", "bcsstk16.mtx.gz"})
    EXPECT_EQ(report({"multiply", example_data(name), example_data(name), "--space", "cuda",
                      "--verify"})["checks"]["holds"],
              true)
        << name;
}

TEST(MultiplyOnDevice, MultipliesPrunedMatricesOnSparseTensorCores) {
  const Folder folder;
  const std::string whole = sparse(folder, 64, 128, Draw::whole, 1), b = dense(folder, 128, 32);
  const Arguments plan = {"--plan", "2:4", "--type", "half"};
  Arguments arguments = {"multiply", whole, b, "--space", "cuda"};
  arguments.insert(arguments.end(), plan.begin(), plan.end());
  expect_refused(arguments, "--plan 2:4: ", "`sporos prune` keeps the largest of each four");
  const std::string a = folder.file("pruned.mtx");
  expect_done({"prune", whole, a});
  EXPECT_EQ(expect_host_product(folder, a, b, plan)["C"]["kernel"], "2:4 product on sparse tensor cores");
  expect_host_product(folder, a, b, {"--plan", "2:4", "--type", "bfloat16"});
}

TEST(MultiplyOnDevice, MultipliesPrunedMatricesByTheirWindows) {
  struct Pruning {
    std::string plan, keep, unit;
  };
  for (const auto& [plan, keep, unit] : {Pruning{"1:4", "1:4", "1"},
                                         {"2:8", "2:8", "1"},
                                         {"4:32/32", "4:32", "32"},
                                         {"8:32/32", "8:32", "32"},
                                         {"16:32/32", "16:32", "32"}}) {
    const Folder folder;
    // Neither whole windows nor whole units.
    const std::string whole = sparse(folder, 70, 133, Draw::whole, 1), b = dense(folder, 133, 37);
    expect_refused(
        {"multiply", whole, b, "--space", "cuda", "--plan", plan}, "--plan " + plan + ": ",
        "`sporos prune --keep " + keep + (unit == "1" ? "" : " --unit " + unit) + "` keeps the largest");
    const std::string a = folder.file("pruned.mtx");
    expect_done({"prune", whole, a, "--keep", keep, "--unit", unit});
    for (const std::string type : {"double", "float", "half", "bfloat16"}) {
      const Json done = expect_host_product(folder, a, b, {"--plan", plan, "--type", type});
      EXPECT_EQ(done["C"]["plan"], plan);
      EXPECT_EQ(done["C"]["kernel"].get<std::string>().rfind("N:M product by ", 0), 0U) << done;
    }
  }
  for (const auto& [rows, inner, columns] : {std::array{1, 1, 1}, {3, 0, 2}, {0, 4, 3}, {4, 5, 0}}) {
    const Folder folder;
    const std::string a = sparse(folder, rows, inner, Draw::whole, 1), b = dense(folder, inner, columns);
    expect_host_product(folder, a, b, {"--plan", inner > 1 ? "16:32/32" : "1:4"});
  }
}

TEST(MultiplyOnDevice, RoundsProductsByWindowsAsTheBoundSays) {
  const Folder folder;
  const std::string whole = sparse(folder, 200, 500, Draw::any, 1), b = dense(folder, 500, 24, Draw::any);
  const std::string a = folder.file("pruned.mtx");
  expect_done({"prune", whole, a, "--keep", "8:32", "--unit", "32"});
  for (const auto& [type, tolerance] : {std::array<std::string, 2>{"double", "1e-13"},
                                        {"float", "1e-4"},
                                        {"half", "0.05"},
                                        {"bfloat16", "0.4"}})
    expect_host_product(folder, a, b, {"--plan", "8:32/32", "--type", type}, tolerance);
}

TEST(MultiplyOnDevice, SaysWhyAPlanDoesNotTakeTheOperands) {
  const Folder folder;
  const std::string a = sparse(folder, 40, 30), b = dense(folder, 30, 8);
  const auto refused = [&](const std::string& second, const Arguments& options, const std::string& reason) {
    Arguments arguments = {"multiply", a, second, "--space", "cuda"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    expect_refused(arguments, reason);
  };
  refused(b, {"--plan", "window", "--type", "float"},
          "--plan window: SpMM by windows of rows on tensor cores does not take values of type float");
  refused(b, {"--plan", "tiles"},
          "--plan tiles: SpMM by tiles on tensor cores does not take values of type double");
  refused(b, {"--plan", "tca"}, "--plan tca: SpMM by dot products on tensor cores does not take values");
  refused(b, {"--plan", "2:4"}, "--plan 2:4 does not take values of type double");
  const std::string c = folder.put("c.mtx", "%%MatrixMarket matrix coordinate real general\n30 2 1\n1 1 1\n");
  refused(c, {"--plan", "rows"}, "is sparse, and two sparse matrices are multiplied by one kernel");
  refused(c, {"--type", "half"}, "is sparse, and two sparse matrices are multiplied as doubles");
  refused(c, {"--order", "kij"}, "--order and --workspace are for loops on the host");
  const std::string large = folder.put(
      "d.mtx", "%%MatrixMarket matrix array real general\n30 1\n" + [] {
        std::string lines;
        for (int at = 0; at < 30; ++at) lines += "1e6\n";
        return lines;
      }());
  refused(large, {"--type", "half"}, "the value 1e+06 of B is too large for --type half");
  // By types it fits, but not by its size: 33 x 33 tiles.
  const std::string wide =
      folder.put("e.mtx", "%%MatrixMarket matrix coordinate real general\n4224 2112 1\n1 1 1\n");
  const std::string tall = dense(folder, 2112, 1);
  expect_refused(
      {"multiply", wide, tall, "--space", "cuda", "--type", "half", "--plan", "tiles"},
      "--plan tiles: SpMM by tiles on tensor cores does not take these matrices: the sparse operand has "
      "too few nonzeros");
}

TEST(ExplainOnDevice, SaysWhatTheGpuWillDoAndHowLongItTakes) {
  for (const std::string name : {"spmv", "spmm", "spgemm"}) {
    const Json done = report({"explain", name, "--space", "cuda"});
    const auto said = done["explanation"].get<std::string>();
    EXPECT_NE(said.find(" on Cuda"), std::string::npos) << done;
    EXPECT_NE(said.find("run by " + done["kernel"].get<std::string>()), std::string::npos) << done;
    EXPECT_NE(done["kernel"], "");
    EXPECT_GT(done["expected_seconds"], 0.0);
    EXPECT_FALSE(done.contains("plans"));
  }
  const Json done = report({"explain", "spmm", "--space", "cuda", "--type", "half", "--columns", "64",
                            "--file", example_data("west0497.mtx"), "--repeats", "3"});
  Arguments plans;
  for (const Json& row : done["plans"]) {
    plans.push_back(row["plan"]);
    EXPECT_GT(row["seconds"], 0.0) << row;
    EXPECT_GT(row["expected_seconds"], 0.0) << row;
  }
  EXPECT_EQ(plans, (Arguments{"auto", "rows", "padded", "window", "tiles", "tca", "dense"}));
  EXPECT_EQ(done["refused"][0]["plan"], "2:4");
  expect_refused({"explain", "sddmm", "--space", "cuda"}, "on the GPU, explain knows spmv, spmm and spgemm");
  expect_refused({"explain", "spmv", "--space", "cuda", "--plan", "rows"}, "--plan is for spmm");
}

TEST(NoDevice, IsAnErrorOfOneLine) {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  const std::string path = example_data("LFAT5.mtx");
  expect_refused({"multiply", path, path, "--space", "cuda"}, "no GPU runs it");
  expect_refused({"info", path}, "this program was built with CUDA, and no GPU runs it");
  unsetenv("CUDA_VISIBLE_DEVICES");
}

}  // namespace

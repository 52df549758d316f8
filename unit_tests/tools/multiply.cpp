// SPDX-License-Identifier: Apache-2.0
/// @file multiply.cpp
/// `sporos multiply`: in each loop order, compared with a dense product formed here.
#include <cmath>
#include <complex>
#include <random>

#include "plain_text.hpp"
#include "tool.hpp"

namespace {

using namespace sporos_test;

const Arguments orders = {"ikj", "kij", "ijk", "jki", "kji", "jik"};

/// A dense matrix, and how many terms each element is the sum of.
template <class Value>
struct Dense {
  std::size_t rows, columns;
  std::vector<Value> values;
  std::vector<int> terms;

  Dense(std::size_t rows, std::size_t columns)
      : rows(rows), columns(columns), values(rows * columns), terms(rows * columns) {}
};

double number(const std::string& text, double) { return std::strtod(text.c_str(), nullptr); }
std::complex<double> number(const std::string& text, std::complex<double>) {
  char* rest = nullptr;
  const double re = std::strtod(text.c_str(), &rest);
  return {re, std::strtod(rest, nullptr)};
}

template <class Value>
Dense<Value> dense(const PlainText& file) {
  Dense<Value> out(static_cast<std::size_t>(file.extents[0]), static_cast<std::size_t>(file.extents[1]));
  for (const auto& [at, text] : file.entries) {
    const auto place =
        static_cast<std::size_t>(at[0] - 1) * out.columns + static_cast<std::size_t>(at[1] - 1);
    out.values[place] = text.empty() ? Value(1) : number(text, Value());
    out.terms[place] = 1;
  }
  return out;
}

template <class Value>
Dense<Value> product(const Dense<Value>& A, const Dense<Value>& B) {
  Dense<Value> C(A.rows, B.columns);
  for (std::size_t i = 0; i < A.rows; ++i)
    for (std::size_t k = 0; k < A.columns; ++k) {
      if (!A.terms[i * A.columns + k]) continue;
      for (std::size_t j = 0; j < B.columns; ++j) {
        C.values[i * C.columns + j] += A.values[i * A.columns + k] * B.values[k * B.columns + j];
        C.terms[i * C.columns + j] += B.terms[k * B.columns + j];
      }
    }
  return C;
}

/// The file holds the elements that have a term, and no other, each within `tolerance`.
template <class Value>
void expect_holds(const PlainText& file, const Dense<Value>& expected, double tolerance = 0) {
  std::size_t with_terms = 0;
  for (const int terms : expected.terms) with_terms += terms > 0;
  EXPECT_EQ(file.entries.size(), with_terms);
  for (const auto& [at, text] : file.entries) {
    const auto place =
        static_cast<std::size_t>(at[0] - 1) * expected.columns + static_cast<std::size_t>(at[1] - 1);
    ASSERT_GT(expected.terms[place], 0) << at[0] << ' ' << at[1];
    ASSERT_LE(std::abs(number(text, Value()) - expected.values[place]), tolerance) << at[0] << ' ' << at[1];
  }
}

/// A random matrix of small whole numbers, whose products are exact; some rows are empty.
std::string whole_matrix(const Folder& folder, const std::string& name, const std::string& field, int rows,
                         int columns, unsigned seed) {
  std::mt19937 random(seed);
  std::string lines;
  int count = 0;
  for (int i = 1; i <= rows; ++i)
    for (int j = 1; j <= columns; ++j) {
      if (i % 7 == 3 || random() % 5 != 0) continue;
      ++count;
      lines += std::to_string(i) + ' ' + std::to_string(j);
      const int parts = field == "pattern" ? 0 : field == "complex" ? 2 : 1;
      for (int part = 0; part < parts; ++part)
        lines += ' ' + std::to_string(static_cast<int>(random() % 9) - 4);
      lines += '\n';
    }
  return folder.put(name, "%%MatrixMarket matrix coordinate " + field + " general\n" + std::to_string(rows) +
                              ' ' + std::to_string(columns) + ' ' + std::to_string(count) + '\n' + lines);
}

TEST(Multiply, IsTheDenseProductInEveryLoopOrder) {
  const Folder folder;
  const std::string a = whole_matrix(folder, "a.mtx", "real", 31, 23, 1);
  const std::string b = whole_matrix(folder, "b.mtx", "real", 23, 40, 2);
  const auto expected = product(dense<double>(plain_mtx(a)), dense<double>(plain_mtx(b)));
  for (const std::string& order : orders) {
    SCOPED_TRACE(order);
    const Json done = report({"multiply", a, b, "-o", folder.file("c.mtx"), "--order", order, "--verify"});
    EXPECT_EQ(done["C"]["loop_order"], order);
    EXPECT_EQ(done["C"]["extents"], Json({31, 40}));
    EXPECT_EQ(done["checks"]["holds"], true);
    EXPECT_EQ(done["checks"]["compared"], done["C"]["nonzeros"]);
    expect_holds(plain_mtx(folder.file("c.mtx")), expected);
  }
}

TEST(Multiply, TakesOperandsAsTheLoopOrderWantsThem) {
  const std::map<std::string, Json> formats = {
      {"ikj", {"CSR", "CSR", "CSR"}}, {"kij", {"CSC", "CSR", "CSR"}}, {"ijk", {"CSR", "CSC", "CSR"}},
      {"jki", {"CSC", "CSC", "CSC"}}, {"kji", {"CSC", "CSR", "CSC"}}, {"jik", {"CSR", "CSC", "CSC"}}};
  for (const auto& [order, expected] : formats) {
    const Json done =
        report({"multiply", example_data("LFAT5.mtx"), example_data("LFAT5.mtx"), "--order", order});
    EXPECT_EQ(Json({done["A"]["format"], done["B"]["format"], done["C"]["format"]}), expected) << order;
  }
}

TEST(Multiply, SquaresARealMatrixInEveryLoopOrder) {
  const Folder folder;
  const std::string path = example_data("west0497.mtx");
  const auto A = dense<double>(plain_mtx(path));
  const auto expected = product(A, A);
  double largest = 0;
  for (const double value : A.values) largest = std::max(largest, std::abs(value));
  const double bound = 497 * 0x1p-52 * largest * largest;
  std::int64_t multiplications = 0;
  for (const int terms : expected.terms) multiplications += terms;
  for (const std::string& order : orders) {
    SCOPED_TRACE(order);
    const Json done =
        report({"multiply", path, path, "-o", folder.file("c.mtx"), "--order", order, "--verify"});
    EXPECT_EQ(done["checks"]["holds"], true);
    EXPECT_EQ(done["C"]["multiplications"], multiplications);
    expect_holds(plain_mtx(folder.file("c.mtx")), expected, bound);
  }
}

TEST(Multiply, GathersInTheWorkspaceThatIsAskedFor) {
  const Folder folder;
  const std::string a = whole_matrix(folder, "a.mtx", "real", 31, 23, 1);
  const std::string b = whole_matrix(folder, "b.mtx", "real", 23, 40, 2);
  const auto expected = product(dense<double>(plain_mtx(a)), dense<double>(plain_mtx(b)));
  const std::vector<std::pair<std::string, Arguments>> choices = {{"ikj", {"auto", "dense", "coordinate"}},
                                                                  {"jki", {"auto", "dense", "coordinate"}},
                                                                  {"kij", {"auto", "coordinate"}},
                                                                  {"kji", {"auto", "coordinate"}},
                                                                  {"ijk", {"auto"}},
                                                                  {"jik", {"auto"}}};
  for (const auto& [order, workspaces] : choices)
    for (const std::string workspace : {"auto", "dense", "coordinate"}) {
      SCOPED_TRACE(order + " " + workspace);
      const Arguments arguments = {
          "multiply",           a,         b, "--order", order, "--workspace", workspace, "-o",
          folder.file("c.mtx"), "--verify"};
      if (std::count(workspaces.begin(), workspaces.end(), workspace) == 0) {
        expect_refused(arguments, "--workspace " + workspace + " does not go with the order " + order);
        continue;
      }
      const Json done = report(arguments);
      EXPECT_EQ(done["C"]["workspace"], workspace);
      EXPECT_EQ(done["checks"]["holds"], true);
      expect_holds(plain_mtx(folder.file("c.mtx")), expected);
    }
  expect_refused({"multiply", a, b, "--workspace", "hash"},
                 "no workspace is called hash; expected auto, dense or coordinate");
}

TEST(Multiply, VerifiesTheSquaresOfTheExamples) {
  for (const std::string name : {"bcsstk16.mtx.gz", "ash292.mtx", "mhd1280b.mtx.gz", "cora.mtx.gz",
                                 "plsk1919.mtx.gz", "transformer_attention_q_0.98.smtx"}) {
    const Json done = report({"multiply", example_data(name), example_data(name), "--verify"});
    EXPECT_EQ(done["checks"]["holds"], true) << name;
    EXPECT_EQ(done["checks"]["missing"], 0) << name;
    EXPECT_LE(done["checks"]["largest_part_of_bound"], 1.0) << name;
    EXPECT_EQ(done["checks"]["compared"], done["C"]["nonzeros"]) << name;
  }
}

TEST(Multiply, MultipliesComplexMatrices) {
  const Folder folder;
  const std::string a = whole_matrix(folder, "a.mtx", "complex", 12, 9, 3);
  const std::string b = whole_matrix(folder, "b.mtx", "complex", 9, 15, 4);
  using Complex = std::complex<double>;
  const auto expected = product(dense<Complex>(plain_mtx(a)), dense<Complex>(plain_mtx(b)));
  for (const std::string& order : orders) {
    const Json done = report({"multiply", a, b, "-o", folder.file("c.mtx"), "--order", order, "--verify"});
    EXPECT_EQ(done["checks"]["holds"], true) << order;
    expect_holds(plain_mtx(folder.file("c.mtx")), expected);
  }
  // A real factor takes part as what it is.
  const std::string r = whole_matrix(folder, "r.mtx", "real", 9, 5, 5);
  expect_done({"multiply", a, r, "-o", folder.file("c.mtx")});
  expect_holds(plain_mtx(folder.file("c.mtx")),
               product(dense<Complex>(plain_mtx(a)), dense<Complex>(plain_mtx(r))));
}

TEST(Multiply, OfIntegersAndPatternsIsInteger) {
  const Folder folder;
  const std::string a = whole_matrix(folder, "a.mtx", "integer", 14, 20, 6);
  const std::string b = whole_matrix(folder, "b.mtx", "pattern", 20, 11, 7);
  expect_done({"multiply", a, b, "-o", folder.file("c.mtx")});
  const PlainText C = plain_mtx(folder.file("c.mtx"));
  EXPECT_EQ(C.banner, "%%MatrixMarket matrix coordinate integer general");
  expect_holds(C, product(dense<double>(plain_mtx(a)), dense<double>(plain_mtx(b))));
}

TEST(Multiply, RefusesIntegersThatADoubleDoesNotHold) {
  const Folder folder;
  const std::string a =
      folder.put("a.mtx", "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 9007199254740993\n");
  expect_refused({"multiply", a, a}, "the value 9007199254740993 is too large");
}

TEST(Multiply, IsTheSameForAnyNumberOfThreads) {
  const Folder folder;
  const std::string path = example_data("bcsstk16.mtx.gz");
  for (const std::string threads : {"1", "2", "3"})
    expect_done({"multiply", path, path, "-o", folder.file(threads + ".mtx"), "--threads", threads});
  EXPECT_EQ(content(folder.file("1.mtx")), content(folder.file("2.mtx")));
  EXPECT_EQ(content(folder.file("1.mtx")), content(folder.file("3.mtx")));
}

TEST(Multiply, TakesMatricesOfExtentZeroAndOne) {
  const Folder folder;
  const std::string head = "%%MatrixMarket matrix coordinate real general\n";
  const std::string tall = folder.put("tall.mtx", head + "3 0 0\n"),
                    flat = folder.put("flat.mtx", head + "0 2 0\n");
  const std::string row = folder.put("row.mtx", head + "1 3 2\n1 1 2\n1 3 5\n");
  const std::string column = folder.put("column.mtx", head + "3 1 2\n1 1 10\n3 1 -1\n");
  for (const std::string& order : orders) {
    SCOPED_TRACE(order);
    const Json empty = report({"multiply", tall, flat, "--order", order, "--verify"});
    EXPECT_EQ(empty["C"]["extents"], Json({3, 2}));
    EXPECT_EQ(empty["C"]["nonzeros"], 0);
    expect_done({"multiply", row, column, "--order", order, "-o", folder.file("c.mtx")});
    EXPECT_EQ(plain_mtx(folder.file("c.mtx")).entries, (std::map<Coordinate, std::string>{{{1, 1}, "15"}}));
    EXPECT_EQ(report({"multiply", column, row, "--order", order})["C"]["nonzeros"], 4);
  }
}

TEST(Multiply, LosesNoValuesInFilesThatHoldNone) {
  const Folder folder;
  const std::string head = "%%MatrixMarket matrix coordinate pattern general\n";
  const std::string turned = folder.put("a.mtx", head + "2 2 2\n1 2\n2 1\n"),
                    all = folder.put("b.mtx", head + "2 2 4\n1 1\n1 2\n2 1\n2 2\n");
  expect_done({"multiply", turned, turned, "-o", folder.file("c.smtx")});
  EXPECT_EQ(content(folder.file("c.smtx")), "2, 2, 2\n0 1 2\n0 1\n");
  expect_refused({"multiply", all, all, "-o", folder.file("d.smtx")},
                 "a .smtx file has no values, and 2 is to be written");
  EXPECT_FALSE(std::filesystem::exists(folder.file("d.smtx")));
}

TEST(Multiply, RunsAsOftenAsAsked) {
  const Json done =
      report({"multiply", example_data("LFAT5.mtx"), example_data("LFAT5.mtx"), "--repeats", "5"});
  EXPECT_EQ(done["C"]["repeats"], 5);
  EXPECT_LE(done["C"]["fastest_seconds"], done["C"]["seconds"]);
}

TEST(Multiply, RefusesExtentsThatDoNotMeet) {
  const Folder folder;
  expect_refused(
      {"multiply", example_data("west0497.mtx"), example_data("LFAT5.mtx"), "-o", folder.file("c.mtx")},
      "the columns of the first, 497, must be as many as the rows of the second, 14");
  expect_refused({"multiply", example_data("west0497.mtx"), example_data("aminoacid.tns.gz")},
                 "holds a tensor of order 3, expected a matrix");
  expect_refused({"multiply", example_data("west0497.mtx"), example_data("west0497.mtx"), "--order", "iijk"},
                 "no loop order iijk; expected ikj, kij, ijk, jki, kji or jik");
  EXPECT_TRUE(folder.names().empty());
}

TEST(Multiply, RunsOnTheHostUnlessAskedOtherwise) {
  const std::string path = example_data("LFAT5.mtx");
  const Json plain = report({"multiply", path, path}),
             host = report({"multiply", path, path, "--space", "host"});
  EXPECT_EQ(plain["C"]["nonzeros"], host["C"]["nonzeros"]);
  EXPECT_EQ(keys(plain["C"]), keys(host["C"]));
}

TEST(Multiply, RefusesSpacesPlansAndTypesThatItHasNot) {
  const std::string path = example_data("LFAT5.mtx");
  const auto refused = [&](const Arguments& options, const std::string& reason) {
    Arguments arguments = {"multiply", path, path};
    arguments.insert(arguments.end(), options.begin(), options.end());
    expect_refused(arguments, reason);
  };
  refused({"--space", "gpu"}, "no space is called gpu; expected host or cuda");
  refused({"--space", "cuda"}, "--space cuda: this program was built without CUDA; scripts/bootstrap --cuda");
  refused({"--space", "cuda", "--plan", "csr"},
          "no plan is called csr; expected auto, rows, padded, window, tiles, tca, dense, 2:4, 1:4, 2:8, "
          "4:32/32, "
          "8:32/32 or 16:32/32");
  refused({"--space", "cuda", "--plan", "3:8"}, "no plan is called 3:8; expected auto, rows");
  for (const std::string plan :
       {"padded", "window", "tiles", "1:4", "2:8", "4:32/32", "8:32/32", "16:32/32"}) {
    refused({"--space", "cuda", "--plan", plan}, "--space cuda: this program was built without CUDA");
    refused({"--plan", plan}, "they go with --space cuda");
  }
  refused({"--space", "cuda", "--type", "int"},
          "no type of value is called int; expected double, float, half or bfloat16");
  refused({"--plan", "rows"},
          "--plan and --type say what the GPU multiplies, and how: they go with --space cuda");
  refused({"--type", "half", "--space", "host"}, "they go with --space cuda");
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
/// @file edge_list.cpp
/// Edge lists and CSV files: what is read, and the file, line and column of what is not.
#include <sporos/formats/io/file.hpp>

#include "files.hpp"

namespace {
namespace edge_list_tests {

using namespace sporos;
using namespace sporos_test;

Entries<double, 2> edges(const std::string& text, const ReadOptions& options = {}) {
  const Folder folder;
  return read_edge_list_entries<double>(folder.put("a.csv", text), options);
}

Entries<double, 2> weighted() { return {{3, 3}, {{{0, 1}, 0.5}, {{2, 0}, -3.0}}}; }
Entries<double, 2> unweighted() { return {{3, 3}, {{{0, 1}, 1.0}, {{2, 0}, 1.0}}}; }

TEST(EdgeList, ReadsAnySeparatorAndComments) {
  for (const std::string text :
       {"0 1 0.5\n2 0 -3\n", "0,1,0.5\n2,0,-3", "0\t1\t0.5\r\n2\t0\t-3\r\n", " 0 , 1 ,\t0.5 \n\n2,0,-3\n",
        "# graph\n% graph\n0 1 0.5\n# more\n2 0 -3\n", "source,target,weight\n0,1,0.5\n2,0,-3\n",
        "# c\n\"from\" \"to\" \"w\"\n0 1 0.5\n2 0 -3\n"})
    EXPECT_TRUE(identical(edges(text), weighted())) << text;
  for (const std::string text : {"0 1\n2 0\n", "0,1\n2,0\n", "a,b\n0,1\n2,0\n"})
    EXPECT_TRUE(identical(edges(text), unweighted())) << text;
}

TEST(EdgeList, CountsFromOneWhereItIsTold) {
  ReadOptions options;
  options.first_node = 1;
  EXPECT_TRUE(identical(edges("1 2 0.5\n3 1 -3\n", options), weighted()));
}

TEST(EdgeList, IsSquareUnlessItIsBipartite) {
  ReadOptions options;
  EXPECT_EQ(edges("0 6\n2 1\n", options).extents, (Extents<2>{7, 7}));
  options.bipartite = true;
  EXPECT_EQ(edges("0 6\n2 1\n", options).extents, (Extents<2>{3, 7}));
}

TEST(EdgeList, ReadsTheSameWithAnyNumberOfThreads) {
  std::string text = "from,to,weight\n";
  Entries<double, 2> expected({1001, 1001}, 1000);
  for (std::int64_t q = 0; q < 1000; ++q) {
    text += std::to_string(q + 1) + ',' + std::to_string(q * 7919 % 1001) + ',' + std::to_string(q) + ".5\n";
    expected.set(q, {q + 1, q * 7919 % 1001}, static_cast<double>(q) + 0.5);
  }
  const Folder folder;
  for (const std::string& path : {folder.put("a.csv", text), folder.put("a.csv.gz", gzip(text))})
    for (const int threads : {1, 4}) {
      ReadOptions options;
      options.threads = threads;
      options.block_bytes = 1;
      EXPECT_TRUE(identical(read_entries<double, 2>(path, options), expected));
    }
}

TEST(EdgeList, ReadsValuesOfOtherTypes) {
  const Folder folder;
  const std::string path = folder.put("a.edges", "0 1 2\n1,0,300\n");
  EXPECT_TRUE(
      identical(read_edge_list_entries<std::int16_t>(path),
                Entries<std::int16_t, 2>({2, 2}, {{{0, 1}, std::int16_t{2}}, {{1, 0}, std::int16_t{300}}})));
  using Complex = Kokkos::complex<double>;
  EXPECT_TRUE(identical(read_edge_list_entries<Complex>(path),
                        Entries<Complex, 2>({2, 2}, {{{0, 1}, {2, 0}}, {{1, 0}, {300, 0}}})));
  expect_parse_error(path, 2, "column 3: found '300', which uint8 cannot hold",
                     [&] { read_edge_list_entries<std::uint8_t>(path); });
}

void expect_fault(const std::string& text, std::int64_t line, const std::string& reason,
                  std::int64_t first_node = 0) {
  const Folder folder;
  const std::string path = folder.put("a.csv", text);
  for (const int threads : {1, 3}) {
    ReadOptions options;
    options.threads = threads;
    options.block_bytes = 1;
    options.first_node = first_node;
    expect_parse_error(path, line, reason, [&] { read_edge_list_entries<double>(path, options); });
  }
}

TEST(EdgeList, NamesLineAndColumnOfWhatIsWrong) {
  expect_fault("", 0, "the file is empty");
  expect_fault("# nothing\na,b\n", 2, "the file ends before its first edge");
  expect_fault("7\n", 1, "found 1 column, expected a row, a column and possibly a value");
  expect_fault("1 2 3 4\n", 1, "found 4 columns");
  expect_fault("a,b,c\n1,2\n", 2, "found 2 columns, expected 3, one under each name");
  expect_fault("a,b\nc,d\n", 2, "column 1: found 'c', expected a row");
  expect_fault("0,1\n1,2,5\n", 2, "found 3 columns, expected 2, as the first edge has");
  expect_fault("0,1,2\n\n1,2\n", 3, "found 2 columns, expected 3");
  expect_fault("0,1,2\n1,,2\n", 2, "column 2: found nothing, expected a column");
  expect_fault("0,1,2\n1,2,\n", 2, "column 3: found nothing, expected a real number");
  expect_fault("0,1,2\n1,2,x\n", 2, "column 3: found 'x', expected a real number");
  expect_fault("0,1,2\n1.5,2,1\n", 2, "column 1: found '1.5', expected a row, an integer from 0");
  expect_fault("0 1\n-1 2\n", 2, "column 1: found '-1'");
  expect_fault("1 2\n1 0\n", 2, "column 2 is 0, expected a column, an integer from 1", 1);
  expect_fault("0 9223372036854775807\n", 1, "column 2 is 9223372036854775807");
  expect_fault("0 99999999999999999999\n", 1, "column 2: found '99999999999999999999'");
  expect_fault("0 1 1e999\n", 1, "column 3: '1e999' is too large for double");
}

TEST(EdgeList, IsToldByItsNameOrByTheReader) {
  const Folder folder;
  for (const std::string name : {"a.csv", "a.TSV", "a.edges.gz", "a.el", "a.wel", "a.edgelist"}) {
    const FileInfo info = inspect(folder.put(name, "0 1 0.5\n2 0 -3\n"));
    EXPECT_EQ(info.kind, FileKind::edges) << name;
    EXPECT_EQ(info.field, MatrixMarketField::real);
    EXPECT_EQ(info.order, 2);
  }
  EXPECT_EQ(inspect(folder.put("b.csv", "0 1\n")).field, MatrixMarketField::pattern);
  // What a Matrix Market file says of itself is believed, whatever it is called.
  EXPECT_EQ(inspect(folder.put("c.csv", "%%MatrixMarket matrix coordinate real general\n1 1 0\n")).kind,
            FileKind::matrix_market);
  const std::string path = folder.put("graph.txt", "0 1 0.5\n2 0 -3\n");
  EXPECT_EQ(inspect(path).kind, FileKind::tns);
  ReadOptions options;
  options.kind = FileKind::edges;
  EXPECT_EQ(inspect(path, options).kind, FileKind::edges);
  EXPECT_TRUE(identical(read_entries<double, 2>(path, options), weighted()));
}

/// A stream that is read once, in small portions, and says no size: what a pipe is.
class Drops final : public io::ByteStream {
 public:
  explicit Drops(std::string bytes) : bytes_(std::move(bytes)) {}
  std::size_t read(char* out, std::size_t room) override {
    const std::size_t count = std::min({room, std::size_t{5}, bytes_.size() - at_});
    std::memcpy(out, bytes_.data() + at_, count);
    at_ += count;
    return count;
  }
  std::int64_t taken() const override { return static_cast<std::int64_t>(at_); }
  std::int64_t total() const override { return 0; }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

TEST(FileSource, LooksAtAPipeBeforeItReadsIt) {
  const std::string mtx = "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 0.5\n3 1 -3\n";
  for (const std::string& text : {mtx, std::string("0,1,0.5\n2,0,-3\n"), gzip(mtx)}) {
    io::PipeSource pipe(std::make_unique<Drops>(text), "a.csv");
    EXPECT_EQ(inspect(pipe).order, 2);
    EXPECT_EQ(inspect(pipe).order, 2);
    EXPECT_TRUE(identical(read_entries<double, 2>(pipe), weighted()));
  }
}

}  // namespace edge_list_tests
}  // namespace

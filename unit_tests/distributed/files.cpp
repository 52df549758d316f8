// SPDX-License-Identifier: Apache-2.0
/// @file files.cpp
/// One file read and written by all ranks.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sporos/distributed/distributed.hpp>
#include <string>
#include <vector>

#include "ranks.hpp"

namespace sporos::test {
namespace {

/// A file for all ranks, which rank 0 writes and removes.
class SharedText {
 public:
  SharedText(const std::string& suffix, const std::string& text) {
    std::int64_t number = static_cast<std::int64_t>(::getpid());
    world().broadcast(&number, 1, 0);
    path_ =
        (std::filesystem::temp_directory_path() / ("sporos_distributed_" + std::to_string(number) + suffix))
            .string();
    if (world().rank() == 0 && !text.empty()) std::ofstream(path_) << text;
    world().barrier();
  }
  ~SharedText() {
    world().barrier();
    if (world().rank() == 0) std::remove(path_.c_str());
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Expects that all ranks together read what one process reads.
template <class F>
void expect_read_alike(const std::string& path) {
  const auto whole = read<F>(path);
  for (int mode = 0; mode < F::order; ++mode) {
    const auto A = read<F>(world(), path, mode);
    EXPECT_TRUE(holds(A, whole)) << path;
  }
}

std::string data(const std::string& name) { return std::string(SPOROS_EXAMPLE_DATA) + "/" + name; }

TEST(DistributedFiles, AreReadByRangesOfBytes) {
  expect_read_alike<CSR<>>(data("west0497.mtx"));
  expect_read_alike<CSF<3>>(data("aminoacid.tns.gz"));  // gzip: by rank 0
  const SharedText symmetric(
      ".mtx",
      "%%MatrixMarket matrix coordinate real symmetric\n% a comment\n4 4 5\n1 1 1\n2 1 2\n\n"
      "% another\n3 2 3.5\n4 4 -1\n4 1 7\n");
  expect_read_alike<CSR<>>(symmetric.path());
  const SharedText pattern("_pattern.mtx",
                           "%%MatrixMarket matrix coordinate pattern general\n3 9 3\n1 9\n2 2\n3 1");
  expect_read_alike<CSR<>>(pattern.path());
  const SharedText skew("_skew.mtx",
                        "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 4\n3 1 5\n");
  expect_read_alike<CSR<>>(skew.path());
  const SharedText array("_array.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n");
  expect_read_alike<CSR<>>(array.path());
  const SharedText tensor(".tns", "# a comment\n1 2 3 4.5\n2 1 1 1\n# more\n5 1 1 -2\n1 1 9 3");
  expect_read_alike<CSF<3>>(tensor.path());
  const SharedText empty("_empty.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 0\n");
  expect_read_alike<CSR<>>(empty.path());
  const SharedText no_end("_no_end.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 0");
  expect_read_alike<CSR<>>(no_end.path());
}

/// Expects that all ranks throw the same ParseError.
void expect_refused(const std::string& text, const std::string& part_of_message) {
  const SharedText file(".mtx", text);
  std::string message = "nothing was thrown";
  try {
    read<CSR<>>(world(), file.path());
  } catch (const ParseError& error) {
    message = error.what();
  }
  EXPECT_NE(message.find(part_of_message), std::string::npos) << message;
  const auto number = Signature(message).number();
  EXPECT_EQ(world().min(number), world().max(number)) << message;
}

TEST(DistributedFiles, ThatAreFaultyAreRefusedByAllRanksWithTheLine) {
  const std::string head = "%%MatrixMarket matrix coordinate real general\n";
  std::string many = head + "9 9 60\n";
  for (int line = 3; line < 63; ++line) many += line == 60 ? "10 1 1\n" : "1 1 1\n";
  expect_refused(many, ".mtx:60: row 10 is out of range");
  many.replace(many.find("1 1 1\n"), 5, "1 x 1");
  expect_refused(many, ".mtx:3: found 'x'");
  expect_refused(head + "2 2 3\n1 1 1\n2 2 2\n", "ends after 2 of the 3 entries");
  expect_refused(head + "2 2 1\n1 1 1\n2 2 2\n", ".mtx:4: more entries than the 1 that line 2 announces");
  std::string too_many = head + "9 9 20\n";
  for (int entry = 0; entry < 50; ++entry) too_many += entry % 5 == 0 ? "% a comment\n\n1 1 1\n" : "2 2 1\n";
  expect_refused(too_many, ".mtx:33: more entries than the 20 that line 2 announces");
  expect_refused("%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 1\n3 3 1\n1 2 1\n",
                 ".mtx:5: this entry and that of line 3 are mirror images: a symmetric file holds one");
  expect_refused("nonsense\n", "found 'nonsense'");
  EXPECT_THROW(read<CSR<>>(world(), "/no/such/file.mtx"), IoError);
}

/// What read_entries, of all ranks or of this one alone, says of a file.
template <class... Ranks>
std::string fault_of(const std::string& path, bool expand_symmetry, const Ranks&... ranks) {
  ReadOptions options;
  options.expand_symmetry = expand_symmetry;
  try {
    read_entries<double, 2>(ranks..., path, options);
  } catch (const ParseError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(DistributedFiles, WithMirrorImagesAreRefusedWithTheLinesThatOneProcessNames) {
  std::vector<std::string> lines;
  for (int entry = 0; entry < 24; ++entry) {
    const std::string at = std::to_string(entry + 7);
    lines.push_back(entry % 2 == 0 ? at + " 2 1\n" : "2 " + at + " 1\n");
    if (entry % 4 == 1) lines.back() += "% a comment\n\n";
  }
  lines.front() = "6 5 1\n";
  lines.back() = "5 6 1\n";
  for (std::size_t first = 0; first < lines.size(); first += 3)
    for (std::size_t second = first + 1; second < lines.size(); second += 5) {
      auto with_pair = lines;
      with_pair[first] = "3 5 1\n";
      with_pair[second] = "5 3 1\n";
      std::string text = "%%MatrixMarket matrix coordinate integer skew-symmetric\n%\n30 30 24\n";
      for (const auto& line : with_pair) text += line;
      const SharedText file(".mtx", text);
      const std::string of_one = fault_of(file.path(), true);
      EXPECT_NE(of_one.find("are mirror images"), std::string::npos) << of_one;
      for (const bool expand : {true, false}) {
        const std::string of_all = fault_of(file.path(), expand, world());
        EXPECT_TRUE(of_all.starts_with(of_one)) << of_all << '\n' << of_one;
      }
    }
}

TEST(DistributedFiles, AreWrittenByAllRanks) {
  const auto all = all_entries<2>({11, 7}, 0.4);
  const auto whole = assemble<CSR<>>(all);
  for (const std::string suffix : {".mtx", ".tns", ".mtx.gz"}) {
    const SharedText file(suffix, "");
    for (const auto& kind : distributions<2>(world(), {11, 7})) {
      write(file.path(), assemble<CSR<>>(kind, share(world(), all)));
      const auto A = read<CSR<>>(world(), file.path());
      EXPECT_TRUE(holds(A, whole)) << suffix << ' ' << kind.str();
    }
    EXPECT_FALSE(std::filesystem::exists(file.path() + ".part"));
  }
  const auto A = assemble<CSR<>>(Distribution<2>::blocks(world(), {11, 7}), share(world(), all));
  EXPECT_THROW(write("/no/such/folder/a.mtx", A), IoError);
  EXPECT_THROW(write("a.xyz", A), FormatError);
}

}  // namespace
}  // namespace sporos::test

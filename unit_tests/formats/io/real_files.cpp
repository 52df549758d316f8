// SPDX-License-Identifier: Apache-2.0
/// @file real_files.cpp
/// Real files are read as an obvious reader reads them, hold what they claim, and are written back equal in
/// every format that can hold them: those of examples/data, and those of the folder that SPOROS_DATA_DIR
/// names.
#include <algorithm>
#include <cctype>
#include <sporos/formats/io/file.hpp>
#include <tuple>

#include "files.hpp"

namespace {
namespace real_files_tests {

using namespace sporos;
using namespace sporos_test;
using Complex = Kokkos::complex<double>;

/// The lines of a file, plain or gzip, by zlib's own reader.
std::vector<std::string> lines_of(const std::string& path) {
  std::string text;
  char bytes[65536];
  const gzFile file = gzopen(path.c_str(), "rb");
  for (int count; (count = gzread(file, bytes, sizeof bytes)) > 0;)
    text.append(bytes, static_cast<std::size_t>(count));
  gzclose(file);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// An entry of any order: 0-based coordinates, real and imaginary part.
using Plain = std::tuple<std::vector<std::int64_t>, double, double>;

/// The stored entries of a file, the obvious way.
std::vector<Plain> obvious_read(const std::string& path, const FileInfo& info) {
  std::vector<Plain> entries;
  const std::vector<std::string> lines = lines_of(path);
  if (info.kind == FileKind::smtx) {
    const auto numbers = [](const std::string& line) {
      std::vector<std::int64_t> all;
      all.reserve(line.size() / 2 + 1);
      const char* p = line.c_str();
      for (char* stop = nullptr;; p = stop) {
        const std::int64_t number = std::strtoll(p, &stop, 10);
        if (stop == p) return all;
        all.push_back(number);
      }
    };
    const auto offsets = numbers(lines[1]), columns = numbers(lines[2]);
    entries.reserve(columns.size());
    for (std::size_t row = 0; row + 1 < offsets.size(); ++row)
      for (std::int64_t q = offsets[row]; q < offsets[row + 1]; ++q)
        entries.push_back({{static_cast<std::int64_t>(row), columns[static_cast<std::size_t>(q)]}, 1.0, 0.0});
    return entries;
  }
  const bool market = info.kind == FileKind::matrix_market;
  const bool pattern = market && info.matrix_market->field == MatrixMarketField::pattern;
  const bool complex = market && info.matrix_market->field == MatrixMarketField::complex;
  bool sizes = market;
  for (const std::string& line : lines) {
    if (line.empty() || line[0] == '%' || line[0] == '#') continue;
    if (std::exchange(sizes, false)) continue;
    char* p = const_cast<char*>(line.c_str());
    std::vector<std::int64_t> coordinates;
    coordinates.reserve(static_cast<std::size_t>(info.order));
    for (int mode = 0; mode < info.order; ++mode) coordinates.push_back(std::strtoll(p, &p, 10) - 1);
    const double real = pattern ? 1.0 : std::strtod(p, &p);
    entries.push_back({coordinates, real, complex ? std::strtod(p, &p) : 0.0});
  }
  return entries;
}

template <class Value, int Order>
std::vector<Plain> plain(const Entries<Value, Order>& entries) {
  std::vector<Plain> all;
  for (std::int64_t q = 0; q < entries.size(); ++q) {
    const auto at = entries.coordinate(q);
    const Value x = entries.values(static_cast<std::size_t>(q));
    if constexpr (is_complex_v<Value>)
      all.push_back({{at.begin(), at.end()}, x.real(), x.imag()});
    else
      all.push_back({{at.begin(), at.end()}, static_cast<double>(x), 0.0});
  }
  return all;
}

template <class Value, int Order>
void expect_true_copy(const std::string& path, const FileInfo& info) {
  ReadOptions as_stored;
  as_stored.expand_symmetry = false;
  const auto stored = read_entries<Value, Order>(path, as_stored);
  EXPECT_EQ(plain(stored), obvious_read(path, info));
  EXPECT_EQ(stored.size(), info.stored.value_or(stored.size()));
  const auto entries = read_entries<Value, Order>(path);
  for (std::size_t mode = 0; mode < entries.coordinates.size(); ++mode)
    for (std::size_t q = 0; q < entries.values.extent(0); ++q) {
      ASSERT_GE(entries.coordinates[mode](q), 0);
      ASSERT_LT(entries.coordinates[mode](q), entries.extents[mode]);
    }

  const Folder folder;
  for (const std::string suffix : {"", ".gz"}) {
    const std::string tensor = folder.file("a.tns" + suffix);
    write_tns(tensor, entries, {.gzip_level = 1});
    EXPECT_TRUE(identical(read_entries<Value, Order>(tensor), entries)) << "as .tns" << suffix;
    if constexpr (Order == 2) {
      MatrixMarketWriteOptions options{.gzip_level = 1};
      const std::string matrix = folder.file("a.mtx" + suffix);
      write_matrix_market(matrix, entries, options);
      EXPECT_TRUE(identical(read_entries<Value, 2>(matrix), entries)) << "as general .mtx" << suffix;
      if (info.matrix_market) {
        options.symmetry = info.matrix_market->symmetry;
        options.field = info.matrix_market->field;
        write_matrix_market(matrix, entries, options);
        EXPECT_TRUE(identical(read_entries<Value, 2>(matrix), entries))
            << "as .mtx" << suffix << " like the original";
        EXPECT_EQ(read_matrix_market_header(matrix).stored, info.matrix_market->stored);
      }
      if constexpr (std::same_as<Value, bool>) {
        const std::string rows = folder.file("a.smtx" + suffix);
        write_smtx(rows, entries, {.gzip_level = 1});
        const auto again = read_entries<bool, 2>(rows);
        EXPECT_EQ(again.extents, entries.extents);
        auto before = plain(entries), after = plain(again);
        if (info.kind != FileKind::smtx) {  // they come back row after row
          std::sort(before.begin(), before.end());
          std::sort(after.begin(), after.end());
        }
        EXPECT_EQ(before, after) << "as .smtx" << suffix;
      }
    }
  }
}

/// In the type that the file calls for.
void expect_true_copy(const std::string& path) {
  SCOPED_TRACE(path);
  const FileInfo info = inspect(path);
  if (info.kind == FileKind::smtx) return expect_true_copy<bool, 2>(path, info);
  if (info.kind == FileKind::matrix_market) {
    switch (info.matrix_market->field) {
      case MatrixMarketField::complex:
        return expect_true_copy<Complex, 2>(path, info);
      case MatrixMarketField::integer:
        return expect_true_copy<std::int64_t, 2>(path, info);
      case MatrixMarketField::pattern:
        return expect_true_copy<bool, 2>(path, info);
      default:
        return expect_true_copy<double, 2>(path, info);
    }
  }
  switch (info.order) {
    case 3:
      return expect_true_copy<double, 3>(path, info);
    case 4:
      return expect_true_copy<double, 4>(path, info);
    case 5:
      return expect_true_copy<double, 5>(path, info);
    default:
      FAIL() << "no order that this test knows: " << info.order;
  }
}

/// The files that are named like matrices and tensors, in the examples and in the user's folder.
std::vector<std::string> real_files() {
  std::vector<std::string> folders = {example_data()}, files;
  if (const char* const users = std::getenv("SPOROS_DATA_DIR")) folders.push_back(users);
  for (const std::string& folder : folders)
    for (const auto& item : std::filesystem::recursive_directory_iterator(folder)) {
      const std::string path = item.path().string();
      if (!item.is_regular_file()) continue;
      for (const std::string_view suffix : {".mtx", ".tns", ".smtx"})
        if (io::has_suffix(path, suffix)) files.push_back(path);
    }
  std::sort(files.begin(), files.end());
  return files;
}

class RealFile : public testing::TestWithParam<std::string> {};

TEST_P(RealFile, IsReadAndWrittenBackEqual) { expect_true_copy(GetParam()); }

std::string test_name(const testing::TestParamInfo<std::string>& path) {
  std::string name = std::filesystem::path(path.param).filename().string();
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name + "_" + std::to_string(path.index);
}

INSTANTIATE_TEST_SUITE_P(Files, RealFile, testing::ValuesIn(real_files()), test_name);

TEST(RealFiles, OfTheExamplesAreThere) { EXPECT_GE(real_files().size(), 15u); }

}  // namespace real_files_tests
}  // namespace

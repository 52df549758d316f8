// SPDX-License-Identifier: Apache-2.0
/// @file npz.cpp
/// SciPy's .npz files: those that SciPy wrote, broken ones, and what is written.
#include <sporos/formats/io/file.hpp>

#include "files.hpp"
#include "scipy_files.hpp"

namespace {
namespace npz_tests {

using namespace sporos;
using namespace sporos_test;

TEST(Npz, ReadsWhatSciPyWrote) {
  for (const std::string name : {"csr", "csc", "coo", "bsr", "dia"})
    for (const std::string how : {"", "_stored"}) {
      const std::string path = scipy_file(name + how + ".npz");
      EXPECT_TRUE(same_matrix(read_entries<double, 2>(path), scipy_matrix(1))) << path;
      EXPECT_EQ(read_npz_header(path).format, name);
      const FileInfo info = inspect(path);
      EXPECT_EQ(info.kind, FileKind::npz);
      EXPECT_EQ(info.extents, (std::vector<std::int64_t>{4, 6}));
      EXPECT_EQ(info.field, MatrixMarketField::real);
      if (name[0] == 'c') {
        EXPECT_EQ(info.stored, 4);
      }
    }
  EXPECT_TRUE(same_matrix(read_npz_entries<double, 2>(scipy_file("float32.npz")), scipy_matrix(1)));
  using Complex = Kokkos::complex<double>;
  EXPECT_EQ(inspect(scipy_file("complex.npz")).field, MatrixMarketField::complex);
  EXPECT_EQ((read_entries<Complex, 2>(scipy_file("complex.npz")).values(0)), Complex(1.5, 3));
  EXPECT_TRUE(identical(read_entries<double, 3>(scipy_file("cube.npz")),
                        Entries<double, 3>({2, 3, 4}, {{{0, 2, 1}, 1.5}, {{1, 0, 3}, -2.0}})));
}

TEST(Npz, IsReadFromAPipe) {
  const std::string bytes = content(scipy_file("csr.npz"));
  io::PipeSource pipe(std::make_unique<io::MemoryStream>(bytes), "pipe");
  EXPECT_EQ(inspect(pipe).kind, FileKind::npz);
  EXPECT_TRUE(same_matrix(read_entries<double, 2>(pipe), scipy_matrix(1)));
}

TEST(Npz, RefusesOtherOrdersAndOtherArchives) {
  EXPECT_THROW((read_entries<double, 3>(scipy_file("csr.npz"))), ShapeError);
  EXPECT_THROW((read_entries<double, 2>(scipy_file("cube.npz"))), ShapeError);
  const Folder folder;
  const std::string path = folder.file("a.npz");
  io::ZipWriter zip(path, 6, 1);
  zip.add("x.npy", io::npy_head("<f8", {1}), std::string_view("\0\0\0\0\0\0\0\0", 8));
  zip.commit();
  expect_parse_error(path, 0, "the archive holds x.npy, expected the arrays of a sparse matrix",
                     [&] { read_entries<double, 2>(path); });
}

TEST(Npz, RefusesAFileThatIsCutOffAnywhere) {
  const Folder folder;
  for (const std::string name : {"csr.npz", "coo_stored.npz"}) {
    const std::string bytes = content(scipy_file(name));
    for (std::size_t size = 4; size < bytes.size(); size += 3) {
      const std::string path = folder.put("a.npz", std::string_view(bytes).substr(0, size));
      EXPECT_THROW((read_entries<double, 2>(path)), ParseError) << name << " cut at " << size;
    }
  }
}

TEST(Npz, TakesNoChangedByteForTheSameMatrix) {
  const Folder folder;
  for (const std::string name : {"csr.npz", "bsr_stored.npz"}) {
    const std::string bytes = content(scipy_file(name));
    int refused = 0;
    for (std::size_t at = 4; at < bytes.size(); ++at) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ 0x15);
      const std::string path = folder.put("a.npz", changed);
      try {
        // What passes is a byte that means nothing, such as the time of a member.
        EXPECT_TRUE(same_matrix(read_npz_entries<double, 2>(path), scipy_matrix(1)))
            << name << " byte " << at;
      } catch (const ParseError&) {
        ++refused;
      }
    }
    EXPECT_GT(refused, static_cast<int>(bytes.size() / 2)) << name;
  }
}

/// The arrays of a csr matrix of 2 x 3 with entries at (0, 1) and (1, 2), of which some are replaced.
struct Arrays {
  std::string format = "csr";
  std::vector<std::int64_t> shape = {2, 3}, indptr = {0, 1, 2}, indices = {1, 2};
  std::vector<double> data = {1, 2};

  std::string write(const Folder& folder) const {
    const std::string path = folder.file("a.npz");
    io::ZipWriter zip(path, 0, 1);
    const auto add = [&](const std::string& name, const auto& values, const std::string& type) {
      zip.add(name, io::npy_head(type, {std::ssize(values)}), io::bytes_of(values));
    };
    zip.add("format.npy", io::npy_head("|S" + std::to_string(format.size()), {}), format);
    add("shape.npy", shape, "<i8");
    add("indptr.npy", indptr, "<i8");
    add("indices.npy", indices, "<i8");
    add("data.npy", data, "<f8");
    zip.commit();
    return path;
  }
};

void expect_fault(const Arrays& arrays, const std::string& array, const std::string& reason) {
  const Folder folder;
  const std::string path = arrays.write(folder);
  expect_parse_error(path + (array.empty() ? "" : ": " + array), 0, reason,
                     [&] { read_entries<double, 2>(path); });
}

TEST(Npz, RefusesArraysThatDoNotFitTogether) {
  const Folder folder;
  EXPECT_EQ((read_entries<double, 2>(Arrays().write(folder)).size()), 2);
  expect_fault({.format = "lil"}, "", "its format is 'lil', expected csr, csc, coo, bsr or dia");
  expect_fault({.shape = {2, 3, 4}}, "", "its format is csr, but its shape has 3 extents");
  expect_fault({.shape = {2, -3}}, "shape.npy", "an extent is -3");
  expect_fault({.indptr = {0, 2}}, "indptr.npy", "it has 2 elements, expected 2 + 1");
  expect_fault({.indptr = {1, 1, 2}}, "indptr.npy", "element 0 is 1, expected 0");
  expect_fault({.indptr = {0, 2, 1}}, "indptr.npy", "element 2 is 1, expected from 2 to 2");
  expect_fault({.indptr = {0, 1, 3}}, "indptr.npy", "element 2 is 3, expected from 1 to 2");
  expect_fault({.indices = {1, 3}}, "indices.npy", "element 1 is 3, expected 0 to 2");
  expect_fault({.indices = {-1, 2}}, "indices.npy", "element 0 is -1");
  expect_fault({.indices = {1}}, "indices.npy", "it has 1 elements, expected 2, as many as values");
  expect_fault({.format = "coo"}, "", "the archive lacks row.npy");
  expect_fault({.format = "bsr"}, "data.npy", "it does not hold blocks");
  expect_fault({.format = "dia"}, "data.npy", "it does not hold rows of diagonals");
  // SciPy allows arrays that are longer than what is in use.
  EXPECT_EQ((read_entries<double, 2>(Arrays{.indptr = {0, 1, 1}}.write(folder)).size()), 1);
}

TEST(Npz, RoundTripsInEveryFormat) {
  const Folder folder;
  for (const NpzFormat format : {NpzFormat::csr, NpzFormat::csc, NpzFormat::coo, NpzFormat::bsr})
    for (const int level : {0, 6}) {
      write_npz(folder.file("a.npz"), scipy_matrix(1), {.format = format, .block = {4, 3}, .level = level});
      EXPECT_TRUE(same_matrix(read_entries<double, 2>(folder.file("a.npz")), scipy_matrix(1)));
    }
  const Entries<std::int16_t, 1> vector({5}, {{{4}, std::int16_t{-3}}, {{1}, std::int16_t{7}}});
  write_entries(folder.file("a.npz"), vector);
  EXPECT_TRUE(identical(read_entries<std::int16_t, 1>(folder.file("a.npz")), vector));
}

TEST(Npz, RefusesBlocksThatDoNotDivideTheMatrix) {
  const Folder folder;
  EXPECT_THROW(write_npz(folder.file("a.npz"), scipy_matrix(1), {.format = NpzFormat::bsr, .block = {3, 2}}),
               FormatError);
  EXPECT_THROW(write_npz(folder.file("a.npz"), Entries<double, 2>({2, 2}, {{{0, 0}, 1.0}, {{0, 0}, 2.0}}),
                         {.format = NpzFormat::bsr}),
               FormatError);
  EXPECT_TRUE(folder.names().empty());
}

TEST(Npz, WritesTheSameBytesWithAnyNumberOfThreads) {
  const Folder folder;
  Entries<double, 2> entries({1000, 1000}, 300000);
  for (std::int64_t q = 0; q < entries.size(); ++q)
    entries.set(q, {q % 1000, q * 7919 / 1000 % 1000}, static_cast<double>(q % 17));
  write_npz(folder.file("1.npz"), entries, {.threads = 1});
  write_npz(folder.file("3.npz"), entries, {.threads = 3});
  EXPECT_EQ(content(folder.file("1.npz")), content(folder.file("3.npz")));
  EXPECT_EQ((read_entries<double, 2>(folder.file("3.npz")).size()), entries.size());
}

}  // namespace npz_tests
}  // namespace

// SPDX-License-Identifier: Apache-2.0
/// @file npy.cpp
/// NumPy's .npy files: those that NumPy wrote, those that NumPy would refuse, and what is written.
#include <sporos/formats/io/file.hpp>

#include "files.hpp"
#include "scipy_files.hpp"

namespace {
namespace npy_tests {

using namespace sporos;
using namespace sporos_test;

TEST(Npy, ReadsWhatNumPyWrote) {
  for (const std::string name :
       {"c_order", "fortran_order", "big_endian", "float16", "version_2", "version_3"}) {
    const std::string path = scipy_file(name + ".npy");
    EXPECT_TRUE(same_matrix(read_npy_entries<double, 2>(path), scipy_matrix(1))) << name;
    const FileInfo info = inspect(path);
    EXPECT_EQ(info.kind, FileKind::npy);
    EXPECT_EQ(info.extents, (std::vector<std::int64_t>{4, 6}));
    EXPECT_EQ(info.field, MatrixMarketField::real);
    EXPECT_EQ(read_npy_header(path).fortran_order, name == "fortran_order");
  }
  EXPECT_TRUE(same_matrix(read_entries<double, 2>(scipy_file("big_endian_int16.npy")), scipy_matrix(2)));
  EXPECT_EQ(inspect(scipy_file("big_endian_int16.npy")).field, MatrixMarketField::integer);
  EXPECT_TRUE(
      identical(read_entries<bool, 2>(scipy_file("bool.npy")),
                Entries<bool, 2>({4, 6}, {{{0, 1}, true}, {{1, 0}, true}, {{2, 5}, true}, {{3, 4}, true}})));
  EXPECT_TRUE(
      identical(read_entries<double, 1>(scipy_file("vector.npy")), Entries<double, 1>({6}, {{{0}, -2.0}})));
  using Complex = Kokkos::complex<double>;
  const auto complex_entries = read_entries<Complex, 2>(scipy_file("complex.npy"));
  ASSERT_EQ(complex_entries.size(), 4);
  EXPECT_EQ(complex_entries.values(0), Complex(1.5, 3));
}

TEST(Npy, IsReadFromAPipeAndFromGzip) {
  const Folder folder;
  const std::string bytes = content(scipy_file("c_order.npy"));
  EXPECT_TRUE(same_matrix(read_entries<double, 2>(folder.put("a.gz", gzip(bytes))), scipy_matrix(1)));
  io::PipeSource pipe(std::make_unique<io::MemoryStream>(bytes), "pipe");
  EXPECT_EQ(inspect(pipe).kind, FileKind::npy);
  EXPECT_TRUE(same_matrix(read_entries<double, 2>(pipe), scipy_matrix(1)));
}

/// A header of version 1 with this dictionary, and `count` bytes behind it.
std::string npy(const std::string& dictionary, std::size_t count = 0) {
  std::string out = "\x93NUMPY";
  out += {'\1', '\0', static_cast<char>(dictionary.size() & 0xff), static_cast<char>(dictionary.size() >> 8)};
  return out + dictionary + std::string(count, '\0');
}

void expect_fault(const std::string& bytes, const std::string& reason) {
  const Folder folder;
  const std::string path = folder.put("a.npy", bytes);
  expect_parse_error(path, 0, reason, [&] { read_npy_entries<double, 2>(path); });
}

TEST(Npy, RefusesWhatIsNoArrayOfNumbers) {
  const std::string rest = "'fortran_order': False, 'shape': (2, 3), }";
  const std::string good = "{'descr': '<f8', " + rest;
  expect_fault("", "the file ends in the middle of its first bytes");
  expect_fault(std::string("\x93NUMPX\1\0\0\0", 10), "this is no .npy data");
  expect_fault(std::string("\x93NUMPY\x4\0\0\0", 10), "of version 4, expected 1, 2 or 3");
  expect_fault(npy(good).substr(0, 30), "in the middle of its header");
  expect_fault(std::string("\x93NUMPY\2\0\xff\xff\xff\x7f", 12), "header is said to take 2147483647 bytes");
  expect_fault(npy(good, 47), "the file ends in the middle of its array");
  expect_fault(npy(good, 49), "more bytes follow the 6 elements");
  expect_fault(npy("{'descr': '|O', " + rest, 48), "the type '|O', expected booleans, integers");
  expect_fault(npy("{'descr': '<f16', " + rest, 96), "the type '<f16'");
  expect_fault(npy("{'descr': '<i3', " + rest, 18), "the type '<i3'");
  expect_fault(npy("{'descr': '|S4', " + rest, 24), "it holds text ('|S4'), expected numbers");
  expect_fault(npy("{'descr': [('x', '<f8')], " + rest, 48), "a structured type");
  expect_fault(npy("{'descr': '<f8, }"), "a text without its closing quote");
  expect_fault(npy("{'descr': '<f8', 'fortran_order': maybe, 'shape': (2, 3)}", 48),
               "neither True nor False");
  expect_fault(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, -3)}", 48), "no tuple");
  expect_fault(npy("{'descr': '<f8', 'fortran_order': False, 'shape': 6}", 48), "no '('");
  expect_fault(npy("{'descr': '<f8', 'fortran_order': False}", 48), "no 'descr', 'fortran_order' or 'shape'");
  expect_fault(npy("{'colour': 'red'}", 48), "the unknown key 'colour'");
  expect_fault(npy(good + "x", 48), "something behind the dictionary");
  expect_fault(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 1)}"),
               "64 bits do not hold");
  expect_fault(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4)}"),
               "more elements than 64 bits count");
  expect_fault(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000000000)}", 8),
               "in the middle of its array");
}

TEST(Npy, RefusesOtherOrdersAndValuesThatDoNotFit) {
  EXPECT_THROW((read_npy_entries<double, 3>(scipy_file("c_order.npy"))), ShapeError);
  const std::string path = scipy_file("c_order.npy");
  expect_parse_error(path, 0, "element 1 is 1.5, which int64 cannot hold",
                     [&] { read_npy_entries<std::int64_t, 2>(path); });
}

template <class Value>
void expect_round_trip(const std::string& type) {
  const Folder folder;
  Entries<Value, 3> entries({2, 3, 2}, 3);
  entries.set(0, {0, 2, 1}, Value(1));
  entries.set(1, {1, 0, 0}, Value(1));
  entries.set(2, {1, 2, 1}, Value(1));
  for (const std::string name : {"a.npy", "a.npy.gz"}) {
    write_entries(folder.file(name), entries);
    EXPECT_TRUE(identical(read_entries<Value, 3>(folder.file(name)), entries)) << type;
    EXPECT_EQ(read_npy_header(folder.file(name)).descr, type);
  }
}

TEST(Npy, WritesEveryType) {
  expect_round_trip<double>("<f8");
  expect_round_trip<float>("<f4");
  expect_round_trip<half>("<f2");
  expect_round_trip<std::uint8_t>("|u1");
  expect_round_trip<bool>("|b1");
  expect_round_trip<Kokkos::complex<float>>("<c8");
  const Folder folder;
  EXPECT_THROW(write_npy(folder.file("a.npy"), Entries<bfloat16, 1>({1}, {})), FormatError);
}

TEST(Npy, WritesTheBytesThatNumPyWrites) {
  const Folder folder;
  write_npy(folder.file("a.npy"), scipy_matrix(1));
  EXPECT_EQ(content(folder.file("a.npy")), content(scipy_file("c_order.npy")));
  write_npy(folder.file("a.npy"), Entries<double, 1>({6}, {{{0}, -2.0}}));
  EXPECT_EQ(content(folder.file("a.npy")), content(scipy_file("vector.npy")));
}

TEST(Npy, RefusesArraysThatCannotBeWritten) {
  const Folder folder;
  EXPECT_THROW(write_npy(folder.file("a.npy"), Entries<double, 1>({6}, {{{0}, 1.0}, {{0}, 2.0}})),
               FormatError);
  EXPECT_THROW(
      write_npy(folder.file("a.npy"), Entries<double, 2>({std::int64_t{1} << 40, std::int64_t{1} << 40}, {})),
      FormatError);
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace npy_tests
}  // namespace

// SPDX-License-Identifier: Apache-2.0
/// @file matrix_market_errors.cpp
/// Malformed Matrix Market files: file, line and reason of each fault, whatever the blocks and the threads.
#include "files.hpp"

#include <atomic>
#include <sporos/formats/io/matrix_market.hpp>

namespace {
namespace matrix_market_errors_tests {

using namespace sporos;
using namespace sporos_test;
using Complex = Kokkos::complex<double>;

/// Expects the same fault however the text is cut, plain and gzip.
template <class Value = double>
void expect_fault(const std::string& text, std::int64_t line, const std::string& reason) {
  const Folder folder;
  for (const std::string& path : {folder.put("a.mtx", text), folder.put("a.mtx.gz", gzip(text))})
    for (const std::size_t bytes : {1u, 7u, 50u, 1u << 20})
      for (const int threads : {1, 3}) {
        ReadOptions options;
        options.threads = threads;
        options.block_bytes = bytes;
        expect_parse_error(path, line, reason, [&] { read_matrix_market_entries<Value>(path, options); });
        if (testing::Test::HasFailure()) return;
      }
}

const std::string real_general = "%%MatrixMarket matrix coordinate real general\n";

TEST(MatrixMarketErrors, RefusesAnEmptyFile) { expect_fault("", 0, "the file is empty"); }

TEST(MatrixMarketErrors, RefusesADirectory) {
  const Folder folder;
  expect_parse_error(folder.path(), 0, "this is a directory",
                     [&] { read_matrix_market_entries<double>(folder.path()); });
  expect_parse_error(folder.path(), 0, "this is a directory",
                     [&] { read_matrix_market_header(folder.path()); });
}

TEST(MatrixMarketErrors, RefusesBrokenGzip) {
  const Folder folder;
  const std::string bytes = gzip(real_general + "2 2 1\n1 1 1\n");
  const std::string path = folder.put("a.mtx", bytes.substr(0, bytes.size() - 9));
  expect_parse_error(path, 0, "broken gzip data", [&] { read_matrix_market_entries<double>(path); });
}

TEST(MatrixMarketErrors, RefusesBadBanners) {
  expect_fault("\n", 1, "found the end of the line, expected '%%MatrixMarket");
  expect_fault("3 3 1\n1 1 1\n", 1, "found '3', expected '%%MatrixMarket");
  expect_fault("%MatrixMarket matrix coordinate real general\n1 1 0\n", 1,
               "found '%MatrixMarket', expected '%%MatrixMarket");
  expect_fault("%%MatrixMarket vector coordinate real general\n", 1, "found 'vector', expected 'matrix'");
  expect_fault("%%MatrixMarket\n", 1, "found the end of the line, expected 'matrix'");
  expect_fault("%%MatrixMarket matrix sparse real general\n", 1,
               "found 'sparse', expected 'coordinate' or 'array'");
  expect_fault("%%MatrixMarket matrix coordinate float general\n", 1, "found 'float', expected 'real'");
  expect_fault("%%MatrixMarket matrix coordinate real diagonal\n", 1, "found 'diagonal', expected 'general'");
  expect_fault("%%MatrixMarket matrix coordinate real\n", 1, "found the end of the line, expected 'general'");
  expect_fault("%%MatrixMarket matrix coordinate real general 5\n", 1,
               "found '5', expected the end of the line after the banner's five words");
  expect_fault("%%MatrixMarket matrix array pattern general\n", 1, "'array pattern' is not");
  expect_fault("%%MatrixMarket matrix coordinate pattern skew-symmetric\n", 1,
               "'pattern skew-symmetric' is not");
  expect_fault("%%MatrixMarket matrix coordinate real hermitian\n", 1, "'real hermitian' is not");
  expect_fault(std::string("a.mtx\0\0\0\n", 9), 1, "binary data");
}

TEST(MatrixMarketErrors, RefusesBadSizes) {
  expect_fault(real_general, 1, "the file ends before its line of sizes");
  expect_fault(real_general + "% only\n%comments\n", 3, "the file ends before its line of sizes");
  expect_fault(real_general + "3 3\n", 2, "found the end of the line, expected the number of entries");
  expect_fault(real_general + "%\n\n3 x 3\n", 4, "found 'x', expected the number of columns");
  expect_fault(real_general + "-3 3 3\n", 2, "found '-3', expected the number of rows");
  expect_fault(real_general + "3.0 3 3\n", 2, "found '3.0', expected the number of rows");
  expect_fault(real_general + "3 3 3 3\n", 2, "found '3' after the sizes, expected three numbers");
  expect_fault(real_general + "9223372036854775808 3 3\n", 2,
               "found '9223372036854775808', expected the number of rows");
  expect_fault("%%MatrixMarket matrix coordinate real symmetric\n3 4 1\n", 2,
               "a symmetric matrix is square, but this one is 3 x 4");
  expect_fault("%%MatrixMarket matrix array real general\n3 3 9\n", 2,
               "found '9' after the sizes, expected two numbers");
  expect_fault("%%MatrixMarket matrix array real general\n4294967296 4294967296\n", 2,
               "has more entries than 64 bits count");
  expect_fault("%%MatrixMarket matrix array real symmetric\n9223372036854775807 9223372036854775807\n", 2,
               "has more entries");
}

TEST(MatrixMarketErrors, RefusesCoordinatesOutOfRange) {
  const std::string head = real_general + "3 4 9\n1 1 1\n\n% c\n";  // what follows is line 6
  expect_fault(head + "4 1 1\n", 6, "row 4 is out of range, expected 1 to 3");
  expect_fault(head + "0 1 1\n", 6, "row 0 is out of range, expected 1 to 3");
  expect_fault(head + "3 5 1\n", 6, "column 5 is out of range, expected 1 to 4");
  expect_fault(head + "3 0 1\n", 6, "column 0 is out of range, expected 1 to 4");
  expect_fault(head + "-1 1 1\n", 6, "found '-1', expected a row, an integer from 1 to 3");
  expect_fault(head + "18446744073709551617 1 1\n", 6, "found '18446744073709551617', expected a row");
  expect_fault(head + "1 9223372036854775808 1\n", 6, "found '9223372036854775808', expected a column");
}

TEST(MatrixMarketErrors, RefusesTextThatIsNoNumber) {
  const std::string head = real_general + "3 4 9\n1 1 1\n";  // what follows is line 4
  expect_fault(head + "a 1 1\n", 4, "found 'a', expected a row");
  expect_fault(head + "1.5 1 1\n", 4, "found '1.5', expected a row");
  expect_fault(head + "1 b 1\n", 4, "found 'b', expected a column");
  expect_fault(head + "1 1.5\n", 4, "found '1.5', expected a column");
  expect_fault(head + "1,1,1\n", 4, "found '1,1,1', expected a row");
  expect_fault(head + "1 1 one\n", 4, "found 'one', expected a real number");
  expect_fault(head + "1 1 1.2.3\n", 4, "found '1.2.3', expected a real number");
  expect_fault(head + "1 1 0x10\n", 4, "found '0x10', expected a real number");
  expect_fault(head + "1 1\n", 4, "found the end of the line, expected a real number");
  expect_fault(head + "1\n", 4, "found the end of the line, expected a column");
  expect_fault(head + "1 1 1 1\n", 4, "found '1' after the entry, expected the end of the line");
  expect_fault(head + std::string("1 1 1\0\n", 7), 4, "found '1\\x00', expected a real number");
}

TEST(MatrixMarketErrors, RefusesNumbersThatDoNotFit) {
  expect_fault(real_general + "1 1 1\n1 1 1e999\n", 3, "'1e999' is too large for double");
  expect_fault<float>(real_general + "1 1 1\n1 1 1e99\n", 3,
                      "found '1e99', which float cannot hold: read the file as double");
  const std::string integers = "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 ";
  expect_fault<std::int64_t>(integers + "9223372036854775808\n", 3, "does not fit in 64 bits");
  expect_fault(integers + "9223372036854775808\n", 3, "does not fit in 64 bits");
  expect_fault<std::int32_t>(integers + "2147483648\n", 3,
                             "which int32 cannot hold: read the file as int64 or double");
  expect_fault<bool>(integers + "2\n", 3, "which bool cannot hold");
}

TEST(MatrixMarketErrors, RefusesWhatIsNoIntegerWhereAnIntegerIsDue) {
  const std::string integers = "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 ";
  for (const std::string value : {"NaN", "inf", "1.5", "1e3", "1."}) {
    expect_fault(integers + value + "\n", 3, text("found '", value, "', expected an integer"));
    expect_fault<std::int64_t>(integers + value + "\n", 3, text("found '", value, "', expected an integer"));
  }
  for (const std::string value : {"NaN", "inf", "1.5"})
    expect_fault<int>(text(real_general, "1 1 1\n1 1 ", value, "\n"), 3,
                      "which int32 cannot hold: read the file as double");
}

TEST(MatrixMarketErrors, RefusesTruncatedFiles) {
  expect_fault(real_general + "2 2 3\n1 1 1\n2 2 2\n", 4,
               "the file ends after 2 of the 3 entries that line 2 announces");
  expect_fault(real_general + "2 2 3\n1 1 1\n2 2 2\n\n\n", 6, "the file ends after 2 of the 3 entries");
  expect_fault(real_general + "2 2 1\n", 2, "the file ends after 0 of the 1 entries");
  expect_fault(real_general + "2 2 2\n1 1 1\n2 2", 4, "found the end of the line, expected a real number");
  expect_fault("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n", 4,
               "the file ends after 2 of the 6 entries");
}

TEST(MatrixMarketErrors, RefusesTooManyEntriesAtTheFirstOneTooMany) {
  expect_fault(real_general + "2 2 2\n1 1 1\n\n%\n2 2 2\n%\n1 2 3\n2 1 4\n", 8,
               "more entries than the 2 that line 2 announces");
  expect_fault(real_general + "2 2 0\n1 1 1\n", 3, "more entries than the 0");
  expect_fault(real_general + "2 2 1\n1 1 1\n1 1 1\nrubbish\n", 4, "more entries than the 1");
  expect_fault("%%MatrixMarket matrix array real general\n1 2\n1\n2\n\n3\n", 6,
               "more values than the 2 of the array");
}

TEST(MatrixMarketErrors, RefusesADiagonalThatTheSymmetryForbids) {
  expect_fault("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 2 1\n", 3,
               "entry (2, 2) lies on the diagonal");
  expect_fault<Complex>("%%MatrixMarket matrix coordinate complex hermitian\n3 3 1\n2 2 1 1\n", 3,
                        "imaginary part is not zero");
  expect_fault<Complex>("%%MatrixMarket matrix coordinate complex hermitian\n3 3 1\n2 2 1 nan\n", 3,
                        "imaginary part is not zero");
  expect_fault<Complex>("%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 3\n\n4 1\n", 6,
                        "value (2, 2) lies on the diagonal of a hermitian matrix");
}

TEST(MatrixMarketErrors, NamesABadDiagonalBeforeAValueTooMany) {
  expect_fault<Complex>("%%MatrixMarket matrix array complex hermitian\n2 2\n1 5\n2 3\n4 0\n1 1\n", 3,
                        "value (1, 1) lies on the diagonal of a hermitian matrix");
}

TEST(MatrixMarketErrors, RefusesTheIntegerWhoseNegativeDoesNotFit) {
  expect_fault<std::int32_t>(
      "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 -2147483648\n", 3,
      "its negative does not fit");
  expect_fault<std::int32_t>("%%MatrixMarket matrix array integer skew-symmetric\n2 2\n-2147483648\n", 3,
                             "its negative does not fit");
  expect_fault<std::uint32_t>("%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 1\n", 1,
                              "read it as a signed type");
}

TEST(MatrixMarketErrors, RefusesAComplexFileForARealTypeAndSaysTheCure) {
  expect_fault(
      "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n", 1,
      "this file's values are complex, which double cannot hold: read it as Kokkos::complex<double>");
}

TEST(MatrixMarketErrors, RefusesComplexValuesOfOnePart) {
  const std::string head = "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 ";
  expect_fault<Complex>(head + "1\n", 3, "expected the imaginary part");
  expect_fault<Complex>(head + "1 x\n", 3, "found 'x', expected a real number as imaginary part");
  expect_fault<Complex>(head + "1 2 3\n", 3, "found '3' after the entry");
}

TEST(MatrixMarketErrors, RefusesValuesInAPattern) {
  expect_fault("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 5\n", 3,
               "(a pattern has no values)");
}

TEST(MatrixMarketErrors, RefusesTwoValuesOnALineOfAnArray) {
  expect_fault("%%MatrixMarket matrix array real general\n2 1\n1 2\n", 3, "found '2' after the value");
  expect_fault("%%MatrixMarket matrix array real general\n2 1\nx\n", 3, "found 'x', expected a real number");
}

TEST(MatrixMarketErrors, NamesTheFirstOfSeveralFaultsInTheFile) {
  std::string text = real_general + "9 9 2000\n";
  for (int line = 3; line <= 2002; ++line)
    text += line == 777 || line == 778 || line == 1500 ? "9 x 1\n" : "9 9 1\n";
  const Folder folder;
  const std::string path = folder.put("a.mtx", text);
  ReadOptions options;
  options.block_bytes = 100;
  options.threads = 8;
  for (int repetition = 0; repetition < 20; ++repetition)
    expect_parse_error(path, 777, "found 'x'", [&] { read_matrix_market_entries<double>(path, options); });
}

std::atomic<std::uint64_t> allocated{0};

TEST(MatrixMarketErrors, AllocatesNothingOnTheWordOfALyingHeader) {
  const Folder folder;
  const std::string small = real_general + "1000000000 1000000000 900000000000000000\n1 1 1\n";
  const std::string array = "%%MatrixMarket matrix array real symmetric\n1000000000 1000000000\n1\n";
  using namespace Kokkos::Tools::Experimental;
  const EventSet before = get_callbacks();
  allocated = 0;
  set_allocate_data_callback([](Kokkos_Profiling_SpaceHandle, const char*, const void*, std::uint64_t bytes) {
    allocated += bytes;
  });
  for (const std::string& text : {small, array})
    for (const std::string& path : {folder.put("a.mtx", text), folder.put("a.mtx.gz", gzip(text))})
      expect_parse_error(path, 3, "the file ends after 1 of the",
                         [&] { read_matrix_market_entries<double>(path); });
  set_callbacks(before);
  EXPECT_GT(allocated, 0u);
  EXPECT_LT(allocated, 10'000u);
}

}  // namespace matrix_market_errors_tests
}  // namespace

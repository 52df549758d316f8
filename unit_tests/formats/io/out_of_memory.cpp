// SPDX-License-Identifier: Apache-2.0
/// @file out_of_memory.cpp
/// Files that are read and written, and entries that are pruned, where memory is short: the error is a
/// MemoryError that says what for, and nothing half-written is left.
#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sporos/formats/io/file.hpp>
#include <sporos/formats/prune_entries.hpp>
#include <string>

#include "files.hpp"
#include "short_memory.hpp"

#if defined(SPOROS_TEST_CAN_LIMIT_MEMORY)

namespace sporos::test::io_out_of_memory {
namespace {

/// Runs something with more and more memory, until there is enough.
template <class Run>
void expect_memory_errors(const std::string& name, const Run& run) {
  SCOPED_TRACE(name);
  int refused = 0;
  for (std::int64_t more = 0; more <= std::int64_t{1} << 32; more = more == 0 ? 1 << 16 : 2 * more) {
    pool().release();
    std::string what = "ran";
    {
      const FullHeap heap;
      const AddressSpaceLimit limit(more);
      try {
        run();
      } catch (const MemoryError& error) {
        what = error.what();
      } catch (const std::exception& error) {
        FAIL() << "with " << more << " bytes: " << error.what();
      }
    }
    if (what == "ran") {
      EXPECT_GT(refused, 0) << "memory was never short";
      return;
    }
    EXPECT_NE(what.find("memory"), std::string::npos) << what;
    ++refused;
  }
  FAIL() << "does not run in 4 GiB";
}

Entries<double, 2> diagonals(std::int64_t n) {
  Entries<double, 2> out({n, n}, 3 * n);
  for (std::int64_t e = 0; e < 3 * n; ++e)
    out.set(e, {e / 3, (e / 3 + e % 3 * (n / 3)) % n}, static_cast<double>(e % 9 + 1));
  return out;
}

void check_files() {
  const sporos_test::Folder folder;
  const auto entries = diagonals(100'000);
  for (const std::string suffix : {".mtx", ".mtx.gz", ".tns", ".npz", ".csv"}) {
    const std::string path = folder.path() + "/A" + suffix, copy = folder.path() + "/B" + suffix;
    if (suffix == ".csv") {
      std::ofstream out(path);
      for (std::int64_t e = 0; e < entries.size(); ++e)
        out << entries.coordinate(e)[0] << ',' << entries.coordinate(e)[1] << ",1\n";
    } else {
      write_entries(path, entries);
      expect_memory_errors("written: " + suffix, [&] {
        try {
          write_entries(copy, entries);
        } catch (...) {
          EXPECT_FALSE(std::filesystem::exists(copy));
          throw;
        }
      });
      EXPECT_EQ(std::filesystem::file_size(copy), std::filesystem::file_size(path));
    }
    expect_memory_errors("read: " + suffix,
                         [&] { EXPECT_EQ((read_entries<double, 2>(path).size()), entries.size()); });
  }
  const auto small = diagonals(1000);  // as an array, of 8 MB
  const std::string path = folder.path() + "/A.npy";
  expect_memory_errors("written: .npy", [&] { write_entries(path, small); });
  expect_memory_errors("read: .npy",
                       [&] { EXPECT_EQ((read_entries<double, 2>(path).size()), small.size()); });
}
TEST(OutOfMemoryForFiles, IsAMemoryErrorThatNamesTheFile) { in_new_process(check_files); }

void check_pruning() {
  const auto entries = diagonals(50'000);
  expect_memory_errors("prune", [&] {
    EXPECT_LE(prune(entries, {.kept = 1, .window = 4, .unit = 2}).size(), entries.size());
  });
}
TEST(OutOfMemoryForFiles, IsAMemoryErrorWhereEntriesArePruned) { in_new_process(check_pruning); }

}  // namespace
}  // namespace sporos::test::io_out_of_memory

#endif

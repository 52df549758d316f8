// SPDX-License-Identifier: Apache-2.0
/// @file out_of_memory.cpp
/// Files that are read and written, and entries that are pruned, where memory is short: the error is a
/// MemoryError that says what for, and nothing half-written is left.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <sporos/formats/io/file.hpp>
#include <sporos/formats/prune_entries.hpp>
#include <string>

#include "files.hpp"
#include "short_memory.hpp"

#if defined(SPOROS_TEST_CAN_LIMIT_MEMORY)

namespace sporos::test::io_out_of_memory {
namespace {

/// Expects that errors name the file, and that nothing else than files that are complete is left.
template <class Run>
void expect_memory_errors(const std::string& what_is_done, const sporos_test::Folder& folder,
                          const std::string& path, const Run& run) {
  SCOPED_TRACE(what_is_done + ' ' + path);
  const auto before = folder.names();
  run_with_more_and_more_memory(run, [&](const std::string& what) {
    EXPECT_EQ(what.find(path), 0U) << what;
    EXPECT_EQ(folder.names(), before) << what;
  });
}

Entries<double, 2> diagonals(std::int64_t n) {
  Entries<double, 2> out({n, n}, 3 * n);
  for (std::int64_t e = 0; e < 3 * n; ++e)
    out.set(e, {e / 3, (e / 3 + e % 3 * (n / 3)) % n}, static_cast<double>(e % 9 + 1));
  return out;
}

void check_files() {
  const sporos_test::Folder folder;
  const auto many = diagonals(100'000), few = diagonals(1000);  // an array of the latter has 8 MB
  for (const std::string suffix : {".mtx", ".mtx.gz", ".tns", ".smtx", ".npz", ".npy"}) {
    const std::string path = folder.path() + "/A" + suffix;
    auto entries = suffix == ".npy" ? few : many;
    if (suffix == ".smtx") Kokkos::deep_copy(entries.values, 1.0);
    expect_memory_errors("writing", folder, path, [&] { write_entries(path, entries); });
    expect_memory_errors("reading", folder, path,
                         [&] { EXPECT_EQ((read_entries<double, 2>(path).size()), entries.size()); });
  }
  const std::string edges = folder.path() + "/A.csv";
  {
    std::ofstream out(edges);
    for (std::int64_t e = 0; e < many.size(); ++e)
      out << many.coordinate(e)[0] << ',' << many.coordinate(e)[1] << ",1\n";
  }
  expect_memory_errors("reading", folder, edges,
                       [&] { EXPECT_EQ((read_entries<double, 2>(edges).size()), many.size()); });
}
TEST(OutOfMemoryForFiles, IsAMemoryErrorThatNamesTheFile) { in_new_process(check_files); }

void check_pruning() {
  const auto entries = diagonals(50'000);
  for (const std::int64_t window : {4, 50'000}) {  // the latter are whole rows of blocks
    const Windows windows{.kept = 1, .window = window, .unit = 10'000};
    run_with_more_and_more_memory(
        [&] { EXPECT_LE(prune(entries, windows).size(), entries.size()); },
        [](const std::string& what) { EXPECT_NE(what.find("memory"), std::string::npos) << what; });
  }
}
TEST(OutOfMemoryForFiles, IsAMemoryErrorWhereEntriesArePruned) { in_new_process(check_pruning); }

}  // namespace
}  // namespace sporos::test::io_out_of_memory

#endif

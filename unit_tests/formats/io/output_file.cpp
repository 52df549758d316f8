// SPDX-License-Identifier: Apache-2.0
/// @file output_file.cpp
/// Files that appear when they are complete: success, failure at every step, links, permissions.
#include "files.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>

#include <sporos/formats/io/matrix_market.hpp>
#include <sporos/formats/io/output_file.hpp>

namespace {
namespace output_file_tests {

using namespace sporos;
using namespace sporos_test;
using io::OutputFile;

using Names = std::vector<std::string>;

/// A file may not grow past this while it lives, as on a disk that is full.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  sighandler_t handler_;
};

Entries<double, 2> diagonal(std::int64_t n) {
  Entries<double, 2> entries({n, n}, n);
  for (std::int64_t k = 0; k < n; ++k) entries.set(k, {k, k}, 1.0 / static_cast<double>(k + 1));
  return entries;
}

TEST(OutputFile, AppearsWhenItIsComplete) {
  const Folder folder;
  {
    OutputFile file(folder.file("a"));
    file.write("hello ");
    EXPECT_FALSE(std::filesystem::exists(folder.file("a")));
    file.write("world");
    file.commit();
  }
  EXPECT_EQ(folder.names(), Names{"a"});
  EXPECT_EQ(content(folder.file("a")), "hello world");
}

TEST(OutputFile, LeavesNothingWithoutCommit) {
  const Folder folder;
  {
    OutputFile(folder.file("a")).write("hello");
  }
  EXPECT_EQ(folder.names(), Names{});
}

/// Whether files without a name can be made in a folder.
bool has_unnamed_files(const Folder& folder) {
#ifdef O_TMPFILE
  const int descriptor = open(folder.path().c_str(), O_WRONLY | O_TMPFILE, 0600);
  if (descriptor >= 0) close(descriptor);
  return descriptor >= 0;
#else
  return false;
#endif
}

TEST(OutputFile, NothingIsLeftOfAProgramThatIsKilled) {
  const Folder folder;
  if (!has_unnamed_files(folder)) GTEST_SKIP() << "this file system has no files without a name";
  folder.put("old", "old");
  for (const std::string name : {"new", "old"}) {
    const pid_t child = fork();
    if (child == 0) {
      OutputFile file(folder.file(name));
      file.write("half of");
      kill(getpid(), SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(folder.names(), Names{"old"});
  }
  EXPECT_EQ(content(folder.file("old")), "old");
}

TEST(OutputFile, LeavesTheOldFileAsItWasUntilCommit) {
  const Folder folder;
  folder.put("a", "old");
  {
    OutputFile(folder.file("a")).write("new");
  }
  EXPECT_EQ(content(folder.file("a")), "old");
  OutputFile file(folder.file("a"));
  file.write("new");
  EXPECT_EQ(content(folder.file("a")), "old");
  file.commit();
  EXPECT_EQ(content(folder.file("a")), "new");
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(OutputFile, KeepsThePermissionsOfTheOldFile) {
  const Folder folder;
  folder.put("a", "old");
  ASSERT_EQ(chmod(folder.file("a").c_str(), 0640), 0);
  OutputFile file(folder.file("a"));
  file.commit();
  struct stat status{};
  ASSERT_EQ(stat(folder.file("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
}

TEST(OutputFile, KeepsASymbolicLinkAndReplacesWhatItPointsTo) {
  const Folder folder;
  folder.put("target", "old");
  std::filesystem::create_symlink("target", folder.file("link"));
  OutputFile file(folder.file("link"));
  file.write("new");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
  EXPECT_EQ(content(folder.file("target")), "new");
}

TEST(OutputFile, WritesToAPathWithoutFolder) {
  const Folder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  OutputFile file("bare");
  file.write("x");
  file.commit();
  std::filesystem::current_path(before);
  EXPECT_EQ(folder.names(), Names{"bare"});
}

template <class Body>
void expect_io_error(const std::string& file, const std::string& reason, Body body) {
  try {
    body();
    ADD_FAILURE() << "no error, expected: " << reason;
  } catch (const IoError& error) {
    EXPECT_EQ(error.file(), file);
    EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
  }
}

TEST(OutputFile, RefusesADirectory) {
  const Folder folder;
  expect_io_error(folder.path(), "is a directory", [&] { OutputFile file(folder.path()); });
}

TEST(OutputFile, SaysThatTheFolderIsMissing) {
  const Folder folder;
  const std::string path = folder.file("no/where");
  expect_io_error(path, "No such file or directory", [&] { OutputFile file(path); });
}

TEST(OutputFile, LeavesNoHalfFileWhereTheFolderMayNotBeWritten) {
  const Folder folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0555), 0);
  // The superuser may write everywhere: as somebody else, then.
  const bool superuser = geteuid() == 0;
  if (superuser) {
    ASSERT_EQ(seteuid(65534), 0);
  }
  const std::string path = folder.file("a.mtx");
  expect_io_error(path, "Permission denied", [&] { write_matrix_market(path, diagonal(3)); });
  if (superuser) {
    ASSERT_EQ(seteuid(0), 0);
  }
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  EXPECT_EQ(folder.names(), Names{});
}

TEST(OutputFile, LeavesNoHalfFileWhereTheDiskIsFull) {
  const Folder folder;
  const auto entries = diagonal(100'000);
  for (const std::string name : {"a.mtx", "a.mtx.gz"})
    for (const rlim_t limit : {rlim_t{0}, rlim_t{1000}, rlim_t{200'000}}) {
      const FileSizeLimit full(limit);
      expect_io_error(folder.file(name), "File too large",
                      [&] { write_matrix_market(folder.file(name), entries); });
      EXPECT_EQ(folder.names(), Names{});
    }
}

TEST(OutputFile, LeavesTheOldFileWhereTheDiskIsFull) {
  const Folder folder;
  folder.put("a.mtx", "old");
  const FileSizeLimit full(1000);
  EXPECT_THROW(write_matrix_market(folder.file("a.mtx"), diagonal(1000)), IoError);
  EXPECT_EQ(content(folder.file("a.mtx")), "old");
  EXPECT_EQ(folder.names(), Names{"a.mtx"});
}

TEST(OutputFile, SaysThatADeviceIsFullAndLeavesTheDevice) {
  expect_io_error("/dev/full", "No space left on device",
                  [&] { write_matrix_market("/dev/full", diagonal(3)); });
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST(OutputFile, WritesDevicesDirectly) {
  write_matrix_market("/dev/null", diagonal(3));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(OutputFile, LeavesNothingWhereTheEntriesAreRefused) {
  const Folder folder;
  const Entries<double, 2> crooked({2, 2}, {{{0, 1}, 1.0}});
  MatrixMarketWriteOptions options;
  options.symmetry = MatrixMarketSymmetry::symmetric;
  EXPECT_THROW(write_matrix_market(folder.file("a.mtx"), crooked, options), FormatError);
  EXPECT_EQ(folder.names(), Names{});
}

}  // namespace output_file_tests
}  // namespace

// SPDX-License-Identifier: Apache-2.0
/// @file output_file.hpp
/// A file that appears under its name only when it is complete, and not at all if writing it fails.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "../../core/error.hpp"

namespace sporos::io {

/// Writes to a temporary file in the folder of the final one; if the file system supports it, without a name,
/// so that nothing is left of it however the program ends. commit() forces it to disk and gives it its name;
/// without commit() it is removed. Until then an old file stays as it was; its permissions are kept. Anything
/// that is not a regular file (a pipe, a device) is written directly, and so is /dev/stdout, wherever
/// standard output leads.
class OutputFile {
 public:
  /// Throws IoError if the file cannot be created.
  explicit OutputFile(std::string path) : path_(std::move(path)), final_(path_) {
    if (path_ == standard_output) {
      // Opening it again would overwrite the contents of a file to which it is redirected.
      descriptor_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
      if (descriptor_ < 0) fail("opened for writing");
      return;
    }
    struct stat status{};
    const bool exists = ::stat(path_.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode))
      throw IoError(path_, "is a directory, expected the name of a file");
    if (exists && !S_ISREG(status.st_mode)) {
      descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
      if (descriptor_ < 0) fail("opened for writing");
      return;
    }
    if (char* const target = exists ? ::realpath(path_.c_str(), nullptr) : nullptr) {
      final_ = target;  // keep a symbolic link and replace the file that it points to
      std::free(target);
    }
    if (!open_unnamed())
      with_temporary_name([&] {
        descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        return descriptor_ >= 0;
      });
    if (exists) [[maybe_unused]]
      const int kept = ::fchmod(descriptor_, status.st_mode & 07777);
  }
  ~OutputFile() { abandon(); }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// The path that stands for standard output.
  static constexpr std::string_view standard_output = "/dev/stdout";

  /// The prefix of the names of this process' temporary files, for cleaning up after a signal.
  static std::string temporary_prefix() {
    return text(".sporos-", static_cast<std::int64_t>(::getpid()), '-');
  }

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto count = ::write(descriptor_, bytes.data(), bytes.size());
      if (count >= 0)
        bytes.remove_prefix(static_cast<std::size_t>(count));
      else if (errno != EINTR)
        fail("written");
    }
  }

  /// Makes the file appear under its name. If that throws IoError, the file does not appear.
  void commit() {
    const std::string folder_of_it = folder();  // nothing is allocated once the file has its name
    const bool in_place = temporary_.empty() && !unnamed_;
    if (!in_place && ::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOSYS)
      fail("written to the disk");
    if (unnamed_) name();
    if (::close(std::exchange(descriptor_, -1)) != 0) fail("written");
    if (in_place) return;
    if (!temporary_.empty() && ::rename(temporary_.c_str(), final_.c_str()) != 0) fail("put in place");
    temporary_.clear();
    // The new name survives a power failure only if its folder reaches the disk too, which not every file
    // system can ensure.
    if (const int folder_descriptor = ::open(folder_of_it.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        folder_descriptor >= 0) {
      ::fsync(folder_descriptor);
      ::close(folder_descriptor);
    }
  }

 private:
  std::string folder() const {
    const auto slash = final_.rfind('/');
    return slash == std::string::npos ? "./" : final_.substr(0, slash + 1);
  }

  /// Opens a file without a name; false if the file system does not support it, or if /proc is not available
  /// to give the file a name later.
  bool open_unnamed() {
#ifdef O_TMPFILE
    descriptor_ = ::open(folder().c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    if (descriptor_ < 0) return false;
    unnamed_ = ::access(own_link().c_str(), F_OK) == 0;
    if (!unnamed_) ::close(std::exchange(descriptor_, -1));
#endif
    return unnamed_;
  }

  /// Gives the file its name or, if an old file has that name, a temporary one for the moment.
  void name() {
    const std::string link = own_link();
    const auto name_it = [&](const std::string& name) {
      return ::linkat(AT_FDCWD, link.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
    };
    if (!name_it(final_)) {
      if (errno != EEXIST) fail("put in place");
      with_temporary_name([&] { return name_it(temporary_); });
    }
    unnamed_ = false;
  }

  std::string own_link() const { return text("/proc/self/fd/", descriptor_); }

  /// Calls make(), which creates a file called temporary_, with new names until one is not taken.
  template <class Make>
  void with_temporary_name(const Make& make) {
    for (int attempt = 0;; ++attempt) {
      temporary_ = folder() + temporary_name();
      if (make()) return;
      if (errno == EEXIST && attempt < 100) continue;
      temporary_.clear();
      fail("created");
    }
  }

  static std::string temporary_name() {
    static std::atomic<std::uint32_t> count{0};
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    return text(temporary_prefix(), static_cast<std::int64_t>(now), '-', count.fetch_add(1), ".part");
  }

  [[noreturn]] void fail(std::string_view what) {
    const int reason = errno;
    abandon();
    throw IoError(path_, text("cannot be ", what, ": ", std::strerror(reason)));
  }

  void abandon() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    temporary_.clear();
    unnamed_ = false;
  }

  std::string path_;       ///< as given by the caller
  std::string final_;      ///< where it will appear
  std::string temporary_;  ///< empty if the file is written directly, has no name, or is in place
  bool unnamed_ = false;   ///< whether the file has no name yet
  int descriptor_ = -1;
};

}  // namespace sporos::io

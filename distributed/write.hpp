// SPDX-License-Identifier: Apache-2.0
/// @file write.hpp
/// One file written by all ranks, each writing its own part of the text.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "../formats/io/file.hpp"
#include "../formats/io/memory_errors.hpp"
#include "../formats/io/read.hpp"
#include "agree.hpp"
#include "assemble.hpp"

namespace sporos {

namespace detail {

/// A file that rank 0 creates under a temporary name, PATH.part, and that all ranks write to; rank 0 gives it
/// its name when it is complete, or removes it. (An unnamed file could not be opened by the other ranks.) If
/// the ranks are killed, PATH.part remains until the next file with this name is written.
class SharedFile {
 public:
  /// Collective.
  SharedFile(const Communicator& ranks, const std::string& path)
      : ranks_(ranks), path_(path), temporary_(path + ".part") {
    jointly(ranks_, [&] {
      if (ranks_.rank() == 0) open(O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
      agree(ranks_, Signature("write ").mix(path), text("writing ", path));
    });
    try {
      jointly(ranks_, [&] {
        if (ranks_.rank() != 0) open(O_WRONLY | O_CLOEXEC);
        agree(ranks_, "writing a file");
      });
    } catch (...) {
      close();
      throw;
    }
  }
  ~SharedFile() { close(); }
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  void write_at(std::int64_t at, std::string_view bytes) {
    while (!bytes.empty()) {
      const auto count = ::pwrite(descriptor_, bytes.data(), bytes.size(), at);
      if (count < 0) {
        if (errno == EINTR) continue;
        fail("written");
      }
      bytes.remove_prefix(static_cast<std::size_t>(count));
      at += count;
    }
  }

  /// Makes the file appear under its name. Collective.
  void commit() {
    jointly(ranks_, [&] {
      if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOSYS) fail("written to the disk");
      if (::close(std::exchange(descriptor_, -1)) != 0) fail("written");
      agree(ranks_, "writing a file");
    });
    jointly(ranks_, [&] {
      if (ranks_.rank() == 0 && ::rename(temporary_.c_str(), path_.c_str()) != 0) fail("put in place");
      is_done_ = true;
      agree(ranks_, "writing a file");
    });
  }

 private:
  void close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
    if (!is_done_ && ranks_.rank() == 0) ::unlink(temporary_.c_str());
  }
  void open(int flags) {
    do descriptor_ = ::open(temporary_.c_str(), flags, 0666);
    while (descriptor_ < 0 && errno == EINTR);
    if (descriptor_ < 0) fail("opened for writing");
  }
  [[noreturn]] void fail(std::string_view what) const {
    throw IoError(path_, text("cannot be ", what, ": ", std::strerror(errno)));
  }

  Communicator ranks_;
  std::string path_, temporary_;
  int descriptor_ = -1;
  bool is_done_ = false;
};

/// The lines of entries, with 1-based coordinates.
template <class Value, int Order>
std::string lines_of(const Entries<Value, Order>& entries, bool with_values) {
  std::string out;
  std::array<char, (static_cast<std::size_t>(Order) + 2) * io::scalar_width> line;
  for (std::int64_t e = 0; e < entries.size(); ++e) {
    char* p = line.data();
    for (std::size_t mode = 0; mode < static_cast<std::size_t>(Order); ++mode) {
      if (mode > 0) *p++ = ' ';
      p = io::format_scalar(p, entries.coordinates[mode].data()[e] + 1);
    }
    if (with_values) {
      *p++ = ' ';
      p = io::format_value(p, entries.values.data()[e]);
    }
    *p++ = '\n';
    out.append(line.data(), p);
  }
  return out;
}

}  // namespace detail

/// Writes a distributed tensor as one file, of the kind indicated by its name. For a plain .mtx or .tns file,
/// each rank writes its own entries, those of rank 0 first, to a file system that all ranks can see; other
/// files are written by rank 0, which has to hold the whole tensor. The file appears under its name when it
/// is complete. Collective.
/// @throws IoError, on all ranks, if it cannot be written; FormatError for any other name
template <AnyDistributed T>
void write(const std::string& path, const T& tensor) {
  const Communicator& ranks = tensor.ranks();
  jointly(ranks, [&] {
    const bool is_tns = path.ends_with(".tns"), is_matrix_market = T::order == 2 && path.ends_with(".mtx");
    if (!is_tns && !is_matrix_market) {
      const auto whole = gather(tensor, 0);
      if (whole) write(path, *whole);
      agree(ranks, Signature("write ").mix(path), text("writing ", path));
      return;
    }
    const auto mine = detail::own_entries(tensor);
    agree(ranks, Signature("write ").mix(path), text("writing ", path));
    const std::int64_t stored = ranks.sum(mine.size());
    bool has_values = is_tns;
    std::string head;
    if constexpr (T::order == 2) {
      if (is_matrix_market) {
        MatrixMarketHeader header;
        // A pattern has no values: all ranks' values must be true.
        const io::Field field = io::natural_field(mine, MatrixMarketLayout::coordinate);
        const bool any_values = ranks.max(static_cast<int>(field != io::Field::pattern)) != 0;
        header.field = any_values && field == io::Field::pattern ? io::Field::integer : field;
        header.rows = mine.extents[0];
        header.columns = mine.extents[1];
        header.stored = stored;
        head = io::matrix_market_head(header, "");
        has_values = any_values;
      }
    }
    if (is_tns) {
      head = "# extents";
      for (const std::int64_t extent : mine.extents) head += text(' ', extent);
      head += '\n';
    }
    std::string lines;
    jointly(ranks, [&] {
      lines = io::writing(path, mine, [&] { return detail::lines_of(mine, has_values); });
      agree(ranks, "writing a file");
    });
    const std::int64_t before = std::ssize(head) + ranks.sum_before(std::ssize(lines));
    detail::SharedFile file(ranks, path);
    jointly(ranks, [&] {
      if (ranks.rank() == 0) file.write_at(0, head);
      file.write_at(before, lines);
      agree(ranks, "writing a file");
    });
    file.commit();
  });
}

}  // namespace sporos

// SPDX-License-Identifier: Apache-2.0
/// @file text_source.hpp
/// A text file, plain or gzip, as blocks of whole lines (or words); decompression runs in a separate thread.
#pragma once

#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/thread_spread.hpp"
#include "byte_stream.hpp"
#include "number.hpp"
#include "progress.hpp"

namespace sporos::io {

/// Where a text may be cut into blocks.
enum class Cut { at_lines, at_words };

/// How a text file is read.
struct TextOptions {
  std::size_t block_bytes = std::size_t{1} << 20;   ///< approximate size of a block
  std::size_t longest_line = std::size_t{1} << 20;  ///< a longer line (with Cut::at_words: word) is an error
  Cut cut = Cut::at_lines;
  bool progress = true;  ///< a bar on standard error, if that is a terminal and reading takes over a second
};

/// A fault at a line that is known only relative to its block.
struct LineFault {
  std::int64_t line;  ///< 0 for the block's first line
  std::string reason;
};

/// A piece of the text that ends in a newline (or, with Cut::at_words, in a blank), followed by text_padding
/// readable bytes.
class Block {
 public:
  std::string_view view() const { return {bytes_.get() + begin_, end_ - begin_}; }
  bool empty() const { return begin_ == end_; }
  /// The fraction of the file, 0 to 1, up to the end of this block; 0 if the size of the file is unknown.
  double read_part() const { return read_part_; }
  /// Removes `count` bytes from the front.
  void drop(std::size_t count) { begin_ += count; }
  void clear() { begin_ = end_ = 0; }

 private:
  friend class BlockCutter;

  /// Makes room for `capacity` bytes and the padding; keeps the contents.
  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    std::unique_ptr<char[]> larger(new char[capacity + text_padding]);
    if (end_ > 0) std::memcpy(larger.get(), bytes_.get(), end_);
    bytes_ = std::move(larger);
    capacity_ = capacity;
  }

  std::unique_ptr<char[]> bytes_;
  std::size_t begin_ = 0, end_ = 0, capacity_ = 0;
  double read_part_ = 0;
};

/// Cuts a stream of bytes into blocks.
class BlockCutter {
 public:
  BlockCutter(PlainOrGzipStream& stream, std::string name, const TextOptions& options)
      : stream_(stream),
        name_(std::move(name)),
        options_(options),
        progress_(label(), options.progress ? stream.total() : 0) {}

  /// Fills `block`; false at the end of the text. A last line without a newline gets one.
  bool next(Block& block) {
    block.begin_ = block.end_ = 0;
    if (ended_) return false;
    block.reserve(std::max(options_.block_bytes, 2 * carry_.size()));
    std::memcpy(block.bytes_.get(), carry_.data(), carry_.size());
    block.end_ = carry_.size();
    std::size_t searched = 0;  // no cut is possible before it
    for (;;) {
      while (block.end_ < block.capacity_) {
        const std::size_t count = stream_.read(block.bytes_.get() + block.end_, block.capacity_ - block.end_);
        if (count == 0) {
          ended_ = true;
          break;
        }
        block.end_ += count;
      }
      if (ended_) return finish(block);
      if (const std::size_t cut = last_cut(block, searched); cut > 0) {
        carry_.assign(block.bytes_.get() + cut, block.end_ - cut);
        block.end_ = cut;
        return deliver(block);
      }
      searched = block.end_;
      if (block.end_ >= options_.longest_line)
        throw LineFault{0, text(options_.cut == Cut::at_lines ? "this line" : "this word", " is longer than ",
                                options_.longest_line, " characters: is this a text file?")};
      block.reserve(2 * block.capacity_);
    }
  }

 private:
  std::string label() const {
    const auto slash = name_.rfind('/');
    return "reading " + (slash == std::string::npos ? name_ : name_.substr(slash + 1));
  }

  bool finish(Block& block) {
    carry_.clear();
    if (block.end_ == 0 && last_ == '\n') return false;
    if (block.end_ == 0 || block.bytes_[block.end_ - 1] != '\n') {
      block.reserve(block.end_ + 1);
      block.bytes_[block.end_++] = '\n';
    }
    return deliver(block);
  }

  bool deliver(Block& block) {
    last_ = block.bytes_[block.end_ - 1];
    std::memset(block.bytes_.get() + block.end_, '\n', text_padding);
    const std::int64_t total = stream_.total();
    text_bytes_ += static_cast<double>(block.end_);
    // Text that gzip compresses by more than a factor of twenty is exceptional, so no higher ratio is assumed
    // for what follows.
    const double taken =
        stream_.compressed() ? std::max(static_cast<double>(stream_.taken()), text_bytes_ / 20) : text_bytes_;
    block.read_part_ = total > 0 ? std::min(1.0, taken / static_cast<double>(total)) : 0;
    progress_.update(stream_.taken());
    return true;
  }

  /// The place after the last possible cut; 0 if there is none.
  std::size_t last_cut(const Block& block, std::size_t searched) const {
    std::size_t at = block.end_;
    if (options_.cut == Cut::at_lines) {
      while (at > searched && block.bytes_[at - 1] != '\n') --at;
    } else {
      while (at > searched && !ends_number(block.bytes_[at - 1])) --at;
    }
    return at > searched ? at : 0;
  }

  PlainOrGzipStream& stream_;
  std::string name_;
  TextOptions options_;
  Progress progress_;
  double text_bytes_ = 0;  ///< delivered so far
  std::string carry_;      ///< what was read after the last cut
  char last_ = '\n';       ///< last character delivered
  bool ended_ = false;
};

/// The text of a file as blocks in file order. A separate thread inflates gzip text ahead of its use.
class TextSource {
 public:
  /// Throws ParseError for a directory or broken gzip data, IoError if the file cannot be opened.
  explicit TextSource(const std::string& path, const TextOptions& options = {})
      : TextSource(std::make_unique<FileStream>(path), path, options) {}

  /// The text delivered by `stream`; messages use `name`.
  TextSource(std::unique_ptr<ByteStream> stream, const std::string& name, const TextOptions& options = {})
      : name_(name), stream_(std::move(stream), name), cutter_(stream_, name, options) {
    constexpr std::int64_t worth_a_thread = std::int64_t{1} << 16;
    if (stream_.compressed() && (stream_.total() == 0 || stream_.total() > worth_a_thread))
      ahead_ = std::thread([this, spread = ThreadSpread()] {
        spread.apply();
        read_ahead();
      });
  }
  ~TextSource() {
    if (!ahead_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      abandoned_ = true;
    }
    changed_.notify_all();
    ahead_.join();
  }
  TextSource(const TextSource&) = delete;
  TextSource& operator=(const TextSource&) = delete;

  const std::string& name() const { return name_; }
  bool compressed() const { return stream_.compressed(); }
  std::int64_t file_bytes() const { return stream_.total(); }

  /// The next line, including its newline, which remains to be taken; nullptr at the end of the text. Meant
  /// for headers: next() delivers what follows the lines taken. Throws what next() throws.
  const char* peek_line() {
    if (front_.empty() && !fetch(front_)) return nullptr;
    const std::string_view rest = front_.view();
    line_bytes_ = rest.find('\n') + 1;
    if (line_bytes_ == 0)
      throw LineFault{0, text("this line is longer than ", rest.size(), " characters: is this a text file?")};
    return rest.data();
  }
  /// Takes the next line, which stays valid until the next call; nullptr at the end of the text.
  const char* next_line() {
    const char* const line = peek_line();
    if (!line) return nullptr;
    front_.drop(line_bytes_);
    ++lines_;
    return line;
  }
  /// The number of lines taken with next_line.
  std::int64_t lines_taken() const { return lines_; }

  /// The next block; false at the end of the text. The memory of `block` is reused. Throws ParseError,
  /// IoError, and a LineFault relative to the end of the previous block.
  bool next(Block& block) {
    if (front_.empty()) return fetch(block);
    std::swap(block, front_);
    front_.clear();
    return true;
  }

 private:
  bool fetch(Block& block) {
    if (!ahead_.joinable()) return cutter_.next(block);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !ready_.empty() || finished_; });
    if (ready_.empty()) {
      if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
      return false;
    }
    std::swap(block, ready_.front());
    spare_.push_back(std::move(ready_.front()));
    ready_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return true;
  }

  void read_ahead() {
    Block block;
    for (;;) {
      bool more = false;
      std::exception_ptr failure;
      try {
        more = cutter_.next(block);
      } catch (...) {
        failure = std::current_exception();
      }
      std::unique_lock lock(mutex_);
      if (!more) {
        failure_ = failure;
        finished_ = true;
        lock.unlock();
        changed_.notify_all();
        return;
      }
      changed_.wait(lock, [this] { return ready_.size() < most_ready || abandoned_; });
      if (abandoned_) return;
      ready_.push_back(std::move(block));
      block = Block();
      if (!spare_.empty()) {
        block = std::move(spare_.back());
        spare_.pop_back();
      }
      lock.unlock();
      changed_.notify_all();
    }
  }

  static constexpr std::size_t most_ready = 8;

  std::string name_;
  PlainOrGzipStream stream_;
  BlockCutter cutter_;
  Block front_;                 ///< the block from which next_line takes lines
  std::size_t line_bytes_ = 0;  ///< length of the line that was peeked at, with its newline
  std::int64_t lines_ = 0;

  std::thread ahead_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Block> ready_;
  std::vector<Block> spare_;  ///< memory for later blocks
  bool finished_ = false, abandoned_ = false;
  std::exception_ptr failure_;
};

}  // namespace sporos::io

// SPDX-License-Identifier: Apache-2.0
/// @file zip_write.hpp
/// Writes a ZIP archive whose members are stored, or deflated in parallel.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "deflate.hpp"
#include "in_order.hpp"
#include "output_file.hpp"
#include "zip_read.hpp"

namespace sporos::io {

/// An archive that appears under its name when it is complete.
class ZipWriter {
 public:
  /// @param level  0: members are stored; otherwise 1 (fast) to 9 (small)
  ZipWriter(const std::string& path, int level, int threads)
      : file_(path), level_(level), threads_(threads > 0 ? threads : default_threads()) {}

  /// Adds a member. Throws IoError.
  /// @param head,body  its bytes, first head, then body
  void add(const std::string& name, std::string_view head, std::string_view body) {
    const std::vector<DeflatedPart> parts = packed(head, body);
    Entry entry{name, 0, head.size() + body.size(), 0, at_};
    uLong checksum = crc32(0, nullptr, 0);
    for (const DeflatedPart& part : parts) {
      entry.packed += part.compressed.view().size();
      checksum = crc32_combine(checksum, part.checksum, part.length);
    }
    entry.packed = level_ == 0 ? entry.size : entry.packed + last_deflated_part.size();
    entry.checksum = static_cast<std::uint32_t>(checksum);
    put(local_header(entry));
    if (level_ == 0) {
      put(head);
      put(body);
    } else {
      for (const DeflatedPart& part : parts) put(part.compressed.view());
      put(last_deflated_part);
    }
    entries_.push_back(std::move(entry));
  }

  /// Writes the directory and makes the file appear. Throws IoError.
  void commit() {
    std::string end;
    for (const Entry& entry : entries_) end += central_header(entry);
    end += end_records(end.size());
    put(end);
    file_.commit();
  }

 private:
  struct Entry {
    std::string name;
    std::uint64_t packed, size;
    std::uint32_t checksum;
    std::uint64_t offset;
  };

  static constexpr std::size_t part_bytes = std::size_t{1} << 20;
  static constexpr std::uint64_t most_32 = zip::in_extra64 - 1;

  /// Compresses one part after another, or only computes checksums.
  class PartWorker final : public PieceWorker {
   public:
    PartWorker(const std::vector<std::string_view>& bytes, std::vector<DeflatedPart>& parts,
               std::size_t& next, int level)
        : bytes_(bytes), parts_(parts), next_(next), level_(level) {}
    bool fetch() override {
      if (next_ == bytes_.size()) return false;
      number_ = next_++;
      return true;
    }
    void work() override {
      const std::string_view bytes = bytes_[number_];
      DeflatedPart& part = parts_[number_];
      if (level_ > 0) return deflate_part(bytes, level_, part);
      part.checksum = crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
      part.length = static_cast<z_off_t>(bytes.size());
    }
    void in_turn() override {}

   private:
    const std::vector<std::string_view>& bytes_;
    std::vector<DeflatedPart>& parts_;
    std::size_t& next_;
    int level_;
    std::size_t number_ = 0;
  };

  std::vector<DeflatedPart> packed(std::string_view head, std::string_view body) const {
    std::vector<std::string_view> bytes;
    if (!head.empty()) bytes.push_back(head);
    for (; !body.empty(); body.remove_prefix(std::min(part_bytes, body.size())))
      bytes.push_back(body.substr(0, part_bytes));
    std::vector<DeflatedPart> parts(bytes.size());
    std::size_t next = 0;
    const int workers =
        static_cast<int>(std::min<std::size_t>(bytes.size(), static_cast<std::size_t>(threads_)));
    InOrder::run(workers, [&] { return std::make_unique<PartWorker>(bytes, parts, next, level_); });
    return parts;
  }

  void put(std::string_view bytes) {
    file_.write(bytes);
    at_ += bytes.size();
  }

  template <int Bytes>
  static void append(std::string& out, std::uint64_t value) {
    for (int byte = 0; byte < Bytes; ++byte) out += static_cast<char>(value >> (8 * byte));
  }
  template <int Bytes>
  static void append_at_most(std::string& out, std::uint64_t value) {
    constexpr std::uint64_t most = (std::uint64_t{1} << (8 * Bytes)) - 1;
    append<Bytes>(out, std::min(value, most));
  }

  /// The fields that a member's header and its entry in the directory have in common.
  std::string common_fields(const Entry& entry, std::string_view extra) const {
    std::string out;
    append<2>(out, extra.empty() ? 20 : 45);  // the version needed to extract it
    append<2>(out, 0);                        // no flags
    append<2>(out, level_ == 0 ? zip::stored : zip::deflated);
    append<2>(out, 0);
    append<2>(out, 0x21);  // midnight on 1 January 1980, so that the bytes are the same at any time
    append<4>(out, entry.checksum);
    append_at_most<4>(out, extra.empty() ? entry.packed : zip::in_extra64);
    append_at_most<4>(out, extra.empty() ? entry.size : zip::in_extra64);
    append<2>(out, entry.name.size());
    append<2>(out, extra.size());
    return out;
  }

  static std::string sizes_64(const Entry& entry, bool with_offset) {
    std::string extra;
    append<2>(extra, zip::extra64);
    append<2>(extra, with_offset ? 24 : 16);
    append<8>(extra, entry.size);
    append<8>(extra, entry.packed);
    if (with_offset) append<8>(extra, entry.offset);
    return extra;
  }

  std::string local_header(const Entry& entry) const {
    const bool large = entry.packed > most_32 || entry.size > most_32;
    const std::string extra = large ? sizes_64(entry, false) : "";
    std::string out;
    append<4>(out, zip::local_signature);
    return out + common_fields(entry, extra) + entry.name + extra;
  }

  std::string central_header(const Entry& entry) const {
    const bool large = entry.packed > most_32 || entry.size > most_32 || entry.offset > most_32;
    const std::string extra = large ? sizes_64(entry, true) : "";
    std::string out;
    append<4>(out, zip::central_signature);
    append<2>(out, 45);  // made by version 4.5 of the specification
    out += common_fields(entry, extra);
    out.append(2 + 2 + 2 + 4, '\0');  // no comment, first disk, no attributes
    append_at_most<4>(out, extra.empty() ? entry.offset : zip::in_extra64);
    return out + entry.name + extra;
  }

  std::string end_records(std::uint64_t directory_size) const {
    std::string out;
    if (at_ + directory_size > most_32) {
      append<4>(out, zip::end64_signature);
      append<8>(out, zip::end64_size - 12);
      append<2>(out, 45);
      append<2>(out, 45);
      append<8>(out, 0);  // the first disk, twice
      append<8>(out, entries_.size());
      append<8>(out, entries_.size());
      append<8>(out, directory_size);
      append<8>(out, at_);
      append<4>(out, zip::locator64_signature);
      append<4>(out, 0);
      append<8>(out, at_ + directory_size);
      append<4>(out, 1);
    }
    append<4>(out, zip::end_signature);
    append<4>(out, 0);
    append<2>(out, entries_.size());
    append<2>(out, entries_.size());
    append_at_most<4>(out, directory_size);
    append_at_most<4>(out, at_);
    append<2>(out, 0);
    return out;
  }

  OutputFile file_;
  int level_, threads_;
  std::uint64_t at_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace sporos::io

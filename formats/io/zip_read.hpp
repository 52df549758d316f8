// SPDX-License-Identifier: Apache-2.0
/// @file zip_read.hpp
/// The members of a ZIP archive, stored or deflated, checked against their sizes and checksums.
///
/// PKWARE, ".ZIP File Format Specification", version 6.3.10 (2022).
#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "byte_stream.hpp"
#include "random_bytes.hpp"

namespace sporos::io {

/// Constants from the specification.
namespace zip {

inline constexpr std::uint32_t local_signature = 0x04034b50, central_signature = 0x02014b50,
                               end_signature = 0x06054b50, end64_signature = 0x06064b50,
                               locator64_signature = 0x07064b50;
inline constexpr std::size_t local_size = 30, central_size = 46, end_size = 22, end64_size = 56,
                             locator64_size = 20;
inline constexpr std::uint16_t stored = 0, deflated = 8;
inline constexpr std::uint16_t extra64 = 1;                 ///< the extra field that holds 64-bit sizes
inline constexpr std::uint32_t in_extra64 = 0xffffffff;     ///< marks a size or offset that is stored there
inline constexpr std::uint64_t most_deflated_times = 1032;  ///< deflate never compresses by more

/// An integer of `Bytes` bytes, lowest first.
template <int Bytes>
std::uint64_t number(const char* at) {
  std::uint64_t value = 0;
  for (int byte = 0; byte < Bytes; ++byte)
    value |= std::uint64_t{static_cast<unsigned char>(at[byte])} << (8 * byte);
  return value;
}

}  // namespace zip

/// What the directory of an archive says about a member; none of it is trusted.
struct ZipMember {
  std::string name;
  std::uint64_t offset = 0;  ///< position of its local header
  std::uint64_t packed = 0;  ///< bytes in the archive
  std::uint64_t size = 0;    ///< bytes when unpacked
  std::uint32_t checksum = 0;
  std::uint16_t method = zip::stored;
};

/// The unpacked bytes of a member. Throws ParseError if they do not match its size or checksum, at the latest
/// when the last of them is read.
class ZipMemberStream final : public ByteStream {
 public:
  ZipMemberStream(RandomBytes& archive, const ZipMember& member, std::uint64_t begin, std::string where)
      : archive_(archive), member_(member), where_(std::move(where)), at_(begin), left_(member.packed) {
    if (member_.method == zip::deflated) {
      input_.resize(std::min<std::uint64_t>(input_size, std::max<std::uint64_t>(left_, 1)));
      if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
    }
  }
  ~ZipMemberStream() override {
    if (member_.method == zip::deflated) inflateEnd(&stream_);
  }
  ZipMemberStream(const ZipMemberStream&) = delete;
  ZipMemberStream& operator=(const ZipMemberStream&) = delete;

  std::size_t read(char* out, std::size_t room) override {
    room = static_cast<std::size_t>(std::min<std::uint64_t>({room, member_.size - taken_, most_at_once}));
    if (room == 0) return 0;
    const std::size_t count = member_.method == zip::stored ? copy(out, room) : inflate_some(out, room);
    checksum_ = crc32(checksum_, reinterpret_cast<const Bytef*>(out), static_cast<uInt>(count));
    taken_ += count;
    if (taken_ == member_.size && checksum_ != member_.checksum)
      broken("its bytes do not match its checksum");
    return count;
  }
  std::int64_t taken() const override { return static_cast<std::int64_t>(taken_); }
  std::int64_t total() const override { return static_cast<std::int64_t>(member_.size); }

 private:
  static constexpr std::uint64_t input_size = std::uint64_t{1} << 18;
  static constexpr std::uint64_t most_at_once = std::uint64_t{1} << 30;

  [[noreturn]] void broken(std::string_view reason) const {
    throw ParseError(where_, 0, text(member_.name, ": ", reason));
  }

  std::size_t copy(char* out, std::size_t count) {
    archive_.read_at(at_, out, count);
    at_ += count;
    return count;
  }

  std::size_t inflate_some(char* out, std::size_t room) {
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(room);
    while (stream_.avail_out == room) {
      if (stream_.avail_in == 0) {
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left_, input_.size()));
        if (count == 0) broken("its compressed bytes end before it is complete");
        archive_.read_at(at_, input_.data(), count);
        at_ += count;
        left_ -= count;
        stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
        stream_.avail_in = static_cast<uInt>(count);
      }
      const int status = ::inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_MEM_ERROR) throw std::bad_alloc();
      if (status == Z_STREAM_END && stream_.avail_out == room)
        broken("its compressed bytes end before it is complete");
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        broken(stream_.msg ? stream_.msg : "it cannot be inflated");
    }
    return room - stream_.avail_out;
  }

  RandomBytes& archive_;
  ZipMember member_;
  std::string where_;
  std::uint64_t at_, left_;  ///< the next packed byte, and how many follow it
  std::uint64_t taken_ = 0;
  uLong checksum_ = crc32(0, nullptr, 0);
  std::vector<char> input_;
  z_stream stream_{};
};

/// The directory of an archive.
class ZipArchive {
 public:
  /// Reads the directory. Throws ParseError if the bytes are not an archive, and IoError.
  /// @param name  the archive's name in messages
  ZipArchive(std::unique_ptr<RandomBytes> bytes, std::string name)
      : bytes_(std::move(bytes)), name_(std::move(name)) {
    read_directory();
  }

  const std::string& name() const { return name_; }
  const std::vector<ZipMember>& members() const { return members_; }
  const ZipMember* find(std::string_view name) const {
    for (const ZipMember& member : members_)
      if (member.name == name) return &member;
    return nullptr;
  }

  /// The unpacked bytes of a member; the archive must outlive them. Throws ParseError, IoError.
  std::unique_ptr<ByteStream> open(const ZipMember& member) const {
    const auto expect = [&](bool holds, std::string_view reason) {
      if (!holds) broken(text(member.name, ": ", reason));
    };
    expect(member.method == zip::stored || member.method == zip::deflated,
           text("it is packed by method ", member.method, ", expected 0 (stored) or 8 (deflated)"));
    const std::uint64_t size = bytes_->size();
    expect(member.offset <= size && size - member.offset >= zip::local_size,
           "the directory says that it begins beyond the end of the file");
    const std::string head = part(member.offset, zip::local_size);
    expect(zip::number<4>(head.data()) == zip::local_signature, "it has no header");
    expect((zip::number<2>(head.data() + 6) & 1) == 0, "it is encrypted");
    const std::uint64_t begin =
        member.offset + zip::local_size + zip::number<2>(head.data() + 26) + zip::number<2>(head.data() + 28);
    expect(begin <= size && member.packed <= size - begin, "it is cut off");
    expect(member.method == zip::deflated || member.packed == member.size,
           "it is stored, but its two sizes differ");
    expect(member.method == zip::stored || member.size / zip::most_deflated_times <= member.packed,
           text("its size is said to be ", member.size, " bytes, more than ", member.packed,
                " compressed ones can give"));
    return std::make_unique<ZipMemberStream>(*bytes_, member, begin, name_);
  }

 private:
  [[noreturn]] void broken(const std::string& reason) const {
    throw ParseError(name_, 0, "broken archive: " + reason);
  }

  std::string part(std::uint64_t at, std::uint64_t count) const {
    std::string bytes(static_cast<std::size_t>(count), '\0');
    bytes_->read_at(at, bytes.data(), bytes.size());
    return bytes;
  }

  void read_directory() {
    const std::uint64_t size = bytes_->size();
    const std::uint64_t tail_size = std::min<std::uint64_t>(size, zip::end_size + 0xffff);
    const std::string tail = part(size - tail_size, tail_size);
    std::size_t at = end_record(tail);
    const char* const end = tail.data() + at;
    std::uint64_t count = zip::number<2>(end + 10), length = zip::number<4>(end + 12),
                  offset = zip::number<4>(end + 16);
    const std::uint64_t end_at = size - tail_size + at;
    if (at >= zip::locator64_size && zip::number<4>(end - zip::locator64_size) == zip::locator64_signature) {
      const std::uint64_t at64 = zip::number<8>(end - zip::locator64_size + 8);
      if (at64 > end_at || end_at - at64 < zip::end64_size) broken("its end is not where it says");
      const std::string end64 = part(at64, zip::end64_size);
      if (zip::number<4>(end64.data()) != zip::end64_signature) broken("its end is not where it says");
      count = zip::number<8>(end64.data() + 32);
      length = zip::number<8>(end64.data() + 40);
      offset = zip::number<8>(end64.data() + 48);
    }
    if (offset > end_at || length > end_at - offset) broken("its directory lies beyond its end");
    read_members(part(offset, length), count);
  }

  /// The position of the archive's last record, which a comment may follow.
  std::size_t end_record(const std::string& tail) const {
    if (tail.size() >= zip::end_size)
      for (std::size_t at = tail.size() - zip::end_size + 1; at-- > 0;)
        if (zip::number<4>(tail.data() + at) == zip::end_signature &&
            zip::number<2>(tail.data() + at + 20) == tail.size() - at - zip::end_size)
          return at;
    broken("it has no directory at its end: it was cut off");
  }

  void read_members(const std::string& directory, std::uint64_t count) {
    std::size_t at = 0;
    for (std::uint64_t number = 0; number < count; ++number) {
      const char* const head = directory.data() + at;
      if (directory.size() - at < zip::central_size || zip::number<4>(head) != zip::central_signature)
        broken(text("its directory announces ", count, " members, but member ", number + 1, " is missing"));
      const std::size_t name = zip::number<2>(head + 28), extra = zip::number<2>(head + 30),
                        comment = zip::number<2>(head + 32);
      if (directory.size() - at - zip::central_size < name + extra + comment)
        broken("its directory is cut off");
      ZipMember member;
      member.method = static_cast<std::uint16_t>(zip::number<2>(head + 10));
      member.checksum = static_cast<std::uint32_t>(zip::number<4>(head + 16));
      member.packed = zip::number<4>(head + 20);
      member.size = zip::number<4>(head + 24);
      member.offset = zip::number<4>(head + 42);
      member.name.assign(head + zip::central_size, name);
      take_extra64(member, {head + zip::central_size + name, extra});
      members_.push_back(std::move(member));
      at += zip::central_size + name + extra + comment;
    }
  }

  /// Sizes that do not fit in 32 bits are in an extra field, only those that need it, one after another.
  void take_extra64(ZipMember& member, std::string_view extra) const {
    while (extra.size() >= 4) {
      const std::uint64_t id = zip::number<2>(extra.data()), length = zip::number<2>(extra.data() + 2);
      extra.remove_prefix(4);
      if (length > extra.size()) broken("its directory is cut off");
      if (id == zip::extra64) {
        std::string_view numbers = extra.substr(0, length);
        for (std::uint64_t* const value : {&member.size, &member.packed, &member.offset}) {
          if (*value != zip::in_extra64 || numbers.size() < 8) continue;
          *value = zip::number<8>(numbers.data());
          numbers.remove_prefix(8);
        }
      }
      extra.remove_prefix(length);
    }
  }

  std::unique_ptr<RandomBytes> bytes_;
  std::string name_;
  std::vector<ZipMember> members_;
};

}  // namespace sporos::io

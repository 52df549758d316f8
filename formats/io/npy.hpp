// SPDX-License-Identifier: Apache-2.0
/// @file npy.hpp
/// NumPy .npy files: dense arrays. Reading their nonzeros, writing.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/entries.hpp"
#include "../value_cast.hpp"
#include "byte_stream.hpp"
#include "entry_store.hpp"
#include "matrix_market_header.hpp"
#include "memory_errors.hpp"
#include "npy_header.hpp"
#include "read_options.hpp"
#include "text_sink.hpp"

namespace sporos {
namespace io {

/// The field that describes the elements of an array.
inline Field field_of(const NpyType& type) {
  return type.kind == 'c' ? Field::complex : type.kind == 'f' ? Field::real : Field::integer;
}

/// Calls `body` with a value of the array's element type.
template <class Body>
void with_npy_type(const NpyType& type, const Body& body) {
  switch (type.kind) {
    case 'f':
      return type.bytes == 2 ? body(half{}) : type.bytes == 4 ? body(float{}) : body(double{});
    case 'c':
      return type.bytes == 8 ? body(Kokkos::complex<float>{}) : body(Kokkos::complex<double>{});
    case 'b':
      return body(bool{});
    case 'i':
      return type.bytes == 1   ? body(std::int8_t{})
             : type.bytes == 2 ? body(std::int16_t{})
             : type.bytes == 4 ? body(std::int32_t{})
                               : body(std::int64_t{});
    default:
      return type.bytes == 1   ? body(std::uint8_t{})
             : type.bytes == 2 ? body(std::uint16_t{})
             : type.bytes == 4 ? body(std::uint32_t{})
                               : body(std::uint64_t{});
  }
}

/// Reads the elements of an array, in the order of the file, a block at a time.
class NpyElements {
 public:
  /// @param stream  positioned at the first element
  /// @param file    the name used in messages
  NpyElements(ByteStream& stream, const NpyHeader& header, std::string file)
      : stream_(stream), header_(header), file_(std::move(file)) {
    if (header.type.kind == 'S' || header.type.kind == 'U')
      throw ParseError(file_, 0, text("it holds text ('", header.descr, "'), expected numbers"));
  }

  /// Reads the next `count` elements, which must exist. Throws ParseError for one that `Value` cannot hold.
  template <class Value>
  void read(Value* out, std::size_t count) {
    const auto width = static_cast<std::size_t>(header_.type.bytes);
    constexpr std::size_t block = std::size_t{1} << 14;
    bytes_.resize(std::min(count, block) * width);
    for (std::size_t done = 0; done < count;) {
      const std::size_t some = std::min(count - done, block);
      read_fully(stream_, bytes_.data(), some * width, file_, "its array");
      if (header_.type.swapped) swap_bytes(some);
      with_npy_type(header_.type, [&]<class Stored>(Stored) { convert<Stored>(out + done, some); });
      done += some;
      taken_ += static_cast<std::int64_t>(some);
    }
  }

  /// Throws ParseError if anything follows.
  void expect_end() {
    char more = 0;
    if (stream_.read(&more, 1) != 0)
      throw ParseError(file_, 0, text("more bytes follow the ", header_.count, " elements of its array"));
  }

 private:
  void swap_bytes(std::size_t count) {
    const int parts = header_.type.kind == 'c' ? 2 : 1;
    const std::ptrdiff_t width = header_.type.bytes / parts;
    for (char *at = bytes_.data(), *end = at + static_cast<std::ptrdiff_t>(count) * header_.type.bytes;
         at != end; at += width)
      std::reverse(at, at + width);
  }

  template <class Stored, class Value>
  void convert(Value* out, std::size_t count) {
    for (std::size_t q = 0; q < count; ++q) {
      Stored element{};
      if constexpr (std::is_same_v<Stored, bool>)
        element = bytes_[q] != 0;
      else
        std::memcpy(static_cast<void*>(&element), bytes_.data() + q * sizeof(Stored), sizeof(Stored));
      if (!value_cast(element, out[q]))
        throw ParseError(file_, 0,
                         text("element ", taken_ + static_cast<std::int64_t>(q), " is ", value_text(element),
                              ", which ", value_name<Value>(), " cannot hold"));
    }
  }

  ByteStream& stream_;
  const NpyHeader& header_;
  std::string file_;
  std::int64_t taken_ = 0;
  std::vector<char> bytes_;
};

/// Iterates over the coordinates of an array in the order of its elements.
template <int Order>
class NpyCoordinate {
 public:
  explicit NpyCoordinate(const NpyHeader& header) : fortran_(header.fortran_order) {
    std::copy(header.shape.begin(), header.shape.end(), extents_.begin());
  }
  const Extents<Order>& extents() const { return extents_; }
  const Extents<Order>& operator*() const { return at_; }
  void operator++() {
    for (std::size_t step = 0; step < at_.size(); ++step) {
      const std::size_t mode = fortran_ ? step : at_.size() - 1 - step;
      if (++at_[mode] < extents_[mode]) return;
      at_[mode] = 0;
    }
  }

 private:
  bool fortran_;
  Extents<Order> extents_{}, at_{};
};

}  // namespace io

/// Reads the header of a .npy file, plain or gzip. Throws ParseError, IoError.
inline NpyHeader read_npy_header(const std::string& path) {
  io::PlainOrGzipStream stream(std::make_unique<io::FileStream>(path), path);
  return io::take_npy_header(stream, path);
}

/// The nonzeros of .npy data; see read_npy_entries(path).
template <TensorValue Value, int Order>
  requires(Order >= 1)
Entries<Value, Order> read_npy_entries(io::ByteStream& stream, const std::string& name) {
  const NpyHeader header = io::take_npy_header(stream, name);
  if (std::ssize(header.shape) != Order)
    io::refuse_order(name, text("an array of ", header.shape.size(), " dimensions"), std::ssize(header.shape),
                     Order);
  io::NpyElements elements(stream, header, name);
  io::NpyCoordinate<Order> coordinate(header);
  io::EntryStore<Value, Order> store(header.count);
  const std::int64_t most = std::min<std::int64_t>(header.count, 1 << 16);
  const auto block =
      std::make_unique<Value[]>(static_cast<std::size_t>(most));  // a vector of bool would have no array
  for (std::int64_t done = 0; done < header.count;) {
    const auto some = static_cast<std::size_t>(std::min(header.count - done, most));
    elements.read(block.get(), some);
    done += static_cast<std::int64_t>(some);
    const auto nonzeros =
        std::count_if(block.get(), block.get() + some, [](const Value& value) { return value != Value(0); });
    if (nonzeros == 0) {
      for (std::size_t q = 0; q < some; ++q) ++coordinate;
      continue;
    }
    const auto slot = store.reserve(nonzeros, static_cast<double>(done) / static_cast<double>(header.count));
    std::size_t at = 0;
    for (std::size_t q = 0; q < some; ++q, ++coordinate) {
      if (!(block[q] != Value(0))) continue;
      for (std::size_t mode = 0; mode < slot.coordinates.size(); ++mode)
        slot.coordinates[mode][at] = (*coordinate)[mode];
      slot.values[at++] = block[q];
    }
  }
  elements.expect_end();
  return store.take(coordinate.extents());
}

/// The nonzeros of a NumPy .npy file, plain or gzip, in the order of its elements: an array of booleans,
/// integers, real or complex numbers in either byte order, in C or Fortran order. Cost: linear in the array.
///
/// @throws ParseError for malformed data and elements that `Value` cannot hold; ShapeError for an array of
/// another order; IoError if the file cannot be read; MemoryError
template <TensorValue Value, int Order>
  requires(Order >= 1)
Entries<Value, Order> read_npy_entries(const std::string& path) {
  expect_kokkos();
  return io::reading(path, [&] {
    io::PlainOrGzipStream stream(std::make_unique<io::FileStream>(path), path);
    return read_npy_entries<Value, Order>(stream, path);
  });
}

/// Writes `entries` as a dense array in C order, a NumPy .npy file of version 1, compressed if `path` ends in
/// .gz; elements without an entry are 0. The file appears when it is complete. Cost: memory and time linear
/// in the array.
///
/// @throws FormatError if a coordinate occurs twice, the array has more elements than 64 bits can count, or
/// NumPy has no such type; MemoryError; IoError if the file cannot be written
template <TensorValue Value, int Order>
  requires(Order >= 1)
void write_npy(const std::string& path, const Entries<Value, Order>& entries) {
  io::writing(path, entries, [&] {
    const std::string type = io::npy_type<Value>();
    std::int64_t count = 1;
    for (const std::int64_t extent : entries.extents)
      if (__builtin_mul_overflow(count, extent, &count))
        throw FormatError(text(path, ": an array of ", to_string(entries.extents),
                               " has more elements than 64 bits count: write it as .npz"));
    const HostArray<Value> array = make_array<Value>("sporos::npy", count);
    Kokkos::deep_copy(array, Value(0));
    std::vector<bool> taken(static_cast<std::size_t>(count));
    for (std::int64_t q = 0; q < entries.size(); ++q) {
      std::int64_t at = 0;
      for (std::size_t mode = 0; mode < entries.coordinates.size(); ++mode)
        at = at * entries.extents[mode] + entries.coordinates[mode](static_cast<std::size_t>(q));
      if (taken[static_cast<std::size_t>(at)])
        throw FormatError(text(path, ": two entries have the coordinates of entry ", q,
                               ", but an array has one element there: assemble the entries first"));
      taken[static_cast<std::size_t>(at)] = true;
      array(static_cast<std::size_t>(at)) = entries.values(static_cast<std::size_t>(q));
    }
    io::TextSink sink(path, 6);
    sink.put(io::npy_head(type, {entries.extents.begin(), entries.extents.end()}));
    const std::string_view bytes(reinterpret_cast<const char*>(array.data()),
                                 static_cast<std::size_t>(count) * sizeof(Value));
    constexpr std::size_t piece = std::size_t{1} << 20;
    io::put_pieces(sink, static_cast<std::int64_t>((bytes.size() + piece - 1) / piece), 0,
                   [&](std::int64_t number, io::TextBuffer& out) {
                     const std::string_view part =
                         bytes.substr(static_cast<std::size_t>(number) * piece, piece);
                     char* const at = out.room(part.size());
                     std::memcpy(at, part.data(), part.size());
                     out.end(at + part.size());
                   });
    sink.commit();
  });
}

}  // namespace sporos

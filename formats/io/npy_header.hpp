// SPDX-License-Identifier: Apache-2.0
/// @file npy_header.hpp
/// The first bytes of a NumPy .npy file: the type, order and shape of the array that follows.
///
///     \x93NUMPY 1 0 118 {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
///
/// NumPy Enhancement Proposal 1, "A simple file format for NumPy arrays", and its versions 2 and 3.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/value.hpp"
#include "byte_stream.hpp"
#include "number.hpp"

namespace sporos {

/// The type of the elements of an array.
struct NpyType {
  char kind = 'f';       ///< NumPy's letter: b(ool), i(nt), u(nsigned), f(loat), c(omplex), S or U (text)
  int bytes = 8;         ///< per element
  bool swapped = false;  ///< the bytes of a number are in the opposite order to this machine's
};

/// The information in the first bytes of a .npy file.
struct NpyHeader {
  NpyType type;
  bool fortran_order = false;       ///< the first coordinate runs fastest
  std::vector<std::int64_t> shape;  ///< empty for a single value
  std::int64_t count = 1;           ///< product of the shape
  std::string descr;                ///< the type as written in the file: '<f8'
};

namespace io {

inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// Reads exactly `count` bytes; if there are fewer, throws a ParseError that says what they were to be.
inline void read_fully(ByteStream& stream, char* out, std::size_t count, const std::string& file,
                       std::string_view what) {
  for (std::size_t got = 0; got < count;) {
    const std::size_t more = stream.read(out + got, count - got);
    if (more == 0)
      throw ParseError(file, 0, text("the file ends in the middle of ", what, ": it was cut off"));
    got += more;
  }
}

/// Parses the dictionary of a header, which is a Python literal.
class NpyDictionary {
 public:
  NpyDictionary(std::string_view literal, const std::string& file) : literal_(literal), file_(file) {}

  NpyHeader parse() {
    NpyHeader header;
    bool has_type = false, has_order = false, has_shape = false;
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        header.descr = quoted();
        header.type = type_of(header.descr);
        has_type = true;
      } else if (key == "fortran_order") {
        header.fortran_order = boolean();
        has_order = true;
      } else if (key == "shape") {
        header.shape = tuple();
        has_shape = true;
      } else {
        refuse(text("the unknown key '", key, "'"));
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip();
    if (at_ != literal_.size()) refuse("something behind the dictionary");
    if (!has_type || !has_order || !has_shape) refuse("no 'descr', 'fortran_order' or 'shape'");
    header.count = count_of(header.shape);
    return header;
  }

 private:
  [[noreturn]] void refuse(std::string_view found) const {
    throw ParseError(file_, 0, text("the header of the .npy data has ", found));
  }

  void skip() {
    while (at_ < literal_.size() && (is_blank(literal_[at_]) || literal_[at_] == '\n')) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ == literal_.size() || literal_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) refuse(text("no '", c, "' at byte ", at_, " of its dictionary"));
  }

  std::string quoted() {
    skip();
    const char quote = at_ < literal_.size() ? literal_[at_] : '\0';
    if (quote == '[') refuse("a structured type, expected numbers");
    if (quote != '\'' && quote != '"') refuse(text("no text in quotes at byte ", at_, " of its dictionary"));
    const std::size_t end = literal_.find(quote, at_ + 1);
    if (end == std::string_view::npos) refuse("a text without its closing quote");
    std::string out(literal_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return out;
  }

  bool boolean() {
    skip();
    for (const std::string_view word : {"True", "False"})
      if (literal_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return word == "True";
      }
    refuse("neither True nor False as 'fortran_order'");
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> out;
    expect('(');
    while (!take(')')) {
      skip();
      std::int64_t extent = 0;
      const std::size_t first = at_;
      for (; at_ < literal_.size() && is_digit(literal_[at_]); ++at_)
        if (__builtin_mul_overflow(extent, 10, &extent) ||
            __builtin_add_overflow(extent, literal_[at_] - '0', &extent))
          refuse("an extent that 64 bits do not hold");
      if (at_ == first || out.size() == 32) refuse("a 'shape' that is no tuple of at most 32 integers");
      if (at_ < literal_.size() && literal_[at_] == 'L') ++at_;  // Python 2
      out.push_back(extent);
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return out;
  }

  std::int64_t count_of(const std::vector<std::int64_t>& shape) const {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape)
      if (__builtin_mul_overflow(count, extent, &count))
        refuse("a 'shape' of more elements than 64 bits count");
    return count;
  }

  NpyType type_of(std::string_view descr) const {
    const auto unknown = [&] {
      refuse(text("the type '", descr, "', expected booleans, integers, real or complex numbers"));
    };
    NpyType type;
    if (descr.size() < 3 || descr.size() > 8) unknown();
    const char order = descr[0];
    if (order != '<' && order != '>' && order != '|' && order != '=') unknown();
    type.kind = descr[1];
    type.bytes = 0;
    for (const char digit : descr.substr(2)) {
      if (!is_digit(digit)) unknown();
      type.bytes = 10 * type.bytes + (digit - '0');
    }
    if (type.kind == 'U') type.bytes *= 4;
    const bool little = std::endian::native == std::endian::little;
    type.swapped = (order == '<' && !little) || (order == '>' && little);
    constexpr std::array known = {std::string_view("b1"), std::string_view("i1"), std::string_view("i2"),
                                  std::string_view("i4"), std::string_view("i8"), std::string_view("u1"),
                                  std::string_view("u2"), std::string_view("u4"), std::string_view("u8"),
                                  std::string_view("f2"), std::string_view("f4"), std::string_view("f8"),
                                  std::string_view("c8"), std::string_view("c16")};
    if (type.kind == 'S' || type.kind == 'U') return type;
    for (const std::string_view name : known)
      if (descr.substr(1) == name) return type;
    unknown();
    return type;
  }

  std::string_view literal_;
  const std::string& file_;
  std::size_t at_ = 0;
};

/// Reads the header; the next byte of the stream is then the first of the array.
/// @param file  the name used in messages
inline NpyHeader take_npy_header(ByteStream& stream, const std::string& file) {
  std::array<char, 12> head{};
  read_fully(stream, head.data(), 8, file, "its first bytes, those of a .npy file");
  if (std::string_view(head.data(), npy_magic.size()) != npy_magic)
    throw ParseError(file, 0, "this is no .npy data: it does not begin with \\x93NUMPY");
  const int version = head[6];
  if (version < 1 || version > 3)
    throw ParseError(file, 0, text("this is .npy data of version ", version, ", expected 1, 2 or 3"));
  const std::size_t width = version == 1 ? 2 : 4;
  read_fully(stream, head.data() + 8, width, file, "its header");
  std::size_t length = 0;
  for (std::size_t byte = 0; byte < width; ++byte)
    length |= static_cast<std::size_t>(static_cast<unsigned char>(head[8 + byte])) << (8 * byte);
  constexpr std::size_t longest = 1 << 16;
  if (length > longest)
    throw ParseError(file, 0,
                     text("its header is said to take ", length, " bytes, expected at most ", longest));
  std::string literal(length, '\0');
  read_fully(stream, literal.data(), length, file, "its header");
  return NpyDictionary(literal, file).parse();
}

/// NumPy's name for `Value`. Throws FormatError for a type that NumPy lacks.
template <TensorValue Value>
std::string npy_type() {
  const char order = sizeof(Value) == 1 ? '|' : std::endian::native == std::endian::little ? '<' : '>';
  char kind = '\0';
  if constexpr (std::same_as<Value, bool>)
    kind = 'b';
  else if constexpr (std::integral<Value>)
    kind = std::is_signed_v<Value> ? 'i' : 'u';
  else if constexpr (is_complex_v<Value>)
    kind = 'c';
  else if constexpr (std::same_as<Value, half> || std::same_as<Value, float> || std::same_as<Value, double>)
    kind = 'f';
  if (kind == '\0')
    throw FormatError(text("NumPy has no type for values of type ", value_name<Value>(),
                           ": write them as float or double"));
  return text(order, kind, static_cast<int>(sizeof(Value)));
}

/// The header of an array, padded so that the array is aligned.
inline std::string npy_head(std::string_view type, const std::vector<std::int64_t>& shape) {
  std::string extents;
  for (const std::int64_t extent : shape) extents += text(extent, ", ");
  if (shape.size() > 1) extents.resize(extents.size() - 2);
  if (shape.size() == 1) extents.resize(extents.size() - 1);
  std::string literal = text("{'descr': '", type, "', 'fortran_order': False, 'shape': (", extents, "), }");
  constexpr std::size_t alignment = 64, before = 10;  // magic, version and length
  literal.append((alignment - (before + literal.size() + 1) % alignment) % alignment, ' ');
  literal += '\n';
  std::string head(npy_magic);
  head += {'\1', '\0', static_cast<char>(literal.size() & 0xff), static_cast<char>(literal.size() >> 8)};
  return head + literal;
}

}  // namespace io
}  // namespace sporos

// SPDX-License-Identifier: Apache-2.0
/// @file json.hpp
/// JSON, to the extent that descriptors of files need it: parsing a text into a tree of values, and writing
/// strings.
///
/// RFC 8259, "The JavaScript Object Notation (JSON) Data Interchange Format".
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "../../core/error.hpp"

namespace sporos::io {

/// A JSON value and everything below it.
struct Json {
  enum class Kind { null, boolean, number, string, array, object };

  Kind kind = Kind::null;
  std::string text;                ///< the decoded characters of a string; for other kinds, the source text
  std::vector<Json> items;         ///< elements of an array, or values of an object's members
  std::vector<std::string> names;  ///< names of an object's members, in order

  bool is(Kind other) const { return kind == other; }

  /// The member of an object with this name, the first if there are several; nullptr if there is none.
  const Json* find(std::string_view name) const {
    for (std::size_t at = 0; at < names.size(); ++at)
      if (names[at] == name) return &items[at];
    return nullptr;
  }

  /// The value of a number that is an integer, even if written as 5.0 or 1e3; nothing for any other value.
  std::optional<std::int64_t> integer() const {
    if (kind != Kind::number) return std::nullopt;
    const char* const end = text.data() + text.size();
    std::int64_t whole = 0;
    if (const auto [to, fault] = std::from_chars(text.data(), end, whole); fault == std::errc{} && to == end)
      return whole;
    double number = 0;
    if (const auto [to, fault] = std::from_chars(text.data(), end, number); fault != std::errc{} || to != end)
      return std::nullopt;
    constexpr double exact = 9007199254740992;  // 2^53: beyond it, doubles do not represent all integers
    if (number != std::trunc(number) || std::abs(number) > exact) return std::nullopt;
    return static_cast<std::int64_t>(number);
  }
};

/// Why a text is not valid JSON.
struct JsonFault {
  std::size_t byte;  ///< its position, counted from 0
  std::string reason;
};

/// Parses one text; throws JsonFault.
class JsonParser {
 public:
  explicit JsonParser(std::string_view source) : source_(source) {}

  Json parse() {
    Json value = take_value(0);
    skip();
    if (at_ != source_.size()) refuse("the end of the text");
    return value;
  }

 private:
  /// The deepest nesting of arrays and objects; deeper ones could exhaust the stack.
  static constexpr int deepest = 64;

  [[noreturn]] void refuse(std::string_view expected) const {
    throw JsonFault{at_, sporos::text("expected ", expected)};
  }

  bool is_at(char c) const { return at_ < source_.size() && source_[at_] == c; }
  void skip() {
    while (is_at(' ') || is_at('\t') || is_at('\n') || is_at('\r')) ++at_;
  }
  bool take(char c) {
    skip();
    if (!is_at(c)) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) refuse(sporos::text('\'', c, '\''));
  }

  Json take_value(int depth) {
    if (depth > deepest) throw JsonFault{at_, sporos::text("values lie more than ", deepest, " deep")};
    skip();
    const std::size_t begin = at_;
    Json value;
    if (is_at('"')) {
      value.kind = Json::Kind::string;
      value.text = take_string();
      return value;
    }
    if (is_at('{'))
      take_object(value, depth);
    else if (is_at('['))
      take_array(value, depth);
    else if (is_at('-') || is_digit())
      take_number(value);
    else
      take_word(value);
    value.text = source_.substr(begin, at_ - begin);
    return value;
  }

  void take_object(Json& value, int depth) {
    value.kind = Json::Kind::object;
    expect('{');
    if (take('}')) return;
    do {
      skip();
      if (!is_at('"')) refuse("the name of a member in double quotes");
      value.names.push_back(take_string());
      expect(':');
      value.items.push_back(take_value(depth + 1));
    } while (take(','));
    if (!take('}')) refuse("',' or '}'");
  }

  void take_array(Json& value, int depth) {
    value.kind = Json::Kind::array;
    expect('[');
    if (take(']')) return;
    do value.items.push_back(take_value(depth + 1));
    while (take(','));
    if (!take(']')) refuse("',' or ']'");
  }

  bool is_digit() const { return at_ < source_.size() && source_[at_] >= '0' && source_[at_] <= '9'; }
  void take_digits() {
    if (!is_digit()) refuse("a digit");
    while (is_digit()) ++at_;
  }
  void take_number(Json& value) {
    value.kind = Json::Kind::number;
    if (is_at('-')) ++at_;
    if (is_at('0'))
      ++at_;
    else
      take_digits();
    if (is_at('.')) {
      ++at_;
      take_digits();
    }
    if (is_at('e') || is_at('E')) {
      ++at_;
      if (is_at('+') || is_at('-')) ++at_;
      take_digits();
    }
  }

  void take_word(Json& value) {
    for (const std::string_view word : {"true", "false", "null"}) {
      if (!source_.substr(at_).starts_with(word)) continue;
      value.kind = word == "null" ? Json::Kind::null : Json::Kind::boolean;
      at_ += word.size();
      return;
    }
    refuse("a value");
  }

  std::string take_string() {
    std::string out;
    for (++at_; !is_at('"'); ++at_) {
      if (at_ == source_.size()) refuse("'\"' at the end of a string");
      if (static_cast<unsigned char>(source_[at_]) < 0x20) refuse("no control character in a string");
      if (source_[at_] == '\\')
        take_escape(out);
      else
        out += source_[at_];
    }
    ++at_;
    return out;
  }

  /// Decodes an escape sequence; the position is left at its last character.
  void take_escape(std::string& out) {
    ++at_;
    constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    if (is_at('u')) return append_utf8(out, take_code_point());
    const auto which = at_ < source_.size() ? letters.find(source_[at_]) : std::string_view::npos;
    if (which == std::string_view::npos) refuse("one of \"\\/bfnrtu after a backslash");
    out += meanings[which];
  }

  /// Reads the four hexadecimal digits after the current character, the 'u' of an escape.
  std::uint32_t take_hexadecimal() {
    std::uint32_t code = 0;
    for (int digit = 0; digit < 4; ++digit) {
      ++at_;
      const auto which = at_ < source_.size() ? std::string_view("0123456789abcdefABCDEF").find(source_[at_])
                                              : std::string_view::npos;
      if (which == std::string_view::npos) refuse("four hexadecimal digits after \\u");
      code = 16 * code + static_cast<std::uint32_t>(which < 16 ? which : which - 6);
    }
    return code;
  }

  /// Characters beyond the first 65536 are written as two surrogates.
  std::uint32_t take_code_point() {
    const std::uint32_t first = take_hexadecimal();
    if (first < 0xd800 || first > 0xdfff) return first;
    if (first > 0xdbff || !source_.substr(at_ + 1).starts_with("\\u")) refuse("a pair of surrogates");
    at_ += 2;
    const std::uint32_t second = take_hexadecimal();
    if (second < 0xdc00 || second > 0xdfff) refuse("a pair of surrogates");
    return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
  }

  static void append_utf8(std::string& out, std::uint32_t code) {
    const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
    const auto follow = [&](int shift) { put(0x80 | (code >> shift & 0x3f)); };
    if (code < 0x80) return put(code);
    if (code < 0x800) {
      put(0xc0 | code >> 6);
    } else if (code < 0x10000) {
      put(0xe0 | code >> 12);
      follow(6);
    } else {
      put(0xf0 | code >> 18);
      follow(12);
      follow(6);
    }
    follow(0);
  }

  std::string_view source_;
  std::size_t at_ = 0;
};

/// A text as a JSON string, in double quotes.
inline std::string json_string(std::string_view characters) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : characters) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += digits[static_cast<unsigned char>(c) >> 4];
      out += digits[static_cast<unsigned char>(c) & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace sporos::io

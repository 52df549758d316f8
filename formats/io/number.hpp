// SPDX-License-Identifier: Apache-2.0
/// @file number.hpp
/// Numbers as text: fast parsing of coordinates and values, and writing with the fewest digits that read back
/// as the same number.
///
/// Every parser takes a pointer into a text that ends in a newline followed by at least `text_padding`
/// readable bytes (a block of TextSource), so that it need not check for the end. It returns a pointer to
/// what follows the number, or nullptr if there is no number of the requested kind.
#pragma once

#include <fast_float/fast_float.h>

#include <bit>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/value.hpp"

namespace sporos::io {

/// Number of bytes that may be read after the last newline of a text.
inline constexpr std::size_t text_padding = 16;

/// What the values of a text file are, according to the file.
enum class Field { real, integer, complex, pattern };

constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
/// Whether a number may end before this character.
constexpr bool ends_number(char c) { return c == '\n' || is_blank(c); }

inline const char* skip_blanks(const char* p) {
  while (is_blank(*p)) ++p;
  return p;
}

/// The place after the newline that ends the line at `p`.
inline const char* skip_line(const char* p, const char* end) {
  const void* newline = std::memchr(p, '\n', static_cast<std::size_t>(end - p));
  return newline ? static_cast<const char*>(newline) + 1 : end;
}

/// The line that begins at `p`, without its newline.
inline std::string_view line_at(const char* p) {
  const char* end = p;
  while (*end != '\n') ++end;
  return {p, static_cast<std::size_t>(end - p)};
}

/// Takes the next word at `p`, in lower case, and moves `p` past it. Empty at the end of the line.
inline std::string take_word(const char*& p) {
  std::string word;
  for (p = skip_blanks(p); !ends_number(*p); ++p)
    word += *p >= 'A' && *p <= 'Z' ? static_cast<char>(*p - 'A' + 'a') : *p;
  return word;
}

/// An unsigned decimal integer; nullptr if there is no digit or 64 bits cannot hold the number.
inline const char* parse_unsigned(const char* p, std::uint64_t& value) {
  if constexpr (std::endian::native == std::endian::little) {
    // Eight characters at once: digits become 0..9, and the lowest byte of `stop` whose high bit is set marks
    // the first character that is not a digit. One path for all lengths avoids the branch that a loop over
    // digits would mispredict.
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    word ^= 0x3030303030303030u;
    const std::uint64_t stop = ((word + 0x7676767676767676u) | word) & 0x8080808080808080u;
    if (stop != 0) [[likely]] {
      const int digits = std::countr_zero(stop) >> 3;
      if (digits == 0) return nullptr;
      word <<= 64 - 8 * digits;  // zeros go in front
      word = word * 10 + (word >> 8);
      value = ((word & 0x000000FF000000FFu) * 0x000F424000000064u +
               ((word >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u) >>
              32;
      return p + digits;
    }
  }
  if (!is_digit(*p)) return nullptr;
  std::uint64_t sum = 0;
  for (; is_digit(*p); ++p)
    if (__builtin_mul_overflow(sum, 10u, &sum) ||
        __builtin_add_overflow(sum, static_cast<std::uint64_t>(*p - '0'), &sum))
      return nullptr;
  value = sum;
  return p;
}

/// A non-negative 64-bit integer (a coordinate, a count) followed by a blank or newline.
inline const char* parse_count(const char* p, std::int64_t& value) {
  std::uint64_t magnitude = 0;
  p = parse_unsigned(p, magnitude);
  if (!p || !ends_number(*p) || magnitude > static_cast<std::uint64_t>(INT64_MAX)) return nullptr;
  value = static_cast<std::int64_t>(magnitude);
  return p;
}

/// An integer with an optional sign, checked against the range of `Integer`.
template <std::integral Integer>
const char* parse_integer(const char* p, Integer& value) {
  const bool negative = *p == '-';
  if (*p == '-' || *p == '+') ++p;
  std::uint64_t magnitude = 0;
  p = parse_unsigned(p, magnitude);
  if (!p) return nullptr;
  using Limits = std::numeric_limits<Integer>;
  const auto largest = static_cast<std::uint64_t>(Limits::max());
  if (negative) {
    if (magnitude > (Limits::is_signed ? largest + 1 : 0)) return nullptr;
    value = static_cast<Integer>(std::uint64_t{0} - magnitude);
  } else {
    if (magnitude > largest) return nullptr;
    value = static_cast<Integer>(magnitude);
  }
  return p;
}

/// Whether `x` is an infinity; correct even with -ffast-math, where std::isinf may fail.
inline bool is_infinite(double x) {
  return (std::bit_cast<std::uint64_t>(x) & 0x7fffffffffffffffu) == 0x7ff0000000000000u;
}

namespace detail {

/// The text of a number with Fortran's exponent letter (1.5D+03) replaced by C's.
inline std::string with_c_exponent(const char* p) {
  std::string token;
  for (; !ends_number(*p); ++p) token += (*p == 'd' || *p == 'D' || *p == 'q' || *p == 'Q') ? 'e' : *p;
  return token;
}

}  // namespace detail

/// A real number, rounded to nearest; nan and inf by name; Fortran's D exponents. nullptr if there is no
/// number, or if a finite number is too large for `Real`.
template <std::floating_point Real>
const char* parse_real(const char* p, const char* end, Real& value) {
  if (*p == '+') {
    ++p;
    if (*p == '-') return nullptr;
  }
  const auto result = fast_float::from_chars(p, end, value);
  if (result.ec != std::errc() && result.ptr == p) return nullptr;
  const char* stop = result.ptr;
  const char* first = p + (*p == '-');
  const bool by_digits = is_digit(*first) || *first == '.';
  if (by_digits && !ends_number(*stop) && (*stop == 'd' || *stop == 'D' || *stop == 'q' || *stop == 'Q'))
      [[unlikely]] {
    const std::string token = detail::with_c_exponent(p);
    const auto again = fast_float::from_chars(token.data(), token.data() + token.size(), value);
    if (again.ptr != token.data() + token.size()) return nullptr;
    stop = p + token.size();
  }
  if (is_infinite(static_cast<double>(value)) && by_digits) [[unlikely]]
    return nullptr;
  return stop;
}

/// A value of type `Real`, `Integer`, bool or 16-bit float from text of field `F` (real or integer). Real
/// text gives an integer only if the number is one; bool is 0 or 1 only.
template <class Value, Field F>
const char* parse_scalar(const char* p, const char* end, Value& value) {
  if constexpr (std::same_as<Value, bool>) {
    std::uint8_t small = 0;
    p = parse_scalar<std::uint8_t, F>(p, end, small);
    value = small == 1;
    return small <= 1 ? p : nullptr;
  } else if constexpr (is_narrow_float_v<Value>) {
    float wide = 0;
    p = parse_scalar<float, F>(p, end, wide);
    if (!p) return nullptr;
    value = Value(wide);
    return is_infinite(static_cast<float>(value)) && !is_infinite(wide) ? nullptr : p;
  } else if constexpr (std::integral<Value>) {
    const char* stop = parse_integer(p, value);
    if constexpr (F == Field::integer) return stop;
    if (stop && ends_number(*stop)) [[likely]]
      return stop;
    double real = 0;
    stop = parse_real(p, end, real);
    constexpr double exact = 9007199254740992.0;  // up to here every integer is a double
    if (!stop || !(real >= -exact && real <= exact)) return nullptr;
    const auto whole = static_cast<std::int64_t>(real);
    if (static_cast<double>(whole) != real || !std::in_range<Value>(whole)) return nullptr;
    value = static_cast<Value>(whole);
    return stop;
  } else if constexpr (F == Field::integer) {
    std::int64_t whole = 0;
    p = parse_integer(p, whole);
    value = static_cast<Value>(whole);
    return p;
  } else {
    return parse_real(p, end, value);
  }
}

/// A value of any tensor type from text of field `F`, which a blank or a newline must follow.
template <class Value, Field F>
const char* parse_value(const char* p, const char* end, Value& value) {
  if constexpr (F == Field::pattern) {
    value = Value(1);
    return p;
  } else if constexpr (is_complex_v<Value>) {
    using Real = typename Value::value_type;
    constexpr Field part = F == Field::complex ? Field::real : F;
    Real real = 0, imaginary = 0;
    p = parse_scalar<Real, part>(p, end, real);
    if constexpr (F == Field::complex) {
      if (!p || !is_blank(*p)) return nullptr;
      p = parse_scalar<Real, part>(skip_blanks(p), end, imaginary);
    }
    if (!p || !ends_number(*p)) return nullptr;
    value = Value(real, imaginary);
    return p;
  } else {
    static_assert(F != Field::complex, "a complex file is read into a complex value type");
    p = parse_scalar<Value, F>(p, end, value);
    return p && ends_number(*p) ? p : nullptr;
  }
}

/// The token at `p` for a message: quoted, with unprintable bytes as `\xNN`, truncated to 40 characters; "the
/// end of the line" if there is none.
inline std::string found(const char* p) {
  p = skip_blanks(p);
  if (*p == '\n') return "the end of the line";
  constexpr std::string_view hex = "0123456789abcdef";
  std::string out = "'";
  for (int count = 0; !ends_number(*p); ++p, ++count) {
    if (count == 40) {
      out += "…";
      break;
    }
    const auto byte = static_cast<unsigned char>(*p);
    if (byte >= 0x20 && byte < 0x7f) {
      out += *p;
    } else {
      out += "\\x";
      out += hex[byte >> 4];
      out += hex[byte & 15];
    }
  }
  return out + "'";
}

namespace detail {

/// Whether the token at `p` has the form of a decimal number, or of an integer, whatever its size.
inline bool has_form_of_number(const char* p, bool integer) {
  const auto digits = [&p] {
    const char* const first = p;
    while (is_digit(*p)) ++p;
    return p != first;
  };
  if (*p == '-' || *p == '+') ++p;
  bool any = digits();
  if (!integer && *p == '.') {
    ++p;
    any |= digits();
  }
  if (!integer && any && std::string_view("eEdDqQ").find(*p) != std::string_view::npos) {
    ++p;
    if (*p == '-' || *p == '+') ++p;
    any = digits();
  }
  return any && ends_number(*p);
}

}  // namespace detail

/// Why parse_value<Value, F> rejects the text at `p`.
template <class Value, Field F>
std::string why_no_value(const char* p, const char* end) {
  const std::string token = found(p);
  if constexpr (F == Field::complex) {
    using Real = typename Value::value_type;
    Real part = 0;
    const char* const q = parse_scalar<Real, Field::real>(p, end, part);
    if (!q || !ends_number(*q)) return why_no_value<Real, Field::real>(p, end);
    if (*skip_blanks(q) == '\n')
      return "found the end of the line, expected the imaginary part of a complex value";
    return why_no_value<Real, Field::real>(skip_blanks(q), end) + " as imaginary part";
  } else {
    std::int64_t whole = 0;
    double real = 0;
    const auto fits = [](const char* stop) { return stop && ends_number(*stop); };
    const bool integer = detail::has_form_of_number(p, true);
    if (F == Field::integer && !integer) return text("found ", token, ", expected an integer");
    if (fits(parse_integer(p, whole)))
      return text("found ", token, ", which ", value_name<Value>(),
                  " cannot hold: read the file as int64 or double");
    if (F == Field::integer) return text(token, " does not fit in 64 bits");
    if (fits(parse_real(p, end, real)))
      return text("found ", token, ", which ", value_name<Value>(), " cannot hold: read the file as double");
    if (detail::has_form_of_number(p, false)) return text(token, " is too large for ", value_name<Value>());
    return text("found ", token, ", expected a real number");
  }
}

/// The largest number of characters that a written scalar takes.
inline constexpr std::size_t scalar_width = 32;

/// Writes `value` with the fewest digits that read back as the same `Value`; returns the end of the text.
template <class Value>
char* format_scalar(char* out, Value value) {
  if constexpr (std::same_as<Value, bool>) {
    *out = value ? '1' : '0';
    return out + 1;
  } else if constexpr (is_narrow_float_v<Value>) {
    const auto wide = static_cast<float>(value);
    for (int digits = 1; digits < 9; ++digits) {
      const auto result = std::to_chars(out, out + scalar_width, wide, std::chars_format::general, digits);
      float back = 0;
      fast_float::from_chars(out, result.ptr, back);
      if (Value(back).bits == value.bits) return result.ptr;
    }
    return std::to_chars(out, out + scalar_width, wide).ptr;
  } else {
    return std::to_chars(out, out + scalar_width, value).ptr;
  }
}

/// Writes a value of any tensor type; complex as "real imaginary".
template <class Value>
char* format_value(char* out, const Value& value) {
  if constexpr (is_complex_v<Value>) {
    out = format_scalar(out, value.real());
    *out++ = ' ';
    return format_scalar(out, value.imag());
  } else {
    return format_scalar(out, value);
  }
}

}  // namespace sporos::io

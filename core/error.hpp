// SPDX-License-Identifier: Apache-2.0
/// @file error.hpp
/// Typed errors under one `sporos::Error`, and one-word checks whose messages say what was given, what was
/// expected and what to do.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace sporos {

/// The base class of all errors that Sporos throws.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The extents of two tensors, or of a tensor and its data, do not match.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// A tensor's arrays break the rules of its format, or a format cannot hold what it is given.
class FormatError : public Error {
 public:
  using Error::Error;
};

/// A statement cannot be run with the schedule that it was given.
class ScheduleError : public Error {
 public:
  using Error::Error;
};

/// The right side of a statement does not say what to compute.
class ExpressionError : public Error {
 public:
  using Error::Error;
};

/// A number does not fit in the type that has to hold it.
class RangeError : public Error {
 public:
  using Error::Error;
};

/// Memory cannot be allocated, or a statement needs more than its bound allows.
class MemoryError : public Error {
 public:
  using Error::Error;
};

/// Something is used before it is initialised or after it is gone (Kokkos is not running, for example).
class StateError : public Error {
 public:
  using Error::Error;
};

/// Processes that work together disagree: they call different operations, or a message cannot be delivered.
class CommError : public Error {
 public:
  using Error::Error;
};

/// A file cannot be opened, read or written; the message gives the system's reason.
class IoError : public Error {
 public:
  IoError(std::string file, std::string_view reason)
      : Error(file + ": " + std::string(reason)), file_(std::move(file)) {}

  const std::string& file() const noexcept { return file_; }

 private:
  std::string file_;
};

/// The text of a file does not follow the rules of its format.
class ParseError : public Error {
 public:
  /// @param file    the file as the caller named it
  /// @param line    line number, from 1; 0 if the fault is on no particular line (empty file, broken gzip)
  /// @param reason  what was found and what was expected
  ParseError(std::string file, std::int64_t line, std::string reason)
      : Error(file + (line > 0 ? ":" + std::to_string(line) : std::string()) + ": " + reason),
        file_(std::move(file)),
        line_(line),
        reason_(std::move(reason)) {}

  const std::string& file() const noexcept { return file_; }
  std::int64_t line() const noexcept { return line_; }
  const std::string& reason() const noexcept { return reason_; }

 private:
  std::string file_;
  std::int64_t line_;
  std::string reason_;
};

/// A bug in Sporos: please report it with its message.
class InternalError : public Error {
 public:
  using Error::Error;
};

namespace detail {

/// A part of a text: letters or a number. A single type for both, so that one function joins any parts.
class TextPart {
 public:
  TextPart(std::string_view letters) : kind_(Kind::letters), letters_(letters) {}
  TextPart(const std::string& letters) : TextPart(std::string_view(letters)) {}
  TextPart(const char* letters) : TextPart(std::string_view(letters)) {}
  TextPart(char letter) : kind_(Kind::letter), letter_(letter) {}
  template <std::integral Number>
  TextPart(Number number) {
    if constexpr (std::is_signed_v<Number>) {
      kind_ = Kind::signed_number;
      signed_ = number;
    } else {
      kind_ = Kind::unsigned_number;
      unsigned_ = number;
    }
  }
  TextPart(float number) : kind_(Kind::single_precision), single_(number) {}
  TextPart(double number) : kind_(Kind::double_precision), double_(number) {}

  void append_to(std::string& out) const {
    char digits[32];
    const auto append_number = [&](auto number) {
      out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
    };
    switch (kind_) {
      case Kind::letters:
        out += letters_;
        break;
      case Kind::letter:
        out += letter_;
        break;
      case Kind::signed_number:
        append_number(signed_);
        break;
      case Kind::unsigned_number:
        append_number(unsigned_);
        break;
      case Kind::single_precision:
        append_number(single_);
        break;
      case Kind::double_precision:
        append_number(double_);
        break;
    }
  }

 private:
  enum class Kind : char {
    letters,
    letter,
    signed_number,
    unsigned_number,
    single_precision,
    double_precision
  };

  Kind kind_;
  union {
    std::string_view letters_;
    char letter_;
    std::int64_t signed_;
    std::uint64_t unsigned_;
    float single_;
    double double_;
  };
};

inline std::string joined(std::initializer_list<TextPart> parts) {
  std::string out;
  for (const TextPart& part : parts) part.append_to(out);
  return out;
}

}  // namespace detail

/// The parts, concatenated: `text("extent ", 3, " of ", name)`.
template <class... Parts>
std::string text(const Parts&... parts) {
  return detail::joined({detail::TextPart(parts)...});
}

/// A place in the source as compilers print it: "file:line: ".
inline std::string place(const std::source_location& where) {
  return text(where.file_name(), ':', where.line(), ": ");
}

/// Throws InternalError unless `holds`: for conditions that only a bug in Sporos can break.
inline void ensure(bool holds, std::string_view claim,
                   std::source_location where = std::source_location::current()) {
  if (!holds) throw InternalError(place(where) + "broken invariant: " + std::string(claim));
}

/// Throws ShapeError unless extent `a` equals extent `b`.
/// @param what_a,what_b  how the message names the two modes: "mode 1 of B (k)"
inline void expect_same_extent(std::string_view what_a, std::int64_t a, std::string_view what_b,
                               std::int64_t b, std::source_location where = std::source_location::current()) {
  if (a != b)
    throw ShapeError(text(place(where), what_a, " has extent ", a, ", but ", what_b, " has extent ", b,
                          ": an index variable runs over one extent only"));
}

/// `value`, converted to `To`.
/// @param what  how the message names the value
/// @throws RangeError if `To` cannot hold the value
template <std::integral To, std::integral From>
To narrow(From value, std::string_view what) {
  if (!std::in_range<To>(value))
    throw RangeError(
        text(what, " is ", value, ", which a ", 8 * static_cast<int>(sizeof(To)),
             "-bit index cannot hold (largest: ", std::numeric_limits<To>::max(),
             "): choose a wider index type in the format, e.g. CSR<std::int64_t, std::int64_t>"));
  return static_cast<To>(value);
}

}  // namespace sporos

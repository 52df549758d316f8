// SPDX-License-Identifier: Apache-2.0
/// @file error.hpp
/// Typed errors under one `sporos::Error`, and one-word checks whose messages say what was given, what was
/// expected and what to do.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
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
  /// @param line    1-based line of the text; 0 if the fault is on no particular line (empty file, broken
  /// gzip)
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

inline void append_text(std::string& out, std::string_view part) { out += part; }
inline void append_text(std::string& out, char part) { out += part; }
template <class Number>
  requires(std::is_arithmetic_v<Number> && !std::same_as<Number, char>)
void append_text(std::string& out, Number part) {
  if constexpr (std::is_floating_point_v<Number>) {
    char digits[32];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, part).ptr);
  } else {
    out += std::to_string(part);
  }
}

}  // namespace detail

/// The parts, concatenated: `text("extent ", 3, " of ", name)`.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::string out;
  (detail::append_text(out, parts), ...);
  return out;
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

/// `value` as a `To`.
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

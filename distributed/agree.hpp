// SPDX-License-Identifier: Apache-2.0
/// @file agree.hpp
/// Errors in several processes: what fails on one rank fails on all of them, with the same typed error.
///
/// A step in which other ranks wait begins with `agree`: every rank says whether it has failed since the last
/// one, and what it is about to do. A rank that has failed goes straight to its next agreement:
///
///     rank 0   …  agree  exchange  …  agree  …              throws rank 1's error
///     rank 1   …  agree  exchange  … throws ↘ fail          throws its own error
///     rank 2   …  agree  exchange  …  agree  …              throws rank 1's error
///
/// So nothing hangs as long as each exchange of messages follows an agreement, with nothing in between that
/// can throw. The error that all ranks throw is marked as known to all, and passes through other agreements
/// unchanged. Ranks doing different things is an error of this kind as well: the agreement compares what they
/// are about to do. Cost: one MPI_Allreduce of four numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "../core/error.hpp"
#include "communicator.hpp"

namespace sporos {

/// Marks an error that all ranks throw.
class Agreed {
 public:
  virtual ~Agreed() = default;
};

/// An error that all ranks throw. It can be caught by its own type: `catch (const ShapeError&)`.
template <class E>
class AgreedError : public E, public Agreed {
 public:
  using E::E;
};

/// What the ranks of a communicator are about to do, as a number: 62 bits of a hash of its text.
class Signature {
 public:
  constexpr Signature() = default;
  constexpr Signature(const char* what) : Signature(std::string_view(what)) {}  // NOLINT: implicit
  constexpr Signature(std::string_view what) { mix(what); }                     // NOLINT
  Signature(const std::string& what) : Signature(std::string_view(what)) {}     // NOLINT

  constexpr Signature& mix(std::string_view more) {
    for (const char c : more) step(static_cast<unsigned char>(c));
    return *this;
  }
  constexpr Signature& mix(std::uint64_t more) {
    for (int byte = 0; byte < 8; ++byte) step(more >> (8 * byte) & 0xff);
    return *this;
  }
  constexpr std::int64_t number() const { return static_cast<std::int64_t>(hash_ >> 2); }
  constexpr std::uint64_t hash() const { return hash_; }

 private:
  constexpr void step(std::uint64_t byte) { hash_ = (hash_ ^ byte) * 0x100000001b3u; }  // FNV-1a
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

namespace detail {

/// The kind of an error, as a number that can be sent to other ranks.
enum class ErrorKind : std::int64_t {
  shape,
  format,
  schedule,
  expression,
  range,
  memory,
  state,
  comm,
  io,
  parse,
  internal,
  other
};

/// An error as text that can be sent to other ranks.
struct Failure {
  ErrorKind kind = ErrorKind::other;
  std::int64_t line = 0;  ///< line of a ParseError
  std::string file;       ///< file of a ParseError or an IoError
  std::string message;    ///< without the file, for these two

  /// The failure for an exception.
  static Failure of(const std::exception_ptr& thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const ParseError& e) {
      return {ErrorKind::parse, e.line(), e.file(), e.reason()};
    } catch (const IoError& e) {
      const std::string_view what = e.what();
      return {ErrorKind::io, 0, e.file(),
              std::string(what.substr(std::min(what.size(), e.file().size() + 2)))};
    } catch (const ShapeError& e) {
      return {ErrorKind::shape, 0, {}, e.what()};
    } catch (const FormatError& e) {
      return {ErrorKind::format, 0, {}, e.what()};
    } catch (const ScheduleError& e) {
      return {ErrorKind::schedule, 0, {}, e.what()};
    } catch (const ExpressionError& e) {
      return {ErrorKind::expression, 0, {}, e.what()};
    } catch (const RangeError& e) {
      return {ErrorKind::range, 0, {}, e.what()};
    } catch (const MemoryError& e) {
      return {ErrorKind::memory, 0, {}, e.what()};
    } catch (const StateError& e) {
      return {ErrorKind::state, 0, {}, e.what()};
    } catch (const CommError& e) {
      return {ErrorKind::comm, 0, {}, e.what()};
    } catch (const InternalError& e) {
      return {ErrorKind::internal, 0, {}, e.what()};
    } catch (const std::bad_alloc&) {
      return {ErrorKind::memory, 0, {}, "memory cannot be allocated"};
    } catch (const std::length_error&) {
      return {ErrorKind::memory, 0, {}, "memory cannot be allocated: more elements than there are addresses"};
    } catch (const std::exception& e) {
      return {ErrorKind::other, 0, {}, e.what()};
    } catch (...) {
      return {ErrorKind::other, 0, {}, "an exception that is no std::exception"};
    }
  }

  [[noreturn]] void raise() const {
    switch (kind) {
      case ErrorKind::shape:
        throw AgreedError<ShapeError>(message);
      case ErrorKind::format:
        throw AgreedError<FormatError>(message);
      case ErrorKind::schedule:
        throw AgreedError<ScheduleError>(message);
      case ErrorKind::expression:
        throw AgreedError<ExpressionError>(message);
      case ErrorKind::range:
        throw AgreedError<RangeError>(message);
      case ErrorKind::memory:
        throw AgreedError<MemoryError>(message);
      case ErrorKind::state:
        throw AgreedError<StateError>(message);
      case ErrorKind::comm:
        throw AgreedError<CommError>(message);
      case ErrorKind::io:
        throw AgreedError<IoError>(file, message);
      case ErrorKind::parse:
        throw AgreedError<ParseError>(file, line, message);
      case ErrorKind::internal:
        throw AgreedError<InternalError>(message);
      case ErrorKind::other:
        break;
    }
    throw AgreedError<Error>(message);
  }
};

/// Makes the text of one rank known on all ranks.
inline std::string text_of_rank(const Communicator& ranks, std::string mine, int from) {
  std::int64_t size = std::ssize(mine);
  ranks.broadcast(&size, 1, from);
  mine.resize(static_cast<std::size_t>(size));
  ranks.broadcast(mine.data(), size, from);
  return mine;
}

/// Throws the failure of rank `from` on all ranks.
[[noreturn]] inline void raise_everywhere(const Communicator& ranks, Failure mine, int from) {
  std::int64_t numbers[2] = {static_cast<std::int64_t>(mine.kind), mine.line};
  ranks.broadcast(numbers, 2, from);
  const std::string message = text_of_rank(ranks, std::move(mine.message), from);
  std::string file = text_of_rank(ranks, std::move(mine.file), from);
  Failure{static_cast<ErrorKind>(numbers[0]), numbers[1], std::move(file),
          text(message, " (on rank ", from, " of ", ranks.size(), ")")}
      .raise();
}

/// Throws the CommError that says which ranks are doing different things.
[[noreturn]] inline void refuse_differences(const Communicator& ranks, Signature mine,
                                            std::string_view what) {
  std::int64_t first = mine.number();
  ranks.broadcast(&first, 1, 0);
  const int other = ranks.min(mine.number() == first ? ranks.size() : ranks.rank());
  const std::string here = text_of_rank(ranks, std::string(what), 0);
  const std::string there = text_of_rank(ranks, std::string(what), other);
  throw AgreedError<CommError>(
      text("ranks do different things: rank 0 is at ", here, ", rank ", other, " at ", there,
           here == there ? " with other extents, distributions or types, or another plan of it" : "",
           ": all ranks of a communicator call the same operations in the same order"));
}

/// What ranks learn from each other in an agreement, besides whether one has failed.
struct Said {
  std::int64_t largest = 0;  ///< the largest of the numbers given
};

/// One agreement; see the top of the file.
inline Said agreement(const Communicator& ranks, Signature signature, std::string_view what,
                      std::int64_t number, const Failure* failure) {
  if (ranks.size() == 1) return {number};
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::int64_t least[4] = {none, signature.number(), -signature.number(), -number};
  if (failure) {
    least[0] = ranks.rank();
    least[1] = least[2] = least[3] = none;
  }
  ranks.min(least, 4);
  if (least[0] != none) raise_everywhere(ranks, failure ? *failure : Failure{}, static_cast<int>(least[0]));
  if (least[1] != -least[2]) refuse_differences(ranks, signature, what);
  return {-least[3]};
}

}  // namespace detail

/// Returns if no rank has failed since the last agreement and all are about to do the same; otherwise all
/// ranks throw the same error.
/// @param what    what the ranks are about to do, for the message if they do not agree
/// @param number  every rank learns the largest of these numbers
inline detail::Said agree(const Communicator& ranks, Signature signature, std::string_view what,
                          std::int64_t number = 0) {
  return detail::agreement(ranks, signature, what, number, nullptr);
}
inline detail::Said agree(const Communicator& ranks, std::string_view what, std::int64_t number = 0) {
  return agree(ranks, Signature(what), what, number);
}

/// Returns f(), and turns its errors into errors of all ranks: an error not yet known to all is reported at
/// the other ranks' next agreement. So f must end with an agreement, unless nothing can fail after its last
/// one.
template <class F>
decltype(auto) jointly(const Communicator& ranks, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const Agreed&) {
    throw;
  } catch (...) {
    if (ranks.size() == 1) throw;
    const detail::Failure failure = detail::Failure::of(std::current_exception());
    detail::agreement(ranks, {}, {}, 0, &failure);
    throw;  // not reached
  }
}

/// The main part of a program: runs f() on every rank, and turns its errors into errors of all ranks
/// (jointly()). The first rank prints them to standard error.
/// @return what f returns, the program's exit status; 1 after an error
template <class F>
int run_jointly(const Communicator& ranks, F&& f) {
  try {
    return jointly(ranks, [&] {
      const int status = std::forward<F>(f)();
      agree(ranks, "the end");
      return status;
    });
  } catch (const std::exception& error) {
    if (ranks.rank() == 0) std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace sporos

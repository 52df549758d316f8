// SPDX-License-Identifier: Apache-2.0
/// @file memory_budget.hpp
/// MemoryBudget: how many bytes a workspace may allocate, and how many it has.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "../core/error.hpp"

namespace sporos {

/// A workspace needs more than the memory limit in its settings allows.
class WorkspaceLimitError : public MemoryError {
 public:
  WorkspaceLimitError(const std::string& what, std::int64_t limit) : MemoryError(what), limit_(limit) {}

  /// The limit in bytes.
  std::int64_t limit() const { return limit_; }

 private:
  std::int64_t limit_;
};

/// Counts the bytes that a workspace holds, and refuses those beyond a limit before they are allocated.
class MemoryBudget {
 public:
  /// @param limit  bytes; 0 for none
  explicit MemoryBudget(std::int64_t limit = 0) : limit_(limit) {}

  /// Bytes held.
  std::int64_t used() const { return used_; }
  /// Bytes that may still be taken.
  std::int64_t left() const {
    return limit_ > 0 ? limit_ - used_ : std::numeric_limits<std::int64_t>::max() - used_;
  }
  std::int64_t limit() const { return limit_; }

  /// Takes `bytes`; before they are allocated, `freed` of the bytes held are given back.
  /// @param purpose  what the bytes are for, as the message names it
  /// @throws WorkspaceLimitError if the limit does not allow them; nothing is taken then
  void take(std::int64_t bytes, std::int64_t freed, std::string_view purpose) {
    if (bytes > left() + freed)
      throw WorkspaceLimitError(text("a sparse workspace takes ", used_ - freed + bytes, " bytes with ",
                                     purpose, ", and its memory limit allows ", limit_),
                                limit_);
    used_ += bytes - freed;
  }
  void give_back(std::int64_t bytes) { used_ -= bytes; }

 private:
  std::int64_t limit_;
  std::int64_t used_ = 0;
};

}  // namespace sporos

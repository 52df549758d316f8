// SPDX-License-Identifier: Apache-2.0
/// @file workspace_shelf.hpp
/// Workspaces for the chunks of a loop that are computed at the same time.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace sporos::detail {

/// Lends workspaces to chunks and makes a new one when none is free.
///
/// All of them belong to the shelf, those of chunks that have thrown too. So none is freed inside a parallel
/// loop, where freeing a Kokkos View would wait for that loop to end.
/// @tparam W  the type of a workspace
template <class W>
class WorkspaceShelf {
 public:
  /// A workspace that nobody uses. May be called by several threads at once.
  /// @param make  returns a std::unique_ptr<W> to a new workspace
  template <class Make>
  W& take(const Make& make) {
    std::unique_ptr<W>* place = nullptr;
    {
      const std::lock_guard lock(guard_);
      if (!free_.empty()) {
        W& workspace = *free_.back();
        free_.pop_back();
        return workspace;
      }
      free_.reserve(all_.size() + 1);  // so that give_back() cannot fail
      place = &all_.emplace_back();
    }
    *place = make();
    return **place;
  }
  /// Makes a workspace free again, which is as it was when it was taken.
  void give_back(W& workspace) noexcept {
    const std::lock_guard lock(guard_);
    free_.push_back(&workspace);
  }
  /// Frees all workspaces if some were not given back: a chunk that threw may have left anything in its own.
  /// Not to be called inside a loop.
  void forget_unfinished() {
    if (free_.size() == all_.size()) return;
    free_.clear();
    all_.clear();
  }
  /// Calls f(workspace) with each that has been made. Not to be called inside a loop.
  template <class F>
  void for_each(const F& f) const {
    for (const auto& workspace : all_)
      if (workspace) f(*workspace);
  }

 private:
  std::mutex guard_;
  std::deque<std::unique_ptr<W>> all_;  ///< a deque, since places must stay while others are added
  std::vector<W*> free_;
};

}  // namespace sporos::detail

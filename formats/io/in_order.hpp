// SPDX-License-Identifier: Apache-2.0
/// @file in_order.hpp
/// Parallel work on the pieces of a file, with one step that runs for all pieces in file order.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "../../core/space.hpp"
#include "../../core/thread_spread.hpp"

namespace sporos::io {

/// The work of one thread, which processes one piece after another. Pieces are fetched by one thread at a
/// time and numbered in that order; in_turn() runs in the order of these numbers, one piece at a time; work()
/// and after() run in any order and at the same time.
class PieceWorker {
 public:
  virtual ~PieceWorker() = default;
  /// Takes the next piece; false if there is none left.
  virtual bool fetch() = 0;
  virtual void work() = 0;
  virtual void in_turn() = 0;
  virtual void after() {}
};

/// Runs `worker_count` workers, each on a thread of its own (one is the calling thread), until nothing is
/// left to fetch. If several throw, the exception from the earliest piece is rethrown, so that the outcome
/// does not depend on the number of threads.
class InOrder {
 public:
  using MakeWorker = std::function<std::unique_ptr<PieceWorker>()>;

  static void run(int worker_count, const MakeWorker& make_worker) {
    InOrder pieces;
    std::vector<std::unique_ptr<PieceWorker>> workers;
    for (int thread = 0; thread < std::max(1, worker_count); ++thread) workers.push_back(make_worker());
    std::vector<std::thread> threads;
    // The first piece is processed before any thread is created: a small file needs none.
    if (pieces.one_piece(*workers.front())) {
      const ThreadSpread spread;
      threads.reserve(workers.size());
      for (std::size_t other = 1; other < workers.size(); ++other) {
        const auto all = [&pieces, spread, &worker = *workers[other]] {
          spread.apply();
          pieces.all(worker);
        };
        // If the system refuses more threads, the existing ones do all the work.
        if (outcome([&] { threads.emplace_back(all); })) break;
      }
      pieces.all(*workers.front());
    }
    for (auto& thread : threads) thread.join();
    if (pieces.failure_) std::rethrow_exception(pieces.failure_);
  }

 private:
  void all(PieceWorker& worker) {
    while (one_piece(worker)) {
    }
  }

  /// Processes one piece; false if the worker has nothing more to do.
  bool one_piece(PieceWorker& worker) {
    std::exception_ptr failure;
    std::int64_t number = 0;
    {
      const std::lock_guard lock(fetching_);
      if (exhausted_) return false;
      try {
        if (!worker.fetch()) exhausted_ = true;
      } catch (...) {
        failure = std::current_exception();
        exhausted_ = true;
      }
      if (exhausted_ && !failure) return false;
      number = fetched_++;
    }
    if (!failure) failure = outcome([&] { worker.work(); });
    {
      std::unique_lock lock(turning_);
      turned_over_.wait(lock, [&] { return turn_ == number || failure_; });
      if (failure_) return false;
      if (!failure) failure = outcome([&] { worker.in_turn(); });
      failure_ = failure;
      ++turn_;
    }
    turned_over_.notify_all();
    if (failure) {
      stop();
      return false;
    }
    worker.after();
    return true;
  }

  void stop() {
    const std::lock_guard lock(fetching_);
    exhausted_ = true;
  }

  template <class Body>
  static std::exception_ptr outcome(Body body) {
    try {
      body();
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }

  std::mutex fetching_;
  bool exhausted_ = false;
  std::int64_t fetched_ = 0;

  std::mutex turning_;
  std::condition_variable turned_over_;
  std::int64_t turn_ = 0;
  std::exception_ptr failure_;
};

/// The default number of threads for reading and writing: that of the default host space.
inline int default_threads() {
  return Kokkos::is_initialized() && !Kokkos::is_finalized()
             ? std::max(1, static_cast<int>(Host().concurrency()))
             : 1;
}

}  // namespace sporos::io

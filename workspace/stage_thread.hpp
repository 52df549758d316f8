// SPDX-License-Identifier: Apache-2.0
/// @file stage_thread.hpp
/// StageThread: a thread that runs one stage of a pipeline while its owner runs another.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "../core/may_free.hpp"
#include "../core/thread_spread.hpp"

namespace sporos::detail {

/// Runs one task at a time, which its owner starts and waits for. The task sees what the owner did before
/// `start`, and the owner sees after `wait` what the task did.
class StageThread {
 public:
  using Task = void (*)(void* argument);

  /// @throws std::system_error if the system has no more threads
  StageThread()
      : thread_([this, spread = ThreadSpread()](const std::stop_token& stop) {
          spread.apply();
          const ServesALoop serves;
          run(stop);
        }) {}
  StageThread(const StageThread&) = delete;
  StageThread& operator=(const StageThread&) = delete;
  /// Ends the thread after the task that it runs.
  ~StageThread() {
    const std::stop_source stop = thread_.get_stop_source();
    stop.request_stop();
    thread_.join();
  }

  /// Makes the thread call task(argument), which may throw. The previous task must have been waited for.
  void start(Task task, void* argument) {
    {
      const std::lock_guard lock(guard_);
      task_ = task;
      argument_ = argument;
    }
    changed_.notify_all();
  }
  /// Waits for the task, if there is one.
  /// @return the exception that it threw, or none; each is returned once
  std::exception_ptr wait() {
    std::unique_lock lock(guard_);
    changed_.wait(lock, [this] { return !task_; });
    return std::exchange(failure_, nullptr);
  }

 private:
  void run(const std::stop_token& stop) {
    std::unique_lock lock(guard_);
    while (changed_.wait(lock, stop, [this] { return task_ != nullptr; })) {
      lock.unlock();
      std::exception_ptr failure;
      try {
        task_(argument_);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      failure_ = failure;
      task_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex guard_;
  std::condition_variable_any changed_;
  Task task_ = nullptr;
  void* argument_ = nullptr;
  std::exception_ptr failure_;
  std::jthread thread_;  // last, so that the other members exist while it runs
};

}  // namespace sporos::detail

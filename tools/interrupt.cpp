// SPDX-License-Identifier: Apache-2.0
/// @file interrupt.cpp
/// A thread that waits for signals: unlike a signal handler, it may search folders.
#include "interrupt.hpp"

#include <pthread.h>
#include <signal.h>

#include <filesystem>
#include <mutex>
#include <sporos/formats/io/output_file.hpp>
#include <system_error>
#include <thread>

namespace sporos::tool {
namespace {

namespace fs = std::filesystem;

std::mutex guard;
fs::path folder;

void remove_unfinished() {
  const std::lock_guard lock(guard);
  if (folder.empty()) return;
  std::error_code ignored;
  const std::string begin = io::OutputFile::temporary_prefix();
  for (fs::directory_iterator it(folder, ignored), end; it != end; it.increment(ignored))
    if (it->path().filename().string().starts_with(begin)) fs::remove(it->path(), ignored);
}

/// The signals that end the program, except ignored ones (as under nohup).
sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action{};
    sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&set, number);
  }
  return set;
}

}  // namespace

void clean_up_when_interrupted() {
  const sigset_t set = ending_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);  // threads started from here on inherit this
  std::thread([set] {
    int number = 0;
    if (sigwait(&set, &number) != 0) return;
    remove_unfinished();
    // The parent process should see that a signal ended the program.
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    signal(number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
    raise(number);
  }).detach();
}

void will_write(const std::string& path) {
  const std::lock_guard lock(guard);
  std::error_code ignored;
  // A symbolic link is kept and the file that it points to is replaced, so the temporary file is next to that
  // file.
  const fs::path target = fs::exists(path, ignored) ? fs::canonical(path, ignored) : fs::path(path);
  folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
}

}  // namespace sporos::tool

// SPDX-License-Identifier: Apache-2.0
/// @file threads.cpp
/// The threads that the tool starts, and what they do while they wait.
#include <Kokkos_Core.hpp>
#include <optional>

#include "tool.hpp"

#ifdef KOKKOS_ENABLE_OPENMP
namespace {

using namespace sporos_test;

/// A variable of the environment, set or removed for the duration of a scope.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    assign(value);
  }
  ~Variable() { assign(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void assign(const char* value) const {
    if (value)
      setenv(name_, value, 1);
    else
      unsetenv(name_);
  }

  const char* name_;
  std::optional<std::string> before_;
};

const std::string most_threads = std::to_string(Kokkos::Impl::OpenMPTraits::MAX_THREAD_COUNT);
const std::string one_too_many = std::to_string(Kokkos::Impl::OpenMPTraits::MAX_THREAD_COUNT + 1);
const std::string refusal =
    " asks for " + one_too_many + " threads, but Kokkos' OpenMP runs at most " + most_threads + "\n";

TEST(Threads, AreRefusedWhereKokkosHasNoRoomForThem) {
  const std::string path = example_data("LFAT5.mtx");
  expect_refused({"info", path, "--threads", "100000"}, "--threads asks for 100000 threads");
  expect_refused({"info", path, "--threads", one_too_many}, "sporos: --threads" + refusal);
}

TEST(Threads, AreRefusedWhereTheEnvironmentAsksForTooMany) {
  const std::string path = example_data("LFAT5.mtx");
  const Variable without("KOKKOS_NUM_THREADS", nullptr);
  const Variable openmp("OMP_NUM_THREADS", one_too_many.c_str());
  expect_refused({"info", path}, "sporos: OMP_NUM_THREADS" + refusal);
  const Variable kokkos("KOKKOS_NUM_THREADS", one_too_many.c_str());
  expect_refused({"info", path}, "sporos: KOKKOS_NUM_THREADS" + refusal);
  EXPECT_EQ(run({"info", path, "--threads", "2"}).code, 0) << "--threads takes precedence";
}

TEST(Threads, AreRefusedWhereTheEnvironmentNamesNone) {
  const std::string path = example_data("LFAT5.mtx");
  for (const std::string said : {"x", "0", "-5", "", "4x"}) {
    const Variable kokkos("KOKKOS_NUM_THREADS", said.c_str());
    const std::string reason =
        "KOKKOS_NUM_THREADS='" + said + "' is no number of threads: set it to a positive";
    expect_refused({"info", path}, reason);
    expect_refused({"info", path, "--threads", "2"}, reason);
  }
  const Variable kokkos("KOKKOS_NUM_THREADS", "99999999999");
  expect_refused({"info", path}, "KOKKOS_NUM_THREADS='99999999999' is more threads than a machine has");
}

TEST(Threads, AreRefusedWhereMoreAreAskedForThanIntegersHold) {
  const Variable without("KOKKOS_NUM_THREADS", nullptr);
  const Variable openmp("OMP_NUM_THREADS", "99999999999");
  expect_refused({"info", example_data("LFAT5.mtx")}, "OMP_NUM_THREADS asks for 99999999999 threads");
}

/// What the OpenMP library prints of its settings when it starts, once for each time that the program starts.
struct Settings {
  std::string last;
  int starts = 0;
};

Settings settings() {
  const Variable display("OMP_DISPLAY_ENV", "verbose");
  const Ran ran = run({"explain", "spmv", "--threads", "2"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const std::string begin = "OPENMP DISPLAY ENVIRONMENT BEGIN";
  Settings out;
  for (std::size_t at = 0; (at = ran.err.find(begin, at)) != std::string::npos; at += begin.size()) {
    out.last = ran.err.substr(at);
    ++out.starts;
  }
  return out;
}

/// Whether waiting threads sleep at once, as GNU's or LLVM's library puts it.
bool sleep_at_once(const std::string& settings) {
  return settings.find("GOMP_SPINCOUNT = '0'") != std::string::npos ||
         settings.find("OMP_WAIT_POLICY='PASSIVE'") != std::string::npos;
}

TEST(Threads, SleepWhileTheyWait) {
  const Variable policy("OMP_WAIT_POLICY", nullptr), spins("GOMP_SPINCOUNT", nullptr);
  const Settings found = settings();
  EXPECT_TRUE(sleep_at_once(found.last)) << found.last;
}

TEST(Threads, WaitAsTheUserSays) {
  {
    const Variable policy("OMP_WAIT_POLICY", "active"), spins("GOMP_SPINCOUNT", nullptr);
    const Settings found = settings();
    EXPECT_FALSE(sleep_at_once(found.last)) << found.last;
    EXPECT_EQ(found.starts, 1);
  }
  {
    const Variable policy("OMP_WAIT_POLICY", nullptr), spins("GOMP_SPINCOUNT", "1234");
    const Settings found = settings();
#ifndef __clang__  // LLVM's library does not know this variable
    EXPECT_FALSE(sleep_at_once(found.last)) << found.last;
#endif
    EXPECT_EQ(found.starts, 1);
  }
}

TEST(Threads, LeaveNamesWithBlanksAsTheyAre) {
  const Variable policy("OMP_WAIT_POLICY", nullptr);
  const Folder folder;
  const std::string path = folder.put("a name with blanks.tns", "1 1 1 2.5\n");
  EXPECT_EQ(report({"info", path})["file"], path);
}

}  // namespace
#endif

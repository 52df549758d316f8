// SPDX-License-Identifier: Apache-2.0
/// @file harness.hpp
/// What all host benchmarks share: contenders measured in turn, medians with spread, a table and a JSON file.
///
///     void run(Report& report) {
///       report.compare({"bcsstk16", {{"nnz", a.nnz()}}},
///                      {{"sporos", Role::ours, [&] { y(i) = A(i, j) * x(j); }},
///                       {"eigen", Role::peer, [&] { z = B * w; }}});
///     }
///     int main(int argc, char** argv) { return benchmark(argc, argv, "spmv", run, {Memory::retained}); }
#pragma once

#include <malloc.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <sporos/core/error.hpp>
#include <sporos/core/peak_memory.hpp>
#include <sporos/core/pool.hpp>
#include <sporos/core/space.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace sporos::perf {

using json = nlohmann::ordered_json;

/// Where memory comes from while contenders are measured; the same for all of them.
enum class Memory {
  fresh,    ///< every call allocates from the system and returns to it
  retained  ///< calls reuse memory that earlier calls have freed
};
inline std::string_view to_string(Memory memory) { return memory == Memory::fresh ? "fresh" : "retained"; }

/// Configures malloc and the pool accordingly.
inline void set_memory(Memory memory) {
  static const std::int64_t limit = pool().limit();
  if (memory == Memory::fresh) {
    // Explicitly set thresholds are fixed; otherwise malloc raises them and keeps memory that is freed.
    mallopt(M_MMAP_MAX, 65536);
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    mallopt(M_TRIM_THRESHOLD, 128 << 10);
    mallopt(M_TOP_PAD, 0);
    pool().limit(0);
    pool().release();
  } else {
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
    pool().limit(limit);
  }
}

inline std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

/// The command line.
struct Options {
  std::int64_t rounds = 7;
  int threads = 1;
  std::string json_file, only;
  bool processor_time = false;
  std::vector<Memory> memories{Memory::fresh, Memory::retained};
  std::vector<std::string> files;
  std::string command;  ///< with the file names, but without their folders

  static Options parse(int argc, char** argv, const std::string& program) {
    Options out;
    out.command = program;
    const auto usage = [&](const std::string& fault) {
      std::fprintf(stderr,
                   "%s\nusage: %s [--threads N] [--rounds N] [--memory fresh|retained] [--clock "
                   "wall|processor] [--only PART] [--json FILE] "
                   "[FILE...]\n  --clock processor  the time of the process' threads together, for one "
                   "thread on a busy machine"
                   "\n  --only PART        cases whose name holds PART\n",
                   fault.c_str(), program.c_str());
      std::exit(2);
    };
    for (int at = 1; at < argc; ++at) {
      const std::string word = argv[at];
      out.command += text(" ", file_name(word));
      if (!word.starts_with("--")) {
        out.files.push_back(word);
        continue;
      }
      if (at + 1 == argc) usage(text(word, " takes a value"));
      const std::string value = argv[++at];
      out.command += text(" ", file_name(value));
      if (word == "--rounds")
        out.rounds = std::max(1, std::atoi(value.c_str()));
      else if (word == "--threads")
        out.threads = std::max(1, std::atoi(value.c_str()));
      else if (word == "--json")
        out.json_file = value;
      else if (word == "--only")
        out.only = value;
      else if (word == "--clock" && (value == "wall" || value == "processor"))
        out.processor_time = value == "processor";
      else if (word == "--memory" && (value == "fresh" || value == "retained"))
        out.memories = {value == "fresh" ? Memory::fresh : Memory::retained};
      else
        usage(text(word, " ", value, " is not understood"));
    }
    return out;
  }
};

inline Kokkos::InitializationSettings kokkos_settings(const Options& options) {
#ifdef _OPENMP
  // Kokkos counts the threads that OpenMP starts; those that it then does not use could spin beside what is
  // measured.
  omp_set_num_threads(options.threads);
#endif
  return Kokkos::InitializationSettings().set_num_threads(options.threads).set_disable_warnings(true);
}

enum class Role {
  ours,          ///< what a user of Sporos gets
  planned,       ///< a plan that was made before, and may hold the operands in another form
  variant,       ///< another way of Sporos, shown for comparison
  peer,          ///< another library
  planned_peer,  ///< another library, after an analysis for which the operands may not change any more
  yardstick      ///< not a contender: what is achieved under other conditions, as by reading memory alone
};

/// What is measured. The value that a call returns, if any, is destroyed after the clock has stopped.
struct Contender {
  template <class Compute>
  Contender(std::string its_name, Role its_role, const Compute& compute)
      : name(std::move(its_name)), role(its_role), call([compute]() -> std::shared_ptr<const void> {
          using Result = decltype(compute());
          if constexpr (std::is_void_v<Result>) {
            compute();
            return nullptr;
          } else if constexpr (std::is_convertible_v<Result, std::shared_ptr<const void>>) {
            return compute();
          } else {
            return std::make_shared<const Result>(compute());
          }
        }) {}

  std::string name;
  Role role;
  std::function<std::shared_ptr<const void>()> call;
};

/// What all contenders compute, and its properties: extents, nonzeros, operations. If "bytes" is one of them,
/// the contenders' bandwidths are recorded.
struct Case {
  std::string name;
  json about = json::object();
  std::string kind = {};  ///< geometric means are taken over all cases of the same kind
};

/// The seconds of one contender in all rounds.
class Times {
 public:
  void add(double seconds) {
    seconds_.insert(std::upper_bound(seconds_.begin(), seconds_.end(), seconds), seconds);
  }
  double median() const { return quantile(0.5); }
  /// Interpolates linearly between ranks.
  double quantile(double part) const {
    const double at = part * static_cast<double>(seconds_.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, seconds_.size() - 1);
    return seconds_[below] + (at - static_cast<double>(below)) * (seconds_[above] - seconds_[below]);
  }

 private:
  std::vector<double> seconds_;  // ascending
};

/// The text after the colon in the first line of a system file that begins with `key`.
inline std::string system_line(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key)) {
      const std::size_t colon = line.find(':');
      return colon == std::string::npos ? line : line.substr(line.find_first_not_of(" \t", colon + 1));
    }
  return "unknown";
}

inline std::string compiler() {
#if defined(__clang__)
  return std::string("clang ") + __clang_version__;
#elif defined(__CUDACC__)
  return text("nvcc ", __CUDACC_VER_MAJOR__, '.', __CUDACC_VER_MINOR__, " and g++ ", __GNUC__, '.',
              __GNUC_MINOR__, '.', __GNUC_PATCHLEVEL__);
#else
  return text("g++ ", __GNUC__, '.', __GNUC_MINOR__, '.', __GNUC_PATCHLEVEL__);
#endif
}

/// The vector instructions that the benchmark was compiled for.
#if defined(__AVX512F__)
inline constexpr std::string_view vectors = "AVX-512";
#elif defined(__AVX2__)
inline constexpr std::string_view vectors = "AVX2";
#else
inline constexpr std::string_view vectors = "the compiler's default";
#endif

/// Measures cases, prints them as a table and writes them to the JSON file.
class Report {
 public:
  Report(Options options, std::string subject) : options_(std::move(options)), subject_(std::move(subject)) {
    char date[32];
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
    context_ = {
        {"subject", subject_},
        {"date", date},
        {"command", options_.command},
        {"machine", system_line("/proc/cpuinfo", "model name")},
        {"cores", std::thread::hardware_concurrency()},
        {"threads", options_.threads},
        {"rounds", options_.rounds},
        {"clock", options_.processor_time ? "processor" : "wall"},
        {"transparent_hugepages", system_line("/sys/kernel/mm/transparent_hugepage/enabled", "")},
        {"compiler", compiler()},
        {"vectors", vectors},
        {"optimised", optimised},
        {"kokkos", text(KOKKOS_VERSION / 10000, '.', KOKKOS_VERSION / 100 % 100, '.', KOKKOS_VERSION % 100)}};
  }

  /// Adds information about the run, such as the version of a peer.
  void about(const std::string& key, const json& value) { context_[key] = value; }

  /// Calls `tell(memory)` whenever the source of memory changes, for a peer that keeps memory of its own.
  void on_memory(std::function<void(Memory)> tell) { on_memory_.push_back(std::move(tell)); }

  bool wants(const std::string& name) const { return name.find(options_.only) != std::string::npos; }
  /// Whether --only names the case: of those that take minutes, or a large part of the machine's memory.
  bool asks_for(const std::string& name) const { return !options_.only.empty() && wants(name); }
  const Options& options() const { return options_; }

  /// From now on, records the largest amount of memory that each contender takes through Sporos or Kokkos
  /// ("peak_bytes").
  void count_memory() { counts_memory_ = true; }

  /// Measures the contenders in turn, in another order in each round.
  void compare(const Case& what, const std::vector<Contender>& contenders) {
    peak_bytes_.assign(contenders.size(), 0);
    if (counts_memory_)
      for (std::size_t c = 0; c < contenders.size(); ++c) {
        const PeakMemory peak;
        const auto result = contenders[c].call();
        peak_bytes_[c] = peak.bytes();
      }
    for (const Memory memory : options_.memories) {
      take_memory(memory);
      std::vector<int> calls;
      std::vector<bool> warms;
      for (const auto& contender : contenders) {
        double seconds = time(contender, 1, memory);
        if (seconds < 0.5) seconds = time(contender, 1, memory);  // measured again, after the warm-up
        calls.push_back(static_cast<int>(std::clamp(least_seconds / seconds, 1.0, 200.0)));
        warms.push_back(seconds < 0.5);
      }
      std::vector<Times> times(contenders.size());
      std::vector<std::size_t> turns(contenders.size());
      std::iota(turns.begin(), turns.end(), std::size_t{0});
      std::minstd_rand draw;
      for (std::int64_t round = 0; round < options_.rounds; ++round) {
        // In another order in each round: caches remember what came before, even beyond a warm-up call, and
        // in a fixed order that would favour the contender behind one that reads the same arrays.
        std::shuffle(turns.begin(), turns.end(), draw);
        for (const std::size_t c : turns) {
          // A warm-up call also spares a contender memory that has been free for long: a virtual machine may
          // have returned such memory to its host page by page, and gets it back more slowly than a page is
          // cleared.
          if (warms[c]) contenders[c].call();
          times[c].add(time(contenders[c], calls[c], memory));
        }
      }
      record(what, memory, contenders, times);
    }
    take_memory(Memory::retained);
    write();
  }

  /// Prints the geometric means and writes the JSON file.
  void finish() {
    for (auto& [group, logs] : logs_) {
      const double sum = [&] {
        double out = 0;
        for (const double log : logs) out += log;
        return out;
      }();
      const double mean = std::exp(sum / static_cast<double>(logs.size()));
      const double least = std::exp(*std::min_element(logs.begin(), logs.end()));
      std::printf("%-48s geometric mean %.2f, least %.2f, of %zu\n", group.c_str(), mean, least, logs.size());
      means_.push_back({{"what", group}, {"geometric_mean", mean}, {"least", least}, {"cases", logs.size()}});
    }
    write();
  }

 private:
  void take_memory(Memory memory) const {
    set_memory(memory);
    for (const auto& tell : on_memory_) tell(memory);
  }

  /// Called after every case, so that no measurement is lost if the run is interrupted.
  void write() const {
    if (options_.json_file.empty()) return;
    std::ofstream out(options_.json_file);
    out << json{{"context", context_}, {"means", means_}, {"benchmarks", records_}}.dump(1) << '\n';
    if (!out.flush()) throw IoError(options_.json_file, "cannot be written");
  }

  double now() const {
    timespec time{};
    clock_gettime(options_.processor_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

  double time(const Contender& contender, int calls, Memory memory) const {
    double seconds = 0;
    for (int call = 0; call < calls; ++call) {
      if (memory == Memory::fresh) malloc_trim(0);
      const double begin = now();
      const auto result = contender.call();
      seconds += now() - begin;
    }
    return seconds / calls;
  }

  void record(const Case& what, Memory memory, const std::vector<Contender>& contenders,
              const std::vector<Times>& times) {
    if (!header_) {
      std::printf("%-28s %-8s", subject_.c_str(), "memory");
      for (const auto& contender : contenders) std::printf(" %17s", contender.name.c_str());
      std::printf("   ms (half of all rounds within ±%%); best peer / sporos\n");
      header_ = true;
    }
    double best_peer = 0, best_planned = 0, ours = 0;  // the best of all peers is a planned one or not
    std::string best_name;
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      const Role role = contenders[c].role;
      const double seconds = times[c].median();
      if (role == Role::ours) ours = seconds;
      if (role == Role::peer && (best_name.empty() || seconds < best_peer)) {
        best_peer = seconds;
        best_name = contenders[c].name;
      }
      if ((role == Role::peer || role == Role::planned_peer) && (best_planned == 0 || seconds < best_planned))
        best_planned = seconds;
    }
    std::printf("%-28s %-8s", what.name.c_str(), std::string(to_string(memory)).c_str());
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      const double middle = times[c].median();
      const double spread = (times[c].quantile(0.75) - times[c].quantile(0.25)) / 2 / middle;
      std::printf(" %11.3f ±%3.0f%%", middle * 1e3, spread * 100);
      json entry{{"name", text(subject_, '/', what.name, '/', contenders[c].name, '/', to_string(memory))},
                 {"case", what.name},
                 {"contender", contenders[c].name},
                 {"memory", to_string(memory)},
                 {"threads", options_.threads},
                 {"median_seconds", middle},
                 {"lower_quartile", times[c].quantile(0.25)},
                 {"upper_quartile", times[c].quantile(0.75)},
                 {"least", times[c].quantile(0)}};
      if (!best_name.empty()) entry["best_peer_over_this"] = best_peer / middle;
      if (peak_bytes_[c] > 0) entry["peak_bytes"] = peak_bytes_[c];
      entry.update(what.about);
      if (what.about.contains("bytes"))
        entry["gigabytes_per_second"] = what.about["bytes"].get<double>() / middle / 1e9;
      const std::string group =
          text(", ", to_string(memory), " memory", what.kind.empty() ? "" : ", ", what.kind);
      const bool is_sporos = contenders[c].role == Role::ours || contenders[c].role == Role::variant;
      if (contenders[c].role == Role::planned && best_planned > 0) {
        entry["best_peer_over_this"] = best_planned / middle;
        logs_of(text("best peer, planned or not / ", contenders[c].name, group))
            .push_back(std::log(best_planned / middle));
      }
      if (!best_name.empty() && is_sporos)
        logs_of(text("best peer / ", contenders[c].name, group)).push_back(std::log(best_peer / middle));
      for (std::size_t other = 0; other < contenders.size(); ++other) {
        const double ratio = times[other].median() / middle;
        if (contenders[other].role == Role::yardstick && contenders[c].role != Role::yardstick)
          entry[text("of_", contenders[other].name)] = ratio;
        if (contenders[other].role == Role::yardstick || contenders[other].role == Role::peer)
          if (contenders[c].role == Role::ours)
            logs_of(text(contenders[other].name, " / ", contenders[c].name, group))
                .push_back(std::log(ratio));
      }
      records_.push_back(std::move(entry));
    }
    if (!best_name.empty()) std::printf("   %6.2f %s", best_peer / ours, best_name.c_str());
    std::printf("\n");
    std::fflush(stdout);
  }

  std::vector<double>& logs_of(const std::string& group) {
    for (auto& [name, logs] : logs_)
      if (name == group) return logs;
    return logs_.emplace_back(group, std::vector<double>{}).second;
  }

  static constexpr double least_seconds = 2e-3;

#if defined(__OPTIMIZE__)
  static constexpr bool optimised = true;
#else
  static constexpr bool optimised = false;
#endif

  Options options_;
  std::string subject_;
  std::vector<std::function<void(Memory)>> on_memory_;
  json context_, records_ = json::array(), means_ = json::array();
  std::vector<std::pair<std::string, std::vector<double>>> logs_;
  std::vector<std::int64_t> peak_bytes_;  // of each contender; 0: not counted
  bool header_ = false, counts_memory_ = false;
};

/// The main function of the benchmark perf_`subject`: measures what `run` asks of a report, with the given
/// `memories`, or with those that the command line names if there are none.
template <class Run>
int benchmark(int argc, char** argv, const std::string& subject, const Run& run,
              const std::vector<Memory>& memories = {}) {
  auto options = Options::parse(argc, argv, "perf_" + subject);
  if (!memories.empty()) options.memories = memories;
  const ScopeGuard guard(kokkos_settings(options));
  try {
    Report report(options, subject);
    run(report);
    report.finish();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace sporos::perf

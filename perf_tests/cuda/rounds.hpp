// SPDX-License-Identifier: Apache-2.0
/// @file rounds.hpp
/// Contenders for one problem that are measured in turn, round by round, as long as the problem's data are
/// there; what they took is reported afterwards.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cublas.hpp"

namespace sporos::perf {

/// A graph of so many calls of `work`, which starts all its kernels either on Kokkos' stream or on
/// `cudaStreamPerThread`: they run in the order in which they are started, and each waits for the one before
/// alone.
class Replay {
 public:
  Replay(const std::function<void()>& work, int calls) : calls_(calls) {
    cudaEvent_t forks = nullptr, joins = nullptr;
    check(cudaEventCreateWithFlags(&forks, cudaEventDisableTiming), "cudaEventCreate");
    check(cudaEventCreateWithFlags(&joins, cudaEventDisableTiming), "cudaEventCreate");
    const auto in_order = [&](int count) {
      check(cudaEventRecord(forks, stream()), "cudaEventRecord");
      check(cudaStreamWaitEvent(cudaStreamPerThread, forks), "cudaStreamWaitEvent");
      for (int call = 0; call < count; ++call) work();
      check(cudaEventRecord(joins, cudaStreamPerThread), "cudaEventRecord");
      check(cudaStreamWaitEvent(stream(), joins), "cudaStreamWaitEvent");
    };
    in_order(1);
    check(cudaStreamSynchronize(stream()), "warming up");
    cudaGraph_t graph = nullptr;
    check(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
    in_order(calls);
    check(cudaStreamEndCapture(stream(), &graph), "cudaStreamEndCapture");
    check(cudaGraphInstantiate(&replay_, graph, 0), "cudaGraphInstantiate");
    cudaGraphDestroy(graph);
    cudaEventDestroy(forks);
    cudaEventDestroy(joins);
    check(cudaEventCreate(&begin_), "cudaEventCreate");
    check(cudaEventCreate(&end_), "cudaEventCreate");
  }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;
  ~Replay() {
    cudaGraphExecDestroy(replay_);
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }

  /// The seconds of one call.
  double run() const {
    check(cudaEventRecord(begin_, stream()), "cudaEventRecord");
    check(cudaGraphLaunch(replay_, stream()), "cudaGraphLaunch");
    check(cudaEventRecord(end_, stream()), "cudaEventRecord");
    check(cudaEventSynchronize(end_), "cudaEventSynchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
    return static_cast<double>(milliseconds) * 1e-3 / calls_;
  }

 private:
  static cudaStream_t stream() { return Kokkos::Cuda().cuda_stream(); }

  int calls_;
  cudaGraphExec_t replay_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

/// What a contender took, and what else is known of it.
struct Figures {
  std::vector<double> seconds;  ///< of one call, in ascending order
  std::map<std::string, double> counters;

  /// As the only iteration of a benchmark.
  void report(benchmark::State& state) const {
    for (auto _ : state) state.SetIterationTime(seconds[seconds.size() / 2]);
    for (const auto& [name, value] : counters) state.counters[name] = value;
    state.counters["rounds"] = static_cast<double>(seconds.size());
    state.counters["fastest"] = seconds.front() * 1e6;
    state.counters["slowest"] = seconds.back() * 1e6;
  }
};

/// The contenders for one problem.
class Rounds {
 public:
  /// @param work  its plan or handle lives until everything has been measured
  void add(const std::string& name, std::function<void()> work, std::map<std::string, double> counters = {}) {
    work();
    check(cudaDeviceSynchronize(), name.c_str());
    works_.emplace_back(name, std::move(work));
    figures_[name].counters = std::move(counters);
  }
  /// Each contender once in a round. Short ones are called often enough that a round takes half a
  /// millisecond.
  std::map<std::string, Figures> measure(int rounds) {
    constexpr double seconds_of_round = 5e-4;
    constexpr int most_calls = 10;
    std::vector<std::unique_ptr<Replay>> replays;
    for (const auto& [name, work] : works_) {
      const double once = Replay(work, 1).run();
      replays.push_back(std::make_unique<Replay>(
          work, std::clamp(static_cast<int>(seconds_of_round / once), 1, most_calls)));
    }
    for (int round = 0; round < rounds; ++round)
      for (std::size_t at = 0; at < works_.size(); ++at)
        figures_[works_[at].first].seconds.push_back(replays[at]->run());
    for (auto& [name, figures] : figures_) std::sort(figures.seconds.begin(), figures.seconds.end());
    return std::move(figures_);
  }

 private:
  std::vector<std::pair<std::string, std::function<void()>>> works_;
  std::map<std::string, Figures> figures_;
};

}  // namespace sporos::perf

// SPDX-License-Identifier: Apache-2.0
/// @file on_ranks.hpp
/// What benchmarks on several ranks share: contenders measured in turn, and products of all modes of a
/// tensor.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <sporos/distributed/distributed.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness.hpp"

namespace sporos::perf {

/// A statement or a peer's call that all ranks make together.
struct RankContender {
  std::string name;
  std::function<void()> call;
  json more = json::object();  ///< what is recorded of it besides times
};

/// Measures contenders in turn, round by round. A time is that of the slowest rank.
class RankTimes {
 public:
  static constexpr int rounds = 21;

  explicit RankTimes(Communicator ranks) : ranks_(std::move(ranks)) {}

  /// Measures contenders in turn; prints their medians.
  void compare(const std::string& what, const std::vector<RankContender>& contenders) {
    std::vector<std::vector<double>> seconds(contenders.size());
    for (const RankContender& contender : contenders) contender.call();
    // In another order in each round, the same on all ranks: caches remember who came before.
    std::vector<std::size_t> turns(contenders.size());
    std::iota(turns.begin(), turns.end(), std::size_t{0});
    std::minstd_rand draw;
    for (int round = 0; round < rounds; ++round) {
      std::shuffle(turns.begin(), turns.end(), draw);
      for (const std::size_t c : turns) {
        ranks_.barrier();
        const auto begin = std::chrono::steady_clock::now();
        contenders[c].call();
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
        seconds[c].push_back(ranks_.max(taken.count()));
      }
    }
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      auto& all = seconds[c];
      std::sort(all.begin(), all.end());
      const double median = all[all.size() / 2], least = all.front(), low = all[all.size() / 4],
                   high = all[3 * all.size() / 4];
      if (ranks_.rank() == 0)
        std::printf("%-24s %-12s %10.3f ms  (%.3f, quartiles %.3f to %.3f)\n", what.c_str(),
                    contenders[c].name.c_str(), median * 1e3, least * 1e3, low * 1e3, high * 1e3);
      json record{{"case", what},
                  {"contender", contenders[c].name},
                  {"seconds", median},
                  {"least", least},
                  {"quartiles", {low, high}}};
      record.update(contenders[c].more);
      records_.push_back(std::move(record));
    }
  }

  void write(const std::string& file, const json& context) const {
    if (ranks_.rank() != 0 || file.empty()) return;
    std::ofstream out(file);
    out << json{{"context", context}, {"benchmarks", records_}}.dump(1) << '\n';
    if (!out.flush()) throw IoError(file, "cannot be written");
  }

 private:
  Communicator ranks_;
  json records_ = json::array();
};

/// The MTTKRP of each mode of a distributed tensor, planned once, as an iteration of CP-ALS runs them. All
/// values of the factor of mode m are m + 1.
class AllModes {
 public:
  AllModes(const Distribution<3>& distribution, const Entries<double, 3>& entries, std::int64_t rank)
      : T_(assemble<CSF<3>>(distribution, entries)) {
    using namespace indices;
    for (int mode = 0; mode < 3; ++mode) {
      const auto rows =
          Distribution<2>::along(T_.ranks(), {T_.extent(mode), rank}, 0, along(T_, mode).partition(0));
      factors_.emplace_back(rows);
      results_.emplace_back(rows);
      factors_.back()(i, r) = static_cast<double>(mode + 1);
    }
    keep(assign(results_[0](i, r), T_(i, k, l) * factors_[1](k, r) * factors_[2](l, r)));
    keep(assign(results_[1](k, r), T_(i, k, l) * factors_[0](i, r) * factors_[2](l, r)));
    keep(assign(results_[2](l, r), T_(i, k, l) * factors_[0](i, r) * factors_[1](k, r)));
  }
  void run() const {
    for (const auto& step : steps_) step();
  }
  /// Of the nonzeros, and the bytes that all ranks send in one run.
  double imbalance() const { return imbalance_; }
  std::int64_t bytes() const { return bytes_; }
  /// The sum of the values of each result.
  std::vector<double> sums() const {
    using namespace indices;
    std::vector<double> out;
    for (const Matrix& M : results_) {
      const Tensor<double, Scalar> sum;
      sum() = M(i, r);
      out.push_back(sum.values()(0));
    }
    return out;
  }

 private:
  using Matrix = Distributed<Tensor<double, DenseMatrix<>>>;

  template <class S>
  void keep(const S& statement) {
    const Traffic sent = traffic(statement);
    imbalance_ = sent.imbalance();
    bytes_ += sent.bytes();
    const auto kept = std::make_shared<decltype(plan(statement))>(plan(statement));
    steps_.push_back([kept] { kept->run(); });
  }

  Distributed<Tensor<double, CSF<3>>> T_;
  std::vector<Matrix> factors_, results_;
  std::vector<std::function<void()>> steps_;
  double imbalance_ = 1;
  std::int64_t bytes_ = 0;
};

/// What is recorded of a run.
inline json context_of(std::string_view subject, const Communicator& ranks, int argc, char** argv) {
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  std::string command;
  for (int at = 0; at < argc; ++at) command += text(at ? " " : "", file_name(argv[at]));
  return {{"subject", subject},
          {"date", date},
          {"command", command},
          {"ranks", ranks.size()},
          {"threads of a rank", Host().concurrency()},
          {"machine", system_line("/proc/cpuinfo", "model name")},
          {"compiler", compiler()},
          {"vectors", vectors},
          {"rounds", RankTimes::rounds}};
}

}  // namespace sporos::perf

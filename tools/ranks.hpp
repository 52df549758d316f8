// SPDX-License-Identifier: Apache-2.0
/// @file ranks.hpp
/// Commands under mpirun: what the rest of the tool, which is compiled without MPI, needs for them.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "command.hpp"

namespace sporos::tool {

/// Whether an MPI launcher has started this process as one of several. Open MPI, MPICH and Slurm indicate
/// this in the environment.
bool is_one_of_several();

/// The lifetime of MPI. Only the first rank prints.
class RankScope {
 public:
  RankScope(int& argc, char**& argv);
  ~RankScope();
  RankScope(const RankScope&) = delete;
  RankScope& operator=(const RankScope&) = delete;

  /// The number of ranks; 1 in a program without MPI.
  int size() const;
  bool prints() const;

  /// Runs f() on all ranks. An error on one of them, of any kind, is thrown on all.
  Outcome jointly(const std::function<Outcome()>& f) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A product computed by all ranks, each of which reads and writes a part of the files.
struct ProductOnRanks {
  std::string a, b;    ///< files
  std::string output;  ///< a file, or empty if it is not written
  int repeats = 1;
};

/// C(i, j) = A(i, k) * B(k, j), divided by rows. Collective.
/// @throws UsageError for files that hold no matrices, or whose extents do not match
Outcome multiply_on_ranks(const ProductOnRanks& wanted);

/// A product with a vector, computed by all ranks.
struct SpmvOnRanks {
  std::string a;     ///< a file
  std::string x, y;  ///< files; if empty, x is all ones and y is not written
  int repeats = 1;
};

/// y(i) = A(i, j) * x(j), divided by rows. Collective.
/// @throws UsageError for files that do not hold a real matrix and a vector of matching extents
Outcome spmv_on_ranks(const SpmvOnRanks& wanted);

/// Throws UsageError unless the names of files alone indicate their kinds: under mpirun, a command takes no
/// standard streams and no options for this.
void expect_plain_files(std::string_view command, const InputOptions& input, const OutputOptions& output,
                        std::initializer_list<std::string_view> files);

}  // namespace sporos::tool

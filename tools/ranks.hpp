// SPDX-License-Identifier: Apache-2.0
/// @file ranks.hpp
/// Commands under mpirun: what the rest of the tool, which is compiled without MPI, needs of it.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "command.hpp"

namespace sporos::tool {

/// Whether a launcher of MPI has started this process as one of several. Open MPI, MPICH and Slurm say so in
/// the environment.
bool is_one_of_several();

/// MPI, while it lives. Of all ranks, the first one prints.
class RankScope {
 public:
  RankScope(int& argc, char**& argv);
  ~RankScope();
  RankScope(const RankScope&) = delete;
  RankScope& operator=(const RankScope&) = delete;

  /// The number of ranks; 1 in a program without MPI.
  int size() const;
  bool prints() const;

  /// f() on all ranks. An error of one of them, of any kind, is thrown on all.
  Outcome jointly(const std::function<Outcome()>& f) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A product as all ranks compute it, each reading and writing a part of the files.
struct ProductOnRanks {
  std::string a, b;    ///< files
  std::string output;  ///< a file, or empty
  int repeats = 1;
};

/// C(i, j) = A(i, k) * B(k, j), divided by rows. Collective.
/// @throws UsageError for files that hold no matrices, or whose extents do not fit
Outcome multiply_on_ranks(const ProductOnRanks& wanted);

/// A product with a vector as all ranks compute it.
struct SpmvOnRanks {
  std::string a;     ///< a file
  std::string x, y;  ///< files, or empty: ones, and not written
  int repeats = 1;
};

/// y(i) = A(i, j) * x(j), divided by rows. Collective.
/// @throws UsageError for files that do not hold a real matrix and a vector that fit
Outcome spmv_on_ranks(const SpmvOnRanks& wanted);

/// Throws a UsageError unless the names of files alone say what they are: under mpirun, a command takes no
/// standard streams, and no options that say so.
void expect_plain_files(std::string_view command, const InputOptions& input, const OutputOptions& output,
                        std::initializer_list<std::string_view> files);

}  // namespace sporos::tool

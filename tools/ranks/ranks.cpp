// SPDX-License-Identifier: Apache-2.0
/// @file ranks.cpp
/// Detects several ranks, and runs a command on them together.
#include "../ranks.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sporos/distributed/agree.hpp>
#include <sporos/distributed/communicator.hpp>
#include <streambuf>

#include "../input.hpp"
#include "../output.hpp"

namespace sporos::tool {
namespace {

/// Discards everything that is printed.
class Silence final : public std::streambuf {
  int_type overflow(int_type c) override { return traits_type::not_eof(c); }
};

}  // namespace

bool is_one_of_several() {
  for (const char* const variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (const char* const size = std::getenv(variable); size && std::atoi(size) > 1) return true;
  return false;
}

struct RankScope::State {
  MpiScope mpi;
  Communicator ranks = Communicator::world();
  Silence silence;
  std::streambuf* out = nullptr;
  std::streambuf* err = nullptr;

  State(int& argc, char**& argv) : mpi(argc, argv) {}
};

RankScope::RankScope(int& argc, char**& argv) : state_(std::make_unique<State>(argc, argv)) {
  if (prints()) return;
  state_->out = std::cout.rdbuf(&state_->silence);
  state_->err = std::cerr.rdbuf(&state_->silence);
}

RankScope::~RankScope() {
  // When one rank ends with an error, mpirun kills the others: the first must have printed by then.
  state_->ranks.barrier();
  if (prints()) return;
  std::cout.rdbuf(state_->out);
  std::cerr.rdbuf(state_->err);
}

int RankScope::size() const { return state_->ranks.size(); }
bool RankScope::prints() const { return state_->ranks.rank() == 0; }

Outcome RankScope::jointly(const std::function<Outcome()>& f) const {
  return sporos::jointly(state_->ranks, [&] {
    Outcome out = f();
    agree(state_->ranks, "the end of a command");
    return out;
  });
}

void expect_plain_files(std::string_view command, const InputOptions& input, const OutputOptions& output,
                        std::initializer_list<std::string_view> files) {
  const bool says_how = !input.kind.empty() || !output.kind.empty() || input.first_node != 0 ||
                        input.bipartite || output.gzip_level != OutputOptions().gzip_level;
  if (says_how || std::find(files.begin(), files.end(), standard_stream) != files.end())
    throw UsageError(
        text("under mpirun, ", command,
             " reads and writes files whose names say what they are: no -, and no --from, --to, --level, "
             "--first and --bipartite"));
}

}  // namespace sporos::tool

// SPDX-License-Identifier: Apache-2.0
/// @file factor.hpp
/// Matrices that all ranks read together, as factors of products.
#pragma once

#include <Kokkos_Timer.hpp>
#include <algorithm>
#include <sporos/distributed/distributed.hpp>
#include <sporos/formats/io/file.hpp>
#include <string>
#include <utility>
#include <vector>

#include "../input.hpp"
#include "../report.hpp"

namespace sporos::tool {

template <class Value>
using Rows = Distributed<Tensor<Value, CSR<>>>;

/// A factor, and the information in its file.
template <class Value>
struct Factor {
  FileInfo file;
  Rows<Value> matrix;
  double read_seconds = 0;
};

/// The information in the file of a matrix.
/// @throws UsageError if it holds another kind of tensor
inline FileInfo matrix_info(const std::string& path) {
  FileInfo file = inspect(path);
  if (file.order != 2)
    throw UsageError(text(path, ": holds a tensor of order ", file.order, ", expected a matrix"));
  return file;
}

/// Reads a factor, divided into rows with about equally many nonzeros.
template <class Value>
Factor<Value> read_factor(const Communicator& ranks, const std::string& path, const FileInfo& file) {
  const Kokkos::Timer timer;
  const bool is_pattern = file.field == MatrixMarketField::pattern;
  const auto mine = read_entries<Value, 2>(ranks, path, {.progress = false});
  auto matrix = assemble<CSR<>>(Distribution<2>::balanced(ranks, mine), mine,
                                is_pattern ? Duplicates::max : Duplicates::sum);
  return {file, std::move(matrix), ranks.max(timer.seconds())};
}

/// Runs a product several times. Collective.
/// @return the seconds that the slowest rank took for each run, ascending
template <class Run>
std::vector<double> seconds_of_runs(const Communicator& ranks, int repeats, const Run& run) {
  std::vector<double> seconds;
  for (int at = 0; at < repeats; ++at) {
    ranks.barrier();
    const Kokkos::Timer timer;
    run();
    seconds.push_back(ranks.max(timer.seconds()));
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

template <class Value>
void describe(Report& report, const std::string& path, const Factor<Value>& factor) {
  report.fact("file", "", path);
  report.fact("extents", Shape{{factor.matrix.extent(0), factor.matrix.extent(1)}});
  report.fact("nonzeros", Count{total_nnz(factor.matrix)});
  report.fact("read_seconds", "read in", Seconds{factor.read_seconds});
}

}  // namespace sporos::tool

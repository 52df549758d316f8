// SPDX-License-Identifier: Apache-2.0
/// @file kept_memory.hpp
/// Whether plans in CUDA graphs keep the memory that they work in, for the tests on the GPU.
#pragma once

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <sporos/sporos.hpp>
#include <vector>

#include "streams.hpp"

namespace sporos::test {

/// Takes the memory that has been given back to the pool, and notices who still writes to it. Of an array
/// that was given back, the first half or more is watched.
class GivenBack {
 public:
  GivenBack() {
    constexpr std::int64_t largest = std::int64_t{16} << 20;  // bytes
    constexpr int of_a_size = 4;
    for (std::int64_t bytes = 64; bytes <= largest; bytes *= 2)
      for (int array = 0; array < of_a_size; ++array) {
        arrays_.push_back(make_array<char, gpu::Memory>("given back", bytes));
        Kokkos::deep_copy(arrays_.back(), mark);
      }
  }
  bool is_untouched() const {
    return std::all_of(arrays_.begin(), arrays_.end(), [](const auto& array) {
      const auto bytes = copy_array<Kokkos::HostSpace>(array);
      return std::all_of(bytes.data(), bytes.data() + bytes.extent(0),
                         [](char byte) { return byte == mark; });
    });
  }

 private:
  static constexpr char mark = 85;
  std::vector<Array<char, gpu::Memory>> arrays_;
};

/// The working memory that the stream's next statement gets.
inline const char* working_memory(const OwnStream& stream) {
  return stream.resources().scratch().borrow<gpu::Workspace>()->memory().data();
}

/// Captures run() in a graph, has other statements take the stream's working memory, and launches the graph,
/// which must work in the memory with which it was captured, and that nobody else may have got.
/// @param run_larger  runs a larger statement on the stream
/// @param change      gives the operands other values, and finds the new result
/// @param check       compares
template <class Run, class Larger, class Change, class Check>
void expect_graph_keeps_memory(const OwnStream& stream, const Run& run, const Larger& run_larger,
                               const Change& change, const Check& check) {
  Kokkos::fence();
  const Graph graph(stream, run);
  run_larger();
  stream.wait();
  const GivenBack others;
  change();
  graph.launch();
  check();
  EXPECT_TRUE(others.is_untouched()) << "the graph works in memory that was given back";
}
/// The same of a plan that works in the stream's memory, which the larger statement replaces.
template <class Run, class Larger, class Change, class Check>
void expect_graph_keeps_shared_memory(const OwnStream& stream, const Run& run, const Larger& run_larger,
                                      const Change& change, const Check& check) {
  const char* const before = working_memory(stream);
  ASSERT_NE(before, nullptr);
  expect_graph_keeps_memory(
      stream, run,
      [&] {
        run_larger();
        EXPECT_NE(before, working_memory(stream));
      },
      change, check);
}

}  // namespace sporos::test

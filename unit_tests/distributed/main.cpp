// SPDX-License-Identifier: Apache-2.0
/// @file main.cpp
/// Runs the tests of distributed/ on every rank, one printing for all.
#include <gtest/gtest.h>

#include <iostream>
#include <sporos/core/space.hpp>
#include <sporos/distributed/communicator.hpp>

namespace {

/// Prints what fails on a rank that is not the first.
class FailurePrinter : public testing::EmptyTestEventListener {
 public:
  explicit FailurePrinter(int rank) : rank_(rank) {}

 private:
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::cerr << "rank " << rank_ << ": " << (result.file_name() ? result.file_name() : "") << ':'
              << result.line_number() << ": " << result.message() << std::endl;
  }
  int rank_;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const sporos::MpiScope mpi(argc, argv);
  const sporos::ScopeGuard guard(
      Kokkos::InitializationSettings().set_num_threads(1).set_disable_warnings(true));
  if (const int rank = sporos::Communicator::world().rank(); rank != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter(rank));
  }
  return RUN_ALL_TESTS();
}

// SPDX-License-Identifier: Apache-2.0
/// @file main.cpp
/// Runs the tests of distributed/ on every rank, one printing for all.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sporos/core/few_steps.hpp>
#include <sporos/core/space.hpp>
#include <sporos/distributed/communicator.hpp>

#ifdef SPOROS_HAVE_MPI

namespace {

/// Objects of MPI that have been made and not freed: communicators, types, persistent requests, and messages
/// under way, of which a request has been neither waited for nor freed. The functions of MPI that make and
/// free them are replaced by ones that count, as the standard's profiling interface allows.
struct Objects {
  int communicators = 0, types = 0, requests = 0, under_way = 0;
};
Objects alive;

int counted(int code, int& count, int change) {
  if (code == MPI_SUCCESS) count += change;
  return code;
}

}  // namespace

extern "C" {
int MPI_Comm_dup(MPI_Comm from, MPI_Comm* to) {
  return counted(PMPI_Comm_dup(from, to), alive.communicators, 1);
}
int MPI_Comm_split(MPI_Comm from, int color, int key, MPI_Comm* to) {
  return counted(PMPI_Comm_split(from, color, key, to), alive.communicators, 1);
}
int MPI_Comm_free(MPI_Comm* one) { return counted(PMPI_Comm_free(one), alive.communicators, -1); }
int MPI_Type_contiguous(int count, MPI_Datatype of, MPI_Datatype* to) {
  return counted(PMPI_Type_contiguous(count, of, to), alive.types, 1);
}
int MPI_Type_free(MPI_Datatype* one) { return counted(PMPI_Type_free(one), alive.types, -1); }
int MPI_Send_init(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* out) {
  return counted(PMPI_Send_init(data, count, type, to, tag, comm, out), alive.requests, 1);
}
int MPI_Recv_init(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                  MPI_Request* out) {
  return counted(PMPI_Recv_init(data, count, type, from, tag, comm, out), alive.requests, 1);
}
int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* out) {
  return counted(PMPI_Isend(data, count, type, to, tag, comm, out), alive.under_way, 1);
}
int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* out) {
  return counted(PMPI_Irecv(data, count, type, from, tag, comm, out), alive.under_way, 1);
}
int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* out) {
  return counted(PMPI_Ibcast(data, count, type, root, comm, out), alive.under_way, 1);
}
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  // Of requests, those that are not persistent become null.
  const auto left = [&] {
    return count - static_cast<int>(std::count(requests, requests + count, MPI_REQUEST_NULL));
  };
  const int before = left();
  const int code = PMPI_Waitall(count, requests, statuses);
  return counted(code, alive.under_way, left() - before);
}
int MPI_Request_free(MPI_Request* one) { return counted(PMPI_Request_free(one), alive.requests, -1); }
}

#endif

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
  const char* threads = std::getenv("SPOROS_TEST_THREADS");
  const sporos::ScopeGuard guard(Kokkos::InitializationSettings()
                                     .set_num_threads(threads ? std::atoi(threads) : 1)
                                     .set_disable_warnings(true));
  sporos::detail::most_unshared_steps = 0;  // the threads of a rank share small operands, too
  if (const int rank = sporos::Communicator::world().rank(); rank != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter(rank));
  }
  int failed = RUN_ALL_TESTS();
#ifdef SPOROS_HAVE_MPI
  // Of all communicators, the one that the tests share is left.
  if (alive.communicators > 1 || alive.types != 0 || alive.requests != 0 || alive.under_way != 0) {
    std::cerr << "not freed: " << alive.communicators << " communicators, " << alive.types << " types, "
              << alive.requests << " requests, " << alive.under_way << " messages" << std::endl;
    failed = 1;
  }
#endif
  return failed;
}

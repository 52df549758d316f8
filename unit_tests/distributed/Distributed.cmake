# SPDX-License-Identifier: Apache-2.0
# Tests of distributed/: one program, run by mpiexec on 1 to 4 ranks. A rank that waits for another one for ever is
# ended by the time limit, and fails the test.

file(GLOB distributed_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/*.cpp")
sporos_add_program(test_distributed SOURCES ${distributed_sources} PRECOMPILE distributed_tests
                   LIBRARIES Sporos::distributed GTest::gtest GTest::gmock OPTIONS ${test_flags} DEFINITIONS SPOROS_EXAMPLE_DATA="${PROJECT_SOURCE_DIR}/examples/data")
target_include_directories(test_distributed PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")

foreach(ranks 1 2 3 4)
  sporos_add_mpi_test(distributed/on_${ranks}_ranks RANKS ${ranks} PROGRAM test_distributed ARGUMENTS --gtest_brief=1)
endforeach()

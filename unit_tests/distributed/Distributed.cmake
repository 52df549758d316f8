# SPDX-License-Identifier: Apache-2.0
# Tests of distributed/: one program, and one for tensors in the memory of GPUs, run by mpiexec on 1 to 4 ranks, and with
# SPOROS_FULL_TESTS on 7 and 8. A rank that waits for another one for ever is ended by the time limit, and fails the test. Ranks may share a GPU; where each
# has its own, values travel by NCCL if it is there, and once more staged through the host.

# Without MPI, the same sources are compiled for one process.
if(NOT Kokkos_ENABLE_CUDA)
  sporos_add_program(test_distributed_without_mpi SOURCES distributed/main.cpp distributed/halo.cpp PRECOMPILE tests
                     LIBRARIES GTest::gtest GTest::gmock OPTIONS ${test_flags})
  target_include_directories(test_distributed_without_mpi PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
  add_test(NAME distributed/without_mpi COMMAND test_distributed_without_mpi --gtest_brief=1)
  set_tests_properties(distributed/without_mpi PROPERTIES TIMEOUT 300 ENVIRONMENT "${SPOROS_TEST_ENVIRONMENT}")
endif()
if(NOT MPI_CXX_FOUND)
  return()
endif()

function(sporos_add_distributed_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "" "SOURCES;RANKS")
  sporos_add_program(test_${name} SOURCES distributed/main.cpp ${test_SOURCES} PRECOMPILE distributed_tests
                     LIBRARIES Sporos::distributed GTest::gtest GTest::gmock OPTIONS ${test_flags}
                     DEFINITIONS SPOROS_EXAMPLE_DATA="${PROJECT_SOURCE_DIR}/examples/data")
  target_include_directories(test_${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
  foreach(ranks IN LISTS test_RANKS)
    sporos_add_mpi_test(${name}/on_${ranks}_ranks RANKS ${ranks} PROGRAM test_${name} ARGUMENTS --gtest_brief=1)
  endforeach()
endfunction()

file(GLOB distributed_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/*.cpp")
list(REMOVE_ITEM distributed_sources "${CMAKE_CURRENT_LIST_DIR}/main.cpp")
set(distributed_ranks 1 2 3 4)
if(SPOROS_FULL_TESTS)
  list(APPEND distributed_ranks 7 8)
endif()
sporos_add_distributed_test(distributed SOURCES ${distributed_sources} RANKS ${distributed_ranks})
# Compiled as one, the sources share most of what they instantiate; the largest takes as long as all others.
if(SPOROS_TEST_BATCH GREATER 1)
  set_target_properties(test_distributed PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  set_source_files_properties("${CMAKE_CURRENT_LIST_DIR}/main.cpp" "${CMAKE_CURRENT_LIST_DIR}/statements.cpp"
                              PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endif()
sporos_add_mpi_test(distributed/killed_rank RANKS 3 PROGRAM test_distributed ENDS_WITH "signal:? 9"
                    ARGUMENTS --gtest_also_run_disabled_tests --gtest_filter=Faults.DISABLED_KillARank)
# One thread of a rank calls MPI; all of them compute.
sporos_add_mpi_test(distributed/on_2_ranks_of_3_threads RANKS 2 PROGRAM test_distributed ARGUMENTS --gtest_brief=1
                    ENVIRONMENT SPOROS_TEST_THREADS=3 OMP_NUM_THREADS=3 OMP_WAIT_POLICY=passive)

if(Kokkos_ENABLE_CUDA)
  file(GLOB distributed_cuda_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/cuda/*.cpp")
  sporos_add_distributed_test(distributed_cuda SOURCES ${distributed_cuda_sources} RANKS 1 2 4)
  sporos_add_mpi_test(distributed_cuda/staged_on_2_ranks RANKS 2 PROGRAM test_distributed_cuda ARGUMENTS --gtest_brief=1
                      ENVIRONMENT SPOROS_TRANSPORT=staged)
endif()

# SPDX-License-Identifier: Apache-2.0
# Tests of distributed/: one program, run by mpiexec on 1 to 4 ranks. A rank that waits for another one for ever is
# ended by the time limit, and fails the test.

file(GLOB distributed_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/*.cpp")
sporos_add_program(test_distributed SOURCES ${distributed_sources} PRECOMPILE distributed_tests
                   LIBRARIES Sporos::distributed GTest::gtest GTest::gmock OPTIONS ${test_flags} DEFINITIONS SPOROS_EXAMPLE_DATA="${PROJECT_SOURCE_DIR}/examples/data")
target_include_directories(test_distributed PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")

# More ranks than processors, by whoever runs the tests: they sleep while they wait, and are not bound to processors.
set(SPOROS_MPI_ENVIRONMENT
    "OMP_NUM_THREADS=1;OMP_PROC_BIND=false;OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_rmaps_base_oversubscribe=1;OMPI_MCA_mpi_yield_when_idle=1;OMPI_MCA_hwloc_base_binding_policy=none;OMPI_MCA_btl_base_warn_component_unused=0"
    CACHE INTERNAL "Environment of programs that tests run by mpiexec")
foreach(ranks 1 2 3 4)
  add_test(NAME distributed/on_${ranks}_ranks
           COMMAND "${MPIEXEC_EXECUTABLE}" ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${MPIEXEC_PREFLAGS}
                   $<TARGET_FILE:test_distributed> ${MPIEXEC_POSTFLAGS} --gtest_brief=1)
  set_tests_properties(distributed/on_${ranks}_ranks PROPERTIES LABELS mpi TIMEOUT 120 PROCESSORS 2 ENVIRONMENT
                       "${SPOROS_TEST_ENVIRONMENT};${SPOROS_MPI_ENVIRONMENT}")
endforeach()

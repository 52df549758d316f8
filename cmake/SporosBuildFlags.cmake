# SPDX-License-Identifier: Apache-2.0
# How Sporos' own programs (tests, examples, tools, benchmarks) are compiled; users choose flags for their own programs.

add_library(sporos_build_flags INTERFACE)
target_compile_options(sporos_build_flags INTERFACE -Wall -Wextra)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False positives of g++ 12 and 13 in inlined code of their own std::string.
  target_compile_options(sporos_build_flags INTERFACE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
                                                      -Wno-stringop-overread)
  # By default g++ collects garbage at every step from 128 MB on, and a precompiled header alone takes 200 MB. There is
  # little to collect, since nearly everything lives to the end: a tenth of the time of large sources.
  if(NOT Kokkos_ENABLE_CUDA)
    target_compile_options(sporos_build_flags INTERFACE --param=ggc-min-heapsize=2000000)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # clang 19 warns about its own -march=native on processors with AVX10; older versions do not know that warning. It
  # also reports that std::stable_sort of g++ 12's library uses what C++17 has deprecated.
  target_compile_options(sporos_build_flags INTERFACE -Wno-unknown-warning-option -Wno-invalid-feature-combination
                                                      -Wno-deprecated-declarations)
  # Links the unit tests of statements in a tenth of the time.
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld SPOROS_LINKS_WITH_LLD)
  if(SPOROS_LINKS_WITH_LLD)
    target_link_options(sporos_build_flags INTERFACE -fuse-ld=lld)
  endif()
endif()
if(Kokkos_ENABLE_CUDA)
  # fmt 9 assumes that nvcc does not support constexpr.
  target_compile_definitions(sporos_build_flags INTERFACE FMT_USE_CONSTEXPR=1)
endif()
if(SPOROS_WERROR)
  target_compile_options(sporos_build_flags INTERFACE -Werror)
endif()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND SPOROS_PORTABLE)
  target_compile_options(sporos_build_flags INTERFACE -march=x86-64-v3)
else()
  target_compile_options(sporos_build_flags INTERFACE -march=native)
endif()

if(SPOROS_SANITIZE)
  target_compile_options(sporos_build_flags INTERFACE -fsanitize=${SPOROS_SANITIZE} -fno-omit-frame-pointer
                                                      -fno-sanitize-recover=all)
  target_link_options(sporos_build_flags INTERFACE -fsanitize=${SPOROS_SANITIZE})
endif()

# Through OMPT, LLVM's OpenMP library tells the sanitizer what its own, uninstrumented code orders; the sanitizer must
# not guess in addition.
if(SPOROS_SANITIZE STREQUAL "thread")
  set(SPOROS_TEST_ENVIRONMENT "TSAN_OPTIONS=ignore_noninstrumented_modules=1:allocator_may_return_null=1:atexit_sleep_ms=0")
else()
  set(SPOROS_TEST_ENVIRONMENT "UBSAN_OPTIONS=print_stacktrace=1")
endif()

find_program(SPOROS_CCACHE ccache)
if(SPOROS_CCACHE AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND NOT Kokkos_ENABLE_CUDA)
  # Without this setting, ccache does not work with precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros
                                  "${SPOROS_CCACHE}")
endif()

# sporos_add_program(<name> SOURCES <files>... [LIBRARIES <targets>...] [DEFINITIONS <definitions>...]
#                    [OPTIONS <compiler options>...] [PRECOMPILE <kind>])
# The programs of one kind share a precompiled header, so they must have the same libraries and options.
function(sporos_add_program name)
  cmake_parse_arguments(PARSE_ARGV 1 program "" "PRECOMPILE" "SOURCES;LIBRARIES;DEFINITIONS;OPTIONS")
  add_executable(${name} ${program_SOURCES})
  target_link_libraries(${name} PRIVATE Sporos::sporos sporos_build_flags ${program_LIBRARIES})
  target_compile_options(${name} PRIVATE ${program_OPTIONS})
  target_compile_definitions(${name} PRIVATE ${program_DEFINITIONS})
  # nvcc cannot read a precompiled header.
  if(SPOROS_PRECOMPILE AND program_PRECOMPILE AND NOT Kokkos_ENABLE_CUDA)
    set(precompiled sporos_precompiled_${program_PRECOMPILE})
    if(NOT TARGET ${precompiled})
      file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/${precompiled}.cpp" "// Holds the precompiled header.\n")
      add_library(${precompiled} OBJECT "${CMAKE_CURRENT_BINARY_DIR}/${precompiled}.cpp")
      target_link_libraries(${precompiled} PRIVATE Sporos::sporos sporos_build_flags ${program_LIBRARIES})
      target_compile_options(${precompiled} PRIVATE ${program_OPTIONS})
      set(headers <Kokkos_Core.hpp> <algorithm> <array> <complex> <map> <random> <string> <vector>)
      if(program_PRECOMPILE MATCHES "tests$")
        list(APPEND headers <gtest/gtest.h>)
      endif()
      # clang also instantiates in the precompiled header what all sources would instantiate.
      if(program_PRECOMPILE MATCHES "tests$" OR CMAKE_CXX_COMPILER_ID MATCHES "Clang")
        list(APPEND headers <sporos/sporos.hpp>)
      elseif(program_PRECOMPILE STREQUAL "tools")
        list(APPEND headers <sporos/formats/io/file.hpp>)
      endif()
      target_precompile_headers(${precompiled} PRIVATE ${headers})
    endif()
    target_precompile_headers(${name} REUSE_FROM ${precompiled})
  endif()
endfunction()

# sporos_add_mpi_test(<name> RANKS <number> PROGRAM <target> [DIRECTORY <folder>] [ARGUMENTS <arguments>...]
#                     [ENVIRONMENT <settings>...] [ENDS_WITH <regex>])
# A test that runs a program on some ranks. There may be more of them than processors, whoever runs the tests: they
# yield while they wait, and are not bound to processors. A rank that waits for another one for ever is ended by the
# time limit. With ENDS_WITH, the job has to end with an error and a message that matches.
function(sporos_add_mpi_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "RANKS;PROGRAM;DIRECTORY;ENDS_WITH" "ARGUMENTS;ENVIRONMENT")
  set(expect)
  if(test_ENDS_WITH)
    set(expect "${CMAKE_COMMAND}" "-DMESSAGE=${test_ENDS_WITH}" -P
               "${PROJECT_SOURCE_DIR}/unit_tests/distributed/expect_error.cmake" --)
  endif()
  if(NOT test_DIRECTORY)
    set(test_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  endif()
  set(environment
      OMP_NUM_THREADS=1
      OMP_PROC_BIND=false
      OMPI_ALLOW_RUN_AS_ROOT=1
      OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
      OMPI_MCA_rmaps_base_oversubscribe=1
      OMPI_MCA_mpi_yield_when_idle=1
      OMPI_MCA_hwloc_base_binding_policy=none)
  # MPI's libraries leave memory of their own behind; the tests count the objects that Sporos makes.
  if(SPOROS_SANITIZE MATCHES "address")
    list(APPEND environment ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1)
  endif()
  add_test(NAME ${name}
           COMMAND ${expect} "${MPIEXEC_EXECUTABLE}" ${MPIEXEC_NUMPROC_FLAG} ${test_RANKS} ${MPIEXEC_PREFLAGS}
                   $<TARGET_FILE:${test_PROGRAM}> ${MPIEXEC_POSTFLAGS} ${test_ARGUMENTS}
           WORKING_DIRECTORY "${test_DIRECTORY}")
  set_tests_properties(${name} PROPERTIES LABELS mpi TIMEOUT 300 PROCESSORS 2 ENVIRONMENT
                                          "${SPOROS_TEST_ENVIRONMENT};${environment};${test_ENVIRONMENT}")
endfunction()

# The flags in a response file, for compiling one file by hand (scripts/compile) and for tests of compile errors. If it
# were named as a system folder, /usr/include would hide what the standard library includes with include_next.
set(SPOROS_FLAGS_FILE "${PROJECT_BINARY_DIR}/sporos.flags")
set(sporos_includes "$<TARGET_PROPERTY:sporos,INTERFACE_INCLUDE_DIRECTORIES>")
set(sporos_includes "$<FILTER:$<REMOVE_DUPLICATES:${sporos_includes}>,EXCLUDE,^(/usr/include|${SPOROS_BUILD_INCLUDE_DIR})$>")
set(sporos_definitions "$<TARGET_PROPERTY:sporos,INTERFACE_COMPILE_DEFINITIONS>")
set(sporos_options "$<TARGET_PROPERTY:sporos,INTERFACE_COMPILE_OPTIONS>"
                   "$<TARGET_PROPERTY:sporos_build_flags,INTERFACE_COMPILE_OPTIONS>")
file(
  GENERATE
  OUTPUT "${SPOROS_FLAGS_FILE}"
  CONTENT "-std=c++20
-I${SPOROS_BUILD_INCLUDE_DIR}
$<$<BOOL:${sporos_includes}>:-isystem$<JOIN:${sporos_includes},
-isystem>>
-D$<JOIN:${sporos_definitions},
-D>
$<JOIN:${sporos_options},
>
")

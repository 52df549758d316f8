# SPDX-License-Identifier: Apache-2.0
# Statements in ten thousand combinations of formats, loop orders and spaces: each source that runs combinations is
# compiled into every one of these programs, and each program runs another part of them (kernels/statements.hpp).

set(parts 20)
set(reports "${CMAKE_CURRENT_BINARY_DIR}/kernels_full")
math(EXPR last_part "${parts} - 1")

# Compiled once: assembling the formats.
set(formats_objects sporos_test_formats)
add_library(${formats_objects} OBJECT kernels/formats_serial.cpp kernels/formats_openmp.cpp)
target_link_libraries(${formats_objects} PRIVATE Sporos::sporos sporos_build_flags)
target_compile_options(${formats_objects} PRIVATE ${test_flags})
target_include_directories(${formats_objects} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")

# Those over levels that are made outside the library assemble their formats themselves.
set(statements)
foreach(source IN LISTS sources_kernels sources_levels)
  file(STRINGS "${source}" checks REGEX "check<[A-Za-z]+, [0-9]+>")
  if(checks)
    list(APPEND statements "${source}")
  endif()
endforeach()

foreach(part RANGE ${last_part})
  set(name test_kernels_part_${part})
  sporos_add_program(${name} SOURCES main.cpp ${statements} $<TARGET_OBJECTS:${formats_objects}> PRECOMPILE tests
                     LIBRARIES GTest::gtest GTest::gmock OPTIONS ${test_flags}
                     DEFINITIONS SPOROS_TEST_PARTS=${parts} SPOROS_TEST_PART=${part})
  target_include_directories(${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
  if(SPOROS_TEST_BATCH GREATER 1)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${SPOROS_TEST_BATCH})
  endif()
  add_test(NAME kernels_full/part_${part} COMMAND ${name} --gtest_brief=1 --gtest_output=json:${reports}/part_${part}.json)
  set_tests_properties(kernels_full/part_${part} PROPERTIES TIMEOUT 1800 ENVIRONMENT "${SPOROS_TEST_ENVIRONMENT}"
                                                            FIXTURES_SETUP kernels_full)
endforeach()

# Adds up what the parts have run.
add_test(NAME kernels_full/combinations
         COMMAND ${CMAKE_COMMAND} -D "REPORTS=${reports}" -D "PARTS=${parts}" -D LEAST=10000 -D
                 "COMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" -P
                 "${CMAKE_CURRENT_SOURCE_DIR}/count_combinations.cmake")
set_tests_properties(kernels_full/combinations PROPERTIES FIXTURES_REQUIRED kernels_full)

# SPDX-License-Identifier: Apache-2.0
# A project of somebody else, built in each of the three ways in which one can use Sporos.

set(consumers_dir "${CMAKE_CURRENT_BINARY_DIR}/consumers")
set(consumers_install "${consumers_dir}/prefix")
set(consumers_arguments "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}" "-DCMAKE_BUILD_TYPE=Debug"
                        "-DCMAKE_CXX_FLAGS=-O0"
                        "-DCMAKE_CXX_EXTENSIONS=OFF" "-DSPOROS_SOURCE_DIR=${PROJECT_SOURCE_DIR}")
if(CMAKE_CXX_COMPILER_LAUNCHER)
  list(JOIN CMAKE_CXX_COMPILER_LAUNCHER "\;" consumers_launcher)
  list(APPEND consumers_arguments "-DCMAKE_CXX_COMPILER_LAUNCHER=${consumers_launcher}")
endif()

add_test(NAME consumers/install COMMAND ${CMAKE_COMMAND} --install "${PROJECT_BINARY_DIR}" --prefix
                                        "${consumers_install}")
set_tests_properties(consumers/install PROPERTIES FIXTURES_SETUP sporos_installed)
# The installed package knows by itself which Kokkos it was installed with.
set(where_find_package "-DSporos_ROOT=${consumers_install}")
set(where_add_subdirectory "-DKokkos_ROOT=${Kokkos_DIR}")
set(where_fetch_content "-DKokkos_ROOT=${Kokkos_DIR}")
foreach(way IN ITEMS find_package add_subdirectory fetch_content)
  add_test(
    NAME consumers/${way}
    COMMAND
      ${CMAKE_CTEST_COMMAND} --build-and-test "${CMAKE_CURRENT_SOURCE_DIR}/consumers/${way}" "${consumers_dir}/${way}"
      --build-generator "${CMAKE_GENERATOR}" --build-options ${consumers_arguments}
      ${where_${way}} --test-command consumer)
  set_tests_properties(consumers/${way} PROPERTIES TIMEOUT 600 LABELS consumer ENVIRONMENT
                                                   "${SPOROS_TEST_ENVIRONMENT}")
endforeach()
set_tests_properties(consumers/find_package PROPERTIES FIXTURES_REQUIRED sporos_installed)

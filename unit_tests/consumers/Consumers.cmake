# SPDX-License-Identifier: Apache-2.0
# A project of somebody else, built in each of the three ways in which one can use Sporos, and what CMake finds for it.

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
set(consumers_kernels FALSE)
if(KokkosKernels_FOUND)
  set(consumers_kernels TRUE)
endif()
set(where_find_package "-DSporos_ROOT=${consumers_install}" "-DEXPECT_KOKKOS_KERNELS=${consumers_kernels}")
set(where_add_subdirectory "-DKokkos_ROOT=${Kokkos_DIR}")
set(where_fetch_content "-DKokkos_ROOT=${Kokkos_DIR}")
foreach(way IN ITEMS find_package add_subdirectory fetch_content)
  add_test(
    NAME consumers/${way}
    COMMAND
      ${CMAKE_CTEST_COMMAND} --build-and-test "${CMAKE_CURRENT_SOURCE_DIR}/consumers/${way}" "${consumers_dir}/${way}"
      --build-generator "${CMAKE_GENERATOR}" --build-options ${consumers_arguments}
      ${where_${way}} --test-command consumer)
  set_tests_properties(consumers/${way} PROPERTIES TIMEOUT 600 COST 30 LABELS consumer ENVIRONMENT
                                                   "${SPOROS_TEST_ENVIRONMENT}")
endforeach()
set_tests_properties(consumers/find_package PROPERTIES FIXTURES_REQUIRED sporos_installed)

# consumers_configure(<test> <project> <arguments>...): what CMake finds for a project that is not built.
function(consumers_configure name project)
  add_test(NAME consumers/${name}
           COMMAND ${CMAKE_COMMAND} -S "${CMAKE_CURRENT_SOURCE_DIR}/consumers/${project}" -B "${consumers_dir}/${name}"
                   -G "${CMAKE_GENERATOR}" ${consumers_arguments} ${ARGN})
  set_tests_properties(consumers/${name} PROPERTIES TIMEOUT 120 LABELS consumer)
endfunction()

# In all of these, the Kokkos Kernels of this build lies where it could be taken by mistake.
set(consumers_foreign_kernels "-DKokkosKernels_DIR=${KokkosKernels_DIR}")
consumers_configure(in_tree_kokkos in_tree_kokkos ${consumers_foreign_kernels})
set(consumers_other_kokkos "${CMAKE_CURRENT_SOURCE_DIR}/consumers/other_kokkos/package")
consumers_configure(other_kokkos other_kokkos "-DSporos_ROOT=${consumers_install}" ${consumers_foreign_kernels}
                    "-DKokkos_DIR=${consumers_other_kokkos}")
consumers_configure(own_kokkos_target other_kokkos "-DSporos_ROOT=${consumers_install}" ${consumers_foreign_kernels}
                    -DHAS_TARGET=ON)
set_tests_properties(consumers/other_kokkos consumers/own_kokkos_target PROPERTIES FIXTURES_REQUIRED sporos_installed)

consumers_configure(build_tree build_tree "-DSporos_DIR=${PROJECT_BINARY_DIR}")
consumers_configure(inner_build_tree build_tree "-DSporos_DIR=${consumers_dir}/in_tree_kokkos/sporos")
set_tests_properties(consumers/in_tree_kokkos PROPERTIES FIXTURES_SETUP sporos_in_tree)
set_tests_properties(consumers/inner_build_tree PROPERTIES FIXTURES_REQUIRED sporos_in_tree PASS_REGULAR_EXPRESSION
                     "build[ \n]+tree[ \n]+of[ \n]+a[ \n]+project[ \n]+that[ \n]+contains[ \n]+Sporos")

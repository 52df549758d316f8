# SPDX-License-Identifier: Apache-2.0
# Finds the Kokkos Kernels that belongs to the Kokkos in use; any other was built with another Kokkos, and the two do not
# mix. Installed as well, for find_package(Sporos).

# Whether the package of Kokkos Kernels in `folder` belongs to the Kokkos of Kokkos_DIR: it lies beside it, or names it.
function(sporos_belongs_to_kokkos folder out)
  set(${out} FALSE PARENT_SCOPE)
  if(NOT EXISTS "${folder}/KokkosKernelsConfig.cmake")
    return()
  endif()
  file(REAL_PATH "${Kokkos_DIR}" kokkos)
  file(REAL_PATH "${folder}/../Kokkos" beside)
  file(STRINGS "${folder}/KokkosKernelsConfig.cmake" named REGEX "\\(Kokkos HINTS .*\\)")
  if(named MATCHES "HINTS \"?([^\")]+)")
    file(REAL_PATH "${CMAKE_MATCH_1}" named)
  endif()
  if(kokkos STREQUAL beside OR kokkos STREQUAL named)
    set(${out} TRUE PARENT_SCOPE)
  endif()
endfunction()

# The package of Kokkos Kernels 4.4 reports its version as "..", so it is read from a header.
macro(sporos_read_kokkos_kernels_version)
  get_target_property(sporos_kernels_include Kokkos::kokkoskernels INTERFACE_INCLUDE_DIRECTORIES)
  set(KokkosKernels_VERSION 0)
  foreach(sporos_include IN LISTS sporos_kernels_include)
    if(EXISTS "${sporos_include}/KokkosKernels_config.h")
      file(STRINGS "${sporos_include}/KokkosKernels_config.h" sporos_kernels_version REGEX "define KOKKOSKERNELS_VERSION [0-9]+")
      if(sporos_kernels_version MATCHES "KOKKOSKERNELS_VERSION ([0-9]+)([0-9][0-9])([0-9][0-9])$")
        string(REGEX REPLACE "\\.0([0-9])" ".\\1" KokkosKernels_VERSION
                             "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
      endif()
    endif()
  endforeach()
  if(KokkosKernels_VERSION VERSION_LESS 4.4)
    set(KokkosKernels_FOUND FALSE)
  endif()
endmacro()

# sporos_find_kokkos_kernels([<folder>...]) sets KokkosKernels_FOUND. The folders are looked into as well. What does not
# belong to this Kokkos is not even loaded, so that it leaves no targets behind.
macro(sporos_find_kokkos_kernels)
  set(KokkosKernels_FOUND FALSE)
  get_target_property(sporos_kokkos_is_imported Kokkos::kokkos IMPORTED)
  if(TARGET Kokkos::kokkoskernels)
    # The project has made or found it, together with its Kokkos. In a source tree its version is not known.
    set(KokkosKernels_FOUND TRUE)
  elseif(sporos_kokkos_is_imported AND Kokkos_DIR)
    set(sporos_kernels_folders "${KokkosKernels_DIR}" "${Kokkos_DIR}/../KokkosKernels" ${ARGN})
    string(REPLACE ":" ";" sporos_prefixes "$ENV{KokkosKernels_ROOT}:$ENV{CMAKE_PREFIX_PATH}")
    foreach(sporos_prefix IN LISTS KokkosKernels_ROOT CMAKE_PREFIX_PATH sporos_prefixes)
      list(APPEND sporos_kernels_folders "${sporos_prefix}/lib/cmake/KokkosKernels"
           "${sporos_prefix}/lib64/cmake/KokkosKernels")
    endforeach()
    foreach(sporos_folder IN LISTS sporos_kernels_folders)
      sporos_belongs_to_kokkos("${sporos_folder}" sporos_belongs)
      if(sporos_belongs)
        set(KokkosKernels_DIR "${sporos_folder}")
        find_package(KokkosKernels CONFIG QUIET)
        if(KokkosKernels_FOUND)
          sporos_read_kokkos_kernels_version()
        endif()
        break()
      endif()
    endforeach()
  endif()
endmacro()

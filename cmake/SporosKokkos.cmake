# SPDX-License-Identifier: Apache-2.0
# Finds Kokkos: the project's own target, an install of the user's, the one that scripts/bootstrap has built in the
# per-user cache; in this order.

include("${CMAKE_CURRENT_LIST_DIR}/SporosKokkosKernels.cmake")

set(SPOROS_KOKKOS_VARIANT
    host
    CACHE STRING "Which Kokkos of scripts/bootstrap to use where the user has none: host, clang, debug, asan, tsan, cuda")
set_property(CACHE SPOROS_KOKKOS_VARIANT PROPERTY STRINGS host clang debug asan tsan cuda)

set(SPOROS_SCRIPTS_DIR "${CMAKE_CURRENT_LIST_DIR}/../scripts")

# Only the script knows the layout of the cache.
function(sporos_cached_kokkos out)
  set(arguments --${SPOROS_KOKKOS_VARIANT} --print-prefix)
  if(SPOROS_PORTABLE)
    list(APPEND arguments --portable)
  endif()
  set(environment)
  if(CMAKE_CXX_COMPILER)
    set(environment "CXX=${CMAKE_CXX_COMPILER}")
  endif()
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env ${environment} bash "${SPOROS_SCRIPTS_DIR}/bootstrap" ${arguments}
    OUTPUT_VARIABLE prefix
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
    RESULT_VARIABLE result)
  if(result EQUAL 0 AND EXISTS "${prefix}/.complete")
    set(${out} "${prefix}" PARENT_SCOPE)
  else()
    set(${out} "" PARENT_SCOPE)
  endif()
endfunction()

# With CUDA, nvcc_wrapper compiles every file: for CMake, Kokkos 4 is a C++ library, and the flags are in the wrapper
# that belongs to the Kokkos that is linked.
macro(sporos_choose_compiler)
  if(SPOROS_KOKKOS_VARIANT STREQUAL "cuda" AND NOT CMAKE_CXX_COMPILER AND NOT "$ENV{CXX}" MATCHES "nvcc_wrapper")
    if(Kokkos_ROOT)
      set(sporos_kokkos_prefix "${Kokkos_ROOT}")
    else()
      sporos_cached_kokkos(sporos_kokkos_prefix)
    endif()
    if(EXISTS "${sporos_kokkos_prefix}/bin/nvcc_wrapper")
      set(CMAKE_CXX_COMPILER "${sporos_kokkos_prefix}/bin/nvcc_wrapper" CACHE FILEPATH "C++ compiler")
    else()
      message(FATAL_ERROR "No Kokkos with CUDA is there. Run `scripts/bootstrap --cuda`, "
                          "or name an install of your own by Kokkos_ROOT.")
    endif()
  endif()
endmacro()

macro(sporos_find_kokkos)
  if(TARGET Kokkos::kokkos)
    # The project that Sporos is part of has it, built along with it or found. What is older is refused by a header.
    set(Kokkos_FOUND TRUE)
  else()
    sporos_find_installed_kokkos()
  endif()
  if(SPOROS_ENABLE_KOKKOS_KERNELS)
    sporos_find_kokkos_kernels()
  endif()
endmacro()

macro(sporos_find_installed_kokkos)
  # A variant is requested by name; the plain host build uses the user's Kokkos wherever CMake finds it.
  if(SPOROS_KOKKOS_VARIANT STREQUAL "host" OR Kokkos_ROOT OR Kokkos_DIR OR DEFINED ENV{Kokkos_ROOT})
    find_package(Kokkos 4.7 CONFIG QUIET)
  endif()
  if(NOT Kokkos_FOUND)
    unset(Kokkos_DIR CACHE)
    sporos_cached_kokkos(sporos_kokkos_prefix)
    if(sporos_kokkos_prefix)
      find_package(Kokkos 4.7 CONFIG QUIET PATHS "${sporos_kokkos_prefix}" NO_DEFAULT_PATH)
    endif()
  endif()
  if(NOT Kokkos_FOUND)
    set(sporos_bootstrap "scripts/bootstrap --${SPOROS_KOKKOS_VARIANT}")
    if(SPOROS_PORTABLE)
      string(APPEND sporos_bootstrap " --portable")
    endif()
    message(FATAL_ERROR "Kokkos 4.7 or newer was not found. Run `${sporos_bootstrap}` (for the compiler "
                        "${CMAKE_CXX_COMPILER}: set CXX to it), or name an install of your own by Kokkos_ROOT.")
  endif()
  if(SPOROS_KOKKOS_VARIANT STREQUAL "cuda" AND NOT Kokkos_ENABLE_CUDA)
    message(FATAL_ERROR "The Kokkos in ${Kokkos_DIR} was built without CUDA.")
  endif()
endmacro()

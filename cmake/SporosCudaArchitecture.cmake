# SPDX-License-Identifier: Apache-2.0
# Kokkos compiles for sm_90; the matrix instructions of four warps and sparse ones with operands in shared memory are
# there for sm_90a alone. Whoever links Kokkos::kokkos with Sporos compiles for that. Written -arch=sm_90a, it would have
# nvcc compile all device code a second time, for PTX that other devices can translate. Where nothing is run, PTX alone is
# enough (compute_90a), which takes a sixth less time; the driver would translate it whenever a program starts.
set(SPOROS_CUDA_CODE "sm_90a" CACHE STRING "Device code in programs for CUDA: sm_90a, machine code, or compute_90a, PTX")
set_property(CACHE SPOROS_CUDA_CODE PROPERTY STRINGS sm_90a compute_90a)
mark_as_advanced(SPOROS_CUDA_CODE)
function(sporos_compile_for_sm_90a)
  if(NOT TARGET Kokkos::kokkoscore)
    return()
  endif()
  get_target_property(target Kokkos::kokkoscore ALIASED_TARGET)
  if(NOT target)
    set(target Kokkos::kokkoscore)
  endif()
  foreach(property INTERFACE_COMPILE_OPTIONS INTERFACE_LINK_OPTIONS)
    get_target_property(options ${target} ${property})
    if(options)
      string(REGEX REPLACE "-arch=sm_90([^0-9a-z]|$)" "-gencode=arch=compute_90a,code=${SPOROS_CUDA_CODE}\\1" options "${options}")
      set_property(TARGET ${target} PROPERTY ${property} "${options}")
    endif()
  endforeach()
endfunction()

# SPDX-License-Identifier: Apache-2.0
# Fails unless Sporos::sporos links Kokkos Kernels, or does not, as expected.
function(expect_kokkos_kernels expected)
  set(linked FALSE)
  foreach(property IN ITEMS INTERFACE_LINK_LIBRARIES INTERFACE_COMPILE_DEFINITIONS)
    get_target_property(value Sporos::sporos ${property})
    if(value MATCHES "kokkoskernels|SPOROS_HAVE_KOKKOS_KERNELS")
      set(linked TRUE)
    endif()
  endforeach()
  if(NOT "${linked}" STREQUAL "${expected}")
    message(FATAL_ERROR "Sporos::sporos links Kokkos Kernels: ${linked}, expected: ${expected}")
  endif()
endfunction()

# SPDX-License-Identifier: Apache-2.0
# What find_package(Kokkos) makes, as far as Sporos looks at it.
if(TARGET Kokkos::kokkos)
  return()
endif()
add_library(OtherKokkos INTERFACE IMPORTED)
add_library(Kokkos::kokkos INTERFACE IMPORTED)
set_target_properties(Kokkos::kokkos PROPERTIES INTERFACE_LINK_LIBRARIES OtherKokkos)

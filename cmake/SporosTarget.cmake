# SPDX-License-Identifier: Apache-2.0
# The target Sporos::sporos: the headers and what they depend on.

# Headers include each other relatively, so the tree works as it is; users write <sporos/…>, which the build tree
# provides through links.
set(SPOROS_HEADER_FOLDERS core formats workspace kernels distributed)
set(SPOROS_HEADERS sporos.hpp compute.hpp forward.hpp version.hpp)
set(SPOROS_BUILD_INCLUDE_DIR "${PROJECT_BINARY_DIR}/include")
file(MAKE_DIRECTORY "${SPOROS_BUILD_INCLUDE_DIR}/sporos")
foreach(entry IN LISTS SPOROS_HEADER_FOLDERS SPOROS_HEADERS)
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${entry}" "${SPOROS_BUILD_INCLUDE_DIR}/sporos/${entry}" SYMBOLIC)
endforeach()

add_library(sporos INTERFACE)
add_library(Sporos::sporos ALIAS sporos)
target_compile_features(sporos INTERFACE cxx_std_20)
# To a project that Sporos is part of, its headers are those of a library: their warnings are not the project's.
set(sporos_system)
if(NOT PROJECT_IS_TOP_LEVEL)
  set(sporos_system SYSTEM)
endif()
target_include_directories(sporos ${sporos_system} INTERFACE "$<BUILD_INTERFACE:${SPOROS_BUILD_INCLUDE_DIR}>"
                           "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_link_libraries(sporos INTERFACE Kokkos::kokkos ZLIB::ZLIB Threads::Threads)
# Loops are marked as having independent iterations. Where a statement has some that clang cannot vectorise, it would
# warn, at places that a user cannot mend.
target_compile_options(sporos INTERFACE "$<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang,IntelLLVM>:-Wno-pass-failed>")
target_include_directories(sporos SYSTEM INTERFACE "$<BUILD_INTERFACE:${SPOROS_FAST_FLOAT_INCLUDE_DIR}>")
if(Kokkos_ENABLE_CUDA)
  # Compile-time constants are computed by constexpr functions, also in device code.
  target_compile_options(sporos INTERFACE --expt-relaxed-constexpr)
  target_link_libraries(sporos INTERFACE CUDA::cublas)
  sporos_compile_for_sm_90a()
endif()
if(TARGET SporosCusparselt::cusparselt)
  # SporosConfig.cmake adds the one that it finds.
  target_link_libraries(sporos INTERFACE "$<BUILD_INTERFACE:SporosCusparselt::cusparselt>")
  target_compile_definitions(sporos INTERFACE "$<BUILD_INTERFACE:SPOROS_HAVE_CUSPARSELT=1>")
endif()
if(KokkosKernels_FOUND)
  # SporosConfig.cmake adds the one that belongs to the Kokkos that it meets.
  target_link_libraries(sporos INTERFACE "$<BUILD_INTERFACE:Kokkos::kokkoskernels>")
  target_compile_definitions(sporos INTERFACE "$<BUILD_INTERFACE:SPOROS_HAVE_KOKKOS_KERNELS=1>")
endif()

if(SPOROS_HDF5_FOUND)
  # SporosConfig.cmake adds the one that it finds.
  target_include_directories(sporos SYSTEM INTERFACE "$<BUILD_INTERFACE:${SPOROS_HDF5_INCLUDE_DIR}>")
  target_link_libraries(sporos INTERFACE "$<BUILD_INTERFACE:${SPOROS_HDF5_LIBRARY}>")
  target_compile_definitions(sporos INTERFACE "$<BUILD_INTERFACE:SPOROS_HAVE_HDF5=1>")
endif()

# Tensors across processes: Sporos with MPI. Without it the same programs run on one process.
add_library(sporos_distributed INTERFACE)
add_library(Sporos::distributed ALIAS sporos_distributed)
set_target_properties(sporos_distributed PROPERTIES EXPORT_NAME distributed)
target_link_libraries(sporos_distributed INTERFACE sporos)
if(MPI_CXX_FOUND)
  # SporosConfig.cmake adds the one that it finds.
  target_link_libraries(sporos_distributed INTERFACE "$<BUILD_INTERFACE:MPI::MPI_CXX>")
  target_compile_definitions(sporos_distributed INTERFACE "$<BUILD_INTERFACE:SPOROS_HAVE_MPI=1>")
endif()
if(TARGET SporosNccl::nccl)
  target_link_libraries(sporos_distributed INTERFACE "$<BUILD_INTERFACE:SporosNccl::nccl>")
  target_compile_definitions(sporos_distributed INTERFACE "$<BUILD_INTERFACE:SPOROS_HAVE_NCCL=1>")
endif()

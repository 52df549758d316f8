# SPDX-License-Identifier: Apache-2.0
# The libraries that Sporos depends on.

sporos_find_kokkos()
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
if(Kokkos_ENABLE_CUDA)
  find_package(CUDAToolkit REQUIRED) # for cuBLAS
  if(SPOROS_ENABLE_CUSPARSELT)
    include("${CMAKE_CURRENT_LIST_DIR}/SporosCusparselt.cmake")
    sporos_find_cusparselt()
  endif()
endif()
find_path(SPOROS_FAST_FLOAT_INCLUDE_DIR fast_float/fast_float.h
          DOC "Folder of fast_float/fast_float.h (libfast-float-dev)")
if(NOT SPOROS_FAST_FLOAT_INCLUDE_DIR)
  message(FATAL_ERROR "fast_float was not found: install libfast-float-dev, "
                      "or set SPOROS_FAST_FLOAT_INCLUDE_DIR to the folder that holds fast_float/fast_float.h.")
endif()
if(SPOROS_ENABLE_HDF5)
  include(SporosHdf5)
  sporos_find_hdf5()
  if(NOT SPOROS_HDF5_FOUND AND NOT SPOROS_ENABLE_HDF5 STREQUAL "AUTO")
    message(FATAL_ERROR "HDF5 was not found, or is one for MPI: install libhdf5-dev, name it by HDF5_ROOT, "
                        "or do without binsparse files by SPOROS_ENABLE_HDF5=OFF.")
  endif()
endif()
# A Kokkos with CUDA is compiled with nvcc, which a system's MPI may not expect: there it has to be asked for.
if(SPOROS_ENABLE_MPI STREQUAL "AUTO" AND NOT Kokkos_ENABLE_CUDA)
  find_package(MPI QUIET COMPONENTS CXX)
elseif(SPOROS_ENABLE_MPI AND NOT SPOROS_ENABLE_MPI STREQUAL "AUTO")
  find_package(MPI REQUIRED COMPONENTS CXX)
endif()
# Values of GPUs travel between ranks by NCCL where it is found.
if(SPOROS_ENABLE_NCCL AND MPI_CXX_FOUND AND Kokkos_ENABLE_CUDA)
  include("${CMAKE_CURRENT_LIST_DIR}/SporosNccl.cmake")
  sporos_find_nccl()
endif()

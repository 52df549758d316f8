# SPDX-License-Identifier: Apache-2.0
# The libraries that Sporos depends on.

sporos_find_kokkos()
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_path(SPOROS_FAST_FLOAT_INCLUDE_DIR fast_float/fast_float.h
          DOC "Folder of fast_float/fast_float.h (libfast-float-dev)")
if(NOT SPOROS_FAST_FLOAT_INCLUDE_DIR)
  message(FATAL_ERROR "fast_float was not found: install libfast-float-dev, "
                      "or set SPOROS_FAST_FLOAT_INCLUDE_DIR to the folder that holds fast_float/fast_float.h.")
endif()
if(SPOROS_ENABLE_MPI)
  find_package(MPI REQUIRED COMPONENTS CXX)
endif()

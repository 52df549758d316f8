# SPDX-License-Identifier: Apache-2.0
# Finds the HDF5 library, in which binsparse files are kept: sets SPOROS_HDF5_FOUND, and in the cache
# SPOROS_HDF5_INCLUDE_DIR and SPOROS_HDF5_LIBRARY. CMake's own module runs HDF5's compiler wrapper and needs a C
# compiler; a header and a library are all that is needed. Installed as well: find_package(Sporos) finds it so.

# sporos_find_hdf5([HINTS <folders>...])
macro(sporos_find_hdf5)
  cmake_parse_arguments(sporos_hdf5 "" "" "HINTS" ${ARGN})
  # Debian keeps its serial and its parallel build side by side.
  find_path(SPOROS_HDF5_INCLUDE_DIR hdf5.h HINTS ${HDF5_ROOT} ENV HDF5_ROOT ${sporos_hdf5_HINTS}
            PATH_SUFFIXES include hdf5/serial DOC "Folder of hdf5.h (libhdf5-dev)")
  find_library(SPOROS_HDF5_LIBRARY NAMES hdf5_serial hdf5 HINTS ${HDF5_ROOT} ENV HDF5_ROOT ${sporos_hdf5_HINTS}
               PATH_SUFFIXES lib DOC "The library of HDF5 (libhdf5-dev)")
  mark_as_advanced(SPOROS_HDF5_INCLUDE_DIR SPOROS_HDF5_LIBRARY)
  set(SPOROS_HDF5_FOUND FALSE)
  set(SPOROS_HDF5_VERSION "")
  if(SPOROS_HDF5_INCLUDE_DIR AND SPOROS_HDF5_LIBRARY)
    set(SPOROS_HDF5_FOUND TRUE)
    get_filename_component(SPOROS_HDF5_LIBRARY_DIR "${SPOROS_HDF5_LIBRARY}" DIRECTORY)
    # A build for MPI includes mpi.h, which a program without MPI does not have.
    file(GLOB sporos_hdf5_headers "${SPOROS_HDF5_INCLUDE_DIR}/H5pubconf*.h")
    foreach(sporos_hdf5_header IN LISTS sporos_hdf5_headers)
      file(STRINGS "${sporos_hdf5_header}" sporos_hdf5_parallel REGEX "^#define H5_HAVE_PARALLEL 1")
      if(sporos_hdf5_parallel)
        set(SPOROS_HDF5_FOUND FALSE)
      endif()
      file(STRINGS "${sporos_hdf5_header}" sporos_hdf5_version REGEX "^#define H5_VERSION ")
      if(sporos_hdf5_version MATCHES "\"([^\"]+)\"")
        set(SPOROS_HDF5_VERSION "${CMAKE_MATCH_1}")
      endif()
    endforeach()
  endif()
endmacro()

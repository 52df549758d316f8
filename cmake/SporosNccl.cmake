# SPDX-License-Identifier: Apache-2.0
# Finds NCCL, beside the CUDA toolkit or where the system has it: the target SporosNccl::nccl, and SPOROS_NCCL_VERSION.
function(sporos_find_nccl)
  find_path(SPOROS_NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} DOC "Folder of nccl.h (libnccl-dev)")
  find_library(SPOROS_NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_LIBRARY_ROOT}/lib
               DOC "libnccl.so (libnccl-dev)")
  mark_as_advanced(SPOROS_NCCL_INCLUDE_DIR SPOROS_NCCL_LIBRARY)
  if(NOT SPOROS_NCCL_INCLUDE_DIR OR NOT SPOROS_NCCL_LIBRARY)
    return()
  endif()
  file(STRINGS "${SPOROS_NCCL_INCLUDE_DIR}/nccl.h" parts REGEX "^#define NCCL_(MAJOR|MINOR|PATCH) ")
  list(TRANSFORM parts REPLACE ".* " "")
  list(JOIN parts "." version)
  set(SPOROS_NCCL_VERSION "${version}" PARENT_SCOPE)
  if(NOT TARGET SporosNccl::nccl)
    add_library(SporosNccl::nccl UNKNOWN IMPORTED GLOBAL)
    set_target_properties(
      SporosNccl::nccl PROPERTIES IMPORTED_LOCATION "${SPOROS_NCCL_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES
                                                                             "${SPOROS_NCCL_INCLUDE_DIR}")
  endif()
endfunction()

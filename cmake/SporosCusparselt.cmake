# SPDX-License-Identifier: Apache-2.0
# Finds cuSPARSELt, beside the CUDA toolkit or where CMAKE_PREFIX_PATH names the folder that has its include and lib: the
# target SporosCusparselt::cusparselt, and SPOROS_CUSPARSELT_VERSION. Installed as well, for find_package(Sporos).

# sporos_find_cusparselt([HINTS <folders>...])
function(sporos_find_cusparselt)
  cmake_parse_arguments(PARSE_ARGV 0 given "" "" "HINTS")
  find_path(SPOROS_CUSPARSELT_INCLUDE_DIR cusparseLt.h HINTS ${CUDAToolkit_INCLUDE_DIRS} ${given_HINTS}
            DOC "Folder of cusparseLt.h")
  # PyPI's packages have no libcusparseLt.so.
  find_library(SPOROS_CUSPARSELT_LIBRARY NAMES cusparseLt libcusparseLt.so.0
               HINTS ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_LIBRARY_ROOT}/lib ${given_HINTS} DOC "libcusparseLt.so")
  mark_as_advanced(SPOROS_CUSPARSELT_INCLUDE_DIR SPOROS_CUSPARSELT_LIBRARY)
  if(NOT SPOROS_CUSPARSELT_INCLUDE_DIR OR NOT SPOROS_CUSPARSELT_LIBRARY)
    return()
  endif()
  file(STRINGS "${SPOROS_CUSPARSELT_INCLUDE_DIR}/cusparseLt.h" parts REGEX "^#define CUSPARSELT_VER_(MAJOR|MINOR|PATCH) ")
  list(TRANSFORM parts REPLACE ".* " "")
  list(JOIN parts "." version)
  if(version VERSION_LESS 0.8)
    return()
  endif()
  set(SPOROS_CUSPARSELT_VERSION "${version}" PARENT_SCOPE)
  get_filename_component(folder "${SPOROS_CUSPARSELT_LIBRARY}" DIRECTORY)
  set(SPOROS_CUSPARSELT_LIBRARY_DIR "${folder}" PARENT_SCOPE)
  if(NOT TARGET SporosCusparselt::cusparselt)
    add_library(SporosCusparselt::cusparselt UNKNOWN IMPORTED GLOBAL)
    set_target_properties(
      SporosCusparselt::cusparselt PROPERTIES IMPORTED_LOCATION "${SPOROS_CUSPARSELT_LIBRARY}"
                                              INTERFACE_INCLUDE_DIRECTORIES "${SPOROS_CUSPARSELT_INCLUDE_DIR}")
  endif()
endfunction()

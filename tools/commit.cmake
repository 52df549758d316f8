# SPDX-License-Identifier: Apache-2.0
# Writes which commit is compiled: cmake -DSOURCE=FOLDER -DOUTPUT=FILE -P commit.cmake
# A tree that is not a repository of its own, as that of a release, has none.

cmake_minimum_required(VERSION 3.22)
set(commit unknown)
find_program(git git)
if(git)
  execute_process(COMMAND "${git}" -C "${SOURCE}" rev-parse --show-toplevel OUTPUT_VARIABLE top
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  file(REAL_PATH "${SOURCE}" source)
  if(top STREQUAL source)
    execute_process(COMMAND "${git}" -C "${SOURCE}" describe --always --dirty --abbrev=12 --exclude=*
                    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(described)
      set(commit "${described}")
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "// Written by tools/commit.cmake.
extern const char* const sporos_commit;
const char* const sporos_commit = \"@commit@\";
" @ONLY)

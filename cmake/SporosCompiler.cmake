# SPDX-License-Identifier: Apache-2.0
# The oldest compilers that compile the headers. Installed as well: find_package(Sporos) asks for the same ones.

# g++ 11 lacks __builtin_shufflevector, and clang++ 14 cannot compile libstdc++'s std::source_location.
set(SPOROS_OLDEST_GNU 12)
set(SPOROS_OLDEST_Clang 15)

# Sets `out` to a sentence if the C++ compiler is too old, else to the empty string.
function(sporos_compiler_fault out)
  set(oldest "${SPOROS_OLDEST_${CMAKE_CXX_COMPILER_ID}}")
  set(fault "")
  if(oldest AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS oldest)
    set(fault "Sporos needs g++ ${SPOROS_OLDEST_GNU} or clang++ ${SPOROS_OLDEST_Clang} or newer, but "
              "${CMAKE_CXX_COMPILER} is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}: "
              "name a newer one by CMAKE_CXX_COMPILER.")
    string(CONCAT fault ${fault})
  endif()
  set(${out} "${fault}" PARENT_SCOPE)
endfunction()

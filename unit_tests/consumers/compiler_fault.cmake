# SPDX-License-Identifier: Apache-2.0
# Which compilers are refused, for cmake -P.
include("${CMAKE_CURRENT_LIST_DIR}/../../cmake/SporosCompiler.cmake")

function(expect_fault id version expected)
  set(CMAKE_CXX_COMPILER "c++")
  set(CMAKE_CXX_COMPILER_ID "${id}")
  set(CMAKE_CXX_COMPILER_VERSION "${version}")
  sporos_compiler_fault(fault)
  if(NOT fault STREQUAL expected)
    message(FATAL_ERROR "${id} ${version}: '${fault}', expected '${expected}'")
  endif()
endfunction()

set(needs "Sporos needs g++ 12 or clang++ 15 or newer, but c++ is")
set(cure "name a newer one by CMAKE_CXX_COMPILER.")
expect_fault(GNU 11.3.0 "${needs} GNU 11.3.0: ${cure}")
expect_fault(Clang 14.0.6 "${needs} Clang 14.0.6: ${cure}")
expect_fault(GNU 12.1.0 "")
expect_fault(Clang 15.0.0 "")
expect_fault(Clang 19.1.7 "")
expect_fault(IntelLLVM 2021.1 "")

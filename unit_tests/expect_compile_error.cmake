# SPDX-License-Identifier: Apache-2.0
# cmake -D COMPILER=… -D FLAGS=<response file> -D SOURCE=<x.fail.cpp> -P: fails unless SOURCE is refused as it expects.

file(STRINGS "${SOURCE}" expectations REGEX "^// expect: ")
if(NOT expectations)
  message(FATAL_ERROR "${SOURCE} has no line `// expect: <regex>`")
endif()
# A file that is refused for want of a header would pass for the wrong reason: what it includes must compile.
file(STRINGS "${SOURCE}" includes REGEX "^#include ")
string(REPLACE ";" "\n" includes "${includes}")
set(prelude "${CMAKE_CURRENT_BINARY_DIR}/expect_compile_error.prelude")
string(MD5 digest "${SOURCE}")
file(WRITE "${prelude}.${digest}.cpp" "${includes}\n")
execute_process(COMMAND "${COMPILER}" "@${FLAGS}" -fsyntax-only "${prelude}.${digest}.cpp" RESULT_VARIABLE result
                ERROR_VARIABLE words)
file(REMOVE "${prelude}.${digest}.cpp")
if(NOT result EQUAL 0)
  message(FATAL_ERROR "The headers that ${SOURCE} includes do not compile by themselves:\n${words}")
endif()

execute_process(COMMAND "${COMPILER}" "@${FLAGS}" -fsyntax-only "${SOURCE}" RESULT_VARIABLE result ERROR_VARIABLE words)
if(result EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiled, and should have been refused")
endif()
foreach(expectation IN LISTS expectations)
  string(REGEX REPLACE "^// expect: " "" expectation "${expectation}")
  if(NOT words MATCHES "error: [^\n]*${expectation}")
    message(FATAL_ERROR "No error matches `${expectation}`. The compiler said:\n${words}")
  endif()
endforeach()

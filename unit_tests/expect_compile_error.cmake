# SPDX-License-Identifier: Apache-2.0
# cmake -D COMPILER=… -D FLAGS=<response file> -D HEADER=<compiled first> -D SOURCE=<x.fail.cpp> -P: fails unless SOURCE
# is refused as it expects.

file(STRINGS "${SOURCE}" expectations REGEX "^// expect: ")
if(NOT expectations)
  message(FATAL_ERROR "${SOURCE} has no line `// expect: <regex>`")
endif()
execute_process(COMMAND "${COMPILER}" "@${FLAGS}" -fsyntax-only -include "${HEADER}" "${SOURCE}" RESULT_VARIABLE result
                ERROR_VARIABLE words)
if(result EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiled, and should have been refused")
endif()
# A file that is refused for want of a header would pass for the wrong reason.
if(words MATCHES "fatal error: ")
  message(FATAL_ERROR "${SOURCE} could not be read:\n${words}")
endif()
foreach(expectation IN LISTS expectations)
  string(REGEX REPLACE "^// expect: " "" expectation "${expectation}")
  if(NOT words MATCHES "error: [^\n]*${expectation}")
    message(FATAL_ERROR "No error matches `${expectation}`. The compiler said:\n${words}")
  endif()
endforeach()
# The sentence is all that is said: with a line `// alone`, no other error follows it.
file(STRINGS "${SOURCE}" alone REGEX "^// alone$")
if(alone)
  string(REGEX MATCHALL "error: " errors "${words}")
  list(LENGTH errors count)
  if(count GREATER 1)
    message(FATAL_ERROR "There are ${count} errors instead of one. The compiler said:\n${words}")
  endif()
endif()

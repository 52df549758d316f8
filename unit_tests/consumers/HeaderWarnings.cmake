# SPDX-License-Identifier: Apache-2.0
# What the compiler of somebody else's project says of Sporos' headers.

# Their warnings, where they are not taken for a library's. (Only with optimisation are the intrinsics of the processor
# functions of the compiler's headers, whose warnings are not ours; -fsyntax-only instantiates few templates.)
add_test(NAME consumers/header_warnings
         COMMAND ${CMAKE_CXX_COMPILER} "@${SPOROS_FLAGS_FILE}" -S -Og -o "${CMAKE_CURRENT_BINARY_DIR}/statements.s" -Wpedantic
                 -Wshadow -Wconversion -Wsign-conversion -Werror "${CMAKE_CURRENT_SOURCE_DIR}/consumers/statements.cpp")
set_tests_properties(consumers/header_warnings PROPERTIES TIMEOUT 120 LABELS consumer)

add_test(NAME consumers/old_compilers COMMAND ${CMAKE_COMMAND} -P
                                              "${CMAKE_CURRENT_SOURCE_DIR}/consumers/compiler_fault.cmake")

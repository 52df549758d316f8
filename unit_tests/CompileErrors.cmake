# SPDX-License-Identifier: Apache-2.0
# A file <name>.fail.cpp must not compile, and the compiler's words must match each of its lines `// expect: <regex>`.

file(GLOB_RECURSE failing CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" *.fail.cpp)
foreach(source IN LISTS failing)
  string(REGEX REPLACE "\\.fail\\.cpp$" "" name "${source}")
  add_test(
    NAME compile_error/${name}
    COMMAND ${CMAKE_COMMAND} -D "COMPILER=${CMAKE_CXX_COMPILER}" -D "FLAGS=${SPOROS_FLAGS_FILE}" -D
            "SOURCE=${CMAKE_CURRENT_SOURCE_DIR}/${source}" -P "${CMAKE_CURRENT_SOURCE_DIR}/expect_compile_error.cmake")
  set_tests_properties(compile_error/${name} PROPERTIES TIMEOUT 300)
endforeach()

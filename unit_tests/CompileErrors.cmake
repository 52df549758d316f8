# SPDX-License-Identifier: Apache-2.0
# A file <name>.fail.cpp must not compile, and the compiler's words must match each of its lines `// expect: <regex>`.

# They read the same headers, which g++ then reads once. It takes the precompiled one for the header beside it.
set(errors_header "${CMAKE_CURRENT_BINARY_DIR}/compile_error.hpp")
file(CONFIGURE OUTPUT "${errors_header}" CONTENT "#include <sporos/compute.hpp>\n")
if(SPOROS_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_custom_command(
    OUTPUT "${errors_header}.gch"
    COMMAND "${CMAKE_CXX_COMPILER}" "@${SPOROS_FLAGS_FILE}" -x c++-header "${errors_header}" -MD -MF "${errors_header}.d"
            -MT "${errors_header}.gch" -o "${errors_header}.gch"
    DEPENDS "${errors_header}" "${SPOROS_FLAGS_FILE}"
    DEPFILE "${errors_header}.d"
    VERBATIM)
  add_custom_target(sporos_precompiled_compile_errors ALL DEPENDS "${errors_header}.gch")
  add_dependencies(tests_of_compiler sporos_precompiled_compile_errors)
endif()

file(GLOB_RECURSE failing CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" *.fail.cpp)
foreach(source IN LISTS failing)
  string(REGEX REPLACE "\\.fail\\.cpp$" "" name "${source}")
  add_test(
    NAME compile_error/${name}
    COMMAND ${CMAKE_COMMAND} -D "COMPILER=${CMAKE_CXX_COMPILER}" -D "FLAGS=${SPOROS_FLAGS_FILE}" -D
            "HEADER=${errors_header}" -D "SOURCE=${CMAKE_CURRENT_SOURCE_DIR}/${source}" -P "${CMAKE_CURRENT_SOURCE_DIR}/expect_compile_error.cmake")
  set_tests_properties(compile_error/${name} PROPERTIES TIMEOUT 300)
endforeach()

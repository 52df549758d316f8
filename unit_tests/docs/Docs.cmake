# SPDX-License-Identifier: Apache-2.0
# The code of the documents: programs are compiled and run, and print what the documents say; commands succeed.

find_program(SPOROS_AWK NAMES mawk gawk awk REQUIRED)
set(docs_dir "${CMAKE_CURRENT_BINARY_DIR}/docs")
set(docs_source_dir "${CMAKE_CURRENT_LIST_DIR}")
set(docs_precompile)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  set(docs_precompile PRECOMPILE docs)
endif()
file(GLOB docs_data CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/data/*")

# Each program has a folder of its own, in which the data lies as in the source tree and under its bare name.
function(docs_add_test name)
  set(folder "${docs_dir}/run/${name}")
  file(MAKE_DIRECTORY "${folder}")
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/examples" "${folder}/examples" SYMBOLIC)
  foreach(file IN LISTS docs_data)
    get_filename_component(bare "${file}" NAME)
    file(CREATE_LINK "${file}" "${folder}/${bare}" SYMBOLIC)
  endforeach()
  add_test(NAME docs/${name} COMMAND bash ${ARGN} WORKING_DIRECTORY "${folder}")
  set_tests_properties(docs/${name} PROPERTIES LABELS docs TIMEOUT 300 ENVIRONMENT
                                               "${SPOROS_TEST_ENVIRONMENT};OMP_NUM_THREADS=4;OMP_PROC_BIND=false")
endfunction()

function(docs_test_document name document)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${document}" "${docs_source_dir}/extract.awk")
  file(MAKE_DIRECTORY "${docs_dir}/new")
  execute_process(
    COMMAND "${SPOROS_AWK}" -v "name=${name}" -v "out=${docs_dir}/new" -f "${docs_source_dir}/extract.awk" "${document}"
    OUTPUT_VARIABLE files
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" files "${files}")
  foreach(file IN LISTS files)
    file(COPY_FILE "${docs_dir}/new/${file}" "${docs_dir}/${file}" ONLY_IF_DIFFERENT)
    string(REGEX REPLACE "\\..*" "" program "${file}")
    if(file MATCHES "\\.fail\\.cpp$")
      if(SPOROS_TEST_PROGRAMS STREQUAL "others")
        continue()
      endif()
      add_test(NAME docs/${program}
               COMMAND ${CMAKE_COMMAND} -D "COMPILER=${CMAKE_CXX_COMPILER}" -D "FLAGS=${SPOROS_FLAGS_FILE}" -D
                       "HEADER=${errors_header}" -D "SOURCE=${docs_dir}/${file}" -P "${CMAKE_CURRENT_SOURCE_DIR}/expect_compile_error.cmake")
      set_tests_properties(docs/${program} PROPERTIES LABELS docs TIMEOUT 300)
    elseif(file MATCHES "\\.sh$")
      if(NOT SPOROS_TEST_PROGRAMS STREQUAL "others" AND SPOROS_BUILD_TOOLS AND TARGET sporos_tool)
        docs_add_test(${program}_commands "${docs_source_dir}/run_commands.sh" "${docs_dir}/${file}"
                      $<TARGET_FILE_DIR:sporos_tool>)
      endif()
    elseif(file MATCHES "\\.cpp$" AND NOT SPOROS_TEST_PROGRAMS STREQUAL "of_compiler")
      # What a guide computes is small: the compiler need not make it fast.
      sporos_add_program(docs_${program} SOURCES "${docs_dir}/${file}" ${docs_precompile}
                         LIBRARIES Sporos::io $<TARGET_NAME_IF_EXISTS:Eigen3::Eigen> OPTIONS -O0)
      docs_add_test(${program} "${docs_source_dir}/run_program.sh" "${docs_dir}/${program}.expected"
                    $<TARGET_FILE:docs_${program}>)
    endif()
  endforeach()
endfunction()

docs_test_document(readme "${PROJECT_SOURCE_DIR}/README.md")
docs_test_document(guide "${PROJECT_SOURCE_DIR}/docs/guide.md")
docs_test_document(tool "${PROJECT_SOURCE_DIR}/docs/tool.md")
docs_test_document(distributed "${PROJECT_SOURCE_DIR}/docs/distributed.md")

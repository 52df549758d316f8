# SPDX-License-Identifier: Apache-2.0
# Sporos::kernels, Sporos::io and Sporos::distributed_io: what is compiled once for all programs of a project, with that
# project's flags, instead of in each source that uses it (core/compiled_once.hpp, formats/io/compiled.hpp).

# sporos_add_compiled(<folder of the headers>): static libraries that are built where a program links them.
function(sporos_add_compiled folder)
  if(TARGET Sporos::io)
    return()
  endif()
  add_library(sporos_kernels STATIC EXCLUDE_FROM_ALL "${folder}/kernels/compiled.cpp")
  add_library(Sporos::kernels ALIAS sporos_kernels)
  target_link_libraries(sporos_kernels PUBLIC Sporos::sporos)
  target_compile_definitions(sporos_kernels PUBLIC SPOROS_COMPILED_KERNELS)

  add_library(sporos_io STATIC EXCLUDE_FROM_ALL "${folder}/formats/io/compiled.cpp")
  add_library(Sporos::io ALIAS sporos_io)
  target_link_libraries(sporos_io PUBLIC Sporos::sporos)
  target_compile_definitions(sporos_io PUBLIC SPOROS_COMPILED_IO)

  add_library(sporos_distributed_io STATIC EXCLUDE_FROM_ALL "${folder}/distributed/compiled.cpp")
  add_library(Sporos::distributed_io ALIAS sporos_distributed_io)
  target_link_libraries(sporos_distributed_io PUBLIC Sporos::io Sporos::distributed)
  target_compile_definitions(sporos_distributed_io PUBLIC SPOROS_COMPILED_DISTRIBUTED_IO)
endfunction()

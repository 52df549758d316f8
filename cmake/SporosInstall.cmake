# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` installs, and the package that find_package(Sporos) reads.

include(CMakePackageConfigHelpers)

set(sporos_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Sporos")
install(TARGETS sporos sporos_distributed EXPORT SporosTargets)
install(EXPORT SporosTargets NAMESPACE Sporos:: DESTINATION "${sporos_package_dir}")
foreach(folder IN LISTS SPOROS_HEADER_FOLDERS)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/sporos"
          FILES_MATCHING PATTERN "*.hpp" PATTERN "compiled.cpp")
endforeach()
foreach(header IN LISTS SPOROS_HEADERS)
  install(FILES "${PROJECT_SOURCE_DIR}/${header}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/sporos")
endforeach()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
if(TARGET sporos_tool)
  install(TARGETS sporos_tool OPTIONAL) # where it has been built
endif()

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/SporosConfig.cmake.in"
                              "${PROJECT_BINARY_DIR}/SporosConfig.cmake" INSTALL_DESTINATION "${sporos_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/SporosConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
set(package_files SporosConfig.cmake SporosConfigVersion.cmake)
foreach(module IN ITEMS SporosCompiler.cmake SporosCudaArchitecture.cmake SporosHdf5.cmake SporosCompiled.cmake
                       SporosKokkosKernels.cmake SporosCusparselt.cmake SporosNccl.cmake)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${module}" "${PROJECT_BINARY_DIR}/${module}" COPYONLY)
  list(APPEND package_files ${module})
endforeach()
list(TRANSFORM package_files PREPEND "${PROJECT_BINARY_DIR}/")
install(FILES ${package_files} DESTINATION "${sporos_package_dir}")

# The build tree is a package as well. That of a project which contains Sporos is not: its Kokkos may be a target that no
# other project knows.
if(PROJECT_IS_TOP_LEVEL)
  export(EXPORT SporosTargets NAMESPACE Sporos:: FILE "${PROJECT_BINARY_DIR}/SporosTargets.cmake")
endif()

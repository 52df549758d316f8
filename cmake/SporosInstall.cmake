# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` installs, and the package that find_package(Sporos) reads.

include(CMakePackageConfigHelpers)

set(sporos_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Sporos")
install(TARGETS sporos EXPORT SporosTargets)
install(EXPORT SporosTargets NAMESPACE Sporos:: DESTINATION "${sporos_package_dir}")
foreach(folder IN LISTS SPOROS_HEADER_FOLDERS)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/sporos"
          FILES_MATCHING PATTERN "*.hpp")
endforeach()
install(FILES "${PROJECT_SOURCE_DIR}/sporos.hpp" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/sporos")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
if(TARGET sporos_tool)
  install(TARGETS sporos_tool)
endif()

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/SporosConfig.cmake.in"
                              "${PROJECT_BINARY_DIR}/SporosConfig.cmake" INSTALL_DESTINATION "${sporos_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/SporosConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES "${PROJECT_BINARY_DIR}/SporosConfig.cmake" "${PROJECT_BINARY_DIR}/SporosConfigVersion.cmake"
        DESTINATION "${sporos_package_dir}")

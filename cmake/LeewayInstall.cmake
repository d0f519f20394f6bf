# What is installed: library, headers, tool, CMake package, pkg-config file.
include(CMakePackageConfigHelpers)

install(TARGETS leeway EXPORT leewayTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT devel
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT devel)
install(DIRECTORY leeway DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT devel
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*_test.h" EXCLUDE PATTERN "*-inl.h" EXCLUDE)
# The decoder in one file, for programs that shall not need the library.
install(FILES decoder/leeway_decode.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/leeway COMPONENT devel)
if(LEEWAY_TOOLS)
  install(TARGETS leeway_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
endif()

if(LEEWAY_HDF5)
  # Where Debian's HDF5 looks; the parallel one finds a link.
  set(LEEWAY_HDF5_PLUGIN_DIR ${CMAKE_INSTALL_LIBDIR}/hdf5/serial/plugins CACHE STRING "Where the HDF5 plugin goes")
  install(TARGETS h5zleeway LIBRARY DESTINATION ${LEEWAY_HDF5_PLUGIN_DIR} COMPONENT hdf5)
  if(LEEWAY_HDF5_PLUGIN_DIR MATCHES "/serial/")
    string(REPLACE /serial/ /openmpi/ parallel ${LEEWAY_HDF5_PLUGIN_DIR})
    file(CREATE_LINK ../../serial/plugins/libh5zleeway.so ${CMAKE_CURRENT_BINARY_DIR}/libh5zleeway.so SYMBOLIC)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/libh5zleeway.so DESTINATION ${parallel} COMPONENT hdf5)
  endif()
endif()

install(EXPORT leewayTargets NAMESPACE leeway:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/leeway COMPONENT devel)
configure_package_config_file(cmake/leewayConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/leewayConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/leeway)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/leewayConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/leewayConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/leewayConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/leeway COMPONENT devel)
if(LEEWAY_SHARED)
  set(LEEWAY_PC_REQUIRES "Requires.private")
else()
  set(LEEWAY_PC_REQUIRES "Requires")
endif()
configure_file(cmake/leeway.pc.in ${CMAKE_CURRENT_BINARY_DIR}/leeway.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/leeway.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT devel)
if(PROJECT_IS_TOP_LEVEL)
  include(LeewayPackage)
endif()

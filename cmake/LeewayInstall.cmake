# What is installed: library, public headers, tool, CMake package, pkg-config files.
include(CMakePackageConfigHelpers)

install(TARGETS leeway leeway_compose EXPORT leewayTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT devel
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT devel)

# The interfaces, and every header that they include.
set(headers leeway/leeway.h leeway/parallel.h leeway/gpu.h leeway/leeway.hpp leeway/compressor.h leeway/recipe/all_stages.h leeway/predict/neighbours.h leeway/predict/best_of.h leeway/stream/compact.h)
if(LEEWAY_HDF5)
  list(APPEND headers leeway/hdf5.h)
endif()
set(reached "")
while(headers)
  list(POP_FRONT headers header)
  list(APPEND reached ${header})
  file(STRINGS ${header} lines REGEX "^#include \"leeway/")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^#include \"([^\"]*)\".*" "\\1" included ${line})
    if(NOT included IN_LIST reached AND NOT included IN_LIST headers)
      list(APPEND headers ${included})
    endif()
  endforeach()
endwhile()
foreach(header IN LISTS reached)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder} COMPONENT devel)
endforeach()
# The decoder in one file, for programs that shall not need the library.
install(FILES decoder/leeway_decode.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/leeway COMPONENT devel)

# OPTIONAL: if only the library was built, only the library is installed.
if(LEEWAY_TOOLS)
  install(TARGETS leeway_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools OPTIONAL)
endif()
if(LEEWAY_HDF5)
  # Where Debian's HDF5 looks; the parallel one finds a link.
  set(LEEWAY_HDF5_PLUGIN_DIR ${CMAKE_INSTALL_LIBDIR}/hdf5/serial/plugins CACHE STRING "Where the HDF5 plugin goes")
  install(TARGETS h5zleeway LIBRARY DESTINATION ${LEEWAY_HDF5_PLUGIN_DIR} COMPONENT hdf5 OPTIONAL)
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

# pkg-config: the prefix is found from the place of the file, so that an install tree can be moved.
set(here /${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH LEEWAY_PC_PREFIX ${here} /)
string(REGEX REPLACE "/$" "" LEEWAY_PC_PREFIX "${LEEWAY_PC_PREFIX}")
# A shared library knows what it needs. Who links a static one (pkg-config --static) needs it all, the C++ library
# included; Highway by its name, as its own file has options for the compiler.
set(LEEWAY_PC_STATIC "")
if(NOT LEEWAY_SHARED)
  set(needed ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
  list(REMOVE_ITEM needed ${CMAKE_C_IMPLICIT_LINK_LIBRARIES})
  list(REMOVE_DUPLICATES needed)
  list(TRANSFORM needed PREPEND -l)
  string(REPLACE ";" " " needed "-lhwy;${needed};-pthread")
  set(LEEWAY_PC_STATIC "Requires.private: libzstd libdeflate liblz4 libxxhash\nLibs.private: ${needed}\n")
endif()
foreach(file leeway leeway-compose)
  configure_file(cmake/${file}.pc.in ${CMAKE_CURRENT_BINARY_DIR}/${file}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${file}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT devel)
endforeach()
if(PROJECT_IS_TOP_LEVEL)
  include(LeewayPackage)
endif()

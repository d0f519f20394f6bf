# The HDF5 filter: part of the library for programs that register it themselves, and a plugin for all
# others. Only HDF5's headers are used; the plugin works with whatever HDF5 library loads it.
pkg_search_module(hdf5 REQUIRED IMPORTED_TARGET hdf5-serial hdf5)
target_sources(leeway_objects PRIVATE hdf5/parameters.cc hdf5/filter.cc)
target_include_directories(leeway_objects SYSTEM PRIVATE ${hdf5_INCLUDE_DIRS})
set_property(GLOBAL APPEND PROPERTY LEEWAY_TEST_SOURCES ${PROJECT_SOURCE_DIR}/hdf5/parameters_test.cc)

add_library(h5zleeway MODULE hdf5/plugin.cc)
leeway_flags(h5zleeway)
target_include_directories(h5zleeway SYSTEM PRIVATE ${hdf5_INCLUDE_DIRS})
target_link_libraries(h5zleeway PRIVATE leeway_objects)
target_link_options(h5zleeway PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/hdf5/plugin.map)
set_target_properties(h5zleeway PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/hdf5/plugin.map LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/plugins)

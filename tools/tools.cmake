find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_library(LEEWAY_HDF5_HL hdf5_hl HINTS ${hdf5_LIBRARY_DIRS} REQUIRED)
pkg_check_modules(netcdf REQUIRED IMPORTED_TARGET netcdf)
find_path(LEEWAY_TOMLPLUSPLUS toml++/toml.h REQUIRED)  # nothing but headers
if(NOT LEEWAY_HDF5)
  message(FATAL_ERROR "the command line tool reads HDF5 files: LEEWAY_TOOLS needs LEEWAY_HDF5")
endif()

add_executable(leeway_cli tools/main.cc tools/cli.cc tools/array_file.cc tools/output_file.cc tools/signals.cc tools/npy.cc
               tools/compress.cc
               tools/decompress.cc tools/inspect.cc tools/verify.cc tools/compare.cc tools/recipes.cc tools/sample.cc
               tools/sample_fields.cc tools/bench.cc tools/advise.cc tools/doctor.cc tools/region.cc tools/update.cc
               tools/h5.cc tools/h5_cf.cc tools/h5_copy.cc tools/classic.cc tools/variables.cc
               tools/compress_variables.cc tools/variable_bounds.cc
               tools/filter.cc tools/doctor_hdf5.cc tools/model.cc tools/fpga_model.cc)
leeway_flags(leeway_cli)
# Several files at once: the headers of command line and JSON take longer to compile than all the rest.
set_target_properties(leeway_cli PROPERTIES OUTPUT_NAME leeway RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}
                                            UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 7)
target_include_directories(leeway_cli SYSTEM PRIVATE ${LEEWAY_TOMLPLUSPLUS})
target_link_libraries(leeway_cli PRIVATE leeway_objects CLI11::CLI11 fmt::fmt nlohmann_json::nlohmann_json
                      PkgConfig::hdf5 ${LEEWAY_HDF5_HL} PkgConfig::netcdf ${CMAKE_DL_LIBS})
# Command lines are not worth optimizing; making sample fields is.
target_compile_options(leeway_cli PRIVATE $<$<CONFIG:Release>:-O1>)
set_source_files_properties(tools/sample_fields.cc tools/fpga_model.cc PROPERTIES COMPILE_OPTIONS -O3)
set_source_files_properties(tools/sample_fields.cc tools/fpga_model.cc tools/output_file.cc tools/signals.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# Only run by scripts/codewords.sh.
add_executable(leeway_make_codewords EXCLUDE_FROM_ALL tools/make_codewords.cc tools/sample_fields.cc
               leeway/encode/book.cc leeway/encode/prefix_code.cc)
leeway_flags(leeway_make_codewords)
set_target_properties(leeway_make_codewords PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
target_link_libraries(leeway_make_codewords PRIVATE leeway fmt::fmt)

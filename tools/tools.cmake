find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
# What the tool needs for HDF5 and netCDF files; raw and .npy files need none of it.
if(LEEWAY_TOOLS_HDF5)
  set(without "; -DLEEWAY_TOOLS_HDF5=OFF builds a tool for raw and .npy files only")
  if(NOT LEEWAY_HDF5)
    message(FATAL_ERROR "LEEWAY_TOOLS_HDF5 needs LEEWAY_HDF5${without}")
  endif()
  find_library(LEEWAY_HDF5_HL hdf5_hl HINTS ${hdf5_LIBRARY_DIRS})
  pkg_check_modules(netcdf IMPORTED_TARGET netcdf)
  if(NOT LEEWAY_HDF5_HL OR NOT netcdf_FOUND)
    message(FATAL_ERROR "the command line tool needs the high-level library of HDF5 and netCDF${without}")
  endif()
  find_path(LEEWAY_TOMLPLUSPLUS toml++/toml.h REQUIRED)  # nothing but headers
  set(hdf5_sources tools/h5.cc tools/h5_cf.cc tools/h5_axes.cc tools/h5_copy.cc tools/h5_losses.cc tools/classic.cc tools/variables.cc
                   tools/compress_variables.cc tools/variable_bounds.cc
                   tools/variable_array.cc tools/variable_pair.cc tools/filter.cc tools/doctor_hdf5.cc)
  set(hdf5_libraries PkgConfig::netcdf ${LEEWAY_HDF5_HL} PkgConfig::hdf5)
else()
  set(hdf5_sources tools/no_hdf5.cc)
  set(hdf5_libraries)
endif()

add_executable(leeway_cli tools/main.cc tools/cli.cc tools/array_file.cc tools/output_file.cc tools/signals.cc tools/npy.cc
               tools/compress.cc tools/together.cc tools/own_bound.cc tools/decompress.cc tools/gpu.cc tools/inspect.cc tools/verify.cc tools/compare.cc tools/report.cc tools/derived_pairs.cc tools/explain.cc tools/tune.cc tools/pair_files.cc tools/recipes.cc tools/sample.cc
               tools/sample_fields.cc tools/bench.cc tools/advise.cc tools/advise_bound.cc tools/doctor.cc tools/doctor_mpi.cc tools/region.cc tools/update.cc tools/append.cc tools/join.cc
               tools/container.cc tools/model.cc tools/gpu_model.cc tools/model_gpu.cc tools/fpga_model.cc tools/printed_table.cc tools/wafer.cc tools/wafer_report.cc tools/wafer_routes.cc ${hdf5_sources})
leeway_flags(leeway_cli)
# Several files at once: the headers of command line and JSON take longer to compile than all the rest.
set_target_properties(leeway_cli PROPERTIES OUTPUT_NAME leeway RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
                                            UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 7)
if(LEEWAY_TOOLS_HDF5)
  target_include_directories(leeway_cli SYSTEM PRIVATE ${LEEWAY_TOMLPLUSPLUS})
endif()
target_link_libraries(leeway_cli PRIVATE leeway_objects CLI11::CLI11 fmt::fmt nlohmann_json::nlohmann_json
                      ${hdf5_libraries} ${CMAKE_DL_LIBS})
# The functions of HDF5 1.10, which later versions have, too.
target_compile_definitions(leeway_cli PRIVATE H5_USE_110_API)
# Command lines are not worth optimizing; making sample fields is.
target_compile_options(leeway_cli PRIVATE $<$<CONFIG:Release>:-O1>)
set_source_files_properties(tools/sample_fields.cc tools/fpga_model.cc PROPERTIES COMPILE_OPTIONS -O3)
set_source_files_properties(tools/sample_fields.cc tools/fpga_model.cc tools/gpu_model.cc tools/model_gpu.cc tools/output_file.cc tools/signals.cc tools/wafer.cc tools/wafer_report.cc tools/wafer_routes.cc
                            PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# Only run by scripts/codewords.sh.
add_executable(leeway_make_codewords EXCLUDE_FROM_ALL tools/make_codewords.cc tools/sample_fields.cc
               leeway/encode/parts/book.cc leeway/encode/parts/prefix_code.cc)
leeway_flags(leeway_make_codewords)
set_target_properties(leeway_make_codewords PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_link_libraries(leeway_make_codewords PRIVATE leeway fmt::fmt)

# The Python package: built by `pip install .` (pyproject.toml), or beside the library for development.
find_package(Python 3.9 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_ROOT
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)
nanobind_add_module(_native NB_STATIC python/module.cc)
target_link_libraries(_native PRIVATE leeway_objects)
target_compile_options(_native PRIVATE -ffp-contract=off)
install(TARGETS _native LIBRARY DESTINATION leeway COMPONENT python)
if(LEEWAY_HDF5)
  install(TARGETS h5zleeway LIBRARY DESTINATION leeway/plugins COMPONENT python)
endif()

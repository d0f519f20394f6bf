# The Python package: built by `pip install .` (pyproject.toml), or beside the library for development.
find_package(Python 3.9 REQUIRED COMPONENTS Interpreter Development.Module ${SKBUILD_SABI_COMPONENT})
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_DIR
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)
# The stable ABI is used where it is asked for (wheel.py-api) and Python has what nanobind needs of it: from 3.12 on.
nanobind_add_module(_native STABLE_ABI NB_STATIC python/module.cc)
target_link_libraries(_native PRIVATE leeway_objects)
target_compile_options(_native PRIVATE -ffp-contract=off)
target_link_options(_native PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/python/module.map)
set_target_properties(_native PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/python/module.map)
install(TARGETS _native LIBRARY DESTINATION leeway COMPONENT python)
if(LEEWAY_HDF5)
  install(TARGETS h5zleeway LIBRARY DESTINATION leeway/plugins COMPONENT python)
endif()
if(LEEWAY_TOOLS AND SKBUILD)
  install(TARGETS leeway_cli RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT python)
endif()

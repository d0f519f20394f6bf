# The Fortran module: leeway.f90 on top of the C interface. Installed with its source, since module files
# fit one compiler only.
enable_language(Fortran)
add_library(leeway_fortran fortran/descriptors.c fortran/leeway.f90)
add_library(leeway::fortran ALIAS leeway_fortran)
target_link_libraries(leeway_fortran PUBLIC leeway)
# ISO_Fortran_binding.h lies with the Fortran compiler, where a C compiler of the same family finds it.
target_compile_options(leeway_fortran PRIVATE $<$<COMPILE_LANGUAGE:C>:-fvisibility=hidden>)
set_target_properties(leeway_fortran PROPERTIES Fortran_MODULE_DIRECTORY ${CMAKE_BINARY_DIR}/modules
                      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} EXPORT_NAME fortran
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib POSITION_INDEPENDENT_CODE ON)
target_include_directories(leeway_fortran INTERFACE $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/modules>
                                                    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/leeway/fortran>)
install(TARGETS leeway_fortran EXPORT leewayTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT devel
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT devel)
install(FILES fortran/leeway.f90 ${CMAKE_BINARY_DIR}/modules/leeway.mod
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/leeway/fortran COMPONENT devel)
if(LEEWAY_TESTS)
  add_executable(example_hello_fortran examples/hello.f90)
  target_link_libraries(example_hello_fortran PRIVATE leeway::fortran)
  add_test(NAME example_hello_fortran COMMAND example_hello_fortran)
endif()

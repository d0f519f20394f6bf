# The Fortran module: leeway.f90 on top of the C interface. Installed with its source, and always a static library:
# module files fit one compiler only.
enable_language(Fortran)
add_library(leeway_fortran STATIC fortran/descriptors.c fortran/leeway.f90)
add_library(leeway::fortran ALIAS leeway_fortran)
target_link_libraries(leeway_fortran PUBLIC leeway)
# ISO_Fortran_binding.h lies with the Fortran compiler, where a C compiler of the same family finds it.
target_compile_options(leeway_fortran PRIVATE $<$<COMPILE_LANGUAGE:C>:-fvisibility=hidden>)
set_target_properties(leeway_fortran PROPERTIES Fortran_MODULE_DIRECTORY ${PROJECT_BINARY_DIR}/modules EXPORT_NAME fortran
                                                POSITION_INDEPENDENT_CODE ON)
target_include_directories(leeway_fortran INTERFACE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/modules>
                                                    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/leeway/fortran>)
if(LEEWAY_INSTALL)
  install(TARGETS leeway_fortran EXPORT leewayTargets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT devel)
  install(FILES fortran/leeway.f90 ${PROJECT_BINARY_DIR}/modules/leeway.mod
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/leeway/fortran COMPONENT devel)
endif()
if(LEEWAY_TESTS)
  foreach(program example_hello_fortran:examples/hello.f90 fortran_test:tests/fortran_test.f90)
    string(REPLACE : ";" program ${program})
    list(POP_FRONT program name)
    add_executable(${name} ${program})
    target_link_libraries(${name} PRIVATE leeway::fortran)
    add_test(NAME ${name} COMMAND ${name})
  endforeach()
endif()

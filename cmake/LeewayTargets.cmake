# How targets are made: flags, modules and stages. A stage is one line: leeway_stage(predict lorenzo).

function(leeway_flags target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden
                                             VISIBILITY_INLINES_HIDDEN ON)
  # Contraction would make decoded values depend on the host.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off> -Wall -Wextra -Wpedantic)
  if(LEEWAY_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  # Vectors of SVE have no size known to the compiler, so they cannot be members or stand in arrays; NEON does the work.
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64|ARM64")
    target_compile_definitions(${target} PRIVATE "HWY_DISABLED_TARGETS=(HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128)")
  endif()
  # One of five targets less to compile: only processors of 2006 and 2007 have SSSE3 without SSE4, and SSE2 serves them.
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|i[3-6]86")
    target_compile_definitions(${target} PRIVATE HWY_DISABLED_TARGETS=HWY_SSSE3)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -Wno-restrict)  # g++ 12 warns wrongly about string + string
  endif()
  if(CMAKE_BUILD_TYPE STREQUAL Release)
    target_compile_options(${target} PRIVATE -O3)
  endif()
endfunction()

# A shared library shows what the linker script names, and nothing that it got from templates or other libraries.
function(leeway_hide_all_but target script)
  get_filename_component(name ${script} NAME_WLE)
  configure_file(${script} ${PROJECT_BINARY_DIR}/${name} @ONLY)
  include(CheckLinkerFlag)
  check_linker_flag(CXX "LINKER:--version-script=${PROJECT_BINARY_DIR}/${name}" LEEWAY_LINKER_TAKES_SCRIPTS)
  if(LEEWAY_LINKER_TAKES_SCRIPTS)
    target_link_options(${target} PRIVATE "LINKER:--version-script=${PROJECT_BINARY_DIR}/${name}")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${PROJECT_BINARY_DIR}/${name})
  endif()
endfunction()

# Sources of a folder, and the tests beside them.
function(leeway_module folder)
  foreach(name IN LISTS ARGN)
    set(stem ${PROJECT_SOURCE_DIR}/leeway/${folder}/${name})
    if(EXISTS ${stem}.cc)
      target_sources(leeway_objects PRIVATE ${stem}.cc)
    endif()
    if(EXISTS ${stem}_test.cc)
      set_property(GLOBAL APPEND PROPERTY LEEWAY_TEST_SOURCES ${stem}_test.cc)
    endif()
  endforeach()
endfunction()

# A stage must come with a test and the specification of its payload.
function(leeway_stage folder name)
  foreach(needed .h _test.cc .md)
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/leeway/${folder}/${name}${needed})
      message(FATAL_ERROR "stage ${name}: leeway/${folder}/${name}${needed} is missing")
    endif()
  endforeach()
  leeway_module(${folder} ${name})
endfunction()

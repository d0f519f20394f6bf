# Co-simulation: the designs in rtl/, made into C++ by Verilator, against the library itself.
find_package(verilator REQUIRED HINTS $ENV{VERILATOR_ROOT} /usr/share/verilator)
find_package(GTest REQUIRED)
include(GoogleTest)

# Generated code has its own ideas of warnings.
add_library(leeway_rtl_models STATIC EXCLUDE_FROM_ALL)
target_compile_options(leeway_rtl_models PRIVATE -O1 -w)
target_compile_features(leeway_rtl_models PUBLIC cxx_std_20)
# Many small files that all include the same: together they compile in a third of the time.
set_target_properties(leeway_rtl_models PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
# A module as the class Vmodule, or under another name with other parameters.
function(leeway_verilate folder module)
  cmake_parse_arguments(arg "" "PREFIX" "PARAMETERS" ${ARGN})
  if(NOT arg_PREFIX)
    set(arg_PREFIX V${module})
  endif()
  list(TRANSFORM arg_PARAMETERS PREPEND -G)
  set(folders lib wavesz blocks ceaz axis)
  list(TRANSFORM folders PREPEND ${PROJECT_SOURCE_DIR}/rtl/)
  verilate(leeway_rtl_models PREFIX ${arg_PREFIX} TOP_MODULE ${module}
           SOURCES ${PROJECT_SOURCE_DIR}/rtl/${folder}/${module}.sv
           INCLUDE_DIRS ${folders}
           VERILATOR_ARGS -Wall -O3 --x-assign fast --x-initial fast ${arg_PARAMETERS})
endfunction()
leeway_verilate(lib lwy_fadd)
leeway_verilate(lib lwy_fadd PREFIX Vlwy_fadd5 PARAMETERS Stages=5)
leeway_verilate(wavesz lwy_wavesz PARAMETERS Rows=1024)
leeway_verilate(wavesz lwy_wavesz_decoder PARAMETERS Rows=1024)
leeway_verilate(blocks lwy_blocks_decoder PARAMETERS Outlier=1\'b1)
leeway_verilate(blocks lwy_blocks)
leeway_verilate(blocks lwy_blocks PREFIX Vlwy_blocks_outlier PARAMETERS Outlier=1\'b1)
leeway_verilate(blocks lwy_blocks PREFIX Vlwy_blocks_pow2 PARAMETERS Pow2=1\'b1)
leeway_verilate(ceaz lwy_ceaz)
leeway_verilate(ceaz lwy_ceaz PREFIX Vlwy_ceaz_pow2 PARAMETERS Pow2=1\'b1)
leeway_verilate(ceaz lwy_ceaz_lanes PREFIX Vlwy_ceaz_books PARAMETERS Lanes=1)
leeway_verilate(ceaz lwy_book_maker)
leeway_verilate(axis lwy_axis_blocks PARAMETERS Outlier=1\'b1)
leeway_verilate(axis lwy_axis_ceaz PARAMETERS Lanes=3)
leeway_verilate(axis lwy_axis_wavesz)

add_executable(leeway_rtl_tests EXCLUDE_FROM_ALL rtl/tests/fadd_test.cc rtl/tests/wavesz_test.cc rtl/tests/blocks_test.cc rtl/tests/book_test.cc rtl/tests/ceaz_test.cc rtl/tests/ratio_test.cc rtl/tests/lanes_test.cc rtl/tests/axis_test.cc tools/sample_fields.cc tools/fpga_model.cc)
leeway_flags(leeway_rtl_tests)
target_compile_options(leeway_rtl_tests PRIVATE -O1 -Wno-dangling-else)
target_link_libraries(leeway_rtl_tests PRIVATE leeway_objects leeway_rtl_models GTest::gtest_main hwy::hwy)
target_include_directories(leeway_rtl_tests SYSTEM PRIVATE
                           $<TARGET_PROPERTY:leeway_rtl_models,INTERFACE_INCLUDE_DIRECTORIES>)

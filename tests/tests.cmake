find_package(GTest REQUIRED)
include(GoogleTest)

get_property(test_sources GLOBAL PROPERTY LEEWAY_TEST_SOURCES)
function(leeway_test_program name)
  leeway_flags(${name})
  target_compile_options(${name} PRIVATE -Wno-dangling-else)  # GoogleTest's macros
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  target_compile_definitions(${name} PRIVATE LEEWAY_GOLDEN_DIR="${PROJECT_SOURCE_DIR}/tests/golden"
                                                 LEEWAY_DOCS_DIR="${PROJECT_SOURCE_DIR}/docs")
  target_link_libraries(${name} PRIVATE leeway_objects GTest::gtest_main hwy::hwy)
  target_precompile_headers(${name} PRIVATE tests/support.h)  # half the time of most tests
endfunction()

add_executable(leeway_tests ${test_sources} tests/promises_test.cc tests/hostile_test.cc tests/targets_test.cc
                            tests/c_api_test.cc tests/golden_test.cc tests/papers_test.cc tests/bytes_test.cc tests/combinations_test.cc tests/environment_test.cc
                            tests/compose_predict_first_test.cc tests/compose_quantize_first_test.cc tests/ladder_test.cc)
leeway_test_program(leeway_tests)
# Every pair of stages: compiled as fast as can be.
set_source_files_properties(tests/compose_predict_first_test.cc tests/compose_quantize_first_test.cc
                            PROPERTIES COMPILE_OPTIONS -O0 SKIP_PRECOMPILE_HEADERS ON)
# For the thread sanitizer: what runs on several threads.
add_executable(leeway_thread_tests EXCLUDE_FROM_ALL leeway/base/parallel_test.cc leeway/engine/lookback_test.cc
               leeway/engine/engine_test.cc leeway/engine/update_test.cc tests/promises_test.cc tests/c_api_test.cc
               leeway/parallel/parallel_test.cc leeway/parallel/messages_test.cc)
leeway_test_program(leeway_thread_tests)
gtest_discover_tests(leeway_tests DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600)
include(tests/ptx/ptx.cmake)

# Programs of the documentation: built against the library as a user would, and run.
foreach(example hello own_stage own_pipeline own_predictor own_quantizer own_member own_grid figure2)
  add_executable(example_${example} examples/${example}.cc)
  target_compile_options(example_${example} PRIVATE $<$<CONFIG:Release>:-O1>)  # compiled faster than run
  target_link_libraries(example_${example} PRIVATE leeway::compose)
  add_test(NAME example_${example} COMMAND example_${example})
endforeach()
add_executable(example_hello_c examples/hello.c)
target_link_libraries(example_hello_c PRIVATE leeway::leeway m)
add_test(NAME example_hello_c COMMAND example_hello_c)

# Programs of their own: what runs long, fails to get memory, or replays what fuzzing found.
foreach(program torture allocation replay derived_oracle)
  add_executable(leeway_${program})
  leeway_flags(leeway_${program})
  target_compile_options(leeway_${program} PRIVATE $<$<CONFIG:Release>:-O1>)
  target_link_libraries(leeway_${program} PRIVATE leeway_objects)
endforeach()
target_sources(leeway_torture PRIVATE tests/torture.cc)
target_sources(leeway_derived_oracle PRIVATE tests/derived_oracle.cc)
target_sources(leeway_allocation PRIVATE tests/allocation_test.cc)
target_sources(leeway_replay PRIVATE tests/fuzz/replay.cc tests/fuzz/structure.cc)
add_test(NAME torture COMMAND leeway_torture 3000000)
add_test(NAME derived_oracle COMMAND leeway_derived_oracle 1000000)
add_test(NAME allocation COMMAND leeway_allocation)
add_test(NAME fuzz_corpus COMMAND leeway_replay ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus)

add_executable(leeway_make_golden EXCLUDE_FROM_ALL tests/golden/make_golden.cc)
leeway_flags(leeway_make_golden)
target_link_libraries(leeway_make_golden PRIVATE leeway_objects)

# libFuzzer targets; the preset asan adds the address and undefined-behaviour sanitizers.
foreach(target decompress payload round_trip structure)
  add_executable(fuzz_${target} tests/fuzz/${target}.cc)
  leeway_flags(fuzz_${target})
  target_link_libraries(fuzz_${target} PRIVATE leeway_objects)
  target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
  target_compile_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
endforeach()
target_sources(fuzz_structure PRIVATE tests/fuzz/mutate.cc)
target_compile_options(leeway_objects PRIVATE -fsanitize=fuzzer-no-link)

# The single-header decoder, without its checksums.
add_executable(fuzz_small_decoder tests/fuzz/small_decoder.cc)
leeway_flags(fuzz_small_decoder)
target_include_directories(fuzz_small_decoder PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_options(fuzz_small_decoder PRIVATE -fsanitize=fuzzer)
target_link_options(fuzz_small_decoder PRIVATE -fsanitize=fuzzer)

add_executable(leeway_make_seeds EXCLUDE_FROM_ALL tests/fuzz/make_seeds.cc)
leeway_flags(leeway_make_seeds)
target_link_libraries(leeway_make_seeds PRIVATE leeway_objects)

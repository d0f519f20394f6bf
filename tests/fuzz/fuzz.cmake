# libFuzzer targets; the preset asan adds the address and undefined-behaviour sanitizers.
foreach(target decompress payload round_trip)
  add_executable(fuzz_${target} tests/fuzz/${target}.cc)
  leeway_flags(fuzz_${target})
  target_link_libraries(fuzz_${target} PRIVATE leeway_objects)
  target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
  target_compile_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
endforeach()
target_compile_options(leeway_objects PRIVATE -fsanitize=fuzzer-no-link)

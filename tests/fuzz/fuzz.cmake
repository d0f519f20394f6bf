# libFuzzer targets, with the address and undefined-behaviour sanitizers.
foreach(target decompress payload round_trip)
  add_executable(fuzz_${target} tests/fuzz/${target}.cc)
  leeway_flags(fuzz_${target})
  target_link_libraries(fuzz_${target} PRIVATE leeway_objects)
  target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer,address,undefined)
  target_compile_options(fuzz_${target} PRIVATE -fsanitize=fuzzer,address,undefined)
endforeach()
target_compile_options(leeway_objects PRIVATE -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined)

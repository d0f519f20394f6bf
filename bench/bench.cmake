find_package(benchmark REQUIRED)
add_executable(leeway_bench bench/stages.cc bench/messages.cc bench/regions.cc tools/sample_fields.cc)
leeway_flags(leeway_bench)
target_link_libraries(leeway_bench PRIVATE leeway_objects benchmark::benchmark_main)

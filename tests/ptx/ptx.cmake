# leeway_ptx_tests: what nvcc makes of the kernels, followed instruction by instruction. Without nvcc there is nothing to follow,
# and the tests say so.
add_executable(leeway_ptx_tests tests/ptx/ptx_test.cc tests/ptx/parse.cc tests/ptx/operation.cc tests/ptx/arithmetic.cc
                                tests/ptx/lane.cc)
leeway_test_program(leeway_ptx_tests)
find_program(LEEWAY_NVCC nvcc HINTS /usr/local/cuda/bin)
if(LEEWAY_NVCC)
  set(ptx ${PROJECT_BINARY_DIR}/kernels.ptx)
  add_custom_command(OUTPUT ${ptx}
    COMMAND ${LEEWAY_NVCC} -ccbin ${CMAKE_CXX_COMPILER} -std=c++17 -arch=sm_80 -O3 -fmad=false -prec-div=true -ftz=false
            -I${PROJECT_SOURCE_DIR} -MD -MF ${ptx}.d -MT ${ptx} -ptx ${PROJECT_SOURCE_DIR}/leeway/gpu/kernels.cu -o ${ptx}
    DEPENDS leeway/gpu/kernels.cu DEPFILE ${ptx}.d COMMENT "PTX of the kernels" VERBATIM)
  target_sources(leeway_ptx_tests PRIVATE ${ptx})
  target_compile_definitions(leeway_ptx_tests PRIVATE LEEWAY_PTX="${ptx}")
else()
  target_compile_definitions(leeway_ptx_tests PRIVATE LEEWAY_PTX="")
endif()
gtest_discover_tests(leeway_ptx_tests DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600)

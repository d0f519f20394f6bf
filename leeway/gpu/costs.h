// SPDX-License-Identifier: BSD-3-Clause
// Costs: instructions that the kernels take for a value, for models of GPUs. Tests hold them
// against what nvcc makes: tests/ptx/ follows it and counts, tests/test_sass.py reads the machine
// code.
#pragma once

namespace leeway::gpu {

// Of PTX, for a value and for a bit of the body that its block has in the stream.
struct Cost {
  double value, bit;
};
// Chunks that take the fast path of f32, and all others.
constexpr Cost kFastCompress{30, 1}, kFastDecompress{30, 1};
constexpr double kSlowCompress = 100, kSlowDecompress = 100;

}  // namespace leeway::gpu

// SPDX-License-Identifier: BSD-3-Clause
// Costs: how many instructions kernels take for a value, for models of GPUs. They are counted by
// following what nvcc 13.0 makes for sm_80 (tests/ptx/, which fails if they are off by 5 %).
#pragma once

namespace leeway::gpu {

// Of the machine for one of PTX: most of the fast path are operations that ptxas joins; the slow
// path divides, and has numbers of 64 bits, which take two or more each.
constexpr double kFastMachine = 0.49, kSlowMachine = 1.4;

// Of PTX for a value, and for each bit that it takes in the stream.
struct Cost {
  double value, bit;
};
// Chunks that take the fast path of f32, and all others.
constexpr Cost kFastCompress{48.5, 3.05}, kFastDecompress{49.3, 0.87};
constexpr double kSlowCompress = 660, kSlowDecompress = 340;

}  // namespace leeway::gpu

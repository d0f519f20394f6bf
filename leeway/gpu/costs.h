// SPDX-License-Identifier: BSD-3-Clause
// Costs: how many instructions kernels take for a value, for models of GPUs. They are counted by
// following what nvcc 13.0 makes for sm_80 (tests/ptx/, which fails if they are off by 5 %).
#pragma once

namespace leeway::gpu {

// Of the machine for one of PTX: most of the fast path are operations that ptxas joins; the slow
// path divides, and has numbers of 64 bits, which take two or more each.
constexpr double kFastMachine = 0.49, kSlowMachine = 1.4;

// Of PTX for a value, and so many more for what did not fit the image and is coded again.
struct Cost {
  double value, again;
};
// Chunks that take the fast path of f32, and all others.
constexpr Cost kFastCompress{65, 31}, kFastDecompress{60, 0};
constexpr double kSlowCompress = 660, kSlowDecompress = 340;

}  // namespace leeway::gpu

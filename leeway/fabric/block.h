// SPDX-License-Identifier: BSD-3-Clause
// Block: what the sub-stages of CereSZ do with the 32 values of a block, in words of 32 bits.
//
//   compressing      words behind it
//   Multiplication   32 products of values and the inverse of the step
//   Addition         32 codes, 16 bits each
//   Lorenzo          32 differences, modulo 2^16
//   Sign             signs (a bit a code), 32 magnitudes
//   Max              largest magnitude, signs, magnitudes
//   GetLength        head (bits of the largest), signs, magnitudes; of zeros the head alone
//   1-bit Shuffle    one plane more; with the last one the magnitudes go: head, signs, planes
//
// Decompressing goes the same way back, but the head stays in front up to the values. A value
// without a code of 16 bits raises kNoCode in its word; the head has it in the end, and the host
// codes the chunk itself. These words are those of the stage `fixed` (leeway/encode/fixed.md): code
// i is bit 7 - i % 8 of byte i / 8.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "leeway/fabric/partition.h"
#include "leeway/quantize/linear.h"

namespace leeway::fabric {

inline constexpr u32 kMostWidth = 16;  // bits of a code
inline constexpr u32 kMostCoded = coded_words(kMostWidth);
inline constexpr u32 kMostMessage = kBlock + 2 + kMostWidth;  // words between two PEs
inline constexpr u32 kNoCode = u32(1) << 16;                  // on the wire only

using Words = std::vector<u32>;
using WorkCycles = std::array<u64, std::size(kWorkNames)>;

// Does one sub-stage, one of those made for `planned` bits, in place.
void run(Direction direction, const SubStage& stage, const LinearGrid<float>& grid, Words& words);
// Those of PE `pe`, and the planes beyond the planned ones behind the last planned. Returns the
// cycles, and adds them to those of each kind of work.
u32 run_stages(const Partition& partition, u32 pe, const CostTable& costs,
               const LinearGrid<float>& grid, Words& words, WorkCycles& cycles);

// All sub-stages at once, the same words; returns how many.
u32 encode_block(const LinearGrid<float>& grid, std::span<const float, kBlock> values,
                 std::span<u32, kMostCoded> words);
void decode_block(const LinearGrid<float>& grid, std::span<const u32> words,
                  std::span<float, kBlock> values);

constexpr u32 width_of(u32 head) { return head & 0xff; }

}  // namespace leeway::fabric

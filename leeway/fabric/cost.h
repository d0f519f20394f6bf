// SPDX-License-Identifier: BSD-3-Clause
// Cost: the sub-stages of CereSZ, the cycles each takes for a block of 32 values, and the words
// that it hands on.
//
// Constants are those that fit Tables 1 to 3 of the paper [Song et al., HPDC 2024] best.
// Decompression has no printed cycles: it is made of the same operations.
#pragma once

#include <string_view>
#include <vector>

#include "leeway/fabric/machine.h"

namespace leeway::fabric {

enum class Direction : u8 { compress, decompress };

// Decompression takes their inverses: planes are put back, codes summed up.
enum class Work : u8 { multiplication, addition, lorenzo, sign, max, get_length, shuffle };
inline constexpr std::string_view kWorkNames[] = {
    "Multiplication", "Addition", "Lorenzo", "Sign", "Max", "GetLength", "1-bit Shuffle"};

struct SubStage {
  Work work = Work::multiplication;
  u32 plane = 0;  // of a shuffle
};

struct CostTable {
  u32 multiplication, addition, lorenzo, sign, max, get_length;
  u32 shuffle;       // a plane
  i32 shuffle_once;  // with the first plane

  // Of one sub-stage for a block with codes of `width` bits; 0: all codes are 0.
  u32 of(Direction direction, const SubStage& stage, u32 width) const;
  // Of all sub-stages.
  u32 of_block(Direction direction, u32 width) const;
};

// Scalar loops, as the paper measured them: 31 to 33 cycles an element for simple operations.
inline constexpr CostTable kScalarCosts{5074, 1040, 975, 1044, 1037, 1380, 1983, -103};
// An estimate, counted in instructions and never measured: vector operations on floats and 16-bit
// integers, all planes at once by transposing two squares of 16 x 16 bits.
inline constexpr CostTable kVectorCosts{48, 96, 48, 96, 48, 32, 0, 432};

// The sub-stages in order, for codes of `width` bits (at least 1).
std::vector<SubStage> sub_stages(Direction direction, u32 width);

// Words of a block of `width` bits that was coded: head, signs, planes; a head alone for zeros.
constexpr u32 coded_words(u32 width) { return width == 0 ? 1 : 2 + width; }
// Words of a block behind the first `done` of the sub-stages made for `planned` bits.
u32 words_behind(Direction direction, u32 done, u32 planned, u32 width);
// What words_behind() needs to know of a block stands in its first word.
bool size_is_in_head(Direction direction, u32 done);

}  // namespace leeway::fabric

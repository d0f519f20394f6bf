// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/fabric/cost.h"

#include <algorithm>

namespace leeway::fabric {
namespace {

// Sub-stages of compression before the first plane, and up to where a block of zeros is known.
constexpr u32 kBeforePlanes = 6, kBeforeZeros = 3;

u32 cycles(const CostTable& table, Work work) {
  switch (work) {
    case Work::multiplication:
      return table.multiplication;
    case Work::addition:
      return table.addition;
    case Work::lorenzo:
      return table.lorenzo;
    case Work::sign:
      return table.sign;
    case Work::max:
      return table.max;
    case Work::get_length:
      return table.get_length;
    case Work::shuffle:
      break;
  }
  return table.shuffle;
}

}  // namespace

// A block of zeros ends with the differences ("avoiding fixed-length encoding and bit-shuffle",
// section 5.2); decompressing one takes no time.
u32 CostTable::of(Direction direction, const SubStage& stage, u32 width) const {
  if (width == 0 && (direction == Direction::decompress || stage.work > Work::lorenzo)) return 0;
  if (stage.work != Work::shuffle) return cycles(*this, stage.work);
  if (stage.plane >= width) return 0;
  return u32(i32(shuffle) + (stage.plane == 0 ? shuffle_once : 0));
}

u32 CostTable::of_block(Direction direction, u32 width) const {
  u32 sum = 0;
  for (const SubStage& stage : sub_stages(direction, width)) sum += of(direction, stage, width);
  return sum;
}

std::vector<SubStage> sub_stages(Direction direction, u32 width) {
  std::vector<SubStage> stages;
  const auto add_planes = [&] {
    for (u32 plane = 0; plane < std::max(width, 1u); ++plane)
      stages.push_back({Work::shuffle, plane});
  };
  if (direction == Direction::compress) {
    for (u32 work = 0; work < kBeforePlanes; ++work) stages.push_back({Work(work)});
    add_planes();
  } else {
    add_planes();
    for (const Work work : {Work::sign, Work::lorenzo, Work::multiplication})
      stages.push_back({work});
  }
  return stages;
}

// Compression: 32 values, from the signs on 33, from the largest on 34 words; head, signs and
// magnitudes then travel with the planes, until these are complete. Decompression: the same back.
u32 words_behind(Direction direction, u32 done, u32 planned, u32 width) {
  if (direction == Direction::compress) {
    if (done <= kBeforeZeros) return kBlock;
    if (done < kBeforePlanes) return kBlock + done - kBeforeZeros;
    const u32 planes = done - kBeforePlanes;
    return planes >= width || planes >= planned ? coded_words(width) : kBlock + 2 + planes;
  }
  if (done == 0) return coded_words(width);
  if (done >= planned + 3) return kBlock;
  if (width == 0) return 1;
  if (done > planned) return kBlock + 1;
  return kBlock + 2 + (done < planned && width > done ? width - done : 0);
}

bool size_is_in_head(Direction direction, u32 done) {
  return direction == Direction::decompress || done >= kBeforePlanes;
}

}  // namespace leeway::fabric

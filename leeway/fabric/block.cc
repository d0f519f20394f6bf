// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/fabric/block.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "leeway/base/error.h"

namespace leeway::fabric {
namespace {

// Where code i stands in a plane.
constexpr u32 place_of(u32 i) { return 8 * (i / 8) + 7 - i % 8; }

// t is the value in steps.
u32 code_of(float t) {
  if (!(std::abs(t) <= 32767)) return kNoCode;  // NaN, too
  return u16(i16(round_to_even(t)));
}

u32 magnitude_of(u32 code) {
  const u32 low = code & 0xffff;
  return (low >> 15 ? 0x10000 - low : low) | (code & kNoCode);
}

void take_differences(Words& words) {
  for (u32 i = kBlock; i-- > 1;)
    words[i] = ((words[i] - words[i - 1]) & 0xffff) | (words[i] & kNoCode);
}
void take_sums(Words& words) {
  for (u32 i = 2; i <= kBlock; ++i) words[i] = (words[i] + words[i - 1]) & 0xffff;
}

void split_signs(Words& words) {
  u32 signs = 0;
  for (u32 i = 0; i < kBlock; ++i) {
    signs |= (words[i] >> 15 & 1) << place_of(i);
    words[i] = magnitude_of(words[i]);
  }
  words.insert(words.begin(), signs);
}
// From head, signs, magnitudes to head, codes.
void join_signs(Words& words) {
  const u32 signs = words[1];
  words.erase(words.begin() + 1);
  for (u32 i = 0; i < kBlock; ++i)
    if (signs >> place_of(i) & 1) words[1 + i] = (0x10000 - words[1 + i]) & 0xffff;
}

void find_largest(Words& words) {
  u32 largest = 0;
  for (u32 i = 1; i <= kBlock; ++i) largest |= words[i];
  words.insert(words.begin(), largest);
}
void take_length(Words& words) {
  const u32 largest = words[0];
  words[0] = u32(std::bit_width(largest & 0xffff)) | (largest & kNoCode);
  if (width_of(words[0]) == 0) words.resize(1);
}

void put_plane(Words& words, u32 plane) {
  const u32 width = width_of(words[0]);
  if (plane >= width) return;
  u32 bits = 0;
  for (u32 i = 0; i < kBlock; ++i) bits |= (words[2 + i] >> plane & 1) << place_of(i);
  words.push_back(bits);
  if (plane + 1 == width) words.erase(words.begin() + 2, words.begin() + 2 + kBlock);
}
// From head, signs, planes to head, signs, magnitudes, planes that are left.
void take_plane(Words& words, u32 plane) {
  if (plane >= width_of(words[0])) return;
  if (plane == 0) words.insert(words.begin() + 2, kBlock, 0);
  const u32 bits = words[2 + kBlock];
  words.erase(words.begin() + 2 + kBlock);
  for (u32 i = 0; i < kBlock; ++i) words[2 + i] |= (bits >> place_of(i) & 1) << plane;
}

void compress(const SubStage& stage, const LinearGrid<float>& grid, Words& words) {
  switch (stage.work) {
    case Work::multiplication:
      for (u32& word : words)
        word = std::bit_cast<u32>(std::bit_cast<float>(word) * grid.short_inverse);
      break;
    case Work::addition:
      for (u32& word : words) word = code_of(std::bit_cast<float>(word));
      break;
    case Work::lorenzo:
      take_differences(words);
      break;
    case Work::sign:
      split_signs(words);
      break;
    case Work::max:
      find_largest(words);
      break;
    case Work::get_length:
      take_length(words);
      break;
    case Work::shuffle:
      put_plane(words, stage.plane);
      break;
  }
}

// Blocks of zeros are their head up to the values.
void decompress(const SubStage& stage, const LinearGrid<float>& grid, Words& words) {
  const bool is_zero = width_of(words[0]) == 0;
  switch (stage.work) {
    case Work::shuffle:
      take_plane(words, stage.plane);
      break;
    case Work::sign:
      if (!is_zero) join_signs(words);
      break;
    case Work::lorenzo:
      if (!is_zero) take_sums(words);
      break;
    case Work::multiplication:
      words.resize(1 + kBlock, 0);
      words.erase(words.begin());
      for (u32& word : words) word = std::bit_cast<u32>(grid.recover(0.0f, i16(u16(word))));
      break;
    default:
      fail_argument("no sub-stage of decompression");
  }
}

// Rows of 32 bits become columns [Warren, Hacker's Delight, 7-3]: bit k of rows[i] becomes bit i of
// rows[k].
void transpose(std::array<u32, 32>& rows) {
  u32 mask = 0x0000ffff;
  for (u32 j = 16; j != 0; j >>= 1, mask ^= mask << j)
    for (u32 k = 0; k < 32; k = ((k | j) + 1) & ~j) {
      const u32 t = (rows[k] >> j ^ rows[k | j]) & mask;
      rows[k] ^= t << j;
      rows[k | j] ^= t;
    }
}

// What the words say of the width, behind the first `done` sub-stages. Before the differences are
// there, no cost depends on it.
u32 width_in(Direction direction, u32 done, const Words& words) {
  constexpr u32 kDifferences = 3, kMagnitudes = 4, kLargest = 5;
  if (direction == Direction::decompress || done > kLargest) return width_of(words[0]);
  if (done < kDifferences) return 1;
  u32 largest = 0;
  for (u32 i = 0; i < kBlock; ++i) {
    if (done == kDifferences) largest |= magnitude_of(words[i]);
    if (done == kMagnitudes) largest |= words[1 + i];
  }
  if (done == kLargest) largest = words[0];
  return u32(std::bit_width(largest & 0xffff));
}

}  // namespace

void run(Direction direction, const SubStage& stage, const LinearGrid<float>& grid, Words& words) {
  direction == Direction::compress ? compress(stage, grid, words) : decompress(stage, grid, words);
}

u32 run_stages(const Partition& partition, u32 pe, const CostTable& costs,
               const LinearGrid<float>& grid, Words& words, WorkCycles& cycles) {
  const Direction direction = partition.direction;
  const u32 planned = partition.planned;
  const std::vector<SubStage> stages = sub_stages(direction, planned);
  u32 sum = 0;
  const auto run_one = [&](const SubStage& stage, u32 done) {
    const u32 cost = costs.of(direction, stage, width_in(direction, done, words));
    run(direction, stage, grid, words);
    cycles[size_t(stage.work)] += cost;
    sum += cost;
  };
  for (u32 s = partition.cuts[pe]; s < partition.cuts[pe + 1]; ++s) {
    run_one(stages[s], s);
    if (stages[s].work == Work::shuffle && stages[s].plane + 1 == planned)
      for (u32 plane = planned; plane < kMostWidth; ++plane) run_one({Work::shuffle, plane}, s + 1);
  }
  return sum;
}

u32 encode_block(const LinearGrid<float>& grid, std::span<const float, kBlock> values,
                 std::span<u32, kMostCoded> words) {
  std::array<i32, kBlock> codes;
  bool fits = true;
  for (u32 i = 0; i < kBlock; ++i) {
    const float t = values[i] * grid.short_inverse;
    const bool has_code = std::abs(t) <= 32767;
    fits &= has_code;
    codes[i] = i32(round_to_even(has_code ? t : 0.0f));
  }
  std::array<u32, 32> magnitudes;
  u32 signs = 0, largest = 0;
  for (u32 i = 0; i < kBlock; ++i) {
    const i32 difference = i16(codes[i] - (i > 0 ? codes[i - 1] : 0));
    const auto magnitude = u32(std::abs(difference));
    signs |= u32(difference < 0) << place_of(i);
    magnitudes[place_of(i)] = magnitude;
    largest |= magnitude;
  }
  const auto width = u32(std::bit_width(largest));
  words[0] = width | (fits ? 0 : kNoCode);
  if (width == 0) return 1;
  transpose(magnitudes);
  words[1] = signs;
  std::copy_n(magnitudes.begin(), width, words.begin() + 2);
  return coded_words(width);
}

void decode_block(const LinearGrid<float>& grid, std::span<const u32> words,
                  std::span<float, kBlock> values) {
  const u32 width = width_of(words[0]);
  if (width == 0) {
    std::ranges::fill(values, grid.recover(0.0f, 0));
    return;
  }
  std::array<u32, 32> magnitudes{};
  std::copy_n(words.begin() + 2, width, magnitudes.begin());
  transpose(magnitudes);
  u16 code = 0;
  for (u32 i = 0; i < kBlock; ++i) {
    const u32 magnitude = magnitudes[place_of(i)], sign = 0 - (words[1] >> place_of(i) & 1);
    code = u16(code + ((magnitude ^ sign) - sign));
    values[i] = grid.recover(0.0f, i16(code));
  }
}

}  // namespace leeway::fabric

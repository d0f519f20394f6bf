// SPDX-License-Identifier: BSD-3-Clause
// The block codec in hardware against the library's: payloads and whole streams.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>

#include "Vlwy_blocks.h"
#include "Vlwy_blocks_outlier.h"
#include "Vlwy_blocks_pow2.h"
#include "leeway/encode/fixed.h"
#include "rtl/tests/blocks_machine.h"
#include "rtl/tests/fields.h"
#include "rtl/tests/hardware_stream.h"

namespace leeway::rtl {
namespace {

// Codes of values by the scalar definition, as narrow codes have them; nothing if there are none.
std::optional<std::vector<i16>> narrow_codes(const LinearGrid<float>& grid,
                                             std::span<const float> values) {
  std::vector<i16> codes;
  for (const float x : values) {
    const float t = x * grid.short_inverse;
    if (!(std::abs(t) <= 32767)) return {};
    const float n = round_to_even(t), y = 0.0f + n * grid.short_step;
    if (!(std::abs(x - y) <= grid.short_limit)) return {};
    codes.push_back(i16(n));
  }
  return codes;
}

// What the library's encoder makes of the differences.
BlockBytes by_library(const std::vector<i16>& codes, bool outlier) {
  std::vector<i16> differences(codes);
  for (size_t i = 0; i < codes.size(); ++i)
    if (i % 32 > 0) differences[i] = i16(u16(codes[i]) - u16(codes[i - 1]));
  Writer out;
  const Fixed fixed{.params = {.block = 32, .outlier = outlier, .head = 1}};
  const auto sink = fixed.sink<i16>(codes.size(), out);
  sink->put_all(differences, {});
  sink->finish();
  const auto heads = std::ptrdiff_t((codes.size() + 31) / 32);
  const std::vector<u8> bytes(out.bytes().begin(), out.bytes().end());
  return {{bytes.begin(), bytes.begin() + heads}, {bytes.begin() + heads, bytes.end()}};
}

std::vector<float> made_values(size_t count, double bound, unsigned kind, std::mt19937_64& random) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    const double noise = double(random() % 2001) / 1000 - 1;
    switch (kind) {
      case 0: values[i] = float(std::sin(double(i) * 0.05) * bound * 3000); break;
      case 1: values[i] = float(noise * bound * 60000); break;
      case 2: values[i] = i % 97 < 50 ? 0.0f : float(noise * bound * 20); break;
      case 3: values[i] = float(noise * bound * std::exp2(double(random() % 17))); break;
      default: values[i] = float(bound * 40000 + noise * bound); break;
    }
    if (random() % 50 == 0) values[i] = -0.0f;
    if (random() % 50 == 0) values[i] = std::bit_cast<float>(u32(random()) & 0x807fffff);
  }
  return values;
}

template <class Module>
void check_chunks(bool outlier, LinearParams params, size_t rounds) {
  std::mt19937_64 random(1);
  for (const unsigned percent : {0u, 20u, 60u}) {
    BlocksMachine<Module> machine(Stalls(percent, 2), Stalls(percent, 3));
    BlocksDecoder decoder(Stalls(percent, 4), Stalls(percent, 5));
    for (size_t round = 0; round < rounds; ++round)
      for (const size_t count : {1u, 31u, 32u, 33u, 64u, 500u, 2048u}) {
        const double bound = std::ldexp(1 + double(random() % 1000) / 1000, int(random() % 40) - 20);
        const LinearGrid<float> grid(bound, params);
        auto values = made_values(count, bound, unsigned(round % 5), random);
        if (round % 7 == 6) values[random() % count] = float(bound) * 1e6f;  // has no code
        if (round % 11 == 10) values[random() % count] = NAN;
        const BlockBytes made = machine.run(grid, values);
        const auto codes = narrow_codes(grid, values);
        ASSERT_EQ(made.is_bad, !codes) << round << ' ' << count;
        if (!codes) continue;
        const BlockBytes wanted = by_library(*codes, outlier);
        ASSERT_TRUE(made.heads == wanted.heads) << round << ' ' << count << ' ' << percent;
        ASSERT_TRUE(made.bodies == wanted.bodies) << round << ' ' << count << ' ' << percent;
        const auto decoded = decoder.run(grid.short_step, count, made);
        ASSERT_TRUE(decoded) << round << ' ' << count << ' ' << percent;
        for (size_t i = 0; i < count; ++i)
          ASSERT_EQ(bits_of((*decoded)[i]), bits_of(grid.recover(0.0f, i32((*codes)[i]))));
      }
  }
}

constexpr LinearParams kShort{};
constexpr LinearParams kPow2{.step = StepRule::power_of_two};

TEST(RtlBlocks, ChunksAreThoseOfTheLibrary) { check_chunks<Vlwy_blocks>(false, kShort, 22); }
TEST(RtlBlocks, ChunksWithOutliersAreThoseOfTheLibrary) {
  check_chunks<Vlwy_blocks_outlier>(true, kShort, 22);
}
TEST(RtlBlocks, ChunksWithPowersOfTwoAreThoseOfTheLibrary) {
  check_chunks<Vlwy_blocks_pow2>(false, kPow2, 22);
}

// Errors at the limit and beside it, for bounds that are powers of two (limits just below half a
// step, ties fail) and for limits down to a quarter of a step.
TEST(RtlBlocks, PowersOfTwoCheckTheErrorToItsLastBit) {
  std::mt19937_64 random(1);
  BlocksMachine<Vlwy_blocks_pow2> machine;
  size_t bad = 0;
  constexpr size_t kTrials = 3000;
  for (size_t trial = 0; trial < kTrials; ++trial) {
    LinearGrid<float> grid(std::ldexp(1.0, int(random() % 40) - 20), kPow2);
    if (trial % 2 > 0)
      grid.short_limit = grid.short_step * (0.25f + std::ldexp(float(random() % 512), -11));
    const float n = float(random() % (u64(1) << random() % 15)) * grid.short_step;
    float x = random() % 2 ? n + grid.short_limit : n - grid.short_limit;
    if (trial % 3 > 0) x = std::nextafter(x, trial % 3 == 1 ? -INFINITY : INFINITY);
    const std::array<float, 1> values{random() % 2 ? x : -x};
    const bool is_bad = !narrow_codes(grid, values);
    ASSERT_EQ(machine.run(grid, values).is_bad, is_bad) << x << ' ' << grid.short_limit;
    bad += is_bad;
  }
  EXPECT_GT(bad, kTrials / 10);
  EXPECT_LT(bad, kTrials * 9 / 10);
}

TEST(RtlBlocks, ResetForgetsAChunk) {
  std::mt19937_64 random(1);
  const LinearGrid<float> grid(1e-3);
  BlocksMachine<Vlwy_blocks_outlier> machine;
  machine.begin_some(grid, 77);
  machine.reset();
  const auto values = made_values(100, 1e-3, 0, random);
  const BlockBytes made = machine.run(grid, values);
  const BlockBytes wanted = by_library(*narrow_codes(grid, values), true);
  EXPECT_TRUE(made.heads == wanted.heads && made.bodies == wanted.bodies);
}

// Bytes of any kind: the decoder gives as many values as it was told, and goes on.
TEST(RtlBlocks, HostileBytesDoNotStopTheDecoder) {
  std::mt19937_64 random(1);
  const LinearGrid<float> grid(1e-3);
  const auto values = made_values(200, 1e-3, 3, random);
  const auto codes = *narrow_codes(grid, values);
  const BlockBytes good = by_library(codes, true);
  BlocksDecoder decoder;
  size_t refused = 0;
  for (int i = 0; i < 300; ++i) {
    BlockBytes bytes = good;
    bytes.heads[random() % bytes.heads.size()] = u8(random());
    if (i % 3 == 0) bytes.bodies.resize(random() % bytes.bodies.size());
    refused += !decoder.run(grid.short_step, values.size(), bytes);
  }
  EXPECT_GT(refused, 100u);
  const auto decoded = decoder.run(grid.short_step, values.size(), good);
  ASSERT_TRUE(decoded);
  for (size_t i = 0; i < codes.size(); ++i)
    ASSERT_EQ(bits_of((*decoded)[i]), bits_of(grid.recover(0.0f, i32(codes[i]))));
}

TEST(RtlBlocks, AValueACycle) {
  std::mt19937_64 random(1);
  const auto values = made_values(1 << 15, 1e-3, 1, random);  // all planes
  BlocksMachine<Vlwy_blocks_outlier> machine;
  machine.run(LinearGrid<float>(1e-3), values);
  std::printf("%zu values: %zu cycles\n", values.size(), size_t(machine.cycles));
  EXPECT_LE(machine.cycles, values.size() + 64);
  BlocksDecoder decoder;
  const auto codes = *narrow_codes(LinearGrid<float>(1e-3), values);
  ASSERT_TRUE(decoder.run(LinearGrid<float>(1e-3).short_step, values.size(), by_library(codes, true)));
  std::printf("and back: %zu cycles\n", size_t(decoder.cycles));
  EXPECT_LE(decoder.cycles, values.size() + 64);
}

template <class Module>
void check_streams(const std::vector<TestField>& fields, const char* name, const char* recipe,
                   size_t head_bytes) {
  for (const TestField& field : fields)
    for (const double rel : kBounds) {
      BlocksMachine<Module> machine;
      const HardwareCodec codec(
          recipe, kShort,
          [&](const LinearGrid<float>& grid, const Shape&, std::span<const float> values) {
            const BlockBytes bytes = machine.run(grid, values);
            HardwareCodec::Coded coded{{}, machine.cycles};
            if (!bytes.is_bad) coded.bytes = bytes.payload(head_bytes);
            return coded;
          });
      expect_same_stream(field, rel, name, codec);
    }
}

void check_all_streams(const std::vector<TestField>& fields) {
  check_streams<Vlwy_blocks>(fields, "ceresz", "linear+blocks+fixed:outlier=0,head=4", 4);
  check_streams<Vlwy_blocks>(fields, "cuszp2-plain", "linear+blocks+fixed:outlier=0", 1);
  check_streams<Vlwy_blocks_outlier>(fields, "cuszp2-outlier", "linear+blocks+fixed", 1);
}

TEST(RtlBlocks, StreamsAreThoseOfTheLibrary) { check_all_streams(generated_fields()); }

TEST(RtlBlocks, LongStreamsOfFieldFiles) {
  const auto fields = field_files();
  if (fields.empty()) GTEST_SKIP() << "LEEWAY_RTL_FIELDS names no directory with fields";
  check_all_streams(fields);
}

}  // namespace
}  // namespace leeway::rtl

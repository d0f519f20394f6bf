// SPDX-License-Identifier: BSD-3-Clause
// Damaged and made-up streams: refused or salvaged, never a crash. Run under the sanitizers.
#include "leeway/core/hash.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

Bytes small_stream(const std::string& recipe, Texture texture = Texture::hostile) {
  const Shape shape{9, 11};
  auto options = options_for<float>(Bound::rel(1e-2), recipe);
  options.chunk = {4, 11};
  const auto values = make_field<float>(shape, texture);
  return compress(values.data(), shape, options);
}

// Only leeway::Error may come out.
void expect_refused(ByteView stream) {
  try {
    decompress(stream);
    ADD_FAILURE() << "accepted";
  } catch (const Error&) {
  }
}
void expect_no_crash(ByteView stream) {
  DecompressOptions salvage;
  salvage.salvage = true;
  try {
    decompress(stream, salvage);
  } catch (const Error&) {
  }
}

TEST(Hostile, EveryTruncationIsRefused) {
  for (const std::string& recipe : recipes()) {
    const Bytes stream = small_stream(recipe);
    for (size_t size = 0; size < stream.size(); ++size)
      expect_refused(ByteView(stream).first(size));
  }
}

TEST(Hostile, EveryFlippedBitIsNoticed) {
  for (const std::string recipe : {"balanced", "sz1.4", "plain"}) {
    const Bytes stream = small_stream(recipe);
    Bytes damaged = stream;
    for (size_t bit = 0; bit < 8 * stream.size(); ++bit) {
      damaged[bit / 8] ^= u8(1 << bit % 8);
      expect_refused(damaged);
      expect_no_crash(damaged);
      damaged[bit / 8] = stream[bit / 8];
    }
  }
}

TEST(Hostile, GarbageBehindTheEndIsRefused) {
  Bytes stream = small_stream("balanced");
  stream.push_back(0);
  expect_refused(stream);
}

// Checksums stop accidents, not attackers: payloads are damaged and their checksums mended.
TEST(Hostile, MendedChecksumsDoNotHelp) {
  std::mt19937 random(3);
  for (const std::string& recipe : recipes())
    for (const Texture texture : {Texture::hostile, Texture::smooth, Texture::noise}) {
      const Bytes stream = small_stream(recipe, texture);
      const u64 first = header_bytes(ByteView(stream).first(kPreambleBytes));
      for (int trial = 0; trial < 300; ++trial) {
        Bytes damaged = stream;
        FrameHead head = read_frame_head(ByteView(damaged).subspan(size_t(first), kFrameHeadBytes));
        const auto payload =
            std::span(damaged).subspan(size_t(first) + kFrameHeadBytes, size_t(head.payload_bytes));
        for (u32 flips = 1 + random() % 4; flips > 0; --flips)
          payload[random() % payload.size()] ^= u8(1 << random() % 8);
        head.payload_hash = hash_of(payload);
        write(head, std::span<u8, kFrameHeadBytes>(damaged.data() + first, kFrameHeadBytes));
        expect_no_crash(damaged);
      }
    }
}

TEST(Hostile, AbsurdHeadersAreRefusedWithoutAllocating) {
  Header header;
  header.shape = {u64(1) << 50};
  header.chunk = {u64(1) << 24};
  header.bound = Bound::abs(1);
  header.abs_bound = 1;
  header.recipe = "linear";
  Writer out;
  write(header, out);
  write(Tail{}, out);
  EXPECT_THROW(inspect(out.bytes()), Error);
  DecompressOptions salvage;
  salvage.salvage = true;
  EXPECT_THROW(decompress(out.bytes(), salvage), Error);
}

TEST(Hostile, UnknownRecipesSayWhatIsMissing) {
  Header header;
  header.shape = {1};
  header.chunk = {1};
  header.bound = Bound::abs(1);
  header.recipe = "future+linear";
  Writer out;
  write(header, out);
  const size_t frame = out.size();
  out.extend(kFrameHeadBytes);
  write(FrameHead{}, out.again<kFrameHeadBytes>(frame));
  write(Tail{{0}, {}, {}}, out);
  try {
    decompress(out.bytes());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::unsupported);
    EXPECT_NE(std::string(error.what()).find("future"), std::string::npos);
  }
}

TEST(Salvage, UndamagedChunksComeBack) {
  const Shape shape{40, 10};
  const auto values = make_field<float>(shape, Texture::smooth);
  auto options = options_for<float>(Bound::abs(1e-3));
  options.chunk = {10, 10};
  const Bytes stream = compress(values.data(), shape, options);
  const Array whole = decompress(stream);
  DecompressOptions salvage;
  salvage.salvage = true;
  const auto lost_values = [&](ByteView damaged) {
    const Array saved = decompress(damaged, salvage);
    size_t lost = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (std::isnan(saved.as<float>()[i]))
        ++lost;
      else
        EXPECT_EQ(saved.as<float>()[i], whole.as<float>()[i]);
    }
    return lost;
  };
  Bytes damaged = stream;
  const u64 first = header_bytes(ByteView(stream).first(kPreambleBytes));
  damaged[size_t(first) + kFrameHeadBytes + 5] ^= 1;  // in the first chunk's payload
  EXPECT_EQ(lost_values(damaged), 100u);
  damaged[size_t(first) + 9] ^= 1;  // and in its head
  EXPECT_EQ(lost_values(damaged), 100u);
  damaged = stream;
  damaged.resize(stream.size() - 30);  // the tail is lost
  EXPECT_EQ(lost_values(damaged), 0u);
  damaged.resize(stream.size() / 2);  // and more
  EXPECT_GE(lost_values(damaged), 100u);
}

}  // namespace
}  // namespace leeway::test

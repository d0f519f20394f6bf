// SPDX-License-Identifier: BSD-3-Clause
// Damaged and made-up streams: refused or salvaged, never a crash, and at no great cost. Run under
// the sanitizers.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leeway/base/bits.h"
#include "leeway/lossless/zstd.h"
#include "tests/streams.h"
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
      const Parts whole = take_apart(small_stream(recipe, texture));
      for (int trial = 0; trial < 300; ++trial) {
        Parts damaged = whole;
        Bytes& payload = damaged.frames.front().payload;
        for (u32 flips = 1 + random() % 4; flips > 0; --flips)
          payload[random() % payload.size()] ^= u8(1 << random() % 8);
        expect_no_crash(put_together(damaged));
      }
    }
}

// What reading a stream took, in a process of its own.
struct Cost {
  double seconds = 0;    // of the processor
  double megabytes = 0;  // at the peak, more than before
  bool is_accepted = false;
};

double peak_megabytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) / 1024;
}

template <class F>
Cost cost_of(F&& f) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    Cost cost;
    const double before = peak_megabytes();
    try {
      f();
      cost.is_accepted = true;
    } catch (const Error&) {
    }
    cost.megabytes = peak_megabytes() - before;
    const bool told = ::write(ends[1], &cost, sizeof cost) == sizeof cost;
    ::_exit(told ? 0 : 1);
  }
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "it crashed";
  Cost cost;
  EXPECT_EQ(::read(ends[0], &cost, sizeof cost), ssize_t(sizeof cost));
  ::close(ends[0]), ::close(ends[1]);
  const auto seconds = [](const timeval& t) { return double(t.tv_sec) + 1e-6 * double(t.tv_usec); };
  cost.seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  return cost;
}

// Reading the stream in any way is cheap; says whether it can be decoded.
bool expect_cheap(const Bytes& stream) {
  const Cost whole = cost_of([&] {
    DecompressOptions unchecked;
    unchecked.check_decoded = false;
    decompress(stream, unchecked);
  });
#ifndef LEEWAY_SANITIZED
  EXPECT_LT(whole.seconds, 1);
  EXPECT_LT(whole.megabytes, 200);
#endif
  return whole.is_accepted;
}

// One chunk of f32 values; u8, for which codes are large, where the build has it.
Parts one_chunk(u64 values, const std::string& recipe, DType dtype = DType::f32) {
  Parts parts;
  parts.header.dtype = kIsCompiled<u8> || dtype != DType::u8 ? dtype : DType::f32;
  parts.header.shape = parts.header.chunk = {values};
  parts.header.bound = Bound::abs(1);
  parts.header.abs_bound = 1;
  parts.header.recipe = recipe;
  parts.frames.push_back({{.bound = 1}, {}});
  return parts;
}

// A frame of zstd whose content is one byte again and again: 4 bytes for 128 kB of it.
Bytes repeated(u8 byte, u64 size) {
  constexpr u64 kBlock = u64(128) << 10;
  Writer out;
  out.put(u8(1));  // packed
  out.put_varint(size);
  out.put(u32(0xfd2fb528));
  out.put(u8(0xe0));  // one segment; its size in eight bytes
  out.put(size);
  for (u64 done = 0; done < size; done += kBlock) {
    const u64 count = std::min(kBlock, size - done);
    const u64 head = count << 3 | 1 << 1 | (done + count == size);
    for (int i = 0; i < 3; ++i) out.put(u8(head >> 8 * i));
    out.put(byte);
  }
  return Bytes(out.bytes().begin(), out.bytes().end());
}

Bytes coded(std::initializer_list<Bytes> parts) {
  Bytes payload{1};
  for (const Bytes& part : parts) payload.insert(payload.end(), part.begin(), part.end());
  return payload;
}
Bytes section(const Bytes& bytes) {
  Writer out;
  out.put_section(bytes);
  return Bytes(out.bytes().begin(), out.bytes().end());
}
Bytes packed(const Bytes& bytes) {
  Writer out;
  Zstd().compress(bytes, out);
  return Bytes(out.bytes().begin(), out.bytes().end());
}
// Huffman codes that are all 0.
const Bytes kNothingCoded{0, 0, 0};

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// Less than 2 kB for an array of 4 MB; took ten seconds.
TEST(Bombs, ManyPreprocessorsAreRefused) {
  for (const int stages : {4, 5, 100}) {
    Parts parts = one_chunk(u64(1) << 20, repeated("dft:block=64+", stages) + "linear+huffman");
    parts.frames[0].payload = coded({{0}, Bytes(size_t(stages)), {0, 0}, kNothingCoded});
    EXPECT_EQ(expect_cheap(put_together(parts)), stages <= 4);
  }
}

// Each of 100 stages copies 64 bytes a value.
TEST(Bombs, ManyLosslessStagesAreRefused) {
  const u64 values = u64(1) << 18;
  for (const int stages : {3, 99}) {
    Parts parts = one_chunk(values, "linear+raw" + repeated("+lz4", stages) + "+zstd");
    parts.frames[0].payload = coded({repeated(u8(0), 64 * values)});
    EXPECT_FALSE(expect_cheap(put_together(parts)));
  }
  EXPECT_THROW(parse_recipe("linear+raw" + repeated("+store", 5)), Error);
  EXPECT_NO_THROW(parse_recipe("linear+raw" + repeated("+store", 4)));
}

TEST(Bombs, LongRecipesAreRefused) {
  for (const std::string& text : {repeated("+", 1 << 20), repeated("zstd+", 1 << 18),
                                  "zstd:" + repeated("level=1,", 1 << 17)}) {
    Parts parts = one_chunk(100, text);
    EXPECT_FALSE(expect_cheap(put_together(parts)));
    EXPECT_THROW(parse_recipe(text), Error);
  }
}

// 33 kB that became 2 GB: content of 64 bytes a value for each of two stages.
TEST(Bombs, ContentBeyondTheLimitIsRefused) {
  const u64 values = u64(1) << 24;
  for (const char* recipe : {"linear+raw+zstd", "linear+raw+zstd+zstd"}) {
    Parts parts = one_chunk(values, recipe, DType::u8);
    parts.frames[0].payload = coded({repeated(u8(0), 64 * values)});
    EXPECT_FALSE(expect_cheap(put_together(parts)));
  }
}

// As much as a chunk may have, everywhere at once.
TEST(Bombs, ContentAtTheLimitIsNotMuch) {
  const u64 values = u64(1) << 21, most = 2 * values * (sizeof(float) + sizeof(i32)) + (1 << 16);
  Parts parts = one_chunk(values, "linear+raw+zstd+zstd+zstd+zstd");
  parts.frames[0].payload = coded({packed(packed(packed(repeated(u8(0), most))))});
  EXPECT_FALSE(expect_cheap(put_together(parts)));
  parts.header.recipe = "linear+huffman";
  const Bytes full = section(repeated(u8(0), most));
  parts.frames[0].payload = coded({{0}, full, {0}, kNothingCoded});
  EXPECT_FALSE(expect_cheap(put_together(parts)));
  parts.frames[0].payload = coded({{0}, section(repeated(u8(0), most + 1)), {0}, kNothingCoded});
  EXPECT_FALSE(expect_cheap(put_together(parts)));
}

// A run for every value, in both lists of patches.
TEST(Bombs, PatchesOfEveryValueAreNotMuch) {
  const u64 values = u64(1) << 21;
  Writer list;
  list.put_varint(values);
  list.put(u8(1));
  list.put(0.5f);
  for (u64 i = 0; i < values; ++i) list.put(std::array<u8, 3>{});
  const Bytes patches = section(packed(Bytes(list.bytes().begin(), list.bytes().end())));
  Parts parts = one_chunk(values, "linear+huffman");
  parts.frames[0].payload = coded({patches, {0}, patches, kNothingCoded});
  EXPECT_TRUE(expect_cheap(put_together(parts)));
  // The longest list there can be has room.
  EXPECT_GE(Patches<float>::most_bytes(1), 10 + 1 + 16 * 4 + 1 + 1 + 1 + 4u);
  // One that claims to be longer.
  parts.frames[0].payload = coded({section(repeated(u8(0), 32 * values)), {0}, {0}, kNothingCoded});
  EXPECT_FALSE(expect_cheap(put_together(parts)));
}

// 256 tables of 4096 entries for a single code.
TEST(Bombs, MoreTablesThanCodesAreRefused) {
  BitWriter head;
  head.put(255, 8);
  for (int context = 1; context < 256; ++context) head.put(1, 1);
  for (int table = 0; table < 256; ++table) {
    head.put(1, 1);
    head.put(255, 22);
  }
  const Writer bits = head.take();
  Parts parts = one_chunk(1000, "linear+rans");
  parts.header.chunk = {1};
  Frame frame = parts.frames[0];
  Bytes states(1 + 1 + 32);
  frame.payload =
      coded({{0, 0, 0}, section(Bytes(bits.bytes().begin(), bits.bytes().end())), states});
  parts.frames.clear();
  for (u64 i = 0; i < 1000; ++i) {
    frame.head.ordinal = i;
    parts.frames.push_back(frame);
  }
  const Bytes stream = put_together(parts);
  EXPECT_FALSE(expect_cheap(stream));
  const Cost cost = cost_of([&] {
    DecompressOptions salvage;
    salvage.salvage = true;
    decompress(stream, salvage);
  });
#ifndef LEEWAY_SANITIZED
  EXPECT_LT(cost.seconds, 0.5);
#endif
  EXPECT_TRUE(cost.is_accepted);
}

Parts many_chunks(u64 chunks) {
  Parts parts = one_chunk(chunks, "linear");
  parts.header.chunk = {1};
  parts.frames.clear();
  for (u64 i = 0; i < chunks; ++i)
    parts.frames.push_back({{.ordinal = i, .bound = 1}, {0, 0, 0, 0, 0}});
  return parts;
}

// Regions that all touch all chunks: quadratic work for whoever wants the bounds of the chunks.
TEST(Bombs, RegionsThatOverlapTooMuchAreRefused) {
  Parts parts = many_chunks(5000);
  parts.header.regions.assign(50000, {{{}, parts.header.shape}, 0.5});
  EXPECT_FALSE(expect_cheap(put_together(parts)));
  EXPECT_TRUE(regions_overlap_too_much(parts.header));
  parts.header.regions.resize(1000);
  EXPECT_TRUE(expect_cheap(put_together(parts)));
  std::vector<float> values(5000);
  auto options = options_for<float>(Bound::abs(1));
  options.chunk = {1};
  options.regions.assign(50000, {{{}, {5000}}, 0.5});
  EXPECT_THROW(compress(values.data(), {5000}, options), Error);
}

TEST(Bombs, ManyFillsAreRefused) {
  Parts parts = one_chunk(1000, "linear");
  parts.frames[0].payload = {0, 0, 0, 0, 0};
  parts.header.fills.resize(kMostFills);
  EXPECT_TRUE(expect_cheap(put_together(parts)));
  parts.header.fills.resize(100000);
  EXPECT_FALSE(expect_cheap(put_together(parts)));
  std::vector<float> values(10);
  auto options = options_for<float>(Bound::abs(1));
  options.fills.resize(kMostFills);
  EXPECT_THROW(compress(values.data(), {10}, options), Error);
  options.fills.resize(kMostFills - kMostFoundFills);
  EXPECT_NO_THROW(compress(values.data(), {10}, options));
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
  finish_frame(FrameHead{}, frame, out);
  write(Tail{{}, {0}, {}, {}}, out);
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

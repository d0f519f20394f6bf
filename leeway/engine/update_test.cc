// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "leeway/stream/compact.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

struct Case {
  Shape shape{30, 40, 50};
  Shape chunk{8, 16, 32};
  double bound = 1e-3;
  std::vector<float> values = make_field<float>(shape, Texture::smooth);
  Bytes stream = make("fast");

  Bytes make(const std::string& recipe) const {
    auto options = options_for<float>(Bound::abs(bound), recipe);
    options.chunk = chunk;
    return compress(values.data(), shape, options);
  }
};

std::vector<float> decoded_of(ByteView stream) {
  const Array array = decompress(stream);
  return {array.as<float>().begin(), array.as<float>().end()};
}

// Writes `values` into the region; checks everything that must hold afterwards.
UpdateReport check_update(Bytes& stream, double bound, const Box& region,
                          const std::vector<float>& values, unsigned threads = 1) {
  const auto before = decoded_of(stream);
  const double error_before = inspect(stream).statement.max_error;
  MemoryStore store(stream);
  Execution execution;
  execution.threads = threads;
  const UpdateReport report =
      update(store, region.first, view_of(values.data(), region.shape), execution);
  EXPECT_EQ(report.stream_bytes, stream.size());
  const auto after = decoded_of(stream);
  const Shape& shape = inspect(stream).header.shape;
  size_t i = 0, used = 0;
  for_each_outer(shape, 0, [&](const Index& at) {
    bool inside = true;
    for (size_t axis = 0; axis < shape.rank(); ++axis)
      inside &=
          at[axis] >= region.first[axis] && at[axis] < region.first[axis] + region.shape[axis];
    if (inside)
      EXPECT_LE(std::abs(double(after[i]) - double(values[used++])), bound);
    else
      EXPECT_EQ(bits_of(after[i]), bits_of(before[i]));
    ++i;
  });
  EXPECT_EQ(used, values.size());
  EXPECT_GE(inspect(stream).statement.max_error, std::min(error_before, bound) * 0.5);
  EXPECT_LE(inspect(stream).statement.max_error, bound);
  return report;
}

TEST(Update, ReplacesARegionAndNothingElse) {
  for (const std::string recipe : {"fast", "balanced", "sz1.4", "cuszp2-outlier", "small"})
    for (const unsigned threads : {1u, 3u}) {
      Case c;
      c.stream = c.make(recipe);
      const Box region{{5, 10, 20}, {10, 20, 25}};
      for (const Texture texture : {Texture::noise, Texture::smooth}) {
        const auto values = make_field<float>(region.shape, texture);
        const u64 before = c.stream.size();
        const UpdateReport report = check_update(c.stream, c.bound, region, values, threads);
        EXPECT_EQ(report.chunks, 2 * 2 * 2u);
        EXPECT_EQ(report.bytes_written, c.stream.size() - before);
        EXPECT_GT(report.dead_bytes, 0u);
      }
    }
}

Box random_region(const Shape& shape, std::mt19937& random) {
  Box region;
  std::array<u64, kMaxRank> extents{};
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    region.first[axis] = random() % shape[axis];
    extents[axis] = 1 + random() % (shape[axis] - region.first[axis]);
  }
  region.shape = Shape(std::span<const u64>(extents).first(shape.rank()));
  return region;
}

// Values far from the old ones, in many places, again and again: what is not replaced keeps its
// bits with every recipe, whatever it predicts from.
TEST(Update, NothingDriftsWithAnyRecipe) {
  std::vector<std::string> all = recipes();
  for (const char* recipe :
       {"smallest", "sz3-interp", "sz3-lr", "regression+linear+huffman", "dft+linear+huffman",
        "lorenzo+logscale+huffman", "wavesz", "ghostsz", "pyramid:tile=6+linear+rans",
        "linear+interp+huffman", "lag+linear+huffman", "transpose+linear+lorenzo+huffman"})
    all.emplace_back(recipe);
  std::mt19937 random(7);
  for (const std::string& recipe : all) {
    SCOPED_TRACE(recipe);
    Case c;
    c.shape = {20, 30, 16};
    c.chunk = {20, 15, 16};
    c.bound = 0.1;
    c.values = make_field<float>(c.shape, Texture::smooth);
    const Recipe parsed = parse_recipe(recipe);
    if (is_by_value(parsed) || !is_for(parsed, DType::f32) ||
        recipe.find("log+") != std::string::npos)
      continue;
    c.stream = c.make(recipe);
    for (int round = 0; round < 6; ++round) {
      const Box region = random_region(c.shape, random);
      auto values = make_field<float>(region.shape, round % 2 ? Texture::smooth : Texture::noise,
                                      unsigned(round));
      for (float& value : values) value += 3;
      check_update(c.stream, c.bound, region, values);
    }
  }
}

// A chunk that is filled step by step, as a simulation does it.
TEST(Update, ManyPartsOfOneChunk) {
  for (const std::string recipe : {"small", "smallest", "sz3-interp"}) {
    Case c;
    c.shape = c.chunk = {80, 12, 10};
    c.values.assign(size_t(c.shape.size()), 0);
    c.bound = 0.01;
    c.stream = c.make(recipe);
    const auto steps = make_field<float>(c.shape, Texture::smooth);
    const size_t step = 12 * 10;
    for (u64 t = 0; t < 80; ++t)
      check_update(c.stream, c.bound, {{t, 0, 0}, {1, 12, 10}},
                   {steps.begin() + std::ptrdiff_t(t * step),
                    steps.begin() + std::ptrdiff_t((t + 1) * step)});
    const auto decoded = decoded_of(c.stream);
    for (size_t i = 0; i < steps.size(); ++i) ASSERT_LE(std::abs(decoded[i] - steps[i]), c.bound);
  }
}

TEST(Update, OtherBoundsAndTypes) {
  if (!kIsCompiled<u64>) return;
  const Shape shape{40, 50};
  std::vector<u64> values(2000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = (u64(1) << 60) + u64(i * i % 1009) * 1000;
  auto options = options_for<u64>(Bound::abs(300), "small");
  Bytes stream = compress(values.data(), shape, options);
  const Array before = decompress(stream);
  const std::vector<u64> others(100, 12345);
  MemoryStore store(stream);
  update(store, {10, 10}, view_of(others.data(), {10, 10}));
  const Array after = decompress(stream);
  for (size_t i = 0; i < values.size(); ++i) {
    const bool inside = i / 50 / 10 == 1 && i % 50 / 10 == 1;
    if (inside)
      EXPECT_LE(std::abs(i64(after.as<u64>()[i]) - 12345), 300);
    else
      EXPECT_EQ(after.as<u64>()[i], before.as<u64>()[i]);
  }
}

// Kills an update at every write it makes: what is left is the old stream or the new one.
class FailingStore final : public ByteStore {
 public:
  FailingStore(Bytes& bytes, int writes, size_t of_last)
      : writes_(writes), of_last_(of_last), store_(bytes) {}
  u64 size() const override { return store_.size(); }
  void write(u64 offset, ByteView bytes) override {
    const bool is_last = writes_-- == 0;
    if (!is_dead_)
      store_.write(offset, is_last ? bytes.first(std::min(of_last_, bytes.size())) : bytes);
    is_dead_ |= is_last;
    if (is_dead_) throw Error(Errc::io, "no space left");
  }
  void sync() override {
    if (is_dead_) throw Error(Errc::io, "no space left");
  }
  void truncate(u64 size) override {
    if (is_dead_) throw Error(Errc::io, "gone");
    store_.truncate(size);
  }

 private:
  ByteView get(u64 offset, u64 count, Bytes& storage) const override {
    return store_.read(offset, count, storage);
  }
  int writes_;
  size_t of_last_;
  bool is_dead_ = false;
  MemoryStore store_;
};

TEST(Update, AnInterruptedOneLeavesTheOldStream) {
  const Case c;
  const Box region{{0, 0, 0}, {20, 20, 40}};
  const auto values = make_field<float>(region.shape, Texture::noise);
  Bytes updated = c.stream;
  MemoryStore store(updated);
  update(store, region.first, view_of(values.data(), region.shape));
  const auto before = decoded_of(c.stream), after = decoded_of(updated);
  int interrupted = 0;
  for (int writes = 0;; ++writes) {
    bool failed = false;
    for (const size_t of_last : {0, 1, 3, 5, 63, 64, 100, 100000}) {
      Bytes stream = c.stream;
      FailingStore failing(stream, writes, of_last);
      try {
        update(failing, region.first, view_of(values.data(), region.shape));
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::io);
        failed = true;
      }
      const auto found = decoded_of(stream);
      EXPECT_TRUE(found == (stream.size() == updated.size() ? after : before))
          << writes << " " << of_last;
      if (found == before && stream.size() > c.stream.size()) {
        const MemorySource source(stream);
        EXPECT_EQ(StreamReader(source).bytes_left_out(), stream.size() - c.stream.size());
        // The next update takes no notice of what is there.
        MemoryStore again(stream);
        update(again, region.first, view_of(values.data(), region.shape));
        EXPECT_EQ(stream, updated);
        ++interrupted;
      }
    }
    if (!failed) break;
  }
  EXPECT_GT(interrupted, 40);
}

// Only what an interrupted update can have left is left out; anything else is damage, and never
// brings an older version back.
TEST(Update, DamageIsNotTakenForAnInterruptedUpdate) {
  Case c;
  const std::vector<float> values(8 * 16 * 32, 3.5f);
  MemoryStore store(c.stream);
  for (int round = 0; round < 2; ++round)
    update(store, {}, view_of(values.data(), Shape{8, 16, 32}));
  const auto newest = decoded_of(c.stream);
  const auto with = [&](const Bytes& more) {
    Bytes stream = c.stream;
    stream.insert(stream.end(), more.begin(), more.end());
    return stream;
  };
  for (const Bytes& more : {Bytes{'\n'}, Bytes(1, 0), Bytes(63, 0), Bytes(100, 'x')})
    EXPECT_THROW(decompress(with(more)), Error) << more.size();
  for (const Bytes& more : {Bytes{'L', 'W', 'Y', 'c'}, Bytes(64, 0)})
    EXPECT_EQ(decoded_of(with(more)), newest) << more.size();
  for (size_t bit = 0; bit < 64; ++bit) {
    Bytes stream = c.stream;
    stream[stream.size() - 1 - bit / 8] ^= u8(1 << bit % 8);
    EXPECT_THROW(decompress(stream), Error) << bit;
  }
}

// Values that look like parts of a stream mislead nobody.
TEST(Update, DataThatHoldsEndsAndTails) {
  const Shape shape{1024};
  auto options = options_for<float>(Bound::lossless(), "plain");
  options.chunk = {256};
  std::vector<float> values(1024);
  const std::span<u8> bytes(reinterpret_cast<u8*>(values.data()), 4 * values.size());
  std::mt19937 random(2);
  for (u8& byte : bytes) byte = u8(random());  // does not shrink, and is stored as it is
  const std::string_view end = "LWYend\r\nLWYc";
  Bytes stream = compress(values.data(), shape, options);
  for (int version = 1; version < 3; ++version) {
    // The stream's own end, and many more of them.
    for (size_t at = 0; at + 64 < bytes.size(); at += 40) std::ranges::copy(end, &bytes[at]);
    const Bytes before = stream;
    std::copy(before.end() - 700, before.end(), &bytes[100]);
    const Array old = decompress(before);
    MemoryStore store(stream);
    update(store, {}, view_of(values.data(), shape));
    for (size_t size = before.size() + 1; size < stream.size(); size += 7) {
      const Array found = decompress(ByteView(stream).first(size));
      ASSERT_EQ(std::memcmp(found.data(), old.data(), size_t(old.bytes())), 0)
          << version << " " << size;
    }
  }
}

TEST(Update, AFailureCostsTheUpdateOnly) {
  Case c;
  const Bytes before = c.stream;
  const auto values = make_field<float>(c.shape, Texture::noise);
  MemoryStore store(c.stream);
  Execution execution;
  execution.progress = [](double done) { return done < 0.5; };
  EXPECT_THROW(update(store, {}, view_of(values.data(), c.shape), execution), Error);
  EXPECT_EQ(c.stream, before);
}

TEST(Update, CompactDropsWhatIsDead) {
  Case c;
  std::mt19937 random(5);
  for (int round = 0; round < 4; ++round) {
    const Box region = random_region(c.shape, random);
    check_update(c.stream, c.bound, region, make_field<float>(region.shape, Texture::smooth));
  }
  const auto whole = decoded_of(c.stream);
  const MemorySource source(c.stream);
  const StreamReader reader(source);
  EXPECT_GT(reader.dead_bytes(), 0u);
  Bytes compacted;
  compact(reader,
          [&](ByteView part) { compacted.insert(compacted.end(), part.begin(), part.end()); });
  EXPECT_LT(compacted.size(), c.stream.size() - reader.dead_bytes() + 100);
  const MemorySource compacted_source(compacted);
  EXPECT_EQ(StreamReader(compacted_source).dead_bytes(), 0u);
  EXPECT_EQ(decoded_of(compacted), whole);
}

// A frame of another stream in the place of one's own, both of the same size, with all checksums
// right.
TEST(Update, AForeignFrameIsNoticed) {
  const Shape shape{64, 8};
  auto options = options_for<float>(Bound::abs(1e-3), "plain");
  options.chunk = {16, 8};
  const auto stream_of = [&](size_t seed) {
    std::vector<float> values(size_t(shape.size()));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = float(seed + i / 128);  // constant chunks
    return compress(values.data(), shape, options);
  };
  Bytes one = stream_of(1);
  const Bytes other = stream_of(2);
  const MemorySource source(one), other_source(other);
  const StreamReader reader(source), other_reader(other_source);
  const u64 offset = reader.offset(2);
  ASSERT_EQ(offset, other_reader.offset(2));
  ASSERT_EQ(reader.read_head(2).payload_bytes, other_reader.read_head(2).payload_bytes);
  std::copy_n(other.begin() + std::ptrdiff_t(offset),
              frame_bytes(reader.read_head(2).payload_bytes), one.begin() + std::ptrdiff_t(offset));
  EXPECT_THROW(decompress(one), Error);
  EXPECT_THROW(preview(one, 1), Error);
  EXPECT_THROW(StreamReader(source).check_statement(), Error);
}

TEST(Update, UntouchedChunksKeepTheirBytes) {
  Case c;
  const Bytes before = c.stream;
  const Box region{{0, 0, 0}, {8, 16, 32}};
  check_update(c.stream, c.bound, region, make_field<float>(region.shape, Texture::noise));
  const MemorySource old_source(before), new_source(c.stream);
  const StreamReader old_reader(old_source), new_reader(new_source);
  for (u64 ordinal = 1; ordinal < old_reader.chunks(); ++ordinal) {
    Bytes a, b;
    EXPECT_EQ(old_reader.offset(ordinal), new_reader.offset(ordinal));
    EXPECT_TRUE(std::ranges::equal(old_reader.read_chunk(ordinal, a).payload,
                                   new_reader.read_chunk(ordinal, b).payload));
  }
}

// The statement must be what a fresh look at the frames gives, and salvage must see the new frames.
TEST(Update, StreamsStayWholeAndSalvageable) {
  Case c;
  std::mt19937 random(3);
  std::vector<float> one_before;
  for (int round = 0; round < 10; ++round) {
    one_before = decoded_of(c.stream);
    const Box region = random_region(c.shape, random);
    check_update(c.stream, c.bound, region,
                 make_field<float>(region.shape, round % 2 ? Texture::smooth : Texture::noise));
  }
  const auto whole = decoded_of(c.stream);
  Bytes cut = c.stream;
  cut.resize(cut.size() - 10);  // as an interrupted update would leave it
  EXPECT_EQ(decoded_of(cut), one_before);
  c.stream[c.stream.size() - 30] ^= 1;  // the tail is damaged
  EXPECT_THROW(decompress(c.stream), Error);
  DecompressOptions salvage;
  salvage.salvage = true;
  const Array array = decompress(c.stream, salvage);
  EXPECT_TRUE(std::ranges::equal(array.as<float>(), whole));
}

TEST(Update, RefusesWhatCannotBe) {
  Case c;
  const std::vector<float> one(1);
  const std::vector<double> wrong_type(1);
  MemoryStore store(c.stream);
  EXPECT_THROW(update(store, {30, 0, 0}, view_of(one.data(), {1, 1, 1})), Error);
  EXPECT_THROW(update(store, {0, 0, 0}, view_of(one.data(), {1})), Error);
  EXPECT_THROW(update(store, {0, 0, 0}, view_of(wrong_type.data(), {1, 1, 1})), Error);
  Bytes measured = compress(c.values.data(), c.shape, Bound::psnr(60));
  MemoryStore other(measured);
  EXPECT_THROW(update(other, {0, 0, 0}, view_of(one.data(), {1, 1, 1})), Error);
  const Bytes before = c.stream;
  EXPECT_EQ(update(store, {0, 0, 0}, view_of(one.data(), {0, 1, 1})).chunks, 0u);
  EXPECT_EQ(c.stream, before);
}

}  // namespace
}  // namespace leeway::test

// SPDX-License-Identifier: BSD-3-Clause
// Growing streams: rows behind rows, and what readers find while that is under way.
#include <algorithm>

#include "leeway/stream/compact.h"
#include "tests/golden/growing.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

struct RunOf {
  Shape shape;  // of all rows
  std::vector<float> values;
  Bytes stream;

  // A field with a NaN and infinities, of which `rows` begin the stream.
  RunOf(const Shape& all, const std::vector<u64>& chunk, u64 rows, const std::string& recipe,
        const Bound& bound)
      : shape(all), values(make_field<float>(all, Texture::smooth)) {
    values[5] = std::numeric_limits<float>::quiet_NaN();
    values[values.size() - 3] = std::numeric_limits<float>::infinity();
    CompressOptions options = options_for<float>(bound, recipe);
    if (!chunk.empty()) options.chunk = Shape(std::span<const u64>(chunk));
    options.growing = true;
    stream = compress(rows_of(0, rows), options);
    at = rows;
  }
  View rows_of(u64 first, u64 count) const {
    Box box{{}, shape};
    Header header;
    header.shape = shape;
    set_extent(header, count);
    box.shape = header.shape;
    box.first[0] = first;
    return view_of(values.data(), shape).part(box);
  }
  UpdateReport append(u64 count) {
    MemoryStore store(stream);
    const UpdateReport report = leeway::append(store, rows_of(at, count));
    at += count;
    return report;
  }
  // What is decoded are the first `at` rows, within the bound.
  void check(double bound) const {
    const Array decoded = decompress(stream);
    ASSERT_EQ(decoded.shape()[0], at);
    const auto found = decoded.as<float>();
    for (size_t i = 0; i < found.size(); ++i)
      if (std::isfinite(values[i]))
        ASSERT_LE(std::abs(double(found[i]) - double(values[i])), bound) << i;
      else
        ASSERT_EQ(bits_of(found[i]), bits_of(values[i])) << i;
    EXPECT_LE(inspect(stream).statement.max_error, bound);
  }
  u64 at = 0;
};

TEST(Append, EveryRowIsWithinTheBound) {
  for (const char* recipe : {"fast", "balanced", "small"})
    for (const std::vector<u64>& chunk : {std::vector<u64>{1, 16, 16}, {4, 8, 24}, {7, 24, 24}})
      for (const std::vector<u64>& steps :
           {std::vector<u64>{1, 1, 1, 1, 1}, {4, 8, 4}, {3, 5, 1, 9}, {1, 20}}) {
        RunOf run({40, 20, 24}, chunk, 2, recipe, Bound::abs(1e-3));
        for (const u64 rows : steps) {
          run.append(rows);
          run.check(1e-3);
        }
      }
}

TEST(Append, WholeChunksAreThoseOfTheWholeArray) {
  RunOf run({12, 20, 24}, {4, 8, 24}, 4, "balanced", Bound::abs(1e-3));
  run.append(4);
  run.append(4);
  CompressOptions options = options_for<float>(Bound::abs(1e-3), "balanced");
  options.chunk = {4, 8, 24};
  const Bytes whole = compress(run.values.data(), run.shape, options);
  const Array one = decompress(run.stream), other = decompress(whole);
  EXPECT_EQ(std::memcmp(one.data(), other.data(), size_t(one.bytes())), 0);
  EXPECT_EQ(inspect(run.stream).statement.decoded_hash, inspect(whole).statement.decoded_hash);
}

TEST(Append, RowsOfAChunkThatIsBegunKeepTheirBits) {
  // More appends to one chunk than it may have layers.
  RunOf run({90, 9}, {80, 9}, 1, "small", Bound::abs(1e-2));
  Array before = decompress(run.stream);
  while (run.at < 90) {
    run.append(1);
    const Array now = decompress(run.stream);
    ASSERT_EQ(std::memcmp(now.data(), before.data(), size_t(before.bytes())), 0) << run.at;
    before = decompress(run.stream);
  }
  run.check(1e-2);
  const MemorySource source(run.stream);
  StreamReader(source).check_statement();
}

TEST(Append, BoundsThatLast) {
  RunOf lossless({9, 30}, {2, 30}, 2, "balanced", Bound::lossless());
  lossless.append(7);
  lossless.check(0);
  RunOf pointwise({9, 30}, {}, 2, "balanced", Bound::pointwise(1e-2));
  for (float& value : pointwise.values) value *= float(1 + &value - pointwise.values.data());
  pointwise.append(7);
  const auto decoded = decompress(pointwise.stream);
  for (size_t i = 60; i + 5 < 270; ++i)
    EXPECT_LE(std::abs(decoded.as<float>()[i] - pointwise.values[i]),
              1.00001e-2f * std::abs(pointwise.values[i]));
  // The range of the first rows counts.
  RunOf relative({9, 30}, {2, 30}, 2, "balanced", Bound::rel(1e-3));
  const double bound = inspect(relative.stream).header.abs_bound;
  for (size_t i = 60; i < 270; ++i) relative.values[i] *= 100;
  relative.append(7);
  EXPECT_EQ(inspect(relative.stream).header.abs_bound, bound);
  relative.check(bound);
}

TEST(Append, WhatCannotGrowIsRefused) {
  const auto refused = [](const std::function<void()>& f) {
    try {
      f();
    } catch (const Error& error) {
      return error.code() == Errc::invalid_argument;
    }
    return false;
  };
  for (const Bound& bound : {Bound::psnr(60), Bound::l2(1), Bound::ratio(5), Bound::rate(3)})
    EXPECT_TRUE(refused([&] { RunOf({4, 9}, {}, 2, "balanced", bound); }));
  EXPECT_TRUE(refused([&] { RunOf({4, 9}, {}, 0, "balanced", Bound::abs(1)); }));
  std::vector<float> equal(50, 1);
  CompressOptions options = options_for<float>(Bound::rel(1e-3), "balanced");
  options.growing = true;
  EXPECT_TRUE(refused([&] { compress(equal.data(), {5, 10}, options); }));
  options.bound = Bound::abs(1);
  EXPECT_TRUE(refused([&] { compress(equal.data(), {}, options); }));
  RunOf run({9, 30}, {}, 2, "balanced", Bound::abs(1));
  const Bytes before = run.stream;
  MemoryStore store(run.stream);
  std::vector<double> wide(30);
  EXPECT_TRUE(refused([&] { append(store, view_of(wide.data(), {1, 30})); }));
  EXPECT_TRUE(refused([&] { append(store, view_of(equal.data(), {1, 29})); }));
  EXPECT_TRUE(refused([&] { append(store, view_of(equal.data(), {30})); }));
  EXPECT_EQ(run.stream, before);
  options.growing = false;
  Bytes fixed = compress(equal.data(), {5, 10}, options);
  MemoryStore other(fixed);
  EXPECT_TRUE(refused([&] { append(other, view_of(equal.data(), {1, 10})); }));
}

TEST(Append, RowsThatAreNotWholeAreNotThere) {
  // Cut anywhere in the last append, with nothing, zeros or garbage behind the cut.
  for (const u64 rows : {3u, 4u}) {
    RunOf run({20, 7, 9}, {3, 4, 9}, 5, "fast", Bound::abs(1e-2));
    run.append(4);
    const Bytes before = run.stream;
    const Array expected = decompress(before);
    run.append(rows);
    std::mt19937 random(7);
    for (size_t cut = before.size(); cut < run.stream.size(); ++cut)
      for (const int behind : {0, 1, 2}) {
        // A tail up to its checksum, with other bytes than zeros after it, is damaged.
        if (behind > 0 && cut + sizeof(u64) + kEndMagicBytes >= run.stream.size()) continue;
        Bytes stream(run.stream.begin(), run.stream.begin() + std::ptrdiff_t(cut));
        if (behind > 0) stream.resize(run.stream.size());
        for (size_t i = cut; behind == 2 && i < stream.size(); ++i) stream[i] = u8(random());
        const Array found = decompress(stream);
        ASSERT_EQ(found.shape(), expected.shape()) << cut << " " << behind;
        ASSERT_EQ(std::memcmp(found.data(), expected.data(), size_t(found.bytes())), 0);
        // The next append goes on from there.
        if (cut % 97 == 0) {
          MemoryStore store(stream);
          append(store, run.rows_of(9, 2));
          EXPECT_EQ(decompress(stream).shape()[0], 11u);
        }
      }
    // A hole anywhere: others have written behind it.
    for (size_t at = before.size(); at + 200 < run.stream.size(); at += 61) {
      Bytes stream(run.stream.begin(), run.stream.end() - 8);
      std::fill_n(stream.begin() + std::ptrdiff_t(at), 100, u8(0));
      EXPECT_EQ(decompress(stream).shape(), expected.shape()) << at;
    }
  }
}

TEST(Append, DamageIsNoUnfinishedAppend) {
  RunOf run({20, 7, 9}, {3, 4, 9}, 5, "fast", Bound::abs(1e-2));
  run.append(4);
  const Array expected = decompress(run.stream);
  for (size_t at = 0; at < run.stream.size(); ++at) {
    Bytes stream = run.stream;
    stream[at] ^= 16;
    try {
      const Array found = decompress(stream);
      ASSERT_EQ(found.bytes(), expected.bytes()) << at;
      ASSERT_EQ(std::memcmp(found.data(), expected.data(), size_t(found.bytes())), 0) << at;
    } catch (const Error&) {
      continue;
    }
    // Only what no reader needs may be damaged: old tails, and the last bytes, as if they had not
    // been written yet.
  }
}

TEST(Append, TheTailOfAnotherStreamIsNoTail) {
  RunOf one({9, 30}, {2, 30}, 4, "fast", Bound::abs(1e-2)),
      other({9, 30}, {2, 30}, 4, "fast", Bound::abs(1e-3));
  const MemorySource source(other.stream);
  const u64 tail = tail_bytes(ByteView(other.stream).last(kTailEndBytes));
  Bytes mixed = one.stream;
  mixed.insert(mixed.end(), other.stream.end() - std::ptrdiff_t(tail), other.stream.end());
  EXPECT_THROW(decompress(mixed), Error);
}

TEST(Append, SalvageFindsAllRows) {
  RunOf run({24, 7, 9}, {3, 4, 9}, 3, "fast", Bound::abs(1e-2));
  for (int i = 0; i < 7; ++i) run.append(3);
  const Array expected = decompress(run.stream);
  Bytes damaged = run.stream;
  damaged[damaged.size() - 30] ^= 1;
  const MemorySource source(damaged);
  EXPECT_THROW(StreamReader reader(source), Error);
  const StreamReader stream(source, StreamReader::OnDamage::salvage);
  EXPECT_EQ(stream.header().shape, (Shape{24, 7, 9}));
  std::vector<float> values(24 * 63);
  DecompressOptions options;
  options.salvage = true;
  const auto report =
      decompress_into(stream, {}, mutable_view_of(values.data(), {24, 7, 9}), options);
  EXPECT_EQ(report.damaged_chunks, 0u);
  EXPECT_EQ(std::memcmp(values.data(), expected.data(), size_t(expected.bytes())), 0);
}

TEST(Append, UpdatesAndCompactionInBetween) {
  Bytes stream = make_growing("balanced", Bound::abs(0.4));
  const Array before = decompress(stream);
  EXPECT_EQ(before.shape(), (Shape{20, 7, 9}));
  const MemorySource source(stream);
  const StreamReader reader(source);
  reader.check_statement();
  EXPECT_GT(reader.dead_bytes(), 0u);
  Bytes small;
  compact(reader, [&](ByteView part) { small.insert(small.end(), part.begin(), part.end()); });
  EXPECT_LT(small.size(), stream.size());
  const Array after = decompress(small);
  EXPECT_EQ(std::memcmp(before.data(), after.data(), size_t(before.bytes())), 0);
  MemoryStore store(small);
  append(store, view_of(before.as<float>().data(), {2, 7, 9}));
  EXPECT_EQ(decompress(small).shape(), (Shape{22, 7, 9}));
}

}  // namespace
}  // namespace leeway::test

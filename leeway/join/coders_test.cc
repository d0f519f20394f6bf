// SPDX-License-Identifier: BSD-3-Clause
// The coders, each service alone and all of them mixed: what is encoded is decoded, bit for bit.
#include "leeway/encode/huffman.h"
#include "leeway/encode/rans.h"
#include "tests/coder_support.h"

namespace leeway::test {
namespace {

TEST(Coders, DecodeWhatIsEncodedInAnyOrder) {
  for (unsigned seed = 1; seed <= 6; ++seed)
    for (const Texture texture : kTextures) {
      check_any_order<float, Linear>({}, texture, seed);
      check_any_order<double, Linear>({}, texture, seed);
      check_any_order<float, Logscale>({}, texture, seed);
      check_any_order<float, Linear>({.flags = some_flags<float>(true, 0)}, texture, seed);
      check_any_order<float, Linear>(
          {.flags = some_flags<float>(true, 2), .class_bounds = {0.001, 0}}, texture, seed);
      check_any_order<float, Linear>({.quantizer = {{.bins = 16}}}, texture, seed);
    }
}

TEST(Coders, NoValueBecomesAFill) {
  RoundTrip<float, Linear> trip{.fills = {bits_of(0.f), bits_of(1.f)}};
  for (unsigned seed = 1; seed <= 6; ++seed) check_any_order(trip, Texture::smooth, seed);
  const std::vector<float> values = {0.001f, 0.999f, 5};
  trip.encode(values, [](auto field, auto& coder) {
    for (float& value : field) coder.point(value, 0.f);
  });
  EXPECT_EQ(trip.encoded[0], 0.001f);  // kept: it would become 0
  EXPECT_EQ(trip.exact.count(), 1u);
}

// Values that are kept, and special ones, which become what is predicted.
TEST(Coders, ExactValuesComeBack) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values = {1, nan, 3.14159f, nan, 2};
  RoundTrip<float, Linear> trip{.flags = {0, 1, 0, 0, 0}};
  const auto walk = [](auto field, auto& coder) {
    for (float& value : field) coder.exact(value, 7.f);
  };
  trip.encode(values, walk);
  trip.decode(walk);
  trip.expect_same();
  EXPECT_EQ(trip.decoded[0], 1.f);
  EXPECT_EQ(trip.decoded[1], 7.f);
  EXPECT_EQ(trip.decoded[2], 3.14159f);
  EXPECT_TRUE(std::isnan(trip.decoded[3]));
  EXPECT_EQ(trip.max_error, 0);
}

TEST(Coders, ATighterBoundHoldsForWhatFollows) {
  const auto values = make_field<float>({1000}, Texture::noise);
  RoundTrip<float, Linear> trip{.bound = 0.1, .class_bounds = {}};
  double steps[2] = {};
  const auto walk = [&](auto field, auto& coder) {
    for (size_t i = 0; i < field.size(); ++i) {
      if (i == 500) coder.tighten(0.125);
      if (i % 500 == 0) steps[i / 500] = coder.step();
      coder.point(field[i], 0.f);
    }
  };
  trip.encode(values, walk);
  trip.decode(walk);
  trip.expect_same();
  EXPECT_EQ(steps[1], steps[0] / 8);
  for (size_t i = 0; i < 1000; ++i)
    ASSERT_LE(std::abs(double(values[i]) - double(trip.decoded[i])), i < 500 ? 0.1 : 0.0125);
}

TEST(Coders, GridShowsWhatPointsWouldBecome) {
  RoundTrip<float, Linear> trip{.bound = 0.1, .fills = {bits_of(0.f)}};
  const std::vector<float> values = {1.03f, 0.01f, std::numeric_limits<float>::infinity()};
  trip.encode(values, [&](auto field, auto& coder) {
    std::vector<float> many(field.begin(), field.end());
    const std::vector<float> predicted(3, 0.f);
    coder.grid().round({many.data(), predicted.data(), 3});
    const auto one = coder.grid().rounded(field[0], 0.f);
    EXPECT_FALSE(coder.grid().rounded(field[1], 0.f));  // a fill value
    EXPECT_FALSE(coder.grid().rounded(field[2], 0.f));
    EXPECT_EQ(many[1], field[1]);
    EXPECT_EQ(many[2], field[2]);
    coder.point(field[0], 0.f);
    EXPECT_EQ(one, field[0]);
    EXPECT_EQ(many[0], field[0]);
    coder.point(field[1], 0.f);
    coder.point(field[2], 0.f);
  });
  EXPECT_EQ(trip.exact.count(), 2u);
}

// From the value before, in parts that can be decoded alone, value by value or in runs.
struct InParts {
  std::vector<size_t> sizes{};
  bool in_runs = false;
  size_t unwanted = size_t(-1);

  template <class T>
  void operator()(std::span<T> values, Coder<T>& coder) const {
    std::vector<std::unique_ptr<Coder<T>>> parts;
    size_t first = 0;
    coder.segments().begin_level(0);
    for (const size_t size : sizes) {
      parts.push_back(coder.segments().open(size));
      const Box box{{first}, Shape{size}};
      if (parts.back() && !coder.segments().wants(box)) parts.back().reset();
      first += size;
    }
    first = 0;
    for (size_t k = 0; k < sizes.size(); first += sizes[k++])
      if (parts[k]) walk(values.subspan(first, sizes[k]), *parts[k], k % 2 == 1 && in_runs);
    for (const auto& part : parts)
      if (part) coder.segments().close(*part);
  }
  template <class T>
  static void walk(std::span<T> values, Coder<T>& coder, bool in_runs) {
    Predicted<T> before = 0;
    for (T& value : values) {
      const u8 context = u8(bits_of(before) >> 22);
      if (in_runs)
        coder.run({&value, &before, 1, &context});
      else
        coder.point(value, before);
      before = value == value ? Predicted<T>(value) : Predicted<T>(0);
    }
  }
};

TEST(Coders, SegmentsTakePointsAndRuns) {
  const auto values = make_field<float>({5000}, Texture::hostile);
  for (const bool in_runs : {false, true}) {
    RoundTrip<float, Linear> trip;
    trip.codes.has_segments = true;
    const InParts parts{{1, 2999, 1500, 500}, in_runs};
    trip.encode(values, parts);
    EXPECT_EQ(trip.codes.segments.size(), 4u);
    EXPECT_EQ(trip.codes.levels, std::vector<size_t>{0});
    EXPECT_TRUE(trip.decode(parts));
    trip.expect_same();
    EXPECT_GT(trip.max_error, 0);

    // A segment alone, without the others.
    const auto all = trip.decoded;
    EXPECT_FALSE(trip.decode(parts, {.box = Box{{3200}, Shape{1}}}));
    for (size_t i = 0; i < 5000; ++i) {
      const bool is_decoded = i >= 3000 && i < 4500;
      ASSERT_EQ(bits_of(trip.decoded[i]), bits_of(is_decoded ? all[i] : -77.f)) << i;
    }
  }
}

template <class Walk>
void expect_refusal(Walk&& walk, const std::string& reason) {
  RoundTrip<float, Linear> trip;
  trip.codes.has_segments = true;
  try {
    trip.encode(make_field<float>({5000}, Texture::smooth), walk);
    ADD_FAILURE() << "not refused: " << reason;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
  }
}

// What no decoder could follow is refused by the encoder, whatever the values are.
TEST(Coders, RefuseWhatCannotBeDecoded) {
  const auto points = [](std::span<float> values, auto& coder) {
    for (float& value : values) coder.point(value, 0.f);
  };
  const auto with_contexts = [](std::span<float> values, auto& coder) {
    const float predicted = 0;
    const u8 context = 3;
    for (float& value : values) coder.run({&value, &predicted, 1, &context});
  };
  expect_refusal(
      [&](std::span<float> values, auto& coder) {
        points(values.first(10), coder);
        with_contexts(values.subspan(10), coder);
      },
      "contexts");
  expect_refusal(
      [&](std::span<float> values, auto& coder) {
        with_contexts(values.first(10), coder);
        points(values.subspan(10), coder);
      },
      "contexts");
  expect_refusal(
      [&](std::span<float> values, auto& coder) {
        const auto part = coder.segments().open(100);
        points(values.first(100), *part);
        coder.segments().close(*part);
        points(values.subspan(100), coder);
      },
      "in segments and others not");
  expect_refusal(
      [&](std::span<float> values, auto& coder) {
        with_contexts(values.first(100), coder);
        coder.segments().open(100);
      },
      "in segments and others not");
  expect_refusal(
      [&](std::span<float> values, auto& coder) {
        const auto part = coder.segments().open(100);
        points(values.first(99), *part);
        coder.segments().close(*part);
      },
      "another number of values");
}

// More values than there are codes end with an error, not with a loop.
TEST(Coders, DecodingEndsWithTheCodes) {
  RoundTrip<float, Linear> trip;
  trip.encode(make_field<float>({100}, Texture::smooth), [](auto field, auto& coder) {
    for (float& value : field) coder.point(value, 0.f);
  });
  const auto one_more = [](auto field, auto& coder) {
    for (float& value : field) coder.point(value, 0.f);
    float another = 0;
    coder.point(another, 0.f);
  };
  EXPECT_THROW(trip.decode(one_more), Error);
  trip.codes.has_segments = true;
  trip.codes.segments.emplace_back().codes = trip.codes.codes;
  const auto in_segment = [&](auto field, auto& coder) {
    const auto part = coder.segments().open(100);
    for (float& value : field) part->point(value, 0.f);
    float another = 0;
    part->point(another, 0.f);
  };
  EXPECT_THROW(trip.decode(in_segment), Error);
}

// A wave that cannot be coded as one changes nothing. With a border, and without; with a value that
// has no code, and with a code where an exact value should be.
TEST(Coders, AWaveChangesAllOrNothing) {
  constexpr size_t kRows = 4, kLength = 100, kStride = kLength + 1;
  WaveMaker<float> waves(kLength);
  const size_t rows = waves.rows(kRows);
  if (rows < kRows) GTEST_SKIP() << "no waves on this machine";
  const auto wave_of = [&](std::span<float> field) {
    return waves.make(field.data() + kStride + 1, kRows, std::ptrdiff_t(kStride), true, true);
  };
  const auto first_row = [](std::span<float> field, auto& coder) {
    for (float& value : field.first(kStride)) coder.exact(value, 0.f);
  };
  auto values = make_field<float>({(kRows + 1) * kStride}, Texture::smooth);
  for (const bool has_codes : {true, false}) {
    values[3 * kStride + 50] = has_codes ? 0.25f : 1e38f;
    RoundTrip<float, Linear> trip;
    trip.encode(values, [&](std::span<float> field, auto& coder) {
      first_row(field, coder);
      EXPECT_EQ(coder.wave(wave_of(field)), has_codes);
      if (!has_codes) EXPECT_EQ(std::vector<float>(field.begin(), field.end()), values);
    });
    if (!has_codes) continue;
    EXPECT_EQ(trip.exact.count(), kStride + kRows);
    for (const size_t without : {kRows, size_t(0), kRows - 1}) {  // the row whose border has a code
      if (without < kRows) trip.codes.codes[(without + 1) * kStride] = 5;
      trip.decode([&](std::span<float> field, auto& coder) {
        first_row(field, coder);
        const std::vector<float> before(field.begin(), field.end());
        const bool done = coder.wave(wave_of(field));
        EXPECT_EQ(done, without == kRows);
        if (!done) EXPECT_EQ(std::vector<float>(field.begin(), field.end()), before);
      });
      if (without == kRows) trip.expect_same();
      if (without < kRows) trip.codes.codes[(without + 1) * kStride] = kExactCode<i32>;
    }
  }
}

// Blocks and waves give the codes of points, where they can be used.
TEST(Coders, BlocksAndWavesAreThePointsTheyStandFor) {
  constexpr size_t kRows = 8, kLength = 200;
  const auto values = make_field<float>({kRows, kLength}, Texture::smooth);
  const auto by_points = [](std::span<float> field, auto& coder) {
    for (size_t r = 0; r < kRows; ++r)
      for (size_t j = 0; j < kLength; ++j) {
        const auto at = [&](size_t row, size_t column) {
          return row > 0 && column > 0 ? field[(row - 1) * kLength + column - 1] : 0.f;
        };
        const float left = at(r + 1, j), above = 0.f + at(r, j + 1), corner = 0.f + at(r, j);
        coder.point(field[r * kLength + j], left + (above - corner));
      }
  };
  RoundTrip<float, Linear> points, waved;
  points.encode(values, by_points);
  waved.encode(values, [&](std::span<float> field, auto& coder) {
    WaveMaker<float> waves(kLength);
    if (waves.rows(kRows) < kRows ||
        !coder.wave(waves.make(field.data(), kRows, std::ptrdiff_t(kLength), false, false)))
      by_points(field, coder);
  });
  EXPECT_EQ(points.codes.codes, waved.codes.codes);
  EXPECT_EQ(points.encoded, waved.encoded);
  EXPECT_EQ(points.max_error, waved.max_error);
  waved.decode(by_points);
  waved.expect_same();
}

}  // namespace
}  // namespace leeway::test

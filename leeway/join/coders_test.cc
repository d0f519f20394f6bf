// SPDX-License-Identifier: BSD-3-Clause
// The coders, each service alone and all of them mixed: what is encoded is decoded, bit for bit.
#include <deque>

#include "leeway/encode/huffman.h"
#include "leeway/encode/rans.h"
#include "leeway/join/predict_first.h"
#include "leeway/quantize/linear.h"
#include "leeway/quantize/logscale.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

// Codes in memory, with their contexts, in segments if asked for.
template <class I>
struct Codes {
  std::vector<I> codes;
  std::vector<u8> contexts;
  std::deque<Codes> segments;
  std::vector<size_t> levels;
  bool has_segments = false;
};

template <class I>
class MemorySink final : public CodeSink<I> {
 public:
  explicit MemorySink(Codes<I>& codes) : to_(codes) {}
  I* room(size_t count) override {
    EXPECT_LE(count, kMostCodes);
    room_.assign(count, I(77));
    return room_.data();
  }
  void put(size_t count, const u8* contexts) override {
    ASSERT_EQ(count, room_.size());
    to_.codes.insert(to_.codes.end(), room_.begin(), room_.end());
    if (contexts) to_.contexts.insert(to_.contexts.end(), contexts, contexts + count);
  }
  void finish() override {}
  CodeSink<I>* segment(size_t) override {
    if (!to_.has_segments) return nullptr;
    return &segments_.emplace_back(to_.segments.emplace_back());
  }
  void mark(size_t level) override { to_.levels.push_back(level); }

 private:
  Codes<I>& to_;
  std::vector<I> room_;
  std::deque<MemorySink> segments_;
};

template <class I>
class MemorySource final : public CodeSource<I> {
 public:
  explicit MemorySource(const Codes<I>& codes) : from_(codes) {}
  void next(std::span<I> codes, const u8* contexts) override {
    ASSERT_LE(given_ + codes.size(), from_.codes.size());
    std::copy_n(from_.codes.data() + given_, codes.size(), codes.data());
    EXPECT_EQ(contexts != nullptr, !from_.contexts.empty());
    for (size_t i = 0; contexts && i < codes.size(); ++i)
      ASSERT_EQ(contexts[i], from_.contexts[given_ + i]);
    given_ += codes.size();
  }
  CodeSource<I>* segment(size_t) override {
    if (!from_.has_segments) return nullptr;
    return &segments_.emplace_back(from_.segments[segments_.size()]);
  }

 private:
  const Codes<I>& from_;
  size_t given_ = 0;
  std::deque<MemorySource> segments_;
};

// Calls walk(field, coder) to encode and to decode, and compares.
template <class T, class Q>
struct RoundTrip {
  Q quantizer{};
  double bound = 0.01;
  std::vector<u8> flags{};
  std::vector<double> class_bounds{};
  std::vector<u64> fills{};
  Codes<Code<T>> codes{};
  Patches<T> exact{};
  std::vector<T> encoded{}, decoded{};
  double max_error = 0;

  CodedChunk<T> chunk(const std::vector<T>& values) const {
    return {bound, values.data(), flags, class_bounds, Fills<T>(fills)};
  }
  void encode(const std::vector<T>& values, auto&& walk) {
    encoded = values;
    MemorySink<Code<T>> sink(codes);
    Encoding<T, Q> coder(quantizer, chunk(encoded), sink, exact);
    walk(std::span(encoded), coder);
    coder.finish();
    max_error = coder.max_error();
  }
  // Returns whether everything was wanted.
  bool decode(auto&& walk, const Wanted& wanted = {}) {
    decoded.assign(encoded.size(), T(-77));
    CodedChunk<T> facts = chunk(decoded);
    facts.fills = {};
    // A decoder knows the classes of bounds, but not which values are special.
    std::vector<u8> known = flags;
    for (u8& flag : known) flag &= u8(~kSpecialFlag);
    facts.flags = class_bounds.empty() ? std::span<const u8>() : std::span<const u8>(known);
    MemorySource<Code<T>> source(codes);
    Decoding<T, Q> coder(quantizer, facts, source, encoded.size(), exact, wanted);
    walk(std::span(decoded), coder);
    return coder.is_complete();
  }
  void expect_same() const {
    for (size_t i = 0; i < encoded.size(); ++i)
      ASSERT_EQ(bits_of(encoded[i]), bits_of(decoded[i])) << "value " << i;
  }
};

// Points, exact values, runs and blocks in an order that depends on a seed.
struct AnyOrder {
  unsigned seed = 1;
  std::vector<u8> magnitudes{};

  template <class T>
  void operator()(std::span<T> values, auto& coder) {
    using P = Predicted<T>;
    std::mt19937 random(seed);
    magnitudes.assign(values.size(), 99);
    const auto before = [&](size_t i) {
      return i > 0 && values[i - 1] == values[i - 1] ? P(values[i - 1]) : P(0);
    };
    for (size_t first = 0; first < values.size();) {
      const size_t count = std::min<size_t>(values.size() - first, 1 + random() % 300);
      const std::span<T> part = values.subspan(first, count);
      const P p = before(first);
      const std::vector<P> predicted(count, p);
      switch (random() % 4) {
        case 0:
          for (size_t i = 0; i < count; ++i) coder.point(part[i], before(first + i));
          break;
        case 1:
          for (T& value : part.first(std::min<size_t>(count, 3))) coder.exact(value, p);
          for (T& value : part.subspan(std::min<size_t>(count, 3))) coder.point(value, p);
          break;
        case 2:
          coder.run({.values = part.data(),
                     .predicted = predicted.data(),
                     .count = count,
                     .flags = coder.flags() ? coder.flags() + first : nullptr,
                     .magnitudes = magnitudes.data() + first});
          break;
        case 3: {
          auto block = coder.block(count);
          for (size_t i = count; i-- > 0;) block.put(i, part[i], p);  // in any order
          block.finish();
          break;
        }
      }
      first += count;
    }
  }
};

template <class T, class Q>
void check_any_order(RoundTrip<T, Q> trip, Texture texture, unsigned seed) {
  const Shape shape{3000};
  const auto values = make_field<T>(shape, texture);
  AnyOrder there{.seed = seed}, back = there;
  trip.encode(values, there);
  EXPECT_TRUE(trip.decode(back));
  trip.expect_same();
  EXPECT_EQ(there.magnitudes, back.magnitudes);
  EXPECT_EQ(trip.codes.codes.size(), values.size());
  double worst = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const u8 flags = trip.flags.empty() ? u8(0) : trip.flags[i];
    if (flags & kSpecialFlag) continue;
    const double bound = flags ? trip.class_bounds[flags / 2 - 1u] : trip.bound;
    if (bits_of(values[i]) == bits_of(trip.decoded[i])) continue;
    const double error = std::abs(double(values[i]) - double(trip.decoded[i]));
    ASSERT_LE(error, bound) << i;
    worst = std::max(worst, error);
    ASSERT_EQ(std::ranges::count(trip.fills, u64(bits_of(trip.decoded[i]))), 0) << i;
  }
  EXPECT_LE(worst, trip.max_error);
  EXPECT_LE(trip.max_error, trip.bound);
}

template <class T>
std::vector<u8> some_flags(bool special, size_t classes) {
  std::mt19937 random(5);
  std::vector<u8> flags(3000);
  for (u8& flag : flags)
    flag = u8((special && random() % 7 == 0) | (random() % (classes + 1)) << 1);
  return flags;
}

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

template <class T>
Trial try_out(const std::vector<T>& values, double bound, std::vector<u8> flags, auto&& walk,
              std::vector<T>& left) {
  left = values;
  const Linear linear;
  const auto coder =
      std::make_unique<Trying<T, Linear>>(linear, CodedChunk<T>{bound, left.data(), flags});
  walk(std::span(left), *coder);
  return coder->result();
}

// A trial leaves the values that encoding leaves, whatever services the predictor uses.
TEST(Coders, TrialsDoAsEncodingDoes) {
  for (unsigned seed = 1; seed <= 6; ++seed)
    for (const Texture texture : kTextures) {
      const auto values = make_field<float>({3000}, texture);
      RoundTrip<float, Linear> trip{.flags = some_flags<float>(seed % 2, 0)};
      AnyOrder walk{.seed = seed};
      trip.encode(values, walk);
      const auto magnitudes = walk.magnitudes;
      std::vector<float> tried;
      const Trial trial = try_out(values, trip.bound, trip.flags, walk, tried);
      for (size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(bits_of(tried[i]), bits_of(trip.encoded[i])) << i;
      EXPECT_EQ(walk.magnitudes, magnitudes);
      size_t coded = 0;
      bool unchanged = true;
      for (size_t i = 0; i < values.size(); ++i) {
        coded += trip.codes.codes[i] != 0;
        unchanged = unchanged && ((trip.flags[i] & kSpecialFlag) ||
                                  bits_of(values[i]) == bits_of(trip.encoded[i]));
      }
      EXPECT_EQ(trial.coded, coded);
      EXPECT_EQ(trial.unchanged, unchanged);
    }
}

TEST(Coders, TrialsTellCheapFromDear) {
  const auto values = make_field<float>({3000}, Texture::smooth);
  std::vector<float> left;
  const auto cost = [&](auto&& predict) {
    return try_out(
               values, 1e-3, {},
               [&](std::span<float> field, auto& coder) {
                 for (size_t i = 0; i < field.size(); ++i) coder.point(field[i], predict(field, i));
               },
               left)
        .cost;
  };
  const u64 before = cost([](auto field, size_t i) { return i > 0 ? field[i - 1] : 0.f; });
  const u64 nothing = cost([](auto, size_t) { return 0.f; });
  EXPECT_LT(before, nothing);
  const u64 zeros = try_out(
                        std::vector<float>(3000, 0.f), 1e-3, {},
                        [](std::span<float> field, auto& coder) {
                          for (float& value : field) coder.point(value, 0.f);
                        },
                        left)
                        .cost;
  EXPECT_LT(zeros, u64(100) << 16);
}

// A predictor that chooses by trials, notes something, and calls for values one by one: all of this
// works together. From the value `back` places before.
struct Back {
  static constexpr std::string_view kName = "back", kAbout = "a value before, chosen by trials";
  static constexpr Kind kKind = Kind::predictor;
  static constexpr Traits kTraits{};
  struct Params {
    i32 back = 0;
    void fields(auto&& field) { field("back", back, 0, 9, "how far; 0: chosen"); }
  } params;

  Back settled(const Shape& shape,
               const std::function<Trial(const Back&, const Sample&)>& trial) const {
    Back best{{1}};
    Sample all{.shape = shape};
    all.step.fill(1);
    for (i32 k = 2; k <= 9; ++k)
      if (trial({{k}}, all).cost < trial(best, all).cost) best.params.back = k;
    return best;
  }
  void write(Writer& notes) const { notes.put(u8(params.back)); }
  Back read(const Shape&, Reader& notes) const { return {{notes.get<u8>()}}; }

  template <class T, class Notes>
  void walk(Field<T> field, auto& coder, Notes& notes) const {
    const auto back = size_t(params.back);
    if constexpr (std::is_same_v<Notes, Writer>)
      notes.put(u16(0xbeef));
    else if (notes.template get<u16>() != 0xbeef)
      fail_corrupt("not a note of 'back'");
    for (size_t i = 0; i < field.size(); ++i) {
      const Predicted<T> p = i >= back ? Predicted<T>(field.data[i - back]) : Predicted<T>(0);
      i % 100 == 0 ? coder.exact(field.data[i], p) : coder.point(field.data[i], p);
    }
  }
};

TEST(Coders, TrialsNotesAndPointsWorkTogether) {
  std::vector<float> values(5000);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float((i * 37 % 7) * 1000) + 0.001f * float(i);
  const Shape shape{5000};
  const auto check = [&](const auto& compressor) {
    const Bytes stream = compressor.compress(values.data(), shape, Bound::abs(0.01));
    const Array decoded = compressor.decompress(stream);
    expect_within<float>(values, decoded.as<float>(), 0.01, {}, compressor.recipe());
    return stream.size();
  };
  const size_t chosen = check(Compressor<float, Back, Linear, Huffman>());
  const PredictFirst<float, Back, Linear> join{Back(), Linear()};
  Codes<i32> codes;
  MemorySink<i32> sink(codes);
  std::vector<float> memory(values.size());
  KeptValues kept(memory.data());
  Encoded<float> out{.codes = sink};
  ASSERT_TRUE(join.encode({view_of(values.data(), shape), 0.01}, kept, out));
  EXPECT_EQ(u8(out.notes.bytes()[0]), 7);  // the period
  EXPECT_LT(chosen, values.size());
  check(Compressor<float, Back, Linear, Rans>());
}

}  // namespace
}  // namespace leeway::test

// SPDX-License-Identifier: BSD-3-Clause
// Coders without an encoder: codes are kept in memory, and every service is called in any order.
#pragma once

#include <deque>

#include "leeway/join/predict_first.h"
#include "leeway/quantize/linear.h"
#include "leeway/quantize/logscale.h"
#include "tests/support.h"

namespace leeway::test {

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
  void begin_level(size_t level) override { to_.levels.push_back(level); }

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

}  // namespace leeway::test

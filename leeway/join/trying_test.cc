// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/join/trying.h"

#include "leeway/encode/huffman.h"
#include "leeway/encode/rans.h"
#include "tests/coder_support.h"

namespace leeway::test {
namespace {

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
TEST(Trying, TrialsDoAsEncodingDoes) {
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

TEST(Trying, TrialsTellCheapFromDear) {
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

TEST(Trying, TrialsNotesAndPointsWorkTogether) {
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

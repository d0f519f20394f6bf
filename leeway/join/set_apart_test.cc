// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/join/set_apart.h"

#include "leeway/compressor.h"
#include "leeway/encode/huffman.h"
#include "leeway/join/no_predictor.h"
#include "leeway/join/predict_first.h"
#include "leeway/join/quantize_first.h"
#include "leeway/predict/lorenzo.h"
#include "tests/join_support.h"

namespace leeway::test {
namespace {

const Linear kPlanes{.params = {.bins = 16, .beyond = Beyond::planes}};

TEST(SetApart, TakesLargeCodesOutInBothOrders) {
  const Shape shape{50, 60};
  auto values = make_field<float>(shape, Texture::noise);
  values[77] = 1e30f;  // its code is no code, and stays
  const auto check = [&](auto make) {
    const SetApart<float, Linear> join(make(), kPlanes);
    EXPECT_FALSE(join.takes(CodeWidth::bits16, shape));
    const auto codes = check_join<float, i32>(join, values, shape, 0.05);
    size_t apart = 0;
    for (const i32 code : codes) {
      if (code == std::numeric_limits<i32>::min()) continue;
      ASSERT_LE(std::abs(code), 8);
      apart += code == 8;
    }
    EXPECT_GT(apart, values.size() / 2);
    const auto plain = check_join<float, i32>(*make(), values, shape, 0.05);
    EXPECT_EQ(std::ranges::count_if(
                  plain, [](i32 code) { return code != kExactCode<i32> && kPlanes.is_apart(code); }),
              std::ptrdiff_t(apart));
  };
  check([] { return quantize_first<float>(Linear(), Lorenzo()); });
  check([] { return std::make_unique<PredictFirst<float, Lorenzo, Linear>>(Lorenzo(), Linear()); });
}

TEST(SetApart, RefusesTooFewCodes) {
  Writer notes;
  kPlanes.write_apart(std::span<const i32>(std::vector<i32>{100}), notes);
  std::vector<i32> codes = {8, 0, 8};
  KeptCodesSource<i32> source(codes);
  const SetApart<float, Linear> join(quantize_first<float>(Linear(), NoPredictor()), kPlanes);
  Buffer<float> values(3);
  KeptValues decoded(values.data());
  Reader in(notes.bytes());
  EXPECT_THROW(join.decode({{3}, 0.5}, {source, Patches<float>(), in}, decoded), Error);
}

// A quantizer of one's own: what four bits do not hold is stored in a channel of its own, as
// numbers of as many bytes as they need.
struct Nibbles {
  static constexpr std::string_view kName = "nibbles";
  static constexpr std::string_view kAbout = "codes of four bits, and a list of the others";
  static constexpr Kind kKind = Kind::quantizer;
  static constexpr Traits kTraits{};
  NoParams params;

  template <class T>
  LinearGrid<T> at(double bound) const {
    return LinearGrid<T>(bound, {});
  }
  bool sets_apart() const { return true; }
  template <class I>
  bool is_apart(I code) const {
    return code < -7 || code > 7;
  }
  template <class I>
  I mark() const {
    return 8;
  }
  template <class I>
  void write_apart(std::span<const I> codes, Writer& notes) const {
    notes.put_varint(codes.size());
    for (const I code : codes) notes.put_varint(code < 0 ? ~u64(i64(code)) * 2 + 1 : u64(code) * 2);
  }
  template <class I>
  std::vector<I> read_apart(Reader& notes, size_t most) const {
    std::vector<I> codes(size_t(notes.get_varint(most, "more codes apart than values")));
    for (I& code : codes) {
      const u64 folded = notes.get_varint();
      code = I(folded & 1 ? ~(folded >> 1) : folded >> 1);
    }
    return codes;
  }
};
static_assert(SetsApart<Nibbles, i32> && SetsApart<Linear, i64>);

TEST(SetApart, TakesAQuantizerOfOnesOwn) {
  const Shape shape{40, 50, 9};
  for (const Texture texture : {Texture::smooth, Texture::noise, Texture::hostile}) {
    const auto values = make_field<float>(shape, texture);
    const auto check = [&](const auto& compressor) {
      const Bytes stream = compressor.compress(values.data(), shape, Bound::abs(0.01));
      const Array back = compressor.decompress(stream);
      for (size_t i = 0; i < values.size(); ++i)
        if (std::isfinite(values[i])) {
          ASSERT_LE(std::abs(double(values[i]) - double(back.template as<float>()[i])), 0.01);
        }
    };
    check(Compressor<float, Lorenzo, Nibbles, Huffman>());
    check(Compressor<float, Nibbles, Lorenzo, Huffman>());
  }
}

}  // namespace
}  // namespace leeway::test

// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/compressor.h"

#include "leeway/encode/fixed.h"
#include "leeway/encode/huffman.h"
#include "leeway/lossless/shuffle.h"
#include "leeway/predict/blocks.h"
#include "leeway/predict/composite.h"
#include "leeway/predict/lag.h"
#include "leeway/preprocess/dft.h"
#include "leeway/preprocess/transpose.h"
#include "leeway/quantize/one_by_one.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

// What a Compressor of these stages has to say; nothing if they fit.
template <class T, class... S>
std::string complaint(S... stages) {
  try {
    Compressor<T, S...>(stages...);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    return error.what();
  }
}

TEST(Compressor, ChecksParametersAsRecipesDo) {
  EXPECT_EQ(complaint<float>(Linear(), Lorenzo{.params = {.order = 5}}),
            "stage 'lorenzo': order must be 1 to 4, not '5'");
  EXPECT_EQ(complaint<float>(Linear(), Blocks{.params = {.size = 40}}),
            "blocks: size must be 8, 16, 32 or 64");
  EXPECT_EQ(complaint<float>(Linear{.params = {.step = StepRule(7)}}),
            "stage 'linear': step must be short or pow2, not '7'");
  EXPECT_EQ(complaint<float>(Linear(), Lorenzo{.params = {.order = 2}}), "");
}

// Out of range by one, or by what crashes, or by what nobody could decode.
TEST(Compressor, RefusesParametersOutOfRange) {
  for (const i32 axes : {-1, 9})
    EXPECT_NE(complaint<float>(Lorenzo{.params = {.axes = axes}}, Linear()), "");
  for (const i32 axes : {-1, 0, 7})
    EXPECT_NE(complaint<float>(Linear(), Blocks{.params = {.axes = axes}}), "");
  EXPECT_NE(complaint<float>(Linear(), Blocks{.params = {.size = 0}}), "");
  EXPECT_NE(complaint<float>(Linear{.params = {.bins = -5}}), "");
  for (const i32 block : {0, 1, 200})
    EXPECT_NE(complaint<float>(Dft{.params = {.block = block}}, Linear()), "");
  for (const i32 block : {7, 24, 128})
    EXPECT_NE(complaint<float>(Linear(), Fixed{.params = {.block = block}}), "");
  EXPECT_NE(complaint<float>(Linear(), Fixed{.params = {.head = 2}}), "");
  EXPECT_NE(complaint<float>(Composite{.params = {.degree = 3}}, Linear()), "");
  EXPECT_NE(complaint<float>(Composite{.params = {.block = 500}}, Linear()), "");
  for (const i32 frames : {0, 5})
    EXPECT_NE(complaint<float>(Lag{.params = {.frames = frames}}, Linear()), "");
  for (const i32 bytes : {0, 1})
    EXPECT_NE(complaint<float>(Linear(), Shuffle{.params = {.bytes = bytes}}), "");
  EXPECT_NE(complaint<float>(Linear(), Zstd{.params = {.level = 99}}), "");
}

TEST(Compressor, RefusesWhatParametersMakeImpossible) {
  EXPECT_NE(complaint<float>(Transpose(), Lorenzo(), Linear()).find("'transpose' does not fit"),
            std::string::npos);
  EXPECT_EQ(complaint<float>(Transpose{.params = {.order = 21}}, Lorenzo(), Linear()), "");
  EXPECT_EQ(complaint<float>(Transpose(), Linear(), Lorenzo()), "");
}

struct OwnZstd : Zstd {};
struct OwnFast : Zstd {
  static constexpr std::string_view kName = "fast";
};
struct OwnStore : Zstd {
  static constexpr std::string_view kName = "own-store";
};

TEST(Compressor, NamesOfTheLibraryAreItsOwn) {
  EXPECT_NE(complaint<float>(Linear(), OwnZstd()).find("'zstd' is the name of a stage"),
            std::string::npos);
  EXPECT_NE(complaint<float>(OwnFast()).find("'fast' is the name of a recipe"), std::string::npos);
  EXPECT_EQ(complaint<float>(OwnStore()), "");
}

// Quantizers of steps of twice the bound, more or less.
template <class T>
struct StepsGrid {
  T width = 0;
  T shift = 0;  // of what comes back
  bool quantize(T& value, Predicted<T> predicted, Code<T>& code) const {
    if (!(std::abs(value - predicted) < width * 1e6f)) return false;
    code = Code<T>(std::nearbyint((value - predicted) / width));
    value = T(predicted) + T(code) * width;
    return true;
  }
  T recover(Predicted<T> predicted, Code<T> code) const {
    return T(predicted) + T(code) * width + shift;
  }
  double quantize(std::span<T> values, std::span<Code<T>> codes, Patches<T>& exact, size_t first,
                  Code<T> before) const {
    quantize_one_by_one(*this, values, codes, exact, first, before);
    return 0;
  }
  void recover(std::span<const Code<T>> codes, std::span<T> values) const {
    recover_one_by_one(*this, codes, values);
  }
};
struct OwnSteps {
  static constexpr std::string_view kName = "steps", kAbout = "uniform";
  static constexpr Kind kKind = Kind::quantizer;
  static constexpr Traits kTraits{};
  NoParams params{};
  float factor = 1.9f, shift = 0;
  template <class T>
  requires std::floating_point<T> StepsGrid<T> at(double bound)
  const { return {T(bound * factor), T(shift)}; }
};

template <class... S>
Info check_kept(S... stages) {
  const Shape shape{20, 30};
  const auto values = make_field<float>(shape, Texture::smooth);
  const Compressor<float, S...> compressor(stages...);
  const Bytes stream = compressor.compress(values.data(), shape, Bound::abs(0.01));
  const Array decoded = compressor.decompress(stream);
  expect_within<float>(values, decoded.as<float>(), 0.01, {}, compressor.recipe());
  const Info info = inspect(stream);
  double largest = 0;
  for (size_t i = 0; i < values.size(); ++i)
    largest = std::max(largest, std::abs(double(values[i]) - double(decoded.as<float>()[i])));
  EXPECT_GE(info.statement.max_error, largest);
  return info;
}

TEST(Compressor, AnOwnQuantizerIsNotTrusted) {
  const OwnSteps good, wide{.factor = 4}, other{.shift = 0.001f};
  // A good one is used, and its largest error is found.
  EXPECT_LT(check_kept(good, Huffman()).stream_bytes, 1500u);
  EXPECT_GT(check_kept(good, Huffman()).statement.max_error, 0.008);
  EXPECT_LT(check_kept(Lorenzo(), good, Huffman()).stream_bytes, 1500u);
  // What breaks the bound, or does not come back as it was said to, is kept without loss.
  for (const OwnSteps& wrong : {wide, other}) {
    EXPECT_EQ(check_kept(wrong, Huffman()).statement.max_error, 0);
    EXPECT_EQ(check_kept(wrong, Lorenzo(), Huffman()).statement.max_error, 0);
    EXPECT_EQ(check_kept(Lorenzo(), wrong, Huffman()).statement.max_error, 0);
  }
  EXPECT_EQ(check_kept(Dft(), other, Huffman()).statement.max_error, 0);
}

}  // namespace
}  // namespace leeway::test

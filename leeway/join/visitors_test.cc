// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/join/visitors.h"

#include "leeway/encode/huffman.h"
#include "leeway/encode/rans.h"
#include "leeway/quantize/linear.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

// From the value before, in halves that can be decoded alone, value by value or in runs.
struct Halves {
  static constexpr std::string_view kName = "halves", kAbout = "the value before, in two segments";
  static constexpr Kind kKind = Kind::predictor;
  static constexpr Traits kTraits{};
  struct Params {
    i32 runs = 0;
    void fields(auto&& field) { field("runs", runs, 0, 1, "1: every second half in runs"); }
  } params;

  template <class T>
  void walk(Field<T> field, auto&& visit) const {
    const size_t half = field.size() / 2;
    for (size_t k = 0; k < 2; ++k) {
      const auto values = field.values().subspan(k * half, k ? field.size() - half : half);
      const bool in_runs = k == 1 && params.runs == 1;
      if (const auto part = visit.fork(values.size())) {
        visit_all(values, in_runs, *part);
        visit.join(*part);
      } else {
        visit_all(values, in_runs, visit);
      }
    }
  }

 private:
  template <class T>
  static void visit_all(std::span<T> values, bool in_runs, auto& visit) {
    Predicted<T> before = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (in_runs)
        visit.run(&values[i], &before, 1, nullptr, nullptr, nullptr);
      else
        visit.point(values[i], before);
      before = values[i];
    }
  }
};

TEST(Visitors, ForksTakePoints) {
  for (const Texture texture : {Texture::smooth, Texture::hostile})
    for (const i32 runs : {0, 1})
      for (const Shape& shape : {Shape{7}, Shape{100, 99}}) {
        const auto values = make_field<float>(shape, texture);
        const auto check = [&](const auto& compressor) {
          const Bytes stream = compressor.compress(values.data(), shape, Bound::abs(0.01));
          const Array decoded = compressor.decompress(stream);
          const Info info = inspect(stream);
          expect_within<float>(values, decoded.as<float>(), 0.01, info.header.fills,
                               compressor.recipe());
        };
        const Halves halves{.params = {.runs = runs}};
        check(Compressor<float, Halves, Linear, Rans>(halves, Linear(), Rans()));
        check(Compressor<float, Halves, Linear, Huffman>(halves, Linear(), Huffman()));
      }
}

class GivenCodes final : public CodeSource<i32> {
 public:
  explicit GivenCodes(std::vector<i32> codes) : codes_(std::move(codes)) {}
  void next(std::span<i32> to, const u8*) override {
    std::copy_n(codes_.data() + given_, to.size(), to.data());
    given_ += to.size();
  }

 private:
  std::vector<i32> codes_;
  size_t given_ = 0;
};

// Values of a wave that cannot be decoded together are as they were.
TEST(Visitors, AWaveChangesAllOrNothing) {
  constexpr size_t kRows = 4, kLength = 100, kStride = kLength + 1;
  for (const size_t without : {size_t(0), kRows - 1, kRows}) {  // the row whose border has a code
    std::vector<i32> codes(kRows * kStride, 1);
    for (size_t r = 0; r < kRows; ++r) codes[r * kStride] = r == without ? 5 : kExactCode<i32>;
    Patches<float> exact;
    for (size_t r = 0; r < kRows; ++r)
      if (r != without) exact.add(r * kStride, 2.5f);
    GivenCodes source(codes);
    const Linear linear;
    // A wave with a border has a row above it.
    std::vector<float> memory(kStride + codes.size(), -7.f);
    const auto values = std::span(memory).subspan(kStride);
    Recover<float, Linear> visit(linear, 0.1, values.data(), {}, {}, source, values.size(), exact,
                                 {});
    WaveMaker<float> waves(kLength);
    const size_t rows = waves.rows(kRows);
    if (rows < kRows) GTEST_SKIP() << "no waves on this machine";
    const bool done =
        visit.wave(waves.make(values.data() + 1, kRows, std::ptrdiff_t(kStride), false, true));
    EXPECT_EQ(done, without == kRows);
    if (done)
      EXPECT_EQ(values[0], 2.5f);
    else
      for (const float value : values) ASSERT_EQ(value, -7.f);
  }
}

}  // namespace
}  // namespace leeway::test

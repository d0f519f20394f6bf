// SPDX-License-Identifier: BSD-3-Clause
// The pipeline of CEAZ in hardware against the library: pages and whole streams.
#include "Vlwy_ceaz.h"
#include "Vlwy_ceaz_pow2.h"
#include "leeway/encode/adaptive.h"
#include "leeway/encode/parts/offline_books.h"
#include "leeway/lossless/zstd.h"
#include "leeway/predict/lorenzo.h"
#include "rtl/tests/ceaz_machine.h"
#include "rtl/tests/hardware_stream.h"

namespace leeway::rtl {
namespace {

constexpr u8 kCommonChange = 2 + kCommonBook;

template <class Module>
void check_streams(const std::vector<TestField>& fields, const std::string& recipe,
                   LinearParams params, int page, bool packs) {
  for (const TestField& field : fields)
    for (const double rel : kBounds) {
      const unsigned percent = rel == 1e-3 ? 20 : 0;
      CeazMachine<Module> machine(Stalls(percent, 1), Stalls(percent, 2));
      machine.load(offline_book(kCommonBook));
      const HardwareCodec codec(
          recipe, params,
          [&](const LinearGrid<float>& grid, const Shape& shape, std::span<const float> values) {
            const CeazStreams streams = machine.run(grid, shape, page, values);
            HardwareCodec::Coded coded{{}, machine.cycles};
            if (!streams.is_bad)
              coded.bytes = pages_of(streams, values.size(), page, kCommonChange);
            return coded;
          },
          packs ? [](ByteView body, Writer& out) { Zstd().compress(body, out); }
                : HardwareCodec::Pack(),
          CeazMachine<Module>::takes);
      expect_same_stream(field, rel, recipe, codec);
    }
}

// Shapes of one to three axes whose pages end in all ways.
std::vector<TestField> odd_fields() {
  std::vector<TestField> fields;
  std::mt19937_64 random(1);
  for (const Shape& shape :
       {Shape{2}, Shape{5}, Shape{2047}, Shape{2048}, Shape{2049}, Shape{4101}, Shape{3, 1000},
        Shape{700, 2}, Shape{64, 64}, Shape{5, 6, 7}, Shape{2, 2, 1024}, Shape{9, 128, 4},
        Shape{20, 1, 30}}) {
    TestField field{"odd", shape, std::vector<float>(size_t(shape.size()))};
    for (size_t i = 0; i < field.values.size(); ++i) {
      field.values[i] = float(std::sin(double(i) * 0.01)) + float(random() % 1000) * 1e-4f;
      if (random() % 40 == 0) field.values[i] *= float(random() % 30);  // stands apart
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

TEST(RtlCeaz, PagesAreThoseOfTheLibrary) {
  check_streams<Vlwy_ceaz>(odd_fields(), "linear+lorenzo+adaptive:rule=offline,page=11", {}, 11,
                           false);
}

TEST(RtlCeaz, StreamsAreThoseOfTheLibrary) {
  check_streams<Vlwy_ceaz>(generated_fields(), "linear+lorenzo+adaptive:rule=offline+zstd", {}, 15,
                           true);
}

TEST(RtlCeaz, StreamsWithPowersOfTwoAreThoseOfTheLibrary) {
  check_streams<Vlwy_ceaz_pow2>(generated_fields(),
                                "linear:step=pow2+lorenzo+adaptive:rule=offline+zstd",
                                {.step = StepRule::power_of_two}, 15, true);
}

TEST(RtlCeaz, LongStreamsOfFieldFiles) {
  const auto fields = field_files();
  if (fields.empty()) GTEST_SKIP() << "LEEWAY_RTL_FIELDS names no directory with fields";
  check_streams<Vlwy_ceaz>(fields, "linear+lorenzo+adaptive:rule=offline+zstd", {}, 15, true);
}

}  // namespace
}  // namespace leeway::rtl

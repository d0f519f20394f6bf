// SPDX-License-Identifier: BSD-3-Clause
// The pipeline of CEAZ in hardware against the library: pages and whole streams.
#include "Vlwy_ceaz.h"
#include "Vlwy_ceaz_books.h"
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
      machine.follow(recipe.find("rule=paper") != recipe.npos);
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
  for (const Shape& shape : {Shape{2}, Shape{5}, Shape{2047}, Shape{2048}, Shape{2049}, Shape{4101},
                             Shape{3, 1000}, Shape{700, 2}, Shape{64, 64}, Shape{5, 6, 7},
                             Shape{2, 2, 1024}, Shape{9, 128, 4}, Shape{20, 1, 30}}) {
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

// Parts that differ by as much as it takes for books to be made, kept and dropped.
std::vector<TestField> restless_fields() {
  std::vector<TestField> fields;
  std::mt19937_64 random(1);
  for (const Shape& shape :
       {Shape{4096}, Shape{4097}, Shape{6145}, Shape{90'000}, Shape{200, 500}, Shape{30, 60, 70}}) {
    TestField field{"restless", shape, std::vector<float>(size_t(shape.size()))};
    double scale = 1;
    for (size_t i = 0; i < field.values.size(); ++i) {
      if (i % 5000 == 0) scale = std::exp2(double(random() % 100) / 10 - 8);
      field.values[i] = float(scale * (double(random() % 2001) / 1000 - 1));
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

TEST(RtlCeaz, PagesWithBooksThatFollowAreThoseOfTheLibrary) {
  for (const int page : {11, 12})
    check_streams<Vlwy_ceaz_books>(
        restless_fields(),
        "linear+lorenzo+adaptive:rule=paper,page=" + std::to_string(page) + ",lag=1", {}, page,
        false);
}

// Wherever it comes: while codes are counted, while counts are read, while a book is made.
TEST(RtlCeaz, ResetForgetsAChunk) {
  const TestField field = restless_fields()[3];
  const LinearGrid<float> grid(1e-3);
  const auto values = std::span(field.values).first(20'000);
  const Shape shape{values.size()};
  CeazMachine<Vlwy_ceaz_books> machine, other;
  for (auto* m : {&machine, &other}) {
    m->load(offline_book(kCommonBook));
    m->follow(true);
  }
  const CeazStreams wanted = other.run(grid, shape, 11, values);
  EXPECT_EQ(wanted.changes.size(), 8u);
  for (const size_t some : {1, 300, 700, 1200, 2100, 3000, 4500, 9000}) {
    machine.begin_some(grid, shape, 11, values, some);
    machine.reset();
    const CeazStreams made = machine.run(grid, shape, 11, values);
    EXPECT_TRUE(made.words == wanted.words && made.raw == wanted.raw) << some;
    EXPECT_TRUE(made.changes == wanted.changes) << some;
  }
}

TEST(RtlCeaz, StreamsWithBooksThatFollowAreThoseOfTheLibrary) {
  check_streams<Vlwy_ceaz_books>(generated_fields(),
                                 "linear+lorenzo+adaptive:rule=paper,lag=1+zstd", {}, 15, true);
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
  check_streams<Vlwy_ceaz_books>(fields, "linear+lorenzo+adaptive:rule=paper,lag=1+zstd", {}, 15,
                                 true);
}

}  // namespace
}  // namespace leeway::rtl

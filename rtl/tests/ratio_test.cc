// SPDX-License-Identifier: BSD-3-Clause
// A fixed ratio in hardware: steps are those of the rule, streams have the ratio and are ordinary.
#include <cmath>

#include "Vlwy_ceaz_books.h"
#include "leeway/encode/parts/offline_books.h"
#include "leeway/stream/fields.h"
#include "rtl/tests/ceaz_machine.h"
#include "rtl/tests/hardware_stream.h"
#include "rtl/tests/ratio_rule.h"

namespace leeway::rtl {
namespace {

constexpr int kPage = 12;
constexpr const char* kRecipe = "linear+lorenzo+adaptive:rule=paper,page=12,lag=1";

// Chunks of a field as they come out, and what a host puts around them.
class RatioStream {
 public:
  RatioStream(const TestField& field, double ratio, double first_bound, Stalls input, Stalls output)
      : field_(field), machine_(input, output) {
    const auto range = value_range(field.view(), CompressOptions());
    const double width = range->max - range->min;
    rule_ = {RatioRule::log_of(2 * first_bound * width), RatioRule::log_of(1e-7 * width),
             RatioRule::log_of(width), RatioRule::target_of(ratio)};
    machine_.load(offline_book(kCommonBook));
    machine_.follow(true);
    machine_.fix(rule_);
    header_.shape = field.shape;
    header_.chunk = default_chunk(field.shape, u64(1) << 15);
    header_.bound = Bound::ratio(ratio);
    header_.min = range->min, header_.max = range->max;
    header_.recipe = kRecipe;
  }

  Bytes write() {
    const HardwareCodec codec(
        kRecipe, {},
        [&](const LinearGrid<float>& grid, const Shape& shape, std::span<const float> values) {
          return code(grid, shape, values);
        },
        {}, CeazMachine<Vlwy_ceaz_books>::takes);
    Writer frames;
    StatementMaker statement;
    Tail tail;
    const Shape grid = header_.grid();
    const u64 chunks = grid.size();
    for (u64 ordinal = 0; ordinal < chunks; ++ordinal) {
      FrameHead head;
      head.ordinal = ordinal;
      head.bound = rule_.bound();
      header_.abs_bound = std::max(header_.abs_bound, head.bound);
      const size_t start = frames.size();
      frames.extend(kFrameHeadBytes);
      const ChunkReport report = codec.compress(field_.view().part(header_.chunk_box(ordinal)),
                                                head.bound, {.is_needed = false}, frames);
      const ByteView payload = frames.bytes().subspan(start + kFrameHeadBytes);
      head.payload_bytes = u32(payload.size());
      head.max_error = report.max_error;
      head.exact = u32(report.exact);
      head.decoded_hash = report.decoded_hash;
      head.payload_hash = hash_of(payload);
      leeway::write(head, frames.again<kFrameHeadBytes>(start));
      statement.add(head);
      tail.rooms.push_back(head.payload_bytes);
      put_zeros(frames, start + frame_bytes(head.payload_bytes) - frames.size());
    }
    tail.statement = statement.statement();
    Writer out;
    leeway::write(header_, out);
    out.put_bytes(frames.bytes());
    leeway::write(tail, out);
    left_to_host = codec.left_to_host, through_hardware = codec.chunks;
    return {out.bytes().begin(), out.bytes().end()};
  }
  u64 left_to_host = 0, through_hardware = 0;

 private:
  HardwareCodec::Coded code(const LinearGrid<float>& grid, const Shape& shape,
                            std::span<const float> values) {
    EXPECT_EQ(grid.short_step, float(rule_.step()));
    const CeazStreams streams = machine_.run(grid, shape, kPage, values);
    EXPECT_EQ(machine_.step(), grid.short_step);
    u64 bytes = 12 * streams.raw.size();
    for (const auto* part : {&streams.words, &streams.raw, &streams.changes})
      for (const auto& stream : *part) bytes += stream.size();
    rule_.next(bytes, values.size(), streams.is_bad);
    HardwareCodec::Coded coded{{}, machine_.cycles};
    if (!streams.is_bad) coded.bytes = pages_of(streams, values.size(), kPage, 2 + kCommonBook);
    return coded;
  }

  const TestField& field_;
  CeazMachine<Vlwy_ceaz_books> machine_;
  RatioRule rule_{};
  Header header_;
};

// Land, which is no value, becomes what was there before.
void fill_in(TestField& field) {
  float last = 0;
  for (float& v : field.values) last = v = v == 1e20f ? last : v;
}

void check_ratios(std::vector<TestField> fields, double most_off) {
  for (TestField& field : fields) {
    fill_in(field);
    for (const double ratio : {10.5, 20.0})
      for (const double first : {1e-2, 1e-4}) {
        const unsigned percent = first == 1e-2 ? 10 : 0;
        RatioStream hardware(field, ratio, first, Stalls(percent, 1), Stalls(percent, 2));
        const Bytes stream = hardware.write();
        const Array decoded = decompress(stream);
        const Info info = inspect(stream);
        double largest = 0;
        for (size_t i = 0; i < field.values.size(); ++i)
          largest =
              std::max(largest, std::abs(double(field.values[i]) - double(decoded.as<float>()[i])));
        EXPECT_LE(largest, info.header.abs_bound);
        const double reached = double(4 * field.values.size()) / double(stream.size());
        std::printf(
            "%s, ratio %g from rel %g on: %.2f, %+.1f %%; %zu chunks in hardware, %zu of "
            "them left to the host\n",
            field.name.c_str(), ratio, first, reached, 100 * (reached / ratio - 1),
            size_t(hardware.through_hardware), size_t(hardware.left_to_host));
        EXPECT_NEAR(reached / ratio, 1, most_off) << field.name;
      }
  }
}

std::vector<TestField> larger_fields() {
  return sample_fields({{"turbulence", "64x128x128"},
                        {"climate", "720x720"},
                        {"particles", "50x12000"},
                        {"wave", "64x128x128"}});
}

TEST(RtlRatio, StreamsHaveTheRatio) { check_ratios(larger_fields(), 0.15); }

}  // namespace
}  // namespace leeway::rtl

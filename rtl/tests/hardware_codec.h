// SPDX-License-Identifier: BSD-3-Clause
// HardwareCodec: a design in the place of quantizer, predictor and encoder of a recipe, and what a
// host does around it. All else is the library's: chunks of one value, chunks with special values,
// those that the design refuses, and those that would hardly shrink.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "leeway/codec/make_codec.h"
#include "leeway/quantize/linear.h"

namespace leeway::rtl {

class HardwareCodec final : public ChunkCodec {
 public:
  // Narrow codes of a chunk as the encoder writes them, and cycles; nothing if a value has no code.
  struct Coded {
    std::optional<std::vector<u8>> bytes;
    u64 cycles;
  };
  using Machine =
      std::function<Coded(const LinearGrid<float>&, const Shape&, std::span<const float>)>;
  // What the lossless stage of the recipe does; none if empty.
  using Pack = std::function<void(ByteView, Writer&)>;

  HardwareCodec(const std::string& recipe, LinearParams params, Machine machine, Pack pack = {},
                std::function<bool(const Shape&)> takes = {})
      : library_(make_codec(parse_recipe(recipe), DType::f32)),
        params_(params),
        machine_(std::move(machine)),
        pack_(std::move(pack)),
        takes_(std::move(takes)) {}

  u64 chunk_values() const override { return library_->chunk_values(); }
  bool wants_rows() const override { return library_->wants_rows(); }
  bool is_pointwise() const override { return false; }
  bool is_by_value() const override { return false; }
  bool quantizes_first() const override { return true; }
  bool may_have_made(const View& chunk, const ChunkBound& bound, const Mask& mask) const override {
    return library_->may_have_made(chunk, bound, mask);
  }
  void measure(void* values, const Shape& shape, const ChunkBound& bound,
               const Mask& mask) const override {
    library_->measure(values, shape, bound, mask);
  }
  bool decompress(ByteView payload, const Shape& shape, double bound, ValueSink& values,
                  const Wanted& wanted) const override {
    return library_->decompress(payload, shape, bound, values, wanted);
  }
  void explain(ByteView payload, const Shape& shape, double bound,
               Anatomy& anatomy) const override {
    library_->explain(payload, shape, bound, anatomy);
  }

  ChunkReport compress(const View& chunk, const ChunkBound& bound, const Mask& mask, Writer& out,
                       ByteView settings = {}) const override {
    Writer own;
    const ChunkReport report = library_->compress(chunk, bound, mask, own, settings);
    const auto kind = Payload(own.bytes()[0]);
    const LinearGrid<float> grid(bound.most, params_);
    const Shape shape = chunk.squeezed().shape;
    if (mask.is_needed || kind == Payload::constant || grid.short_step == 0 ||
        (takes_ && !takes_(shape))) {
      out.put_bytes(own.bytes());
      return report;
    }
    std::vector<float> values(size_t(shape.size()));
    gather(chunk, values.data());
    const Coded coded = machine_(grid, shape, values);
    ++chunks, points += values.size(), cycles += coded.cycles;
    const size_t start = out.size();
    if (coded.bytes) put(*coded.bytes, out);
    // Less than an eighth saved: another form may be smaller.
    const bool pays = coded.bytes && out.size() - start < values.size() * sizeof(float) / 8 * 7;
    if (pays || !coded.bytes) is_flagged_right &= (kind == Payload::narrow) == pays;
    if (pays) return report_of(out.bytes().subspan(start), shape, bound.most, values);
    ++left_to_host;
    out.truncate(start);
    out.put_bytes(own.bytes());
    return report;
  }

  mutable u64 chunks = 0, left_to_host = 0, points = 0, cycles = 0;
  mutable bool is_flagged_right = true;  // the design refuses what the library does not code so

 private:
  void put(std::span<const u8> codes, Writer& out) const {
    out.put(Payload::narrow);
    Writer body;
    for (int section = 0; section < 3; ++section) body.put_section({});
    body.put_bytes(codes);
    if (pack_)
      pack_(body.bytes(), out);
    else
      out.put_bytes(body.bytes());
  }
  // The checksum and the largest error are the host's to find.
  ChunkReport report_of(ByteView payload, const Shape& shape, double bound,
                        std::span<const float> values) const {
    std::vector<float> decoded(values.size());
    KeptValues kept(decoded.data());
    library_->decompress(payload, shape, bound, kept, {});
    double max_error = 0;
    for (size_t i = 0; i < values.size(); ++i)
      max_error = std::max(max_error, rounded_error(values[i], decoded[i]));
    ChunkReport report;
    report.max_error = stated_error<float>(max_error, bound);
    report.decoded_hash = hash_of(bytes_of(std::span<const float>(decoded)));
    return report;
  }

  std::shared_ptr<const ChunkCodec> library_;
  LinearParams params_;
  Machine machine_;
  Pack pack_;
  std::function<bool(const Shape&)> takes_;
};

}  // namespace leeway::rtl

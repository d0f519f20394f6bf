// SPDX-License-Identifier: BSD-3-Clause
// The verilated block codec, and what a host does to make payloads of what comes out.
#pragma once

#include <bit>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "leeway/codec/make_codec.h"
#include "leeway/quantize/linear.h"
#include "rtl/tests/clocked.h"

namespace leeway::rtl {

// What a chunk becomes.
struct BlockBytes {
  std::vector<u8> heads, bodies;
  bool is_bad = false;  // a value has no code: the host codes the chunk
};

template <class Module>
class BlocksMachine {
 public:
  explicit BlocksMachine(Stalls input = Stalls(), Stalls output = Stalls())
      : input_(input), output_(output) {
    module_->chunk_valid_i = module_->valid_i = 0;
    module_->head_ready_i = module_->word_ready_i = 0;
    module_.reset();
  }

  BlockBytes run(const LinearGrid<float>& grid, std::span<const float> values) {
    begin(grid);
    BlockBytes bytes;
    const u64 start = module_.cycles, patience = start + 1000 + 100 * values.size();
    bool offers = false, heads_end = false, words_end = false;
    for (size_t in = 0; !(heads_end && words_end);) {
      if (module_.cycles > patience) throw std::runtime_error("the design hangs");
      offers = in < values.size() && (offers || !input_());
      module_->valid_i = offers;
      if (offers) {
        module_->x_i = std::bit_cast<u32>(values[in]);
        module_->last_i = in + 1 == values.size();
      }
      module_->head_ready_i = !heads_end && !output_();
      module_->word_ready_i = !words_end && !output_();
      module_.settle();
      const bool taken = offers && module_->ready_o;
      if (module_->head_valid_o && module_->head_ready_i) {
        bytes.heads.push_back(module_->head_o);
        heads_end = module_->head_last_o;
      }
      if (module_->word_valid_o && module_->word_ready_i) {
        const u32 word = module_->word_o;
        for (u32 k = 0; k < module_->word_bytes_o; ++k) bytes.bodies.push_back(u8(word >> 8 * k));
        words_end = module_->word_last_o;
        if (words_end) bytes.is_bad = module_->word_bad_o;
      }
      module_.rise();
      in += taken;
      if (taken) offers = false;
    }
    cycles = module_.cycles - start;
    return bytes;
  }
  // A chunk is begun and so many of its values are put in, but nothing is waited for.
  void begin_some(const LinearGrid<float>& grid, size_t count) {
    begin(grid);
    module_->valid_i = 1;
    module_->last_i = 0;
    for (size_t i = 0; i < count; ++i) module_.settle(), module_.rise();
    module_->valid_i = 0;
  }
  void reset() { module_.reset(); }
  u64 cycles = 0;

 private:
  void begin(const LinearGrid<float>& grid) {
    module_->step_i = std::bit_cast<u32>(grid.short_step);
    module_->inverse_i = std::bit_cast<u32>(grid.short_inverse);
    module_->limit_i = std::bit_cast<u32>(grid.short_limit);
    module_->chunk_valid_i = 1;
    bool taken = false;
    for (int patience = 0; !taken && patience < 1000; ++patience) {
      module_.settle();
      taken = module_->chunk_ready_o;
      module_.rise();
    }
    module_->chunk_valid_i = 0;
  }

  Clocked<Module> module_;
  Stalls input_, output_;
};

// In the place of a block codec of the library: a chunk without special values goes through the
// design. What the design refuses, and what does not pay, is the library's.
template <class Module>
class BlocksCodec final : public ChunkCodec {
 public:
  BlocksCodec(const std::string& recipe, size_t head_bytes, LinearParams params,
              BlocksMachine<Module>& machine)
      : library_(make_codec(parse_recipe(recipe), DType::f32)),
        head_bytes_(head_bytes),
        params_(params),
        machine_(machine) {}

  u64 chunk_values() const override { return library_->chunk_values(); }
  bool is_pointwise() const override { return false; }
  bool is_by_value() const override { return false; }
  bool quantizes_first() const override { return true; }
  void measure(void* values, const Shape& shape, const ChunkBound& bound,
               const Mask& mask) const override {
    library_->measure(values, shape, bound, mask);
  }
  bool decompress(ByteView payload, const Shape& shape, double bound, ValueSink& values,
                  const Wanted& wanted) const override {
    return library_->decompress(payload, shape, bound, values, wanted);
  }

  ChunkReport compress(const View& chunk, const ChunkBound& bound, const Mask& mask,
                       Writer& out) const override {
    Writer own;
    const ChunkReport report = library_->compress(chunk, bound, mask, own);
    const bool is_narrow = own.bytes()[0] == u8(Payload::narrow);
    const auto kind = Payload(own.bytes()[0]);
    const LinearGrid<float> grid(bound.most, params_);
    if (mask.is_needed || kind == Payload::constant || grid.short_step == 0) {
      out.put_bytes(own.bytes());
      return report;
    }
    ++chunks;
    std::vector<float> values(size_t(chunk.shape.size()));
    gather(chunk, values.data());
    const BlockBytes bytes = machine_.run(grid, values);
    cycles += machine_.cycles, points += values.size();
    is_flagged_right &= bytes.is_bad != is_narrow || !pays(bytes, values.size());
    if (bytes.is_bad || !pays(bytes, values.size())) {
      ++left_to_host;
      out.put_bytes(own.bytes());
      return report;
    }
    return put(bytes, chunk.shape, bound.most, values, out);
  }

  mutable u64 chunks = 0, left_to_host = 0, points = 0, cycles = 0;
  mutable bool is_flagged_right = true;

 private:
  // As the library has it: less than an eighth saved, and another form may be smaller.
  bool pays(const BlockBytes& bytes, size_t values) const {
    return 4 + head_bytes_ * bytes.heads.size() + bytes.bodies.size() < values * sizeof(float) / 8 * 7;
  }
  ChunkReport put(const BlockBytes& bytes, const Shape& shape, double bound,
                  std::span<const float> values, Writer& out) const {
    const size_t start = out.size();
    out.put(Payload::narrow);
    for (int section = 0; section < 3; ++section) out.put_section({});
    for (const u8 head : bytes.heads) {
      out.put(head);
      for (size_t k = 1; k < head_bytes_; ++k) out.put(u8(0));
    }
    out.put_bytes(bytes.bodies);
    // The checksum and the largest error are the host's to find.
    std::vector<float> decoded(values.size());
    KeptValues kept(decoded.data());
    library_->decompress(out.bytes().subspan(start), shape.squeezed(), bound, kept, {});
    ChunkReport report;
    double max_error = 0;
    for (size_t i = 0; i < values.size(); ++i)
      max_error = std::max(max_error, rounded_error(values[i], decoded[i]));
    report.max_error = stated_error<float>(max_error, bound);
    report.decoded_hash = hash_of(bytes_of(std::span<const float>(decoded)));
    return report;
  }

  std::shared_ptr<const ChunkCodec> library_;
  size_t head_bytes_;
  LinearParams params_;
  BlocksMachine<Module>& machine_;
};

}  // namespace leeway::rtl

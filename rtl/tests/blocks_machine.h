// SPDX-License-Identifier: BSD-3-Clause
// The verilated block codec, both ways.
#pragma once

#include <bit>
#include <optional>
#include <stdexcept>
#include <vector>

#include "Vlwy_blocks_decoder.h"
#include "leeway/quantize/linear.h"
#include "rtl/tests/clocked.h"

namespace leeway::rtl {

// What a chunk becomes.
struct BlockBytes {
  std::vector<u8> heads, bodies;
  bool is_bad = false;  // a value has no code: the host codes the chunk
  // As the payload has them; heads may take four bytes.
  std::vector<u8> payload(size_t head_bytes) const {
    std::vector<u8> bytes(heads.size() * head_bytes);
    for (size_t i = 0; i < heads.size(); ++i) bytes[i * head_bytes] = heads[i];
    bytes.insert(bytes.end(), bodies.begin(), bodies.end());
    return bytes;
  }
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
    hand_over(module_, [&] { return module_->chunk_ready_o; });
    module_->chunk_valid_i = 0;
  }

  Clocked<Module> module_;
  Stalls input_, output_;
};

// Back to values. Plain blocks, too: a decoder for outliers takes both.
class BlocksDecoder {
 public:
  explicit BlocksDecoder(Stalls input = Stalls(), Stalls output = Stalls())
      : input_(input), output_(output) {
    module_->chunk_valid_i = module_->head_valid_i = module_->word_valid_i = 0;
    module_->ready_i = 0;
    module_.reset();
  }

  // Nothing if the design says that the bytes are bad.
  std::optional<std::vector<float>> run(float step, size_t count, const BlockBytes& bytes) {
    module_->step_i = std::bit_cast<u32>(step);
    module_->values_i = u32(count);
    module_->chunk_valid_i = 1;
    hand_over(module_, [&] { return module_->chunk_ready_o; });
    module_->chunk_valid_i = 0;
    std::vector<float> values;
    const u64 start = module_.cycles, patience = start + 1000 + 100 * count;
    const size_t words = bytes.bodies.size() / 4 + 1;  // the last has what is left, or nothing
    bool has_head = false, has_word = false, ends = false, is_bad = false;
    for (size_t head = 0, word = 0; !ends || word < words;) {
      if (module_.cycles > patience) throw std::runtime_error("the design hangs");
      has_head = head < bytes.heads.size() && (has_head || !input_());
      has_word = word < words && (has_word || !input_());
      module_->head_valid_i = has_head;
      module_->word_valid_i = has_word;
      if (has_head) module_->head_i = bytes.heads[head];
      if (has_word) put_word(bytes.bodies, word);
      module_->ready_i = !output_();
      module_.settle();
      const bool takes_head = has_head && module_->head_ready_o,
                 takes_word = has_word && module_->word_ready_o;
      if (module_->valid_o && module_->ready_i) {
        values.push_back(std::bit_cast<float>(u32(module_->y_o)));
        if (module_->last_o) ends = true, is_bad = module_->bad_o;
      }
      module_.rise();
      head += takes_head, word += takes_word;
      if (takes_head) has_head = false;
      if (takes_word) has_word = false;
    }
    module_->head_valid_i = module_->word_valid_i = 0;
    cycles = module_.cycles - start;
    if (is_bad || values.size() != count) return {};
    return values;
  }
  u64 cycles = 0;

 private:
  void put_word(const std::vector<u8>& bodies, size_t index) {
    const size_t first = 4 * index, bytes = std::min<size_t>(4, bodies.size() - first);
    u32 word = 0;
    for (size_t k = 0; k < bytes; ++k) word |= u32(bodies[first + k]) << 8 * k;
    module_->word_i = word;
    module_->word_bytes_i = u8(bytes);
    module_->word_last_i = bytes < 4;
  }

  Clocked<Vlwy_blocks_decoder> module_;
  Stalls input_, output_;
};

}  // namespace leeway::rtl

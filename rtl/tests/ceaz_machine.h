// SPDX-License-Identifier: BSD-3-Clause
// The verilated pipeline of CEAZ, and how a host makes pages of what comes out.
#pragma once

#include <array>
#include <bit>
#include <vector>

#include "leeway/encode/parts/book.h"
#include "leeway/quantize/linear.h"
#include "rtl/tests/clocked.h"
#include "rtl/tests/ratio_rule.h"

namespace leeway::rtl {

// The bit streams of a chunk, in order: four of codewords a page, as far as there are tokens for
// them, and one of raw bits.
struct CeazStreams {
  std::vector<std::vector<u8>> words, raw;
  std::vector<std::vector<u8>> changes;  // of books, from the third page on, if they follow
  bool is_bad = false;                   // a value has no code: the host codes the chunk
};

// Streams of bytes that arrive word by word.
class Arriving {
 public:
  template <class Word>
  void put(Word word, u32 bytes, bool is_last) {
    for (u32 k = 0; k < bytes; ++k) now_.push_back(u8(u32(word) >> 8 * k));
    if (is_last) done.push_back(std::exchange(now_, {}));
  }
  std::vector<std::vector<u8>> done;

 private:
  std::vector<u8> now_;
};

template <class Module>
class CeazMachine {
 public:
  static constexpr size_t kMostRow = 1024, kMostPlane = 16384;
  explicit CeazMachine(Stalls input = Stalls(), Stalls output = Stalls())
      : input_(input), output_(output) {
    module_->chunk_valid_i = module_->valid_i = module_->book_write_i = 0;
    module_->word_ready_i = module_->raw_ready_i = 0;
    module_.reset();
  }
  // Longer rows and planes have no room; more axes have no meaning.
  static bool takes(const Shape& shape) {
    const size_t rank = shape.rank();
    return rank <= 3 && (rank < 2 || shape[rank - 1] <= kMostRow) &&
           (rank < 3 || shape[1] * shape[2] <= kMostPlane);
  }

  // Says whether books follow the data, for designs that can.
  void follow(bool follows) { follows_ = follows; }
  // Chunks have a fixed ratio from now on: their steps are the design's own.
  void fix(const RatioRule& rule) {
    module_->fixed_i = 1;
    module_->log_first_i = u16(rule.log) & 0x7fff;
    module_->log_least_i = u16(rule.least) & 0x7fff;
    module_->log_most_i = u16(rule.most) & 0x7fff;
    module_->target_i = u16(rule.target);
    module_->ratio_load_i = 1;
    module_.settle();
    module_.rise();
    module_->ratio_load_i = 0;
  }
  float step() { return std::bit_cast<float>(u32(module_->step_o)); }
  void load(const Book& book) {
    const auto codewords = prefix::canonical_codes(book.lengths);
    module_->book_write_i = 1;
    for (size_t token = 0; token < codewords.size(); ++token) {
      module_->book_token_i = u16(token);
      module_->book_length_i = book.lengths[token];
      module_->book_codeword_i = codewords[token];
      module_.settle();
      module_.rise();
    }
    module_->book_write_i = 0;
    module_->low_i = u16(book.low + Book::kSymbols / 2);
    module_->size_i = u16(book.lengths.size() - Book::kClasses);
  }

  CeazStreams run(const LinearGrid<float>& grid, const Shape& shape, int page,
                  std::span<const float> values) {
    begin(grid, shape, page, values.size());
    const size_t pages = ((values.size() - 1) >> page) + 1;
    const u64 start = module_.cycles, patience = start + 1000 + 100 * values.size();
    const size_t most_changes = follows_ && pages > 2 ? pages - 2 : 0;
    Arriving words, raw, changes;
    bool offers = false;
    for (size_t in = 0; in < values.size() || raw.done.size() < pages || words_left_ ||
                        changes.done.size() < most_changes;) {
      if (module_.cycles > patience) throw std::runtime_error("the design hangs");
      offers = in < values.size() && (offers || !input_());
      module_->valid_i = offers;
      if (offers) module_->x_i = std::bit_cast<u32>(values[in]);
      module_->word_ready_i = !output_();
      module_->raw_ready_i = !output_();
      if constexpr (kHasBooks) module_->change_ready_i = !output_();
      module_.settle();
      const bool taken = offers && module_->ready_o;
      if (module_->word_valid_o && module_->word_ready_i) {
        words.put(module_->word_o, module_->word_bytes_o, module_->word_last_o);
        words_left_ -= module_->word_last_o;
      }
      if (module_->raw_valid_o && module_->raw_ready_i)
        raw.put(module_->raw_o, module_->raw_bytes_o, module_->raw_last_o);
      if constexpr (kHasBooks)
        if (module_->change_valid_o && module_->change_ready_i)
          changes.put(module_->change_o, 1, module_->change_last_o);
      module_.rise();
      in += taken;
      if (taken) offers = false;
    }
    module_->valid_i = 0;
    cycles = module_.cycles - start;
    return {std::move(words.done), std::move(raw.done), std::move(changes.done),
            bool(module_->bad_o)};
  }
  // A chunk is begun and some of its values are put in, but nothing is waited for.
  void begin_some(const LinearGrid<float>& grid, const Shape& shape, int page,
                  std::span<const float> values, size_t some) {
    begin(grid, shape, page, values.size());
    module_->valid_i = 1;
    module_->word_ready_i = module_->raw_ready_i = 1;
    for (size_t i = 0; i < some; ++i) {
      module_->x_i = std::bit_cast<u32>(values[i]);
      module_.settle();
      module_.rise();
    }
    module_->valid_i = 0;
  }
  void reset() { module_.reset(); }
  u64 cycles = 0;

 private:
  void begin(const LinearGrid<float>& grid, const Shape& shape, int page, size_t count) {
    const size_t rank = std::max<size_t>(shape.rank(), 1);
    const u64 row = shape.rank() > 0 ? shape[rank - 1] : 1, rows = rank > 1 ? shape[rank - 2] : 1;
    module_->step_i = std::bit_cast<u32>(grid.short_step);
    module_->inverse_i = std::bit_cast<u32>(grid.short_inverse);
    module_->limit_i = std::bit_cast<u32>(grid.short_limit);
    module_->values_i = u32(count);
    module_->axes_i = u8(rank);
    module_->row_i = u32(row - 1);
    module_->rows_i = u32(rows - 1);
    module_->page_i = u8(page);
    module_->follows_i = follows_;
    module_->chunk_valid_i = 1;
    module_->word_ready_i = module_->raw_ready_i = 0;
    hand_over(module_, [&] { return module_->chunk_ready_o; });
    module_->chunk_valid_i = 0;
    words_left_ = 0;
    for (size_t left = count; left > 0;) {
      const size_t n = std::min(left, size_t(1) << page);
      for (size_t k = 0; k < prefix::kStreams; ++k)
        words_left_ += prefix::quarter(n, k + 1) > prefix::quarter(n, k);
      left -= n;
    }
  }

  static constexpr bool kHasBooks = requires(Module & m) { m.change_o; };
  Clocked<Module> module_;
  Stalls input_, output_;
  bool follows_ = false;
  size_t words_left_ = 0;  // streams of codewords that have not ended
};

// The pages of a chunk (leeway/encode/adaptive.md), which begins with an offline book.
inline std::vector<u8> pages_of(const CeazStreams& streams, size_t count, int page, u8 change) {
  Writer out;
  size_t next = 0;
  for (size_t index = 0, left = count; left > 0; ++index) {
    const size_t n = std::min(left, size_t(1) << page);
    std::array<std::vector<u8>, prefix::kStreams> words;
    for (size_t k = 0; k < prefix::kStreams; ++k)
      if (prefix::quarter(n, k + 1) > prefix::quarter(n, k)) words[k] = streams.words.at(next++);
    if (index < 2 || streams.changes.empty())
      out.put(index == 0 ? change : u8(0));
    else
      out.put_bytes(streams.changes.at(index - 2));
    for (const auto& stream : words) out.put_varint(stream.size());
    out.put_section(streams.raw.at(index));
    for (const auto& stream : words) out.put_bytes(stream);
    left -= n;
  }
  return {out.bytes().begin(), out.bytes().end()};
}

}  // namespace leeway::rtl

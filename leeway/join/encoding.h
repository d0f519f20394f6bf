// SPDX-License-Identifier: BSD-3-Clause
// Encoding: the coder that turns values into codes.
//
//   run(), block()    codes are written where the sink has room for them
//   point(), exact()  codes wait in waiting_[0, count_), to be put together
//   wave()            codes are collected in wave_codes_, because each row begins with an exact one
//
// The sink gets codes in the order of the walk: whoever does not wait first flushes what waits.
// done_ is the number of values visited, so it is the place of the next patch.
//
// In a large file, compilers inline less, and virtual functions least, even where they know which
// one is called. `ghost` is 6 % slower without gnu::always_inline here and in grids.h.
#pragma once

#include <memory>

#include "leeway/base/distance.h"
#include "leeway/join/grids.h"

namespace leeway {

template <class T, class Q>
class Encoding final : public Coder<T>, private Segments<T> {
  using P = Predicted<T>;
  using I = Code<T>;

 public:
  Encoding(const Q& quantizer, const CodedChunk<T>& chunk, CodeSink<I>& sink, Patches<T>& exact)
      : Coder<T>(false, chunk.flags.empty() ? nullptr : chunk.flags.data()),
        grids_(quantizer, chunk),
        quantizer_(quantizer),
        sink_(sink),
        exact_(exact) {}

  void run(const Run<T>& run) override {
    flush();
    I* const codes = room(run.count);
    for (size_t i = 0; i < run.count;) {
      if (!run.flags)
        i += grids_.quantize_front(run, i, codes, max_error_,
                                   [&](size_t k) { exact_.add(done_ + k, run.values[k]); });
      for (const size_t stop = std::min(run.count, i + grids_.kStretch); i < stop; ++i)
        if (!code(run.values[i], run.predicted[i], codes[i], run.flags ? run.flags[i] : u8(0)))
          exact_.add(done_ + i, run.values[i]);
    }
    done_ += run.count;
    if (run.magnitudes) magnitudes_of(std::span<const I>(codes, run.count), run.magnitudes);
    put(run.count, run.contexts);
  }
  [[gnu::always_inline]] void point(T& value, P predicted) override {
    if (!code(value, predicted, waiting_[count_], grids_.flags_of(value))) exact_.add(done_, value);
    wait();
  }
  void exact(T& value, P otherwise) override {
    if (grids_.flags_of(value) & kSpecialFlag) return point(value, otherwise);
    exact_.add(done_, value);
    waiting_[count_] = kExactCode<I>;
    wait();
  }
  void tighten(double factor) override { grids_.tighten(factor); }
  double step() const override { return grids_.step(); }
  Segments<T>& segments() override { return *this; }

  // What a quantizer in force would do, without coding anything.
  const GridsInForce<T, Q>& grid() const { return grids_; }

  // Values of a block, in any order, each once; their codes are in the order of the slots.
  class Block {
   public:
    Block(Encoding& coder, size_t count) : coder_(coder), count_(count) {
      coder.flush();
      codes_ = coder.room(count);
    }
    void put(size_t slot, T& value, P predicted) {
      if (!coder_.code(value, predicted, codes_[slot], coder_.grids_.flags_of(value)))
        without_code_.emplace_back(slot, value);
    }
    // Rows of the block at once, the first value at `slot`. Returns false and changes nothing if
    // they have to be put one by one.
    bool wave(size_t slot, const BlockWave<T>& rows) {
      if constexpr (requires { quantize_block(grid(), rows, codes_, coder_.max_error_); })
        return !coder_.flags() && coder_.leaves_no_fill(rows, [&] {
          return quantize_block(grid(), rows, codes_ + slot, coder_.max_error_);
        });
      return false;
    }
    void finish() {
      std::ranges::sort(without_code_, {}, [](const auto& entry) { return entry.first; });
      for (const auto& [slot, value] : without_code_) coder_.exact_.add(coder_.done_ + slot, value);
      coder_.done_ += count_;
      coder_.put(count_, nullptr);
    }

   private:
    const auto& grid() const { return coder_.grids_.usual(); }
    Encoding& coder_;
    size_t count_;
    I* codes_;
    std::vector<std::pair<size_t, T>> without_code_;
  };
  Block block(size_t count) { return Block(*this, count); }

  // Rows of a table at once. Returns false and changes nothing if they have to be coded value by
  // value.
  bool wave(const Wave<T>& rows) {
    if constexpr (requires { quantize_wave(grids_.usual(), rows, waiting_.data(), max_error_); }) {
      const size_t count = rows.size_with_border(), length = count / rows.rows;
      if (grids_.chunk().has_flags(done_, count)) return false;
      wave_codes_.resize(count);
      I* const found = wave_codes_.data() + (count - rows.size());
      if (!leaves_no_fill(rows,
                          [&] { return quantize_wave(grids_.usual(), rows, found, max_error_); }))
        return false;
      for (size_t r = 0; rows.has_border && r < rows.rows; ++r) {
        exact_.add(done_ + r * length, rows.border(r));
        wave_codes_[r * length] = kExactCode<I>;
        std::copy_n(found + r * rows.length, rows.length, wave_codes_.data() + r * length + 1);
      }
      flush();
      done_ += count;
      put_all(wave_codes_);
      return true;
    }
    return false;
  }

  // To be called after the last value.
  void finish() { flush(); }
  double max_error() const { return max_error_; }

 private:
  // A segment: its own sink and list of exact values.
  Encoding(const Encoding& whole, size_t count, CodeSink<I>& sink, std::unique_ptr<Patches<T>> own)
      : Encoding(whole.quantizer_, whole.grids_.chunk(), sink, *own) {
    done_ = whole.done_;
    end_ = done_ + count;
    own_exact_ = std::move(own);
  }
  void begin_level(size_t level) override {
    flush();
    sink_.begin_level(level);
  }
  std::unique_ptr<Coder<T>> open(size_t count) override {
    CodeSink<I>* const own = sink_.segment(count);
    if (!own) return {};
    if (has_put_) fail("codes some values in segments and others not");
    std::unique_ptr<Encoding> part(
        new Encoding(*this, count, *own, std::make_unique<Patches<T>>()));
    is_cut_ = true;
    done_ += count;
    return part;
  }
  void close(Coder<T>& coder) override {
    auto& part = static_cast<Encoding&>(coder);
    part.flush();
    if (part.done_ != part.end_) fail("opens a segment for another number of values than it codes");
    max_error_ = std::max(max_error_, part.max_error_);
    exact_.append(part.exact_);
  }

  // Returns whether the value has a code. If not, it becomes what is to be kept of it.
  bool code(T& value, P predicted, I& to, u8 flags) {
    const T original = value;
    const bool has_code = grids_.quantize(value, predicted, to, flags);
    if (!(flags & kSpecialFlag)) max_error_ = std::max(max_error_, rounded_error(original, value));
    return has_code;
  }
  // quantize() changes all of the rows, or none and returns false. So does this, and afterwards
  // there is no fill value in them.
  template <class Rows, class F>
  bool leaves_no_fill(const Rows& rows, F&& quantize) {
    const Fills<T>& fills = grids_.chunk().fills;
    if (fills.empty()) return quantize();
    std::vector<T> originals;
    for_each_row(rows, [&](T* row) { originals.insert(originals.end(), row, row + rows.length); });
    if (!quantize()) return false;
    bool any = false;
    for_each_row(rows, [&](T* row) { any |= fills.any_in({row, rows.length}); });
    const T* before = originals.data();
    if (any)
      for_each_row(rows, [&](T* row) {
        std::copy_n(before, rows.length, row);
        before += rows.length;
      });
    return !any;
  }

  void wait() {
    ++done_;
    if (++count_ == kMostCodes) flush();
  }
  void flush() {
    if (count_ == 0) return;
    std::copy_n(waiting_.data(), count_, room(count_));
    put(std::exchange(count_, 0), nullptr);
  }
  I* room(size_t count) {
    if (is_cut_) fail("codes some values in segments and others not");
    return sink_.room(count);
  }
  void put(size_t count, const u8* contexts) {
    note_contexts(contexts != nullptr);
    sink_.put(count, contexts);
  }
  void put_all(std::span<const I> codes) {
    note_contexts(false);
    sink_.put_all(codes, {});
  }
  // A decoder that looks ahead for points does not know the contexts of later runs.
  void note_contexts(bool given) {
    if (has_put_ && has_contexts_ != given)
      fail("gives contexts for some values and not for others");
    has_put_ = true;
    has_contexts_ = given;
  }
  [[noreturn]] static void fail(const char* what) {
    fail_argument(std::string("the predictor ") + what);
  }

  GridsInForce<T, Q> grids_;
  const Q& quantizer_;
  CodeSink<I>& sink_;
  Patches<T>& exact_;
  std::unique_ptr<Patches<T>> own_exact_;  // of a segment
  std::array<I, kMostCodes> waiting_;
  size_t count_ = 0;
  std::vector<I> wave_codes_;
  size_t done_ = 0, end_ = 0;  // end_: of a segment
  double max_error_ = 0;
  bool has_put_ = false, has_contexts_ = false, is_cut_ = false;
};

}  // namespace leeway

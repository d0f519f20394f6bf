// SPDX-License-Identifier: BSD-3-Clause
// Decoding: the coder that turns codes into values.
//
//   run(), block()   codes go from the source to codes_, and are used up at once
//   point(), wave()  codes are fetched into ahead_; those from next_ on are not used yet
//
// Codes that wait in ahead_ come before those in the source, which still has left_ codes. done_ is
// the number of values visited, so it is the place of the next value among exact ones.
#pragma once

#include <memory>

#include "leeway/join/grids.h"

namespace leeway {

template <class T, class Q>
class Decoding final : public Coder<T>, private Segments<T> {
  using P = Predicted<T>;
  using I = Code<T>;

 public:
  // The source has `size` codes.
  Decoding(const Q& quantizer, const CodedChunk<T>& chunk, CodeSource<I>& source, size_t size,
           const Patches<T>& exact, const Wanted& wanted)
      : Decoding(quantizer, chunk, source, size, wanted) {
    if (exact.count() == 0) return;
    own_exact_ = Buffer<T>(size);
    std::ranges::fill(own_exact_, T());
    exact.apply({own_exact_.data(), size});
    exact_ = std::span<const T>(own_exact_);
  }

  void run(const Run<T>& run) override {
    take(run.count, run.contexts);
    const auto& grid = grids_.usual();
    T* const values = run.values;
    for (size_t i = 0; i < run.count;) {
      if constexpr (requires { grid.recover_run(values, run.predicted, 0, codes_.data()); })
        if (!run.flags)
          i += grid.recover_run(values + i, run.predicted + i, run.count - i, codes_.data() + i);
      const size_t stop = std::min(run.count, i + grids_.kStretch);
      if (run.flags)
        for (; i < stop; ++i)
          values[i] = recovered(run.predicted[i], codes_[i], done_ + i, run.flags[i]);
      for (; i < stop; ++i)
        values[i] = codes_[i] != kExactCode<I> ? grid.recover(run.predicted[i], codes_[i])
                                               : exact_at(done_ + i);
    }
    done_ += run.count;
    if (run.magnitudes) magnitudes_of(std::span<const I>(codes_.data(), run.count), run.magnitudes);
  }
  [[gnu::always_inline]] void point(T& value, P predicted) override {
    if (next_ == ahead_.size()) look_ahead(1);
    value = recovered(predicted, ahead_[next_++], done_++, grids_.flags_of(value));
  }
  void exact(T& value, P otherwise) override { point(value, otherwise); }
  void tighten(double factor) override { grids_.tighten(factor); }
  double step() const override { return grids_.step(); }
  Segments<T>& segments() override { return *this; }

  // What the encoder has, for predictors whose walk mentions it in both directions.
  const GridsInForce<T, Q>& grid() const { return grids_; }

  class Block {
   public:
    Block(Decoding& coder, size_t count) : coder_(coder), count_(count) {
      coder.take(count, nullptr);
    }
    void put(size_t slot, T& value, P predicted) {
      value = coder_.recovered(predicted, coder_.codes_[slot], coder_.done_ + slot,
                               coder_.grids_.flags_of(value));
    }
    bool wave(size_t slot, const BlockWave<T>& rows) {
      const auto& grid = coder_.grids_.usual();
      if constexpr (requires { recover_block(grid, rows, coder_.codes_.data()); })
        return !coder_.flags() && recover_block(grid, rows, coder_.codes_.data() + slot);
      return false;
    }
    void finish() { coder_.done_ += count_; }

   private:
    Decoding& coder_;
    size_t count_;
  };
  Block block(size_t count) { return Block(*this, count); }

  // Returns false and changes nothing if the rows have to be decoded value by value.
  bool wave(const Wave<T>& rows) {
    if constexpr (requires { recover_wave(grids_.usual(), rows, codes_.data()); }) {
      const size_t count = rows.size_with_border(), length = count / rows.rows;
      if (grids_.chunk().has_flags(done_, count)) return false;
      if (ahead_.size() - next_ < count) look_ahead(count);
      const I* found = ahead_.data() + next_;
      std::vector<T> borders;  // as they were
      if (rows.has_border) {
        for (size_t r = 0; r < rows.rows; ++r)
          if (found[r * length] != kExactCode<I>) return false;
        wave_codes_.resize(rows.size());
        for (size_t r = 0; r < rows.rows; ++r) {
          borders.push_back(rows.border(r));
          rows.border(r) = exact_at(done_ + r * length);
          std::copy_n(found + r * length + 1, rows.length, wave_codes_.data() + r * rows.length);
        }
        found = wave_codes_.data();
      }
      if (!recover_wave(grids_.usual(), rows, found)) {
        for (size_t r = 0; r < borders.size(); ++r) rows.border(r) = borders[r];
        return false;
      }
      next_ += count;
      done_ += count;
      return true;
    }
    return false;
  }

  // Whether all values so far were wanted, and so are decoded.
  bool is_complete() const { return is_complete_; }

 private:
  Decoding(const Q& quantizer, const CodedChunk<T>& chunk, CodeSource<I>& source, size_t size,
           const Wanted& wanted)
      : Coder<T>(true, chunk.flags.empty() ? nullptr : chunk.flags.data()),
        grids_(quantizer, chunk),
        quantizer_(quantizer),
        source_(source),
        left_(size),
        wanted_(wanted),
        is_complete_(wanted.last_level == 0) {}

  void begin_level(size_t) override {}
  size_t finest() const override { return wanted_.last_level; }
  std::unique_ptr<Coder<T>> open(size_t count) override {
    CodeSource<I>* const own = source_.segment(count);
    if (!own) return {};
    std::unique_ptr<Decoding> part(new Decoding(quantizer_, grids_.chunk(), *own, count, wanted_));
    part->exact_ = exact_;
    part->done_ = std::exchange(done_, done_ + count);
    left_ -= count;
    return part;
  }
  void close(Coder<T>&) override {}
  bool wants(const Box& box) override {
    const bool wanted = !wanted_.box || overlap(box, *wanted_.box);
    is_complete_ = is_complete_ && wanted;
    return wanted;
  }

  // The next codes to codes_.
  void take(size_t count, const u8* contexts) {
    const size_t known = std::min(count, ahead_.size() - next_);
    std::copy_n(ahead_.data() + next_, known, codes_.data());
    next_ += known;
    if (known < count) fetch({codes_.data() + known, count - known}, contexts ? contexts + known : nullptr);
  }
  // Afterwards, at least `count` codes wait in ahead_.
  void look_ahead(size_t count) {
    ahead_.erase(ahead_.begin(), ahead_.begin() + std::ptrdiff_t(next_));
    next_ = 0;
    while (ahead_.size() < count) {
      const size_t old = ahead_.size(), n = std::clamp<size_t>(left_, 1, kMostCodes);
      ahead_.resize(old + n);
      fetch(std::span(ahead_).subspan(old), nullptr);
    }
  }
  void fetch(std::span<I> codes, const u8* contexts) {
    if (codes.size() > left_) fail_corrupt("more values than codes");
    source_.next(codes, contexts);
    left_ -= codes.size();
  }
  T exact_at(size_t place) const { return exact_.empty() ? T() : exact_[place]; }
  T recovered(P predicted, I code, size_t place, u8 flags) const {
    return code != kExactCode<I> ? grids_.of(flags).recover(predicted, code) : exact_at(place);
  }

  GridsInForce<T, Q> grids_;
  const Q& quantizer_;
  CodeSource<I>& source_;
  size_t left_;
  std::array<I, kMostCodes> codes_;
  std::vector<I> ahead_, wave_codes_;
  size_t next_ = 0, done_ = 0;
  Buffer<T> own_exact_;
  std::span<const T> exact_;  // in the order of the walk
  Wanted wanted_;
  bool is_complete_;  // so far
};

}  // namespace leeway

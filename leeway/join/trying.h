// SPDX-License-Identifier: BSD-3-Clause
// Trying: the coder that estimates what codes would cost, for predictors that choose their
// settings.
//
// The cost is the entropy of the codes in every context. Where the predictor gives no contexts, the
// sizes of the two codes before are one. Of codes from 32 on only the octave is modelled, and the
// other bits are counted as they are.
#pragma once

#include <bit>

#include "leeway/base/distance.h"
#include "leeway/base/log2.h"
#include "leeway/join/grids.h"
#include "leeway/stage/trial.h"

namespace leeway {

template <class T, class Q>
class Trying final : public Coder<T> {
  using P = Predicted<T>;

 public:
  Trying(const Q& quantizer, const CodedChunk<T>& chunk, bool counts_squares = false)
      : Coder<T>(false, chunk.flags.empty() ? nullptr : chunk.flags.data()),
        grids_(quantizer, chunk),
        counts_squares_(counts_squares) {}

  void run(const Run<T>& run) override {
    std::copy_n(run.values, run.count, originals_.data());
    grids_.quantize(run, codes_.data());
    for (size_t i = 0; trial_.unchanged && i < run.count; ++i)
      trial_.unchanged = bits_of(originals_[i]) == bits_of(run.values[i]) ||
                         (run.flags && run.flags[i] & kSpecialFlag);
    if (counts_squares_) count_squares(run);
    const std::span<const Code<T>> codes(codes_.data(), run.count);
    if (run.magnitudes) magnitudes_of(codes, run.magnitudes);
    for (size_t i = 0; i < run.count; ++i)
      count(codes[i], run.contexts ? run.contexts + i : nullptr);
  }
  void point(T& value, P predicted) override {
    const u8 flags = grids_.flags_of(value);
    run({&value, &predicted, 1, nullptr, &flags});
  }
  void exact(T& value, P otherwise) override {
    if (grids_.flags_of(value) & kSpecialFlag) return point(value, otherwise);
    count(kExactCode<Code<T>>, nullptr);
  }
  void tighten(double factor) override { grids_.tighten(factor); }
  double step() const override { return grids_.step(); }
  Segments<T>& segments() override { return none_; }

  const GridsInForce<T, Q>& grid() const { return grids_; }
  struct Block {
    Trying& coder;
    void put(size_t, T& value, P predicted) { coder.point(value, predicted); }
    bool wave(size_t, const BlockWave<T>&) { return false; }
    void finish() {}
  };
  Block block(size_t) { return {*this}; }
  bool wave(const Wave<T>&) { return false; }

  Trial result() {
    trial_.cost += trial_.coded << 16;  // signs
    for (const auto& bins : counts_) {
      u64 total = 0;
      for (const u32 n : bins) total += n;
      if (total == 0) continue;
      for (const u32 n : bins)
        if (n > 0) trial_.cost += n * (log2_of(total) - std::min(log2_of(total), log2_of(n)));
    }
    return trial_;
  }

 private:
  void count_squares(const Run<T>& run) {
    const double scale = 1 / grids_.chunk().bound;
    for (size_t i = 0; i < run.count; ++i) {
      if (run.flags && run.flags[i] & kSpecialFlag) continue;
      const double error = error_between(originals_[i], run.values[i]) * scale;
      trial_.squares += error * error;
      ++trial_.values;
    }
  }
  void count(Code<T> code, const u8* context) {
    using U = std::make_unsigned_t<Code<T>>;
    const U size = code < 0 ? U(0) - U(code) : U(code);
    trial_.coded += size > 0;
    const int octave = size < 32 ? 0 : std::bit_width(size) - 5;
    trial_.cost += u64(octave > 0 ? octave + 4 : 0) << 16;
    ++counts_[context ? *context % kContexts : before_]
             [size < 32 ? size_t(size) : size_t(31 + octave)];
    before_ = before_ % 4 * 4 + std::min<size_t>(size, 3);
  }

  static constexpr size_t kContexts = 64, kBins = 96;
  GridsInForce<T, Q> grids_;
  bool counts_squares_;
  Segments<T> none_;
  Trial trial_;
  std::array<T, kMostCodes> originals_;
  std::array<Code<T>, kMostCodes> codes_;
  std::array<std::array<u32, kBins>, kContexts> counts_{};
  size_t before_ = 0;  // from the sizes of the two codes before
};

}  // namespace leeway

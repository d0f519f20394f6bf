// SPDX-License-Identifier: BSD-3-Clause
// Storage: the values of a step, in the order of its layout: loaded from an array, coded band by
// band, and put back.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "leeway/base/buffer.h"
#include "leeway/predict/number.h"
#include "leeway/predict/pyramid/blend.h"
#include "leeway/predict/pyramid/resolutions.h"
#include "leeway/predict/pyramid/walk.h"
#include "leeway/stage/coder.h"
#include "leeway/stage/codes.h"

namespace leeway::pyramid {

// An array and what is known about its values, at the resolutions of all levels.
template <class T>
struct Arrays {
  Buffer<u8> finest_magnitudes;
  Resolutions<T> values;
  Resolutions<u8> magnitudes;                  // of codes
  std::optional<Resolutions<const u8>> flags;  // stage/flags.h

  Arrays(Field<T> field, const Tiles& tiles, const u8* flags_or_null)
      : finest_magnitudes(field.size()),
        values(field.data, tiles),
        magnitudes(finest_magnitudes.data(), tiles) {
    if (!flags_or_null) return;
    flags.emplace(flags_or_null, tiles);
    flags->coarsen();
  }
};

template <class T>
class Storage final : public PyramidRows<Number<T>> {
  using C = Number<T>;

 public:
  C* numbers() {
    if constexpr (std::is_same_v<T, C>)
      return values_.data();
    else
      return numbers_.data();
  }
  u8* magnitudes() { return magnitudes_.data(); }

  // Takes what is known before a step and, when encoding, what `coder` is to code.
  void load(const TileStep& step, const Polyphase& layout, Arrays<T>& arrays, Coder<T>& coder) {
    coder_ = &coder;
    load_known(step, layout, arrays.values, !coder.decoding(), values_);
    if constexpr (!std::is_same_v<T, C>) {
      make_room(layout, numbers_);
      std::ranges::copy(std::span(values_).first(layout.size()), numbers_.data());
    }
    load_known(step, layout, arrays.magnitudes, false, magnitudes_);
    if (arrays.flags) {
      make_room(layout, flags_);
      const auto [flags, strides] = arrays.flags->place(step, step.level);
      layout.split(flags, strides, flags_.data());
    }
  }

  void code(const Band& band, const C* predicted, const u8* contexts, u8* magnitudes) override {
    const Predicted<T>* const p = converted(predicted, band.lines * band.count);
    T* const values = values_.data() + band.first;
    const u8* const flags = flags_.empty() ? nullptr : flags_.data() + band.first;
    if (band.lines == 1)
      coder_->run({values, p, band.count, contexts, flags, magnitudes});
    else
      code_packed(band, values, p, contexts, flags, magnitudes);
    if constexpr (!std::is_same_v<T, C>)
      for_each_line(band, [&](size_t at, size_t) {
        std::copy_n(values + at, band.count, numbers_.data() + band.first + at);
      });
  }

  void put_back(const TileStep& step, const Polyphase& layout, Arrays<T>& arrays) const {
    put_back(step, layout, values_, arrays.values);
    // No other step needs the magnitudes of a tile of the finest level.
    if (step.level > 0 || !step.is_tile) put_back(step, layout, magnitudes_, arrays.magnitudes);
  }

 private:
  template <class V>
  static void make_room(const Polyphase& layout, Buffer<V>& buffer) {
    const size_t needed = layout.size() + kRowRoom;
    if (buffer.size() < needed) buffer = Buffer<V>(needed);
  }
  // Values on cuts and of the coarser level; with `all`, those to be coded, too.
  template <class V>
  static void load_known(const TileStep& step, const Polyphase& layout, Resolutions<V>& from,
                         bool all, Buffer<V>& to) {
    make_room(layout, to);
    const auto [data, strides] = from.place(step, step.level);
    if (all)
      layout.split(data, strides, to.data());
    else
      layout.split_ends(data, strides, step.ends, to.data());
    if (step.is_top) return;
    const auto [coarse, coarse_strides] = from.place(step, step.level + 1);
    layout.put_grid(coarse, coarse_strides, to.data());
  }
  template <class V>
  static void put_back(const TileStep& step, const Polyphase& layout, const Buffer<V>& from,
                       Resolutions<V>& to) {
    const auto [data, strides] = to.place(step, step.level);
    layout.merge(from.data(), data, strides, step.ends);
    if (step.is_last_whole) to.put_corners();
  }

  // Calls f with the first value of each row of a band: in the storage, and without gaps.
  template <class F>
  static void for_each_line(const Band& band, F&& f) {
    for (size_t line = 0; line < band.lines; ++line) f(line * band.pitch, line * band.count);
  }
  const Predicted<T>* converted(const C* predicted, size_t count) {
    if constexpr (std::is_same_v<Predicted<T>, C>) {
      return predicted;
    } else {
      for (size_t i = 0; i < count; ++i) predictions_[i] = predicted_as<T>(predicted[i]);
      return predictions_.data();
    }
  }
  // Several rows: a run has no gaps.
  void code_packed(const Band& band, T* values, const Predicted<T>* predicted, const u8* contexts,
                   const u8* flags, u8* magnitudes) {
    if (!coder_->decoding())
      for_each_line(band, [&](size_t from, size_t to) {
        std::copy_n(values + from, band.count, packed_.data() + to);
      });
    if (flags)
      for_each_line(band, [&](size_t from, size_t to) {
        std::copy_n(flags + from, band.count, packed_flags_.data() + to);
      });
    coder_->run({packed_.data(), predicted, band.lines * band.count, contexts,
                 flags ? packed_flags_.data() : nullptr, packed_magnitudes_.data()});
    for_each_line(band, [&](size_t to, size_t from) {
      std::copy_n(packed_.data() + from, band.count, values + to);
      std::copy_n(packed_magnitudes_.data() + from, band.count, magnitudes + to);
    });
  }

  Coder<T>* coder_ = nullptr;
  Buffer<T> values_;
  Buffer<C> numbers_;  // the values to compute with, if C is another type
  Buffer<u8> magnitudes_, flags_;
  std::array<Predicted<T>, kMostCodes> predictions_;
  std::array<T, kMostCodes> packed_;
  std::array<u8, kMostCodes> packed_flags_, packed_magnitudes_;
};

}  // namespace leeway::pyramid

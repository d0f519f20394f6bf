// SPDX-License-Identifier: BSD-3-Clause
// Pattern: blocks made of sub-blocks that are multiples of each other, as PaSTRI has it for
// electron repulsion integrals [Gok et al., CLUSTER 2018] (pattern.md).
//
// The sub-block with the largest value is the pattern of its block; every other one is predicted by
// the pattern times a scale. Pattern and scales are noted.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "leeway/base/bits.h"
#include "leeway/predict/number.h"
#include "leeway/stage/stage.h"

namespace leeway {

enum class ScaleRule : u8 { squares, peak };
constexpr std::array<std::string_view, 2> param_words(ScaleRule) { return {"squares", "peak"}; }

struct Pattern {
  static constexpr std::string_view kName = "pattern";
  static constexpr std::string_view kAbout =
      "sub-blocks as multiples of the largest in their block, as PaSTRI";
  static constexpr Kind kKind = Kind::predictor;
  // Chunks: whole blocks of all usual sizes.
  static constexpr Traits kTraits{.chunk_values = 1620000, .after_quantizer = true};
  struct Params {
    i32 size = 0;
    i32 count = 0;
    ScaleRule scale = ScaleRule::squares;
    void fields(auto&& field) {
      field("size", size, 0, 1024, "values of a pattern; 0: found, and count, too");
      field("count", count, 0, 1024, "sub-blocks of a block; 0: as many as a pattern has values");
      field("scale", scale, ScaleRule::squares, ScaleRule::peak,
            "squares: the best for all values; peak: for the largest, as PaSTRI");
    }
  } params;

  template <class T, class Notes>
  void walk(Field<T> field, Coder<T>& coder, Notes& notes) const {
    Layout layout;
    if constexpr (std::is_same_v<Notes, Reader>) {
      layout.size = size_t(notes.get_varint(kMost, "a pattern too large"));
      layout.count = size_t(notes.get_varint(kMost, "too many sub-blocks"));
      if (layout.size == 0 || layout.count == 0) fail_corrupt("an empty pattern");
      BitReader in(notes.rest());
      walk_blocks(field, coder, layout, in);
      in.expect_end();
    } else {
      layout = given_or_found(field);
      notes.put_varint(layout.size);
      notes.put_varint(layout.count);
      BitWriter out;
      walk_blocks(field, coder, layout, out);
      notes.put_bytes(out.take().bytes());
    }
  }

 private:
  static constexpr u64 kMost = 1024;
  struct Layout {
    size_t size = 0, count = 0;
    size_t block() const { return size * count; }
  };

  // What is noted of a block.
  struct Model {
    size_t which = 0;  // sub-block
    int bits = 0;      // of the values of the pattern and of the scales
    std::vector<i64> pattern;
    std::vector<i64> scales;  // in units of 2^-bits
  };

  template <class T>
  Model model_of(const T* block, const Layout& layout) const {
    Model model;
    size_t peak = 0;
    for (size_t i = 1; i < layout.block(); ++i)
      if (std::abs(double(block[i])) > std::abs(double(block[peak]))) peak = i;
    const double largest = std::abs(double(block[peak]));
    model.pattern.assign(layout.size, 0);
    model.scales.assign(layout.count, 0);
    if (!(largest >= 1 && largest < 0x1p40)) return model;  // nothing to learn, or too much
    model.which = peak / layout.size;
    peak %= layout.size;
    model.bits = std::bit_width(u64(largest));
    const T* pattern = block + model.which * layout.size;
    double squares = 0;
    for (size_t k = 0; k < layout.size; ++k) {
      model.pattern[k] = i64(pattern[k]);
      squares += double(pattern[k]) * double(pattern[k]);
    }
    for (size_t s = 0; s < layout.count; ++s) {
      const T* values = block + s * layout.size;
      double scale = double(values[peak]) / double(pattern[peak]);
      if (params.scale == ScaleRule::squares) {
        double products = 0;
        for (size_t k = 0; k < layout.size; ++k) products += double(values[k]) * double(pattern[k]);
        scale = products / squares;
      }
      const double limit = std::ldexp(1.0, model.bits);
      model.scales[s] = i64(std::floor(std::clamp(scale * limit, -limit, limit) + 0.5));
    }
    return model;
  }
  static double predicted(const Model& model, size_t s, size_t k) {
    return double(model.scales[s]) * double(model.pattern[k]) * std::ldexp(1.0, -model.bits);
  }

  // Six bits: the width; the number of the sub-block; its values; the scales of the others.
  static int index_bits(const Layout& layout) { return std::bit_width(layout.count - 1); }
  static void note(const Model& model, const Layout& layout, BitWriter& out) {
    out.put(u64(model.bits), 6);
    if (model.bits == 0) return;
    out.put(model.which, index_bits(layout));
    for (const i64 value : model.pattern) out.put(zigzag(value), model.bits + 1);
    for (size_t s = 0; s < layout.count; ++s)
      if (s != model.which) out.put(zigzag(model.scales[s]), model.bits + 2);
  }
  static Model noted(const Layout& layout, BitReader& in) {
    Model model;
    model.pattern.assign(layout.size, 0);
    model.scales.assign(layout.count, 0);
    model.bits = int(in.get(6));
    if (model.bits > 40) fail_corrupt("a pattern of too many bits");
    if (model.bits == 0) return model;
    model.which = size_t(in.get(index_bits(layout)));
    if (model.which >= layout.count) fail_corrupt("no such sub-block");
    for (i64& value : model.pattern) value = unzigzag(in.get(model.bits + 1));
    for (size_t s = 0; s < layout.count; ++s)
      model.scales[s] = s == model.which ? i64(1) << model.bits : unzigzag(in.get(model.bits + 2));
    return model;
  }

  template <class T, class Notes>
  void walk_blocks(Field<T> field, Coder<T>& coder, const Layout& layout, Notes& notes) const {
    size_t first = 0;
    std::vector<Predicted<T>> predictions(layout.size);
    for (; first + layout.block() <= field.size(); first += layout.block()) {
      T* block = field.data + first;
      Model model;
      if constexpr (std::is_same_v<Notes, BitReader>) {
        model = noted(layout, notes);
      } else {
        model = model_of(block, layout);
        note(model, layout, notes);
      }
      for (size_t s = 0; s < layout.count; ++s, block += layout.size) {
        for (size_t k = 0; k < layout.size; ++k)
          predictions[k] = predicted_as<T>(Number<T>(predicted(model, s, k)));
        coder.run({block, predictions.data(), layout.size});
      }
    }
    for (; first < field.size(); ++first) coder.point(field.data[first], Predicted<T>{});
  }

  // The usual sizes of pairs of shells, tried on some blocks.
  template <class T>
  Layout given_or_found(Field<T> field) const {
    if (params.size > 0)
      return {size_t(params.size), size_t(params.count > 0 ? params.count : params.size)};
    static constexpr size_t kPairs[] = {36, 3, 6, 9, 10, 18, 30, 60, 100};
    Layout best{kPairs[0], kPairs[0]};
    double least = 0;
    for (const size_t size : kPairs)
      for (const size_t count : kPairs) {
        const Layout layout{size, count};
        const double cost = cost_of(field, layout);
        if (cost > 0 && (least == 0 || cost < 0.98 * least)) {
          best = layout;
          least = cost;
        }
      }
    return best;
  }
  // Bits a value, about, in some blocks over the whole field; 0 if there is none.
  template <class T>
  double cost_of(Field<T> field, const Layout& layout) const {
    constexpr size_t kBlocks = 16;
    const size_t blocks = field.size() / layout.block(),
                 step = std::max<size_t>(1, blocks / kBlocks);
    double bits = 0, values = 0;
    for (size_t b = 0; b < blocks; b += step) {
      const T* block = field.data + b * layout.block();
      const Model model = model_of(block, layout);
      bits += double(model.bits) * double(layout.size + layout.count);
      for (size_t s = 0; s < layout.count; ++s)
        for (size_t k = 0; k < layout.size; ++k) {
          const double d = double(block[s * layout.size + k]) - predicted(model, s, k);
          bits += std::bit_width(u64(std::min(std::abs(d), 0x1p60)));
        }
      values += double(layout.block());
    }
    return values > 0 ? (bits + 1) / values : 0;
  }
};

}  // namespace leeway

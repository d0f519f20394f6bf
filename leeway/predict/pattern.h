// SPDX-License-Identifier: BSD-3-Clause
// Pattern: blocks made of sub-blocks that are multiples of each other, as PaSTRI has it for
// electron repulsion integrals [Gok et al., CLUSTER 2018] (pattern.md).
//
// The sub-block with the largest value is the pattern of its block; every other one is predicted by
// the pattern times a scale. Of integers, pattern and scales are noted. Of floating values, whose
// quantizer comes after this, the pattern is the sub-block as it is decoded, which comes first.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
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
  static constexpr Traits kTraits{.chunk_values = 1620000, .needs_step = true};
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
      layout = given_or_found(field, is_floating<T> ? coder.step() : 1);
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

  // Values count in units of a step; that of integers is 1.
  template <class T>
  Model model_of(const T* block, const Layout& layout, double step) const {
    Model model;
    const auto size_at = [&](size_t i) {
      const double size = std::abs(double(block[i]));
      return size < std::numeric_limits<double>::infinity() ? size : 0;
    };
    size_t peak = 0;
    for (size_t i = 1; i < layout.block(); ++i)
      if (size_at(i) > size_at(peak)) peak = i;
    const double largest = size_at(peak) / step;
    model.pattern.assign(layout.size, 0);
    model.scales.assign(layout.count, 0);
    if (!(largest >= 1 && largest < 0x1p40)) return model;  // nothing to learn, or too much
    model.which = peak / layout.size;
    peak %= layout.size;
    model.bits = std::bit_width(u64(largest));
    const T* pattern = block + model.which * layout.size;
    double squares = 0;
    for (size_t k = 0; k < layout.size; ++k) {
      if constexpr (!is_floating<T>) model.pattern[k] = i64(pattern[k]);
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
      if (!(std::abs(scale) <= 1)) scale = scale < 0 ? -1 : scale > 0 ? 1 : 0;  // NaN, too
      model.scales[s] = i64(std::floor(scale * limit + 0.5));
    }
    model.scales[model.which] = i64(1) << model.bits;
    return model;
  }
  static double predicted(const Model& model, size_t s, double pattern) {
    return double(model.scales[s]) * pattern * std::ldexp(1.0, -model.bits);
  }

  // Six bits: the width; the number of the sub-block; its values, if they are integers; the scales
  // of the others.
  static int index_bits(const Layout& layout) { return std::bit_width(layout.count - 1); }
  template <class T>
  static void note(const Model& model, const Layout& layout, BitWriter& out) {
    out.put(u64(model.bits), 6);
    if (model.bits == 0) return;
    out.put(model.which, index_bits(layout));
    if constexpr (!is_floating<T>)
      for (const i64 value : model.pattern) out.put(zigzag(value), model.bits + 1);
    for (size_t s = 0; s < layout.count; ++s)
      if (s != model.which) out.put(zigzag(model.scales[s]), model.bits + 2);
  }
  template <class T>
  static Model noted(const Layout& layout, BitReader& in) {
    Model model;
    model.pattern.assign(layout.size, 0);
    model.scales.assign(layout.count, 0);
    model.bits = int(in.get(6));
    if (model.bits > 40) fail_corrupt("a pattern of too many bits");
    if (model.bits == 0) return model;
    model.which = size_t(in.get(index_bits(layout)));
    if (model.which >= layout.count) fail_corrupt("no such sub-block");
    if constexpr (!is_floating<T>)
      for (i64& value : model.pattern) value = unzigzag(in.get(model.bits + 1));
    for (size_t s = 0; s < layout.count; ++s)
      model.scales[s] = s == model.which ? i64(1) << model.bits : unzigzag(in.get(model.bits + 2));
    return model;
  }

  template <class T, class Notes>
  void walk_blocks(Field<T> field, Coder<T>& coder, const Layout& layout, Notes& notes) const {
    size_t first = 0;
    for (; first + layout.block() <= field.size(); first += layout.block()) {
      const Field<T> block{field.data + first, {layout.block()}};
      const u8* const flags = coder.flags() ? coder.flags() + first : nullptr;
      Model model;
      if constexpr (std::is_same_v<Notes, BitReader>) {
        model = noted<T>(layout, notes);
      } else {
        model = model_of(block.data, layout, is_floating<T> ? coder.step() : 1);
        note<T>(model, layout, notes);
      }
      walk_block(block, flags, model, layout, coder);
    }
    for (; first < field.size(); ++first) coder.point(field.data[first], Predicted<T>{});
  }
  template <class T>
  static void walk_block(Field<T> block, const u8* flags, const Model& model, const Layout& layout,
                         Coder<T>& coder) {
    std::vector<Predicted<T>> predictions(layout.size);
    const auto code = [&](size_t s) {
      const size_t first = s * layout.size;
      coder.run({.values = block.data + first,
                 .predicted = predictions.data(),
                 .count = layout.size,
                 .flags = flags ? flags + first : nullptr});
    };
    const T* const pattern = block.data + model.which * layout.size;
    if (is_floating<T>) code(model.which);
    for (size_t s = 0; s < layout.count; ++s) {
      if (is_floating<T> && s == model.which) continue;
      for (size_t k = 0; k < layout.size && model.bits > 0; ++k)
        predictions[k] = predicted_as<T>(Number<T>(
            predicted(model, s, is_floating<T> ? double(pattern[k]) : double(model.pattern[k]))));
      code(s);
    }
  }

  // The usual sizes of pairs of shells, tried on some blocks.
  template <class T>
  Layout given_or_found(Field<T> field, double step) const {
    if (params.size > 0)
      return {size_t(params.size), size_t(params.count > 0 ? params.count : params.size)};
    static constexpr size_t kPairs[] = {36, 3, 6, 9, 10, 18, 30, 60, 100};
    Layout best{kPairs[0], kPairs[0]};
    double least = 0;
    for (const size_t size : kPairs)
      for (const size_t count : kPairs) {
        const Layout layout{size, count};
        const double cost = cost_of(field, layout, step);
        if (cost > 0 && (least == 0 || cost < 0.98 * least)) {
          best = layout;
          least = cost;
        }
      }
    return best;
  }
  static double bits_of_size(double size) {
    return std::bit_width(u64(size < 0x1p60 ? size : 0x1p60));  // NaN, too
  }
  // Bits a value, about, in some blocks over the whole field; 0 if there is none.
  template <class T>
  double cost_of(Field<T> field, const Layout& layout, double step) const {
    constexpr size_t kBlocks = 16;
    const size_t blocks = field.size() / layout.block(),
                 apart = std::max<size_t>(1, blocks / kBlocks);
    double bits = 0, values = 0;
    for (size_t b = 0; b < blocks; b += apart) {
      const T* block = field.data + b * layout.block();
      const Model model = model_of(block, layout, step);
      bits += double(model.bits) * double(layout.size + layout.count);
      for (size_t s = 0; s < layout.count; ++s)
        for (size_t k = 0; k < layout.size; ++k) {
          const auto pattern = double(block[model.which * layout.size + k]);
          const double d = model.bits > 0 && (!is_floating<T> || s != model.which)
                               ? predicted(model, s, pattern)
                               : 0;
          bits += bits_of_size(std::abs(double(block[s * layout.size + k]) - d) / step);
        }
      values += double(layout.block());
    }
    return values > 0 ? (bits + 1) / values : 0;
  }
};

}  // namespace leeway

// SPDX-License-Identifier: BSD-3-Clause
// ChunkCodec: turns the values of one chunk into a payload and back (docs/FORMAT.md, "Payload").
//
// Wraps the pipeline of a recipe with what every recipe gets: constant chunks, the mask, and chunks
// kept without loss where the recipe cannot keep the bound or would not save space.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "leeway/base/distance.h"
#include "leeway/base/hash.h"
#include "leeway/codec/pipeline.h"
#include "leeway/encode/huffman.h"
#include "leeway/join/quantize_first.h"
#include "leeway/lossless/zstd.h"
#include "leeway/predict/lorenzo.h"
#include "leeway/quantize/exact.h"
#include "leeway/stage/values.h"

namespace leeway {

enum class Payload : u8 {
  constant = 0,
  coded = 1,
  lossless = 2,
  stored = 3,
  levels = 4,
  tightened = 5,  // coded with a smaller bound than that of the chunk
  narrow = 6,     // coded with integers of 16 bits
  layered = 7,    // payloads over each other (engine/layers.h)
};

// Stands before the body of a chunk that is coded from coarse to fine: how many bytes of the body
// hold every second value along all axes, every fourth, ..., and their checksums.
struct LevelTable {
  struct Entry {
    u32 bytes = 0;
    u64 hash = 0;
  };
  std::vector<Entry> entries;

  static constexpr size_t kMost = 4;
  static constexpr size_t size(size_t entries) { return 1 + 12 * entries; }
  void write(Writer& out) const {
    out.put(u8(entries.size()));
    for (const Entry& entry : entries) {
      out.put(entry.bytes);
      out.put(entry.hash);
    }
  }
  static LevelTable read(Reader& in) {
    LevelTable table;
    table.entries.resize(in.get<u8>());
    if (table.entries.empty() || table.entries.size() > kMost)
      fail_corrupt("a wrong number of levels");
    for (Entry& entry : table.entries) {
      entry.bytes = in.get<u32>();
      entry.hash = in.get<u64>();
    }
    return table;
  }
};

class ChunkCodec {
 public:
  virtual ~ChunkCodec() = default;
  // How many values a chunk should have, if nobody asks for something else.
  virtual u64 chunk_values() const = 0;
  // Whether bounds are relative to each value.
  virtual bool is_pointwise() const = 0;
  // Whether bounds may differ from value to value.
  virtual bool is_by_value() const = 0;
  // Whether values are quantized before they are predicted: then most decoded values stay as they
  // are when they are coded again beside others.
  virtual bool quantizes_first() const = 0;
  // Appends the payload to `out`. A bound of 0 means no loss. Shapes given to the other two have no
  // axes of extent 1.
  virtual ChunkReport compress(const View& chunk, const ChunkBound& bound, const Mask& mask,
                               Writer& out) const = 0;
  // Replaces values by what the recipe would give at this bound.
  virtual void measure(void* values, const Shape& shape, const ChunkBound& bound,
                       const Mask& mask) const = 0;
  // With a last level above 0, a payload with levels may be cut behind those that are wanted.
  // Values that are not wanted may be left out; says whether none are.
  virtual bool decompress(ByteView payload, const Shape& shape, double bound, ValueSink& values,
                          const Wanted& wanted = {}) const = 0;
};

// What chunks without loss use: exact+lorenzo+huffman+zstd.
template <class T>
Pipeline<T> lossless_pipeline() {
  Pipeline<T> pipeline;
  pipeline.join = std::make_unique<QuantizeFirst<T, Exact, Lorenzo>>(Exact(), Lorenzo());
  pipeline.encoder = erase_encoder(Huffman());
  pipeline.lossless.push_back(erase_lossless(Zstd()));
  return pipeline;
}

template <class T>
class TypedChunkCodec final : public ChunkCodec {
 public:
  // A quantizer that is not trusted is not believed to keep the bound.
  explicit TypedChunkCodec(Pipeline<T> recipe, bool is_trusted = true)
      : recipe_(std::move(recipe)), lossless_(lossless_pipeline<T>()), is_trusted_(is_trusted) {}

  u64 chunk_values() const override {
    const u64 wanted = recipe_.join->chunk_values();
    return wanted ? wanted : recipe_.encoder->chunk_values();
  }

  bool is_pointwise() const override { return recipe_.bound_changer() != nullptr; }
  bool is_by_value() const override { return recipe_.join->is_by_value(); }
  bool quantizes_first() const override { return !recipe_.join->predicts_first(); }

  ChunkReport compress(const View& chunk, const ChunkBound& bound, const Mask& mask,
                       Writer& out) const override {
    const View source = chunk.squeezed();
    const auto size = size_t(source.shape.size());
    if (is_constant(source)) {
      T value;
      std::memcpy(&value, source.data, sizeof value);
      out.put(Payload::constant);
      out.put(value);
      HashedValues values;
      put_constant(value, size, values);
      return {.special = mask.is_special(value) ? size : 0, .decoded_hash = values.hash()};
    }
    if (!(bound.most > 0 && recipe_.inner_bound(bound.most) > 0))
      return compress_exactly(source, mask, out);
    const size_t start = out.size();
    ChunkReport report;
    bool holds;
    if (recipe_.preprocessors.empty()) {
      if (!compress_narrow(source, bound, mask, out, report)) {
        out.put(Payload::coded);
        HashedValues values;
        report = recipe_.compress(source, values, bound, mask, out);
        report.decoded_hash = values.hash();
      }
      holds = report.fits && report.max_error <= bound.most;  // the quantizer checked every value
    } else {
      Buffer<T> original(size), decoded(size);
      gather(source, original.data());
      const Field<T> given{original.data(), source.shape}, field{decoded.data(), source.shape};
      const auto attempt = [&](int halvings) {
        out.truncate(start);
        out.put(halvings > 0 ? Payload::tightened : Payload::coded);
        if (halvings > 0) out.put(u8(halvings));
        KeptValues values(decoded.data());
        const ChunkBound inner(std::ldexp(bound.most, -halvings), bound.each);
        report = recipe_.compress(source, values, inner, mask, out);
        return report.fits && keeps_bound(given, field, bound.most, mask, report) &&
               (!needs_second_look() || stays(field, inner.most, mask));
      };
      holds = attempt(0);
      if (needs_second_look() && !(holds && report.max_error == 0)) {
        // What a smaller bound has made must stay.
        int made = 1;
        while (made <= kMostHalvings && !stays(given, std::ldexp(bound.most, -made), mask)) ++made;
        if (made <= kMostHalvings)
          holds = attempt(made);
        else
          for (int halvings = 1; !holds && halvings <= kMostHalvings; ++halvings)
            holds = attempt(halvings);
      }
      report.decoded_hash = hash_of(bytes_of(field.values()));
    }
    if (holds && !is_trusted_)
      holds = comes_back(source, out.bytes().subspan(start), bound, mask, report);
    const size_t bytes = out.size() - start;
    const bool pays = report.exact < size / 64 && bytes < size * sizeof(T) / 8 * 7;
    if (holds && pays) {
      put_levels(report, start, out);
      return report;
    }

    Writer exact;
    const ChunkReport exact_report = compress_exactly(source, mask, exact);
    if (holds && bytes <= exact.size()) return report;
    out.truncate(start);
    out.put_bytes(exact.bytes());
    return exact_report;
  }

  void measure(void* values, const Shape& shape, const ChunkBound& bound,
               const Mask& mask) const override {
    const Field<T> field{static_cast<T*>(values), shape};
    if (!is_constant(view_of(field.data, shape))) recipe_.measure(field, bound, mask);
  }

  bool decompress(ByteView payload, const Shape& shape, double bound, ValueSink& values,
                  const Wanted& wanted) const override {
    const auto size = size_t(shape.size());
    Reader in(payload);
    switch (Payload(in.get<u8>())) {
      case Payload::constant:
        put_constant(in.get<T>(), size, values);
        in.expect_end();
        return true;
      case Payload::coded:
        check_bound(bound);
        return recipe_.decompress(in.rest(), bound, shape, values, {0, wanted.box});
      case Payload::tightened: {
        const int halvings = in.get<u8>();
        if (halvings < 1 || halvings > kMostHalvings) fail_corrupt("a bound made too small");
        const double inner = std::ldexp(bound, -halvings);
        check_bound(inner);
        return recipe_.decompress(in.rest(), inner, shape, values);
      }
      case Payload::narrow:
        check_bound(bound);
        recipe_.decompress_narrow(in.rest(), bound, shape, values);
        return true;
      case Payload::levels:
        check_bound(bound);
        LevelTable::read(in);
        return recipe_.decompress(in.rest(), bound, shape, values, wanted);
      case Payload::lossless:
        return lossless_.decompress(in.rest(), 0, shape, values);
      case Payload::stored:
        values.take(in.take(size * sizeof(T)));
        in.expect_end();
        return true;
      case Payload::layered:
        break;  // whoever calls takes layers apart
    }
    fail_corrupt("unknown kind of chunk");
  }

 private:
  static constexpr int kMostHalvings = 3;

  void check_bound(double bound) const {
    if (!(bound > 0 && recipe_.inner_bound(bound) > 0)) fail_corrupt("coded chunk without a bound");
  }

  // Says false and writes nothing if it cannot.
  bool compress_narrow(const View& source, const ChunkBound& bound, const Mask& mask, Writer& out,
                       ChunkReport& report) const {
    if (mask.is_needed || !recipe_.can_be_narrow(source.shape)) return false;
    const size_t start = out.size();
    HashedValues values;
    out.put(Payload::narrow);
    const auto narrow = recipe_.compress_narrow(source, values, bound.most, out);
    if (!narrow) {
      out.truncate(start);
      return false;
    }
    report = *narrow;
    report.decoded_hash = values.hash();
    return true;
  }

  // Behind a preprocessor that computes, decoded values might become others when compressed again.
  bool needs_second_look() const { return !is_pointwise() && recipe_.computes(); }
  bool stays(Field<T> decoded, double bound, const Mask& mask) const {
    Buffer<T> again(decoded.size());
    std::ranges::copy(decoded.values(), again.data());
    recipe_.measure({again.data(), decoded.shape}, bound, mask);
    return std::memcmp(again.data(), decoded.data, decoded.values().size_bytes()) == 0;
  }

  // Puts the table of levels between the kind and the body of a coded chunk.
  static void put_levels(const ChunkReport& report, size_t start, Writer& out) {
    if (report.levels.empty()) return;
    const ByteView body = out.bytes().subspan(start + 1);
    LevelTable table;
    for (const size_t bytes : report.levels)
      table.entries.push_back({u32(bytes), hash_of(body.first(bytes))});
    Writer head;
    head.put(Payload::levels);
    table.write(head);
    out.replace(start, 1, head.bytes());
  }

  static void put_constant(T value, size_t count, ValueSink& values) {
    constexpr size_t kPiece = ValueSink::kMost / sizeof(T);
    for (; count > 0; count -= std::min(count, kPiece)) {
      const size_t n = std::min(count, kPiece);
      std::fill_n(static_cast<T*>(values.room(n * sizeof(T))), n, value);
      values.put(n * sizeof(T));
    }
  }

  static bool is_constant(const View& chunk) {
    bool constant = true;
    for_each_row(chunk, [&](const std::byte* row, size_t count, std::ptrdiff_t stride) {
      for (size_t i = 0; i < count && constant; ++i, row += stride)
        constant = std::memcmp(row, chunk.data, sizeof(T)) == 0;
    });
    return constant;
  }

  ChunkReport compress_exactly(const View& source, const Mask& mask, Writer& out) const {
    const size_t start = out.size(), bytes = size_t(source.shape.size()) * sizeof(T);
    out.put(Payload::lossless);
    HashedValues values;
    ChunkReport report = lossless_.compress(source, values, 0, mask, out);
    report.decoded_hash = values.hash();
    if (out.size() - start > bytes) {
      out.truncate(start);
      out.put(Payload::stored);
      gather(source, out.extend(bytes).data());
    }
    return report;
  }

  // A quantizer checks its own values; behind a preprocessor that says nothing about the original
  // ones. Finds the largest error.
  bool keeps_bound(Field<T> original, Field<T> decoded, double bound, const Mask& mask,
                   ChunkReport& report) const {
    report.max_error = 0;
    const AnyPreprocessor<T>* const judge = recipe_.bound_changer();
    for (size_t i = 0; i < original.size(); ++i) {
      const T given = original.data[i], found = decoded.data[i];
      if (bits_of(given) == bits_of(found)) continue;
      const double error = error_between(given, found);
      const bool holds = judge ? judge->holds(given, found, bound) : error < bound;
      if (mask.is_special(given) || mask.is_special(found) || !holds) return false;
      report.max_error = std::max(report.max_error, error);
    }
    return std::isfinite(report.max_error);
  }

  // Whether the payload gives back the values that the report has the checksum of, and they are
  // within the bound. Behind a preprocessor they have been compared already.
  bool comes_back(const View& source, ByteView payload, const ChunkBound& bound, const Mask& mask,
                  ChunkReport& report) const {
    const auto size = size_t(source.shape.size());
    Buffer<T> original(size), decoded(size);
    gather(source, original.data());
    KeptValues values(decoded.data());
    try {
      decompress(payload, source.shape, bound.most, values, {});
    } catch (const Error&) {
      return false;
    }
    if (hash_of(bytes_of(std::span<const T>(decoded))) != report.decoded_hash) return false;
    if (!recipe_.preprocessors.empty()) return true;
    report.max_error = 0;
    for (size_t i = 0; i < size; ++i) {
      const T given = original[i], found = decoded[i];
      if (bits_of(given) == bits_of(found)) continue;
      const double error = error_between(given, found);
      const double most = bound.each.empty() ? bound.most : std::min(bound.most, bound.each[i]);
      if (mask.is_special(given) || mask.is_special(found) || !(error <= most)) return false;
      report.max_error = std::max(report.max_error, error);
    }
    return true;
  }

  Pipeline<T> recipe_, lossless_;
  bool is_trusted_;
};

}  // namespace leeway

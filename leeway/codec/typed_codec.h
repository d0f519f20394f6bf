// SPDX-License-Identifier: BSD-3-Clause
// TypedChunkCodec: which payload a chunk becomes. A chunk whose values are all the same is
// `constant`; for others, these are tried in turn, until one keeps the bound and pays:
//
//   narrow      by the recipe, with codes of 16 bits, where no code needs more
//   coded       by the recipe; `levels` if the codes go from coarse to fine
//   tightened   by the recipe, with a smaller bound, if a preprocessor makes errors larger
//   lossless    by the recipe `lossless`
//   stored      values as they are
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "leeway/codec/constant.h"
#include "leeway/codec/pipeline.h"
#include "leeway/encode/huffman.h"
#include "leeway/join/quantize_first.h"
#include "leeway/predict/lorenzo.h"
#include "leeway/quantize/exact.h"

namespace leeway {

// What chunks without loss use: exact+lorenzo+huffman+zstd.
template <class T>
Pipeline<T> lossless_pipeline() {
  Pipeline<T> pipeline;
  pipeline.join = quantize_first<T>(Exact(), Lorenzo());
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
    const u64 wanted = recipe_.join->traits().chunk_values;
    return wanted ? wanted : recipe_.encoder->chunk_values();
  }
  bool wants_rows() const override {
    return recipe_.preprocessors.empty() && recipe_.join->traits().whole_rows;
  }
  u64 block_values() const override {
    return recipe_.preprocessors.empty() ? recipe_.join->traits().block_values : 1;
  }
  bool is_pointwise() const override { return recipe_.bound_changer() != nullptr; }
  bool is_by_value() const override { return recipe_.join->traits().by_value; }
  bool is_transform() const override { return recipe_.join->traits().transforms; }
  bool quantizes_first() const override { return !recipe_.join->traits().predicts_first; }
  bool learns() const override { return recipe_.join->traits().learns; }

  bool may_have_made(const View& chunk, const ChunkBound& bound, const Mask& mask) const override {
    if (is_pointwise() || !can_code(bound.most)) return false;
    if (std::is_integral_v<T> && bound.most < 1) return false;
    return recipe_.may_have_made(chunk.squeezed(), bound, mask);
  }

  Writer settings_for(const View& chunk, const ChunkBound& bound, const Mask& mask) const override {
    if (!can_code(bound.most)) return {};
    return recipe_.settings_for(chunk.squeezed(), bound, mask);
  }

  ChunkReport compress(const View& chunk, const ChunkBound& bound, const Mask& mask, Writer& out,
                       ByteView settings) const override {
    const View values = chunk.squeezed();
    // Other chunks must not matter.
    const Mask own{mask.fills, mask.is_needed && mask.any_special<T>(values)};
    const Job job{values, bound, own, settings};
    if (is_constant<T>(job.values)) return put_constant(job, out);
    if (!can_code(bound.most)) return put_exact(job, out);

    const size_t start = out.size();
    Attempt attempt = recipe_.preprocessors.empty() ? put_coded(job, out) : put_compared(job, out);
    if (attempt.holds && !is_trusted_)
      attempt.holds = comes_back(job, out.bytes().subspan(start), attempt.report);
    const size_t size = job.size(), bytes = out.size() - start;
    const bool pays = recipe_.encoder->is_unpacked() || recipe_.is_lossless()
                          ? bytes <= size * sizeof(T)
                          : attempt.report.exact < size / 64 && bytes < size * sizeof(T) / 8 * 7;
    if (attempt.holds && pays) {
      put_levels(attempt.report, start, out);
      return attempt.report;
    }
    if (attempt.holds && recipe_.encoder->is_unpacked()) {
      out.truncate(start);
      return put_stored(job, out);
    }

    Writer exact;
    const ChunkReport exact_report = put_exact(job, exact);
    if (attempt.holds && bytes <= exact.size()) return attempt.report;
    out.truncate(start);
    out.put_bytes(exact.bytes());
    return exact_report;
  }

  bool decompress(ByteView payload, const Shape& shape, double bound, ValueSink& values,
                  const Wanted& wanted) const override {
    const auto size = size_t(shape.size());
    Reader in(payload);
    const auto kind = Payload(in.get<u8>());
    if (kind == Payload::constant) {
      put_repeated(in.get<T>(), size, values);
      in.expect_end();
      return true;
    }
    if (kind == Payload::stored) {
      values.take(in.take(size * sizeof(T)));
      in.expect_end();
      return true;
    }
    const Opened opened = open(kind, in, bound);
    const Wanted needed{kind == Payload::levels ? wanted.last_level : 0,
                        kind == Payload::levels || kind == Payload::coded || kind == Payload::narrow
                            ? wanted.box
                            : std::nullopt};
    return opened.pipeline.decode(opened.body, shape, opened.bound, opened.width, values, needed);
  }

  void explain(ByteView payload, const Shape& shape, double bound, Anatomy& found) const override {
    Reader in(payload);
    found.kind = Payload(in.get<u8>());
    if (found.kind == Payload::levels) {
      Reader table = in;
      for (const LevelTable::Entry& entry : LevelTable::read(table).entries)
        found.level_bytes.push_back(entry.bytes);
    }
    if (found.kind == Payload::constant || found.kind == Payload::stored) return;
    const Opened opened = open(found.kind, in, bound);
    found.width = opened.width;
    opened.pipeline.explain(opened.body, shape, opened.bound, found);
  }

  void measure(void* values, const Shape& shape, const ChunkBound& bound,
               const Mask& mask) const override {
    const Field<T> field{static_cast<T*>(values), shape};
    if (!is_constant<T>(view_of(field.data, shape))) recipe_.measure(field, bound, mask);
  }

 private:
  static constexpr int kMostHalvings = 3;

  struct Job {
    View values;  // without axes of extent 1
    const ChunkBound& bound;
    const Mask& mask;
    ByteView settings;
    size_t size() const { return size_t(values.shape.size()); }
    bool is_special(T value) const { return mask.is_special(value); }
  };
  // A payload that was written, and whether it keeps the bound.
  struct Attempt {
    ChunkReport report;
    bool holds = false;
  };

  bool can_code(double bound) const {
    return recipe_.is_lossless() || (bound > 0 && recipe_.inner_bound(bound) > 0);
  }

  // A payload with a body: whose it is, and at which bound and width.
  struct Opened {
    const Pipeline<T>& pipeline;
    ByteView body;
    double bound;
    CodeWidth width = Pipeline<T>::kWidth;
  };
  Opened open(Payload kind, Reader& in, double bound) const {
    if (kind == Payload::lossless) return {lossless_, in.rest(), 0};
    if (!follows_recipe(kind)) fail_corrupt("unknown kind of chunk");  // others take layers apart
    if (!can_code(bound)) fail_corrupt("coded chunk without a bound");
    if (kind == Payload::narrow) return {recipe_, in.rest(), bound, CodeWidth::bits16};
    if (kind == Payload::levels) LevelTable::read(in);
    if (kind == Payload::tightened) {
      const int halvings = in.get<u8>();
      if (halvings < 1 || halvings > kMostHalvings) fail_corrupt("a bound made too small");
      bound = std::ldexp(bound, -halvings);
    }
    return {recipe_, in.rest(), bound};
  }

  static ChunkReport put_constant(const Job& job, Writer& out) {
    T value;
    std::memcpy(&value, job.values.data, sizeof value);
    out.put(Payload::constant);
    out.put(value);
    HashedValues decoded;
    put_repeated(value, job.size(), decoded);
    return {.special = job.is_special(value) ? job.size() : 0, .decoded_hash = decoded.hash()};
  }

  // By the quantizer, which checks every value: with narrow codes where the chunk has them.
  Attempt put_coded(const Job& job, Writer& out) const {
    const size_t start = out.size();
    if (!job.mask.is_needed && recipe_.takes(CodeWidth::bits16, job.values.shape)) {
      out.put(Payload::narrow);
      if (const auto attempt = put_body(job, CodeWidth::bits16, out)) return *attempt;
      out.truncate(start);
    }
    out.put(Payload::coded);
    return *put_body(job, Pipeline<T>::kWidth, out);
  }
  std::optional<Attempt> put_body(const Job& job, CodeWidth width, Writer& out) const {
    HashedValues decoded;
    auto report =
        recipe_.encode(job.values, job.bound, job.mask, width, decoded, out, job.settings);
    if (!report) return {};
    report->decoded_hash = decoded.hash();
    return Attempt{*report, report->fits && report->max_error <= job.bound.most};
  }

  // After a preprocessor the quantizer's check says nothing about the original values: decoded ones
  // are compared with them, and the bound is tightened until it holds. Where a preprocessor
  // computes, decoded values must also stay what they are if they are compressed again.
  Attempt put_compared(const Job& job, Writer& out) const {
    Buffer<T> original(job.size()), decoded(job.size());
    gather(job.values, original.data());
    const Field<T> given{original.data(), job.values.shape}, found{decoded.data(), given.shape};
    const bool must_stay = !is_pointwise() && recipe_.computes();
    const size_t start = out.size();
    const auto attempt_with = [&](int halvings) {
      out.truncate(start);
      return put_halved(job, halvings, given, found, must_stay, out);
    };
    Attempt attempt = attempt_with(0);
    if (must_stay && !(attempt.holds && attempt.report.max_error == 0)) {
      // What a smaller bound has made must stay.
      int made = 1;
      while (made <= kMostHalvings && !stays(given, halved(job, made), job.mask)) ++made;
      if (made <= kMostHalvings)
        attempt = attempt_with(made);
      else
        for (int halvings = 1; !attempt.holds && halvings <= kMostHalvings; ++halvings)
          attempt = attempt_with(halvings);
    }
    attempt.report.decoded_hash = hash_of(bytes_of(found.values()));
    return attempt;
  }
  // With the bound halved that often. Leaves the decoded values in `found`.
  Attempt put_halved(const Job& job, int halvings, Field<T> given, Field<T> found, bool must_stay,
                     Writer& out) const {
    out.put(halvings > 0 ? Payload::tightened : Payload::coded);
    if (halvings > 0) out.put(u8(halvings));
    const ChunkBound inner(halved(job, halvings), job.bound.each);
    KeptValues kept(found.data);
    Attempt attempt{*recipe_.encode(job.values, inner, job.mask, Pipeline<T>::kWidth, kept, out)};
    attempt.holds = attempt.report.fits && keeps_bound(job, given, found, attempt.report) &&
                    (!must_stay || stays(found, inner.most, job.mask));
    return attempt;
  }
  static double halved(const Job& job, int halvings) {
    return std::ldexp(job.bound.most, -halvings);
  }

  ChunkReport put_exact(const Job& job, Writer& out) const {
    const size_t start = out.size(), bytes = job.size() * sizeof(T);
    out.put(Payload::lossless);
    HashedValues decoded;
    ChunkReport report =
        *lossless_.encode(job.values, 0.0, job.mask, Pipeline<T>::kWidth, decoded, out);
    report.decoded_hash = decoded.hash();
    if (out.size() - start > bytes) {
      out.truncate(start);
      return put_stored(job, out);
    }
    return report;
  }
  static ChunkReport put_stored(const Job& job, Writer& out) {
    out.put(Payload::stored);
    const std::span<u8> stored = out.extend(job.size() * sizeof(T));
    gather(job.values, stored.data());
    u64 special = 0;
    for (size_t i = 0; i < job.size(); ++i) {
      T value;
      std::memcpy(&value, stored.data() + i * sizeof value, sizeof value);
      special += job.is_special(value);
    }
    return {.special = special, .decoded_hash = hash_of(stored)};
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

  // Whether values that were decoded once stay what they are if they are compressed again.
  bool stays(Field<T> decoded, double bound, const Mask& mask) const {
    Buffer<T> again(decoded.size());
    std::ranges::copy(decoded.values(), again.data());
    recipe_.measure({again.data(), decoded.shape}, bound, mask);
    return std::memcmp(again.data(), decoded.data, decoded.values().size_bytes()) == 0;
  }

  // Whether each value has an error that the bound allows, and special values are the same. Finds
  // the largest error.
  bool keeps_bound(const Job& job, Field<T> given, Field<T> found, ChunkReport& report) const {
    const AnyPreprocessor<T>* const judge = recipe_.bound_changer();
    return compare(job, given.data, found.data, report, [&](T a, T b, double error, size_t) {
      return judge ? judge->holds(a, b, job.bound.most) : error < job.bound.most;
    });
  }
  // Whether the payload gives back the values that the report has the checksum of, and they are
  // within the bound. After a preprocessor they have been compared already.
  bool comes_back(const Job& job, ByteView payload, ChunkReport& report) const {
    Buffer<T> given(job.size()), found(job.size());
    gather(job.values, given.data());
    KeptValues values(found.data());
    try {
      decompress(payload, job.values.shape, job.bound.most, values, {});
    } catch (const Error&) {
      return false;
    }
    if (hash_of(bytes_of(std::span<const T>(found))) != report.decoded_hash) return false;
    const auto& each = job.bound.each;
    return !recipe_.preprocessors.empty() ||
           compare(job, given.data(), found.data(), report, [&](T, T, double error, size_t i) {
             return error <= (each.empty() ? job.bound.most : std::min(job.bound.most, each[i]));
           });
  }
  template <class Holds>
  static bool compare(const Job& job, const T* given, const T* found, ChunkReport& report,
                      Holds&& holds) {
    report.max_error = 0;
    for (size_t i = 0; i < job.size(); ++i) {
      if (bits_of(given[i]) == bits_of(found[i])) continue;
      const double error = error_between(given[i], found[i]);
      if (job.is_special(given[i]) || job.is_special(found[i]) ||
          !holds(given[i], found[i], error, i))
        return false;
      report.max_error = std::max(report.max_error, error);
    }
    return std::isfinite(report.max_error);
  }

  Pipeline<T> recipe_, lossless_;
  bool is_trusted_;
};

}  // namespace leeway

// SPDX-License-Identifier: BSD-3-Clause
// Pipeline: the stages of one recipe for one element type, one after the other, in both
// directions.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>

#include "leeway/base/distance.h"
#include "leeway/codec/anatomy.h"
#include "leeway/codec/body.h"
#include "leeway/codec/chunk_codec.h"
#include "leeway/join/join.h"
#include "leeway/stage/erased.h"

namespace leeway {

template <class T>
struct Pipeline {
  std::vector<std::unique_ptr<AnyPreprocessor<T>>> preprocessors;
  std::unique_ptr<Join<T>> join;
  std::unique_ptr<AnyEncoder> encoder;
  std::vector<std::unique_ptr<AnyLossless>> lossless;

  static constexpr CodeWidth kWidth = kWidthOf<Code<T>>;

  // Appends the packed body of `chunk` to `out`; hands to `decoded` what decode() will give. Says
  // nothing if the chunk has no codes of this width; what was written is to be forgotten then.
  std::optional<ChunkReport> encode(const View& chunk, const ChunkBound& bound, const Mask& mask,
                                    CodeWidth width, ValueSink& decoded, Writer& out,
                                    ByteView settings = {}) const {
    const auto size = size_t(chunk.shape.size());
    Writer packable;
    Writer& plain = lossless.empty() ? out : packable;
    if (!lossless.empty()) plain.reserve(size * sizeof(T) / 2);
    const size_t start = plain.size();
    plain.extend(Body<T>::kEmpty);  // replaced by the sections, which are mostly empty
    const auto codes = encoder->sink(width, size, plain);
    if (!codes) return {};

    Body<T> body(preprocessors.size());
    auto report = reduce(chunk, bound, mask, decoded, *codes, body, settings);
    if (!report) return {};

    Writer sections;
    body.write(sections, encoder->is_unpacked());
    plain.replace(start, Body<T>::kEmpty, sections.bytes());
    if (lossless.empty() && preprocessors.empty())
      for (const size_t bytes : codes->level_ends())
        report->levels.push_back(sections.size() + bytes);
    if (!lossless.empty()) {
      report->fits &= plain.size() - start <= Body<T>::most_bytes(size);
      pack(std::move(packable), out);
    }
    return report;
  }

  // With a last level above 0, a part of the body will do (ChunkReport::levels). Values that are
  // not wanted may be left out; says whether none are.
  bool decode(ByteView packed, const Shape& shape, double bound, CodeWidth width,
              ValueSink& decoded, const Wanted& wanted = {}) const {
    if (!takes(width, shape)) fail_corrupt("codes of a width that the recipe does not have");
    const auto size = size_t(shape.size());
    const Writer unpacked = unpack(packed, size);
    Reader plain(lossless.empty() ? packed : unpacked.bytes());
    Body<T> body(preprocessors.size());
    body.read(plain, size);
    const auto codes = encoder->source(width, plain, size);
    if (!codes) fail_corrupt("codes of a width that the recipe does not have");
    if (width != kWidth && (body.special.count() > 0 || body.exact.count() > 0))
      fail_corrupt("narrow codes beside other values");

    const bool is_complete = restore(body, shape, bound, *codes, decoded, wanted);
    plain.expect_end();
    return is_complete;
  }

  // Decodes, and finds what the body consists of.
  void explain(ByteView packed, const Shape& shape, double bound, Anatomy& found) const {
    const auto size = size_t(shape.size());
    const Writer unpacked = unpack(packed, size);
    Reader plain(lossless.empty() ? packed : unpacked.bytes());
    found.packed_bytes = packed.size();
    found.body_bytes = plain.remaining();
    Body<T>::list_parts(plain, preprocessors.size(), [&](std::string name, size_t bytes) {
      found.parts.push_back({std::move(name), bytes});
    });
    Body<T> body(preprocessors.size());
    body.read(plain, size);
    found.settings = join->settings_text({inner_shape(body, shape), inner_bound(bound)}, Reader(body.notes.bytes()));
    const auto codes = encoder->source(found.width, plain, size);
    if (!codes) fail_corrupt("codes of a width that the recipe does not have");
    with_codes(found.width, [&]<class I>(std::type_identity<I>) {
      CountedSource<I> counted(typed<I>(*codes), found.codes);
      HashedValues decoded;
      restore(body, shape, bound, counted, decoded, {});
      counted.finish();
    });
  }

  // encode() without the coding, in place: what would come back, with what error?
  ChunkReport measure(Field<T> field, const ChunkBound& bound, const Mask& mask) const {
    NoSink<Code<T>> nowhere;
    KeptValues decoded(field.data);
    Body<T> body(preprocessors.size());
    return *reduce(view_of(field.data, field.shape), bound, mask, decoded, nowhere, body);
  }

  // Whether the values may have come out of decode(): a quick look, which may err towards yes.
  bool may_have_made(const View& chunk, const ChunkBound& bound, const Mask& mask) const {
    if (!preprocessors.empty() || !bound.each.empty()) return true;
    return with_job(chunk, bound, mask, [&](const auto& job) { return join->may_have_made(job); });
  }
  // What trials find; nothing if there are none, or if preprocessors come before.
  Writer settings_for(const View& chunk, const ChunkBound& bound, const Mask& mask) const {
    if (!preprocessors.empty() || !bound.each.empty() || !join->traits().makes_trials) return {};
    return with_job(chunk, bound, mask, [&](const auto& job) { return join->settings_for(job); });
  }

  // Whether chunks of this shape can have codes of this width.
  bool takes(CodeWidth width, const Shape& shape) const {
    return width == kWidth || (preprocessors.empty() && join->takes(width, shape));
  }
  // The bound for what the preprocessors make of values; 0: only without loss.
  double inner_bound(double bound) const {
    for (const auto& stage : preprocessors) bound = stage->inner_bound(bound);
    return bound;
  }
  ChunkBound inner(ChunkBound bound) const {
    bound.most = inner_bound(bound.most);
    return bound;
  }
  // Whether a preprocessor computes new values, instead of moving those there are.
  bool computes() const {
    return std::ranges::any_of(preprocessors,
                               [](const auto& stage) { return !stage->is_reversible(); });
  }
  // Whether every value comes back bit for bit.
  bool is_lossless() const { return join->traits().lossless && !computes(); }
  // The preprocessor that says what the bound means; null: it is an absolute one.
  const AnyPreprocessor<T>* bound_changer() const {
    for (const auto& stage : preprocessors)
      if (stage->changes_bound()) return stage.get();
    return nullptr;
  }

 private:
  // Calls f with what there is to encode when special values are taken out.
  template <class F>
  static auto with_job(const View& chunk, const ChunkBound& bound, const Mask& mask, F&& f) {
    const Fills<T> fills(mask.fills);
    if (!mask.is_needed) return f(ToEncode<T>{chunk, bound, {{}, fills}});
    const auto call = [&](const T* values, std::span<const u8> special) {
      return f(ToEncode<T>{view_of(values, chunk.shape), bound, {special, fills}});
    };
    if (mask.taken)
      return call(reinterpret_cast<const T*>(mask.taken->values.data()), mask.taken->special);
    Buffer<T> values(size_t(chunk.shape.size()));
    gather(chunk, values.data());
    Patches<T> unused;
    const std::vector<u8> flags = mask.take_out(Field<T>{values.data(), chunk.shape}, unused);
    return call(values.data(), flags);
  }

  // Mask, preprocess, predict and quantize, encode.
  std::optional<ChunkReport> reduce(const View& chunk, const ChunkBound& bound, const Mask& mask,
                                    ValueSink& decoded, AnySink& codes, Body<T>& body,
                                    ByteView settings = {}) const {
    // Without loss, no value becomes another.
    const Fills<T> fills = bound.most > 0 ? Fills<T>(mask.fills) : Fills<T>();
    if (!mask.is_needed && preprocessors.empty())
      return join_values({chunk, bound, {{}, fills}, settings}, decoded, codes, body);
    WholeField<T> whole(decoded, chunk.shape);
    Field<T> field = whole.field;
    if (!is_in_place(chunk, field)) gather(chunk, field.data);
    // After a preprocessor that computes, nobody knows what a value will become.
    const bool looks_again = !fills.empty() && computes();
    Buffer<T> originals(looks_again ? field.size() : 0);
    if (looks_again) std::ranges::copy(field.values(), originals.data());

    std::vector<u8> flags = mask.take_out(field, body.special);
    const size_t special = body.special.count();
    for (size_t i = 0; i < preprocessors.size(); ++i)
      preprocessors[i]->forward(field, flags, body.sides[i]);
    KeptValues kept(field.data);
    auto report = join_values({view_of(field.data, field.shape),
                               inner(bound),
                               {flags, looks_again ? Fills<T>() : fills},
                               settings},
                              kept, codes, body);
    if (!report) return {};
    undo_preprocessors(field, body);
    if (looks_again) body.special = with_those_become(fills, field, originals, mask);
    body.special.apply(field.values());

    report->special = special;
    report->exact += body.special.count() - special;
    whole.finish();
    return report;
  }

  // The same back.
  bool restore(const Body<T>& body, const Shape& shape, double bound, AnySource& codes,
               ValueSink& decoded, const Wanted& wanted) const {
    if (body.special.count() == 0 && preprocessors.empty())
      return split_values({shape, bound, wanted}, body, codes, decoded);
    WholeField<T> whole(decoded, shape);
    Field<T> field{whole.field.data, inner_shape(body, shape)};

    KeptValues inner(field.data);
    // A preprocessor may need all values for one.
    const Wanted needed{wanted.last_level, preprocessors.empty() ? wanted.box : std::nullopt};
    const bool is_complete =
        split_values({field.shape, inner_bound(bound), needed}, body, codes, inner);
    undo_preprocessors(field, body);
    body.special.apply(field.values());
    whole.finish();
    return is_complete;
  }

  std::optional<ChunkReport> join_values(const ToEncode<T>& job, ValueSink& decoded, AnySink& codes,
                                         Body<T>& body) const {
    Encoded<T> out{codes};
    if (!join->encode(job, decoded, out)) return {};
    body.notes = std::move(out.notes);
    body.exact = std::move(out.exact);
    ChunkReport report;
    report.max_error = stated_error<T>(out.max_error, job.bound.most);
    report.exact = body.exact.count();
    report.fits = body.notes.size() <= Body<T>::most_bytes(size_t(job.values.shape.size()));
    return report;
  }
  bool split_values(const ToDecode& job, const Body<T>& body, AnySource& codes,
                    ValueSink& decoded) const {
    Reader notes(body.notes.bytes());
    const bool is_complete = join->decode(job, {codes, body.exact, notes}, decoded);
    notes.expect_end();
    return is_complete;
  }

  // What the preprocessors have made of the shape of a chunk.
  Shape inner_shape(const Body<T>& body, Shape shape) const {
    for (size_t i = 0; i < preprocessors.size(); ++i)
      shape = preprocessors[i]->inner_shape(shape, Reader(body.sides[i].bytes()));
    return shape;
  }
  void undo_preprocessors(Field<T>& field, const Body<T>& body) const {
    for (size_t i = preprocessors.size(); i-- > 0;) {
      Reader side(body.sides[i].bytes());
      preprocessors[i]->backward(field, side);
      side.expect_end();
    }
  }

  // Patches of the special values, and of those that have become fill values.
  static Patches<T> with_those_become(const Fills<T>& fills, Field<T> decoded,
                                      const Buffer<T>& originals, const Mask& mask) {
    Patches<T> patches;
    for (size_t i = 0; i < decoded.size(); ++i)
      if (mask.is_special(originals[i]) || fills.has(decoded.data[i])) patches.add(i, originals[i]);
    return patches;
  }

  void pack(Writer body, Writer& out) const {
    for (size_t i = 0; i + 1 < lossless.size(); ++i) {
      Writer packed;
      lossless[i]->compress(body.bytes(), packed);
      body = std::move(packed);
    }
    lossless.back()->compress(body.bytes(), out);
  }
  // What the lossless stages packed, if there are any.
  Writer unpack(ByteView bytes, size_t size) const {
    Writer unpacked;
    for (size_t i = lossless.size(); i-- > 0; bytes = unpacked.bytes()) {
      Writer next;
      lossless[i]->decompress(bytes, Body<T>::most_bytes(size), next);
      unpacked = std::move(next);
    }
    return unpacked;
  }
};

}  // namespace leeway

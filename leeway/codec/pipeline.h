// SPDX-License-Identifier: BSD-3-Clause
// Pipeline: the stages of one recipe for one element type, applied to one chunk (docs/FORMAT.md,
// "Body").
//
// Encoders, lossless stages and preprocessors stand behind small interfaces, called once a chunk;
// predictor and quantizer are joined at compile time (join/join.h).
#pragma once

#include <memory>
#include <optional>

#include "leeway/base/distance.h"
#include "leeway/base/export.h"
#include "leeway/codec/mask.h"
#include "leeway/join/join.h"
#include "leeway/lossless/zstd.h"

namespace leeway {

template <class T>
class AnyPreprocessor {
 public:
  virtual ~AnyPreprocessor() = default;
  // `special` is empty or says which values do not matter; it is cleared if nobody knows what
  // became of them.
  virtual void forward(Field<T>& field, std::vector<u8>& special, Writer& side) const = 0;
  virtual void backward(Field<T>& field, Reader& side) const = 0;
  // What forward() made of the shape.
  virtual Shape inner_shape(const Shape& shape, Reader) const { return shape; }
  // Whether backward() gives back any values bit for bit.
  virtual bool is_reversible() const { return false; }
  // Whether the bound means something else before it than behind it, and how both are related.
  virtual bool changes_bound() const { return false; }
  virtual double inner_bound(double bound) const { return bound; }
  virtual bool holds(T, T, double) const { return false; }  // asked if it changes the bound
};

class AnyEncoder {
 public:
  virtual ~AnyEncoder() = default;
  virtual u64 chunk_values() const = 0;
  // For `count` codes. `out` must not be touched before finish(), and outlive the sink.
  virtual std::unique_ptr<CodeSink<i32>> sink32(size_t count, Writer& out) const = 0;
  virtual std::unique_ptr<CodeSink<i64>> sink64(size_t count, Writer& out) const = 0;
  // Of narrow codes; null if there are none.
  virtual std::unique_ptr<CodeSink<i16>> sink16(size_t, Writer&) const { return {}; }
  virtual std::unique_ptr<CodeSource<i16>> source16(Reader&, size_t) const { return {}; }
  // `in` must outlive the source.
  virtual std::unique_ptr<CodeSource<i32>> source32(Reader& in, size_t count) const = 0;
  virtual std::unique_ptr<CodeSource<i64>> source64(Reader& in, size_t count) const = 0;
};

class AnyLossless {
 public:
  virtual ~AnyLossless() = default;
  virtual void compress(ByteView bytes, Writer& out) const = 0;
  virtual void decompress(ByteView bytes, size_t limit, Writer& out) const = 0;
};

template <class S, class T>
concept ChangesBound = requires(const S s, T value) {
  s.template inner_bound<T>(1.0), s.holds(value, value, 1.0);
};

template <class T, Preprocessor<T> S>
std::unique_ptr<AnyPreprocessor<T>> erase_preprocessor(S stage) {
  struct Erased final : AnyPreprocessor<T> {
    S stage;
    explicit Erased(S s) : stage(std::move(s)) {}
    void forward(Field<T>& field, std::vector<u8>& special, Writer& side) const override {
      if constexpr (TakesSpecial<S, T>) {
        stage.forward(field, special, side);
      } else {
        stage.forward(field, side);
        special.clear();
      }
    }
    void backward(Field<T>& field, Reader& side) const override { stage.backward(field, side); }
    Shape inner_shape(const Shape& shape, Reader side) const override {
      if constexpr (requires { stage.inner_shape(shape, side); })
        return stage.inner_shape(shape, side);
      else
        return shape;
    }
    bool is_reversible() const override { return S::kTraits.moves_only; }
    bool changes_bound() const override { return ChangesBound<S, T>; }
    double inner_bound(double bound) const override {
      if constexpr (ChangesBound<S, T>)
        return stage.template inner_bound<T>(bound);
      else
        return bound;
    }
    bool holds(T original, T decoded, double bound) const override {
      if constexpr (ChangesBound<S, T>)
        return stage.holds(original, decoded, bound);
      else
        return false;
    }
  };
  return std::make_unique<Erased>(std::move(stage));
}

namespace detail {

template <Encoder S>
class ErasedEncoder final : public AnyEncoder {
 public:
  explicit ErasedEncoder(S stage) : stage_(std::move(stage)) {}
  u64 chunk_values() const override {
    return S::kTraits.chunk_values ? S::kTraits.chunk_values : u64(1) << 17;
  }
  std::unique_ptr<CodeSink<i32>> sink32(size_t count, Writer& out) const override {
    return make_sink<i32>(stage_, count, out);
  }
  std::unique_ptr<CodeSink<i64>> sink64(size_t count, Writer& out) const override {
    return make_sink<i64>(stage_, count, out);
  }
  std::unique_ptr<CodeSink<i16>> sink16(size_t count, Writer& out) const override {
    if constexpr (S::kTraits.narrow_codes)
      return make_sink<i16>(stage_, count, out);
    else
      return {};
  }
  std::unique_ptr<CodeSource<i16>> source16(Reader& in, size_t count) const override {
    if constexpr (S::kTraits.narrow_codes)
      return make_source<i16>(stage_, in, count);
    else
      return {};
  }
  std::unique_ptr<CodeSource<i32>> source32(Reader& in, size_t count) const override {
    return make_source<i32>(stage_, in, count);
  }
  std::unique_ptr<CodeSource<i64>> source64(Reader& in, size_t count) const override {
    return make_source<i64>(stage_, in, count);
  }

 private:
  S stage_;
};

}  // namespace detail

template <Encoder S>
std::unique_ptr<AnyEncoder> erase_encoder(S stage) {
  return std::make_unique<detail::ErasedEncoder<S>>(std::move(stage));
}

template <Lossless S>
std::unique_ptr<AnyLossless> erase_lossless(S stage) {
  struct Erased final : AnyLossless {
    S stage;
    explicit Erased(S s) : stage(std::move(s)) {}
    void compress(ByteView bytes, Writer& out) const override { stage.compress(bytes, out); }
    void decompress(ByteView bytes, size_t limit, Writer& out) const override {
      stage.decompress(bytes, limit, out);
    }
  };
  return std::make_unique<Erased>(std::move(stage));
}

struct ChunkReport {
  double max_error = 0;
  u64 special = 0;  // NaN, infinities, fill values
  u64 exact = 0;    // other values kept bit for bit because no code reached them
  u64 decoded_hash = 0;
  bool fits = true;  // whether nothing is larger than decoders take
  // How many bytes of the body hold every second value along all axes, every fourth, and so on;
  // empty if nobody knows.
  std::vector<size_t> levels{};
};

template <class T>
struct Pipeline {
  std::vector<std::unique_ptr<AnyPreprocessor<T>>> preprocessors;
  std::unique_ptr<Join<T>> join;
  std::unique_ptr<AnyEncoder> encoder;
  std::vector<std::unique_ptr<AnyLossless>> lossless;

  // The bound for what the preprocessors make of values; 0: only without loss.
  double inner_bound(double bound) const {
    for (const auto& stage : preprocessors) bound = stage->inner_bound(bound);
    return bound;
  }
  // Whether a preprocessor computes new values, instead of moving those there are.
  bool computes() const {
    return std::ranges::any_of(preprocessors,
                               [](const auto& stage) { return !stage->is_reversible(); });
  }
  // The preprocessor that says what the bound means; null: it is an absolute one.
  const AnyPreprocessor<T>* bound_changer() const {
    for (const auto& stage : preprocessors)
      if (stage->changes_bound()) return stage.get();
    return nullptr;
  }

  // Appends the body of `chunk` to `out`, hands to `values` what decompress() will give.
  ChunkReport compress(const View& chunk, ValueSink& values, const ChunkBound& bound,
                       const Mask& mask, Writer& out) const {
    const auto size = size_t(chunk.shape.size());
    const auto make_sink = [&](Writer& body) { return sink(size, body); };
    return *put_body(size, out, make_sink, [&](Writer& before, CodeSink<Code<T>>& codes) {
      return std::optional(reduce(chunk, values, bound, mask, before, codes));
    });
  }
  bool can_be_narrow(const Shape& shape) const {
    return preprocessors.empty() && join->can_be_narrow(shape);
  }
  // The same with narrow codes, if they can be. Says nothing where there are none for this chunk;
  // what it wrote is to be forgotten then.
  std::optional<ChunkReport> compress_narrow(const View& chunk, ValueSink& values, double bound,
                                             Writer& out) const {
    const auto size = size_t(chunk.shape.size());
    const auto make_sink = [&](Writer& body) { return encoder->sink16(size, body); };
    return put_body(size, out, make_sink, [&](Writer& before, CodeSink<i16>& codes) {
      Writer side;
      const auto max_error = join->forward_narrow(chunk, values, bound, codes, side);
      std::optional<ChunkReport> report;
      if (!max_error) return report;
      put_patches(before, {});
      put_packed(before, side);
      put_patches(before, {});
      report = {.max_error = stated_error<T>(*max_error, bound)};
      return report;
    });
  }

  // compress() without the coding, in place: what would come back, with what error?
  ChunkReport measure(Field<T> field, const ChunkBound& bound, const Mask& mask) const {
    Writer body;
    NoSink<Code<T>> nowhere;
    KeptValues values(field.data);
    return reduce(view_of(field.data, field.shape), values, bound, mask, body, nowhere);
  }

  // With a last level above 0, a part of the body will do (ChunkReport::levels). Values that are
  // not wanted may be left out; says whether none are.
  bool decompress(ByteView packed, double bound, const Shape& shape, ValueSink& values,
                  const Wanted& wanted = {}) const {
    const auto size = size_t(shape.size());
    const Writer unpacked = unpack(packed, size);
    Reader body(lossless.empty() ? packed : unpacked.bytes());
    const auto special = read_patches(body, size);
    std::vector<Reader> sides;
    for (size_t i = 0; i < preprocessors.size(); ++i) sides.emplace_back(body.take_section());
    const Writer notes = take_packed(body, most_bytes(size));
    Reader side(notes.bytes());
    const auto exact = read_patches(body, size);
    const auto source = [&] {
      if constexpr (sizeof(Code<T>) == 4)
        return encoder->source32(body, size);
      else
        return encoder->source64(body, size);
    }();
    const auto finish = [&] {
      body.expect_end();
      side.expect_end();
    };
    if (special.count() == 0 && preprocessors.empty()) {
      const bool complete =
          join->backward(shape, values, inner_bound(bound), *source, exact, side, wanted);
      finish();
      return complete;
    }
    WholeField<T> whole(values, shape);
    Field<T> field = whole.field;
    for (size_t i = 0; i < preprocessors.size(); ++i)
      field.shape = preprocessors[i]->inner_shape(field.shape, sides[i]);
    KeptValues inner(field.data);
    // A preprocessor may need all values for one.
    const Wanted needed{wanted.last_level, preprocessors.empty() ? wanted.box : std::nullopt};
    const bool complete =
        join->backward(field.shape, inner, inner_bound(bound), *source, exact, side, needed);
    finish();
    for (size_t i = preprocessors.size(); i-- > 0;) {
      preprocessors[i]->backward(field, sides[i]);
      sides[i].expect_end();
    }
    special.apply(field.values());
    whole.finish();
    return complete;
  }
  // The inverse of compress_narrow().
  void decompress_narrow(ByteView packed, double bound, const Shape& shape,
                         ValueSink& values) const {
    if (!can_be_narrow(shape)) fail_corrupt("narrow codes where there are none");
    const auto size = size_t(shape.size());
    const Writer unpacked = unpack(packed, size);
    Reader body(lossless.empty() ? packed : unpacked.bytes());
    const bool special = !body.take_section().empty();
    const Writer notes = take_packed(body, most_bytes(size));
    Reader side(notes.bytes());
    const bool exact = !body.take_section().empty();
    if (special || exact) fail_corrupt("narrow codes beside other values");
    const auto source = encoder->source16(body, size);
    if (!source) fail_corrupt("narrow codes where there are none");
    join->backward_narrow(shape, values, bound, *source, side);
    body.expect_end();
    side.expect_end();
  }

 private:
  static constexpr size_t kSectionsBefore = 3;  // special values, side data, exact values

  // What decoders take at most as content of a lossless stage, and as side data: twice the values
  // and their codes, and something for tables. That is enough for any body without loss, huffman
  // behind the mask: at most 3 + sizeof(T) bytes for a special value (Patches::most_bytes) and 12
  // bits and a whole code for its token, together less than sizeof(T) + sizeof(Code) + 5. The other
  // encoders take at most (bytes a code, c = sizeof(Code)): raw and pack c and fixed-huffman c + 2
  // in any case, adaptive c + 2.5, rans c + 2, fixed 1.3 c, arithmetic and residual c + 2 but for
  // codes that deceive every probability. What is larger nevertheless is kept without loss.
  static size_t most_bytes(size_t size) {
    return 2 * size * (sizeof(T) + sizeof(Code<T>)) + (size_t(1) << 16);
  }

  // What the lossless stages packed, if there are any.
  Writer unpack(ByteView bytes, size_t size) const {
    Writer unpacked;
    for (size_t i = lossless.size(); i-- > 0; bytes = unpacked.bytes()) {
      Writer next;
      lossless[i]->decompress(bytes, most_bytes(size), next);
      unpacked = std::move(next);
    }
    return unpacked;
  }

  // put(before, codes) writes what stands before the codes, and the codes; it may say nothing.
  template <class MakeSink, class Put>
  std::optional<ChunkReport> put_body(size_t size, Writer& out, const MakeSink& make_sink,
                                      const Put& put) const {
    Writer before, packable;
    Writer& body = lossless.empty() ? out : packable;
    if (!lossless.empty()) packable.reserve(size * sizeof(T) / 2);
    const size_t start = body.size();
    body.extend(kSectionsBefore);  // as many bytes as the empty sections that mostly stand there
    const auto codes = make_sink(body);
    if (!codes) return {};
    std::optional<ChunkReport> report = put(before, *codes);
    if (!report) return {};
    body.replace(start, kSectionsBefore, before.bytes());
    report->fits &= lossless.empty() || body.size() - start <= most_bytes(size);
    if (lossless.empty() && preprocessors.empty())
      for (const size_t bytes : codes->marks()) report->levels.push_back(before.size() + bytes);
    if (!lossless.empty()) pack(std::move(packable), out);
    return report;
  }

  // Patches and notes are packed by themselves: coded values beside them are not worth packing, and
  // would disturb.
  static void put_packed(Writer& body, const Writer& plain) {
    Writer packed;
    if (plain.size() > 0) Zstd{.params = {.level = 9}}.compress(plain.bytes(), packed);
    body.put_section(packed.bytes());
  }
  static Writer take_packed(Reader& body, size_t limit) {
    const ByteView packed = body.take_section();
    Writer plain;
    if (!packed.empty()) Zstd().decompress(packed, limit, plain);
    return plain;
  }
  static void put_patches(Writer& body, const Patches<T>& patches) {
    Writer plain;
    if (patches.count() > 0) patches.write(plain);
    put_packed(body, plain);
  }
  static Patches<T> read_patches(Reader& body, size_t size) {
    const Writer plain = take_packed(body, Patches<T>::most_bytes(size));
    if (plain.size() == 0) return {};
    Reader in(plain.bytes());
    auto patches = Patches<T>::read(in, size);
    in.expect_end();
    return patches;
  }

  std::unique_ptr<CodeSink<Code<T>>> sink(size_t count, Writer& out) const {
    if constexpr (sizeof(Code<T>) == 4)
      return encoder->sink32(count, out);
    else
      return encoder->sink64(count, out);
  }

  // Everything but the last section of the body, which the sink makes of the codes.
  ChunkReport reduce(const View& source, ValueSink& values, const ChunkBound& bound,
                     const Mask& mask, Writer& body, CodeSink<Code<T>>& codes) const {
    ChunkReport report;
    const ChunkBound inner(inner_bound(bound.most), bound.each);
    const auto transformed = [&](const View& from, ValueSink& to, const Specials<T>& special,
                                 Writer& out) {
      Patches<T> exact;
      Writer side;
      report.max_error = stated_error<T>(
          join->forward(from, to, inner, special, codes, exact, side), inner.most);
      report.exact = exact.count();
      report.fits &= side.size() <= most_bytes(size_t(from.shape.size()));
      put_packed(out, side);
      put_patches(out, exact);
    };
    if (!mask.is_needed && preprocessors.empty()) {
      put_patches(body, {});
      transformed(source, values, {}, body);
      return report;
    }
    // Without loss, no value becomes another.
    const Fills<T> fills = bound.most > 0 ? Fills<T>(mask.fills) : Fills<T>();
    WholeField<T> whole(values, source.shape);
    Field<T> field = whole.field;
    if (!is_in_place(source, field)) gather(source, field.data);
    // Behind a preprocessor that computes, nobody knows what a value will become.
    const bool looks_again = !fills.empty() && computes();
    Buffer<T> originals(looks_again ? field.size() : 0);
    if (looks_again) std::ranges::copy(field.values(), originals.data());
    Patches<T> masked;
    std::vector<u8> special = mask.forward(field, masked);
    report.special = masked.count();
    Writer rest;  // what stands behind the special values
    std::vector<Writer> sides(preprocessors.size());
    for (size_t i = 0; i < preprocessors.size(); ++i) {
      preprocessors[i]->forward(field, special, sides[i]);
      rest.put_section(sides[i].bytes());
    }
    KeptValues kept(field.data);
    transformed(view_of(field.data, field.shape), kept, {special, looks_again ? Fills<T>() : fills},
                rest);
    for (size_t i = preprocessors.size(); i-- > 0;) {
      Reader side(sides[i].bytes());
      preprocessors[i]->backward(field, side);
    }
    if (looks_again) masked = with_those_become(fills, field, originals, mask);
    report.exact += masked.count() - report.special;
    masked.apply(field.values());
    whole.finish();
    put_patches(body, masked);
    body.put_bytes(rest.bytes());
    return report;
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
};

}  // namespace leeway

// SPDX-License-Identifier: BSD-3-Clause
// Erased: preprocessors, encoders and lossless stages behind small interfaces that are called once
// a chunk. Predictor and quantizer are joined at compile time instead (join/join.h).
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "leeway/stage/stage.h"

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
  virtual Shape inner_shape(const Shape& shape, Reader side) const = 0;
  // Whether backward() gives back any values bit for bit.
  virtual bool is_reversible() const = 0;
  // Whether the bound means something else for the values that forward() makes, and how both are
  // related.
  virtual bool changes_bound() const = 0;
  virtual double inner_bound(double bound) const = 0;
  virtual bool holds(T original, T decoded, double bound) const = 0;  // asked if it changes it
};

class AnyEncoder {
 public:
  virtual ~AnyEncoder() = default;
  virtual u64 chunk_values() const = 0;
  virtual bool is_unpacked() const = 0;  // Traits::unpacked
  // For `count` codes; null if there are none of this width. `out` must not be touched before
  // finish(), and must outlive the sink.
  virtual std::unique_ptr<AnySink> sink(CodeWidth width, size_t count, Writer& out) const = 0;
  // `in` must outlive the source.
  virtual std::unique_ptr<AnySource> source(CodeWidth width, Reader& in, size_t count) const = 0;
};

class AnyLossless {
 public:
  virtual ~AnyLossless() = default;
  virtual void compress(ByteView bytes, Writer& out) const = 0;
  virtual void decompress(ByteView bytes, size_t limit, Writer& out) const = 0;
};

namespace detail {

template <class S, class T>
concept ChangesBound =
    requires(const S s, T value) { s.template inner_bound<T>(1.0), s.holds(value, value, 1.0); };

template <class S, class T>
struct ErasedPreprocessor final : AnyPreprocessor<T> {
  S stage;
  explicit ErasedPreprocessor(S s) : stage(std::move(s)) {}
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

template <class S>
struct ErasedEncoder final : AnyEncoder {
  S stage;
  explicit ErasedEncoder(S s) : stage(std::move(s)) {}
  template <class I>
  static constexpr bool kTakes = sizeof(I) > 2 || S::kTraits.narrow_codes;
  u64 chunk_values() const override {
    return S::kTraits.chunk_values ? S::kTraits.chunk_values : u64(1) << 17;
  }
  bool is_unpacked() const override { return S::kTraits.unpacked; }
  std::unique_ptr<AnySink> sink(CodeWidth width, size_t count, Writer& out) const override {
    return with_codes(width, [&]<class I>(std::type_identity<I>) -> std::unique_ptr<AnySink> {
      if constexpr (kTakes<I>)
        return make_sink<I>(stage, count, out);
      else
        return {};
    });
  }
  std::unique_ptr<AnySource> source(CodeWidth width, Reader& in, size_t count) const override {
    return with_codes(width, [&]<class I>(std::type_identity<I>) -> std::unique_ptr<AnySource> {
      if constexpr (kTakes<I>)
        return make_source<I>(stage, in, count);
      else
        return {};
    });
  }
};

template <class S>
struct ErasedLossless final : AnyLossless {
  S stage;
  explicit ErasedLossless(S s) : stage(std::move(s)) {}
  void compress(ByteView bytes, Writer& out) const override { stage.compress(bytes, out); }
  void decompress(ByteView bytes, size_t limit, Writer& out) const override {
    stage.decompress(bytes, limit, out);
  }
};

}  // namespace detail

template <class T, Preprocessor<T> S>
std::unique_ptr<AnyPreprocessor<T>> erase_preprocessor(S stage) {
  return std::make_unique<detail::ErasedPreprocessor<S, T>>(std::move(stage));
}
template <Encoder S>
std::unique_ptr<AnyEncoder> erase_encoder(S stage) {
  return std::make_unique<detail::ErasedEncoder<S>>(std::move(stage));
}
template <Lossless S>
std::unique_ptr<AnyLossless> erase_lossless(S stage) {
  return std::make_unique<detail::ErasedLossless<S>>(std::move(stage));
}

}  // namespace leeway

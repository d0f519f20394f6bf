// SPDX-License-Identifier: BSD-3-Clause
// Pyramid: from coarse to fine, each value from the coarser ones around it (pyramid.md).
//
// A level doubles the resolution along all active axes. Its points fall into classes by which of
// their coordinates are new; a point is interpolated along each of its new axes by a cubic, and the
// directions are blended by how calm each is. Everything a row needs is known before the row:
// prediction and context are vector code, and the context tells the encoder what error to expect.
#pragma once

#include <functional>

#include "leeway/core/export.h"
#include "leeway/core/number.h"
#include "leeway/core/stage.h"
#include "leeway/predict/least_squares.h"
#include "leeway/predict/polyphase.h"
#include "leeway/predict/trials.h"

namespace leeway {

// What a pyramid needs of its caller: rows one after the other.
template <class C>
class PyramidRows {
 public:
  virtual ~PyramidRows() = default;
  // Values at [first, first + count) of the storage, which do not depend on each other: codes them,
  // leaves there what they become, and puts the sizes of their codes into `sizes`.
  virtual void row(size_t first, size_t count, const C* predicted, const u8* contexts,
                   u8* sizes) = 0;
  // The values that follow are of level `level`, counted from 0, the finest.
  virtual void begin_level(size_t level) = 0;
  // All of a level is done: the grid of the next finer one must be merged.
  virtual void end_level(size_t level, size_t slice) = 0;
};

struct Pyramid {
  static constexpr std::string_view kName = "pyramid";
  static constexpr std::string_view kAbout =
      "from coarse to fine, cubics along all axes blended by activity";
  static constexpr Kind kKind = Kind::predictor;
  static constexpr u64 kChunkValues = 3 << 21;
  static constexpr bool kNeedsStep = true;
  struct Params {
    i32 frozen = -1;
    i32 tight = -1;
    i32 taps = 12;
    i32 every = 8;
    i32 gain = 4;
    void fields(auto&& field) {
      field("frozen", frozen, -1, 255,
            "axes that are not interpolated, as bits, the slowest axis first; -1: chosen by trial");
      field("tight", tight, -1, 2,
            "how much smaller the bounds of coarse levels are; -1: by trial");
      field("taps", taps, 0, i32(kMostTaps), "known values whose weights are learned");
      field("every", every, 1, 64, "of so many values, one is learned from");
      field("gain", gain, 0, 99, "percent that learning must save in a trial to be used");
    }
  } params;
  size_t first_level = 0;  // what the finest level counts as, if coarser ones are tried alone

  template <class T, class Visit>
  void walk(Field<T> field, Visit&& visit) const {
    walk(view_of(field.data, field.shape), field, visit);
  }
  // Takes the values from `source`, unless the visitor decodes.
  template <class T, class Visit>
  void walk(const View& source, Field<T> field, Visit&& visit) const;

  // With all settings given: by trials on samples of an array, or as an encoder has written them.
  using Try = std::function<Trial(const Pyramid&, const Sample&)>;
  LEEWAY_EXPORT Pyramid settled(const Shape& shape, const Try& trial) const;
  LEEWAY_EXPORT void write(Writer& side) const;
  LEEWAY_EXPORT Pyramid read(const Shape& shape, Reader& side) const;

  // The bound of a level as a part of the finest one's.
  LEEWAY_EXPORT double tightening(size_t level) const;

 private:
  template <class C>
  LEEWAY_EXPORT void walk_rows(const Polyphase& layout, double step, size_t last, C* numbers,
                               PyramidRows<C>& rows) const;
  LEEWAY_EXPORT Polyphase layout_of(const Shape& shape) const;
};

template <class T, class Visit>
void Pyramid::walk(const View& source, Field<T> field, Visit&& visit) const {
  using C = Number<T>;
  const Polyphase layout = layout_of(field.shape);
  Buffer<T> storage(layout.size());
  if (!visit.decodes()) {
    Strides strides{};
    bool aligned = reinterpret_cast<std::uintptr_t>(source.data) % alignof(T) == 0;
    for (size_t axis = 0; axis < source.shape.rank(); ++axis) {
      aligned = aligned && source.strides[axis] % std::ptrdiff_t(sizeof(T)) == 0;
      strides[axis] = source.strides[axis] / std::ptrdiff_t(sizeof(T));
    }
    if (aligned) {
      layout.split(reinterpret_cast<const T*>(source.data), strides, storage.data());
    } else {
      gather(source, field.data);
      layout.split<T>(field.data, layout.natural_strides(), storage.data());
    }
  }
  Buffer<u8> special;
  if (const u8* flags = visit.marks()) {
    special = Buffer<u8>(layout.size());
    layout.split(flags, layout.natural_strides(), special.data());
  }
  Buffer<C> converted;
  C* numbers;
  if constexpr (std::is_same_v<T, C>) {
    numbers = storage.data();
  } else {
    converted = Buffer<C>(layout.size());
    numbers = converted.data();
  }

  struct Rows final : PyramidRows<C> {
    const Pyramid& pyramid;
    const Polyphase& layout;
    T* storage;
    C* numbers;  // the same, to compute with
    const u8* special;
    std::remove_reference_t<Visit>& visit;
    std::array<Predicted<T>, kMostCodes> converted;
    Rows(const Pyramid& p, const Polyphase& l, T* s, C* n, const u8* flags,
         std::remove_reference_t<Visit>& v)
        : pyramid(p), layout(l), storage(s), numbers(n), special(flags), visit(v) {}

    void row(size_t first, size_t count, const C* predicted, const u8* contexts,
             u8* sizes) override {
      const Predicted<T>* p;
      if constexpr (std::is_same_v<Predicted<T>, C>) {
        p = predicted;
      } else {
        for (size_t i = 0; i < count; ++i) converted[i] = predicted_as<T>(predicted[i]);
        p = converted.data();
      }
      T* values = storage + first;
      visit.run(values, p, count, contexts, special ? special + first : nullptr, sizes);
      if constexpr (!std::is_same_v<T, C>)
        for (size_t i = 0; i < count; ++i) numbers[first + i] = C(values[i]);
    }
    void begin_level(size_t level) override {
      visit.tighten(pyramid.tightening(level));
      if (layout.slices().size() == 1)
        visit.mark(level);  // else levels are not one after the other
    }
    void end_level(size_t level, size_t slice) override {
      layout.merge_grid(level - 1, storage + slice);
      if constexpr (!std::is_same_v<T, C>) layout.merge_grid(level - 1, numbers + slice);
    }
  } rows(*this, layout, storage.data(), numbers, special.empty() ? nullptr : special.data(), visit);
  const size_t last = std::min(visit.last_level(), layout.levels().size());
  walk_rows<C>(layout, visit.step(), last, numbers, rows);
  if (last > 0)
    layout.scatter_grid(last - 1, storage.data(), field.data);
  else
    layout.merge(storage.data(), field.data);
}

}  // namespace leeway

// SPDX-License-Identifier: BSD-3-Clause
// Pyramid: from coarse to fine, each value from the coarser ones around it (pyramid.md).
//
// A level doubles the resolution along all active axes. Its points fall into classes by which of
// their coordinates are new; a point is interpolated along each of its new axes by a cubic, and the
// directions are blended by how calm each is. Everything a row needs is known before the row:
// prediction and context are vector code, and the context tells the encoder what error to expect.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "leeway/base/export.h"
#include "leeway/base/parallel.h"
#include "leeway/predict/pyramid/least_squares.h"
#include "leeway/predict/pyramid/storage.h"
#include "leeway/predict/trials.h"
#include "leeway/stage/stage.h"

namespace leeway {

struct Pyramid {
  static constexpr std::string_view kName = "pyramid";
  static constexpr std::string_view kAbout =
      "from coarse to fine, cubics along all axes blended by activity";
  static constexpr Kind kKind = Kind::predictor;
  static constexpr Traits kTraits{.chunk_values = 3 << 21, .needs_step = true};
  static constexpr i32 kMostTile = 40;
  struct Params {
    i32 frozen = -1;
    i32 tight = -1;
    i32 taps = 12;
    i32 every = 8;
    i32 gain = 4;
    i32 tile = -1;
    void fields(auto&& field) {
      field("frozen", frozen, -1, 255,
            "axes that are not interpolated, as bits, the slowest axis first; -1: chosen by trial");
      field("tight", tight, -1, 2,
            "how much smaller the bounds of coarse levels are; -1: by trial");
      field("taps", taps, 0, i32(kMostTaps), "known values whose weights are learned");
      field("every", every, 1, 64, "of so many values, one is learned from");
      field("gain", gain, 0, 99, "percent that learning must save in a trial to be used");
      field("tile", tile, -1, kMostTile,
            "fine levels are cut into tiles of 2^tile values, each decoded alone; 0: they are not; "
            "-1: into 2^19 where nothing is learned");
    }
  } params;
  size_t first_level = 0;  // what the finest level counts as, if coarser ones are tried alone

  template <class T>
  void walk(Field<T> field, Coder<T>& coder) const;

  // With all settings given: by trials on samples of an array, or as an encoder has written them.
  using Try = std::function<Trial(const Pyramid&, const Sample&)>;
  LEEWAY_EXPORT Pyramid settled(const Shape& shape, const Try& trial) const;
  // The settings that seem to have made decoded values, if any do.
  LEEWAY_EXPORT std::optional<Pyramid> maker(const Shape& shape, const Try& trial) const;
  LEEWAY_EXPORT void write(Writer& side) const;
  LEEWAY_EXPORT Pyramid read(const Shape& shape, Reader& side) const;

  // The bound of a level as a part of the finest one's.
  LEEWAY_EXPORT double tightening(size_t level) const;

  // The level whose bound the first value has.
  LEEWAY_EXPORT size_t level_of_first(const Shape& shape) const;

  // The axes that are not interpolated, as bits.
  LEEWAY_EXPORT u32 frozen_axes(const Shape& shape) const;

  // Finest levels where values depend on learned weights.
  LEEWAY_EXPORT size_t learned_levels() const;

 private:
  // The axes that are interpolated, as bits.
  LEEWAY_EXPORT u32 active_axes(const Shape& shape) const;
  template <class C>
  LEEWAY_EXPORT std::unique_ptr<PyramidWalk<C>> make_walk(const Tiles& tiles, double step) const;
  template <class T>
  void walk_segment(const TileSegment& segment, pyramid::Arrays<T>& arrays, Coder<T>& coder,
                    size_t finest, pyramid::Storage<T>& storage,
                    PyramidWalk<Number<T>>& walk) const;
  template <class T>
  void walk_segments(std::span<const TileSegment> alike, pyramid::Arrays<T>& arrays,
                     Coder<T>& coder, pyramid::Storage<T>& storage,
                     PyramidWalk<Number<T>>& walk) const;
};

// Step by step: load, code, put back. Levels below `finest` are left out.
template <class T>
void Pyramid::walk_segment(const TileSegment& segment, pyramid::Arrays<T>& arrays, Coder<T>& coder,
                           size_t finest, pyramid::Storage<T>& storage,
                           PyramidWalk<Number<T>>& walk) const {
  for (const TileStep& step : segment.steps) {
    if (step.level < finest) return;
    const Polyphase layout(step.shape, step.active, !step.is_top);
    storage.load(step, layout, arrays, coder);
    coder.tighten(tightening(step.level));
    walk.walk(step, layout, storage.numbers(), storage.magnitudes(), storage);
    storage.put_back(step, layout, arrays);
  }
}

// Segments that do not need each other, on several threads if there are some to share.
template <class T>
void Pyramid::walk_segments(std::span<const TileSegment> alike, pyramid::Arrays<T>& arrays,
                            Coder<T>& coder, pyramid::Storage<T>& storage,
                            PyramidWalk<Number<T>>& walk) const {
  Segments<T>& segments = coder.segments();
  const size_t finest = segments.finest();
  std::vector<std::unique_ptr<Coder<T>>> parts;  // null: coded already, or not wanted
  for (const TileSegment& segment : alike) {
    parts.push_back(segments.open(segment.count));
    if (!parts.back())
      walk_segment(segment, arrays, coder, finest, storage, walk);
    else if (segment.box && !segments.wants(*segment.box))
      parts.back().reset();
  }
  if (const unsigned threads = threads_to_share(); threads > 1 && parts.size() > 1) {
    for_each_index(parts.size(), threads, {}, [&](u64 i) {
      if (!parts[size_t(i)]) return;
      pyramid::Storage<T> own;
      walk_segment(alike[size_t(i)], arrays, *parts[size_t(i)], finest, own, *walk.another());
    });
  } else {
    for (size_t i = 0; i < parts.size(); ++i)
      if (parts[i]) walk_segment(alike[i], arrays, *parts[i], finest, storage, walk);
  }
  for (const auto& part : parts)
    if (part) segments.close(*part);
}

template <class T>
void Pyramid::walk(Field<T> field, Coder<T>& coder) const {
  const Tiles tiles(field.shape, active_axes(field.shape), size_t(std::max(params.tile, 0)),
                    first_level);
  if (tiles.segments.empty()) return;
  pyramid::Arrays<T> arrays(field, tiles, coder.flags());
  if (!coder.decoding()) arrays.values.coarsen();
  const auto walk = make_walk<Number<T>>(tiles, coder.step());
  const auto storage = std::make_unique_for_overwrite<pyramid::Storage<T>>();
  const std::span<const TileSegment> segments = tiles.segments;
  const size_t finest = coder.segments().finest();
  for (size_t first = 0, end = 0; first < segments.size(); first = end) {
    const TileSegment& segment = segments[first];
    if (segment.level < finest) break;
    if (segment.is_level) coder.segments().begin_level(segment.level);
    // Tiles of a level do not need each other.
    const auto is_alike = [&](const TileSegment& other) {
      return segment.box && other.box && other.level == segment.level;
    };
    end = first + 1;
    while (end < segments.size() && is_alike(segments[end])) ++end;
    walk_segments(segments.subspan(first, end - first), arrays, coder, *storage, *walk);
  }
  if (finest > 0) arrays.values.refine(std::min(finest, tiles.shapes.size() - 1));
}

}  // namespace leeway

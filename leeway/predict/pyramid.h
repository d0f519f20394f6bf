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

#include "leeway/core/export.h"
#include "leeway/core/number.h"
#include "leeway/core/parallel.h"
#include "leeway/core/stage.h"
#include "leeway/predict/least_squares.h"
#include "leeway/predict/resolutions.h"
#include "leeway/predict/tiles.h"
#include "leeway/predict/trials.h"

namespace leeway {

// Rows of a storage: the first value, how far rows are apart, how many, and values in each; at most
// kMostCodes in all.
struct Band {
  size_t first, pitch, lines, count;
};

// What a pyramid needs of its caller: bands one after the other.
template <class C>
class PyramidRows {
 public:
  virtual ~PyramidRows() = default;
  // Values of a band do not depend on each other: codes them, leaves in the storage what they
  // become, and puts the sizes of their codes into `sizes`, as far apart as the values.
  virtual void code(const Band& band, const C* predicted, const u8* contexts, u8* sizes) = 0;
};

// Vector code may read, and in rows of its own write, so many values behind the end of a row.
inline constexpr size_t kRowRoom = 64;

// Walks through the steps of a pyramid and remembers what it learns.
template <class C>
class PyramidWalk {
 public:
  virtual ~PyramidWalk() = default;
  // The values of a step and the sizes of their codes, by the layout, with kRowRoom more behind
  // the last; those that are not visited are known.
  virtual void walk(const TileStep& step, const Polyphase& layout, C* numbers, u8* sizes,
                    PyramidRows<C>& rows) = 0;
  // Another one with the same memory, for another thread. They must not walk through steps that
  // need each other.
  virtual std::unique_ptr<PyramidWalk> another() const = 0;
};

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

  template <class T, class Visit>
  void walk(Field<T> field, Visit&& visit) const;

  // With all settings given: by trials on samples of an array, or as an encoder has written them.
  using Try = std::function<Trial(const Pyramid&, const Sample&)>;
  LEEWAY_EXPORT Pyramid settled(const Shape& shape, const Try& trial) const;
  LEEWAY_EXPORT void write(Writer& side) const;
  LEEWAY_EXPORT Pyramid read(const Shape& shape, Reader& side) const;

  // The bound of a level as a part of the finest one's.
  LEEWAY_EXPORT double tightening(size_t level) const;

  // The level whose bound the first value has.
  LEEWAY_EXPORT size_t level_of_first(const Shape& shape) const;

 private:
  // The axes that are interpolated, as bits.
  LEEWAY_EXPORT u32 active_axes(const Shape& shape) const;
  template <class C>
  LEEWAY_EXPORT std::unique_ptr<PyramidWalk<C>> make_walk(const Tiles& tiles, double step) const;
};

template <class T, class Visit>
void Pyramid::walk(Field<T> field, Visit&& visit) const {
  using C = Number<T>;
  const Tiles tiles(field.shape, active_axes(field.shape), size_t(std::max(params.tile, 0)),
                    first_level);
  if (tiles.segments.empty()) return;
  Resolutions<T> values(field.data, tiles);
  Buffer<u8> finest_sizes(field.size());
  Resolutions<u8> sizes(finest_sizes.data(), tiles);  // of codes
  std::optional<Resolutions<const u8>> marks;
  if (visit.marks()) {
    marks.emplace(visit.marks(), tiles);
    marks->coarsen();
  }
  if (!visit.decodes()) values.coarsen();

  using Visitor = std::remove_reference_t<Visit>;
  struct Rows final : PyramidRows<C> {
    Visitor* visit = nullptr;
    Buffer<T> storage;
    Buffer<C> converted;  // to compute with, if that is another type
    Buffer<u8> sizes, special;
    std::array<Predicted<T>, kMostCodes> predictions;
    std::array<T, kMostCodes> packed;
    std::array<u8, kMostCodes> packed_marks, packed_sizes;

    C* numbers() {
      if constexpr (std::is_same_v<T, C>)
        return storage.data();
      else
        return converted.data();
    }
    // What is known before a step, and what is to be coded.
    void load(const TileStep& step, const Polyphase& layout, Resolutions<T>& all,
              Resolutions<u8>& all_sizes, std::optional<Resolutions<const u8>>& marks) {
      const auto make_room = [&]<class V>(Buffer<V>& buffer) {
        const size_t needed = layout.size() + kRowRoom;
        if (buffer.size() < needed) buffer = Buffer<V>(needed);
      };
      const auto known = [&]<class V>(auto& from, Buffer<V>& buffer, bool is_coded) {
        make_room(buffer);
        V* const to = buffer.data();
        const auto [data, strides] = from.place(step, step.level);
        if (is_coded)
          layout.split(data, strides, to);
        else
          layout.split_ends(data, strides, step.ends, to);
        if (step.is_top) return;
        const auto [coarse, coarse_strides] = from.place(step, step.level + 1);
        layout.put_grid(coarse, coarse_strides, to);
      };
      known(all, storage, !visit->decodes());
      if constexpr (!std::is_same_v<T, C>) {
        make_room(converted);
        std::ranges::copy(std::span(storage).first(layout.size()), converted.data());
      }
      known(all_sizes, sizes, false);
      if (marks) {
        make_room(special);
        const auto [flags, strides] = marks->place(step, step.level);
        layout.split(flags, strides, special.data());
      }
    }
    void code(const Band& band, const C* predicted, const u8* contexts, u8* found) override {
      const size_t count = band.lines * band.count;
      const Predicted<T>* p;
      if constexpr (std::is_same_v<Predicted<T>, C>) {
        p = predicted;
      } else {
        for (size_t i = 0; i < count; ++i) predictions[i] = predicted_as<T>(predicted[i]);
        p = predictions.data();
      }
      T* const values = storage.data() + band.first;
      const u8* const marks = special.empty() ? nullptr : special.data() + band.first;
      const auto for_each_line = [&](auto&& f) {
        for (size_t line = 0; line < band.lines; ++line) f(line * band.pitch, line * band.count);
      };
      if (band.lines == 1) {
        visit->run(values, p, count, contexts, marks, found);
      } else {
        if (!visit->decodes())
          for_each_line([&](size_t from, size_t to) {
            std::copy_n(values + from, band.count, packed.data() + to);
          });
        if (marks)
          for_each_line([&](size_t from, size_t to) {
            std::copy_n(marks + from, band.count, packed_marks.data() + to);
          });
        visit->run(packed.data(), p, count, contexts, marks ? packed_marks.data() : nullptr,
                   packed_sizes.data());
        for_each_line([&](size_t to, size_t from) {
          std::copy_n(packed.data() + from, band.count, values + to);
          std::copy_n(packed_sizes.data() + from, band.count, found + to);
        });
      }
      if constexpr (!std::is_same_v<T, C>)
        for_each_line([&](size_t at, size_t) {
          std::copy_n(values + at, band.count, converted.data() + band.first + at);
        });
    }
  };
  const auto walk_steps = [&](const TileSegment& segment, Visitor& part, Rows& rows,
                              PyramidWalk<C>& walk) {
    rows.visit = &part;
    for (const TileStep& step : segment.steps) {
      if (step.level < part.last_level()) return;
      const Polyphase layout(step.shape, step.active, !step.is_top);
      rows.load(step, layout, values, sizes, marks);
      part.tighten(tightening(step.level));
      walk.walk(step, layout, rows.numbers(), rows.sizes.data(), rows);
      const auto put_back = [&](const auto& from, auto& to) {
        const auto [data, strides] = to.place(step, step.level);
        layout.merge(from.data(), data, strides, step.ends);
        if (step.is_last_whole) to.put_corners();
      };
      put_back(rows.storage, values);
      // Nobody asks for those of a finest tile.
      if (step.level > 0 || !step.is_tile) put_back(rows.sizes, sizes);
    }
  };

  const auto learned = make_walk<C>(tiles, visit.step());
  const auto rows = std::make_unique_for_overwrite<Rows>();
  const std::span<const TileSegment> segments = tiles.segments;
  for (size_t first = 0, end = 0; first < segments.size(); first = end) {
    const TileSegment& segment = segments[first];
    if (segment.level < visit.last_level()) break;
    if (segment.is_level) visit.mark(segment.level);
    // Tiles of a level do not need each other.
    const auto is_alike = [&](const TileSegment& other) {
      return segment.box && other.box && other.level == segment.level;
    };
    end = first + 1;
    while (end < segments.size() && is_alike(segments[end])) ++end;
    std::vector<std::unique_ptr<Visitor>> parts;
    for (size_t i = first; i < end; ++i) {
      parts.push_back(visit.fork(segments[i].count));
      if (!parts.back()) {
        walk_steps(segments[i], visit, *rows, *learned);
      } else if (segments[i].box && !visit.wants(*segments[i].box)) {
        parts.back().reset();
      }
    }
    if (const unsigned threads = threads_to_share(); threads > 1 && parts.size() > 1) {
      for_each_index(parts.size(), threads, {}, [&](u64 i) {
        if (!parts[size_t(i)]) return;
        Rows own;
        walk_steps(segments[first + size_t(i)], *parts[size_t(i)], own, *learned->another());
      });
    } else {
      for (size_t i = 0; i < parts.size(); ++i)
        if (parts[i]) walk_steps(segments[first + i], *parts[i], *rows, *learned);
    }
    for (const auto& part : parts)
      if (part) visit.join(*part);
  }
  if (visit.last_level() > 0) values.refine(std::min(visit.last_level(), tiles.shapes.size() - 1));
}

}  // namespace leeway

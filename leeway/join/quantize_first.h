// SPDX-License-Identifier: BSD-3-Clause
// Quantize first, then predict on integers, exactly and reversibly (dual quantization).
//
//   values --quantize--> integers --Integers::sink--> codes --> encoder
//
// All of it goes piece by piece, so that values pass through all stages while they are in the first
// cache.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "leeway/join/causal_contexts.h"
#include "leeway/join/integers.h"
#include "leeway/join/join.h"
#include "leeway/join/range.h"

namespace leeway {

// The array form of a grid, for values [first, ...) of a chunk; a value that would become a fill
// value is kept exactly, as one without a code is.
template <class T>
double quantize_all(const auto& grid, std::span<T> values, std::span<Code<T>> codes,
                    Patches<T>& exact, size_t first, Code<T> before, const Specials<T>& special) {
  if (special.fills.empty()) return grid.quantize(values, codes, exact, first, before);
  std::array<T, kMostCodes> originals;
  std::ranges::copy(values, originals.data());
  Patches<T> found;
  const double max_error = grid.quantize(values, codes, found, first, before);
  if (!special.fills.any_in(values)) {
    exact.append(found);
    return max_error;
  }
  std::copy_n(originals.data(), values.size(), values.data());
  for (size_t i = 0; i < values.size(); ++i) {
    const bool has_code = grid.quantize(values[i], Predicted<T>(0), codes[i]);
    if (has_code && (special.at(first + i) || !special.fills.has(values[i]))) continue;
    values[i] = originals[i];
    codes[i] = i > 0 ? codes[i - 1] : before;
    exact.add(first + i, values[i]);
  }
  return max_error;
}

// Calls f(part) for parts of the array of at most kMostCodes values, in order, as long as it says
// true. Each part knows the next one, so that f can ask for its memory in time.
template <class F>
bool for_each_piece(const View& array, F&& f) {
  using Part = Plane<const std::byte>;
  bool goes_on = true;
  std::optional<Part> waiting;
  for_each_plane(array, [&](const Part& plane) {
    for_each_part(plane, kMostCodes, [&](const Part& part) {
      if (waiting && waiting->is_like(part)) waiting->next = part.data;
      if (waiting) goes_on = goes_on && f(*waiting);
      waiting = part;
    });
  });
  return goes_on && (!waiting || f(*waiting));
}

// Codes are of 16 bits where the predictor can do that and no integer has more; predictions are
// modulo 2^16 then.
template <class T, class Q>
class QuantizeFirst final : public Join<T> {
 public:
  // The predictor, for either width; `narrow` may be null.
  QuantizeFirst(Q quantizer, std::unique_ptr<Integers<Code<T>>> predictor,
                std::unique_ptr<Integers<i16>> narrow)
      : quantizer_(std::move(quantizer)),
        predictor_(std::move(predictor)),
        narrow_(std::move(narrow)) {}

  bool encode(const ToEncode<T>& job, ValueSink& decoded, Encoded<T>& out) const override {
    return with_width(out.codes.width(), [&]<class I>(const Integers<I>& predictor) {
      return encode_as<I>(predictor, job, decoded, out);
    });
  }
  bool decode(const ToDecode& job, const Coded<T>& in, ValueSink& decoded) const override {
    return with_width(in.codes.width(), [&]<class I>(const Integers<I>& predictor) {
      return decode_as<I>(predictor, job, in, decoded);
    });
  }
  bool takes(CodeWidth width, const Shape& shape) const override {
    if (width == CodeWidth::bits16) return kHasNarrow && narrow_ && narrow_->takes(shape);
    return width == kWidthOf<Code<T>>;
  }
  // Values do not depend on each other: a few from everywhere show what nothing has made.
  bool may_have_made(const ToEncode<T>& job) const override {
    constexpr u64 kFew = 256;
    ChunkRange<T> range(job.values, wants_range(quantizer_));
    Grid grid = quantizer_.template at<T>(job.bound.most);
    const View& array = job.values;
    const u64 size = array.shape.size(), step = size / kFew | 1;
    for (u64 i = 0; i < size; i += step) {
      if (job.special.at(size_t(i))) continue;
      Index index{};
      u64 rest = i;
      for (size_t axis = array.shape.rank(); axis-- > 0; rest /= array.shape[axis])
        index[axis] = rest % array.shape[axis];
      T value;
      std::memcpy(&value, array.at(index), sizeof value);
      if (!changes(grid, value)) continue;
      if (!range.may_end_at(value)) return false;
      grid = grid_in(quantizer_, job.bound.most, range.get());
      if (changes(grid, value)) return false;
    }
    return true;
  }
  Writer settings_for(const ToEncode<T>& job) const override {
    Writer notes;
    ChunkRange<T> range(job.values, wants_range(quantizer_));
    if (range.get()) range.get()->write(notes);
    return notes;
  }
  JoinTraits traits() const override {
    const Traits own = predictor_->traits();
    return {.chunk_values = own.chunk_values,
            .block_values = predictor_->block_values(),
            .lossless = Q::kTraits.lossless,
            .whole_rows = own.whole_rows,
            .makes_trials = wants_range(quantizer_)};
  }

 private:
  using Grid = decltype(std::declval<const Q>().template at<T>(1.0));
  static constexpr bool kIsFloat = std::is_same_v<T, float> || std::is_same_v<T, double>;
  // Whether a grid takes planes of values and gives integers I.
  template <class I>
  static constexpr bool kTakesPlanes = requires(const Grid g, const Plane<const std::byte>& plane,
                                                T* values, I* integers, double& error) {
    g.quantize_plane(plane, values, integers, error);
  };
  static constexpr bool kHasNarrow = kIsFloat && kTakesPlanes<i16>;

  static bool changes(const Grid& grid, T value) {
    const T before = value;
    Code<T> code;
    return grid.quantize(value, Predicted<T>(0), code) && bits_of(value) != bits_of(before);
  }

  template <class F>
  bool with_width(CodeWidth width, F&& f) const {
    if constexpr (kHasNarrow)
      if (width == CodeWidth::bits16) return f(*narrow_);
    return f(*predictor_);
  }

  // Quantizes the pieces of a chunk.
  template <class I>
  struct Quantizing {
    const Grid grid;
    const Specials<T>& special;
    Encoded<T>& out;
    CodeSink<I>& integers;
    ValueSink& decoded;
    size_t done = 0;
    I before = 0;  // the last integer

    bool piece(const Plane<const std::byte>& plane) {
      const std::span values(static_cast<T*>(decoded.room(plane.size() * sizeof(T))), plane.size());
      const std::span to(integers.room(plane.size()), plane.size());
      if (!quantize(plane, values, to)) return false;
      done += to.size();
      before = to.back();
      decoded.put(values.size_bytes());
      integers.put(to.size(), nullptr);
      return true;
    }
    // `values` may be where the plane is. Returns false if one has no integer of 16 bits, or
    // becomes a fill value and would need a patch.
    bool quantize(Plane<const std::byte> plane, std::span<T> values, std::span<I> to) {
      const auto* const own = reinterpret_cast<const std::byte*>(values.data());
      if constexpr (kTakesPlanes<I>)
        if (plane.data != own &&
            grid.quantize_plane(plane, values.data(), to.data(), out.max_error) &&
            !special.fills.any_in(values))
          return true;
      if (plane.data != own) gather(plane, sizeof(T), reinterpret_cast<std::byte*>(values.data()));
      if constexpr (std::is_same_v<I, Code<T>>) {
        out.max_error = std::max(out.max_error,
                                 quantize_all(grid, values, to, out.exact, done, before, special));
        return true;
      } else {
        plane = {own, 1, 0, values.size(), sizeof(T)};
        return grid.quantize_plane(plane, values.data(), to.data(), out.max_error) &&
               !special.fills.any_in(values);
      }
    }
  };

  template <class I>
  bool encode_as(const Integers<I>& predictor, const ToEncode<T>& job, ValueSink& decoded,
                 Encoded<T>& out) const {
    const Shape& shape = job.values.shape;
    Reader settings(job.settings);
    ChunkRange<T> range(job.values, wants_range(quantizer_), settings);
    if (range.get()) range.get()->write(out.notes);
    CodeSink<I>* codes = &typed<I>(out.codes);
    std::optional<CausalSink<I>> causal;
    if (has_contexts(predictor, *codes)) codes = &causal.emplace(*codes, shape);
    const auto own = predictor.sink(shape, job.special.flags, *codes, out.notes);
    CodeSink<I>& integers = own ? *own : *codes;
    Quantizing<I> quantizing{grid_in(quantizer_, job.bound.most, range.get()), job.special, out,
                             integers, decoded};
    const bool fits =
        for_each_piece(job.values, [&](const auto& plane) { return quantizing.piece(plane); });
    if (fits) integers.finish();
    return fits;
  }

  template <class I>
  bool decode_as(const Integers<I>& predictor, const ToDecode& job, const Coded<T>& in,
                 ValueSink& decoded) const {
    std::optional<ValueRange<T>> range;
    if (wants_range(quantizer_)) range = ValueRange<T>::read(in.notes);
    CodeSource<I>* codes = &typed<I>(in.codes);
    std::optional<CausalSource<I>> causal;
    if (has_contexts(predictor, *codes)) codes = &causal.emplace(*codes, job.shape);
    const auto integers = predictor.source(job, *codes, in.notes);
    const Grid grid = grid_in(quantizer_, job.bound, range);
    // Small ones: values written past the caches wait for the memory if they come all at once.
    constexpr size_t kPiece = kMostCodes / 2;
    const auto size = size_t(job.shape.size());
    const auto [begin, end] = wanted_part(job);
    bool is_complete = true;
    for (size_t first = 0, count = 0; first < size; first += count) {
      const size_t stop = first < begin ? begin : first < end ? end : size;
      count = std::min(kPiece, stop - first);
      const std::span values(static_cast<T*>(decoded.room(count * sizeof(T))), count);
      if ((first < begin || first >= end) && integers->skip(count)) {
        std::ranges::fill(values, T());
        is_complete = false;
      } else {
        grid.recover(std::span<const I>(integers->next(count), count), values);
        in.exact.apply(values, first);
      }
      decoded.put(values.size_bytes());
    }
    return is_complete && integers->is_complete();
  }

  // The values that may be wanted, in whole blocks of any size that there is.
  static std::pair<size_t, size_t> wanted_part(const ToDecode& job) {
    constexpr size_t kBlock = 64;
    const auto size = size_t(job.shape.size());
    if (!job.wanted.box || job.wanted.box->shape.size() == 0) return {0, size};
    const Box& box = *job.wanted.box;
    size_t first = 0, last = 0;
    for (size_t axis = 0; axis < job.shape.rank(); ++axis) {
      const auto extent = size_t(job.shape[axis]), from = size_t(box.first[axis]);
      first = first * extent + from;
      last = last * extent + from + size_t(box.shape[axis]) - 1;
    }
    return {first / kBlock * kBlock, std::min(size, (last / kBlock + 1) * kBlock)};
  }

  // Encoders of narrow codes do without contexts.
  template <class I>
  static bool has_contexts(const Integers<I>& predictor, const auto& codes) {
    return sizeof(I) > 2 && predictor.traits().causal_codes && codes.wants_contexts();
  }

  Q quantizer_;
  std::unique_ptr<Integers<Code<T>>> predictor_;
  std::unique_ptr<Integers<i16>> narrow_;
};

template <class T, class Q, class P>
std::unique_ptr<Join<T>> quantize_first(const Q& quantizer, const P& predictor) {
  return std::make_unique<QuantizeFirst<T, Q>>(quantizer, integers_of<Code<T>>(predictor),
                                               integers_of<i16>(predictor));
}

}  // namespace leeway

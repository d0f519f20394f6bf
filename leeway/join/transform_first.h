// SPDX-License-Identifier: BSD-3-Clause
// Transform first: all values of a chunk become coefficients, and these codes. What decoding gives
// is known only behind the inverse transform; then values whose errors are beyond the bound are
// repaired (repair.h), or kept exactly.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>

#include "leeway/join/join.h"
#include "leeway/join/repair.h"
#include "leeway/predict/number.h"
#include "leeway/predict/wavelet/bands.h"
#include "leeway/predict/wavelet/holes.h"

namespace leeway {

// What the coefficients of a chunk are relative to, and in which arithmetic.
template <class T>
struct TransformFrame {
  bool is_wide = false;  // in f64
  double step = 0, middle = 0;
  T low{}, high{};  // no decoded value leaves this range

  void write(bool has_repairs, Writer& out) const {
    out.put(u8(is_wide | has_repairs << 1));
    out.put(step);
    out.put(middle);
    out.put(low);
    out.put(high);
  }
  static TransformFrame read(bool& has_repairs, Reader& in) {
    TransformFrame frame;
    const u8 form = in.get<u8>();
    if (form > 3) fail_corrupt("form of a transform");
    frame.is_wide = form & 1;
    has_repairs = form >> 1;
    frame.step = in.get<double>();
    frame.middle = in.get<double>();
    frame.low = in.get<T>();
    frame.high = in.get<T>();
    if (!(frame.step > 0 && frame.step <= std::numeric_limits<double>::max()) ||
        !(std::abs(frame.middle) <= std::numeric_limits<double>::max()) ||
        !(double(frame.low) <= double(frame.high)))
      fail_corrupt("frame of a transform");
    return frame;
  }

  T value_of(double relative) const {
    const double v = relative + middle;
    if (!(v > double(low))) return low;
    if (!(v < double(high))) return high;
    if constexpr (is_floating<T>) {
      return T(v);
    } else {
      const double down = std::floor(v), rounded = v - down < 0.5 ? down : down + 1;
      return rounded < double(high) ? T(rounded) : high;
    }
  }
};

template <class T, class P>
class TransformFirst final : public Join<T> {
 public:
  explicit TransformFirst(P transform) : transform_(std::move(transform)) {}

  bool encode(const ToEncode<T>& job, ValueSink& decoded, Encoded<T>& out) const override {
    const Shape shape = at_least_one_axis(job.values.shape);
    WholeField<T> whole(decoded, job.values.shape);
    Buffer<T> original(whole.field.size());
    gather(job.values, original.data());
    const Chunk chunk{original.data(), shape, job.special, job.bound.most};
    Settings settings{frame_of(chunk), {}};
    settings.frame.step = job.bound.aim.step;
    const double trial = settings.frame.step > 0 && job.bound.aim.trial > 0 ? job.bound.aim.trial
                                                                            : settings.frame.step;
    choose(chunk, trial, settings);
    if (!code(chunk, settings, out, whole.field.data)) {
      std::copy_n(original.data(), original.size(), whole.field.data);
      out.max_error = std::numeric_limits<double>::infinity();  // the chunk is kept without loss
    }
    whole.finish();
    return true;
  }

  bool decode(const ToDecode& job, const Coded<T>& in, ValueSink& decoded) const override {
    WholeField<T> whole(decoded, job.shape);
    const Shape shape = at_least_one_axis(job.shape);
    T* const values = whole.field.data;
    const size_t size = whole.field.size();
    bool has_repairs = false;
    const auto frame = TransformFrame<T>::read(has_repairs, in.notes);
    const wavelet::Plan plan = wavelet::Plan::read(shape, in.notes);
    with_number(frame.is_wide, [&]<class C>(std::type_identity<C>) {
      Buffer<C> relative(size);
      transform_.decode(Field<C>{relative.data(), shape}, plan, frame.step, in.codes, in.notes);
      for (size_t i = 0; i < size; ++i) values[i] = frame.value_of(double(relative.data()[i]));
    });
    if (has_repairs) {
      const RepairGrid<T> grid(job.bound);
      read_repairs<Code<T>>(in.notes, shape, [&](size_t first, std::span<const Code<T>> codes) {
        for (size_t i = 0; i < codes.size(); ++i)
          if (codes[i] != 0) values[first + i] = grid.corrected(values[first + i], codes[i]);
      });
    }
    in.exact.apply({values, size});
    whole.finish();
    return true;
  }
  bool may_have_made(const ToEncode<T>&) const override { return false; }
  JoinTraits traits() const override {
    return {.chunk_values = P::kTraits.chunk_values, .predicts_first = true, .transforms = true};
  }

 private:
  struct Chunk {
    const T* values;
    Shape shape;
    Specials<T> special;
    double bound;
    size_t size() const { return size_t(shape.size()); }
  };
  struct Settings {
    TransformFrame<T> frame;
    typename P::Choice choice;
  };

  static Shape at_least_one_axis(const Shape& shape) { return shape.rank() > 0 ? shape : Shape{1}; }
  template <class F>
  static decltype(auto) with_number(bool is_wide, F&& f) {
    if (is_wide) return f(std::type_identity<double>());
    return f(std::type_identity<float>());
  }

  static TransformFrame<T> frame_of(const Chunk& chunk) {
    TransformFrame<T> frame;
    bool any = false;
    for (size_t i = 0; i < chunk.size(); ++i) {
      const T value = chunk.values[i];
      if (chunk.special.at(i)) continue;
      if (!any || double(value) < double(frame.low)) frame.low = value;
      if (!any || double(value) > double(frame.high)) frame.high = value;
      any = true;
    }
    frame.middle = double(frame.low) / 2 + double(frame.high) / 2;
    return frame;
  }
  // Whether f32 would add errors of its own: it has 24 bits.
  static bool needs_wide(const TransformFrame<T>& frame, double step) {
    const double most = double(frame.high) / 2 - double(frame.low) / 2;
    return !(step > most * 0x1p-15 && most < 1e30 && step > 1e-30);
  }

  template <class C>
  static Buffer<C> relative_values(const Chunk& chunk, double middle) {
    Buffer<C> relative(chunk.size());
    for (size_t i = 0; i < chunk.size(); ++i)
      relative.data()[i] = C(double(chunk.values[i]) - middle);
    if (!chunk.special.flags.empty())
      wavelet::fill_holes(relative.data(), chunk.shape, chunk.special.flags);
    return relative;
  }

  // The decomposition, by a sample; and the step, if none is given, by trials on it.
  void choose(const Chunk& chunk, double trial, Settings& settings) const {
    constexpr u64 kSample = u64(1) << 18;
    const double first = trial > 0 ? trial : usual_reach() * chunk.bound;
    const Box box = middle_of(chunk.shape, kSample);
    const Buffer<T> values = cut(chunk.values, chunk.shape, box);
    const Buffer<u8> flags = chunk.special.flags.empty()
                                 ? Buffer<u8>()
                                 : cut(chunk.special.flags.data(), chunk.shape, box);
    const Chunk sample{values.data(),
                       box.shape,
                       {std::span<const u8>(flags.data(), flags.size()), chunk.special.fills},
                       chunk.bound};
    with_number(needs_wide(settings.frame, first), [&]<class C>(std::type_identity<C>) {
      const Buffer<C> relative = relative_values<C>(sample, settings.frame.middle);
      settings.choice = transform_.choose(Field<const C>{relative.data(), sample.shape}, first);
    });
    if (settings.frame.step == 0) settings.frame.step = best_reach(sample, settings) * chunk.bound;
    settings.frame.is_wide = needs_wide(settings.frame, settings.frame.step);
  }
  // A box in the middle of at most so many values, nearly a cube: all axes shall be halved in it as
  // they are in the whole. Rows may be longer.
  static Box middle_of(const Shape& shape, u64 most) {
    std::array<u64, kMaxRank> extents{};
    std::ranges::copy(shape.extents(), extents.begin());
    const std::span<u64> used = std::span(extents).first(shape.rank());
    while (Shape(std::span<const u64>(used)).size() > most) {
      u64& longest = *std::ranges::max_element(
          used, {}, [&](const u64& n) { return &n == &used.back() ? (n + 1) / 2 : n; });
      longest = (longest + 1) / 2;
    }
    Box box{{}, Shape(std::span<const u64>(used))};
    for (size_t axis = 0; axis < shape.rank(); ++axis)
      box.first[axis] = (shape[axis] - extents[axis]) / 2;
    return box;
  }
  template <class V>
  static Buffer<V> cut(const V* values, const Shape& shape, const Box& box) {
    Buffer<V> part(size_t(box.shape.size()));
    const View whole(reinterpret_cast<const std::byte*>(values), dtype_of<V>(), shape);
    gather(whole.part(box), part.data());
    return part;
  }

  // Large steps leave more to repair.
  double usual_reach() const {
    return transform_.params.reach > 0 ? double(transform_.params.reach) / 10 : 2.5;
  }
  double best_reach(const Chunk& sample, const Settings& settings) const {
    static constexpr double kReaches[] = {1, 1.5, 2, 2.5, 3, 4, 6};
    constexpr size_t kFirst = 3;
    if (transform_.params.reach > 0) return usual_reach();
    const auto bytes_at = [&](size_t k) { return bytes_with(sample, settings, kReaches[k]); };
    size_t best = kFirst, least = bytes_at(kFirst);
    for (const int direction : {1, -1}) {
      for (size_t k = best + size_t(direction); k < std::size(kReaches); k += size_t(direction)) {
        const size_t bytes = bytes_at(k);
        if (bytes >= least) break;
        least = bytes;
        best = k;
      }
      if (best != kFirst) break;
    }
    return kReaches[best];
  }
  size_t bytes_with(const Chunk& sample, Settings settings, double reach) const {
    settings.frame.step = reach * sample.bound;
    settings.frame.is_wide = needs_wide(settings.frame, settings.frame.step);
    Writer bytes;
    const auto sink = Rans().sink<Code<T>>(sample.size(), bytes);
    Encoded<T> out{*sink};
    Buffer<T> decoded(sample.size());
    if (!code(sample, settings, out, decoded.data())) return std::numeric_limits<size_t>::max();
    return bytes.size() + out.notes.size() + out.exact.count() * (sizeof(T) + 3);
  }

  // Codes the chunk and leaves in `decoded` what decoders will have. Says false if it has no codes.
  bool code(const Chunk& chunk, const Settings& settings, Encoded<T>& out, T* decoded) const {
    const TransformFrame<T>& frame = settings.frame;
    Writer weights;
    const wavelet::Plan plan = P::plan_for(settings.choice, chunk.shape);
    const bool has_codes = with_number(frame.is_wide, [&]<class C>(std::type_identity<C>) {
      Buffer<C> relative = relative_values<C>(chunk, frame.middle);
      if (!transform_.encode(Field<C>{relative.data(), chunk.shape}, plan, frame.step, out.codes,
                             weights))
        return false;
      for (size_t i = 0; i < chunk.size(); ++i)
        decoded[i] = frame.value_of(double(relative.data()[i]));
      return true;
    });
    if (!has_codes) return false;
    Writer repairs;
    repair(chunk, decoded, repairs, out);
    frame.write(repairs.size() > 0, out.notes);
    plan.write(chunk.shape.rank(), out.notes);
    out.notes.put_bytes(weights.bytes());
    out.notes.put_bytes(repairs.bytes());
    return true;
  }

  // Values beyond the bound are corrected; those that no correction brings within it, and those
  // that have become fill values, are kept exactly.
  static void repair(const Chunk& chunk, T* decoded, Writer& repairs, Encoded<T>& out) {
    const Specials<T>& special = chunk.special;
    const RepairGrid<T> grid(chunk.bound);
    std::vector<size_t> beyond;
    double most = 0;
    for (size_t i = 0; i < chunk.size(); ++i) {
      if (special.at(i)) continue;
      const double error = error_between(chunk.values[i], decoded[i]);
      if (!(error <= chunk.bound) || (!special.fills.empty() && special.fills.has(decoded[i])))
        beyond.push_back(i);
      else
        most = std::max(most, error);
    }
    // A table of corrections would cost more than these few.
    constexpr size_t kFew = 4096;
    const bool exactly = beyond.size() < chunk.size() / kFew;
    Buffer<Code<T>> codes(exactly ? 0 : chunk.size());
    std::fill_n(codes.data(), codes.size(), Code<T>(0));
    for (const size_t i : beyond) {
      const T original = chunk.values[i];
      const Code<T> code = exactly || grid.keeps(original, decoded[i])
                               ? Code<T>(0)
                               : grid.code_for(original, decoded[i]);
      const T corrected = code != 0 ? grid.corrected(decoded[i], code) : original;
      const bool holds =
          code != 0 && grid.keeps(original, corrected) && !special.fills.has(corrected);
      if (holds) {
        codes.data()[i] = code;
        decoded[i] = corrected;
        most = std::max(most, error_between(original, corrected));
      } else {
        out.exact.add(i, original);
        decoded[i] = original;
      }
    }
    out.max_error = most;
    if (!exactly && !beyond.empty())
      write_repairs(std::span<const Code<T>>(codes.data(), codes.size()), chunk.shape, repairs);
  }

  P transform_;
};

}  // namespace leeway

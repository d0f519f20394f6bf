// SPDX-License-Identifier: BSD-3-Clause
// Visitors: what a feedback predictor hands its values and predictions to (AnyVisitor in stage.h),
// for each direction and for trials. They know the quantizer and nothing of the predictor.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "leeway/base/distance.h"
#include "leeway/base/log2.h"
#include "leeway/stage/fills.h"
#include "leeway/stage/marks.h"
#include "leeway/stage/stage.h"

namespace leeway {

// In feedback order, the code of a value that is kept exactly.
template <class I>
inline constexpr I kExactCode = std::numeric_limits<I>::min();

// Values done one by one before the fast loop is tried again.
inline constexpr size_t kStretch = 16;

// What both directions have in common.
template <class T, class Q>
struct Visitor {
  using Grid = decltype(std::declval<Q>().template at<T>(1.0));
  const Q& quantizer;
  double bound;
  Grid grid;
  std::span<const double> class_bounds;  // of values with smaller bounds (marks.h)
  std::vector<Grid> class_grids;
  std::span<const u8> given_marks;
  const T* first;  // where the values are, if they have marks
  Fills<T> fills;  // a value that would become one has no code
  std::array<Code<T>, kMostCodes> codes;
  std::vector<Code<T>> wave_codes;
  size_t done = 0;  // values of the walk

  Visitor(const Q& q, double e, const T* values, std::span<const u8> marks,
          std::span<const double> bounds, const Fills<T>& f = {})
      : quantizer(q),
        bound(e),
        grid(q.template at<T>(e)),
        class_bounds(bounds),
        given_marks(marks),
        first(values),
        fills(f) {
    if (!bounds.empty()) tighten(1);
  }
  const u8* marks() const { return given_marks.empty() ? nullptr : given_marks.data(); }
  u8 mark_of(const T& value) const {
    return given_marks.empty() ? u8(0) : given_marks[size_t(&value - first)];
  }
  // Whether some of the next values of the walk have marks.
  bool any_marks(size_t count) const {
    return !given_marks.empty() &&
           std::ranges::any_of(given_marks.subspan(done, count), [](u8 mark) { return mark != 0; });
  }
  const Grid& grid_of(u8 mark) const { return mark < 2 ? grid : class_grids[size_t(mark / 2 - 1)]; }
  double step() const requires requires(const Grid& g) { g.step; }
  { return double(grid.step); }
  std::optional<T> rounded(T value, Predicted<T> predicted) const {
    Code<T> code = 0;
    if (!quantize(value, predicted, code, 0)) return std::nullopt;
    return value;
  }
  // The same for many values that all have a prediction; those without a code stay.
  void round(T* values, const Predicted<T>* predicted, size_t count) const {
    std::array<Code<T>, kMostCodes> unused;
    quantize_all(values, predicted, count, nullptr, unused.data());
  }
  // With their codes.
  void quantize_all(T* values, const Predicted<T>* predicted, size_t count, const u8* marks,
                    Code<T>* found) const {
    double error = 0;
    for (size_t i = 0; i < count;) {
      if (!marks)
        i += quantize_run(values + i, predicted + i, count - i, found + i, error, [](size_t) {});
      for (const size_t stop = std::min(count, i + kStretch); i < stop; ++i)
        quantize(values[i], predicted[i], found[i], marks ? marks[i] : u8(0));
    }
  }
  // Values at the front, as far as they have a code, or have none only because they would become
  // fill values: those stay, and kept() is told where. Says how many were done.
  template <class F>
  size_t quantize_run(T* values, const Predicted<T>* predicted, size_t count, Code<T>* found,
                      double& error, F&& kept) const {
    if constexpr (requires { grid.quantize_run(values, predicted, count, found, error); }) {
      if (fills.empty()) return grid.quantize_run(values, predicted, count, found, error);
      std::array<T, 256> originals;
      count = std::min(count, originals.size());
      std::copy_n(values, count, originals.data());
      count = grid.quantize_run(values, predicted, count, found, error);
      if (!fills.any_in({values, count})) return count;
      for (size_t i = 0; i < count; ++i)
        if (fills.has(values[i])) {
          values[i] = originals[i];
          found[i] = kExactCode<Code<T>>;
          kept(i);
        }
      return count;
    }
    return 0;
  }
  void tighten(double factor) {
    grid = quantizer.template at<T>(bound * factor);
    class_grids.clear();
    for (const double e : class_bounds) class_grids.push_back(quantizer.template at<T>(e * factor));
  }
  void mark(size_t) {}
  bool wants(const Box&) const { return true; }
  size_t last_level() const { return 0; }
  // Says whether the value has a code. A special one has code 0, whatever is predicted: decoded
  // data compressed again must take the same way.
  bool quantize(T& value, Predicted<T> predicted, Code<T>& code, u8 mark) const {
    const T original = value;
    if (mark & kSpecialMark) {
      code = 0;
      value = grid_of(mark).recover(predicted, 0);
    } else if (!grid_of(mark).quantize(value, predicted, code) ||
               (!fills.empty() && fills.has(value))) {
      value = original;
      code = kExactCode<Code<T>>;
      return false;
    }
    return true;
  }
};

template <class T, class Q>
struct Quantize : Visitor<T, Q> {
  using Visitor<T, Q>::codes, Visitor<T, Q>::done, Visitor<T, Q>::grid, Visitor<T, Q>::wave_codes;
  CodeSink<Code<T>>& sink;
  Patches<T>& exact;
  double max_error = 0;
  size_t waiting = 0;  // codes not yet in the sink
  Code<T>* block_codes = nullptr;
  std::vector<std::pair<size_t, T>> without_code;  // in the block
  std::unique_ptr<Patches<T>> own_exact;           // of a fork

  Quantize(const Q& q, double e, const T* values, std::span<const u8> marks,
           std::span<const double> class_bounds, const Fills<T>& fills, CodeSink<Code<T>>& s,
           Patches<T>& p)
      : Visitor<T, Q>(q, e, values, marks, class_bounds, fills), sink(s), exact(p) {}
  Quantize(const Quantize& whole, CodeSink<Code<T>>& s, std::unique_ptr<Patches<T>> own)
      : Visitor<T, Q>(whole.quantizer, whole.bound, whole.first, whole.given_marks,
                      whole.class_bounds, whole.fills),
        sink(s),
        exact(*own),
        own_exact(std::move(own)) {
    done = whole.done;
  }

  bool decodes() const { return false; }
  void mark(size_t level) { sink.mark(level); }
  std::unique_ptr<Quantize> fork(size_t count) {
    CodeSink<Code<T>>* const own = sink.segment(count);
    if (!own) return {};
    auto part = std::make_unique<Quantize>(*this, *own, std::make_unique<Patches<T>>());
    done += count;
    return part;
  }
  void join(Quantize& part) {
    part.flush();
    max_error = std::max(max_error, part.max_error);
    exact.append(part.exact);
  }
  void point(T& value, Predicted<T> predicted) {
    code_next(value, predicted, codes[waiting], this->mark_of(value));
    if (++waiting == kMostCodes) flush();
  }
  void begin_block(size_t count) {
    flush();
    block_codes = sink.room(count);
    without_code.clear();
  }
  void point_at(size_t slot, T& value, Predicted<T> predicted) {
    if (!has_code(value, predicted, block_codes[slot], this->mark_of(value)))
      without_code.emplace_back(slot, value);
  }
  // Many points, the first at the slot; says false and changes nothing if they have to come one by
  // one.
  bool points_at(size_t slot, const BlockWave<T>& rows) {
    if constexpr (requires { quantize_block(grid, rows, block_codes, max_error); })
      return this->given_marks.empty() && leaves_no_fill(rows, [&] {
               return quantize_block(grid, rows, block_codes + slot, max_error);
             });
    return false;
  }
  void end_block(size_t count) {
    std::ranges::sort(without_code, {}, [](const auto& entry) { return entry.first; });
    for (const auto& [slot, value] : without_code) exact.add(done + slot, value);
    sink.put(count, nullptr);
    done += count;
  }
  void keep(T& value, Predicted<T> otherwise) {
    if (this->mark_of(value) & kSpecialMark) return point(value, otherwise);
    exact.add(done++, value);
    codes[waiting] = kExactCode<Code<T>>;
    if (++waiting == kMostCodes) flush();
  }
  bool wave(const Wave<T>& rows) {
    if constexpr (requires { quantize_wave(grid, rows, codes.data(), max_error); }) {
      const size_t count = rows.size_with_border(), length = count / rows.rows;
      if (this->any_marks(count)) return false;
      wave_codes.resize(count);
      Code<T>* const found = wave_codes.data() + (count - rows.size());
      const auto quantize = [&] { return quantize_wave(grid, rows, found, max_error); };
      if (!leaves_no_fill(rows, quantize)) return false;
      for (size_t r = 0; rows.has_border && r < rows.rows; ++r) {
        exact.add(done + r * length, rows.border(r));
        wave_codes[r * length] = kExactCode<Code<T>>;
        std::copy_n(found + r * rows.length, rows.length, wave_codes.data() + r * length + 1);
      }
      flush();
      sink.put_all(wave_codes, {});
      done += count;
      return true;
    }
    return false;
  }
  void run(T* values, const Predicted<T>* predicted, size_t count, const u8* contexts,
           const u8* marks, u8* sizes) {
    flush();
    Code<T>* const room = sink.room(count);
    size_t i = 0;
    while (i < count) {
      if (!marks) {
        const size_t n =
            this->quantize_run(values + i, predicted + i, count - i, room + i, max_error,
                               [&](size_t k) { exact.add(done + k, values[i + k]); });
        i += n;
        done += n;
      }
      for (const size_t stop = std::min(count, i + kStretch); i < stop; ++i)
        code_next(values[i], predicted[i], room[i], marks ? marks[i] : u8(0));
    }
    if (sizes) sizes_of(std::span<const Code<T>>(room, count), sizes);
    sink.put(count, contexts);
  }
  void flush() {
    if (waiting == 0) return;
    std::copy_n(codes.data(), waiting, sink.room(waiting));
    sink.put(waiting, nullptr);
    waiting = 0;
  }

 private:
  // quantize() changes all of the rows, or none and says false. So does this, and there is no fill
  // value in them afterwards.
  template <class Rows, class F>
  bool leaves_no_fill(const Rows& rows, F&& quantize) {
    if (this->fills.empty()) return quantize();
    std::vector<T> originals;
    for_each_row(rows, [&](T* row) { originals.insert(originals.end(), row, row + rows.length); });
    if (!quantize()) return false;
    bool any = false;
    for_each_row(rows, [&](T* row) { any |= this->fills.any_in({row, rows.length}); });
    const T* before = originals.data();
    if (any)
      for_each_row(rows, [&](T* row) {
        std::copy_n(before, rows.length, row);
        before += rows.length;
      });
    return !any;
  }
  // If not, the value stays what it is.
  bool has_code(T& value, Predicted<T> predicted, Code<T>& code, u8 mark) {
    const T original = value;
    if (!this->quantize(value, predicted, code, mark)) return false;
    if (!(mark & kSpecialMark)) max_error = std::max(max_error, rounded_error(original, value));
    return true;
  }
  void code_next(T& value, Predicted<T> predicted, Code<T>& code, u8 mark) {
    if (!has_code(value, predicted, code, mark)) exact.add(done, value);
    ++done;
  }
};

template <class T, class Q>
struct Recover : Visitor<T, Q> {
  using Visitor<T, Q>::codes, Visitor<T, Q>::done, Visitor<T, Q>::grid, Visitor<T, Q>::wave_codes;
  CodeSource<Code<T>>& source;
  size_t remaining;  // in the source
  Buffer<T> all_exact;
  std::span<const T> exact;    // in the order of the walk
  std::vector<Code<T>> ahead;  // codes for point() and wave()
  size_t next = 0;             // in them
  Wanted wanted;
  bool is_complete = true;  // so far

  Recover(const Q& q, double e, const T* values, std::span<const u8> marks,
          std::span<const double> class_bounds, CodeSource<Code<T>>& s, size_t size,
          const Patches<T>& patches, const Wanted& w)
      : Visitor<T, Q>(q, e, values, marks, class_bounds),
        source(s),
        remaining(size),
        wanted(w),
        is_complete(w.last_level == 0) {
    if (patches.count() == 0) return;
    all_exact = Buffer<T>(size);
    std::ranges::fill(all_exact, T());
    patches.apply({all_exact.data(), size});
    exact = std::span<const T>(all_exact);
  }
  Recover(const Recover& whole, CodeSource<Code<T>>& s, size_t count)
      : Visitor<T, Q>(whole.quantizer, whole.bound, whole.first, whole.given_marks,
                      whole.class_bounds),
        source(s),
        remaining(count),
        exact(whole.exact),
        wanted(whole.wanted) {
    done = whole.done;
  }

  bool decodes() const { return true; }
  size_t last_level() const { return wanted.last_level; }
  std::unique_ptr<Recover> fork(size_t count) {
    CodeSource<Code<T>>* const own = source.segment(count);
    if (!own) return {};
    auto part = std::make_unique<Recover>(*this, *own, count);
    done += count;
    remaining -= count;
    return part;
  }
  void join(Recover&) {}
  bool wants(const Box& box) {
    const bool wanted_too = !wanted.box || overlap(box, *wanted.box);
    is_complete = is_complete && wanted_too;
    return wanted_too;
  }
  void point(T& value, Predicted<T> predicted) {
    if (next == ahead.size()) look_ahead(1);
    value = recovered(predicted, ahead[next++], done++, this->mark_of(value));
  }
  void begin_block(size_t count) { take(count, nullptr); }
  void point_at(size_t slot, T& value, Predicted<T> predicted) {
    value = recovered(predicted, codes[slot], done + slot, this->mark_of(value));
  }
  bool points_at(size_t slot, const BlockWave<T>& rows) {
    if constexpr (requires { recover_block(grid, rows, codes.data()); })
      return this->given_marks.empty() && recover_block(grid, rows, codes.data() + slot);
    return false;
  }
  void end_block(size_t count) { done += count; }
  void keep(T& value, Predicted<T> otherwise) { point(value, otherwise); }
  bool wave(const Wave<T>& rows) {
    if constexpr (requires { recover_wave(grid, rows, codes.data()); }) {
      const size_t count = rows.size_with_border(), length = count / rows.rows;
      if (this->any_marks(count)) return false;
      if (ahead.size() - next < count) look_ahead(count);
      const Code<T>* found = ahead.data() + next;
      std::vector<T> borders;  // as they were
      if (rows.has_border) {
        for (size_t r = 0; r < rows.rows; ++r)
          if (found[r * length] != kExactCode<Code<T>>) return false;
        wave_codes.resize(rows.size());
        for (size_t r = 0; r < rows.rows; ++r) {
          borders.push_back(rows.border(r));
          rows.border(r) = exact.empty() ? T() : exact[done + r * length];
          std::copy_n(found + r * length + 1, rows.length, wave_codes.data() + r * rows.length);
        }
        found = wave_codes.data();
      }
      if (!recover_wave(grid, rows, found)) {
        for (size_t r = 0; r < borders.size(); ++r) rows.border(r) = borders[r];
        return false;
      }
      next += count;
      done += count;
      return true;
    }
    return false;
  }
  void run(T* values, const Predicted<T>* predicted, size_t count, const u8* contexts,
           const u8* marks, u8* sizes) {
    take(count, contexts);
    size_t i = 0;
    while (i < count) {
      if constexpr (requires { grid.recover_run(values, predicted, 0, codes.data()); }) {
        if (!marks) {
          const size_t n = grid.recover_run(values + i, predicted + i, count - i, codes.data() + i);
          i += n;
          done += n;
        }
      }
      for (const size_t stop = std::min(count, i + kStretch); i < stop; ++i)
        values[i] = recovered(predicted[i], codes[i], done++, marks ? marks[i] : u8(0));
    }
    if (sizes) sizes_of(std::span<const Code<T>>(codes.data(), count), sizes);
  }

 private:
  // The next codes to `codes`.
  void take(size_t count, const u8* contexts) {
    if (next < ahead.size()) {
      if (ahead.size() - next < count) look_ahead(count);
      std::copy_n(ahead.data() + next, count, codes.data());
      next += count;
    } else {
      source.next(std::span(codes.data(), count), contexts);
      remaining -= count;
    }
  }
  // At least `count` codes wait in `ahead` after this.
  void look_ahead(size_t count) {
    ahead.erase(ahead.begin(), ahead.begin() + std::ptrdiff_t(next));
    next = 0;
    while (ahead.size() < count) {
      const size_t old = ahead.size(), n = std::min(remaining, kMostCodes);
      ahead.resize(old + n);
      source.next(std::span(ahead).subspan(old), nullptr);
      remaining -= n;
    }
  }
  // `position` in the walk.
  T recovered(Predicted<T> predicted, Code<T> code, size_t position, u8 mark) const {
    if (code != kExactCode<Code<T>>) return this->grid_of(mark).recover(predicted, code);
    return exact.empty() ? T() : exact[position];
  }
};

// Only counts what codes would cost.
template <class T, class Q>
struct Estimate : Visitor<T, Q> {
  using Visitor<T, Q>::codes;
  static constexpr size_t kContexts = 64, kBins = 96;
  Trial trial;
  std::array<T, kMostCodes> originals;
  std::array<std::array<u32, kBins>, kContexts> counts{};
  size_t before = 0;  // the sizes of the two codes before: a context, if there is no other

  Estimate(const Q& q, double e, std::span<const u8> marks, std::span<const double> class_bounds,
           const Fills<T>& fills)
      : Visitor<T, Q>(q, e, nullptr, marks, class_bounds, fills) {}
  bool decodes() const { return false; }
  std::unique_ptr<Estimate> fork(size_t) { return {}; }
  void join(Estimate&) {}
  void run(T* values, const Predicted<T>* predicted, size_t count, const u8* contexts,
           const u8* marks, u8* sizes) {
    if (trial.unchanged) std::copy_n(values, count, originals.data());
    this->quantize_all(values, predicted, count, marks, codes.data());
    for (size_t i = 0; trial.unchanged && i < count; ++i)
      trial.unchanged =
          bits_of(originals[i]) == bits_of(values[i]) || (marks && marks[i] & kSpecialMark);
    if (sizes) sizes_of(std::span<const Code<T>>(codes.data(), count), sizes);
    for (size_t i = 0; i < count; ++i) {
      using U = std::make_unsigned_t<Code<T>>;
      const Code<T> code = codes[i];
      const U size = code < 0 ? U(0) - U(code) : U(code);
      trial.coded += size > 0;
      // Beyond 32 only the octave is modelled, the rest are bits.
      const int octave = size < 32 ? 0 : std::bit_width(size) - 5;
      trial.cost += u64(octave > 0 ? octave + 4 : 0) << 16;
      const size_t context = contexts ? contexts[i] % kContexts : before;
      ++counts[context][size < 32 ? size_t(size) : size_t(31 + octave)];
      before = before % 4 * 4 + std::min<size_t>(size, 3);
    }
  }
  Trial result() {
    trial.cost += trial.coded << 16;  // signs
    for (const auto& bins : counts) {
      u64 total = 0;
      for (const u32 n : bins) total += n;
      if (total == 0) continue;
      for (const u32 n : bins)
        if (n > 0) trial.cost += n * (log2_of(total) - std::min(log2_of(total), log2_of(n)));
    }
    return trial;
  }
};

}  // namespace leeway

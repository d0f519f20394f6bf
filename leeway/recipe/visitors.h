// SPDX-License-Identifier: BSD-3-Clause
// Visitors: what a feedback predictor hands its values and predictions to (AnyVisitor in stage.h),
// for each direction and for trials. They know the quantizer and nothing of the predictor.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "leeway/core/distance.h"
#include "leeway/core/log2.h"
#include "leeway/core/stage.h"

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
  std::array<Code<T>, kMostCodes> codes;
  std::vector<Code<T>> wave_codes;
  size_t done = 0;  // values of the walk

  Visitor(const Q& q, double e) : quantizer(q), bound(e), grid(q.template at<T>(e)) {}
  double step() const requires requires(const Grid& g) { g.step; }
  { return double(grid.step); }
  std::optional<T> rounded(T value, Predicted<T> predicted) const {
    Code<T> code = 0;
    if (!grid.quantize(value, predicted, code)) return std::nullopt;
    return value;
  }
  // The same for many values that all have a prediction; those without a code stay.
  void round(T* values, const Predicted<T>* predicted, size_t count) const {
    std::array<Code<T>, kMostCodes> unused;
    size_t i = 0;
    while (i < count) {
      if constexpr (requires(double& e) {
                      grid.quantize_run(values, predicted, 0, unused.data(), e);
                    }) {
        double error = 0;
        i += grid.quantize_run(values + i, predicted + i, count - i, unused.data(), error);
      }
      for (const size_t stop = std::min(count, i + kStretch); i < stop; ++i)
        grid.quantize(values[i], predicted[i], unused[0]);
    }
  }
  void tighten(double factor) { grid = quantizer.template at<T>(bound * factor); }
  void mark(size_t) {}
  size_t last_level() const { return 0; }
  // Says whether the value has a code. A special one has code 0, whatever is predicted: decoded
  // data compressed again must take the same way.
  bool quantize(T& value, Predicted<T> predicted, Code<T>& code, bool is_special) const {
    if (is_special) {
      code = 0;
      value = grid.recover(predicted, 0);
    } else if (!grid.quantize(value, predicted, code)) {
      code = kExactCode<Code<T>>;
      return false;
    }
    return true;
  }
};

template <class T, class Q>
struct Quantize : Visitor<T, Q> {
  using Visitor<T, Q>::codes, Visitor<T, Q>::done, Visitor<T, Q>::grid, Visitor<T, Q>::wave_codes;
  std::span<const u8> special;
  const T* first;  // where the values are
  CodeSink<Code<T>>& sink;
  Patches<T>& exact;
  double max_error = 0;
  size_t waiting = 0;  // codes not yet in the sink
  Code<T>* block_codes = nullptr;
  std::vector<std::pair<size_t, T>> without_code;  // in the block

  Quantize(const Q& q, double e, std::span<const u8> flags, const T* values, CodeSink<Code<T>>& s,
           Patches<T>& p)
      : Visitor<T, Q>(q, e), special(flags), first(values), sink(s), exact(p) {}

  bool decodes() const { return false; }
  const u8* special_values() const { return special.empty() ? nullptr : special.data(); }
  void mark(size_t level) { sink.mark(level); }
  void point(T& value, Predicted<T> predicted) {
    code_one(value, predicted, codes[waiting], is_special(value));
    if (++waiting == kMostCodes) flush();
  }
  void begin_block(size_t count) {
    flush();
    block_codes = sink.room(count);
    without_code.clear();
  }
  void point_at(size_t slot, T& value, Predicted<T> predicted) {
    const T original = value;
    const bool special_one = is_special(value);
    if (!this->quantize(value, predicted, block_codes[slot], special_one))
      without_code.emplace_back(slot, original);
    else if (!special_one)
      max_error = std::max(max_error, rounded_error(original, value));
  }
  void end_block(size_t count) {
    std::ranges::sort(without_code, {}, [](const auto& entry) { return entry.first; });
    for (const auto& [slot, value] : without_code) exact.add(done + slot, value);
    sink.put(count, nullptr);
    done += count;
  }
  void keep(T& value, Predicted<T> otherwise) {
    if (is_special(value)) return point(value, otherwise);
    exact.add(done++, value);
    codes[waiting] = kExactCode<Code<T>>;
    if (++waiting == kMostCodes) flush();
  }
  bool wave(const Wave<T>& rows) {
    if constexpr (requires { quantize_wave(grid, rows, codes.data(), max_error); }) {
      const size_t count = rows.size_with_border(), length = count / rows.rows;
      if (!special.empty() &&
          std::ranges::any_of(special.subspan(done, count), [](u8 flag) { return flag != 0; }))
        return false;
      wave_codes.resize(count);
      Code<T>* const found = wave_codes.data() + (count - rows.size());
      if (!quantize_wave(grid, rows, found, max_error)) return false;
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
           const u8* flags, u8* sizes) {
    flush();
    Code<T>* const room = sink.room(count);
    size_t i = 0;
    while (i < count) {
      if constexpr (requires { grid.quantize_run(values, predicted, 0, room, max_error); })
        if (!flags) {
          const size_t n =
              grid.quantize_run(values + i, predicted + i, count - i, room + i, max_error);
          i += n;
          done += n;
        }
      for (const size_t stop = std::min(count, i + kStretch); i < stop; ++i)
        code_one(values[i], predicted[i], room[i], flags && flags[i]);
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
  bool is_special(const T& value) const {
    return !special.empty() && special[size_t(&value - first)];
  }
  void code_one(T& value, Predicted<T> predicted, Code<T>& code, bool is_special) {
    const T original = value;
    if (!this->quantize(value, predicted, code, is_special))
      exact.add(done, original);
    else if (!is_special)
      max_error = std::max(max_error, rounded_error(original, value));
    ++done;
  }
};

template <class T, class Q>
struct Recover : Visitor<T, Q> {
  using Visitor<T, Q>::codes, Visitor<T, Q>::done, Visitor<T, Q>::grid, Visitor<T, Q>::wave_codes;
  CodeSource<Code<T>>& source;
  size_t remaining;            // in the source
  Buffer<T> exact;             // in the order of the walk
  std::vector<Code<T>> ahead;  // codes for point() and wave()
  size_t next = 0;             // in them
  size_t last;

  Recover(const Q& q, double e, CodeSource<Code<T>>& s, size_t size, const Patches<T>& patches,
          size_t last_level)
      : Visitor<T, Q>(q, e), source(s), remaining(size), last(last_level) {
    if (patches.count() == 0) return;
    exact = Buffer<T>(size);
    std::ranges::fill(exact, T());
    patches.apply({exact.data(), size});
  }

  bool decodes() const { return true; }
  size_t last_level() const { return last; }
  const u8* special_values() const { return nullptr; }
  void point(T& value, Predicted<T> predicted) {
    if (next == ahead.size()) look_ahead(1);
    recover(value, predicted, ahead[next++]);
  }
  void begin_block(size_t count) { take(count, nullptr); }
  void point_at(size_t slot, T& value, Predicted<T> predicted) {
    if (codes[slot] != kExactCode<Code<T>>)
      value = grid.recover(predicted, codes[slot]);
    else
      value = exact.empty() ? T() : exact[done + slot];
  }
  void end_block(size_t count) { done += count; }
  void keep(T& value, Predicted<T> otherwise) { point(value, otherwise); }
  bool wave(const Wave<T>& rows) {
    if constexpr (requires { recover_wave(grid, rows, codes.data()); }) {
      const size_t count = rows.size_with_border(), length = count / rows.rows;
      if (ahead.size() - next < count) look_ahead(count);
      const Code<T>* found = ahead.data() + next;
      if (rows.has_border) {
        wave_codes.resize(rows.size());
        for (size_t r = 0; r < rows.rows; ++r) {
          if (found[r * length] != kExactCode<Code<T>>) return false;
          rows.border(r) = exact.empty() ? T() : exact[done + r * length];
          std::copy_n(found + r * length + 1, rows.length, wave_codes.data() + r * rows.length);
        }
        found = wave_codes.data();
      }
      if (!recover_wave(grid, rows, found)) return false;
      next += count;
      done += count;
      return true;
    }
    return false;
  }
  void run(T* values, const Predicted<T>* predicted, size_t count, const u8* contexts, const u8*,
           u8* sizes) {
    take(count, contexts);
    size_t i = 0;
    while (i < count) {
      if constexpr (requires { grid.recover_run(values, predicted, 0, codes.data()); }) {
        const size_t n = grid.recover_run(values + i, predicted + i, count - i, codes.data() + i);
        i += n;
        done += n;
      }
      for (const size_t stop = std::min(count, i + kStretch); i < stop; ++i)
        recover(values[i], predicted[i], codes[i]);
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
  void recover(T& value, Predicted<T> predicted, Code<T> code) {
    if (code != kExactCode<Code<T>>)
      value = grid.recover(predicted, code);
    else
      value = exact.empty() ? T() : exact[done];
    ++done;
  }
};

// Only counts what codes would cost.
template <class T, class Q>
struct Estimate : Visitor<T, Q> {
  using Visitor<T, Q>::codes;
  static constexpr size_t kContexts = 64, kBins = 64;
  std::span<const u8> special;
  Trial trial;
  std::array<u8, kMostCodes> own_sizes;
  std::array<std::array<u32, kBins>, kContexts> counts{};

  Estimate(const Q& q, double e, std::span<const u8> flags) : Visitor<T, Q>(q, e), special(flags) {}
  bool decodes() const { return false; }
  const u8* special_values() const { return special.empty() ? nullptr : special.data(); }
  void run(T* values, const Predicted<T>* predicted, size_t count, const u8* contexts,
           const u8* flags, u8* sizes) {
    for (size_t i = 0; i < count; ++i) {
      const T original = values[i];
      const bool is_special = flags && flags[i];
      if (this->quantize(values[i], predicted[i], codes[i], is_special) && !is_special)
        trial.unchanged = trial.unchanged && bits_of(original) == bits_of(values[i]);
    }
    u8* const known = sizes ? sizes : own_sizes.data();
    sizes_of(std::span<const Code<T>>(codes.data(), count), known);
    for (size_t i = 0; i < count; ++i) {
      const u8 size = known[i];
      trial.coded += size > 0;
      // Beyond 32 only the octave is modelled, the rest are bits.
      const int octave = size < 32 ? 0 : std::bit_width(size) - 5;
      trial.cost += u64(octave > 0 ? octave + 4 : 0) << 16;
      ++counts[contexts ? contexts[i] % kContexts : 0][size < 32 ? size : size_t(31 + octave)];
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

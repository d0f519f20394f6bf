// SPDX-License-Identifier: BSD-3-Clause
// Grids: the quantizer at the bounds in force in a chunk, and what no value may become.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "leeway/join/range.h"
#include "leeway/stage/fills.h"
#include "leeway/stage/flags.h"
#include "leeway/stage/stage.h"

namespace leeway {

// When predictors come first, the code of a value that is kept exactly.
template <class I>
inline constexpr I kExactCode = std::numeric_limits<I>::min();

// A chunk to be coded.
template <class T>
struct CodedChunk {
  double bound = 0;
  const T* values = nullptr;
  std::span<const u8> flags{};             // of all values, or empty
  std::span<const double> class_bounds{};  // of classes 1, 2, ... (flags.h)
  Fills<T> fills{};                        // a value that would become one has no code
  std::optional<ValueRange<T>> range{};    // that decoded values stay in

  bool has_flags(size_t first, size_t count) const {
    return !flags.empty() &&
           std::ranges::any_of(flags.subspan(first, count), [](u8 flag) { return flag != 0; });
  }
};

template <class T, class Q>
class GridsInForce {
 public:
  using Grid = decltype(std::declval<const Q&>().template at<T>(1.0));
  using P = Predicted<T>;
  // Values done one by one before the loop over many is tried again.
  static constexpr size_t kStretch = 16;

  GridsInForce(const Q& quantizer, const CodedChunk<T>& chunk)
      : quantizer_(quantizer), chunk_(chunk), grid_(at(chunk.bound)) {
    if (!chunk.class_bounds.empty()) tighten(1);
  }

  void tighten(double factor) {
    grid_ = at(chunk_.bound * factor);
    of_class_.clear();
    for (const double e : chunk_.class_bounds) of_class_.push_back(at(e * factor));
  }

  const CodedChunk<T>& chunk() const { return chunk_; }
  // Of values in class 0, which is nearly always all of them.
  const Grid& usual() const { return grid_; }
  const Grid& of(u8 flags) const { return flags < 2 ? grid_ : of_class_[size_t(flags / 2 - 1)]; }
  u8 flags_of(const T& value) const {
    return chunk_.flags.empty() ? u8(0) : chunk_.flags[size_t(&value - chunk_.values)];
  }
  double step() const {
    if constexpr (requires { grid_.step; })
      return double(grid_.step);
    else
      return 0;
  }

  // What a value without flags would become; nothing if it has no code.
  [[gnu::always_inline]] std::optional<T> rounded(T value, P predicted) const {
    Code<T> code = 0;
    if (!quantize(value, predicted, code, 0)) return std::nullopt;
    return value;
  }
  // The same for the values of a run; those without a code stay as they are.
  void round(const Run<T>& run) const {
    std::array<Code<T>, kMostCodes> unused;
    quantize(run, unused.data());
  }

  // Returns whether the value has a code; if not, it stays as it is, or becomes what the quantizer
  // keeps of it. A special value has code 0,
  // whatever is predicted: decoded data that is compressed again must take the same way.
  bool quantize(T& value, P predicted, Code<T>& code, u8 flags) const {
    const T original = value;
    if (flags & kSpecialFlag) {
      code = 0;
      value = of(flags).recover(predicted, 0);
      return true;
    }
    if (of(flags).quantize(value, predicted, code) &&
        (chunk_.fills.empty() || !chunk_.fills.has(value)))
      return true;
    value = original;
    if constexpr (requires { of(flags).without_code(original); })
      if (const T kept = of(flags).without_code(original); !chunk_.fills.has(kept)) value = kept;
    code = kExactCode<Code<T>>;
    return false;
  }
  void quantize(const Run<T>& run, Code<T>* codes) const {
    double error = 0;
    for (size_t i = 0; i < run.count;) {
      if (!run.flags) i += quantize_front(run, i, codes, error, [](size_t) {});
      for (const size_t stop = std::min(run.count, i + kStretch); i < stop; ++i)
        quantize(run.values[i], run.predicted[i], codes[i], run.flags ? run.flags[i] : u8(0));
    }
  }
  // Values from the first on that can be done at once: those that have a code, or have none only
  // because they would become fill values. The latter stay as they are, and kept(i) is called for
  // each. Returns how many values were done.
  template <class F>
  size_t quantize_front(const Run<T>& run, size_t first, Code<T>* codes, double& max_error,
                        F&& kept) const {
    T* const values = run.values + first;
    const P* const predicted = run.predicted + first;
    codes += first;
    size_t count = run.count - first;
    if constexpr (requires { grid_.quantize_run(values, predicted, count, codes, max_error); }) {
      if (chunk_.fills.empty())
        return grid_.quantize_run(values, predicted, count, codes, max_error);
      std::array<T, 256> originals;
      count = std::min(count, originals.size());
      std::copy_n(values, count, originals.data());
      count = grid_.quantize_run(values, predicted, count, codes, max_error);
      if (!chunk_.fills.any_in({values, count})) return count;
      for (size_t i = 0; i < count; ++i)
        if (chunk_.fills.has(values[i])) {
          values[i] = originals[i];
          codes[i] = kExactCode<Code<T>>;
          kept(first + i);
        }
      return count;
    }
    return 0;
  }

 private:
  Grid at(double bound) const { return grid_in(quantizer_, bound, chunk_.range); }

  const Q& quantizer_;
  CodedChunk<T> chunk_;
  Grid grid_;
  std::vector<Grid> of_class_;
};

}  // namespace leeway

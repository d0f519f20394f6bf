// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/analyze.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "leeway/base/buffer.h"
#include "leeway/codec/mask.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/engine/analyze.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#ifndef LEEWAY_ENGINE_ANALYZE_BLOCK
#define LEEWAY_ENGINE_ANALYZE_BLOCK
namespace leeway::analyze_kernels {
inline constexpr size_t kAnalyzeBlock = 64;  // values
}
#endif

HWY_BEFORE_NAMESPACE();
namespace leeway::analyze_kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The number of blocks, from the first on, whose values all lie strictly between low and high. NaN
// does not lie there.
template <class T>
size_t blocks_between(const T* values, size_t n, T low, T high) {
  const hn::ScalableTag<T> d;
  const auto vlow = hn::Set(d, low), vhigh = hn::Set(d, high);
  for (size_t block = 0; block < n; ++block, values += kAnalyzeBlock) {
    auto inside = hn::Eq(vlow, vlow);
    for (size_t i = 0; i < kAnalyzeBlock; i += hn::Lanes(d)) {
      const auto v = hn::LoadU(d, values + i);
      inside = hn::And(inside, hn::And(hn::Gt(v, vlow), hn::Lt(v, vhigh)));
    }
    if (!hn::AllTrue(d, inside)) return block;
  }
  return n;
}
size_t blocks_between_f32(const float* values, size_t n, float low, float high) {
  return blocks_between(values, n, low, high);
}
size_t blocks_between_f64(const double* values, size_t n, double low, double high) {
  return blocks_between(values, n, low, high);
}

}  // namespace leeway::analyze_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::analyze_kernels {
HWY_EXPORT(blocks_between_f32);
HWY_EXPORT(blocks_between_f64);
}  // namespace leeway::analyze_kernels

namespace leeway {
using namespace analyze_kernels;
namespace {

size_t blocks_between(const float* values, size_t n, float low, float high) {
  return HWY_DYNAMIC_DISPATCH(blocks_between_f32)(values, n, low, high);
}
size_t blocks_between(const double* values, size_t n, double low, double high) {
  return HWY_DYNAMIC_DISPATCH(blocks_between_f64)(values, n, low, high);
}
template <class T>
size_t blocks_between(const T* values, size_t n, T low, T high) {
  for (size_t block = 0; block < n; ++block, values += kAnalyzeBlock) {
    bool inside = true;
    for (size_t i = 0; i < kAnalyzeBlock; ++i) inside &= values[i] > low && values[i] < high;
    if (!inside) return block;
  }
  return n;
}

// The type in which values are compared: float for the half types.
template <class T>
using Compared = std::conditional_t<std::is_same_v<T, f16> || std::is_same_v<T, bf16>, float, T>;

// The few lowest distinct values and how often each occurs. Less = std::greater gives the highest.
template <class T, class Less>
class Extremes {
 public:
  static constexpr size_t kKept = Summary::kKept;
  struct Entry {
    T value;
    u64 count;
  };
  size_t size() const { return size_; }
  const Entry& operator[](size_t i) const { return entries_[i]; }
  // Values that come after this one in the order are neither kept nor counted.
  bool is_full() const { return size_ == kKept; }
  T last() const { return entries_[kKept - 1].value; }

  void add(T value, u64 count = 1) {
    size_t i = 0;
    while (i < size_ && Less()(entries_[i].value, value)) ++i;
    if (i < size_ && entries_[i].value == value) {
      entries_[i].count += count;
    } else if (i < kKept) {
      if (size_ < kKept) ++size_;
      std::move_backward(entries_.begin() + std::ptrdiff_t(i),
                         entries_.begin() + std::ptrdiff_t(size_ - 1),
                         entries_.begin() + std::ptrdiff_t(size_));
      entries_[i] = {value, count};
    }
  }
  void add(const Extremes& other) {
    for (size_t i = 0; i < other.size_; ++i) add(other[i].value, other[i].count);
  }

 private:
  std::array<Entry, kKept> entries_{};
  size_t size_ = 0;
};

template <class T>
struct SummaryOf {
  using C = Compared<T>;
  Extremes<C, std::less<C>> lowest;
  Extremes<C, std::greater<C>> highest;
  bool any_special = false;

  void add(std::span<const T> values, const Mask& declared) {
    for (size_t i = 0; i < values.size();) {
      if constexpr (std::is_same_v<T, C>)
        if (is_full())
          i +=
              kAnalyzeBlock * blocks_between(values.data() + i, (values.size() - i) / kAnalyzeBlock,
                                             lowest.last(), highest.last());
      const size_t n = std::min(kAnalyzeBlock, values.size() - i);
      expect(values.subspan(i, n), declared);
      add_each(values.subspan(i, n), declared);
      i += n;
    }
  }
  // Looks at the extremes of every eight values before the values are counted: most values are then
  // looked at only once, even in a ramp.
  void expect(std::span<const T> values, const Mask& declared) {
    for (; values.size() >= 8; values = values.subspan(8)) {
      T low = values[0], high = values[0];
      for (size_t i = 1; i < 8; ++i) {
        if (C(values[i]) < C(low)) low = values[i];
        if (C(values[i]) > C(high)) high = values[i];
      }
      if (!declared.is_special(low)) lowest.add(C(low), 0);
      if (!declared.is_special(high)) highest.add(C(high), 0);
    }
  }
  void add_each(std::span<const T> values, const Mask& declared) {
    for (; values.size() >= 8; values = values.subspan(8)) {
      bool any = !is_full();
      for (size_t i = 0; i < 8; ++i) any |= !is_inside(C(values[i]));
      if (!any) continue;
      for (size_t i = 0; i < 8; ++i) add_one(values[i], declared);
    }
    for (const T value : values) add_one(value, declared);
  }
  void add_one(T value, const Mask& declared) {
    const C c = C(value);
    if (is_full() && is_inside(c)) return;
    if (declared.is_special(value)) {
      any_special = true;
      return;
    }
    lowest.add(c);
    highest.add(c);
  }
  bool is_full() const { return lowest.is_full() && highest.is_full(); }
  // Whether a value can be neither among the lowest nor the highest; false for NaN.
  bool is_inside(C c) const { return c > lowest.last() && c < highest.last(); }
  void add(const SummaryOf& other) {
    lowest.add(other.lowest);
    highest.add(other.highest);
    any_special |= other.any_special;
  }

  SummaryOf() = default;
  explicit SummaryOf(const Summary& summary) : any_special(summary.any_special) {
    const auto load = [](std::span<const Summary::Entry> entries, auto& to) {
      for (const Summary::Entry& entry : entries)
        to.add(std::bit_cast<C>(Bits<C>(entry.bits)), entry.count);
    };
    load(std::span(summary.lowest).first(summary.lowest_count), lowest);
    load(std::span(summary.highest).first(summary.highest_count), highest);
  }
  Summary erased() const {
    Summary summary{.any_special = any_special};
    const auto store = [](const auto& from, auto& entries, u8& count) {
      for (count = 0; count < from.size(); ++count)
        entries[count] = {u64(bits_of(from[count].value)), from[count].count};
    };
    store(lowest, summary.lowest, summary.lowest_count);
    store(highest, summary.highest, summary.highest_count);
    return summary;
  }
};

// Values that data sets customarily use for "no value here".
template <class T>
bool is_customary_fill(T value) {
  constexpr double kCustomary[] = {1e20,  -1e20,  1e30,   -1e30,         1e33,
                                   1e34,  -1e34,  1e35,   1e36,          9.969209968386869e36,
                                   -999,  -9999,  -99999, 999999,        99999,
                                   9999,  -32767, -32768, -2147483647.0, -2147483648.0,
                                   32767, 65535};
  return std::ranges::any_of(kCustomary, [&](double fill) {
    if constexpr (std::is_floating_point_v<T>)
      return value == T(fill);
    else
      return double(value) == fill;
  });
}

// Whether a value is far from the range of the others, compared with the size of that range.
template <class T>
bool is_isolated(T value, T low, T high) {
  const double v = double(value), l = double(low), h = double(high);
  return (v > h ? v - h : l - v) > h - l;
}
template <class T>
bool is_enormous(T value, T low, T high) {
  const double others = std::max(std::abs(double(low)), std::abs(double(high)));
  return others > 0 && std::abs(double(value)) >= 1e9 * others;
}

template <class T>
Analysis conclude(const SummaryOf<T>& all, std::vector<u64> fills, Detect detect) {
  using C = Compared<T>;
  Analysis analysis;
  size_t low = 0, high = 0;  // entries taken as fill values
  const auto& lowest = all.lowest;
  const auto& highest = all.highest;
  constexpr bool is_fine = std::is_floating_point_v<T>;
  const auto some_left = [&](size_t l, size_t h) {
    return l < lowest.size() && h < highest.size() && lowest[l].value <= highest[h].value;
  };
  // Against the range of the others, if there are others.
  const auto is_fill = [&](const auto& entry, size_t l, size_t h) {
    if (detect == Detect::nothing || entry.count < 2 || !some_left(l, h)) return false;
    if (detect == Detect::customary)
      return is_customary_fill(entry.value) && (is_fine || std::abs(double(entry.value)) >= 1e15);
    return is_isolated<C>(entry.value, lowest[l].value, highest[h].value) &&
           (is_customary_fill(entry.value) ||
            is_enormous<C>(entry.value, lowest[l].value, highest[h].value));
  };
  for (;;) {
    C found;
    if (high < highest.size() && is_fill(highest[high], low, high + 1))
      found = highest[high++].value;
    else if (low < lowest.size() && is_fill(lowest[low], low + 1, high))
      found = lowest[low++].value;
    else
      break;
    fills.push_back(u64(bits_of(T(found))));
  }
  if (some_left(low, high)) {
    analysis.any_valid = true;
    // 0 and -0 are equal: the result must not depend on which one was met first.
    analysis.range = Range::of(C(lowest[low].value + C(0)), C(highest[high].value + C(0)));
  }
  // Values inside the range are not looked at one by one: declared ones may be among them.
  analysis.any_special = all.any_special || !fills.empty();
  analysis.fills = std::move(fills);
  return analysis;
}

// Pieces of an array along its slowest axis, in memory order, of about a million values.
struct Slabs {
  explicit Slabs(const Shape& array) : shape(array) {
    if (shape.size() == 0) return;
    const u64 extent = shape.rank() > 0 ? shape[0] : 1, row = shape.size() / extent;
    thickness = std::clamp<u64>((u64(1) << 20) / row, 1, extent);
    count = size_t((extent + thickness - 1) / thickness);
  }
  Box box(u64 i) const { return slab(shape, i * thickness, thickness); }
  Shape shape;
  u64 thickness = 1;
  size_t count = 0;
};

template <class T>
void add_values(const View& view, const Mask& declared, SummaryOf<T>& summary) {
  Buffer<T> strided;
  for_each_row(view, [&](const std::byte* row, size_t count, std::ptrdiff_t stride) {
    const bool usable =
        stride == sizeof(T) && reinterpret_cast<std::uintptr_t>(row) % alignof(T) == 0;
    if (!usable) {
      if (strided.size() < count) strided = Buffer<T>(count);
      for (size_t k = 0; k < count; ++k)
        std::memcpy(strided.data() + k, row + std::ptrdiff_t(k) * stride, sizeof(T));
    }
    summary.add({usable ? reinterpret_cast<const T*>(row) : strided.data(), count}, declared);
  });
}

template <class T>
SummaryOf<T> summarize_as(const View& view, const std::vector<u64>& declared, unsigned threads,
                          const Executor& executor, const std::function<void()>& pause) {
  const Mask mask{.fills = declared};
  const Slabs slabs(view.shape);
  std::vector<SummaryOf<T>> summaries(slabs.count);
  // The last slab comes first, so that the first one is still in a cache when compression begins.
  for_each_index(slabs.count, threads, executor, [&](u64 turn) {
    const u64 i = slabs.count - 1 - turn;
    add_values(view.part(slabs.box(i)), mask, summaries[size_t(i)]);
    if (pause) pause();
  });
  SummaryOf<T> all;
  for (const SummaryOf<T>& summary : summaries) all.add(summary);
  return all;
}

// Lists the lowest and the highest values; a value that is among both is listed only once.
template <class T>
Array listed(const SummaryOf<T>& all) {
  std::vector<T> values;
  const auto list = [&](const auto& entry) {
    values.insert(values.end(), size_t(std::min<u64>(entry.count, 2)), T(entry.value));
  };
  for (size_t i = 0; i < all.lowest.size(); ++i) list(all.lowest[i]);
  for (size_t i = 0; i < all.highest.size(); ++i)
    if (all.highest[i].value > all.lowest[all.lowest.size() - 1].value) list(all.highest[i]);
  Array array(dtype_of<T>(), Shape{values.size()});
  if (!values.empty()) std::memcpy(array.view().data, values.data(), values.size() * sizeof(T));
  return array;
}

}  // namespace

Summary summarize(const View& view, const std::vector<u64>& declared, unsigned threads,
                  const Executor& executor, const std::function<void()>& pause) {
  return visit_dtype(view.dtype, [&]<class T>(std::type_identity<T>) {
    return summarize_as<T>(view, declared, threads, executor, pause).erased();
  });
}

Summary summarize(const View& view, const Summary& before) {
  return visit_dtype(view.dtype, [&]<class T>(std::type_identity<T>) {
    SummaryOf<T> all(before);
    add_values(view, Mask{}, all);
    return all.erased();
  });
}

Summary merged(const Summary& one, const Summary& other, DType dtype) {
  return visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    SummaryOf<T> both(one);
    both.add(SummaryOf<T>(other));
    return both.erased();
  });
}

Analysis conclude(const Summary& all, DType dtype, std::vector<u64> declared, Detect detect) {
  return visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    return conclude<T>(SummaryOf<T>(all), std::move(declared), detect);
  });
}

Analysis analyze(const View& view, std::vector<u64> declared, Detect detect, unsigned threads,
                 const Executor& executor, const std::function<void()>& pause) {
  const Summary all = summarize(view, declared, threads, executor, pause);
  return conclude(all, view.dtype, std::move(declared), detect);
}

Array lowest_and_highest(const View& view, std::vector<u64> declared, unsigned threads,
                         const Executor& executor, const std::function<void()>& pause) {
  return visit_dtype(view.dtype, [&]<class T>(std::type_identity<T>) {
    return listed(summarize_as<T>(view, declared, threads, executor, pause));
  });
}

}  // namespace leeway
#endif

// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/wavelet/coefficients.h"

#include <algorithm>
#include <memory>

#include "leeway/base/log2.h"
#include "leeway/predict/wavelet/expectation.h"
#include "leeway/predict/wavelet/quantize.h"
#include "leeway/predict/wavelet/weights.h"

namespace leeway::wavelet {
namespace {

// A run of coefficients: a row of a band, or a part of it.
struct Run {
  Index index;      // of the row in its band; along the last axis 0
  size_t x, count;  // which part of the row
  size_t place;     // of its first coefficient in the array
};

// The rows of a band, in order.
class Rows {
 public:
  Rows(const Shape& shape, const Band& band) : rank_(shape.rank()), band_(band) {
    for (u64 step = 1, k = rank_; k-- > 0; step *= shape[k]) stride_[k] = step;
  }
  // Calls f(run) for every run of each `every`-th row.
  template <class F>
  void for_each(size_t every, F&& f) const {
    const auto length = size_t(band_.extents[rank_ - 1]);
    size_t number = 0;
    for_each_outer(Shape(std::span<const u64>(band_.extents).first(rank_)), 1,
                   [&](const Index& index) {
                     if (number++ % every != 0) return;
                     u64 place = band_.first[rank_ - 1];
                     for (size_t k = 0; k + 1 < rank_; ++k)
                       place += (band_.first[k] + index[k]) * stride_[k];
                     for (size_t x = 0; x < length; x += kMostCodes)
                       f(Run{index, x, std::min(kMostCodes, length - x), size_t(place) + x});
                   });
  }
  template <class F>
  void for_each(F&& f) const {
    for_each(1, f);
  }

 private:
  size_t rank_;
  const Band& band_;
  std::array<u64, kMaxRank> stride_{};
};

// The means: differences along every axis, and back. Integers are unsigned, and wrap around.
template <class I>
void difference(std::span<I> values, const Band& band, size_t rank, bool forward) {
  for (u64 step = 1, axis = rank; axis-- > 0; step *= band.extents[axis]) {
    const u64 n = band.extents[axis];
    for (u64 i = 0; i < values.size(); ++i) {
      const u64 at = forward ? values.size() - 1 - i : i;
      if (at / step % n == 0) continue;
      values[at] = forward ? values[at] - values[at - step] : values[at] + values[at - step];
    }
  }
}
template <class I>
std::span<std::make_unsigned_t<I>> as_unsigned(std::span<I> codes) {
  return {reinterpret_cast<std::make_unsigned_t<I>*>(codes.data()), codes.size()};
}

// What both directions go through.
class Walk {
 public:
  Walk(const Shape& shape, const Bands& bands)
      : shape_(shape), bands_(bands), sizes_(bands, shape.rank()) {}

  Sizes& sizes() { return sizes_; }
  Features& features() { return *features_; }
  void find(size_t band, const Run& run) {
    find_features(bands_, sizes_, shape_.rank(), band, run.index, run.x, run.count, *features_);
  }
  const u8* contexts(size_t band, const Run& run, const Weights& weights) {
    find(band, run);
    find_contexts(*features_, weights, run.count, first_context(bands_.all[band]),
                  contexts_.data());
    return contexts_.data();
  }
  u8* row(size_t band, const Run& run) { return sizes_.row(band, run.index) + run.x; }
  // To be called when a run is known; repeats the ends of the row behind its last one.
  void close(size_t band, const Run& run) {
    const auto length = size_t(bands_.all[band].extents[shape_.rank() - 1]);
    if (run.x + run.count == length) Sizes::close(sizes_.row(band, run.index), length);
  }
  template <class F>
  void for_each(size_t band, size_t every, F&& f) {
    Rows(shape_, bands_.all[band]).for_each(every, f);
  }

 private:
  const Shape& shape_;
  const Bands& bands_;
  Sizes sizes_;
  std::unique_ptr<Features> features_ = std::make_unique<Features>();
  std::array<u8, kMostCodes> contexts_;
};

template <class C>
class Encoding {
 public:
  Encoding(C* coefficients, const Shape& shape, const Bands& bands, double step, i32 trade)
      : c_(coefficients),
        shape_(shape),
        bands_(bands),
        step_(step),
        worth_(double(trade) / 100),
        walk_(shape, bands) {}

  bool run(AnySink& codes, Writer& notes) {
    glance_at_all();
    BandWeights weights = learned_weights();
    weights.write(bands_, notes);
    trade_bits(weights);
    return with_codes(codes.width(), [&]<class I>(std::type_identity<I>) {
      return put_all<I>(weights, typed<I>(codes));
    });
  }

 private:
  // Samples have at least this many coefficients of a set of bands, if there are so many.
  static constexpr size_t kLearned = size_t(1) << 14, kCounted = size_t(1) << 15;

  C step_of_band(size_t band) const { return step_of<C>(bands_.all[band], step_); }

  // Sizes without regard to what codes cost, as contexts for the first estimates.
  void glance_at_all() {
    for (size_t b = 1; b < bands_.all.size(); ++b) {
      const C inverse = 1 / step_of_band(b);
      walk_.for_each(b, 1, [&](const Run& run) {
        sets_.at(bands_.all[b]).nonzero +=
            glance(c_ + run.place, run.count, inverse, walk_.row(b, run));
        sets_.at(bands_.all[b]).size += run.count;
        walk_.close(b, run);
      });
    }
  }
  size_t every(const Band& band, size_t wanted) const {
    return std::max<size_t>(1, sets_.of(band).size / wanted);
  }

  BandWeights learned_weights() {
    WeightSets<Learner> learners;
    const BandWeights usual;
    for (size_t b = 1; b < bands_.all.size(); ++b) {
      const Band& band = bands_.all[b];
      if (!BandWeights::pays(sets_.of(band).nonzero)) continue;
      walk_.for_each(b, every(band, kLearned), [&](const Run& run) {
        walk_.find(b, run);
        learners.at(band).add(walk_.features(), walk_.row(b, run), run.count);
      });
    }
    BandWeights weights;
    for (const Band& band : bands_.all)
      if (band.high != 0 && !weights.has(band) && BandWeights::pays(sets_.of(band).nonzero))
        weights.set(band, learners.at(band).solved());
    return weights;
  }

  // From how often sizes occur in each context: what the next smaller size would save.
  void trade_bits(const BandWeights& weights) {
    auto counts = std::make_unique<std::array<std::array<u32, kTraded + 1>, 256>>();
    for (auto& of : *counts) of.fill(0);
    for (size_t b = 1; b < bands_.all.size(); ++b) {
      const Weights& own = weights.of(bands_.all[b]);
      walk_.for_each(b, every(bands_.all[b], kCounted), [&](const Run& run) {
        const u8 *contexts = walk_.contexts(b, run, own), *sizes = walk_.row(b, run);
        for (size_t x = 0; x < run.count; ++x)
          ++(*counts)[contexts[x]][std::min<size_t>(sizes[x], kTraded)];
      });
    }
    for (size_t c = 0; c < 256; ++c) {
      // Contexts next to each other are alike.
      std::array<u64, kTraded + 1> near;
      for (size_t m = 0; m <= kTraded; ++m)
        near[m] = 4 * u64((*counts)[c][m]) + (c % 32 > 0 ? (*counts)[c - 1][m] : 0) +
                  (c % 32 < 31 ? (*counts)[c + 1][m] : 0) + 1;
      trade_[c][0] = -1;  // nothing is smaller
      for (size_t m = 1; m < kTraded; ++m) {
        const double rarer = (double(log2_of(near[m - 1])) - double(log2_of(near[m]))) / 65536;
        const double saved = std::clamp(rarer + (m == 1 ? 1 : 0), 0.0, 12.0);
        trade_[c][m] = float(std::min(worth_ * saved / 2, 1.0) - 0.5);
      }
    }
  }

  template <class I>
  bool put_all(const BandWeights& weights, CodeSink<I>& sink) {
    if (!put_means(sink)) return false;
    for (size_t b = 1; b < bands_.all.size(); ++b) {
      const C step = step_of_band(b), inverse = 1 / step;
      const Weights& own = weights.of(bands_.all[b]);
      bool fits = true;
      walk_.for_each(b, 1, [&](const Run& run) {
        const u8* const contexts = walk_.contexts(b, run, own);
        I* const codes = sink.room(run.count);
        if constexpr (sizeof(I) == 4) {
          fits &= quantize(c_ + run.place, run.count, step, inverse, contexts, trade_, codes,
                           walk_.row(b, run));
        } else {
          std::array<i32, kMostCodes> narrow;
          fits &= quantize(c_ + run.place, run.count, step, inverse, contexts, trade_,
                           narrow.data(), walk_.row(b, run));
          std::copy_n(narrow.data(), run.count, codes);
        }
        sink.put(run.count, contexts);
        walk_.close(b, run);
      });
      if (!fits) return false;
    }
    return true;
  }
  template <class I>
  bool put_means(CodeSink<I>& sink) {
    const C step = step_of_band(0), inverse = 1 / step;
    std::vector<I> codes;
    bool fits = true;
    walk_.for_each(0, 1, [&](const Run& run) {
      std::array<i32, kMostCodes> part;
      fits = fits && quantize(c_ + run.place, run.count, step, inverse, part.data());
      if (fits) codes.insert(codes.end(), part.data(), part.data() + run.count);
    });
    if (!fits) return false;
    difference(as_unsigned(std::span<I>(codes)), bands_.all[0], shape_.rank(), true);
    const std::vector<u8> contexts(codes.size(), kContextOfMeans);
    sink.put_all(codes, contexts);
    return true;
  }

  struct Seen {
    size_t size = 0, nonzero = 0;
  };

  C* c_;
  const Shape& shape_;
  const Bands& bands_;
  double step_, worth_;
  Walk walk_;
  WeightSets<Seen> sets_;
  Trade trade_;
};

template <class C, class I>
void decode_all(C* c, const Shape& shape, const Bands& bands, double step,
                const BandWeights& weights, CodeSource<I>& source) {
  Walk walk(shape, bands);
  Buffer<I> means(size_t(bands.all[0].size(shape.rank())));
  const std::array<u8, kMostCodes> all_means = [] {
    std::array<u8, kMostCodes> contexts;
    contexts.fill(kContextOfMeans);
    return contexts;
  }();
  for (size_t i = 0; i < means.size(); i += kMostCodes)
    source.next({means.data() + i, std::min(kMostCodes, means.size() - i)}, all_means.data());
  difference(as_unsigned(std::span<I>(means.data(), means.size())), bands.all[0], shape.rank(),
             false);
  const I* next = means.data();
  walk.for_each(0, 1, [&](const Run& run) {
    recover(next, run.count, step_of<C>(bands.all[0], step), c + run.place);
    next += run.count;
  });
  std::array<I, kMostCodes> codes;
  for (size_t b = 1; b < bands.all.size(); ++b) {
    const C own_step = step_of<C>(bands.all[b], step);
    const Weights& own = weights.of(bands.all[b]);
    walk.for_each(b, 1, [&](const Run& run) {
      source.next({codes.data(), run.count}, walk.contexts(b, run, own));
      magnitudes_of({codes.data(), run.count}, walk.row(b, run));
      walk.close(b, run);
      recover(codes.data(), run.count, own_step, c + run.place);
    });
  }
}

}  // namespace

template <class C>
bool encode(C* coefficients, const Shape& shape, const Bands& bands, double step, i32 trade,
            AnySink& codes, Writer& notes) {
  return std::make_unique<Encoding<C>>(coefficients, shape, bands, step, trade)->run(codes, notes);
}

template <class C>
void decode(C* coefficients, const Shape& shape, const Bands& bands, double step, AnySource& codes,
            Reader& notes) {
  const BandWeights weights = BandWeights::read(bands, notes);
  with_codes(codes.width(), [&]<class I>(std::type_identity<I>) {
    if constexpr (sizeof(I) >= 4)
      decode_all(coefficients, shape, bands, step, weights, typed<I>(codes));
  });
}

template <class C>
u64 cost(const C* coefficients, const Shape& shape, const Bands& bands, double step) {
  const Band& means = bands.all[0];
  std::vector<C> low;
  Rows(shape, means).for_each([&](const Run& run) {
    low.insert(low.end(), coefficients + run.place, coefficients + run.place + run.count);
  });
  difference(std::span<C>(low), means, shape.rank(), true);
  u64 sum = octaves(low.data(), low.size(), 1 / step_of<C>(means, step));
  for (const Band& band : bands.all) {
    if (band.high == 0) continue;
    const C inverse = 1 / step_of<C>(band, step);
    Rows(shape, band).for_each([&](const Run& run) {
      sum += octaves(coefficients + run.place, run.count, inverse);
    });
  }
  return sum;
}

template bool encode(float*, const Shape&, const Bands&, double, i32, AnySink&, Writer&);
template bool encode(double*, const Shape&, const Bands&, double, i32, AnySink&, Writer&);
template void decode(float*, const Shape&, const Bands&, double, AnySource&, Reader&);
template void decode(double*, const Shape&, const Bands&, double, AnySource&, Reader&);
template u64 cost(const float*, const Shape&, const Bands&, double);
template u64 cost(const double*, const Shape&, const Bands&, double);

}  // namespace leeway::wavelet

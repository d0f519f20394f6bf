// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/codec/alternatives.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "leeway/codec/constant.h"
#include "leeway/predict/trials.h"

namespace leeway {
namespace {

using Codecs = std::vector<std::shared_ptr<const ChunkCodec>>;

struct Coded {
  size_t number;  // of the alternative
  Writer payload;
  ChunkReport report;
};

bool is_constant(const View& chunk) {
  return visit_dtype(chunk.dtype,
                     [&]<class T>(std::type_identity<T>) { return leeway::is_constant<T>(chunk); });
}

bool any_special(const View& chunk, const Mask& mask) {
  return visit_dtype(chunk.dtype,
                     [&]<class T>(std::type_identity<T>) { return mask.any_special<T>(chunk); });
}

TakenOut take_out(const View& chunk, const Mask& mask) {
  const auto size = size_t(chunk.shape.size());
  TakenOut taken{Buffer<u64>((size * size_of(chunk.dtype) + 7) / 8), {}};
  visit_dtype(chunk.dtype, [&]<class T>(std::type_identity<T>) {
    const Field<T> field{reinterpret_cast<T*>(taken.values.data()), chunk.shape};
    gather(chunk, field.data);
    Patches<T> unused;
    taken.special = mask.take_out(field, unused);
  });
  return taken;
}

u64 hash_of_values(const View& chunk) {
  Buffer<u64> values((size_t(chunk.shape.size()) * size_of(chunk.dtype) + 7) / 8);
  gather(chunk, values.data());
  return hash_of({reinterpret_cast<const u8*>(values.data()),
                  size_t(chunk.shape.size()) * size_of(chunk.dtype)});
}

// Finds the alternative that makes a chunk smallest.
class Contest {
 public:
  Contest(const Codecs& codecs, u64 block_values, const View& chunk, const ChunkBound& bound,
          const Mask& mask)
      : codecs_(codecs),
        block_values_(block_values),
        chunk_(chunk),
        bound_(bound),
        mask_(mask),
        coded_(codecs.size()),
        settings_(codecs.size()),
        whole_(mask) {
    if (!mask.is_needed) return;
    taken_ = take_out(chunk, mask);
    whole_.taken = &taken_;
  }
  Contest(const Contest&) = delete;
  Contest& operator=(const Contest&) = delete;

  const Coded& winner() {
    const std::vector<size_t> makers = find_makers();
    return makers.empty() ? smallest_of(contenders()) : smallest_of(makers);
  }

 private:
  const Coded& coded(size_t k) {
    if (!coded_[k]) {
      coded_[k].emplace(Coded{k, {}, {}});
      coded_[k]->report =
          codecs_[k]->compress(chunk_, bound_, mask_, coded_[k]->payload, settings_[k].bytes());
    }
    return *coded_[k];
  }
  const Coded& smallest_of(const std::vector<size_t>& numbers) {
    for (const size_t k : numbers) coded(k);
    return coded(
        *std::ranges::min_element(numbers, {}, [&](size_t k) { return coded(k).payload.size(); }));
  }
  std::vector<size_t> all() const {
    std::vector<size_t> numbers;
    for (size_t k = 0; k < codecs_.size(); ++k)
      if (codecs_[k]) numbers.push_back(k);
    return numbers;
  }

  // Those that leave the chunk as it is.
  std::vector<size_t> find_makers() {
    std::vector<size_t> makers = all();
    std::erase_if(makers,
                  [&](size_t k) { return !codecs_[k]->may_have_made(chunk_, bound_, whole_); });
    if (makers.empty()) return makers;
    const u64 hash = hash_of_values(chunk_);
    std::erase_if(makers, [&](size_t k) { return coded(k).report.decoded_hash != hash; });
    return makers;
  }

  // Those that may turn out smallest.
  std::vector<size_t> contenders() {
    constexpr u64 kFew = u64(1) << 16;
    std::vector<size_t> numbers = all();
    if (chunk_.shape.size() <= kFew || !bound_.each.empty()) return numbers;
    const std::vector<Box> boxes = sample_boxes();
    const bool keeps_axes =
        chunk_.part(boxes[0]).squeezed().shape.rank() == chunk_.squeezed().shape.rank();
    std::vector<Writer> samples(codecs_.size());
    for (const size_t k : numbers) {
      settings_[k] = codecs_[k]->settings_for(chunk_, bound_, whole_);
      for (const Box& box : boxes)
        codecs_[k]->compress(chunk_.part(box), bound_, mask_, samples[k],
                             keeps_axes ? settings_[k].bytes() : ByteView());
    }
    // Who has time looks closer.
    const bool has_time =
        std::ranges::any_of(numbers, [&](size_t k) { return codecs_[k]->learns(); });
    const auto least_of = [&](bool quantizes_first) {
      size_t bytes = ~size_t(0) / 2;
      for (const size_t k : numbers)
        if (codecs_[k]->quantizes_first() == quantizes_first)
          bytes = std::min(bytes, samples[k].size());
      return bytes;
    };
    const size_t direct = least_of(true), from_coarse = least_of(false);
    // A sample has more than its share of borders and tables, which those that go from coarse to
    // fine suffer most from; and where it takes few bytes, they say little.
    const auto is_close = [&](size_t k, size_t to, size_t percent) {
      return samples[k].size() <= to + to / 100 * percent + (has_time ? 400 : 100) * boxes.size();
    };
    std::vector<size_t> close_ones;
    for (const size_t k : numbers) {
      const bool quantizes_first = codecs_[k]->quantizes_first();
      const size_t usual = has_time ? 12 : 4;
      if (!is_close(k, std::min(direct, from_coarse), quantizes_first ? usual : 16) ||
          !is_close(k, quantizes_first ? direct : from_coarse, usual))
        continue;
      if (std::ranges::none_of(close_ones, [&](size_t other) {
            return std::ranges::equal(samples[other].bytes(), samples[k].bytes());
          }))
        close_ones.push_back(k);
    }
    return close_ones;
  }

  // Boxes along the diagonal, an eighth of the chunk at most; whole blocks along the slowest axis.
  std::vector<Box> sample_boxes() const {
    const Shape& shape = chunk_.shape;
    const u64 size = shape.size(), count = size < (u64(1) << 20) ? 1 : 3;
    const Sample sample =
        middle_sample(shape, std::clamp<u64>(size / 32 / count, 1 << 14, 1 << 16));
    std::vector<u64> wanted(sample.shape.extents().begin(), sample.shape.extents().end());
    const u64 unit = block_values_ / std::gcd(block_values_, size / shape[0]);
    wanted[0] = std::min(shape[0], (wanted[0] + unit - 1) / unit * unit);
    const Shape extents{std::span<const u64>(wanted)};
    std::vector<Box> boxes;
    for (u64 i = 0; i < count; ++i) {
      Box box{{}, extents};
      for (size_t axis = 0; axis < shape.rank(); ++axis)
        box.first[axis] = (shape[axis] - extents[axis]) * (2 * i + 1) / (2 * count);
      box.first[0] -= box.first[0] % unit;
      boxes.push_back(box);
    }
    return boxes;
  }

  const Codecs& codecs_;
  u64 block_values_;
  const View& chunk_;
  const ChunkBound& bound_;
  const Mask& mask_;
  std::vector<std::optional<Coded>> coded_;
  std::vector<Writer> settings_;
  Mask whole_;  // with what was taken out of the chunk
  TakenOut taken_;
};

}  // namespace

AlternativesCodec::AlternativesCodec(DType dtype, Codecs codecs)
    : dtype_(dtype), codecs_(std::move(codecs)) {}

const ChunkCodec& AlternativesCodec::first() const {
  return **std::ranges::find_if(codecs_, [](const auto& codec) { return codec != nullptr; });
}

u64 AlternativesCodec::chunk_values() const {
  u64 most = 0;
  for (const auto& codec : codecs_)
    if (codec) most = std::max(most, codec->chunk_values());
  return most - most % block_values();
}

u64 AlternativesCodec::block_values() const {
  u64 most = 1;
  for (const auto& codec : codecs_)
    if (codec) most = std::max(most, codec->block_values());
  return most;
}

bool AlternativesCodec::quantizes_first() const {
  return std::ranges::all_of(codecs_,
                             [](const auto& codec) { return !codec || codec->quantizes_first(); });
}

bool AlternativesCodec::may_have_made(const View& chunk, const ChunkBound& bound,
                                      const Mask& mask) const {
  return std::ranges::any_of(codecs_, [&](const auto& codec) {
    return codec && codec->may_have_made(chunk, bound, mask);
  });
}

ChunkReport AlternativesCodec::compress(const View& chunk, const ChunkBound& bound,
                                        const Mask& mask, Writer& out, ByteView) const {
  if (bound.most == 0 || is_constant(chunk)) return first().compress(chunk, bound, mask, out);
  const Mask own{mask.fills, mask.is_needed && any_special(chunk, mask)};
  Contest contest(codecs_, block_values(), chunk, bound, own);
  const Coded& best = contest.winner();
  const ByteView payload = best.payload.bytes();
  if (best.number > 0 && follows_recipe(Payload(payload.front()))) {
    out.put(Payload::alternative);
    out.put(u8(best.number));
  }
  out.put_bytes(payload);
  return best.report;
}

void AlternativesCodec::measure(void* values, const Shape& shape, const ChunkBound& bound,
                                const Mask& mask) const {
  Writer payload;
  compress(View(static_cast<const std::byte*>(values), dtype_, shape), bound, mask, payload, {});
  KeptValues decoded(values);
  decompress(payload.bytes(), shape, bound.most, decoded, {});
}

bool AlternativesCodec::decompress(ByteView payload, const Shape& shape, double bound,
                                   ValueSink& values, const Wanted& wanted) const {
  const Taken taken = take_apart(payload);
  return taken.codec.decompress(taken.payload, shape, bound, values, wanted);
}

void AlternativesCodec::explain(ByteView payload, const Shape& shape, double bound,
                                Anatomy& found) const {
  const Taken taken = take_apart(payload);
  found.alternative = taken.number;
  taken.codec.explain(taken.payload, shape, bound, found);
}

AlternativesCodec::Taken AlternativesCodec::take_apart(ByteView payload) const {
  const Alternative taken = alternative_of(payload);
  const ByteView rest = payload.subspan(taken.bytes);
  const bool by_recipe = !rest.empty() && follows_recipe(Payload(rest.front()));
  if (taken.bytes == 0) {
    if (by_recipe && !codecs_.front()) fail_corrupt("an alternative that is not for the type");
    return {first(), 0, rest};
  }
  if (taken.number == 0 || taken.number >= codecs_.size() || !codecs_[taken.number] || !by_recipe)
    fail_corrupt("an alternative that does not exist");
  return {*codecs_[taken.number], taken.number, rest};
}

}  // namespace leeway

// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/chunk_memory.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "leeway/base/environment.h"
#include "leeway/base/hash.h"
#include "leeway/choose/advise.h"
#include "leeway/choose/choose.h"
#include "leeway/codec/make_codec.h"
#include "leeway/engine/layers.h"
#include "leeway/leeway.hpp"
#include "leeway/quantize/linear.h"
#include "leeway/recipe/recipe.h"

namespace leeway {
namespace {

constexpr u64 kMostBytes = u64(64) << 20;  // of streams
constexpr size_t kMostMarks = 1024;        // of one stream
constexpr size_t kMostKnown = 2048;        // streams, those forgotten included
// A chunk that came from a forgotten stream, or from several, or has a bound that is measured, is
// kept without loss. A few equal values do not prove that it did: at least this part of all weights
// must.
constexpr double kDoubtfulPart = 16;
constexpr size_t kFewValues = 4;

// Places spread evenly over an array, whichever part of it one looks at: the fractions of multiples
// of the golden ratio.
size_t place(size_t k, size_t size) {
  const u64 fraction = u64(k + 1) * 0x9e3779b97f4a7c15u;
  return std::min(size - 1, size_t(double(fraction >> 11) * 0x1p-53 * double(size)));
}

// Places of low rank are spread over an array by chance. Streams that have marks up to some rank
// can be compared by those up to the lower one of both, whatever they have between.
u64 rank_of(u64 at) {
  u64 rank = (at + 1) * 0x9e3779b97f4a7c15u;
  rank = (rank ^ rank >> 29) * 0xbf58476d1ce4e5b9u;
  return rank ^ rank >> 32;
}
constexpr u64 kEveryRank = ~u64(0);
// Fewer marks in common do not tell two streams apart.
constexpr double kTellingWeight = 4;

// Makes one number of a mark.
u64 number_of(u64 kind, u64 at, u64 bits) {
  u64 number = (bits ^ kind) * 0x9e3779b97f4a7c15u;
  number = (number ^ number >> 32 ^ at * 0xff51afd7ed558ccdu) * 0xc4ceb9fe1a85ec53u;
  return number ^ number >> 29;
}

// The limit on the norm depends on the number of values; it is left out of the kind.
u64 kind_of(const View& array, const Bound& bound, bool has_norm) {
  Writer kind;
  kind.put(array.dtype);
  kind.put_array(array.shape.extents());
  kind.put(u8(has_norm));
  for (const Limit& limit : bound.limits()) {
    if (limit.kind == BoundKind::l2) continue;
    kind.put(limit.kind);
    kind.put(limit.value);
  }
  return hash_of(kind.bytes());
}

// The values of an array, contiguous in memory; copied if they are not contiguous.
class Contiguous {
 public:
  explicit Contiguous(const View& array) : values_(array.data) {
    if (is_contiguous(array)) return;
    copy_.resize(size_t(array.shape.size()) * size_of(array.dtype));
    gather(array, copy_.data());
    values_ = copy_.data();
  }
  template <class T>
  T at(u64 i) const {
    T value;
    std::memcpy(&value, values_ + i * sizeof value, sizeof value);
    return value;
  }

 private:
  const std::byte* values_;
  std::vector<std::byte> copy_;
};

// Whether a stream with a recipe may have been made with these options. If not, its array is not
// rewritten but copied to a dataset with another recipe. A preset may have given way to any other
// recipe that a trial on the array found better, but not to another preset.
bool asks_for(const CompressOptions& options, DType dtype, const std::string& recipe) {
  if (is_choice(options.recipe) || recipe == stored_recipe(options, dtype)) return true;
  const std::vector<std::string> names = presets();
  return std::ranges::find(names, options.recipe) != names.end() &&
         std::ranges::none_of(names, [&](const std::string& name) {
           return recipe == to_string(parse_recipe(name));
         });
}

std::string recipe_of(ByteView stream) {
  const MemorySource source(stream);
  return StreamReader(source).header().recipe;
}

// Whether a stream of the array may keep frames of the earlier one.
bool can_continue(const Header& earlier, const CompressOptions& options, const View& array) {
  const auto codec = make_codec(parse_recipe(earlier.recipe), array.dtype);
  return options.bound.is_lasting() && !(options.rms > 0) && !options.has_regions() &&
         earlier.regions.empty() && options.bound.limits() == earlier.bound.limits() &&
         !codec->is_by_value() && chunk_of(options, array.shape, *codec) == earlier.chunk;
}

// Whether a payload has codes by the recipe and nothing else, except zeros with which a host has
// filled the chunk up (engine/border.h).
bool has_only_codes(ByteView payload, const Shape& chunk) {
  const auto is_coded = [](ByteView plain) {
    return Payload(plain[0]) == Payload::coded || Payload(plain[0]) == Payload::narrow;
  };
  if (Payload(payload[0]) != Payload::layered) return is_coded(payload);
  const Layers layers = read_layers(payload, chunk);
  static_assert(int(Payload::constant) == 0);
  return std::ranges::all_of(layers.base, [](u8 byte) { return byte == 0; }) &&
         layers.over.size() == 1 && layers.over[0].covers == Covers::box &&
         is_coded(layers.over[0].payload);
}

// Whether the values have no errors, or are multiples of a step that will be the same the next
// time: those stay when they are quantized again, whatever is around them.
bool stays_anyway(const StreamReader& stream) {
  const Header& header = stream.header();
  if (header.bound.has(BoundKind::lossless)) return true;
  if (!header.bound.is_lasting() || !header.recipe.starts_with(Linear::kName)) return false;
  if (!parse_recipe(header.recipe).others.empty()) return false;  // another may be taken then
  if (!header.regions.empty()) return false;  // regions have smaller steps
  for (u64 ordinal = 0; ordinal < stream.chunks(); ++ordinal) {
    Bytes storage;
    const StreamReader::Chunk chunk = stream.read_chunk(ordinal, storage);
    const FrameHead& head = chunk.head;
    if (head.exact > 0) return false;
    if (!has_only_codes(chunk.payload, header.chunk_box(ordinal).shape.squeezed())) return false;
    // A fill value that was found may not be found again.
    if (head.special > 0 && !header.fills.empty()) return false;
  }
  return true;
}

// Returns which values of an array have the bits that a stream decodes to.
std::vector<bool> given_by(ByteView stream, const View& array, unsigned threads) {
  DecompressOptions options;
  options.execution.threads = threads;
  const Array decoded = decompress(stream, options);
  const Contiguous values(array);
  return visit_dtype(array.dtype, [&]<class T>(std::type_identity<T>) {
    const auto given = decoded.as<T>();
    std::vector<bool> same(given.size());
    for (size_t i = 0; i < same.size(); ++i)
      same[i] = bits_of(values.at<T>(i)) == bits_of(given[i]);
    return same;
  });
}

// If the chosen values are the same few over and over, zeros mostly, the bits of these; an array
// that has nothing to do with a stream may have them where the stream gives them. Some others may
// be equal by chance: up to one in kMostMarks of the array's values, which are not chosen any more.
std::optional<std::vector<u64>> few_of(const View& array, std::vector<bool>& chosen) {
  const Contiguous values(array);
  return visit_dtype(array.dtype,
                     [&]<class T>(std::type_identity<T>) -> std::optional<std::vector<u64>> {
                       const auto bits_at = [&](size_t i) { return u64(bits_of(values.at<T>(i))); };
                       const size_t most_others = chosen.size() / kMostMarks;
                       std::unordered_map<u64, size_t> counts;
                       for (size_t i = 0; i < chosen.size(); ++i) {
                         if (!chosen[i]) continue;
                         ++counts[bits_at(i)];
                         if (counts.size() > kFewValues + most_others) return std::nullopt;
                       }
                       std::vector<std::pair<size_t, u64>> order;
                       for (const auto& [bits, count] : counts) order.emplace_back(count, bits);
                       std::ranges::sort(order, std::greater());
                       std::vector<u64> few;
                       size_t others = 0;
                       for (const auto& [count, bits] : order) {
                         if (few.size() < kFewValues)
                           few.push_back(bits);
                         else
                           others += count;
                       }
                       if (others > most_others) return std::nullopt;
                       for (size_t i = 0; i < chosen.size(); ++i)
                         if (chosen[i] && std::ranges::find(few, bits_at(i)) == few.end())
                           chosen[i] = false;
                       return few;
                     });
}

// A stream of the array alone that keeps the chosen values, which are few. If it would not, they are
// declared as fill values; where that would change what the bound means, nothing is lost.
CompressReport compress_alone(const View& array, CompressOptions options,
                              const std::vector<bool>& chosen, const std::vector<u64>& few,
                              double earlier_bound, std::span<u8> memory) {
  const CompressReport plain = leeway::compress_into(array, options, memory);
  const auto given =
      given_by(memory.first(size_t(plain.output_bytes)), array, options.execution.threads);
  if (std::ranges::equal(chosen, given, std::less_equal{})) return plain;
  if (!options.bound.is_lasting()) {
    options.keeps_all = earlier_bound;
    return leeway::compress_into(array, options, memory);
  }
  options.fill_bits.insert(options.fill_bits.end(), few.begin(), few.end());
  return leeway::compress_into(array, options, memory);
}

}  // namespace

ChunkMemory& ChunkMemory::of_process() {
  static auto* const memory = new ChunkMemory;  // never destroyed: hosts may write while they exit
  return *memory;
}

// Marks are ordinary values only, because special values always come back unchanged. If most values
// are special, all are looked at to find the others.
ChunkMemory::Marks ChunkMemory::marks_of(const View& array, const Mask& mask) {
  const u64 size = array.shape.size();
  const Contiguous values(array);
  Marks found;
  visit_dtype(array.dtype, [&]<class T>(std::type_identity<T>) {
    const auto collect = [&](u64 reach) {
      found = {{}, reach};
      found.list.reserve(std::min(size_t(size), kMostMarks));
      for (u64 at = 0; at < size; ++at) {
        if (rank_of(at) > reach) continue;
        const T value = values.at<T>(at);
        if (!mask.is_special(value)) found.list.push_back({at, u64(bits_of(value))});
      }
    };
    if (size > 2 * kMostMarks) collect(kEveryRank / size * (kMostMarks + kMostMarks / 4));
    if (found.list.size() < kMostMarks / 2) collect(kEveryRank);
  });
  const auto by_rank = [](const Mark& mark) { return rank_of(mark.at); };
  if (found.list.size() > kMostMarks) {
    const auto last = found.list.begin() + kMostMarks - 1;
    std::ranges::nth_element(found.list, last, {}, by_rank);
    found.reach = by_rank(*last);
    found.list.resize(kMostMarks);
    std::ranges::sort(found.list, {}, &Mark::at);
  }
  return found;
}

void ChunkMemory::keep(Known known) {
  if (known.marks.list.empty()) return;  // it could never be found again
  const std::lock_guard lock(mutex_);
  // A stream that is decoded again and again is remembered once.
  if (!known_.empty() && known_.back().kind == known.kind && known_.back().hash == known.hash)
    return;
  bytes_ += known.stream.size();
  Kind& kind = kinds_[known.kind];
  ++kind.streams;
  kind.reach = std::max(kind.reach, known.marks.reach);
  known_.push_back(std::move(known));
  for (; bytes_ > kMostBytes && forgotten_ + 1 < known_.size(); ++forgotten_) {
    bytes_ -= known_[forgotten_].stream.size();
    known_[forgotten_].stream = {};
  }
  if (known_.size() <= kMostKnown) return;
  bytes_ -= known_.front().stream.size();
  const auto oldest = kinds_.find(known_.front().kind);
  if (--oldest->second.streams == 0) kinds_.erase(oldest);
  known_.pop_front();
  ++first_;
  if (forgotten_ > 0) --forgotten_;
}

void ChunkMemory::index_marks() {
  const u64 end = first_ + known_.size();
  for (indexed_ = std::max(indexed_, first_); indexed_ < end; ++indexed_) {
    if (!index_.has_room(kMostMarks)) {
      index_.reset(known_.size() * kMostMarks);
      base_ = indexed_ = first_;
    }
    const Known& known = known_[indexed_ - first_];
    for (const Mark& mark : known.marks.list)
      index_.add(number_of(known.kind, mark.at, mark.bits), u32(indexed_ - base_));
  }
}

std::vector<const ChunkMemory::Known*> ChunkMemory::candidates(
    u64 kind, u64 size, const std::function<u64(u64)>& bits_at) {
  index_marks();
  const u64 reach = kinds_.at(kind).reach;
  std::vector<u64> numbers;
  for (u64 at = 0; at < size; ++at) {
    if (rank_of(at) > reach) continue;
    numbers.push_back(number_of(kind, at, bits_at(at)));
    index_.prefetch(numbers.back());
  }
  std::vector<size_t> ones;  // may have some twice, and some of another kind
  bool all = false;
  for (size_t i = 0; i < numbers.size() && !all; ++i)
    all = !index_.for_each(numbers[i], [&](u32 owner) {
      if (base_ + owner >= first_) ones.push_back(size_t(base_ + owner - first_));
    });
  if (all) {
    ones.resize(known_.size());
    std::iota(ones.begin(), ones.end(), size_t(0));
  }
  std::ranges::sort(ones);
  ones.erase(std::unique(ones.begin(), ones.end()), ones.end());
  std::vector<const Known*> result;
  for (const size_t one : ones)
    if (known_[one].kind == kind) result.push_back(&known_[one]);
  return result;
}

// The stream whose marks have the largest weights in the array. If another stream has many marks
// that this one has not, the array may hold parts of both.
ChunkMemory::Trail ChunkMemory::find(const View& array, u64 kind, const CompressOptions& options) {
  const std::lock_guard lock(mutex_);
  if (!kinds_.contains(kind)) return {};
  const Contiguous values(array);
  return visit_dtype(array.dtype, [&]<class T>(std::type_identity<T>) -> Trail {
    const auto bits_at = [&](u64 at) { return u64(bits_of(values.at<T>(at))); };
    const auto sharing = candidates(kind, array.shape.size(), bits_at);
    if (sharing.empty()) return {};
    const auto is_here = [&](const Mark& mark) { return bits_at(mark.at) == mark.bits; };
    std::unordered_map<u64, double> counts;  // of some values of the array
    const auto size = size_t(array.shape.size());
    for (size_t k = 0; k < std::min(size, kMostMarks); ++k)
      ++counts[bits_at(size > kMostMarks ? place(k, size) : k)];
    const auto weight_of = [&](const Known& known, auto&& is_counted) {
      double weight = 0;
      for (const Mark& mark : known.marks.list) {
        if (!is_counted(mark)) continue;
        const auto count = counts.find(mark.bits);
        weight += 1 / (count == counts.end() ? 1 : 1 + count->second);
      }
      return weight;
    };
    const auto weight_up_to = [&](const Known& known, u64 reach) {
      return weight_of(
          known, [&](const Mark& mark) { return is_here(mark) && rank_of(mark.at) <= reach; });
    };
    const auto part_of = [&](const Known& known) {
      return weight_of(known, is_here) / weight_of(known, [](const Mark&) { return true; });
    };
    const auto is_at_least = [&](const Known& a, const Known& b) {
      const u64 reach = std::min(a.marks.reach, b.marks.reach);
      const double of_a = weight_up_to(a, reach), of_b = weight_up_to(b, reach);
      if (std::min(of_a, of_b) >= kTellingWeight) return of_a >= of_b;
      return part_of(a) >= part_of(b);
    };
    const auto best_of = [&](auto&& may_be) {
      const Known* best = nullptr;
      for (const Known* known : sharing)
        if (std::ranges::any_of(known->marks.list, is_here) && may_be(*known) &&
            (!best || is_at_least(*known, *best)))
          best = known;
      return best;
    };
    const Known* best = best_of([](const Known&) { return true; });
    if (!best) return {};
    // Datasets with the same values and other recipes: the one that is rewritten has this recipe.
    if (!asks_for(options, array.dtype, best->recipe)) {
      const Known* const asked = best_of(
          [&](const Known& known) { return asks_for(options, array.dtype, known.recipe); });
      if (asked) best = asked;
    }
    const double most = weight_of(*best, is_here);
    const auto best_has_another = [&](const Mark& mark) {
      const auto own = std::ranges::lower_bound(best->marks.list, mark.at, {}, &Mark::at);
      return own != best->marks.list.end() && own->at == mark.at && own->bits != mark.bits;
    };
    const double doubtful = weight_of(*best, [](const Mark&) { return true; }) / kDoubtfulPart;
    double bound = best->bound;
    for (const Known& known : known_)
      if (known.kind == kind) bound = std::max(bound, known.bound);
    const bool is_much = most >= doubtful;
    if (best->stream.empty()) return {{}, is_much, bound};
    for (const Known* known : sharing)
      if (weight_of(*known, [&](const Mark& mark) {
            return is_here(mark) && best_has_another(mark);
          }) >= doubtful)
        return {{}, true, bound};
    return {best->stream, true, bound};
  });
}

void ChunkMemory::remember(ByteView stream, const View& decoded) {
  const DefaultFloatingPoint environment;
  const MemorySource source(stream);
  const StreamReader reader(source);
  const Header& header = reader.header();
  if (stays_anyway(reader)) return;
  keep({kind_of(decoded, header.bound, header.bound.has(BoundKind::l2)),
        hash_of(stream),
        header.abs_bound,
        header.recipe,
        {stream.begin(), stream.end()},
        marks_of(decoded, {.fills = header.fills})});
}

CompressReport ChunkMemory::compress_into(const View& array, const CompressOptions& options,
                                          std::span<u8> memory) {
  const DefaultFloatingPoint environment;
  if (options.bound.has(BoundKind::lossless)) return leeway::compress_into(array, options, memory);
  const bool has_norm = options.rms > 0 || options.bound.has(BoundKind::l2);
  const Trail trail = find(array, kind_of(array, options.bound, has_norm), options);
  if (trail.is_known && !trail.stream.empty()) {
    auto kept = given_by(trail.stream, array, options.execution.threads);
    const auto few = few_of(array, kept);
    if (few && asks_for(options, array.dtype, recipe_of(trail.stream)))
      return compress_alone(array, options, kept, *few, trail.bound, memory);
    return compress_again_into(array, options, trail.stream, memory);
  }
  CompressOptions again = options;
  if (trail.is_known) again.keeps_all = trail.bound;
  return leeway::compress_into(array, again, memory);
}

CompressReport compress_again_into(const View& array, const CompressOptions& options,
                                   ByteView stream, std::span<u8> memory) {
  const DefaultFloatingPoint environment;
  const MemorySource source(stream);
  const StreamReader earlier(source);
  const Header& header = earlier.header();
  CompressOptions again = options;
  if (options.bound.has(BoundKind::lossless) || stays_anyway(earlier) ||
      !asks_for(options, array.dtype, header.recipe))
    return leeway::compress_into(array, options, memory);
  if (can_continue(header, options, array)) {
    again.earlier = &earlier;
    again.recipe = header.recipe;
  } else {
    again.keeps_all = header.abs_bound;
  }
  return leeway::compress_into(array, again, memory);
}

}  // namespace leeway

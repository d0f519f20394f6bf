// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/chunk_memory.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "leeway/core/hash.h"
#include "leeway/engine/chunk_codec.h"
#include "leeway/leeway.hpp"
#include "leeway/quality/choose.h"
#include "leeway/quantize/linear.h"

namespace leeway {
namespace {

constexpr u64 kMostBytes = u64(64) << 20;  // of streams and their traces
constexpr size_t kSlots = size_t(1) << 21;
constexpr size_t kMostTraces = 1024;  // of single values
// Many streams may have the same value in one place, but hardly the same run of values.
constexpr size_t kRun = 4, kRunEvery = 4;
// How a slot is divided.
constexpr int kNumberBits = 40;
constexpr u64 kNumbers = (u64(1) << kNumberBits) - 1;
// A chunk that came from a forgotten stream, or from several, is kept without loss. A few equal
// values do not prove that it did: at least this part of all weights must.
constexpr double kDoubtfulPart = 16;

// Places spread evenly over an array, whichever part of it one looks at: the fractions of multiples
// of the golden ratio.
size_t place(size_t k, size_t size) {
  const u64 fraction = u64(k + 1) * 0x9e3779b97f4a7c15u;
  return std::min(size - 1, size_t(double(fraction >> 11) * 0x1p-53 * double(size)));
}

// Three numbers as one. Whoever finds the same one compares the values themselves.
u64 mixed(u64 a, u64 b, u64 c) {
  u64 sum = (a ^ b * 0x9e3779b97f4a7c15u) + c;
  sum = (sum ^ sum >> 29) * 0xbf58476d1ce4e5b9u;
  return (sum ^ sum >> 32) * 0x94d049bb133111ebu;
}

// Whether the host asks for the recipe of the earlier stream. If not, the array is not one that
// comes back: somebody copies it.
bool has_recipe_of(const Header& earlier, const CompressOptions& options, DType dtype) {
  return is_choice(options.recipe) || earlier.recipe == stored_recipe(options, dtype);
}

// Whether a stream of the array may keep frames of the earlier one.
bool can_continue(const Header& earlier, const CompressOptions& options, const View& array) {
  const auto codec = make_codec(parse_recipe(earlier.recipe), array.dtype);
  return options.bound.is_lasting() && !options.has_regions() && earlier.regions.empty() &&
         !codec->is_by_value() && chunk_of(options, array.shape, *codec) == earlier.chunk;
}

// Whether all values are multiples of a step that will be the same the next time: those stay when
// they are quantized again, whatever is around them.
bool stays_anyway(const StreamReader& stream) {
  const Header& header = stream.header();
  if (!header.bound.is_lasting() || !header.recipe.starts_with(Linear::kName)) return false;
  for (u64 ordinal = 0; ordinal < stream.chunks(); ++ordinal) {
    Bytes storage;
    const Payload kind = Payload(stream.read_begin(ordinal, 1, storage)[0]);
    if (stream.read_head(ordinal).exact > 0 || (kind != Payload::coded && kind != Payload::narrow))
      return false;
  }
  return true;
}

}  // namespace

ChunkMemory& ChunkMemory::of_process() {
  static auto* const memory = new ChunkMemory;  // never destroyed: hosts may still write at the end
  return *memory;
}

ChunkMemory::Traces ChunkMemory::traces_of(const View& array, const Bound& bound,
                                           const Mask& mask) {
  Writer kind;
  kind.put(array.dtype);
  kind.put_array(array.shape.extents());
  for (const Limit& limit : bound.limits()) {
    kind.put(limit.kind);
    kind.put(limit.value);
  }
  const u64 seed = hash_of(kind.bytes());
  const auto size = size_t(array.shape.size());
  const size_t count = std::min(size, kMostTraces);
  std::vector<std::byte> gathered;
  const std::byte* values = array.data;
  if (!is_contiguous(array)) {
    gathered.resize(size * size_of(array.dtype));
    gather(array, gathered.data());
    values = gathered.data();
  }
  Traces traces;
  visit_dtype(array.dtype, [&]<class T>(std::type_identity<T>) {
    const auto value_at = [&](size_t at) {
      T value;
      std::memcpy(&value, values + at * sizeof value, sizeof value);
      return value;
    };
    const auto add = [&](size_t first, size_t length) {
      u64 trace = mixed(seed, first, length);
      for (size_t at = first; at < first + length && trace != 0; ++at) {
        const T value = value_at(at);
        // Special values come back whatever happens.
        trace = mask.is_special(value) ? 0 : mixed(trace, at, u64(bits_of(value)));
      }
      traces.numbers.push_back(trace);
      traces.bits.push_back(u64(bits_of(value_at(first))));
    };
    const auto place_of = [&](size_t k) { return count == size ? k : place(k, size); };
    for (size_t k = 0; k < count; ++k) add(place_of(k), 1);
    for (size_t k = 0; k < count && size >= kRun; k += kRunEvery)
      add(std::min(place_of(k), size - kRun), kRun);
  });
  return traces;
}

void ChunkMemory::keep(ByteView stream, std::vector<u64> traces) {
  const std::lock_guard lock(mutex_);
  if (slots_.empty()) slots_.resize(kSlots);
  const u64 number = next_++ & kNumbers;
  const Known& known =
      known_.insert_or_assign(number, Known{Bytes(stream.begin(), stream.end()), std::move(traces)})
          .first->second;
  for (const u64 trace : known.traces)
    if (trace != 0) slots_[size_t(trace) % kSlots] = (trace & ~kNumbers) | number;
  bytes_ += known.bytes();
  while (bytes_ > kMostBytes && known_.size() > 1) {
    bytes_ -= known_.begin()->second.bytes();
    known_.erase(known_.begin());
  }
}

bool ChunkMemory::knows_nothing() {
  const std::lock_guard lock(mutex_);
  return slots_.empty();
}

// The stream that has most of the traces. A trace leads to the last stream that had it, which need
// not be the one that the array came from: where both are 0, for instance. So all streams that any
// trace leads to are compared. If another one has many traces that the best one lacks, the array
// may hold parts of both.
ChunkMemory::Trail ChunkMemory::find(const Traces& traces) {
  const std::lock_guard lock(mutex_);
  std::unordered_map<u64, double> counts;  // of values
  for (const u64 bits : traces.bits) ++counts[bits];
  std::vector<double> weights;
  for (size_t i = 0; i < traces.numbers.size(); ++i)
    weights.push_back(traces.numbers[i] ? 1 / counts[traces.bits[i]] : 0);
  std::set<u64> streams;
  double all = 0, forgotten = 0;
  for (size_t i = 0; i < traces.numbers.size(); ++i) {
    const u64 trace = traces.numbers[i], slot = slots_[size_t(trace) % kSlots];
    all += weights[i];
    if (trace == 0 || slot == 0 || (slot ^ trace) >> kNumberBits != 0) continue;
    if (known_.contains(slot & kNumbers))
      streams.insert(slot & kNumbers);
    else  // those that are known are newer: what leads here was in none of them
      forgotten += weights[i];
  }
  const auto weight_where = [&](auto&& is_counted) {
    double weight = 0;
    for (size_t i = 0; i < traces.numbers.size(); ++i)
      if (is_counted(i)) weight += weights[i];
    return weight;
  };
  const auto has = [&](const Known& known, size_t i) {
    return i < known.traces.size() && known.traces[i] == traces.numbers[i];
  };
  const Known* best = nullptr;
  double most = 0;
  for (const u64 number : streams) {
    const Known& known = known_.at(number);
    const double weight = weight_where([&](size_t i) { return has(known, i); });
    if (weight >= most) best = &known, most = weight;
  }
  if (!best) return {{}, forgotten > 0 && forgotten >= all / kDoubtfulPart};
  double beside = forgotten;
  for (const u64 number : streams) {
    const Known& known = known_.at(number);
    beside =
        std::max(beside, weight_where([&](size_t i) { return has(known, i) && !has(*best, i); }));
  }
  if (beside >= all / kDoubtfulPart) return {{}, true};
  return {best->stream, true};
}

void ChunkMemory::remember(ByteView stream, const View& decoded) {
  const MemorySource source(stream);
  const StreamReader reader(source);
  const Header& header = reader.header();
  if (header.bound.has(BoundKind::lossless) || stays_anyway(reader)) return;
  keep(stream, traces_of(decoded, header.bound, {.params = {}, .fills = header.fills}).numbers);
}

CompressReport ChunkMemory::compress_into(const View& array, const CompressOptions& options,
                                          std::span<u8> memory) {
  const auto compress_plainly = [&] { return leeway::compress_into(array, options, memory); };
  if (options.bound.has(BoundKind::lossless)) return compress_plainly();
  if (knows_nothing()) return compress_plainly();
  const Trail trail = find(traces_of(array, options.bound, {}));
  if (!trail.is_known) return compress_plainly();
  CompressOptions again = options;
  if (trail.stream.empty()) {
    again.keeps_all = true;
    return leeway::compress_into(array, again, memory);
  }
  const MemorySource source(trail.stream);
  const StreamReader earlier(source);
  if (!has_recipe_of(earlier.header(), options, array.dtype)) return compress_plainly();
  if (can_continue(earlier.header(), options, array)) {
    again.earlier = &earlier;
    again.recipe = earlier.header().recipe;
  } else {
    again.keeps_all = true;
  }
  return leeway::compress_into(array, again, memory);
}

}  // namespace leeway

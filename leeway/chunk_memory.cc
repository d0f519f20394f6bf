// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/chunk_memory.h"

#include <algorithm>
#include <unordered_map>

#include "leeway/core/hash.h"
#include "leeway/leeway.hpp"
#include "leeway/quality/choose.h"

namespace leeway {
namespace {

constexpr u64 kMostBytes = u64(64) << 20;  // of streams
constexpr size_t kSlots = size_t(1) << 20;
constexpr size_t kMostTraces = 1024;
// A chunk that came from a forgotten stream is kept without loss. A few equal values do not prove
// that it did: at least this part of all weights must.
constexpr double kForgottenPart = 16;

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

// Whether a stream of the array may keep frames of the earlier one.
bool continues(const View& array, const CompressOptions& options, const Header& earlier) {
  const bool is_chosen = is_choice(options.recipe);
  return earlier.regions.empty() && !is_by_value(parse_recipe(earlier.recipe)) &&
         (is_chosen || earlier.recipe == stored_recipe(options, array.dtype)) &&
         (options.chunk.rank() == 0 || options.chunk == earlier.chunk);
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
  struct Sample {
    u64 bits, at;
  };
  std::vector<Sample> samples;
  samples.reserve(count);
  visit_dtype(array.dtype, [&]<class T>(std::type_identity<T>) {
    for (size_t k = 0; k < count; ++k) {
      const size_t at = count == size ? k : place(k, size);
      T value;
      std::memcpy(&value, values + at * sizeof value, sizeof value);
      // Special values come back whatever happens.
      if (!mask.is_special(value)) samples.push_back({u64(bits_of(value)), at});
    }
  });
  std::ranges::sort(samples, {}, &Sample::bits);
  Traces traces;
  traces.reserve(samples.size());
  for (auto first = samples.begin(); first != samples.end();) {
    const auto end = std::ranges::find_if(
        first, samples.end(), [&](const Sample& sample) { return sample.bits != first->bits; });
    for (const double weight = 1 / double(end - first); first != end; ++first)
      traces.push_back({mixed(seed, first->at, first->bits), weight});
  }
  return traces;
}

void ChunkMemory::keep(ByteView stream, const Traces& traces) {
  const std::lock_guard lock(mutex_);
  if (slots_.empty()) slots_.resize(kSlots);
  const u64 number = next_++;
  for (const Trace& trace : traces) slots_[size_t(trace.number) % kSlots] = {trace.number, number};
  streams_.emplace(number, Bytes(stream.begin(), stream.end()));
  bytes_ += stream.size();
  while (bytes_ > kMostBytes && streams_.size() > 1) {
    bytes_ -= streams_.begin()->second.size();
    streams_.erase(streams_.begin());
  }
}

// The stream that the traces lead to.
ChunkMemory::Trail ChunkMemory::find(const Traces& traces) {
  const std::lock_guard lock(mutex_);
  if (slots_.empty()) return {};
  std::unordered_map<u64, double> weights;
  double all = 0;
  for (const Trace& trace : traces) {
    all += trace.weight;
    if (const Slot& slot = slots_[size_t(trace.number) % kSlots]; slot.trace == trace.number)
      weights[slot.stream] += trace.weight;
  }
  const auto most =
      std::ranges::max_element(weights, {}, [](const auto& entry) { return entry.second; });
  if (most == weights.end()) return {};
  const auto stream = streams_.find(most->first);
  if (stream != streams_.end()) return {stream->second, true};
  return {{}, most->second >= all / kForgottenPart};
}

void ChunkMemory::remember(ByteView stream, const View& decoded) {
  const MemorySource source(stream);
  const Header header = StreamReader(source).header();
  if (header.bound.has(BoundKind::lossless)) return;
  keep(stream, traces_of(decoded, header.bound, {.params = {}, .fills = header.fills}));
}

CompressReport ChunkMemory::compress_into(const View& array, const CompressOptions& options,
                                          std::span<u8> memory) {
  const auto compress_plainly = [&] { return leeway::compress_into(array, options, memory); };
  if (options.bound.has(BoundKind::lossless)) return compress_plainly();
  const Trail trail = find(traces_of(array, options.bound, {}));
  if (!trail.is_known) return compress_plainly();
  CompressOptions again = options;
  if (trail.stream.empty() || !options.bound.is_lasting() || options.has_regions()) {
    again.bound = Bound::lossless();
    return leeway::compress_into(array, again, memory);
  }
  const MemorySource source(trail.stream);
  const StreamReader earlier(source);
  if (!continues(array, options, earlier.header())) return compress_plainly();
  again.earlier = &earlier;
  again.recipe = earlier.header().recipe;
  return leeway::compress_into(array, again, memory);
}

}  // namespace leeway

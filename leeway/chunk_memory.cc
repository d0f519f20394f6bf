// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/chunk_memory.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "leeway/core/hash.h"
#include "leeway/leeway.hpp"
#include "leeway/quality/choose.h"

namespace leeway {
namespace {

constexpr u64 kMostBytes = u64(64) << 20;  // of streams
constexpr size_t kSlots = size_t(1) << 18;
constexpr size_t kMostTraces = 256;
// A stream that is forgotten makes its chunk one without loss: that must not happen by chance.
constexpr u64 kForgottenTraces = 16;

// Places spread evenly over an array, whichever part of it one looks at: the fractions of multiples
// of the golden ratio.
size_t place(size_t k, size_t size) {
  const u64 fraction = u64(k + 1) * 0x9e3779b97f4a7c15u;
  return std::min(size - 1, size_t(double(fraction >> 11) * 0x1p-53 * double(size)));
}

// A value by its number in row-major order, unless it is special: those come back anyway.
std::optional<u64> bits_at(const View& array, size_t at, const Mask& mask) {
  Index index{};
  for (size_t axis = array.shape.rank(); axis-- > 0; at /= size_t(array.shape[axis]))
    index[axis] = at % array.shape[axis];
  return visit_dtype(array.dtype, [&]<class T>(std::type_identity<T>) -> std::optional<u64> {
    T value;
    std::memcpy(&value, array.at(index), sizeof value);
    if (mask.is_special(value)) return std::nullopt;
    return u64(bits_of(value));
  });
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
  std::array<u64, 3> trace = {hash_of(kind.bytes())};
  const auto size = size_t(array.shape.size());
  const size_t count = std::min(size, kMostTraces);
  Traces traces;
  traces.reserve(count);
  for (size_t k = 0; k < count; ++k) {
    const size_t at = count == size ? k : place(k, size);
    if (const auto bits = bits_at(array, at, mask)) {
      trace = {trace[0], at, *bits};
      traces.push_back(hash_of(bytes_of(std::span<const u64>(trace))));
    }
  }
  return traces;
}

void ChunkMemory::keep(ByteView stream, const Traces& traces) {
  const std::lock_guard lock(mutex_);
  if (slots_.empty()) slots_.resize(kSlots);
  const u64 number = next_++;
  for (const u64 trace : traces) slots_[size_t(trace) % kSlots] = {trace, number};
  streams_.emplace(number, Bytes(stream.begin(), stream.end()));
  bytes_ += stream.size();
  while (bytes_ > kMostBytes && streams_.size() > 1) {
    bytes_ -= streams_.begin()->second.size();
    streams_.erase(streams_.begin());
  }
}

// The stream that most of the traces lead to.
ChunkMemory::Trail ChunkMemory::find(const Traces& traces, DType dtype) {
  const std::lock_guard lock(mutex_);
  if (slots_.empty()) return {};
  std::unordered_map<u64, u64> votes;
  for (const u64 trace : traces)
    if (const Slot& slot = slots_[size_t(trace) % kSlots]; slot.trace == trace)
      ++votes[slot.number];
  const auto most =
      std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
  // Integers are the same by chance.
  const bool is_coarse = visit_dtype(
      dtype, []<class T>(std::type_identity<T>) { return !std::is_floating_point_v<T>; });
  if (most == votes.end() || (is_coarse && most->second < traces.size() / 16)) return {};
  const auto stream = streams_.find(most->first);
  if (stream != streams_.end()) return {stream->second, true};
  return {{}, most->second >= kForgottenTraces};
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
  const Trail trail = find(traces_of(array, options.bound, {}), array.dtype);
  if (!trail.is_known) return compress_plainly();
  CompressOptions again = options;
  if (trail.stream.empty() || !options.bound.is_lasting()) {
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

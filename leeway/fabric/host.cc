// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/fabric/host.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

#include "leeway/base/distance.h"
#include "leeway/base/hash.h"

namespace leeway::fabric {
namespace {

constexpr u8 kNarrow = 6;        // kind of payload, docs/FORMAT.md
constexpr size_t kSections = 3;  // empty ones before the codes
constexpr size_t kBeforeHeads = 1 + kSections;

Bytes library_stream(const View& field, const Bound& bound, const Execution& execution) {
  if (field.dtype != DType::f32) fail_argument("the wafer takes fields of f32");
  if (field.shape.size() == 0) fail_argument("the field has no values");
  CompressOptions options;
  options.bound = bound;
  options.recipe = "ceresz";
  options.execution = execution;
  options.execution.progress = nullptr;
  return compress(field, options);
}

u64 blocks_of(u64 values) { return (values + kBlock - 1) / kBlock; }

}  // namespace

Host::Host(const View& field, const Bound& bound, const Execution& execution)
    : field_(field),
      execution_(execution),
      expected_(library_stream(field, bound, execution)),
      grid_(1.0) {
  const MemorySource source(expected_);
  const StreamReader reader(source);
  header_ = reader.header();
  if (!(header_.abs_bound > 0))
    fail_argument(
        "the wafer needs a bound above 0; a part of the range of equal values is 0, use --abs");
  if (header_.is_bound_by_chunk()) fail_argument("the wafer needs one bound for all values");
  has_special_ = reader.statement()->special > 0;
  grid_ = LinearGrid<float>(header_.abs_bound);
  first_block_.push_back(0);
  for (u64 chunk = 0; chunk < reader.chunks(); ++chunk) {
    offsets_.push_back(reader.offset(chunk));
    first_block_.push_back(first_block_.back() + blocks_of(values_in(chunk)));
  }
  offsets_.push_back(expected_.size() - tail_bytes(ByteView(expected_).last(kTailEndBytes)));
}

std::vector<float> Host::values(u64 chunk) const {
  const auto size = size_t(values_in(chunk));
  std::vector<float> values(size_t(blocks_of(size)) * kBlock);
  gather(field_.part(header_.chunk_box(chunk)), values.data());
  std::fill(values.begin() + std::ptrdiff_t(size), values.end(), values[size - 1]);
  return values;
}

std::vector<Words> Host::raw_blocks() const {
  std::vector<Words> blocks;
  for (u64 chunk = 0; chunk < chunks(); ++chunk) {
    const std::vector<float> all = values(chunk);
    for (size_t first = 0; first < all.size(); first += kBlock) {
      Words words;
      for (size_t i = 0; i < kBlock; ++i) words.push_back(std::bit_cast<u32>(all[first + i]));
      blocks.push_back(std::move(words));
    }
  }
  return blocks;
}

CodedBlocks Host::encode() const {
  CodedBlocks coded;
  coded.widths.resize(size_t(blocks()));
  coded.chunks.resize(size_t(chunks()));
  for_each_index(chunks(), execution_.threads, execution_.executor, [&](u64 chunk) {
    const std::vector<float> all = values(chunk);
    Words words(all.size() / kBlock * kMostCoded);
    size_t count = 0;
    for (size_t first = 0; first < all.size(); first += kBlock) {
      const std::span<u32, kMostCoded> to(words.data() + count, kMostCoded);
      count += encode_block(grid_, std::span<const float, kBlock>(all.data() + first, kBlock), to);
      coded.widths[size_t(first_block(chunk)) + first / kBlock] = u8(width_of(to[0]));
    }
    words.resize(count);
    words.shrink_to_fit();
    coded.chunks[size_t(chunk)] = std::move(words);
    if (execution_.pause) execution_.pause();
  });
  return coded;
}

CodedBlocks Host::take(std::span<const Words> blocks) const {
  CodedBlocks coded;
  for (u64 chunk = 0; chunk < chunks(); ++chunk) {
    Words& words = coded.chunks.emplace_back();
    for (u64 block = first_block(chunk); block < first_block(chunk + 1); ++block) {
      const Words& from = blocks[size_t(block)];
      coded.widths.push_back(u8(width_of(from.at(0))));
      words.insert(words.end(), from.begin(), from.end());
    }
  }
  return coded;
}

// What the library does with a chunk of equal bits, or with one in a field with special values, is
// not for the wafer.
bool Host::is_for_wafer(std::span<const float> values) const {
  const auto same = [&](float v) { return std::bit_cast<u32>(v) == std::bit_cast<u32>(values[0]); };
  return !has_special_ && grid_.short_step > 0 && !std::ranges::all_of(values, same);
}

// A frame of what the wafer made of a chunk; nothing if the chunk is the host's.
Writer Host::frame(u64 chunk, std::span<const u32> words, std::span<const u8> widths,
                   FrameHead& head) const {
  const auto size = size_t(values_in(chunk));
  const std::vector<float> original = values(chunk);
  if (!is_for_wafer(std::span(original).first(size))) return {};
  Writer out;
  out.extend(kFrameHeadBytes);
  out.put(kNarrow);
  for (size_t k = 0; k < kSections; ++k) out.put(u8(0));
  std::vector<float> decoded(original.size());
  size_t at = 0;
  for (size_t block = 0; block < widths.size(); ++block) {
    if (words[at] & kNoCode) return {};
    out.put(words[at]);
    decode_block(grid_, words.subspan(at),
                 std::span<float, kBlock>(decoded.data() + block * kBlock, kBlock));
    at += coded_words(widths[block]);
  }
  at = 0;
  for (const u8 width : widths) {
    out.put_array(words.subspan(at + 1, coded_words(width) - 1));
    at += coded_words(width);
  }
  float largest = 0;
  for (size_t i = 0; i < size; ++i) largest = std::max(largest, std::abs(original[i] - decoded[i]));
  const size_t bytes = out.size() - kFrameHeadBytes;
  const bool pays = bytes <= size * sizeof(float);
  if (!(largest <= grid_.short_limit) || !pays) return {};
  const ByteView payload = out.bytes().subspan(kFrameHeadBytes);
  head = {.ordinal = chunk,
          .payload_bytes = u32(bytes),
          .bound = header_.abs_bound,
          .max_error = stated_error<float>(largest, header_.abs_bound),
          .decoded_hash = hash_of(bytes_of(std::span<const float>(decoded).first(size))),
          .payload_hash = hash_of(payload)};
  finish_frame(head, 0, out);
  return out;
}

HostReport Host::write(const CodedBlocks& coded, const Sink& sink) const {
  HostReport report;
  report.chunks = chunks();
  report.equals_library = true;
  const auto emit = [&](ByteView part) {
    const bool fits =
        part.size() <= expected_.size() - std::min<u64>(expected_.size(), report.bytes);
    report.equals_library &=
        fits && std::memcmp(part.data(), expected_.data() + report.bytes, part.size()) == 0;
    report.bytes += part.size();
    if (sink) sink(part);
  };
  Writer first;
  leeway::write(header_, first);
  emit(first.bytes());
  std::map<u64, std::pair<Writer, FrameHead>> ready;
  std::mutex mutex;
  StatementMaker statement;
  Tail tail;
  const auto make = [&](u64 chunk) {
    const auto begin = size_t(first_block(chunk)), count = size_t(first_block(chunk + 1)) - begin;
    FrameHead head;
    Writer out = frame(chunk, coded.chunks[size_t(chunk)],
                       std::span(coded.widths).subspan(begin, count), head);
    if (execution_.pause) execution_.pause();
    const std::lock_guard lock(mutex);
    ready.emplace(chunk, std::pair(std::move(out), head));
  };
  const auto finish = [&](u64 chunk) {
    std::unique_lock lock(mutex);
    auto node = ready.extract(chunk);
    lock.unlock();
    auto& [out, head] = node.mapped();
    ByteView bytes = out.bytes();
    if (bytes.empty()) {  // by the library
      const size_t at = size_t(offsets_[size_t(chunk)]);
      bytes = ByteView(expected_).subspan(at, size_t(offsets_[size_t(chunk) + 1]) - at);
      head = read_frame_head(bytes.first(kFrameHeadBytes));
    } else {
      ++report.chunks_of_wafer;
    }
    emit(bytes);
    statement.add(head);
    tail.rooms.push_back(head.payload_bytes);
  };
  for_each_in_order(chunks(), execution_.threads, 8 * u64(execution_.threads), execution_.executor,
                    make, finish);
  tail.statement = statement.statement();
  Writer last;
  leeway::write(tail, last);
  emit(last.bytes());
  report.equals_library &= report.bytes == expected_.size();
  return report;
}

CodedBlocks Host::coded() const {
  CodedBlocks coded;
  coded.chunks.resize(size_t(chunks()));
  for (u64 chunk = 0; chunk < chunks(); ++chunk) {
    const u8* const payload = expected_.data() + offsets_[size_t(chunk)] + kFrameHeadBytes;
    if (payload[0] != kNarrow) continue;
    const size_t blocks = size_t(first_block(chunk + 1) - first_block(chunk));
    const u8* head = payload + kBeforeHeads;
    const u8* body = head + blocks * sizeof(u32);
    for (size_t block = 0; block < blocks; ++block, head += sizeof(u32)) {
      const size_t rest = coded_words(*head) - 1;
      Words& words = coded.chunks[size_t(chunk)];
      coded.widths.push_back(*head);
      words.push_back(*head);
      words.resize(words.size() + rest);
      std::memcpy(words.data() + words.size() - rest, body, rest * sizeof(u32));
      body += rest * sizeof(u32);
    }
  }
  return coded;
}

bool Host::decodes(const CodedBlocks& coded,
                   const std::function<void(u64, std::span<float, kBlock>)>& values) const {
  DecompressOptions options;
  options.execution = execution_;
  options.execution.progress = nullptr;
  const Array array = decompress(expected_, options);
  std::vector<u64> first{0};
  for (u64 chunk = 0; chunk < chunks(); ++chunk)
    first.push_back(first.back() + (coded.chunks[size_t(chunk)].empty()
                                        ? 0
                                        : first_block(chunk + 1) - first_block(chunk)));
  std::atomic<bool> same = true;
  for_each_index(chunks(), execution_.threads, execution_.executor, [&](u64 chunk) {
    if (coded.chunks[size_t(chunk)].empty()) return;
    const auto size = size_t(values_in(chunk));
    std::vector<float> wanted(size), found(size_t(blocks_of(size)) * kBlock);
    const View view{array.data(), array.dtype(), array.shape()};
    gather(view.part(header_.chunk_box(chunk)), wanted.data());
    for (size_t first_value = 0; first_value < found.size(); first_value += kBlock)
      values(first[size_t(chunk)] + first_value / kBlock,
             std::span<float, kBlock>(found.data() + first_value, kBlock));
    if (std::memcmp(wanted.data(), found.data(), size * sizeof(float)) != 0) same = false;
  });
  return same;
}

}  // namespace leeway::fabric

// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/rewrite.h"

#include <algorithm>

#include "leeway/base/hash.h"
#include "leeway/engine/frames.h"
#include "leeway/engine/layers.h"
#include "leeway/engine/make_frame.h"

namespace leeway {
namespace {

class Rewriter {
 public:
  Rewriter(const ChunkCodec& codec, const Mask& mask, const OldChunk& before, const View& now,
           std::span<const u8> changed)
      : codec_(codec),
        mask_(mask),
        old_(before),
        now_(now),
        changed_(changed),
        shape_(now.shape.squeezed()),
        value_bytes_(size_of(now.dtype)),
        values_(before.data(), before.data() + size() * value_bytes_),
        head_(before.chunk.head) {}

  FrameHead write_frame(Writer& out) {
    const auto changed = size_t(std::ranges::count_if(changed_, [](u8 c) { return c != 0; }));
    if (changed == 0) {
      payload_.put_bytes(old_.chunk.payload);
    } else if (changed == size()) {
      return compress_chunk(codec_, old_.chunk.head.bound, mask_, old_.chunk.head.ordinal, now_,
                            out);
    } else if (!(may_stay() && code_all())) {
      // Keeping a value, while all others are coded anew, costs about half of its bytes.
      if ((size() - changed) * value_bytes_ / 2 < old_.chunk.payload.size())
        lay_old_over_new();
      else
        lay_new_over_old();
      if (payload_.size() == 0 || payload_.size() > size() * value_bytes_ / 2) keep_all_exactly();
    }
    return put_frame(out);
  }

 private:
  size_t size() const { return changed_.size(); }
  // Whether the values that are to be kept may survive if all values are coded again.
  bool may_stay() const { return codec_.quantizes_first() || old_.chunk.head.bound == 0; }

  void decode(ByteView payload, const Shape& shape, std::byte* to) const {
    KeptValues kept(to);
    codec_.decompress(payload, shape, old_.chunk.head.bound, kept);
  }
  ChunkReport compress(const View& values, double bound, Writer& out) const {
    return codec_.compress(values, bound, mask_, out);
  }
  void account_for(const ChunkReport& report) {
    head_.max_error = std::max(head_.max_error, report.max_error);
    head_.exact = u32(std::min<u64>(size(), head_.exact + report.exact));
  }

  // Codes the whole chunk as if it were new. Returns false if a value to be kept would change.
  bool code_all() {
    Writer all;
    const ChunkReport report = compress(now_, old_.chunk.head.bound, all);
    std::vector<std::byte> decoded(values_.size());
    decode(all.bytes(), shape_, decoded.data());
    for (size_t i = 0; i < size(); ++i)
      if (!changed_[i] && !is_before(i, decoded)) return false;
    payload_ = std::move(all);
    values_ = std::move(decoded);
    head_.exact = 0;
    account_for(report);
    return true;
  }

  // Lays the changed values over the old payload.
  void lay_new_over_old() {
    Layers layers = read_layers(old_.chunk.payload, shape_);
    Layer layer = around([&](size_t i) { return changed_[i] != 0; });
    Writer payload;
    account_for(compress(gathered(layer, now_.data), old_.chunk.head.bound, payload));
    layer.payload = payload.bytes();
    lay(codec_, layer, value_bytes_, shape_, old_.chunk.head.bound, values_.data());
    layers.over.push_back(std::move(layer));
    write_visible(std::move(layers));
  }

  // Codes all values again, and lays those to be kept that this changes over it, without loss.
  void lay_old_over_new() {
    Writer base;
    head_.exact = 0;
    account_for(compress(now_, old_.chunk.head.bound, base));
    std::vector<std::byte> decoded(values_.size());
    decode(base.bytes(), shape_, decoded.data());
    Layers layers{base.bytes(), {}};
    const auto is_lost = [&](size_t i) { return !changed_[i] && !is_before(i, decoded); };
    Writer payload;
    bool any = false;
    for (size_t i = 0; i < size() && !any; ++i) any = is_lost(i);
    if (!any) {
      payload_ = std::move(base);
      values_ = std::move(decoded);
      return;
    }
    Layer layer = around(is_lost);
    compress(gathered(layer, old_.data()), 0, payload);
    layer.payload = payload.bytes();
    values_ = std::move(decoded);
    lay(codec_, layer, value_bytes_, shape_, old_.chunk.head.bound, values_.data());
    layers.over.push_back(std::move(layer));
    write_visible(std::move(layers));
  }

  // Keeps the decoded values without loss, if that is smaller or layers are impossible.
  void keep_all_exactly() {
    Writer exact;
    compress(View(values_.data(), now_.dtype, now_.shape), 0, exact);
    if (payload_.size() == 0 || exact.size() < payload_.size()) payload_ = std::move(exact);
  }

  bool is_before(size_t i, const std::vector<std::byte>& decoded) const {
    return std::memcmp(decoded.data() + i * value_bytes_, old_.data() + i * value_bytes_,
                       value_bytes_) == 0;
  }

  // Makes a layer for these values, without a payload yet: the smallest box that has all of them.
  template <class IsCovered>
  Layer around(IsCovered&& is_covered) const {
    Index low, high{};
    low.fill(~u64(0));
    size_t position = 0, count = 0;
    for_each_outer(shape_, 0, [&](const Index& at) {
      if (!is_covered(position++)) return;
      ++count;
      for (size_t axis = 0; axis < shape_.rank(); ++axis) {
        low[axis] = std::min(low[axis], at[axis]);
        high[axis] = std::max(high[axis], at[axis]);
      }
    });
    Layer layer;
    std::array<u64, kMaxRank> extents{};
    for (size_t axis = 0; axis < shape_.rank(); ++axis) {
      layer.box.first[axis] = low[axis];
      extents[axis] = high[axis] - low[axis] + 1;
    }
    layer.box.shape = Shape(std::span<const u64>(extents).first(shape_.rank()));
    const auto volume = size_t(layer.box.shape.size());
    if (count == volume) return layer;
    Bytes marks((volume + 7) / 8);
    for_each_value(layer, shape_, [&](size_t in_chunk, size_t in_box) {
      if (is_covered(in_chunk)) marks[in_box / 8] |= u8(1u << in_box % 8);
    });
    layer.marks = std::move(marks);
    layer.covers = count < volume / 2 ? Covers::list : Covers::marked;
    return layer;
  }

  // Copies from the values of the chunk those that the payload of a layer holds.
  View gathered(const Layer& layer, const std::byte* from) {
    if (layer.covers != Covers::list) return View(from, now_.dtype, shape_).part(layer.box);
    gathered_.clear();
    for_each_value(layer, shape_, [&](size_t i, size_t) {
      const std::byte* const value = from + i * value_bytes_;
      gathered_.insert(gathered_.end(), value, value + value_bytes_);
    });
    return View(gathered_.data(), now_.dtype, Shape{gathered_.size() / value_bytes_});
  }

  // Writes the layers that are not completely covered; writes nothing if these are too many.
  void write_visible(Layers layers) {
    std::vector<u8> owner(size());
    for (size_t k = 0; k < layers.over.size(); ++k)
      for_each_value(layers.over[k], shape_, [&](size_t i, size_t) { owner[i] = u8(k + 1); });
    std::array<bool, kMostLayers + 2> is_seen{};
    for (const u8 k : owner) is_seen[k] = true;
    Writer nothing;
    if (!is_seen[0]) {
      nothing.put(Payload::constant);
      std::ranges::fill(nothing.extend(value_bytes_), u8(0));
      layers.base = nothing.bytes();
    }
    size_t k = 0;
    std::erase_if(layers.over, [&](const Layer&) { return !is_seen[++k]; });
    u64 values = 0;
    for (const Layer& layer : layers.over) values += layer.box.shape.size();
    if (layers.over.size() <= kMostLayers && values <= kMostLayered * size())
      write(layers, payload_);
  }

  FrameHead put_frame(Writer& out) {
    const size_t start = out.size();
    out.extend(kFrameHeadBytes);
    out.put_bytes(payload_.bytes());
    head_.payload_bytes = u32(payload_.size());
    head_.special = count_special(mask_, View(values_.data(), now_.dtype, now_.shape));
    head_.decoded_hash = hash_of({reinterpret_cast<const u8*>(values_.data()), values_.size()});
    head_.payload_hash = hash_of(payload_.bytes());
    finish_frame(head_, start, out);
    return head_;
  }

  const ChunkCodec& codec_;
  const Mask& mask_;
  const OldChunk& old_;
  const View& now_;
  std::span<const u8> changed_;
  Shape shape_;
  size_t value_bytes_;
  std::vector<std::byte> values_;  // that a reader of the new frame decodes
  std::vector<std::byte> gathered_;
  Writer payload_;
  FrameHead head_;
};

}  // namespace

OldChunk::OldChunk(const ChunkCodec& codec, const StreamReader& stream, u64 ordinal)
    : chunk(stream.read_chunk(ordinal, storage)) {
  const Header& header = stream.header();
  const u64 size = header.chunk_box(ordinal).shape.size();
  values = Buffer<u64>((size_t(size) * size_of(header.dtype) + 7) / 8);
  decode_chunk(codec, header, chunk, true, values.data());
}

FrameHead rewrite_chunk(const ChunkCodec& codec, const Mask& mask, const OldChunk& before,
                        const View& now, std::span<const u8> changed, Writer& out) {
  return Rewriter(codec, mask, before, now, changed).write_frame(out);
}

std::vector<u8> changed_values(const OldChunk& before, const View& now) {
  const size_t bytes = size_of(now.dtype);
  std::vector<u8> changed(size_t(now.shape.size()));
  for (size_t i = 0; i < changed.size(); ++i)
    changed[i] = std::memcmp(before.data() + i * bytes, now.data + i * bytes, bytes) != 0;
  return changed;
}

}  // namespace leeway

// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/layers.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "leeway/core/buffer.h"
#include "leeway/core/hash.h"
#include "leeway/engine/execution.h"

namespace leeway {
namespace {

// More than this over a chunk would be slow to decode; such a chunk is kept without loss.
constexpr size_t kMostLayers = 64;
constexpr u64 kMostLayered = 4;  // values of all layers, in chunks

// Which values of its box a layer replaces, and what its payload holds.
enum class Covers : u8 {
  box = 0,     // all values
  marked = 1,  // those that are marked; the payload holds the whole box
  list = 2,    // those that are marked; the payload holds only these, as a list
};

struct Layer {
  Box box;
  Covers covers = Covers::box;
  Bytes marks;  // one bit for each value of the box, the lowest bit of a byte first
  ByteView payload;

  bool is_marked(size_t i) const { return marks.empty() || (marks[i / 8] >> i % 8 & 1); }
  Shape payload_shape() const {
    if (covers != Covers::list) return box.shape.squeezed();
    u64 count = 0;
    for (const u8 byte : marks) count += u64(std::popcount(byte));
    return Shape{count}.squeezed();
  }
};

struct Layers {
  ByteView base;
  std::vector<Layer> over;  // later ones lie over earlier ones
};

// Calls f(position in the chunk, position in the box) for every value that the layer replaces.
template <class F>
void for_each_value(const Layer& layer, const Shape& chunk, F&& f) {
  const size_t rank = chunk.rank();
  const u64 length = rank > 0 ? layer.box.shape[rank - 1] : 1;
  size_t in_box = 0;
  for_each_outer(layer.box.shape, 1, [&](const Index& index) {
    u64 row = 0;
    for (size_t axis = 0; axis < rank; ++axis)
      row = row * chunk[axis] + layer.box.first[axis] + (axis + 1 < rank ? index[axis] : 0);
    for (u64 i = 0; i < length; ++i, ++in_box)
      if (layer.is_marked(in_box)) f(size_t(row + i), in_box);
  });
}

void write(const Layers& layers, Writer& out) {
  out.put(Payload::layered);
  out.put_section(layers.base);
  out.put_varint(layers.over.size());
  for (const Layer& layer : layers.over) {
    for (size_t axis = 0; axis < layer.box.shape.rank(); ++axis) {
      out.put_varint(layer.box.first[axis]);
      out.put_varint(layer.box.shape[axis]);
    }
    out.put(layer.covers);
    if (layer.covers != Covers::box) {
      Writer packed;
      Zstd().compress(layer.marks, packed);
      out.put_section(packed.bytes());
    }
    out.put_section(layer.payload);
  }
}

bool is_layered(ByteView payload) {
  return !payload.empty() && Payload(payload.front()) == Payload::layered;
}

ByteView take_plain_payload(Reader& in) {
  const ByteView payload = in.take_section();
  if (is_layered(payload)) fail_corrupt("a layer has layers of its own");
  return payload;
}

Layer read_layer(Reader& in, const Shape& chunk) {
  Layer layer;
  std::array<u64, kMaxRank> extents{};
  for (size_t axis = 0; axis < chunk.rank(); ++axis) {
    layer.box.first[axis] = in.get_varint(chunk[axis] - 1, "a layer outside its chunk");
    extents[axis] = in.get_varint(chunk[axis] - layer.box.first[axis], "a layer outside its chunk");
    if (extents[axis] == 0) fail_corrupt("an empty layer");
  }
  layer.box.shape = Shape(std::span<const u64>(extents).first(chunk.rank()));
  layer.covers = in.get<Covers>();
  if (layer.covers > Covers::list) fail_corrupt("a layer of an unknown kind");
  if (layer.covers != Covers::box) {
    const auto size = size_t(layer.box.shape.size());
    Writer marks;
    Zstd().decompress(in.take_section(), (size + 7) / 8, marks);
    layer.marks.assign(marks.bytes().begin(), marks.bytes().end());
    if (layer.marks.size() != (size + 7) / 8 || (size % 8 && layer.marks.back() >> size % 8) ||
        std::ranges::all_of(layer.marks, [](u8 byte) { return byte == 0; }))
      fail_corrupt("the marks of a layer do not fit it");
  }
  layer.payload = take_plain_payload(in);
  return layer;
}

// A payload without layers is a base under none.
Layers read_layers(ByteView payload, const Shape& chunk) {
  if (!is_layered(payload)) return {payload, {}};
  Reader in(payload.subspan(1));
  Layers layers;
  layers.base = take_plain_payload(in);
  const u64 count = in.get_varint(kMostLayers, "too many layers");
  if (count == 0) fail_corrupt("no layers");
  u64 values = 0;
  for (u64 i = 0; i < count; ++i) {
    layers.over.push_back(read_layer(in, chunk));
    values += layers.over.back().box.shape.size();
    if (values > kMostLayered * chunk.size()) fail_corrupt("the layers are larger than allowed");
  }
  in.expect_end();
  return layers;
}

// Decodes a layer and lays it over the values of the chunk.
void lay(const ChunkCodec& codec, const Layer& layer, size_t value_bytes, const Shape& chunk,
         double bound, std::byte* values) {
  const Shape shape = layer.payload_shape();
  Buffer<u64> storage((size_t(shape.size()) * value_bytes + 7) / 8);
  KeptValues decoded(storage.data());
  codec.decompress(layer.payload, shape, bound, decoded);
  const auto* next = reinterpret_cast<const std::byte*>(storage.data());
  for_each_value(layer, chunk, [&](size_t to, size_t in_box) {
    const std::byte* from = next + (layer.covers == Covers::list ? 0 : in_box * value_bytes);
    std::memcpy(values + to * value_bytes, from, value_bytes);
    if (layer.covers == Covers::list) next += value_bytes;
  });
}

}  // namespace

bool decode_payload(const ChunkCodec& codec, ByteView payload, DType dtype, const Shape& shape,
                    double bound, ValueSink& values, const Wanted& wanted) {
  if (!is_layered(payload)) return codec.decompress(payload, shape, bound, values, wanted);
  const Layers layers = read_layers(payload, shape);
  const size_t value_bytes = size_of(dtype), bytes = size_t(shape.size()) * value_bytes;
  Buffer<u64> own;
  auto* memory = static_cast<std::byte*>(values.all());
  if (!memory) {
    own = Buffer<u64>((bytes + 7) / 8);
    memory = reinterpret_cast<std::byte*>(own.data());
  }
  KeptValues base(memory);
  codec.decompress(layers.base, shape, bound, base);
  for (const Layer& layer : layers.over) lay(codec, layer, value_bytes, shape, bound, memory);
  if (!own.empty()) values.take({reinterpret_cast<const u8*>(memory), bytes});
  return true;
}

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
      // A value that is kept costs about half its bytes where all others are coded anew.
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
  // Whether coding all values again has a chance to leave those alone that are to be kept.
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

  // The whole chunk as if it were new. Says false if a value that is to be kept would move.
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

  // The changed values over the payload that is there.
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

  // A new payload for all, and over it, without loss, those values that it does not keep.
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

  // The decoded values themselves, if that is smaller or layers are impossible.
  void keep_all_exactly() {
    Writer exact;
    compress(View(values_.data(), now_.dtype, now_.shape), 0, exact);
    if (payload_.size() == 0 || exact.size() < payload_.size()) payload_ = std::move(exact);
  }

  bool is_before(size_t i, const std::vector<std::byte>& decoded) const {
    return std::memcmp(decoded.data() + i * value_bytes_, old_.data() + i * value_bytes_,
                       value_bytes_) == 0;
  }

  // A layer for these values, still without a payload: the smallest box that holds all of them.
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

  // What the payload of a layer holds, of these values of the chunk.
  View gathered(const Layer& layer, const std::byte* from) {
    if (layer.covers != Covers::list) return View(from, now_.dtype, shape_).part(layer.box);
    gathered_.clear();
    for_each_value(layer, shape_, [&](size_t i, size_t) {
      const std::byte* const value = from + i * value_bytes_;
      gathered_.insert(gathered_.end(), value, value + value_bytes_);
    });
    return View(gathered_.data(), now_.dtype, Shape{gathered_.size() / value_bytes_});
  }

  // Leaves out layers of which nothing is seen; writes nothing if too many are left.
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
    head_.special = count_special();
    head_.decoded_hash = hash_of({reinterpret_cast<const u8*>(values_.data()), values_.size()});
    head_.payload_hash = hash_of(payload_.bytes());
    write(head_, out.again<kFrameHeadBytes>(start));
    return head_;
  }
  u32 count_special() const {
    return visit_dtype(now_.dtype, [&]<class T>(std::type_identity<T>) {
      u32 count = 0;
      for (size_t i = 0; i < size(); ++i) {
        T value;
        std::memcpy(&value, values_.data() + i * sizeof value, sizeof value);
        count += mask_.is_special(value);
      }
      return count;
    });
  }

  const ChunkCodec& codec_;
  const Mask& mask_;
  const OldChunk& old_;
  const View& now_;
  std::span<const u8> changed_;
  Shape shape_;
  size_t value_bytes_;
  std::vector<std::byte> values_;  // as they will be decoded
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

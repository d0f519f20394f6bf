// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/border.h"

#include <algorithm>
#include <tuple>

#include "leeway/base/buffer.h"
#include "leeway/base/hash.h"
#include "leeway/engine/layers.h"
#include "leeway/engine/make_frame.h"

namespace leeway {
namespace {

// Filling of fewer values is not worth a layer.
constexpr u64 kFewestFilling = 16;

// Finds the filling of a chunk: values that have the same bits as its last value.
class Filling {
 public:
  explicit Filling(const View& chunk) : chunk_(chunk), bytes_(size_of(chunk.dtype)) {
    Index corner{};
    for (size_t axis = 0; axis < chunk.shape.rank(); ++axis) corner[axis] = chunk.shape[axis] - 1;
    value_ = chunk.at(corner);
  }
  ByteView value() const { return {reinterpret_cast<const u8*>(value_), bytes_}; }

  // A quick look at the neighbours of the last value, which shows that most chunks have no filling.
  bool may_be_there() const {
    for (size_t axis = 0; axis < chunk_.shape.rank(); ++axis)
      if (chunk_.shape[axis] > 1 && is_equal(value_ - chunk_.strides[axis])) return true;
    return false;
  }
  // The shape of the chunk without the filling.
  Shape rest() const {
    std::array<u64, kMaxRank> extents{};
    const size_t rank = chunk_.shape.rank();
    std::ranges::copy(chunk_.shape.extents(), extents.begin());
    const auto shape = [&] { return Shape(std::span<const u64>(extents).first(rank)); };
    for (bool again = true; std::exchange(again, false);)
      for (size_t axis = 0; axis < rank; ++axis)
        for (; extents[axis] > 1 && is_last_plane(shape(), axis); again = true) --extents[axis];
    return shape();
  }

 private:
  bool is_equal(const std::byte* value) const { return std::memcmp(value, value_, bytes_) == 0; }
  bool is_last_plane(const Shape& shape, size_t axis) const {
    Box plane{{}, shape};
    std::array<u64, kMaxRank> extents{};
    std::ranges::copy(shape.extents(), extents.begin());
    plane.first[axis] = std::exchange(extents[axis], 1) - 1;
    plane.shape = Shape(std::span<const u64>(extents).first(shape.rank()));
    bool all = true;
    for_each_row(chunk_.part(plane), [&](const std::byte* row, size_t count, std::ptrdiff_t step) {
      for (size_t i = 0; i < count && all; ++i) all = is_equal(row + std::ptrdiff_t(i) * step);
    });
    return all;
  }

  View chunk_;
  size_t bytes_;
  const std::byte* value_;
};

struct Candidate {
  Writer frame;
  FrameHead head;
};

}  // namespace

FrameHead compress_border_chunk(const ChunkCodec& codec, double bound, const Mask& mask,
                                u64 ordinal, const View& chunk, Writer& out) {
  if (!Filling(chunk).may_be_there())
    return compress_chunk(codec, bound, mask, ordinal, chunk, out);
  const Shape shape = chunk.shape.squeezed();
  const size_t value_bytes = size_of(chunk.dtype), bytes = size_t(shape.size()) * value_bytes;
  Buffer<u64> storage((bytes + 7) / 8);
  gather(chunk, storage.data());
  auto* const values = reinterpret_cast<std::byte*>(storage.data());
  const ByteView all(reinterpret_cast<const u8*>(values), bytes);
  const View view(values, chunk.dtype, shape);
  const Filling filling(view);
  const Shape rest = filling.rest();
  if (rest.size() == 1 || shape.size() - rest.size() < kFewestFilling)
    return compress_chunk(codec, bound, mask, ordinal, chunk, out);
  const u64 hash = hash_of(all);

  Candidate whole, apart;
  whole.head = compress_chunk(codec, bound, mask, ordinal, view, whole.frame);

  Writer base, payload;
  base.put(Payload::constant);
  base.put_bytes(filling.value());
  Layer layer{{{}, rest}, Covers::box, {}, {}};
  const ChunkReport report = codec.compress(view.part(layer.box), bound, mask, payload);
  layer.payload = payload.bytes();
  apart.frame.extend(kFrameHeadBytes);
  write(Layers{base.bytes(), {layer}}, apart.frame);
  lay(codec, layer, value_bytes, shape, bound, values);  // now they are what a reader decodes
  const ByteView written = apart.frame.bytes().subspan(kFrameHeadBytes);
  apart.head = {.ordinal = ordinal,
                .payload_bytes = u32(written.size()),
                .special = count_special(mask, view),
                .exact = u32(report.exact),
                .bound = bound,
                .max_error = report.max_error,
                .decoded_hash = hash_of(all),
                .payload_hash = hash_of(written)};
  const bool is_smaller = written.size() <= bytes;
  finish_frame(apart.head, 0, apart.frame);

  // A candidate that keeps all values exactly wins, so that decoded values do not change when they
  // are compressed again. For the same reason the decoded values must show the same filling.
  const auto rank = [&](const Candidate& candidate) {
    return std::tuple(candidate.head.decoded_hash != hash, candidate.head.payload_bytes);
  };
  const bool is_apart = rank(apart) < rank(whole) && is_smaller && Filling(view).rest() == rest;
  const Candidate& best = is_apart ? apart : whole;
  out.put_bytes(best.frame.bytes());
  return best.head;
}

}  // namespace leeway

// SPDX-License-Identifier: BSD-3-Clause
// AlternativesCodec: one of several codecs for each chunk, whichever makes it smallest.
//
// Chunks that are small are coded by all. Of others a sample is, first; then the whole chunk by the
// best and by those that come close. What a codec has made before stays with a codec that leaves it
// as it is. The payload says which was taken (payload.h).
#pragma once

#include <memory>
#include <vector>

#include "leeway/base/export.h"
#include "leeway/codec/chunk_codec.h"

namespace leeway {

class AlternativesCodec final : public ChunkCodec {
 public:
  // In the order of the recipe; null stands for one that is not for this type. One is.
  AlternativesCodec(DType dtype, std::vector<std::shared_ptr<const ChunkCodec>> codecs);

  u64 chunk_values() const override;
  u64 block_values() const override;
  bool is_pointwise() const override { return first().is_pointwise(); }
  bool is_by_value() const override { return first().is_by_value(); }
  bool quantizes_first() const override;
  bool may_have_made(const View& chunk, const ChunkBound& bound, const Mask& mask) const override;
  ChunkReport compress(const View& chunk, const ChunkBound& bound, const Mask& mask, Writer& out,
                       ByteView settings) const override;
  void measure(void* values, const Shape& shape, const ChunkBound& bound,
               const Mask& mask) const override;
  bool decompress(ByteView payload, const Shape& shape, double bound, ValueSink& values,
                  const Wanted& wanted) const override;
  void explain(ByteView payload, const Shape& shape, double bound, Anatomy& found) const override;

 private:
  const ChunkCodec& first() const;
  // Which alternative a payload is by, and what is left for it.
  struct Taken {
    const ChunkCodec& codec;
    size_t number;
    ByteView payload;
  };
  Taken take_apart(ByteView payload) const;

  DType dtype_;
  std::vector<std::shared_ptr<const ChunkCodec>> codecs_;
};

}  // namespace leeway

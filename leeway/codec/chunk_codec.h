// SPDX-License-Identifier: BSD-3-Clause
// ChunkCodec: turns the values of one chunk into a payload and back, whatever their type. A recipe
// makes one (make_codec.h), stages composed at compile time make one (compressor.h).
//
//   typed_codec.h   which payload a chunk becomes: constant, narrow, coded, tightened, ...
//   pipeline.h      the stages one after the other, in both directions
//   body.h          what they make of a chunk
//   alternatives.h  one of several codecs for each chunk
#pragma once

#include "leeway/base/field.h"
#include "leeway/codec/anatomy.h"
#include "leeway/codec/mask.h"
#include "leeway/codec/payload.h"
#include "leeway/stage/codes.h"
#include "leeway/stage/flags.h"
#include "leeway/stage/values.h"

namespace leeway {

struct ChunkReport {
  double max_error = 0;
  u64 special = 0;  // NaN, infinities, fill values
  u64 exact = 0;    // other values kept bit for bit because no code reached them
  u64 decoded_hash = 0;
  bool fits = true;  // whether nothing is larger than decoders take
  // How many bytes of the body hold every second value along all axes, every fourth, and so on;
  // empty if nobody knows.
  std::vector<size_t> levels{};
};

class ChunkCodec {
 public:
  virtual ~ChunkCodec() = default;
  // How many values a chunk should have, if nobody asks for something else.
  virtual u64 chunk_values() const = 0;
  // Whether these should be whole rows of the array.
  virtual bool wants_rows() const { return false; }
  // Samples should begin at multiples of so many values.
  virtual u64 block_values() const { return 1; }
  // Whether bounds are relative to each value.
  virtual bool is_pointwise() const = 0;
  // Whether bounds may differ from value to value.
  virtual bool is_by_value() const = 0;
  // Whether a step may be given instead of a bound: the codec then limits no single error.
  virtual bool is_transform() const { return false; }
  // Whether values are quantized before they are predicted: then most decoded values stay as they
  // are when they are coded again beside others.
  virtual bool quantizes_first() const = 0;
  // Whether it learns on the way, so that who takes it has time.
  virtual bool learns() const { return false; }
  // Whether the codec may have made these values: then it leaves them as they are. A quick look,
  // which may err towards yes; no where no other codec could change them either.
  virtual bool may_have_made(const View& chunk, const ChunkBound& bound,
                             const Mask& mask) const = 0;
  // The settings that trials on a chunk find; nothing if no stage makes trials.
  virtual Writer settings_for(const View&, const ChunkBound&, const Mask&) const { return {}; }
  // Appends the payload to `out`. A bound of 0 means no loss. Settings, if given, save the trials:
  // those of this chunk, or of one that it is a part of and that has as many axes. Shapes given to
  // the other two have no axes of extent 1.
  virtual ChunkReport compress(const View& chunk, const ChunkBound& bound, const Mask& mask,
                               Writer& out, ByteView settings = {}) const = 0;
  // Replaces values by what the recipe would give at this bound.
  virtual void measure(void* values, const Shape& shape, const ChunkBound& bound,
                       const Mask& mask) const = 0;
  // With a last level above 0, a payload with levels may be cut after those that are wanted.
  // Values that are not wanted may be left out; says whether none are.
  virtual bool decompress(ByteView payload, const Shape& shape, double bound, ValueSink& values,
                          const Wanted& wanted = {}) const = 0;
  // Adds what the payload consists of to `found`.
  virtual void explain(ByteView payload, const Shape& shape, double bound,
                       Anatomy& found) const = 0;
};

}  // namespace leeway

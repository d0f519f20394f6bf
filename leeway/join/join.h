// SPDX-License-Identifier: BSD-3-Clause
// Join: predictor and quantizer of one chunk, in either order: values to codes and back.
#pragma once

#include <span>
#include <string>

#include "leeway/stage/fills.h"
#include "leeway/stage/flags.h"
#include "leeway/stage/stage.h"
#include "leeway/stage/values.h"

namespace leeway {

template <class T>
struct Specials {
  std::span<const u8> flags{};  // which values do not matter, because the mask will put them back
  Fills<T> fills{};             // what no other value may become
  bool at(size_t i) const { return !flags.empty() && flags[i] != 0; }
};

// What is to be encoded: an array of T without axes of extent 1. It may be the memory of the sink
// that takes the decoded values.
template <class T>
struct ToEncode {
  View values;
  ChunkBound bound;
  Specials<T> special{};
  ByteView settings{};  // of the predictor, if trials have found them already
};
// What encoding makes of it. The width of the codes is that of the sink.
template <class T>
struct Encoded {
  AnySink& codes;
  Patches<T> exact{};  // values without a code
  Writer notes{};      // what predictor and quantizer tell the decoder
  double max_error = 0;
};

// The same for decoding.
struct ToDecode {
  Shape shape;
  double bound;
  Wanted wanted{};
};
template <class T>
struct Coded {
  AnySource& codes;
  const Patches<T>& exact;
  Reader& notes;
};

struct JoinTraits {
  u64 chunk_values = 0;         // how many values a chunk should have; 0: no matter
  u64 block_values = 1;         // samples and chunks of lists should begin at multiples of it
  bool predicts_first = false;  // before the values are quantized
  bool by_value = false;        // values can have a bound each
  bool lossless = false;        // values come back bit for bit
  bool whole_rows = false;      // chunks should be whole rows of the array
  bool makes_trials = false;    // to choose settings
  bool learns = false;          // weights, on the way: slow
  bool transforms = false;      // a step may be given instead of a bound
};

template <class T>
class Join {
 public:
  virtual ~Join() = default;
  // Hands to `decoded` exactly what decode() will give. Returns false if a value has no code of
  // this width and the width is not that of Code<T>: then the chunk has to be encoded with another.
  virtual bool encode(const ToEncode<T>& job, ValueSink& decoded, Encoded<T>& out) const = 0;
  // Values that are not wanted may be left out; says whether none are.
  virtual bool decode(const ToDecode& job, const Coded<T>& in, ValueSink& decoded) const = 0;
  // Whether the values may be what decode() gave: a quick look, which may err towards yes.
  virtual bool may_have_made(const ToEncode<T>&) const { return true; }
  // The predictor with the settings that it found by trials, as text; empty if it finds none.
  virtual std::string settings_text(const ToDecode&, Reader) const { return {}; }
  // The settings that trials find.
  virtual Writer settings_for(const ToEncode<T>&) const { return {}; }
  // Whether a chunk of this shape can have codes of this width.
  virtual bool takes(CodeWidth width, const Shape&) const { return width == kWidthOf<Code<T>>; }
  virtual JoinTraits traits() const = 0;
};

template <class T>
bool is_in_place(const View& source, Field<T> field) {
  return source.data == reinterpret_cast<const std::byte*>(field.data);
}

}  // namespace leeway

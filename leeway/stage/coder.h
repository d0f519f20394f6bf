// SPDX-License-Identifier: BSD-3-Clause
// Coder: takes values with their predictions, from a predictor that comes before the quantizer.
//
// There are three. One encodes: it turns values into codes (join/encoding.h). One decodes: it turns
// codes into values (join/decoding.h). One tries settings: it estimates what codes would cost
// (join/trying.h). All leave in a value what the decoder will have, so that one walk of a predictor
// serves all three, and encoder and decoder cannot disagree.
//
// A predictor chooses how it takes a coder:
//
//   walk(Field<T> field, Coder<T>& coder)  compiled once for each T; right if it mostly calls run()
//   walk(Field<T> field, auto& coder)      compiled for each coder and quantizer, with point()
//                                          inlined; such a coder also has grid(), block() and
//                                          wave(), which docs/FASTER_STAGES.md explains
#pragma once

#include <memory>

#include "leeway/base/shape.h"
#include "leeway/stage/run.h"

namespace leeway {

template <class T>
class Segments;

template <class T>
class Coder {
 public:
  Coder(bool is_decoding, const u8* flags) : is_decoding_(is_decoding), flags_(flags) {}
  virtual ~Coder() = default;
  Coder(const Coder&) = delete;
  Coder& operator=(const Coder&) = delete;

  // Codes values that do not depend on each other. If one run has contexts, all values of the chunk
  // must be in runs with contexts.
  virtual void run(const Run<T>& run) = 0;
  // Codes one value, whose decoded form the next prediction needs.
  virtual void point(T& value, Predicted<T> predicted) = 0;
  // Keeps one value bit for bit. A special value becomes `otherwise`.
  virtual void exact(T& value, Predicted<T> otherwise) = 0;
  // From now on, the bound is the chunk's bound times `factor`, which is at most 1.
  virtual void tighten(double factor) = 0;
  // The distance between neighbouring values that the quantizer can make: about twice the bound.
  // For predictors with the trait needs_step.
  virtual double step() const = 0;
  // Codes in segments, which can be decoded one without the other.
  virtual Segments<T>& segments() = 0;

  bool decoding() const { return is_decoding_; }
  // For each value of the field, whether it is special and which bound it has (flags.h); null if
  // there is nothing to say. A decoder does not know which values are special.
  const u8* flags() const { return flags_; }

 private:
  bool is_decoding_;
  const u8* flags_;
};

// Of a coder. All values are coded in segments, or none.
template <class T>
class Segments {
 public:
  virtual ~Segments() = default;
  // Says that all coarser levels are coded, and that `level` follows.
  virtual void begin_level(size_t) {}
  // The finest level that is wanted: levels below it may be left out.
  virtual size_t finest() const { return 0; }
  // A coder for the next `count` values; null if the encoder has no segments. Several may be open
  // and be used by several threads.
  virtual std::unique_ptr<Coder<T>> open(size_t) { return {}; }
  // Takes a segment back, in the order of opening, when all of its values are coded.
  virtual void close(Coder<T>&) {}
  // Whether values in this box are wanted. If not, the segment that has them may be dropped: it
  // need not be closed.
  virtual bool wants(const Box&) { return true; }
};

}  // namespace leeway

// SPDX-License-Identifier: BSD-3-Clause
// Join: predictor and quantizer of one chunk, in either order: values to codes and back.
#pragma once

#include <memory>
#include <optional>
#include <span>

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

template <class T>
class Join {
 public:
  virtual ~Join() = default;
  // Takes the values of `source`, an array of T without axes of extent 1 that may be the memory of
  // the sink. Hands to `values` exactly what backward() will give. Returns the largest error.
  virtual double forward(const View& source, ValueSink& values, const ChunkBound& bound,
                         const Specials<T>& special, CodeSink<Code<T>>& codes, Patches<T>& exact,
                         Writer& side) const = 0;
  // Values that are not wanted may be left out; says whether none are.
  virtual bool backward(const Shape& shape, ValueSink& values, double bound,
                        CodeSource<Code<T>>& codes, const Patches<T>& exact, Reader& side,
                        const Wanted& wanted) const = 0;
  // Both with narrow codes, of 16 bits, modulo 2^16, if it has them for this shape: for chunks
  // whose quantized values all have no more. forward() says nothing if this is not one.
  virtual bool can_be_narrow(const Shape&) const { return false; }
  virtual std::optional<double> forward_narrow(const View&, ValueSink&, double, CodeSink<i16>&,
                                               Writer&) const {
    return {};
  }
  virtual void backward_narrow(const Shape&, ValueSink&, double, CodeSource<i16>&, Reader&) const {}
  // How many values a chunk should have; 0: no matter.
  virtual u64 chunk_values() const { return 0; }
  virtual bool predicts_first() const { return false; }
  // Whether values can have a bound each.
  virtual bool is_by_value() const { return false; }
};

template <class T>
bool is_in_place(const View& source, Field<T> field) {
  return source.data == reinterpret_cast<const std::byte*>(field.data);
}

}  // namespace leeway

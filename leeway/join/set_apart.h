// SPDX-License-Identifier: BSD-3-Clause
// Set apart: large codes are stored by themselves, before the other side data.
#pragma once

#include <memory>
#include <utility>

#include "leeway/join/join.h"
#include "leeway/join/planes.h"

namespace leeway {

// Large codes stand apart, before the other side data.
template <class T>
class SetApart final : public Join<T> {
 public:
  SetApart(std::unique_ptr<Join<T>> inner, Code<T> radius)
      : inner_(std::move(inner)), radius_(radius) {}

  double forward(const View& source, ValueSink& values, const ChunkBound& bound,
                 const Specials<T>& special, CodeSink<Code<T>>& sink, Patches<T>& exact,
                 Writer& side) const override {
    SetApartSink<Code<T>> near(sink, radius_);
    Writer notes;
    const double max_error = inner_->forward(source, values, bound, special, near, exact, notes);
    write_planes(std::span<const Code<T>>(near.apart()), radius_, side);
    side.put_bytes(notes.bytes());
    return max_error;
  }
  bool backward(const Shape& shape, ValueSink& values, double bound, CodeSource<Code<T>>& source,
                const Patches<T>& exact, Reader& side, const Wanted& wanted) const override {
    SetApartSource<Code<T>> all(source, radius_, read_planes(side, radius_, size_t(shape.size())));
    return inner_->backward(shape, values, bound, all, exact, side, wanted);
  }
  u64 chunk_values() const override { return inner_->chunk_values(); }
  bool predicts_first() const override { return inner_->predicts_first(); }
  bool is_by_value() const override { return inner_->is_by_value(); }

 private:
  std::unique_ptr<Join<T>> inner_;
  Code<T> radius_;
};

// What a quantizer wants done with its codes.
template <class T, class Q>
std::unique_ptr<Join<T>> as_quantized(std::unique_ptr<Join<T>> transform, const Q& q) {
  if constexpr (requires { q.params.radius(); })
    if (q.params.radius() > 0 && transform)
      return std::make_unique<SetApart<T>>(std::move(transform), Code<T>(q.params.radius()));
  return transform;
}

}  // namespace leeway

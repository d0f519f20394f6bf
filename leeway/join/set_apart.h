// SPDX-License-Identifier: BSD-3-Clause
// Set apart: large codes leave the stream of codes and are stored by themselves, as planes of bits
// (planes.h), before the other notes of a join.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "leeway/join/join.h"
#include "leeway/join/planes.h"

namespace leeway {

// The lowest code, which says that a value is kept exactly, is never set apart.
template <class I>
bool is_apart(I code, I radius) {
  return (code >= radius || code <= -radius) && code != std::numeric_limits<I>::min();
}

template <class I>
class SetApartSink final : public CodeSink<I> {
 public:
  SetApartSink(CodeSink<I>& near, I radius) : near_(near), radius_(radius) {}
  const std::vector<I>& apart() const { return apart_; }
  I* room(size_t count) override { return room_ = near_.room(count); }
  void put(size_t count, const u8* contexts) override {
    for (I& code : std::span(room_, count))
      if (is_apart(code, radius_)) apart_.push_back(std::exchange(code, radius_));
    near_.put(count, contexts);
  }
  void finish() override { near_.finish(); }

 private:
  CodeSink<I>& near_;
  I radius_;
  I* room_ = nullptr;
  std::vector<I> apart_;
};

template <class I>
class SetApartSource final : public CodeSource<I> {
 public:
  SetApartSource(CodeSource<I>& near, I radius, std::vector<I> apart)
      : near_(near), radius_(radius), apart_(std::move(apart)) {}
  void next(std::span<I> codes, const u8* contexts) override {
    near_.next(codes, contexts);
    for (I& code : codes) {
      if (code != radius_) continue;
      if (next_ == apart_.size()) fail_corrupt("too few codes set apart");
      code = apart_[next_++];
    }
  }

 private:
  CodeSource<I>& near_;
  I radius_;
  std::vector<I> apart_;
  size_t next_ = 0;
};

// A join whose codes of at least `radius` are set apart.
template <class T>
class SetApart final : public Join<T> {
 public:
  SetApart(std::unique_ptr<Join<T>> inner, Code<T> radius)
      : inner_(std::move(inner)), radius_(radius) {}

  bool encode(const ToEncode<T>& job, ValueSink& decoded, Encoded<T>& out) const override {
    SetApartSink<Code<T>> near(typed<Code<T>>(out.codes), radius_);
    Encoded<T> inner{near};
    inner_->encode(job, decoded, inner);
    write_planes(std::span<const Code<T>>(near.apart()), radius_, out.notes);
    out.notes.put_bytes(inner.notes.bytes());
    out.exact = std::move(inner.exact);
    out.max_error = inner.max_error;
    return true;
  }
  bool decode(const ToDecode& job, const Coded<T>& in, ValueSink& decoded) const override {
    auto apart = read_planes(in.notes, radius_, size_t(job.shape.size()));
    SetApartSource<Code<T>> all(typed<Code<T>>(in.codes), radius_, std::move(apart));
    return inner_->decode(job, {all, in.exact, in.notes}, decoded);
  }
  std::string settings(const ToDecode& job, Reader notes) const override {
    read_planes(notes, radius_, size_t(job.shape.size()));
    return inner_->settings(job, notes);
  }
  JoinTraits traits() const override { return inner_->traits(); }

 private:
  std::unique_ptr<Join<T>> inner_;
  Code<T> radius_;
};

// What a quantizer wants done with its codes.
template <class T, class Q>
std::unique_ptr<Join<T>> as_quantized(std::unique_ptr<Join<T>> join, const Q& q) {
  if constexpr (requires { q.params.radius(); })
    if (q.params.radius() > 0)
      return std::make_unique<SetApart<T>>(std::move(join), Code<T>(q.params.radius()));
  return join;
}

}  // namespace leeway

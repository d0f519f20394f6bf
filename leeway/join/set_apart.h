// SPDX-License-Identifier: BSD-3-Clause
// Set apart: the codes that a quantizer keeps in a channel of its own (SetsApart, stage/stage.h) leave
// the stream of codes and are stored before the other notes of a join.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "leeway/join/grids.h"
#include "leeway/join/join.h"

namespace leeway {

// The lowest code, which says that a value is kept exactly, is never set apart.
template <class I, class Q>
class SetApartSink final : public CodeSink<I> {
 public:
  SetApartSink(CodeSink<I>& near, const Q& quantizer)
      : near_(near), quantizer_(quantizer), mark_(quantizer.template mark<I>()) {}
  const std::vector<I>& apart() const { return apart_; }
  I* room(size_t count) override { return room_ = near_.room(count); }
  void put(size_t count, const u8* contexts) override {
    for (I& code : std::span(room_, count))
      if (code != kExactCode<I> && quantizer_.is_apart(code))
        apart_.push_back(std::exchange(code, mark_));
    near_.put(count, contexts);
  }
  void finish() override { near_.finish(); }

 private:
  CodeSink<I>& near_;
  const Q& quantizer_;
  I mark_;
  I* room_ = nullptr;
  std::vector<I> apart_;
};

template <class I>
class SetApartSource final : public CodeSource<I> {
 public:
  SetApartSource(CodeSource<I>& near, I mark, std::vector<I> apart)
      : near_(near), mark_(mark), apart_(std::move(apart)) {}
  void next(std::span<I> codes, const u8* contexts) override {
    near_.next(codes, contexts);
    for (I& code : codes) {
      if (code != mark_) continue;
      if (next_ == apart_.size()) fail_corrupt("too few codes set apart");
      code = apart_[next_++];
    }
  }

 private:
  CodeSource<I>& near_;
  I mark_;
  std::vector<I> apart_;
  size_t next_ = 0;
};

// A join whose quantizer sets codes apart.
template <class T, class Q>
class SetApart final : public Join<T> {
  using I = Code<T>;

 public:
  SetApart(std::unique_ptr<Join<T>> inner, const Q& quantizer)
      : inner_(std::move(inner)), quantizer_(quantizer) {}

  bool encode(const ToEncode<T>& job, ValueSink& decoded, Encoded<T>& out) const override {
    SetApartSink<I, Q> near(typed<I>(out.codes), quantizer_);
    Encoded<T> inner{near};
    inner_->encode(job, decoded, inner);
    quantizer_.write_apart(std::span<const I>(near.apart()), out.notes);
    out.notes.put_bytes(inner.notes.bytes());
    out.exact = std::move(inner.exact);
    out.max_error = inner.max_error;
    return true;
  }
  bool decode(const ToDecode& job, const Coded<T>& in, ValueSink& decoded) const override {
    auto apart = read_apart(in.notes, job);
    SetApartSource<I> all(typed<I>(in.codes), quantizer_.template mark<I>(), std::move(apart));
    return inner_->decode(job, {all, in.exact, in.notes}, decoded);
  }
  std::string settings_text(const ToDecode& job, Reader notes) const override {
    read_apart(notes, job);
    return inner_->settings_text(job, notes);
  }
  JoinTraits traits() const override { return inner_->traits(); }

 private:
  std::vector<I> read_apart(Reader& notes, const ToDecode& job) const {
    const auto size = size_t(job.shape.size());
    auto apart = quantizer_.template read_apart<I>(notes, size);
    if (apart.size() > size) fail_corrupt("more codes set apart than there are");
    return apart;
  }

  std::unique_ptr<Join<T>> inner_;
  Q quantizer_;
};

// What a quantizer wants done with its codes.
template <class T, class Q>
std::unique_ptr<Join<T>> as_quantized(std::unique_ptr<Join<T>> join, const Q& quantizer) {
  if constexpr (SetsApart<Q, Code<T>>)
    if (quantizer.sets_apart())
      return std::make_unique<SetApart<T, Q>>(std::move(join), quantizer);
  return join;
}

}  // namespace leeway

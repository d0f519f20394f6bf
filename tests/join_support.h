// SPDX-License-Identifier: BSD-3-Clause
// Joins without an encoder: codes are kept as they come, and given back.
#pragma once

#include "leeway/join/join.h"
#include "tests/support.h"

namespace leeway::test {

template <class I>
class KeptCodes final : public CodeSink<I> {
 public:
  std::vector<u8> contexts;
  bool is_finished = false;

  explicit KeptCodes(std::vector<I>& codes, bool wants_contexts = false)
      : codes_(codes), wants_contexts_(wants_contexts) {}
  I* room(size_t count) override {
    EXPECT_LE(count, kMostCodes);
    piece_.assign(count, I(0));
    return piece_.data();
  }
  void put(size_t count, const u8* with) override {
    EXPECT_FALSE(is_finished);
    codes_.insert(codes_.end(), piece_.begin(), piece_.begin() + std::ptrdiff_t(count));
    if (with) contexts.insert(contexts.end(), with, with + count);
  }
  void finish() override { is_finished = true; }
  bool wants_contexts() const override { return wants_contexts_; }

 private:
  std::vector<I>& codes_;
  std::vector<I> piece_;
  bool wants_contexts_;
};

template <class I>
class KeptCodesSource final : public CodeSource<I> {
 public:
  explicit KeptCodesSource(std::span<const I> codes) : codes_(codes) {}
  void next(std::span<I> codes, const u8*) override {
    ASSERT_LE(codes.size(), codes_.size());
    std::ranges::copy(codes_.first(codes.size()), codes.data());
    codes_ = codes_.subspan(codes.size());
  }
  size_t left() const { return codes_.size(); }

 private:
  std::span<const I> codes_;
};

template <class T, class I>
struct JoinRun {
  std::vector<I> codes;
  std::vector<T> decoded;
  size_t exact = 0;
  double max_error = 0;
};

// Encodes and decodes; both must give the same values.
template <class T, class I>
JoinRun<T, I> run_join(const Join<T>& join, const ToEncode<T>& job) {
  const auto size = size_t(job.values.shape.size());
  JoinRun<T, I> run;
  run.decoded.resize(size);
  KeptCodes<I> sink(run.codes);
  KeptValues first(run.decoded.data());
  Encoded<T> out{sink};
  EXPECT_TRUE(join.encode(job, first, out));
  EXPECT_TRUE(sink.is_finished);
  EXPECT_EQ(run.codes.size(), size);
  run.exact = out.exact.count();
  run.max_error = out.max_error;

  std::vector<T> again(size);
  KeptCodesSource<I> source(run.codes);
  KeptValues second(again.data());
  Reader notes(out.notes.bytes());
  EXPECT_TRUE(join.decode({job.values.shape, job.bound.most}, {source, out.exact, notes}, second));
  EXPECT_NO_THROW(notes.expect_end());
  EXPECT_EQ(source.left(), 0u);
  for (size_t i = 0; i < size; ++i)
    if (bits_of(again[i]) != bits_of(run.decoded[i])) {
      ADD_FAILURE() << "decoded differently at " << i << " of " << to_string(job.values.shape);
      break;
    }
  return run;
}

// The same with all values within the bound. Returns the codes.
template <class T, class I>
std::vector<I> check_join(const Join<T>& join, const std::vector<T>& values, const Shape& shape,
                          double bound) {
  const auto run = run_join<T, I>(join, {view_of(values.data(), shape), bound});
  expect_within<T>(values, run.decoded, bound, {}, to_string(shape));
  EXPECT_LE(run.max_error, bound * (1 + 1e-6));
  return run.codes;
}

}  // namespace leeway::test

// SPDX-License-Identifier: BSD-3-Clause
// Memory: what a pyramid learns about the classes of a level (pyramid.md, "Learning").
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "leeway/predict/pyramid/least_squares.h"
#include "leeway/predict/pyramid/polyphase.h"

namespace leeway::pyramid {

template <class C>
struct Learner {
  LeastSquares<C> squares;
  size_t rows = 0;  // that it has learned from
};

// A learner for every class.
template <class C>
struct Learners {
  std::array<std::optional<Learner<C>>, size_t(1) << kMaxActive> of;

  // The learner of a class. A new one starts from what the same class of the coarser level knows.
  Learner<C>& get(u32 odd, size_t taps, const Learners* coarser) {
    std::optional<Learner<C>>& learner = of[odd];
    if (!learner) {
      learner.emplace(Learner<C>{LeastSquares<C>(taps)});
      if (coarser && coarser->of[odd] && coarser->of[odd]->squares.taps() == taps)
        learner->squares.inherit(coarser->of[odd]->squares);
    }
    return *learner;
  }
  void settle() {
    for (auto& learner : of)
      if (learner) learner->squares.settle();
  }
};

template <class C>
struct Memory {
  Learners<C> predictions;       // the weights of taps
  Learners<float> expectations;  // the weights of ErrorWeights
  void settle() {
    predictions.settle();
    expectations.settle();
  }
};

// By TileStep::memory; null until its first step, and after its last.
template <class C>
using Memories = std::vector<std::unique_ptr<Memory<C>>>;

}  // namespace leeway::pyramid

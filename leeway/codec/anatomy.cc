// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/codec/anatomy.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace leeway {

void CodeCounts::add(const CodeCounts& other) {
  for (size_t context = 0; context < counts_.size(); ++context) {
    const Classes& from = other.counts_[context];
    if (from.empty()) continue;
    Classes& to = counts_[context];
    to.resize(kClasses);
    std::ranges::transform(from, to, to.begin(), std::plus());
  }
}

CodeCounts::Classes CodeCounts::merged() const {
  Classes all(kClasses);
  for (const Classes& classes : counts_)
    for (size_t i = 0; i < classes.size(); ++i) all[i] += classes[i];
  return all;
}

u64 CodeCounts::count() const {
  const Classes all = merged();
  return std::accumulate(all.begin(), all.end(), u64(0));
}

size_t CodeCounts::contexts() const {
  return size_t(std::ranges::count_if(counts_, [](const Classes& c) { return !c.empty(); }));
}

std::vector<std::pair<i64, u64>> CodeCounts::near() const {
  const Classes all = merged();
  std::vector<std::pair<i64, u64>> list;
  for (i64 code = 1 - kNear; code < kNear; ++code)
    if (const u64 count = all[size_t(code + kNear)]) list.emplace_back(code, count);
  return list;
}

u64 CodeCounts::larger() const {
  const Classes all = merged();
  return std::accumulate(all.begin() + std::ptrdiff_t(kLarge), all.end(), u64(0));
}

u64 CodeCounts::exact() const { return merged()[kExact]; }

double CodeCounts::bits_of_all(const Classes& classes) {
  const auto total = double(std::accumulate(classes.begin(), classes.end(), u64(0)));
  double bits = 0;
  for (size_t i = 0; i < classes.size(); ++i)
    if (const auto count = double(classes[i]); count > 0)
      bits += count * (std::log2(total / count) + double(raw_bits(i)));
  return bits;
}

double CodeCounts::entropy() const {
  const u64 codes = count();
  return codes ? bits_of_all(merged()) / double(codes) : 0;
}

double CodeCounts::entropy_in_contexts() const {
  const u64 codes = count();
  double bits = 0;
  for (const Classes& classes : counts_) bits += bits_of_all(classes);
  return codes ? bits / double(codes) : 0;
}

}  // namespace leeway

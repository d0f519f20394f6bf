// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/parts/curve.h"

#include <algorithm>
#include <bit>

#include "leeway/base/log2.h"
#include "leeway/encode/parts/token.h"

namespace leeway {
namespace {

constexpr u64 kOne = u64(1) << 32;

struct Tail {
  u32 share;  // in sixteenths
  u32 steps;  // how much larger the mean of this share is
};
constexpr std::array<Tail, 4> kTails{{{0, 0}, {3, 8}, {3, 12}, {6, 8}}};

// A geometric distribution: the share of sizes larger than k, in units of 2^-32.
class Fall {
 public:
  explicit Fall(u32 mean) : ratio_((quarter_octave(mean) << 32) / (quarter_octave(mean) + 256)) {}
  u64 next(u64 beyond) const { return beyond * ratio_ >> 32; }  // from k to k + 1
  u64 beyond(u64 k) const {
    u64 result = kOne;
    for (u64 power = ratio_; k > 0; k >>= 1, power = power * power >> 32)
      if (k & 1) result = result * power >> 32;
    return result;
  }

 private:
  u64 ratio_;
};

// The sizes [first, end) of the codes that have a token, which is the same for both signs.
struct Sizes {
  u64 first, end;
};
Sizes sizes_of(u32 token, int mantissa) {
  const u32 place = token - kDirectTokens, octave = place >> mantissa;
  const u64 leading = (u64(1) << mantissa) + (place & ((1u << mantissa) - 1));
  const int shift = std::min(int(octave) + 7 - mantissa, 55);
  return {leading << shift >> 1, (leading + 1) << shift >> 1};
}

u32 nearest_step(u64 numerator, u64 denominator) {
  // The last one at a power of two that is not above.
  const int bits = std::bit_width(numerator / denominator);
  u32 step = bits < 3 ? 0 : std::min(4 * u32(bits - 3), 63u);
  while (step < 63 &&
         (quarter_octave(step) + quarter_octave(step + 1)) * denominator <= 2 * numerator)
    ++step;
  return step;
}

}  // namespace

std::array<u16, 256> frequencies_of(const Curve& curve, int mantissa) {
  const auto [share, slower] = kTails[curve.tail];
  const Fall most(curve.mean), rest(std::min(curve.mean + slower, 63u));
  const u64 zeros = (quarter_octave(curve.zeros) << 32) / (quarter_octave(curve.zeros) + 1024),
            others = kOne - zeros;
  const u64 free = kFrequencySum - (curve.last + 1);  // each token has at least 1
  std::array<u16, 256> frequencies{};
  u64 sum = 0;
  const auto put = [&](u32 token, u64 mass) {
    frequencies[token] = u16(1 + (mass * free >> 32));
    sum += frequencies[token];
  };
  put(0, zeros);
  // Both signs have the same frequency.
  u64 a = kOne, b = kOne;
  const u32 last_direct = std::min(curve.last, kDirectTokens - 1);
  for (u32 token = 1; token <= last_direct; token += 2) {
    const u64 next_a = most.next(a), next_b = rest.next(b);
    const u64 here = (16 - share) * (a - next_a) + share * (b - next_b);
    const u64 mass = (here >> 4) * others >> 33;
    put(token, mass);
    if (token < last_direct) put(token + 1, mass);
    a = next_a;
    b = next_b;
  }
  for (u32 token = kDirectTokens; token <= curve.last; ++token) {
    const auto [first, end] = sizes_of(token, mantissa);
    const u64 here = (16 - share) * (most.beyond(first - 1) - most.beyond(end - 1)) +
                     share * (rest.beyond(first - 1) - rest.beyond(end - 1));
    put(token, (here >> 4) * others >> 32);
  }
  const auto given = std::span(frequencies).first(curve.last + 1);
  *std::ranges::max_element(given) += u16(kFrequencySum - sum);
  return frequencies;
}

u64 bits_under(TokenCounts counts, const std::array<u16, 256>& frequencies) {
  u64 bits = 0;
  for (size_t t = 0; t < counts.size(); ++t)
    if (counts[t] > 0) bits += counts[t] * ((u64(kFrequencyBits) << 16) - log2_of(frequencies[t]));
  return bits;
}

Curve first_curve(TokenCounts counts, int mantissa) {
  Curve curve{0, 0, 0, 1};
  u64 others = 0, sizes = 0;
  for (u32 token = 1; token < counts.size(); ++token) {
    if (counts[token] == 0) continue;
    curve.last = token;
    others += counts[token];
    u64 less_one = (token - 1) / 2;
    if (token >= kDirectTokens) {
      const auto [first, end] = sizes_of(token, mantissa);
      less_one = std::min((first + end) / 2, u64(1) << 24);
    }
    sizes += counts[token] * less_one;
  }
  const u64 zeros = counts.empty() ? 0 : counts[0];
  curve.zeros = others == 0 ? 63 : nearest_step(zeros << 10, others);
  curve.mean = others == 0 ? 0 : nearest_step(sizes << 8, others);
  // The tail makes the mean half an octave larger.
  curve.mean -= std::min(curve.mean, 3u);
  return curve;
}

Curve best_curve(TokenCounts counts, int mantissa) {
  Curve best = first_curve(counts, mantissa);
  u64 fewest = bits_under(counts, frequencies_of(best, mantissa));
  const auto better = [&](Curve curve) {
    if (curve.mean > 63 || curve.zeros > 63) return false;
    const u64 bits = bits_under(counts, frequencies_of(curve, mantissa));
    if (bits >= fewest) return false;
    fewest = bits;
    best = curve;
    return true;
  };
  const Curve first = best;
  constexpr std::array<int, 4> kShift{2, 0, -2, -1};  // of the mean, by tail
  for (u32 tail = 0; tail < kTails.size(); ++tail) {
    if (tail == first.tail) continue;
    Curve other = first;
    other.tail = tail;
    other.mean = u32(std::clamp(int(first.mean) + kShift[tail], 0, 63));
    better(other);
  }
  for (const auto member : {&Curve::mean, &Curve::zeros})
    for (const u32 by : {1u, ~0u}) {
      Curve other = best;
      while (other.*member += by, better(other)) {
      }
    }
  return best;
}

}  // namespace leeway

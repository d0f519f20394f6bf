// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/preprocess/linearize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "leeway/base/bits.h"

namespace leeway {
namespace {

// Where a number lies between the least and the largest one, in whole steps.
struct Scale {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void add(double x) {
    if (!(std::abs(x) < std::numeric_limits<double>::infinity())) return;
    low = std::min(low, x);
    high = std::max(high, x);
  }
  u64 step_of(double x, int bits) const {
    const double part = (x / 2 - low / 2) / (high / 2 - low / 2);
    return part > 0 ? u64(std::min(part, 1.0) * double((u64(1) << bits) - 1)) : 0;  // 0 for a NaN
  }
};

int bits_of_order(size_t count) { return count > 1 ? std::bit_width(count - 1) : 0; }

}  // namespace

std::vector<u32> Linearize::along_the_curve(std::span<const double> numbers, const Points& points) {
  std::vector<Scale> scales(points.width);
  for (size_t i = 0; i < numbers.size(); ++i) scales[i % points.width].add(numbers[i]);
  const int bits = std::min(32, 63 / int(points.width));
  std::vector<u64> keys(points.count);
  for (size_t i = 0; i < points.count; ++i)
    for (size_t k = 0; k < points.width; ++k) {
      const u64 step = scales[k].step_of(numbers[i * points.width + k], bits);
      for (int bit = 0; bit < bits; ++bit)
        keys[i] |= (step >> bit & 1) << (size_t(bit) * points.width + k);
    }
  std::vector<u32> order(points.count);
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, [&](u32 i) { return keys[i]; });
  return order;
}

void Linearize::write_order(std::span<const u32> order, Writer& side) {
  const int bits = bits_of_order(order.size());
  BitWriter out;
  for (const u32 from : order) out.put(from, bits);
  side.put_bytes(out.take().bytes());
}

std::vector<u32> Linearize::read_order(Reader& side, size_t count) {
  const int bits = bits_of_order(count);
  BitReader in(side.take((count * size_t(bits) + 7) / 8));
  std::vector<u32> order(count);
  std::vector<u8> is_there(count);
  for (u32& from : order) {
    from = u32(in.get(bits));
    if (from >= count || is_there[from]++) fail_corrupt("no order of points");
  }
  in.expect_end();
  return order;
}

}  // namespace leeway

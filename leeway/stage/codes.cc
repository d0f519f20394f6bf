// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/stage/codes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/stage/codes.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::codes_kernels::HWY_NAMESPACE {

template <class I>
void magnitudes_of(const I* HWY_RESTRICT codes, size_t count, u8* HWY_RESTRICT magnitudes) {
  using U = std::make_unsigned_t<I>;
  for (size_t i = 0; i < count; ++i) {
    const U sign = U(codes[i] >> (8 * sizeof(I) - 1));
    const U size = (U(codes[i]) ^ sign) - sign;
    magnitudes[i] = u8(size < 255 ? size : U(255));
  }
}
void magnitudes_of_32(const i32* codes, size_t count, u8* magnitudes) { magnitudes_of(codes, count, magnitudes); }
void magnitudes_of_64(const i64* codes, size_t count, u8* magnitudes) { magnitudes_of(codes, count, magnitudes); }

}  // namespace leeway::codes_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::codes_kernels {
HWY_EXPORT(magnitudes_of_32);
HWY_EXPORT(magnitudes_of_64);
}  // namespace leeway::codes_kernels

namespace leeway {
using namespace codes_kernels;

void magnitudes_of(std::span<const i32> codes, u8* magnitudes) {
  HWY_DYNAMIC_DISPATCH(magnitudes_of_32)(codes.data(), codes.size(), magnitudes);
}
void magnitudes_of(std::span<const i64> codes, u8* magnitudes) {
  HWY_DYNAMIC_DISPATCH(magnitudes_of_64)(codes.data(), codes.size(), magnitudes);
}

}  // namespace leeway
#endif

// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/base/copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/base/copy.cc"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::copy_kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Copies whole cache lines of 64 bytes; `to` is aligned to 64.
void copy_lines(u8* HWY_RESTRICT to, const u8* HWY_RESTRICT from, size_t bytes) {
  const hn::CappedTag<u8, 64> d;
  for (size_t i = 0; i < bytes; i += 64)
    for (size_t k = 0; k < 64; k += hn::Lanes(d))
      hn::Stream(hn::LoadU(d, from + i + k), d, to + i + k);
}

}  // namespace leeway::copy_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::copy_kernels {
HWY_EXPORT(copy_lines);
}  // namespace leeway::copy_kernels

namespace leeway {
using namespace copy_kernels;

void copy_past_caches(void* to, const void* from, size_t bytes) noexcept {
  auto* out = static_cast<u8*>(to);
  const auto* in = static_cast<const u8*>(from);
  const size_t before = std::min(bytes, size_t(0 - reinterpret_cast<std::uintptr_t>(to)) % 64);
  std::memcpy(out, in, before);
  const size_t lines = (bytes - before) / 64 * 64;
  HWY_DYNAMIC_DISPATCH(copy_lines)(out + before, in + before, lines);
  std::memcpy(out + before + lines, in + before + lines, bytes - before - lines);
}

void finish_copies() noexcept { hwy::FlushStream(); }

}  // namespace leeway
#endif

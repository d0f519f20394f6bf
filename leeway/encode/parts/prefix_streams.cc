// SPDX-License-Identifier: BSD-3-Clause
// The inner loop of writing prefix codes. It has no vectors, but newer targets have faster shifts;
// reading gains nothing from those.
#include "leeway/encode/parts/prefix_code.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/encode/parts/prefix_streams.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::prefix::HWY_NAMESPACE {

template <class Token>
size_t put_all(const Token* first, const Token* second, size_t n, const u64* table,
               StreamWriter& to_a, StreamWriter& to_b) {
  StreamWriter a = to_a, b = to_b;  // to be kept in registers
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    a.put_four(first + i, table);
    b.put_four(second + i, table);
  }
  to_a = a, to_b = b;
  return i;
}

size_t put_u8(const u8* first, const u8* second, size_t n, const u64* table, StreamWriter& a,
              StreamWriter& b) {
  return put_all(first, second, n, table, a, b);
}
size_t put_u16(const u16* first, const u16* second, size_t n, const u64* table, StreamWriter& a,
               StreamWriter& b) {
  return put_all(first, second, n, table, a, b);
}

}  // namespace leeway::prefix::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::prefix {

HWY_EXPORT(put_u8);
HWY_EXPORT(put_u16);

size_t put_fours(const u8* first, const u8* second, size_t n, const u64* table, StreamWriter& a,
                 StreamWriter& b) {
  return HWY_DYNAMIC_DISPATCH(put_u8)(first, second, n, table, a, b);
}
size_t put_fours(const u16* first, const u16* second, size_t n, const u64* table, StreamWriter& a,
                 StreamWriter& b) {
  return HWY_DYNAMIC_DISPATCH(put_u16)(first, second, n, table, a, b);
}

}  // namespace leeway::prefix
#endif

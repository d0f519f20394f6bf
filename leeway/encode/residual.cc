// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/residual.h"

#include "leeway/base/bits.h"
#include "leeway/encode/parts/range_coder.h"

namespace leeway {
namespace {

template <class I>
using Unsigned = std::make_unsigned_t<I>;

template <class I>
Unsigned<I> magnitude_of(I code) {
  return code < 0 ? Unsigned<I>(0) - Unsigned<I>(code) : Unsigned<I>(code);
}

template <class I>
void encode_codes(std::span<const I> codes, Writer& out) {
  BitWriter raw;
  for (const I code : codes) {
    const Unsigned<I> size = magnitude_of(code);
    if (size > 1) raw.put(size - std::bit_floor(size), std::bit_width(size) - 1);
  }
  out.put_section(raw.take().bytes());
  RangeWriter coder(out);
  BitTree<7> length;
  Probability negative;
  for (const I code : codes)
    if (length.code(u32(std::bit_width(magnitude_of(code))), coder) > 0)
      coder.decide(code < 0, negative);
  coder.finish();
}

template <class I>
void decode_codes(Reader& in, std::span<I> codes) {
  BitReader raw(in.take_section());
  RangeReader coder(in);
  BitTree<7> lengths;
  Probability negative;
  for (I& code : codes) {
    const int length = int(lengths.code(0, coder));
    code = 0;
    if (length == 0) continue;
    const bool is_negative = coder.decide(false, negative);
    if (length > int(8 * sizeof(I))) fail_corrupt("a number too long");
    const auto size = Unsigned<I>(u64(1) << (length - 1) | raw.get(length - 1));
    // The only possible number of this length is the lowest code.
    if (length == int(8 * sizeof(I)) && (!is_negative || !std::has_single_bit(size)))
      fail_corrupt("a number too large");
    code = I(is_negative ? Unsigned<I>(0) - size : size);
  }
  raw.expect_end();
}

}  // namespace

void Residual::encode(std::span<const i32> codes, Writer& out) const { encode_codes(codes, out); }
void Residual::encode(std::span<const i64> codes, Writer& out) const { encode_codes(codes, out); }
void Residual::decode(Reader& in, std::span<i32> codes) const { decode_codes(in, codes); }
void Residual::decode(Reader& in, std::span<i64> codes) const { decode_codes(in, codes); }

}  // namespace leeway

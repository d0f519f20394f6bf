// SPDX-License-Identifier: BSD-3-Clause
// What every encoder must do: round trips of all kinds of codes, and no crash on damaged bytes.
#pragma once

#include <algorithm>

#include "tests/support.h"

namespace leeway::test {

template <class I>
std::vector<std::vector<I>> code_samples() {
  std::mt19937_64 random(11);
  std::vector<std::vector<I>> samples = {{}, {0}, {-1}, {5, 5, 5, 5, 5, 5}};
  for (const size_t size : {2, 3, 5, 31, 33, 100, 1000, 4097})
    for (const int bits : {1, 2, 4, 7, 8, 12, 31, int(8 * sizeof(I) - 1)}) {
      std::vector<I> codes(size);
      for (I& code : codes) code = I(i64(random()) >> (64 - bits - int(random() % 2)));
      samples.push_back(codes);
      for (I& code : codes) code = random() % 50 ? I(0) : I(random());  // mostly zeros
      samples.push_back(codes);
    }
  samples.push_back({std::numeric_limits<I>::min(), std::numeric_limits<I>::max(), 0});
  return samples;
}

template <class I, class E>
void encode(const E& encoder, const std::vector<I>& codes, Writer& out) {
  const auto sink = make_sink<I>(encoder, codes.size(), out);
  sink->put_all(codes, {});
  sink->finish();
}
// In pieces of odd sizes.
template <class I, class E>
std::vector<I> decode(const E& encoder, Reader& in, size_t count) {
  std::vector<I> codes(count);
  const auto source = make_source<I>(encoder, in, count);
  for (size_t first = 0; first < count; first += 333)
    source->next(std::span(codes).subspan(first, std::min<size_t>(333, count - first)), nullptr);
  return codes;
}

template <class I, class E>
void check_encoder_for(const E& encoder) {
  std::mt19937 random(12);
  for (const std::vector<I>& codes : code_samples<I>()) {
    Writer out;
    encode(encoder, codes, out);
    Reader in(out.bytes());
    ASSERT_EQ(decode<I>(encoder, in, codes.size()), codes);
    in.expect_end();
    // The bytes do not depend on the pieces.
    Writer in_pieces;
    const auto sink = make_sink<I>(encoder, codes.size(), in_pieces);
    for (size_t first = 0; first < codes.size();) {
      const size_t count = std::min(codes.size() - first, 1 + random() % 700);
      std::copy_n(codes.data() + first, count, sink->room(count));
      sink->put(count, nullptr);
      first += count;
    }
    sink->finish();
    ASSERT_TRUE(std::ranges::equal(in_pieces.bytes(), out.bytes()));
    const auto decode_damaged = [&](ByteView bytes) {
      Reader reader(bytes);
      try {
        decode<I>(encoder, reader, codes.size());
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), Errc::corrupt);
      }
    };
    if (out.size() == 0 || out.size() > 3000) continue;
    for (size_t size = 0; size < out.size(); ++size) decode_damaged(out.bytes().first(size));
    for (int trial = 0; trial < 100; ++trial) {
      Bytes damaged(out.bytes().begin(), out.bytes().end());
      damaged[random() % damaged.size()] ^= u8(1 << random() % 8);
      decode_damaged(damaged);
    }
  }
}

// Narrow codes take the bytes of wider ones.
template <class E>
void check_narrow(const E& encoder) {
  for (const std::vector<i16>& codes : code_samples<i16>()) {
    Writer narrow, wide;
    encode(encoder, codes, narrow);
    encode(encoder, std::vector<i32>(codes.begin(), codes.end()), wide);
    ASSERT_TRUE(std::ranges::equal(narrow.bytes(), wide.bytes()));
  }
}

template <class E>
void check_encoder(const E& encoder) {
  check_encoder_for<i32>(encoder);
  check_encoder_for<i64>(encoder);
  if constexpr (E::kTraits.narrow_codes) {
    check_encoder_for<i16>(encoder);
    check_narrow(encoder);
  }
}

}  // namespace leeway::test

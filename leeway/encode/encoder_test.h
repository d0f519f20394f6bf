// SPDX-License-Identifier: BSD-3-Clause
// What every encoder must do: round trips of all kinds of codes, and no crash on damaged bytes.
#pragma once

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
void check_encoder_for(const E& encoder) {
  std::mt19937 random(12);
  for (const std::vector<I>& codes : code_samples<I>()) {
    Writer out;
    encoder.encode(std::span<const I>(codes), {}, out);
    std::vector<I> decoded(codes.size());
    Reader in(out.bytes());
    encoder.decode(in, std::span<I>(decoded));
    ASSERT_EQ(decoded, codes);
    in.expect_end();
    const auto decode_damaged = [&](ByteView bytes) {
      Reader reader(bytes);
      try {
        encoder.decode(reader, std::span<I>(decoded));
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), Errc::corrupt);
      }
    };
    if (out.size() > 3000) continue;
    for (size_t size = 0; size < out.size(); ++size) decode_damaged(out.bytes().first(size));
    for (int trial = 0; trial < 100; ++trial) {
      Bytes damaged(out.bytes().begin(), out.bytes().end());
      damaged[random() % damaged.size()] ^= u8(1 << random() % 8);
      decode_damaged(damaged);
    }
  }
}

template <class E>
void check_encoder(const E& encoder) {
  check_encoder_for<i32>(encoder);
  check_encoder_for<i64>(encoder);
}

}  // namespace leeway::test

// SPDX-License-Identifier: BSD-3-Clause
// A quantizer of your own with a channel of its own: the library's uniform grid, but codes from 64
// on leave the stream of codes and are stored as varints. That is where SZ3's paper puts its new
// quantizer for integrals; the grid itself can be your own, too (own_grid.cc).
#include <cmath>
#include <cstdio>
#include <vector>

#include "leeway/compressor.h"
#include "leeway/encode/fixed_huffman.h"
#include "leeway/leeway.hpp"

struct Spikes : leeway::Linear {
  static constexpr std::string_view kName = "spikes", kAbout = "large codes as varints, apart";
  static constexpr leeway::i32 kRadius = 64;

  bool sets_apart() const { return true; }
  bool is_apart(auto code) const { return code >= kRadius || code <= -kRadius; }
  template <class I>
  I mark() const {
    return kRadius;  // stands in the place of a code that is apart
  }
  template <class I>
  void write_apart(std::span<const I> codes, leeway::Writer& notes) const {
    notes.put_varint(codes.size());
    for (const I code : codes) notes.put_varint(leeway::zigzag(code));
  }
  template <class I>
  std::vector<I> read_apart(leeway::Reader& notes, size_t most) const {
    using U = std::make_unsigned_t<I>;
    std::vector<I> codes(size_t(notes.get_varint(most, "too many spikes")));
    for (I& code : codes) code = leeway::unzigzag(U(notes.get_varint(U(-1), "a spike too large")));
    return codes;
  }
};

int main() {
  using Mine = leeway::Compressor<double, Spikes, leeway::FixedHuffman>;
  const leeway::Shape shape{40000};
  std::vector<double> values;
  for (double i = 0; i < 40000; ++i)
    values.push_back(0.01 * std::sin(i) + (std::fmod(i, 997) == 0 ? 1e5 * std::cos(i) : 0));

  const leeway::Bytes stream = Mine().compress(values.data(), shape, leeway::Bound::abs(1e-3));
  std::printf("ratio %.1f\n", double(values.size() * 8) / double(stream.size()));
  try {  // the library alone does not know the stage, and names it
    leeway::decompress(stream);
    return 1;
  } catch (const leeway::Error& error) {
    std::printf("%s\n", error.what());
  }
  const auto known = Mine::known();  // now all of its readers do
  const leeway::Array decoded = leeway::decompress(stream);
  for (size_t i = 0; i < values.size(); ++i)
    if (!(std::abs(values[i] - decoded.as<double>()[i]) <= 1e-3)) return 1;
}

// SPDX-License-Identifier: BSD-3-Clause
// A stage of your own, composed with the library's: an encoder that packs runs of equal codes.
//
// A stage is a plain struct with a name, a kind, one line about it, and parameters; what it must be
// able to do stands in leeway/stage/stage.h. Nothing in the library has to be touched or even know
// about it.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "leeway/compressor.h"
#include "leeway/leeway.hpp"
#include "leeway/lossless/zstd.h"

struct RunLength {
  static constexpr std::string_view kName = "run-length";
  static constexpr std::string_view kAbout = "runs of equal codes as code and length";
  static constexpr leeway::Kind kKind = leeway::Kind::encoder;
  static constexpr leeway::Traits kTraits{};
  struct Params {
    leeway::i32 longest = 1 << 20;
    void fields(auto&& field) { field("longest", longest, 1, 1 << 30, "longest run"); }
  } params;

  template <class I>  // codes are 32 or 64 bits wide
  void encode(std::span<const I> codes, leeway::Writer& out) const {
    for (size_t i = 0; i < codes.size();) {
      size_t run = 1;
      while (i + run < codes.size() && codes[i + run] == codes[i] && run < size_t(params.longest))
        ++run;
      out.put(codes[i]);
      out.put_varint(run);
      i += run;
    }
  }

  template <class I>
  void decode(leeway::Reader& in, std::span<I> codes) const {
    for (size_t i = 0; i < codes.size();) {
      const I code = in.get<I>();  // throws if the stream ends here
      const leeway::u64 run = in.get_varint(codes.size() - i, "run too long");
      if (run == 0) leeway::fail_corrupt("empty run");
      std::fill_n(codes.begin() + std::ptrdiff_t(i), run, code);
      i += size_t(run);
    }
  }
};

int main() {
  const leeway::Shape shape{200, 200};
  std::vector<float> field(shape.size());
  for (size_t i = 0; i < field.size(); ++i) field[i] = float(i / 2000) * 0.25f;  // plateaus

  const leeway::Compressor<float, leeway::Linear, leeway::Lorenzo, RunLength, leeway::Zstd>
      compressor;
  const leeway::Bytes stream = compressor.compress(field.data(), shape, leeway::Bound::abs(1e-2));
  const leeway::Array decoded = compressor.decompress(stream);
  std::printf("%s: ratio %.0f\n", compressor.recipe().c_str(),
              double(field.size() * 4) / double(stream.size()));

  for (size_t i = 0; i < field.size(); ++i)
    if (!(std::abs(double(field[i]) - double(decoded.as<float>()[i])) <= 1e-2)) return 1;

  try {  // the library alone cannot know the stage, and says so
    leeway::decompress(stream);
    return 1;
  } catch (const leeway::Error& error) {
    std::printf("%s\n", error.what());
  }
  return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// A composite predictor with a member of your own: for every block of an image the better one of
// Lorenzo's rule and yours. The library estimates what each would cost, and notes the choice.
#include <cmath>
#include <cstdio>
#include <vector>

#include "leeway/compressor.h"
#include "leeway/encode/huffman.h"
#include "leeway/leeway.hpp"
#include "leeway/predict/best_of.h"

// Along the stripes of a fabric: what was one diagonal step before.
struct Diagonal {
  auto predict(const auto& at) const { return at(-1, -1); }
};

struct Fabric : leeway::BestOf<leeway::LorenzoRule, Diagonal> {
  static constexpr std::string_view kName = "fabric", kAbout = "Lorenzo, or along the diagonal";
};

int main() {
  using Mine = leeway::Compressor<float, Fabric, leeway::Linear, leeway::Huffman>;
  using Lorenzo = leeway::Compressor<float, leeway::Lorenzo, leeway::Linear, leeway::Huffman>;
  const leeway::Shape shape{300, 400};
  std::vector<float> image;
  for (int y = 0; y < 300; ++y)
    for (int x = 0; x < 400; ++x) {
      const auto thread = float((x - y + 300) * 7919 % 1009);  // like no other
      image.push_back(x < 200 ? thread : 0.03f * float(x) * float(y));
    }

  const auto bound = leeway::Bound::abs(0.01);
  const leeway::Bytes stream = Mine().compress(image.data(), shape, bound);
  const size_t other = Lorenzo().compress(image.data(), shape, bound).size();
  std::printf("%zu bytes, with Lorenzo alone %zu\n", stream.size(), other);
  if (stream.size() > other / 2) return 1;
  try {  // the library alone does not know the stage, and names it
    leeway::decompress(stream);
    return 1;
  } catch (const leeway::Error& error) {
    std::printf("%s\n", error.what());
  }
  const auto known = Mine::known();  // now all of its readers do
  const leeway::Array decoded = leeway::decompress(stream);
  for (size_t i = 0; i < image.size(); ++i)
    if (!(std::abs(image[i] - decoded.as<float>()[i]) <= 0.01f)) return 1;
}

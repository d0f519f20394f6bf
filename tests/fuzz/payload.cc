// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as the payload of a chunk, past the checksums: the stages' decoders alone.
#include <vector>

#include "leeway/codec/make_codec.h"
#include "leeway/leeway.hpp"

extern "C" int LLVMFuzzerTestOneInput(const leeway::u8* data, size_t size) {
  using namespace leeway;
  static const Shape kShapes[] = {{}, {100}, {7, 9}, {3, 4, 5}, {2, 3, 2, 3, 2}};
  static const std::vector<Recipe> recipes = [] {
    std::vector<Recipe> list;
    for (const NamedRecipe& named : named_recipes()) list.push_back(parse_recipe(named.recipe));
    for (const char* text : {"lorenzo:order=2+linear+huffman", "linear+raw",
                             "lorenzo+exact+huffman+store", "linear+huffman",
                             "pyramid:tile=12+linear+rans"})
      list.push_back(parse_recipe(text));
    return list;
  }();
  if (size < 3) return 0;
  const DType dtype = DType(1 + data[0] % 12);
  // Seldom large enough for segments: that takes its time.
  const Shape shape = data[1] == 255 ? Shape{52, 51, 50} : kShapes[data[1] % std::size(kShapes)];
  Wanted wanted{size_t(data[0]) / 12 % 4, {}};
  if (wanted.last_level == 3) wanted = {0, Box{{}, {13, 14, 15}}};
  if (wanted.box && shape.rank() != 3) wanted = {};
  const Recipe& recipe = recipes[data[2] % recipes.size()];
  std::vector<u64> values(size_t(shape.size()));
  try {
    KeptValues kept(values.data());
    make_codec(recipe, dtype)->decompress({data + 3, size - 3}, shape, 0.125, kept, wanted);
  } catch (const Error&) {
  }
  return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as an array: within the bound, the same bytes twice, and idempotent.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "leeway/codec/mask.h"
#include "leeway/leeway.hpp"
#include "leeway/recipe/recipe.h"

namespace leeway {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

template <class T>
void check(const u8* data, size_t size, double bound, const std::string& recipe, u8 split) {
  std::vector<T> values(size / sizeof(T));
  if (values.empty()) return;
  std::memcpy(values.data(), data, values.size() * sizeof(T));
  const u64 columns = 1 + split % 16, rows = values.size() / columns;
  const Shape shape{rows, columns};
  CompressOptions options;
  options.bound = Bound::abs(bound);
  options.recipe = recipe;
  options.chunk = {1 + rows / 2, columns};
  const Bytes stream = compress(values.data(), shape, options);
  require(compress(values.data(), shape, options) == stream);
  const Info info = inspect(stream);
  const Array decoded = decompress(stream),
              again = decompress(compress(decoded.as<T>().data(), shape, options));
  const Mask mask{.fills = info.header.fills};
  for (size_t i = 0; i < shape.size(); ++i) {
    const T a = values[i], b = decoded.as<T>()[i];
    require(bits_of(b) == bits_of(again.as<T>()[i]));
    if (bits_of(a) == bits_of(b)) continue;
    require(!mask.is_special(a));
    require(std::abs((long double)(a) - (long double)(b)) <= (long double)(bound));
  }
}

}  // namespace
}  // namespace leeway

extern "C" int LLVMFuzzerTestOneInput(const leeway::u8* data, size_t size) {
  using namespace leeway;
  if (size < 4 || size > 4096) return 0;
  const double bound = std::ldexp(1 + data[1] % 16 / 16.0, int(data[0] % 80) - 50);
  const auto named = named_recipes();
  const std::string recipe(named[data[2] % named.size()].recipe);
  const DType dtype = DType(1 + data[2] / 16 % 12);
  if (!is_for(parse_recipe(recipe), dtype)) return 0;
  visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    check<T>(data + 4, size - 4, bound, recipe, data[3]);
  });
  return 0;
}

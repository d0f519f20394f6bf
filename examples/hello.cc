// SPDX-License-Identifier: BSD-3-Clause
// Compress a field in C++, look at the stream, read it back, and read a part of it.
#include <cmath>
#include <cstdio>
#include <vector>

#include "leeway/leeway.hpp"

int main() {
  const leeway::Shape shape{60, 80, 100};  // slowest axis first
  std::vector<float> field(shape.size());
  for (size_t i = 0; i < field.size(); ++i)
    field[i] = std::sin(0.001f * float(i)) + std::cos(0.05f * float(i % 100));

  leeway::CompressOptions options;
  options.bound = leeway::Bound::abs(1e-3);  // no value will be off by more
  options.execution.threads = 2;             // the stream does not depend on it
  const leeway::Bytes stream = leeway::compress(field.data(), shape, options);

  const leeway::Info info = leeway::inspect(stream);
  std::printf("%zu -> %zu bytes by %s, largest error %g\n", field.size() * sizeof(float),
              stream.size(), info.header.recipe.c_str(), info.statement.max_error);

  const leeway::Array whole = leeway::decompress(stream);
  const leeway::Array part = leeway::decompress(stream, leeway::Box{{10, 20, 30}, {5, 6, 7}});
  std::printf("field[10][20][30] = %g, was %g\n", part.as<float>()[0],
              field[(10 * 80 + 20) * 100 + 30]);

  for (size_t i = 0; i < field.size(); ++i)
    if (!(std::abs(double(field[i]) - double(whole.as<float>()[i])) <= 1e-3)) return 1;
  return 0;
}

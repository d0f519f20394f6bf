// SPDX-License-Identifier: BSD-3-Clause
// Makes the golden streams. Run after a change of format (scripts/golden.sh), never to make a test
// pass.
#include <cstdio>
#include <fstream>
#include <string>

#include "tests/golden/growing.h"
#include "tests/golden/promised.h"

namespace leeway::test {
namespace {

void save(const std::string& path, const void* data, size_t bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(static_cast<const char*>(data), std::streamsize(bytes));
}

}  // namespace
}  // namespace leeway::test

int main(int argc, char** argv) {
  using namespace leeway;
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  int number = 0;
  // Every stream and what it decodes to.
  test::for_each_golden_case([&](const test::GoldenCase& made) {
    char name[80];
    std::snprintf(name, sizeof name, "/v1_%02d_%s", number++, made.what.c_str());
    if (made.stream.empty()) return;
    const Array decoded = decompress(made.stream);
    test::save(folder + name + ".lwy", made.stream.data(), made.stream.size());
    test::save(folder + name + ".raw", decoded.data(), size_t(decoded.bytes()));
  });
  const auto save_named = [&](const std::string& what, const Bytes& stream) {
    const Array decoded = decompress(stream);
    test::save(folder + "/v1_" + what + ".lwy", stream.data(), stream.size());
    test::save(folder + "/v1_" + what + ".raw", decoded.data(), size_t(decoded.bytes()));
  };
  test::for_each_growing(save_named);
  test::for_each_promised(save_named);
  return 0;
}

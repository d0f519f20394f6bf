// SPDX-License-Identifier: BSD-3-Clause
// Streams of every format version must decode to the values they had when they were made.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/support.h"

namespace leeway::test {
namespace {

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(in), {});
}

TEST(Golden, StreamsDecodeToTheirValues) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(LEEWAY_GOLDEN_DIR)) {
    if (entry.path().extension() != ".lwy") continue;
    ++count;
    auto values = entry.path();
    const Bytes expected = read_file(values.replace_extension(".raw"));
    const Bytes stream = read_file(entry.path());
    const bool is_compiled =
        visit_dtype(inspect(stream).header.dtype,
                    []<class T>(std::type_identity<T>) { return kIsCompiled<T>; });
    if (!is_compiled) continue;
    const Array decoded = decompress(stream);
    ASSERT_EQ(decoded.bytes(), expected.size()) << entry.path();
    const auto* bytes = reinterpret_cast<const u8*>(decoded.data());
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), bytes)) << entry.path();
  }
  EXPECT_GE(count, 20u);
}

}  // namespace
}  // namespace leeway::test

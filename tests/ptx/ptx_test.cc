// SPDX-License-Identifier: BSD-3-Clause
// The kernels as nvcc made them, followed instruction by instruction: the same bytes as the host's.
#include <fstream>
#include <sstream>

#include "leeway/gpu/plan.h"
#include "tests/ptx/ptx_device.h"
#include "tests/streams.h"
#include "tests/support.h"

namespace leeway::gpu::ptx {
namespace {

using namespace leeway::test;

// Of kernels.cu; null if there is no nvcc.
const Program* kernels() {
  static const auto program = []() -> std::optional<Program> {
    const char* const path = LEEWAY_PTX;
    if (*path == 0) return {};
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return parse(text.str());
  }();
  return program ? &*program : nullptr;
}

class Ptx : public testing::Test {
 protected:
  void SetUp() override {
    if (!kernels()) GTEST_SKIP() << "no PTX: there was no nvcc when this was built";
  }
};

CompressOptions options_of(const std::string& recipe, const Bound& bound) {
  CompressOptions options;
  options.recipe = recipe;
  options.bound = bound;
  options.detect_fills = false;
  return options;
}

template <class T>
void expect_same(const std::vector<T>& values, const Shape& shape, const CompressOptions& options,
                 u64 seed = 1) {
  emulator::Options schedule;
  schedule.seed = seed;
  schedule.resident = 1 + unsigned(seed % 3);
  schedule.wave = seed % 2 ? 32 : 64;
  schedule.adversary = emulator::Adversary(seed % 4);
  PtxDevice device(*kernels(), schedule);
  const Bytes expected = compress(values.data(), shape, options);
  const View view(reinterpret_cast<const std::byte*>(values.data()), dtype_of<T>(), shape);
  Report report{};
  ASSERT_EQ(compress_on(device, view, options, &report), expected) << options.recipe << seed;
  EXPECT_EQ(report.max_error, inspect(expected).statement.max_error);
  const Array decoded = decompress(expected);
  Array found(dtype_of<T>(), shape);
  decompress_on(device, expected, found.view(), {}, &report);
  EXPECT_EQ(report.status, kOk);
  EXPECT_EQ(std::memcmp(found.data(), decoded.data(), size_t(decoded.bytes())), 0)
      << options.recipe << seed;
}

const std::string kRecipes[] = {"cuszp2-outlier", "cuszp2-plain", "ceresz"};

TEST_F(Ptx, MakesTheSameBytes) {
  u64 seed = 0;
  for (const u64 size : {1, 31, 33, 70, 1000})
    for (const Texture texture : kTextures) {
      ++seed;
      auto options = options_of(kRecipes[seed % 3], Bound::abs(seed % 2 ? 1e-3 : 0.2));
      options.fills = {-9999};
      expect_same(make_field<float>({size}, texture, unsigned(size)), {size}, options, seed);
      expect_same(make_field<double>({size}, texture, unsigned(size)), {size}, options, seed);
    }
}

}  // namespace
}  // namespace leeway::gpu::ptx

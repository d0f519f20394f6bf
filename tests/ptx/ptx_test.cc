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

// Of kernels.cu; "" if there is no nvcc.
const std::string& text_of_kernels() {
  static const std::string all = [] {
    std::stringstream text;
    if (*LEEWAY_PTX) text << std::ifstream(LEEWAY_PTX).rdbuf();
    return text.str();
  }();
  return all;
}
const Program* kernels() {
  if (text_of_kernels().empty()) return nullptr;
  static const Program program = parse(text_of_kernels());
  return &program;
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
  for (const u64 size : {1, 31, 33, 70, 700})
    for (const Texture texture : kTextures) {
      ++seed;
      auto options = options_of(kRecipes[seed % 3], Bound::abs(seed % 2 ? 1e-3 : 0.2));
      options.fills = {-9999};
      expect_same(make_field<float>({size}, texture, unsigned(size)), {size}, options, seed);
      expect_same(make_field<double>({size}, texture, unsigned(size)), {size}, options, seed);
    }
}

// Chunks that need no slow path, such that do not fit the image, and the ragged ends of both.
TEST_F(Ptx, CodesLargeChunks) {
  struct Case {
    u64 size;
    Texture texture;
    double bound;
  };
  u64 seed = 0;
  for (const Case& c : {Case{40000, Texture::smooth, 1e-3}, Case{8200, Texture::noise, 1e-4},
                        Case{16384, Texture::noise, 1e-5}, Case{9000, Texture::hostile, 1e-2}}) {
    ++seed;
    const auto options = options_of(kRecipes[seed % 3], Bound::rel(c.bound));
    expect_same(make_field<float>({c.size}, c.texture), {c.size}, options, seed);
  }
  expect_same(make_field<double>({8200}, Texture::smooth), {8200},
              options_of("cuszp2-outlier", Bound::abs(1e-4)));
}

TEST_F(Ptx, TakesBoxesAndRegions) {
  const Shape shape{9, 20, 30};
  const auto values = make_field<float>(shape, Texture::smooth);
  auto options = options_of("cuszp2-outlier", Bound::abs(0.01));
  for (const Shape& chunk : {Shape{9, 20, 30}, Shape{4, 7, 11}}) {
    options.chunk = chunk;
    expect_same(values, shape, options, chunk[0]);
  }
  const Bytes stream = compress(values.data(), shape, options);
  PtxDevice device(*kernels());
  for (const Box& box : {Box{{0, 0, 0}, {1, 1, 1}}, Box{{3, 6, 3}, {5, 12, 20}}}) {
    const Array expected = decompress(stream, box);
    Array found(DType::f32, box.shape);
    decompress_on(device, stream, found.view(), box.first);
    EXPECT_EQ(std::memcmp(found.data(), expected.data(), size_t(expected.bytes())), 0);
  }
}

TEST_F(Ptx, RefusesHostileStreams) {
  const Shape shape{150};
  auto options = options_of("cuszp2-outlier", Bound::abs(0.01));
  options.chunk = {70};
  const Bytes stream = compress(make_field<float>(shape, Texture::hostile).data(), shape, options);
  const Header header = inspect(stream).header;
  PtxDevice device(*kernels());
  const Plan plan(header, View(nullptr, header.dtype, header.shape));
  const DeviceMemory workspace(device, plan.workspace_bytes());
  for (size_t i = 3; i < stream.size(); i += 29) {
    const DeviceMemory memory(device, stream.size());
    std::ranges::copy(stream, memory.get());
    memory.get()[i] = u8(memory.get()[i] ^ (1u << i % 8));
    std::vector<float> found(150);
    Report report{};
    plan.decompress(device, memory.get(), stream.size(), nullptr, found.data(), &report,
                    workspace.get(), nullptr);
    EXPECT_NE(report.status, kOk) << i;
  }
}

// The program with other words in the place of some.
Program replaced(const std::string& what, const std::string& by) {
  std::string text = text_of_kernels();
  size_t found = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size(), ++found)
    text.replace(at, what.size(), by);
  EXPECT_GT(found, 0u) << what;
  return parse(text);
}

// A compiler that is wrong would be noticed.
TEST_F(Ptx, NoticesWrongCode) {
  const auto values = make_field<float>({8192}, Texture::smooth);
  auto options = options_of("cuszp2-outlier", Bound::abs(1e-3));
  options.chunk = {1024};
  const Bytes expected = compress(values.data(), {8192}, options);
  const View view(reinterpret_cast<const std::byte*>(values.data()), DType::f32, {8192});
  const auto is_noticed = [&](const Program& program) {
    for (const u64 seed : {1, 2, 3}) {
      emulator::Options schedule;
      schedule.seed = seed;
      try {
        PtxDevice device(program, schedule);
        if (compress_on(device, view, options) != expected) return true;
      } catch (const Error&) {
        return true;
      }
    }
    return false;
  };
  EXPECT_FALSE(is_noticed(*kernels()));
  EXPECT_TRUE(is_noticed(replaced("shfl.sync.up", "shfl.sync.down")));
  EXPECT_TRUE(is_noticed(replaced("bar.sync \t0;", "bar.warp.sync -1;")));
  EXPECT_TRUE(is_noticed(replaced("membar.gl;", "")));
  EXPECT_TRUE(is_noticed(replaced("sub.rn.f32", "add.rn.f32")));
}

TEST_F(Ptx, RefusesWhatMayBeContracted) {
  for (const std::string name : {"mul.f32", "fma.rn.f32", "mul.rz.f32"}) {
    try {
      replaced("mul.rn.f32", name);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("unknown operation " + name), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace leeway::gpu::ptx

// SPDX-License-Identifier: BSD-3-Clause
// The kernels on the emulator: the same bytes as the host's, both ways, under any schedule.
#include "leeway/gpu/plan.h"

#include "leeway/gpu/container.h"
#include "tests/streams.h"
#include "tests/support.h"

namespace leeway::gpu {
namespace {

using namespace leeway::test;
using emulator::Adversary;

CompressOptions options_of(const std::string& recipe, const Bound& bound) {
  CompressOptions options;
  options.recipe = recipe;
  options.bound = bound;
  options.detect_fills = false;
  return options;
}
emulator::Options schedule_of(u64 seed) {
  emulator::Options options;
  options.seed = seed;
  options.resident = std::array{1u, 2u, 7u, 64u}[seed % 4];
  options.wave = seed / 4 % 2 ? 32 : 64;
  options.adversary = Adversary(seed / 8 % 4);
  return options;
}
template <class T>
View view_of_values(const std::vector<T>& values, const Shape& shape) {
  return View(reinterpret_cast<const std::byte*>(values.data()), dtype_of<T>(), shape);
}

// The emulated stream is the host's, and the emulated values are the host's.
template <class T>
void expect_same(const std::vector<T>& values, const Shape& shape, const CompressOptions& options,
                 u64 seed = 1) {
  const View view = view_of_values(values, shape);
  const Bytes expected = compress(values.data(), shape, options);
  EmulatedDevice device(schedule_of(seed));
  Report report{};
  const Bytes found = compress_on(device, view, options, &report);
  ASSERT_EQ(found, expected) << to_string(shape) << " " << options.recipe << " seed " << seed;
  const Statement statement = inspect(expected).statement;
  EXPECT_EQ(report.max_error, statement.max_error);
  EXPECT_EQ(report.special, statement.special);
  EXPECT_EQ(report.exact, statement.exact);
  const Array decoded = decompress(expected);
  Array on_device(dtype_of<T>(), shape);
  decompress_on(device, expected, on_device.view(), {}, &report);
  EXPECT_EQ(report.status, kOk);
  ASSERT_EQ(std::memcmp(on_device.data(), decoded.data(), size_t(decoded.bytes())), 0)
      << to_string(shape) << " " << options.recipe << " seed " << seed;
}

const std::string kRecipes[] = {"cuszp2-outlier", "cuszp2-plain", "ceresz"};

template <class T>
class Kernels : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Kernels, Types);

TYPED_TEST(Kernels, MakeTheSameBytes) {
  u64 seed = 0;
  for (const u64 size :
       {1, 2, 15, 16, 17, 31, 32, 33, 60, 61, 64, 65, 70, 1000, 32767, 32768, 32769})
    for (const Texture texture : kTextures) {
      if (size > 1000 && texture != Texture::hostile && texture != Texture::smooth) continue;
      const auto values = make_field<TypeParam>({size}, texture, unsigned(size));
      ++seed;
      auto options = options_of(kRecipes[seed % 3], Bound::abs(seed % 2 ? 1e-3 : 0.2));
      options.fills = {-9999};
      expect_same(values, {size}, options, seed);
    }
}

TYPED_TEST(Kernels, TakeBoundsOfAllSizes) {
  const auto values = make_field<TypeParam>({700}, Texture::smooth);
  for (const double e : {1e300, 1e30, 1.0, 1e-6, 1e-9, 1e-20, 1e-38, 1e-60, 1e-280})
    expect_same(values, {700}, options_of("cuszp2-outlier", Bound::abs(e)));
  for (const double rel : {0.3, 1e-2, 1e-4, 1e-7, 1e-12}) {
    expect_same(values, {700}, options_of("cuszp2-plain", Bound::rel(rel)));
    Bound both = Bound::rel(rel);
    both.add(BoundKind::abs, 1e-3);
    expect_same(values, {700}, options_of("ceresz", both), 5);
  }
}

// The range of a relative bound leaves out special values, and signs of zeros.
TYPED_TEST(Kernels, FindTheRange) {
  using T = TypeParam;
  constexpr T kLarge = std::numeric_limits<T>::max();
  const std::vector<std::vector<T>> cases{{1, 2, T(NAN), 7},       {-0.0, 0.0, -0.0, 5},
                                          {kLarge, -kLarge, 3, 4}, {T(-5), T(-3), T(INFINITY)},
                                          {T(-9999), 1, T(1.5)},   {T(1e-30), T(2e-30), 0}};
  for (auto values : cases) {
    values.resize(100, values[1]);
    auto options = options_of("cuszp2-outlier", Bound::rel(1e-2));
    options.fills = {-9999};
    expect_same(values, {100}, options);
  }
}

// A bound of 0 leaves constant chunks; for others there is the host.
TYPED_TEST(Kernels, SayWhatTheyCannotDo) {
  std::vector<TypeParam> values(100, 3);
  auto options = options_of("cuszp2-outlier", Bound::rel(1e-2));
  expect_same(values, {100}, options);
  values[5] = TypeParam(NAN);
  EmulatedDevice device;
  Report report{};
  EXPECT_THROW(compress_on(device, view_of_values(values, {100}), options, &report), Error);
  EXPECT_EQ(report.status, kUnsupported);
  EXPECT_EQ(report.chunk, 0u);
}

TYPED_TEST(Kernels, TakeAnyShapeAndStrides) {
  u64 seed = 0;
  for (const Shape& shape : shapes()) {
    const auto values = make_field<TypeParam>(shape, Texture::hostile);
    ++seed;
    expect_same(values, shape, options_of(kRecipes[seed % 3], Bound::abs(0.01)), seed);
  }
  const Shape shape{9, 20, 30};
  const auto values = make_field<TypeParam>(shape, Texture::smooth);
  for (const Shape& chunk : {Shape{9, 20, 30}, Shape{1, 1, 1}, Shape{4, 7, 11}, Shape{2, 20, 30}}) {
    auto options = options_of("cuszp2-outlier", Bound::abs(0.01));
    options.chunk = chunk;
    if (chunk.size() > 1) expect_same(values, shape, options, ++seed);
  }
  // Every second row from the end, where it lies.
  auto options = options_of("cuszp2-outlier", Bound::abs(0.01));
  View view = view_of_values(values, {9, 10, 30});
  view.strides[0] = 600 * sizeof(TypeParam);
  view.strides[1] = -std::ptrdiff_t(60 * sizeof(TypeParam));
  view.data += 570 * sizeof(TypeParam);
  EmulatedDevice device;
  const Plan plan(options, view);
  const DeviceMemory stream(device, plan.most_bytes()), workspace(device, plan.workspace_bytes());
  Report report{};
  plan.compress(device, view.data, stream.get(), plan.most_bytes(), &report, workspace.get(),
                nullptr);
  Bytes expected;
  compress(view, options,
           [&](ByteView part) { expected.insert(expected.end(), part.begin(), part.end()); });
  EXPECT_EQ(Bytes(stream.get(), stream.get() + report.bytes), expected);
}

TYPED_TEST(Kernels, DecompressRegions) {
  const Shape shape{12, 50, 40};
  const auto values = make_field<TypeParam>(shape, Texture::hostile);
  auto options = options_of("cuszp2-outlier", Bound::abs(0.01));
  options.chunk = {5, 16, 40};
  const Bytes stream = compress(values.data(), shape, options);
  EmulatedDevice device;
  for (const Box& box : {Box{{0, 0, 0}, {1, 1, 1}}, Box{{4, 15, 3}, {3, 20, 30}},
                         Box{{11, 49, 39}, {1, 1, 1}}, Box{{0, 0, 0}, {12, 50, 1}}}) {
    const Array expected = decompress(stream, box);
    Array found(dtype_of<TypeParam>(), box.shape);
    decompress_on(device, stream, found.view(), box.first);
    EXPECT_EQ(std::memcmp(found.data(), expected.data(), size_t(expected.bytes())), 0);
  }
}

// Random-access write: what the host writes into the same stream, twice one after the other.
TYPED_TEST(Kernels, UpdateWholeChunks) {
  const Shape shape{12, 50, 40};
  auto values = make_field<TypeParam>(shape, Texture::hostile);
  auto options = options_of("cuszp2-outlier", Bound::rel(1e-3));
  options.chunk = {5, 16, 40};
  Bytes expected = compress(values.data(), shape, options);
  const Plan plan(inspect(expected).header, View(nullptr, dtype_of<TypeParam>(), shape));
  const auto fresh = make_field<TypeParam>(shape, Texture::smooth, 3);
  const View all = view_of_values(fresh, shape);
  u64 seed = 0;
  for (const Box& box : {Box{{5, 16, 0}, {5, 34, 40}}, Box{{0, 48, 0}, {12, 2, 40}}}) {
    EmulatedDevice device(schedule_of(++seed));
    const View part = all.part(box);
    const size_t before = expected.size(), capacity = before + plan.update_bytes(part);
    const DeviceMemory stream(device, capacity), workspace(device, plan.workspace_bytes());
    std::ranges::copy(expected, stream.get());
    MemoryStore store(expected);
    update(store, box.first, part);
    Report report{};
    plan.update(device, stream.get(), before, nullptr, capacity, box.first, part, &report,
                workspace.get(), nullptr);
    EXPECT_EQ(report.status, kOk);
    EXPECT_EQ(Bytes(stream.get(), stream.get() + report.bytes), expected);
    EXPECT_EQ(report.max_error, inspect(expected).statement.max_error);
    // Too little room: it says how much, and the stream is as it was.
    plan.update(device, stream.get(), before, nullptr, expected.size() - 1, box.first, part,
                &report, workspace.get(), nullptr);
    EXPECT_EQ(report.status, kTooSmall);
    EXPECT_EQ(report.bytes, expected.size());
    // A damaged tail is refused.
    stream.get()[before - 30] ^= 1;
    plan.update(device, stream.get(), before, nullptr, capacity, box.first, part, &report,
                workspace.get(), nullptr);
    EXPECT_EQ(report.status, kCorrupt);
    EXPECT_EQ(report.bytes, before);
  }
  EmulatedDevice device;
  Report report{};
  const DeviceMemory workspace(device, plan.workspace_bytes());
  const DeviceMemory aligned(device, expected.size());
  const Box inner{{5, 16, 0}, {5, 15, 40}};
  EXPECT_THROW(plan.update(device, aligned.get(), expected.size(), nullptr, expected.size(),
                           inner.first, all.part(inner), &report, workspace.get(), nullptr),
               Error);
}

// Values need not begin at a multiple of 16 bytes.
TEST(FastPaths, TakeMemoryAtAnyPlace) {
  const Shape shape{20001};
  const auto values = make_field<float>({20004}, Texture::smooth);
  const auto options = options_of("cuszp2-outlier", Bound::abs(1e-3));
  for (size_t offset = 0; offset < 4; ++offset) {
    const Bytes expected = compress(values.data() + offset, shape, options);
    EmulatedDevice device(schedule_of(offset));
    const Plan plan(options, view_of_values(values, shape));
    const DeviceMemory stream(device, plan.most_bytes()), workspace(device, plan.workspace_bytes()),
        decoded(device, 4 * 20004);
    Report report{};
    plan.compress(device, values.data() + offset, stream.get(), plan.most_bytes(), &report,
                  workspace.get(), nullptr);
    ASSERT_EQ(Bytes(stream.get(), stream.get() + report.bytes), expected);
    const Array right = decompress(expected);
    plan.decompress(device, stream.get(), expected.size(), nullptr, decoded.get<float>() + offset,
                    &report, workspace.get(), nullptr);
    EXPECT_EQ(report.status, kOk);
    EXPECT_EQ(std::memcmp(decoded.get<float>() + offset, right.data(), size_t(right.bytes())), 0);
    EXPECT_LT(device.counts().global_reads, 3 * expected.size());  // that was the fast path
  }
}

// What a value costs of global memory: its own bytes and those of the stream, not much more.
TEST(Traffic, IsThatOfValuesAndStream) {
  const Shape shape{65536};
  const auto values = make_field<float>(shape, Texture::smooth);
  const auto options = options_of("cuszp2-outlier", Bound::abs(0.05));
  EmulatedDevice device;
  const Plan plan(options, view_of_values(values, shape));
  const DeviceMemory stream(device, plan.most_bytes()), workspace(device, plan.workspace_bytes());
  Report report{};
  plan.compress(device, values.data(), stream.get(), plan.most_bytes(), &report, workspace.get(),
                nullptr);
  const double raw = 4 * 65536, made = double(report.bytes);
  ASSERT_GT(raw / made, 7);  // so that the payload fits into the image
  const auto traffic = [&] {
    return double(device.counts().global_reads + device.counts().global_writes);
  };
  EXPECT_LT(traffic(), 1.01 * raw + 1.05 * made);
  std::vector<float> decoded(65536);
  plan.decompress(device, stream.get(), size_t(report.bytes), nullptr, decoded.data(), &report,
                  workspace.get(), nullptr);
  // The payload is read twice: for its checksum, and for its codes.
  EXPECT_LT(traffic(), 1.01 * raw + 2.1 * made);
}

// Small chunks, so that there are many CTAs. LEEWAY_GPU_SEEDS=1000 tries more schedules.
TEST(Schedules, ChangeNothing) {
  const Shape shape{900};
  auto values = make_field<float>(shape, Texture::hostile);
  std::fill(values.begin() + 200, values.begin() + 300, 4.0f);
  auto options = options_of("cuszp2-outlier", Bound::rel(1e-3));
  options.chunk = {70};
  const char* const asked = std::getenv("LEEWAY_GPU_SEEDS");
  const u64 seeds = asked ? std::strtoull(asked, nullptr, 10) : 40;
  for (u64 seed = 0; seed < seeds; ++seed) expect_same(values, shape, options, seed);
}

TEST(Mutants, AreCaught) {
  const Shape shape{900};
  const auto values = make_field<float>(shape, Texture::smooth);
  auto options = options_of("cuszp2-outlier", Bound::abs(1e-3));
  options.chunk = {70};
  const Bytes expected = compress(values.data(), shape, options);
  using emulator::Mutant;
  for (const Mutant mutant :
       {Mutant::no_fence, Mutant::cta_order, Mutant::split_state, Mutant::no_barrier}) {
    bool is_caught = false;
    for (u64 seed = 1; seed < 20 && !is_caught; ++seed) {
      emulator::Options schedule = schedule_of(seed);
      schedule.resident = 4;
      schedule.mutant = mutant;
      EmulatedDevice device(schedule);
      try {
        is_caught = compress_on(device, view_of_values(values, shape), options) != expected;
      } catch (const Error&) {
        is_caught = true;
      }
    }
    EXPECT_TRUE(is_caught) << int(mutant);
  }
}

// Every flipped bit and every truncation is refused, or changes nothing; the emulator sees that no
// access is outside.
TEST(HostileStreams, AreRefused) {
  const Shape shape{150};
  auto values = make_field<float>(shape, Texture::hostile);
  auto options = options_of("cuszp2-outlier", Bound::abs(0.01));
  options.chunk = {70};
  options.fills = {-9999};
  const Bytes stream = compress(values.data(), shape, options);
  const Array expected = decompress(stream);
  const Header header = inspect(stream).header;
  EmulatedDevice device;
  const Plan plan(header, View(nullptr, header.dtype, header.shape));
  const DeviceMemory workspace(device, plan.workspace_bytes());
  const auto attempt = [&](const Bytes& damaged) {
    const DeviceMemory memory(device, damaged.size());
    std::ranges::copy(damaged, memory.get());
    std::vector<float> found(150);
    Report report{};
    plan.decompress(device, memory.get(), damaged.size(), nullptr, found.data(), &report,
                    workspace.get(), nullptr);
    if (report.status == kOk)
      EXPECT_EQ(std::memcmp(found.data(), expected.data(), size_t(expected.bytes())), 0);
    return report.status;
  };
  EXPECT_EQ(attempt(stream), kOk);
  for (size_t size = 8; size < stream.size(); size += 16)
    EXPECT_NE(attempt({stream.begin(), stream.begin() + std::ptrdiff_t(size)}), kOk) << size;
  for (size_t i = 0; i < stream.size(); ++i) {
    Bytes damaged = stream;
    damaged[i] = u8(damaged[i] ^ (1u << i % 8));
    EXPECT_NE(attempt(damaged), kOk) << i;
  }
  // The same behind checksums that fit.
  Parts parts = take_apart(stream);
  for (size_t i = 0; i < parts.frames[0].payload.size(); ++i) {
    Parts damaged = parts;
    damaged.frames[0].payload[i] = u8(damaged.frames[0].payload[i] ^ (1u << i % 8));
    const u32 status = attempt(put_together(damaged));
    EXPECT_TRUE(status == kOk || status == kCorrupt || status == kUnsupported) << i;
  }
}

TEST(Capacity, TooLittleIsSaid) {
  const Shape shape{5000};
  const auto values = make_field<float>(shape, Texture::smooth);
  auto options = options_of("cuszp2-outlier", Bound::abs(1e-3));
  options.chunk = {1000};
  const Bytes expected = compress(values.data(), shape, options);
  EmulatedDevice device;
  const Plan plan(options, view_of_values(values, shape));
  EXPECT_GE(plan.most_bytes(), expected.size());
  const DeviceMemory workspace(device, plan.workspace_bytes());
  for (const size_t capacity : {size_t(0), size_t(64), expected.size() / 2, expected.size() - 16}) {
    const DeviceMemory stream(device, capacity);
    Report report{};
    plan.compress(device, values.data(), stream.get(), capacity, &report, workspace.get(), nullptr);
    EXPECT_EQ(report.status, kTooSmall);
    EXPECT_EQ(report.bytes, expected.size());
  }
}

TEST(Calls, AreOneClearAndOneKernel) {
  const Shape shape{500};
  const auto values = make_field<float>(shape, Texture::smooth);
  for (const bool is_relative : {false, true}) {
    EmulatedDevice device;
    const auto options =
        options_of("cuszp2-plain", is_relative ? Bound::rel(1e-3) : Bound::abs(1e-3));
    const Plan plan(options, view_of_values(values, shape));
    const DeviceMemory stream(device, plan.most_bytes()), workspace(device, plan.workspace_bytes());
    const EmulatedDevice::Calls before = device.calls();
    Report made{}, read{};
    plan.compress(device, values.data(), stream.get(), plan.most_bytes(), &made, workspace.get(),
                  nullptr);
    EXPECT_EQ(device.calls().clears - before.clears, 1u);
    EXPECT_EQ(device.calls().kernels - before.kernels, is_relative ? 2u : 1u);
    std::vector<float> decoded(500);
    plan.decompress(device, stream.get(), 0, &made, decoded.data(), &read, workspace.get(),
                    nullptr);
    EXPECT_EQ(read.status, kOk);
    EXPECT_EQ(device.calls().clears - before.clears, 2u);
    EXPECT_EQ(device.calls().kernels - before.kernels, is_relative ? 4u : 3u);
    EXPECT_EQ(device.calls().allocations, before.allocations);
    EXPECT_EQ(device.calls().copies, before.copies);
  }
}

TEST(Plans, SayWhatADeviceHas) {
  const auto refuses = [](const CompressOptions& options, DType dtype) {
    try {
      Plan(options, View(nullptr, dtype, {100}));
      return std::string();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::unsupported);
      return std::string(error.what());
    }
  };
  const Bound bound = Bound::abs(1);
  EXPECT_NE(refuses(options_of("balanced", bound), DType::f32).find("cuszp2-outlier"),
            std::string::npos);
  EXPECT_NE(refuses(options_of("ceresz", bound), DType::i32), "");
  EXPECT_NE(refuses(options_of("ceresz", Bound::lossless()), DType::f32), "");
  EXPECT_NE(refuses(options_of("linear+blocks:size=64+fixed:block=64", bound), DType::f32), "");
  auto large = options_of("ceresz", bound);
  large.chunk = {100};
  EXPECT_EQ(refuses(large, DType::f32), "");
  EXPECT_THROW(open_device("1000"), Error);
  EXPECT_THROW(open_device("emulate"), Error);
}

// Beyond 2^33 values.
TEST(Layouts, AreNotTooSmallForHugeArrays) {
  Layout layout{};
  layout.rank = 1;
  layout.extents[0] = (u64(1) << 33) + 33;
  layout.strides[0] = 4;
  layout.chunk[0] = kMostChunkValues;
  layout.grid[0] = u32(layout.extents[0] / kMostChunkValues + 1);
  const Chunk last = find_chunk(layout, layout.grid[0] - 1);
  EXPECT_EQ(last.size, 33u);
  EXPECT_EQ(last.offset, u64(1) << 35);
  EXPECT_EQ(last.at(32, 4), (u64(1) << 35) + 128);
  EXPECT_EQ(tail_bytes(layout.grid[0]) % 16, 0u);
}

}  // namespace
}  // namespace leeway::gpu

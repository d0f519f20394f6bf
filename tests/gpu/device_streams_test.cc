// SPDX-License-Identifier: BSD-3-Clause
// Streams on the emulated device: those of every format version, and the end of huge ones.
#include <sys/mman.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "leeway/gpu/container.h"
#include "leeway/gpu/plan.h"
#include "tests/streams.h"
#include "tests/support.h"

namespace leeway::gpu {
namespace {

using namespace leeway::test;

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(in), {});
}

TEST(DeviceStreams, GoldenOnesDecodeToTheirValues) {
  size_t on_device = 0;
  EmulatedDevice device;
  for (const auto& entry : std::filesystem::directory_iterator(LEEWAY_GOLDEN_DIR)) {
    if (entry.path().extension() != ".lwy") continue;
    const Bytes stream = read_file(entry.path());
    const Header header = inspect(stream).header;
    if (!is_device_recipe(header.recipe, header.dtype)) continue;
    auto values = entry.path();
    const Bytes expected = read_file(values.replace_extension(".raw"));
    Array decoded(header.dtype, header.shape);
    Report report{};
    decompress_on(device, stream, decoded.view(), {}, &report);
    on_device += report.bytes > 0 && report.status == kOk;
    EXPECT_EQ(std::memcmp(decoded.data(), expected.data(), expected.size()), 0) << entry.path();
  }
  EXPECT_GE(on_device, 3u);
}

// Memory of which only what is touched exists.
class Sparse {
 public:
  explicit Sparse(u64 bytes)
      : bytes_(size_t(bytes)),
        memory_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~Sparse() {
    if (exists()) munmap(memory_, bytes_);
  }
  Sparse(const Sparse&) = delete;
  bool exists() const { return memory_ != MAP_FAILED; }
  template <class T = u8>
  T* get() const {
    return static_cast<T*>(memory_);
  }

 private:
  size_t bytes_;
  void* memory_;
};

// An array of 2^33 + 33 values of which the kernels do the last three chunks, as if all others were
// done: values, stream and places beyond 2^32.
TEST(DeviceStreams, AreNotTooLong) {
  constexpr u64 kValues = (u64(1) << 33) + 33, kFirst = kValues - 33 - 2 * kMostChunkValues,
                kHeader = 128, kBefore = (u64(1) << 33) + 80;
  constexpr u32 kChunks = u32(kValues / kMostChunkValues) + 1, kDone = kChunks - 3;
  const Sparse values(4 * kValues), stream(kHeader + 2 * kBefore),
      zeros(8 * (kZerosBefore + kChunks)), hashes(8 * kChunks), errors(8 * kChunks),
      rooms(4 * kChunks), special(4 * kChunks), exact(4 * kChunks), offsets(8 * kChunks),
      decoded(4 * kValues);
  if (!values.exists() || !stream.exists() || !decoded.exists()) GTEST_SKIP() << "no room";
  const Shape last{2 * kMostChunkValues + 33};
  const auto field = make_field<float>(last, Texture::smooth);
  std::ranges::copy(field, values.get<float>() + kFirst);
  auto options = CompressOptions();
  options.recipe = "cuszp2-outlier";
  options.bound = Bound::abs(1e-3);
  options.detect_fills = false;
  const Bytes right = compress(field.data(), last, options);
  const auto frames = take_apart(right).frames;

  emulator::Options schedule;
  schedule.watches = false;  // notes for all that memory would be too many
  EmulatedDevice device(schedule);
  Report report{};
  Layout layout{};
  layout.rank = 1;
  layout.extents[0] = kValues;
  layout.strides[0] = 4;
  layout.chunk[0] = kMostChunkValues;
  layout.grid[0] = kChunks;
  double bound[3] = {};
  const Workspace work{
      zeros.get<u64>(),   hashes.get<u64>(), errors.get<double>(), rooms.get<u32>(),
      special.get<u32>(), exact.get<u32>(),  offsets.get<u64>(),   bound};
  CompressArgs args{};
  args.values = values.get();
  args.stream = stream.get();
  args.capacity = kHeader + 2 * kBefore;
  args.report = &report;
  args.work = work;
  args.layout = layout;
  args.chunks = kChunks;
  args.recipe = {1, 1};
  args.abs_bound = inspect(right).header.abs_bound;
  args.header_bytes = kHeader;
  reinterpret_cast<u32*>(work.zeros)[0] = kDone;  // the next ticket
  reinterpret_cast<u32*>(work.zeros)[1] = kDone;  // chunks that are done
  work.zeros[kZerosBefore + kDone - 1] = u64(2) << 62 | kBefore;
  device.compress(args, nullptr);
  EXPECT_EQ(report.status, kOk);
  u64 at = kHeader + kBefore;
  for (u32 k = 0; k < 3; ++k) {
    const Bytes& payload = frames[k].payload;
    EXPECT_EQ(std::memcmp(stream.get() + at + kFrameHead, payload.data(), payload.size()), 0) << k;
    offsets.get<u64>()[kDone + k] = at;
    at += aligned(kFrameHead + payload.size());
  }
  EXPECT_EQ(report.bytes, at + tail_bytes(kChunks));

  DecompressArgs read{};
  read.stream = stream.get();
  read.bytes = report.bytes;
  read.values = reinterpret_cast<u8*>(decoded.get<float>() + kFirst);
  read.report = &report;
  read.work = work;
  read.layout = layout;
  read.chunks = kChunks;
  read.recipe = args.recipe;
  read.is_part = 1;
  read.wanted.first[0] = kFirst;
  read.wanted.extents[0] = last[0];
  read.wanted.first_chunk[0] = kDone;
  read.wanted.chunks[0] = read.wanted.count = 3;
  std::memset(work.zeros, 0, 8 * kZerosBefore);
  work.zeros[kIndexIsWell] = 1;
  work.zeros[kStatementAt] = report.bytes - kTailEnd - kStatement;
  device.decompress(read, nullptr);
  EXPECT_EQ(report.status, kOk);
  const Array expected = decompress(right);
  EXPECT_EQ(std::memcmp(decoded.get<float>() + kFirst, expected.data(), size_t(expected.bytes())),
            0);
}

}  // namespace
}  // namespace leeway::gpu

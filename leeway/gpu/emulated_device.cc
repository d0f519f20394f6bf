// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "leeway/gpu/compress_kernel.h"
#include "leeway/gpu/decompress_kernel.h"
#include "leeway/gpu/device.h"
#include "leeway/gpu/range_kernel.h"

namespace leeway::gpu {
namespace {

using emulator::Launch;
using emulator::Region;

// The bytes from the first to the last value of a box of an array.
Region region_of(const char* name, const u8* origin, const Layout& layout, const u64* extents,
                 bool writable) {
  i64 low = 0, high = layout.is_f64 ? 8 : 4;
  for (u32 axis = 0; axis < layout.rank; ++axis) {
    if (extents[axis] == 0) return {name, origin, 0, writable, !writable};
    const i64 reach = i64(extents[axis] - 1) * layout.strides[axis];
    (reach < 0 ? low : high) += reach;
  }
  return {name, origin + low, size_t(high - low), writable, !writable};
}

void add_workspace(std::vector<Region>& regions, const Workspace& work, u32 chunks,
                   bool offsets_are_known) {
  const auto add = [&](const char* name, const void* begin, size_t bytes, bool is_written = false) {
    regions.push_back({name, begin, bytes, true, is_written});
  };
  add("zeros", work.zeros, 8 * (kZerosBefore + size_t(chunks)), true);
  add("hashes", work.hashes, 8 * size_t(chunks));
  add("errors", work.errors, 8 * size_t(chunks));
  add("rooms", work.rooms, 4 * size_t(chunks));
  add("special", work.special, 4 * size_t(chunks));
  add("exact", work.exact, 4 * size_t(chunks));
  add("offsets", work.offsets, 8 * size_t(chunks), offsets_are_known);
}

std::vector<Region> regions_of(const CompressArgs& args, bool bound_is_known) {
  std::vector<Region> regions{
      region_of("values", args.values, args.layout, args.layout.extents, false),
      {"stream", args.stream, size_t(args.capacity), true, false},
      {"report", args.report, sizeof(Report), true, false},
      {"bound", args.work.bound, 24, true, bound_is_known}};
  add_workspace(regions, args.work, args.chunks, false);
  return regions;
}
std::vector<Region> regions_of(const DecompressArgs& args, bool offsets_are_known) {
  const u64 bytes = args.bytes ? args.bytes : args.made->bytes;
  std::vector<Region> regions{region_of("values", args.values, args.layout, args.part, true),
                              {"stream", args.stream, size_t(bytes), false, true},
                              {"report", args.report, sizeof(Report), true, false}};
  if (args.made) regions.push_back({"made", args.made, sizeof(Report), false, true});
  add_workspace(regions, args.work, args.chunks, offsets_are_known);
  return regions;
}

// Of the two kernels for f32 and f64.
template <class Args>
std::string name_of(const std::string& kernel, const Args& args) {
  return kernel + (args.layout.is_f64 ? "_f64" : "_f32");
}

}  // namespace

void EmulatedDevice::run(const Kernel&, const Launch& launch,
                         const std::function<void(void*)>& body) {
  ++calls_.kernels;
  counts_ = emulator::run(launch, options_, body);
}

void EmulatedDevice::clear(void* memory, std::size_t bytes, void*) {
  ++calls_.clears;
  std::memset(memory, 0, bytes);
}

void EmulatedDevice::find_range(const CompressArgs& args, void*) {
  run({name_of("leeway_range", args), &args, sizeof args},
      {std::clamp(args.chunks, 1u, 4u), kThreads, sizeof(RangeShared), regions_of(args, false)},
      [&](void* memory) {
        RangeShared& s = *static_cast<RangeShared*>(memory);
        args.layout.is_f64 ? gpu::find_range<double>(args, s) : gpu::find_range<float>(args, s);
      });
}

void EmulatedDevice::compress(const CompressArgs& args, void*) {
  run({name_of("leeway_compress", args), &args, sizeof args},
      {std::clamp(args.chunks, 1u, 4 * options_.resident), kThreads, sizeof(CompressShared),
       regions_of(args, true)},
      [&](void* memory) {
        CompressShared& s = *static_cast<CompressShared*>(memory);
        args.layout.is_f64 ? gpu::compress<double>(args, s) : gpu::compress<float>(args, s);
      });
}

void EmulatedDevice::find_frames(const DecompressArgs& args, void*) {
  run({"leeway_find_frames", &args, sizeof args},
      {1, kThreads, sizeof(FindShared), regions_of(args, false)},
      [&](void* memory) { FrameFinder(args, *static_cast<FindShared*>(memory)).run(); });
}

void EmulatedDevice::decompress(const DecompressArgs& args, void*) {
  run({name_of("leeway_decompress", args), &args, sizeof args},
      {std::clamp(args.wanted_chunks, 1u, 4 * options_.resident), kThreads,
       sizeof(DecompressShared), regions_of(args, true)},
      [&](void* memory) {
        DecompressShared& s = *static_cast<DecompressShared*>(memory);
        args.layout.is_f64 ? gpu::decompress<double>(args, s) : gpu::decompress<float>(args, s);
      });
}

// Fresh memory of a GPU holds anything.
void* EmulatedDevice::allocate(std::size_t bytes) {
  ++calls_.allocations;
  constexpr std::size_t kAlignment = 256;
  void* const memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) & ~(kAlignment - 1));
  if (!memory) throw std::bad_alloc();
  std::memset(memory, 0xcd, bytes);
  return memory;
}
void EmulatedDevice::release(void* memory) { std::free(memory); }
void EmulatedDevice::copy(void* to, const void* from, std::size_t bytes, void*) {
  ++calls_.copies;
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace leeway::gpu

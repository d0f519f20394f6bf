// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a stream, for everything that reads streams: the whole array, regions, previews,
// salvage, update and inspection, by the library and by the C interface. Only leeway::Error may
// come out. mutate.cc makes streams whose checksums are right.
#include <vector>

#include "leeway/leeway.h"
#include "leeway/leeway.hpp"

namespace leeway {
namespace {

constexpr u64 kMostValues = u64(1) << 20;  // large is no crime
constexpr u64 kMostChunks = 1024;

template <class F>
void try_to(F&& f) {
  try {
    f();
  } catch (const Error&) {
  }
}

// The middle of the array, half as long along every axis.
Box middle_of(const Shape& shape) {
  Box box;
  std::array<u64, kMaxRank> extents{};
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    box.first[axis] = shape[axis] / 4;
    extents[axis] = (shape[axis] + 1) / 2;
  }
  box.shape = Shape(std::span<const u64>(extents).first(shape.rank()));
  return box;
}

void read_with_library(ByteView stream, const Box& middle, unsigned threads) {
  DecompressOptions options;
  options.execution.threads = threads;
  try_to([&] { decompress(stream, options); });
  options.check_decoded = false;
  try_to([&] { decompress(stream, options); });
  try_to([&] { decompress(stream, middle, options); });
  for (const unsigned level : {1u, 3u}) try_to([&] { preview(stream, level, options); });
}

void change(ByteView stream, const Box& middle, DType dtype) {
  Bytes copy(stream.begin(), stream.end());
  MemoryStore store(copy);
  std::vector<u64> values(size_t(middle.shape.size()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = stream[i % stream.size()];
  const View view(reinterpret_cast<const std::byte*>(values.data()), dtype, middle.shape);
  for (int times = 0; times < 2; ++times) try_to([&] { update(store, middle.first, view, {}); });
  try_to([&] { decompress(copy); });
}

void read_with_c(ByteView stream, const Box& middle, DType dtype) {
  leeway_context* const context = leeway_create();
  leeway_info info;
  leeway_inspect(context, stream.data(), stream.size(), &info);
  const auto array_of = [&](std::vector<u64>& memory, const u64* shape, size_t rank) {
    u64 values = 1;
    for (size_t axis = 0; axis < rank; ++axis) values *= shape[axis];
    memory.resize(size_t(values));
    return leeway_array{memory.data(), int(dtype), int(rank), shape, nullptr};
  };
  std::vector<u64> memory;
  const auto rank = size_t(info.rank);
  const leeway_array whole = array_of(memory, info.shape, rank);
  leeway_decompress(context, stream.data(), stream.size(), &whole);
  const leeway_array part = array_of(memory, middle.shape.extents().data(), rank);
  leeway_decompress_region(context, stream.data(), stream.size(), middle.first.data(), &part);
  u64 coarse[LEEWAY_MAX_RANK] = {};
  leeway_preview_shape(context, stream.data(), stream.size(), 2, coarse);
  const leeway_array preview = array_of(memory, coarse, rank);
  leeway_decompress_preview(context, stream.data(), stream.size(), 2, &preview);
  leeway_destroy(context);
}

void salvage_from(ByteView stream) {
  try_to([&] {
    const MemorySource source(stream);
    const StreamReader reader(source, StreamReader::OnDamage::salvage);
    if (reader.header().shape.size() > kMostValues || reader.chunks() > kMostChunks) return;
    DecompressOptions options;
    options.salvage = true;
    decompress(stream, options);
  });
}

}  // namespace
}  // namespace leeway

extern "C" int LLVMFuzzerTestOneInput(const leeway::u8* data, size_t size) {
  using namespace leeway;
  const ByteView stream(data, size);
  salvage_from(stream);
  try_to([&] {
    const Info info = inspect(stream);
    if (info.header.shape.size() > kMostValues || info.chunks > kMostChunks) return;
    const Box middle = middle_of(info.header.shape);
    read_with_library(stream, middle, size % 16 == 0 ? 3 : 1);
    change(stream, middle, info.header.dtype);
    read_with_c(stream, middle, info.header.dtype);
  });
  return 0;
}

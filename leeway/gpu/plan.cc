// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/gpu/plan.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "leeway/engine/fills.h"
#include "leeway/engine/header.h"
#include "leeway/library_codec.h"
#include "leeway/recipe/stage_call.h"

namespace leeway::gpu {
namespace {

[[noreturn]] void fail_unsupported(const std::string& what) {
  throw Error(Errc::unsupported, what + "; a GPU has " + device_recipes() +
                                     ", for f32 and f64, with absolute and relative bounds");
}

// `linear+blocks+fixed` with blocks of 32 in one axis.
bool read_recipe(const std::string& text, Recipe& recipe) {
  const leeway::Recipe stages = parse_recipe(text);
  if (!stages.others.empty() || stages.stages.size() != 3) return false;
  const auto find = [&]<class S>(size_t place, S& stage) {
    if (stages.stages[place].name != S::kName) return false;
    stage = configured<S>(stages.stages[place].params);
    return true;
  };
  Linear linear;
  Blocks blocks;
  Fixed fixed;
  if (!find(0, linear) || !find(1, blocks) || !find(2, fixed)) return false;
  recipe = {u32(fixed.params.outlier), u32(fixed.params.head)};
  const bool is_plain_linear = linear.params.step == StepRule::eight_bits &&
                               linear.params.bins == 0 && linear.params.beyond == Beyond::exact &&
                               linear.params.second == 1;
  return is_plain_linear && blocks.params.axes == 1 && blocks.params.size == 32 &&
         fixed.params.block == 32;
}

// Calls f(tag, where the field begins, where its content begins, size of the content).
template <class F>
void for_each_field(ByteView header, F&& f) {
  const size_t end = header.size() - sizeof(u64);
  for (size_t at = kPreambleBytes; at + 8 <= end;) {
    Reader in(header.subspan(at));
    const u16 tag = in.get<u16>();
    if (tag == 0) return;
    in.get<u16>();
    const auto size = size_t(in.get<u32>());
    f(tag & 0x7fff, at, at + 8, size);
    at += 8 + size;
  }
}

size_t up(size_t bytes) { return size_t(aligned(bytes)); }

}  // namespace

std::string device_recipes() { return "cuszp2-outlier, cuszp2-plain and ceresz"; }

bool is_device_recipe(const std::string& recipe, DType dtype) {
  Recipe ignored;
  return (dtype == DType::f32 || dtype == DType::f64) && read_recipe(recipe, ignored);
}

Plan::Plan(const CompressOptions& options, const View& like) {
  if (like.dtype != DType::f32 && like.dtype != DType::f64)
    fail_unsupported("values of type " + std::string(name_of(like.dtype)));
  if (options.has_regions() || options.earlier || options.keeps_all || options.rms > 0)
    fail_unsupported("bounds of regions, and streams that continue others");
  if (options.brief || options.growing || options.grows)
    fail_unsupported("brief and growing streams");
  abs_bound_ = std::numeric_limits<double>::infinity();
  for (const Limit& limit : options.bound.limits()) {
    if (limit.kind == BoundKind::abs)
      abs_bound_ = std::min(abs_bound_, limit.value);
    else if (limit.kind == BoundKind::rel && rel_bound_ == 0)
      rel_bound_ = limit.value;
    else if (limit.kind == BoundKind::rel)
      rel_bound_ = std::min(rel_bound_, limit.value);
    else
      fail_unsupported("a bound of the kind " + std::string(name_of(limit.kind)));
  }
  const LibraryCodec made = library_codec_for_parts(options, like.dtype);
  const View shape_only(nullptr, like.dtype, like.shape);
  header_ = checked_header(*made.codec, made.recipe, shape_only, options);
  header_.fills = declared_fills(options, like.dtype);
  if (rel_bound_ == 0) header_.abs_bound = abs_bound_ = usable_bound(abs_bound_);
  set_up(like);
}

Plan::Plan(const Header& header, const View& like) : header_(header) {
  if (like.dtype != header.dtype || like.shape != header.shape)
    fail_argument("the memory given is not for the array of the stream");
  set_up(like);
}

void Plan::set_up(const View& like) {
  if (!is_device_recipe(header_.recipe, header_.dtype) || !read_recipe(header_.recipe, recipe_))
    fail_unsupported("the recipe " + header_.recipe);
  if (header_.chunk.size() > kMostChunkValues)
    fail_unsupported("chunks of " + to_string(header_.chunk) + ", more than 32768 values");
  if (header_.is_growing) fail_unsupported("growing streams");
  if (header_.fills.size() > kMostFills) fail_unsupported("more than 16 fill values");
  const Shape grid = header_.grid();
  if (grid.size() >= kNoChunk) fail_unsupported("2^32 chunks or more");
  chunks_ = u32(grid.size());
  layout_.rank = u32(like.shape.rank());
  layout_.is_f64 = header_.dtype == DType::f64;
  for (size_t axis = 0; axis < like.shape.rank(); ++axis) {
    layout_.extents[axis] = like.shape[axis];
    layout_.strides[axis] = like.strides[axis];
    layout_.chunk[axis] = u32(header_.chunk[axis]);
    layout_.grid[axis] = u32(grid[axis]);
  }
  Writer header;
  write(header_, header);
  if (header.size() > kMostHeaderBytes) fail_unsupported("a header of so many bytes");
  header_bytes_.assign(header.bytes().begin(), header.bytes().end());
  for_each_field(header_bytes_, [&](int number, size_t begin, size_t content, size_t size) {
    if (number == 4) resolved_at_ = u32(content);
    if (number > 2 && number != 5) return;
    const u8 head[8] = {u8(number), 0, 0, 0, u8(size), u8(size >> 8), 0, 0};
    expected_.insert(expected_.end(), std::begin(head), std::end(head));
    const auto from = header_bytes_.begin() + std::ptrdiff_t(begin + 8);
    expected_.insert(expected_.end(), from, from + std::ptrdiff_t(size));
  });
}

std::size_t Plan::workspace_bytes() const {
  const size_t chunks = chunks_;
  return up(zeros_bytes()) + 3 * up(8 * chunks) + 3 * up(4 * chunks) + up(24);
}

std::size_t Plan::most_bytes() const {
  const size_t raw = size_t(header_.shape.size()) * size_of(header_.dtype);
  return header_bytes_.size() + raw + chunks_ * size_t(frame_bytes(1) + kAlignment) +
         size_t(aligned(4 * u64(chunks_))) + 96;
}

Workspace Plan::workspace_at(void* memory) const {
  u8* at = static_cast<u8*>(memory);
  const auto take = [&](size_t bytes) { return std::exchange(at, at + up(bytes)); };
  Workspace work;
  const size_t chunks = chunks_;
  work.zeros = reinterpret_cast<u64*>(take(zeros_bytes()));
  work.hashes = reinterpret_cast<u64*>(take(8 * chunks));
  work.errors = reinterpret_cast<double*>(take(8 * chunks));
  work.offsets = reinterpret_cast<u64*>(take(8 * chunks));
  work.rooms = reinterpret_cast<u32*>(take(4 * chunks));
  work.special = reinterpret_cast<u32*>(take(4 * chunks));
  work.exact = reinterpret_cast<u32*>(take(4 * chunks));
  work.bound = reinterpret_cast<double*>(take(24));
  return work;
}

namespace {

void check_alignment(const void* memory) {
  if (reinterpret_cast<std::uintptr_t>(memory) % kAlignment != 0)
    fail_argument("streams and workspaces on a GPU begin at multiples of 16 bytes");
}
void check_values(const void* values, DType dtype) {
  if (reinterpret_cast<std::uintptr_t>(values) % size_of(dtype) != 0)
    fail_argument("the values are not aligned to their size");
}

}  // namespace

CompressArgs Plan::compress_args(void* stream, std::size_t capacity, Report* report,
                                 void* workspace) const {
  check_alignment(stream);
  check_alignment(workspace);
  CompressArgs args{};
  args.stream = static_cast<u8*>(stream);
  args.capacity = capacity;
  args.report = report;
  args.work = workspace_at(workspace);
  args.layout = layout_;
  args.chunks = chunks_;
  args.recipe = recipe_;
  args.abs_bound = abs_bound_;
  args.rel_bound = rel_bound_;
  args.fills = u32(header_.fills.size());
  std::ranges::copy(header_.fills, args.fill);
  args.header_bytes = u32(header_bytes_.size());
  args.resolved_at = resolved_at_;
  std::ranges::copy(header_bytes_, args.header);
  return args;
}

void Plan::compress(Device& device, const void* values, void* stream, std::size_t capacity,
                    Report* report, void* workspace, void* queue) const {
  check_values(values, header_.dtype);
  CompressArgs args = compress_args(stream, capacity, report, workspace);
  args.values = static_cast<const u8*>(values);
  device.clear(args.work.zeros, zeros_bytes(), queue);
  if (rel_bound_ > 0) device.find_range(args, queue);
  device.compress(args, queue);
}

DecompressArgs Plan::decompress_args(const void* stream, std::size_t bytes, const Report* made,
                                     Report* report, void* workspace) const {
  check_alignment(stream);
  check_alignment(workspace);
  if (bytes == 0 && !made) fail_argument("neither the size of the stream nor its report is given");
  DecompressArgs args{};
  args.stream = static_cast<const u8*>(stream);
  args.bytes = bytes;
  args.made = made;
  args.report = report;
  args.work = workspace_at(workspace);
  args.layout = layout_;
  args.chunks = chunks_;
  args.recipe = recipe_;
  args.expected_bytes = u32(expected_.size());
  std::ranges::copy(expected_, args.expected);
  return args;
}

void Plan::start(Device& device, const DecompressArgs& args, void* queue) const {
  device.clear(args.work.zeros, zeros_bytes(), queue);
  device.find_frames(args, queue);
  device.decompress(args, queue);
}

void Plan::decompress(Device& device, const void* stream, std::size_t bytes, const Report* made,
                      void* values, Report* report, void* workspace, void* queue) const {
  check_values(values, header_.dtype);
  DecompressArgs args = decompress_args(stream, bytes, made, report, workspace);
  args.values = static_cast<u8*>(values);
  args.wanted = wanted_of({}, View(nullptr, header_.dtype, header_.shape));
  start(device, args, queue);
}

Wanted Plan::wanted_of(const Index& first, const View& part) const {
  const Box box{first, part.shape};
  if (part.dtype != header_.dtype || part.shape.rank() != header_.shape.rank() ||
      !contains(header_.shape, box))
    fail_argument("the region is not in the array");
  const Box chunks = touched_chunks(header_, box);
  Wanted wanted{};
  wanted.count = u32(chunks.shape.size());
  for (u32 axis = 0; axis < layout_.rank; ++axis) {
    wanted.first[axis] = first[axis];
    wanted.extents[axis] = part.shape[axis];
    wanted.first_chunk[axis] = u32(chunks.first[axis]);
    wanted.chunks[axis] = u32(chunks.shape[axis]);
  }
  return wanted;
}

void Plan::decompress_region(Device& device, const void* stream, std::size_t bytes,
                             const Report* made, const Index& first, const View& part,
                             Report* report, void* workspace, void* queue) const {
  const Wanted wanted = wanted_of(first, part);
  check_values(part.data, header_.dtype);
  DecompressArgs args = decompress_args(stream, bytes, made, report, workspace);
  args.values = reinterpret_cast<u8*>(const_cast<std::byte*>(part.data));
  args.is_part = 1;
  args.wanted = wanted;
  for (u32 axis = 0; axis < layout_.rank; ++axis) args.layout.strides[axis] = part.strides[axis];
  start(device, args, queue);
}

std::size_t Plan::update_bytes(const View& part) const {
  return size_t(part.shape.size()) * size_of(header_.dtype) +
         size_t(wanted_of({}, part).count) * size_t(frame_bytes(1) + kAlignment) +
         size_t(aligned(4 * u64(chunks_))) + 16 * size_t(chunks_) + 96;
}

void Plan::update(Device& device, void* stream, std::size_t bytes, const Report* made,
                  std::size_t capacity, const Index& first, const View& part, Report* report,
                  void* workspace, void* queue) const {
  if (header_.bound.needs_measurement() || !header_.promises.empty())
    fail_unsupported("updates of streams whose bound belongs to the whole array");
  const Wanted wanted = wanted_of(first, part);
  const u8* origin = reinterpret_cast<const u8*>(part.data);
  check_values(origin, header_.dtype);
  UpdateArgs args{compress_args(stream, capacity, report, workspace), bytes, made, wanted};
  for (u32 axis = 0; axis < layout_.rank; ++axis) {
    const u64 end = wanted.first[axis] + wanted.extents[axis];
    if (wanted.first[axis] % layout_.chunk[axis] != 0 ||
        (end % layout_.chunk[axis] != 0 && end != layout_.extents[axis]))
      fail_unsupported("updates of parts of chunks (they are of " + to_string(header_.chunk) + ")");
    args.compress.layout.strides[axis] = part.strides[axis];
    origin -= std::ptrdiff_t(wanted.first[axis]) * part.strides[axis];
  }
  args.compress.values = origin;
  const DecompressArgs find = decompress_args(stream, bytes, made, report, workspace);
  device.clear(args.compress.work.zeros, zeros_bytes(), queue);
  device.find_frames(find, queue);
  device.update(args, queue);
}

}  // namespace leeway::gpu

// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/stream/joined.h"

#include <algorithm>

namespace leeway {
namespace {

Shape with_extent(const Shape& shape, size_t axis, u64 extent) {
  std::array<u64, kMaxRank> extents{};
  std::ranges::copy(shape.extents(), extents.begin());
  extents[axis] = extent;
  return Shape(std::span<const u64>(extents).first(shape.rank()));
}

// The chunk of parts whose only chunk is shorter than the others'.
u64 longest_chunk(std::span<const StreamReader* const> parts, size_t axis) {
  u64 longest = 0;
  for (const StreamReader* part : parts) longest = std::max(longest, part->header().chunk[axis]);
  return longest;
}

void check_part(const Header& whole, const Header& part, size_t axis, bool is_last,
                const std::string& name) {
  const u64 extent = part.shape[axis], chunk = whole.chunk[axis];
  if (part.dtype != whole.dtype || part.shape.rank() != whole.shape.rank())
    fail_argument(name + " has another element type or number of axes than the first one");
  if (with_extent(part.shape, axis, 0) != with_extent(whole.shape, axis, 0))
    fail_argument(name + " is " + to_string(part.shape) + ": only axis " + std::to_string(axis) +
                  " may have another extent than in the first one");
  if (part.recipe != whole.recipe) fail_argument(name + " has another recipe than the first one");
  if (!part.regions.empty())
    fail_argument(name + " has regions with bounds of their own, which cannot be joined");
  const bool is_short = is_last && part.chunk[axis] == extent;
  if (part.chunk != (is_short ? with_extent(whole.chunk, axis, part.chunk[axis]) : whole.chunk))
    fail_argument(name + " has chunks of " + to_string(part.chunk) + ", not of " +
                  to_string(whole.chunk));
  if (!is_last && extent % chunk != 0)
    fail_argument(name + " ends inside a chunk: along axis " + std::to_string(axis) + " it has " +
                  std::to_string(extent) + " values, and chunks have " + std::to_string(chunk));
}

// Whether parts that keep these limits make a whole that does. Squares add up, and a size is that
// of one stream; the others hold for every value, or refer to a range that is at least as large.
bool adds_up(const Bound& bound) { return !bound.has(BoundKind::l2) && !bound.wants_size(); }

Header joined_header(std::span<const StreamReader* const> parts, size_t axis) {
  if (parts.empty()) fail_argument("there is nothing to join");
  Header whole = parts.front()->header();
  if (axis >= whole.shape.rank())
    fail_argument("the arrays have " + std::to_string(whole.shape.rank()) +
                  " axes, and there is no axis " + std::to_string(axis));
  whole.is_growing = false;
  whole.variable.clear(), whole.promises.clear();  // means of a part say nothing of the whole
  whole.chunk = with_extent(whole.chunk, axis, longest_chunk(parts, axis));
  u64 extent = 0;
  bool alike = adds_up(whole.bound);
  for (size_t i = 0; i < parts.size(); ++i) {
    const Header& part = parts[i]->header();
    check_part(whole, part, axis, i + 1 == parts.size(), "part " + std::to_string(i + 1));
    extent += part.shape[axis];
    alike &= part.bound.limits() == whole.bound.limits();
    whole.abs_bound = std::max(whole.abs_bound, part.abs_bound);
    whole.min = std::min(whole.min, part.min);
    whole.max = std::max(whole.max, part.max);
    for (const u64 fill : part.fills)
      if (std::ranges::find(whole.fills, fill) == whole.fills.end()) whole.fills.push_back(fill);
  }
  if (whole.fills.size() > kMostFills) fail_argument("the parts have too many fill values");
  if (!alike) {
    if (whole.bound.has(BoundKind::pointwise))
      fail_argument("the parts have different pointwise bounds");
    whole.bound = whole.abs_bound > 0 ? Bound::abs(whole.abs_bound) : Bound::lossless();
  }
  whole.shape = with_extent(whole.shape, axis, extent);
  return whole;
}

}  // namespace

void join(std::span<const StreamReader* const> parts, size_t axis,
          const std::function<void(ByteView)>& sink) {
  const Header whole = joined_header(parts, axis);
  Writer out;
  write(whole, out);
  sink(out.bytes());
  const Shape grid = whole.grid();
  std::vector<u64> first_chunk;  // of every part, along the axis
  u64 count = 0;
  for (const StreamReader* part : parts) {
    first_chunk.push_back(count);
    count += part->header().grid()[axis];
    part->check_statement();
  }
  u64 inner = 1;  // chunks of one index along the axis
  for (size_t i = axis + 1; i < grid.rank(); ++i) inner *= grid[i];
  Tail tail;
  StatementMaker statement;
  Bytes storage;
  for (u64 ordinal = 0; ordinal < grid.size(); ++ordinal) {
    const u64 along = ordinal / inner % grid[axis], outer = ordinal / inner / grid[axis];
    const size_t which =
        size_t(std::ranges::upper_bound(first_chunk, along) - first_chunk.begin()) - 1;
    const StreamReader& part = *parts[which];
    StreamReader::Chunk chunk = part.read_chunk(
        (outer * part.header().grid()[axis] + along - first_chunk[which]) * inner + ordinal % inner,
        storage);
    chunk.head.ordinal = ordinal;
    Writer frame;
    frame.extend(kFrameHeadBytes);
    frame.put_bytes(chunk.payload);
    finish_frame(chunk.head, 0, frame);
    sink(frame.bytes());
    tail.rooms.push_back(chunk.head.payload_bytes);
    statement.add(chunk.head);
  }
  tail.statement = statement.statement();
  Writer last;
  write(tail, last);
  sink(last.bytes());
}

}  // namespace leeway

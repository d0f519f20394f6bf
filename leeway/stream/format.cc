// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/stream/format.h"

#include <algorithm>
#include <limits>

#include "leeway/base/environment.h"
#include "leeway/stream/brief.h"
#include "leeway/stream/fields.h"

namespace leeway {
namespace {

// As in PNG: not mistaken for text, and damaged visibly by converted line ends or a lost high bit.
constexpr std::array<u8, 8> kMagic = {0x89, 'L', 'W', 'Y', '\r', '\n', 0x1a, '\n'};
constexpr std::array<u8, 4> kFrameMagic = {'L', 'W', 'Y', 'c'};

// Tags of the header's fields. A reader skips tags it does not know, unless they are critical.
enum class Tag : u16 {
  field = 1,
  chunk = 2,
  bound = 3,
  resolved = 4,
  recipe = 5,
  fills = 6,
  regions = 7,
  growing = 8,
  promises = 9
};
constexpr u16 kCritical = 0x8000;

template <class F>
void put_field(Writer& out, Tag tag, F&& write_content, u16 critical = kCritical) {
  Writer content;
  write_content(content);
  out.put(u16(u16(tag) | critical));
  out.put(u16(0));
  out.put(u32(content.size()));
  out.put_bytes(content.bytes());
}

void put_extents(Writer& out, const Shape& shape) {
  out.put(u8(shape.rank()));
  out.put_array(shape.extents());
}

Shape get_extents(Reader& in) {
  std::array<u64, kMaxRank> extents;
  const u8 rank = in.get<u8>();
  if (rank > kMaxRank) fail_corrupt("too many axes");
  in.get_array(std::span(extents).first(rank));
  try {
    return Shape(std::span<const u64>(extents).first(rank));
  } catch (const Error&) {
    fail_corrupt("impossible shape");
  }
}

RegionBound get_region(Reader& in) {
  RegionBound region;
  region.box.shape = get_extents(in);
  in.get_array(std::span(region.box.first.data(), region.box.shape.rank()));
  region.bound = get_nonnegative(in);
  return region;
}

void put_text(Writer& out, const std::string& text) {
  out.put_varint(text.size());
  out.put_array(std::span<const char>(text));
}
std::string get_text(Reader& in) {
  const u64 size = in.get_varint();
  if (size > kMostPromiseText) fail_corrupt("a text is too long");
  const ByteView text = in.take(size_t(size));
  return {text.begin(), text.end()};
}

void get_promises(Reader& in, Header& header) {
  header.variable = get_text(in);
  while (in.remaining() > 0) {
    StatedPromise& promise = header.promises.emplace_back();
    promise.text = get_text(in);
    promise.bound = get_nonnegative(in);
    promise.reached = get_nonnegative(in);
    if (promise.reached > promise.bound) fail_corrupt("a promise that is not kept");
  }
  if (header.promises.empty() || header.promises.size() > kMostPromises)
    fail_corrupt("no promises, or too many");
}

void get_field(Tag tag, Reader& in, Header& header) {
  switch (tag) {
    case Tag::field:
      header.dtype = checked_dtype(in.get<u8>());
      header.shape = get_extents(in);
      break;
    case Tag::chunk:
      header.chunk = get_extents(in);
      break;
    case Tag::bound:
      header.bound = get_bound(in);
      break;
    case Tag::resolved:
      header.abs_bound = get_nonnegative(in);
      header.min = get_finite(in);
      header.max = get_finite(in);
      break;
    case Tag::recipe: {
      const ByteView text = in.rest();
      if (text.size() == 1)
        header.recipe = numbered_recipe(text.front());
      else
        header.recipe.assign(text.begin(), text.end());
      break;
    }
    case Tag::fills:
      while (in.remaining() > 0) header.fills.push_back(in.get<u64>());
      break;
    case Tag::regions:
      while (in.remaining() > 0) header.regions.push_back(get_region(in));
      break;
    case Tag::growing:
      if (in.get<u8>() != 0) fail_corrupt("arrays grow along their first axis");
      header.is_growing = true;
      break;
    case Tag::promises:
      get_promises(in, header);
      break;
  }
  in.expect_end();
}

void check(const Header& header) {
  if (header.chunk.rank() != header.shape.rank()) fail_corrupt("chunk and array differ in rank");
  if (header.is_growing && (header.shape.rank() == 0 || header.shape[0] != 0))
    fail_corrupt("the header states how far a growing array reaches");
  for (size_t axis = 0; axis < header.shape.rank(); ++axis)
    if (header.chunk[axis] < 1 || (header.chunk[axis] > std::max<u64>(header.shape[axis], 1) &&
                                   !(axis == 0 && header.is_growing)))
      fail_corrupt("impossible chunk shape");
  if (header.chunk.size() > kMaxChunkValues) fail_corrupt("chunks are too large");
  if (header.recipe.empty()) fail_corrupt("no recipe");
  if (header.fills.size() > kMostFills) fail_corrupt("too many fill values");
  for (const RegionBound& region : header.regions)
    if (region.box.shape.rank() != header.shape.rank() || !contains(header.shape, region.box))
      fail_corrupt("a region outside the array");
  if (regions_overlap_too_much(header)) fail_corrupt("the regions overlap too much");
}

}  // namespace

Shape Header::grid() const {
  std::array<u64, kMaxRank> counts;
  for (size_t axis = 0; axis < shape.rank(); ++axis)
    counts[axis] = shape[axis] / chunk[axis] + (shape[axis] % chunk[axis] > 0);
  return Shape(std::span<const u64>(counts).first(shape.rank()));
}

Box Header::chunk_box(u64 ordinal) const {
  const Shape counts = grid();
  Box box;
  std::array<u64, kMaxRank> extents;
  for (size_t axis = shape.rank(); axis-- > 0; ordinal /= counts[axis]) {
    box.first[axis] = ordinal % counts[axis] * chunk[axis];
    extents[axis] = std::min(chunk[axis], shape[axis] - box.first[axis]);
  }
  box.shape = Shape(std::span<const u64>(extents).first(shape.rank()));
  return box;
}

Box touched_chunks(const Header& header, const Box& box) {
  Box touched;
  std::array<u64, kMaxRank> counts{};
  for (size_t axis = 0; axis < header.shape.rank(); ++axis) {
    touched.first[axis] = box.first[axis] / header.chunk[axis];
    if (box.shape.size() > 0)
      counts[axis] =
          (box.first[axis] + box.shape[axis] - 1) / header.chunk[axis] - touched.first[axis] + 1;
  }
  touched.shape = Shape(std::span<const u64>(counts).first(header.shape.rank()));
  return touched;
}

bool regions_overlap_too_much(const Header& header) {
  const double most = 0x1p24 + 64.0 * double(header.shape.size());
  double values = 0;
  for (const RegionBound& region : header.regions) values += double(region.box.shape.size());
  return values > most;
}

std::vector<double> smallest_bounds(const Header& header) {
  std::vector<double> bounds(size_t(header.grid().size()), std::numeric_limits<double>::infinity());
  for (const RegionBound& region : header.regions)
    for_each_chunk_of(header, region.box, [&](u64 ordinal) {
      double& bound = bounds[size_t(ordinal)];
      bound = std::min(bound, region.bound);
    });
  return bounds;
}

void write(const Header& header, Writer& out) {
  Writer body;
  Header stored;
  stored.shape = header.shape;
  if (header.is_growing) set_extent(stored, 0);
  put_field(body, Tag::field, [&](Writer& content) {
    content.put(header.dtype);
    put_extents(content, stored.shape);
  });
  put_field(body, Tag::chunk, [&](Writer& content) { put_extents(content, header.chunk); });
  put_field(body, Tag::bound, [&](Writer& content) { put_bound(header.bound, content); });
  put_field(body, Tag::resolved, [&](Writer& content) {
    for (const double value : {header.abs_bound, header.min, header.max}) content.put(value);
  });
  put_field(body, Tag::recipe, [&](Writer& content) {
    const auto number = number_of(header.recipe);
    if (number && header.recipe.find('|') != std::string::npos)
      content.put(*number);
    else
      content.put_array(std::span<const char>(header.recipe));
  });
  if (!header.fills.empty())
    put_field(body, Tag::fills,
              [&](Writer& content) { content.put_array(std::span(header.fills)); });
  if (!header.regions.empty())
    put_field(body, Tag::regions, [&](Writer& content) {
      for (const RegionBound& region : header.regions) {
        put_extents(content, region.box.shape);
        content.put_array(std::span<const u64>(region.box.first.data(), region.box.shape.rank()));
        content.put(region.bound);
      }
    });
  if (header.is_growing) put_field(body, Tag::growing, [](Writer& content) { content.put(u8(0)); });
  // Readers that do not know promises still decode the values.
  if (!header.promises.empty())
    put_field(
        body, Tag::promises,
        [&](Writer& content) {
          put_text(content, header.variable);
          for (const StatedPromise& promise : header.promises) {
            put_text(content, promise.text);
            content.put(promise.bound);
            content.put(promise.reached);
          }
        },
        0);

  constexpr u64 kAround = kPreambleBytes + sizeof(u64);
  put_zeros(body, aligned(kAround + body.size()) - kAround - body.size());
  Writer all;
  all.put(kMagic);
  all.put(kFormatVersion);
  all.put(u16(0));
  all.put(u32(body.size()));
  all.put_bytes(body.bytes());
  all.put(hash_of(all.bytes()));
  out.put_bytes(all.bytes());
}

u64 header_bytes(ByteView preamble) {
  Reader in(preamble);
  if (preamble.size() < kPreambleBytes || !std::ranges::equal(in.take(kMagic.size()), kMagic))
    throw Error(Errc::corrupt, "this is not a leeway stream");
  const auto version = in.get<u16>(), reserved = in.get<u16>();
  if (version != kFormatVersion || reserved != 0)
    throw Error(Errc::unsupported, "the stream has format version " + std::to_string(version) +
                                       "; this build reads version " +
                                       std::to_string(kFormatVersion));
  return kPreambleBytes + u64(in.get<u32>()) + sizeof(u64);
}

Header read_header(ByteView bytes) {
  const DefaultFloatingPoint environment;
  if (header_bytes(bytes.first(std::min(bytes.size(), kPreambleBytes))) != bytes.size())
    fail_corrupt("the header ends too early");
  if (bytes.size() % kAlignment != 0) fail_corrupt("the header does not end at a multiple of 16");
  Reader in(bytes);
  const ByteView hashed = in.take(bytes.size() - sizeof(u64));
  expect_hash(hashed, in.get<u64>(), "the header's checksum differs");
  Header header;
  header.hash = stored_hash(bytes);
  Reader body(hashed.subspan(kPreambleBytes));
  u32 seen = 0;
  while (body.remaining() >= kAlignment || !are_zeros(Reader(body).rest())) {
    const auto tag = body.get<u16>();
    if (body.get<u16>() != 0)
      throw Error(Errc::unsupported,
                  "a header field needs a feature that this build does not have");
    Reader content(body.take(body.get<u32>()));
    const u16 number = tag & u16(~kCritical);
    if (number >= u16(Tag::field) && number <= u16(Tag::promises)) {
      if (seen >> number & 1) fail_corrupt("a header field stands twice");
      seen |= 1u << number;
      get_field(Tag(number), content, header);
    } else if (tag & kCritical) {
      throw Error(Errc::unsupported,
                  "the stream needs a feature that this build does not have (header tag " +
                      std::to_string(number) + ")");
    }
  }
  if ((seen & 0b111110) != 0b111110) fail_corrupt("a header field is missing");
  check(header);
  return header;
}

u64 stored_hash(ByteView header) { return Reader(header.last(sizeof(u64))).get<u64>(); }

void set_extent(Header& header, u64 extent) {
  std::array<u64, kMaxRank> extents{};
  std::ranges::copy(header.shape.extents(), extents.begin());
  extents[0] = extent;
  header.shape = Shape(std::span<const u64>(extents).first(header.shape.rank()));
}

std::vector<u8> with_promises(ByteView stream, const std::string& variable,
                              const std::vector<StatedPromise>& promises) {
  const auto size = size_t(header_bytes(stream.first(std::min(stream.size(), kPreambleBytes))));
  Header header = read_header(stream.first(std::min(stream.size(), size)));
  header.variable = variable, header.promises = promises;
  Writer out;
  write(header, out);
  out.put_bytes(stream.subspan(size));
  return {out.bytes().begin(), out.bytes().end()};
}

void write(const FrameHead& head, std::span<u8, kFrameHeadBytes> out) {
  Writer all;
  all.put(kFrameMagic);
  all.put(head.payload_bytes);
  all.put(head.ordinal);
  all.put(head.special);
  all.put(head.exact);
  all.put(head.bound);
  all.put(head.max_error);
  all.put(head.decoded_hash);
  all.put(head.payload_hash);
  all.put(hash_of(all.bytes()));
  std::ranges::copy(all.bytes(), out.begin());
}

void finish_frame(const FrameHead& head, size_t start, Writer& out) {
  put_zeros(out, frame_bytes(head.payload_bytes) - (out.size() - start));
  write(head, out.again<kFrameHeadBytes>(start));
}

FrameHead read_frame_head(ByteView bytes) {
  const DefaultFloatingPoint environment;
  Reader in(bytes);
  expect_magic(in, kFrameMagic, "no chunk where one should be");
  FrameHead head;
  head.payload_bytes = in.get<u32>();
  head.ordinal = in.get<u64>();
  head.special = in.get<u32>();
  head.exact = in.get<u32>();
  head.bound = get_nonnegative(in);
  head.max_error = get_nonnegative(in);
  head.decoded_hash = in.get<u64>();
  head.payload_hash = in.get<u64>();
  expect_hash(bytes.first(kFrameHeadBytes - sizeof(u64)), in.get<u64>(),
              "a chunk head's checksum differs");
  return head;
}

size_t find_frame(ByteView bytes, size_t from) {
  const auto found = std::search(bytes.begin() + std::ptrdiff_t(std::min(from, bytes.size())),
                                 bytes.end(), kFrameMagic.begin(), kFrameMagic.end());
  return size_t(found - bytes.begin());
}

std::optional<FrameHead> find_frame_head(ByteView bytes) {
  const ByteView hashed = bytes.first(kFrameHeadBytes - sizeof(u64));
  if (!std::ranges::equal(bytes.first(kFrameMagicBytes), kFrameMagic) ||
      hash_of(hashed) != Reader(bytes.subspan(hashed.size())).get<u64>())
    return std::nullopt;
  try {
    return read_frame_head(bytes);
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool may_begin_frame(ByteView bytes) {
  const size_t known = std::min(bytes.size(), kFrameMagicBytes);
  return std::ranges::equal(bytes.first(known), ByteView(kFrameMagic).first(known)) ||
         (bytes.size() >= kFrameHeadBytes && are_zeros(bytes.first(kFrameHeadBytes)));
}

}  // namespace leeway

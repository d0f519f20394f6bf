// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/stream/brief.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "leeway/base/environment.h"
#include "leeway/stream/fields.h"

namespace leeway {
namespace {

constexpr std::array<u8, 4> kMagic = {0x89, 'L', 'W', 'b'};

enum Flags : u8 {
  kAsked = 1,   // the bound as asked for is stated, too
  kFills = 2,   // there are fill values
  kRange = 4,   // the range of the values is stated
  kCounts = 8,  // there are special or exact values
  kText = 16,   // the recipe has no number
  kAllFlags = 31,
};

constexpr std::string_view kRecipes[] = {
    "linear+lorenzo+huffman+zstd",
    "linear+lorenzo:axes=0+pack",
    "pyramid+linear+rans",
    "pyramid:taps=28,every=4,gain=0+linear+rans",
    "exact+lorenzo+huffman+zstd",
    "log+linear+lorenzo+huffman+zstd",
    "log+linear+lorenzo:axes=0+pack",
    "log+pyramid+linear+rans",
    "log+pyramid:taps=28,every=4,gain=0+linear+rans",
    "linear+lorenzo+adaptive+zstd",
    "linear+blocks+fixed:outlier=0,head=4",
    "linear+blocks+fixed",
    "linear+blocks+fixed:outlier=0",
    "ghost+linear:bins=16384+raw+deflate:level=1",
    "lorenzo+linear:bins=65536+huffman+deflate:level=1",
    "lorenzo+linear+huffman+zstd",
    "log+lorenzo+linear+huffman+zstd",
    "linear+pattern:scale=peak+fixed-huffman",
    "linear+pattern:scale=peak+fixed-huffman+zstd",
    "linear:bins=128,beyond=planes+pattern+huffman+zstd",
    "linear+cross+rans",
    "lorenzo+exact+residual",
    "composite+linear+huffman+zstd:level=6",
    "truncate+raw",
    "wavefront+linear:step=pow2,bins=65536+raw+deflate:level=1",
    "wavefront+linear:step=pow2,bins=65536+huffman+deflate:level=1",
    "interp+linear+huffman+zstd",
    "linear+huffman",
    "linear+arithmetic",
    "transpose+linear:step=pow2+arithmetic",
    "wavefront+linear:step=pow2,bins=65536,second=0+raw+deflate:level=1",
    "pyramid:taps=0+linear:range=1+rans|linear:range=1+lorenzo+rans|"
    "interp+linear:range=1+huffman+zstd:level=6|linear:range=1+lorenzo:axes=0+pack",
    "pyramid+linear:range=1+rans|pyramid:taps=0+linear:range=1+rans|"
    "linear:range=1+lorenzo+rans|interp+linear:range=1+huffman+zstd:level=6|"
    "linear:range=1+lorenzo:axes=0+pack",
    "pyramid:taps=28,every=4,gain=0+linear:range=1+rans|pyramid+linear:range=1+rans|"
    "pyramid:taps=0+linear:range=1+rans|linear:range=1+lorenzo+rans|"
    "interp+linear:range=1+huffman+zstd:level=6|linear:range=1+lorenzo:axes=0+pack",
    "log+pyramid:taps=0+linear:range=1+rans|log+linear:range=1+lorenzo+rans|"
    "log+interp+linear:range=1+huffman+zstd:level=6|log+linear:range=1+lorenzo:axes=0+pack",
    "log+pyramid+linear:range=1+rans|log+pyramid:taps=0+linear:range=1+rans|"
    "log+linear:range=1+lorenzo+rans|log+interp+linear:range=1+huffman+zstd:level=6|"
    "log+linear:range=1+lorenzo:axes=0+pack",
    "log+pyramid:taps=28,every=4,gain=0+linear:range=1+rans|log+pyramid+linear:range=1+rans|"
    "log+pyramid:taps=0+linear:range=1+rans|log+linear:range=1+lorenzo+rans|"
    "log+interp+linear:range=1+huffman+zstd:level=6|log+linear:range=1+lorenzo:axes=0+pack",
    "wavelet+linear+rans",
    "ghost:through=decoded+linear:bins=2+raw+gzip:level=1",
    "interp+linear+huffman+zstd|composite+linear+huffman+zstd:level=6",
    "linear:bins=128,beyond=planes+pattern+fixed-huffman+zstd",
    "transpose:order=231+lorenzo:axes=1+linear:bins=128,beyond=planes+fixed-huffman",
};

// The bound as asked for, if the stream does not state it: the absolute one.
Bound default_bound(double in_force) {
  return in_force > 0 ? Bound::abs(in_force) : Bound::lossless();
}
bool is_default(const Header& header, double in_force) {
  return header.abs_bound == in_force && header.bound.limits() == default_bound(in_force).limits();
}
bool states_range(const Header& header) {
  return header.bound.needs_range() && (header.min != 0 || header.max != 0);
}

// Errors are stated as absolute ones, even if the bound is pointwise.
double most_error(const Header& header, double in_force) {
  return header.bound.has(BoundKind::pointwise) ? header.abs_bound : in_force;
}

float rounded_up(double value) {
  const auto nearest = float(value);
  return double(nearest) < value ? std::nextafter(nearest, std::numeric_limits<float>::infinity())
                                 : nearest;
}

u8 flags_of(const Header& header, const FrameHead& head) {
  return u8((is_default(header, head.bound) ? 0 : kAsked) | (header.fills.empty() ? 0 : kFills) |
            (states_range(header) ? kRange : 0) | (head.special + head.exact > 0 ? kCounts : 0) |
            (number_of(header.recipe) ? 0 : kText));
}

Shape get_shape(Reader& in, size_t rank) {
  std::array<u64, kMaxRank> extents;
  if (rank > kMaxRank) fail_corrupt("too many axes");
  u64 values = 1;
  for (size_t axis = 0; axis < rank; ++axis) {
    extents[axis] = in.get_varint(kMaxChunkValues / values, "a brief stream of too many values");
    if (extents[axis] == 0) fail_corrupt("a brief stream of no values");
    values *= extents[axis];
  }
  return Shape(std::span<const u64>(extents).first(rank));
}

std::string get_recipe(Reader& in, bool is_text) {
  if (is_text) {
    const ByteView text = in.take_section();
    std::string recipe(text.begin(), text.end());
    if (recipe.empty()) fail_corrupt("no recipe");
    return recipe;
  }
  return numbered_recipe(in.get<u8>());
}

void get_asked(Reader& in, Header& header, double in_force) {
  header.bound = get_bound(in);
  header.abs_bound = get_nonnegative(in);
  if (header.bound.limits().empty()) fail_corrupt("no bound");
  if (is_default(header, in_force)) fail_corrupt("a bound is stated twice");
}

void get_fills(Reader& in, Header& header) {
  const u64 count = in.get_varint(kMostFills, "too many fill values");
  if (count == 0) fail_corrupt("an empty list of fill values");
  header.fills.resize(size_t(count));
  for (u64& fill : header.fills) {
    const ByteView bits = in.take(size_of(header.dtype));
    std::memcpy(&fill, bits.data(), bits.size());
  }
}

void get_counts(Reader& in, const Header& header, FrameHead& head) {
  const auto get = [&] { return u32(in.get_varint(header.shape.size(), "too many exact values")); };
  head.special = get();
  head.exact = get();
  if (head.special + head.exact == 0) fail_corrupt("counts of nothing");
}

double get_max_error(Reader& in, double most) {
  const auto error = in.get<float>();
  if (!(error >= 0)) fail_corrupt("a largest error below 0");
  return std::min<double>(error, most);
}

}  // namespace

std::span<const std::string_view> numbered_recipes() { return kRecipes; }

std::optional<u8> number_of(std::string_view recipe) {
  const auto found = std::ranges::find(kRecipes, recipe);
  if (found == std::end(kRecipes)) return std::nullopt;
  return u8(found - std::begin(kRecipes));
}

std::string numbered_recipe(u8 number) {
  if (number >= std::size(kRecipes))
    throw Error(Errc::unsupported, "the stream has the recipe number " + std::to_string(number) +
                                       ", which this build does not know");
  return std::string(kRecipes[number]);
}

bool is_brief(ByteView first) {
  return first.size() >= kMagic.size() && std::ranges::equal(first.first(kMagic.size()), kMagic);
}

bool can_be_brief(const Header& header) {
  return header.shape == header.chunk && header.shape.size() > 0 && header.regions.empty() &&
         header.promises.empty() && !header.is_growing;
}

void write_brief(const Header& header, FrameHead& head, ByteView payload, Writer& out) {
  const DefaultFloatingPoint environment;
  const size_t start = out.size();
  const u8 flags = flags_of(header, head);
  out.put(kMagic);
  out.put(kBriefVersion);
  out.put(u8(u8(header.dtype) | header.shape.rank() << 4));
  out.put(flags);
  for (const u64 extent : header.shape.extents()) out.put_varint(extent);
  if (flags & kText)
    out.put_section(bytes_of(std::span<const char>(header.recipe)));
  else
    out.put(*number_of(header.recipe));
  out.put(head.bound);
  if (flags & kAsked) {
    put_bound(header.bound, out);
    out.put(header.abs_bound);
  }
  if (flags & kFills) {
    out.put_varint(header.fills.size());
    for (const u64& fill : header.fills)
      out.put_bytes(bytes_of(std::span(&fill, 1)).first(size_of(header.dtype)));
  }
  if (flags & kRange) {
    out.put(header.min);
    out.put(header.max);
  }
  if (flags & kCounts) {
    out.put_varint(head.special);
    out.put_varint(head.exact);
  }
  const float max_error = rounded_up(head.max_error);
  head.max_error = std::min<double>(max_error, most_error(header, head.bound));
  out.put(max_error);
  out.put(head.decoded_hash);
  out.put_bytes(payload);
  out.put(hash_of(out.bytes().subspan(start)));
}

Brief read_brief(ByteView stream) {
  const DefaultFloatingPoint environment;
  Reader in(stream);
  in.take(kMagic.size());
  if (const u8 version = in.get<u8>(); version != kBriefVersion)
    throw Error(Errc::unsupported, "the stream has version " + std::to_string(version) +
                                       " of the brief form; this build reads version " +
                                       std::to_string(kBriefVersion));
  if (in.remaining() < sizeof(u64)) fail_corrupt("ends too early");
  const ByteView hashed = stream.first(stream.size() - sizeof(u64));
  expect_hash(hashed, Reader(stream.subspan(hashed.size())).get<u64>(),
              "its checksum differs; a brief stream has one for everything, so that no part of it "
              "can be salvaged");
  in = Reader(hashed.subspan(kMagic.size() + sizeof kBriefVersion));
  Brief brief;
  auto& [header, head, payload_at] = brief;
  const u8 type = in.get<u8>(), flags = in.get<u8>();
  if (flags & ~kAllFlags)
    throw Error(Errc::unsupported, "the stream needs a feature that this build does not have");
  header.dtype = checked_dtype(type & 15);
  header.shape = header.chunk = get_shape(in, type >> 4);
  header.recipe = get_recipe(in, flags & kText);
  head.bound = get_nonnegative(in);
  header.bound = default_bound(head.bound);
  header.abs_bound = head.bound;
  if (flags & kAsked) get_asked(in, header, head.bound);
  if (flags & kFills) get_fills(in, header);
  if (flags & kRange) {
    header.min = get_finite(in);
    header.max = get_finite(in);
    if (header.min == 0 && header.max == 0) fail_corrupt("a range of nothing");
  }
  if (flags & kCounts) get_counts(in, header, head);
  head.max_error = get_max_error(in, most_error(header, head.bound));
  head.decoded_hash = in.get<u64>();
  payload_at = hashed.size() - in.remaining();
  head.payload_bytes = u32(in.remaining());
  head.payload_hash = hash_of(in.rest());
  return brief;
}

}  // namespace leeway

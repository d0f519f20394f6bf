// SPDX-License-Identifier: BSD-3-Clause
// The end of a stream, written, read and found (format.h).
#include <algorithm>

#include "leeway/base/environment.h"
#include "leeway/stream/fields.h"
#include "leeway/stream/format.h"

namespace leeway {
namespace {

constexpr std::array<u8, 4> kTailMagic = {'L', 'W', 'Y', 't'};
constexpr std::array<u8, 8> kEndMagic = {'L', 'W', 'Y', 'e', 'n', 'd', '\r', '\n'};
constexpr u32 kGrowingTail = 1;  // a flag of the tail

}  // namespace

Statement StatementMaker::statement() const {
  Statement statement = statement_;
  statement.decoded_hash = hash_of(bytes_of(std::span(hashes_)));
  return statement;
}

namespace {

// The bytes of the list of rooms in a tail, with the zeros behind it.
constexpr u64 rooms_bytes(u64 chunks) { return aligned(4 * chunks); }

}  // namespace

void write(const Tail& tail, Writer& out) {
  Writer all;
  all.put(kTailMagic);
  all.put(tail.growth ? kGrowingTail : u32(0));
  if (tail.growth) {
    all.put(tail.growth->header_hash);
    all.put(tail.growth->extent);
  }
  all.put(u64(tail.rooms.size()));
  all.put_array(std::span(tail.rooms));
  put_zeros(all, rooms_bytes(tail.rooms.size()) - 4 * tail.rooms.size());
  all.put(u64(tail.moved.size()));
  for (const Moved& moved : tail.moved) {
    all.put(moved.ordinal);
    all.put(moved.offset);
  }
  all.put(tail.statement.max_error);
  all.put(tail.statement.special);
  all.put(tail.statement.exact);
  all.put(tail.statement.decoded_hash);
  all.put(hash_of(all.bytes()));
  all.put(u64(all.size() + sizeof(u64) + sizeof kEndMagic));
  all.put(kEndMagic);
  out.put_bytes(all.bytes());
}

u64 tail_bytes(ByteView end) {
  Reader in(end);
  in.take(end.size() - 2 * sizeof(u64));
  const auto bytes = in.get<u64>();
  expect_magic(in, kEndMagic, "the end is missing");
  return bytes;
}

namespace {

// Reads a tail from its first byte to the number of chunks, which it returns.
u64 get_tail_begin(Reader& in, const Header& header, Tail& tail) {
  expect_magic(in, kTailMagic, "no tail where one should be");
  if (in.get<u32>() != (header.is_growing ? kGrowingTail : u32(0)))
    throw Error(Errc::unsupported, "the tail needs a feature that this build does not have");
  Header now;
  now.shape = header.shape;
  now.chunk = header.chunk;
  if (header.is_growing) {
    tail.growth = {in.get<u64>(), 0};
    if (tail.growth->header_hash != header.hash) fail_corrupt("the tail of another stream");
    tail.growth->extent = in.get<u64>();
    try {
      set_extent(now, tail.growth->extent);
    } catch (const Error&) {
      fail_corrupt("impossible shape");
    }
  }
  const auto chunks = in.get<u64>();
  if (chunks != now.grid().size()) fail_corrupt("wrong number of chunks");
  return chunks;
}

}  // namespace

Tail read_tail(ByteView bytes, const Header& header) {
  const DefaultFloatingPoint environment;
  if (bytes.size() < kTailEndBytes) fail_corrupt("the tail is too short");
  Reader in(bytes.first(bytes.size() - kTailEndBytes));
  Reader end(bytes.last(kTailEndBytes));
  expect_hash(bytes.first(bytes.size() - kTailEndBytes), end.get<u64>(),
              "the tail's checksum differs");
  Tail tail;
  const u64 chunks = get_tail_begin(in, header, tail);
  if (chunks > in.remaining() / 4) fail_corrupt("wrong number of chunks");
  tail.rooms.resize(size_t(chunks));
  in.get_array(std::span(tail.rooms));
  if (!are_zeros(in.take(size_t(rooms_bytes(chunks) - 4 * chunks))))
    fail_corrupt("bytes between the parts of the tail");
  const auto moved = in.get<u64>();
  if (moved > std::min<u64>(chunks, in.remaining() / 16)) fail_corrupt("too many moved chunks");
  tail.moved.resize(size_t(moved));
  for (size_t i = 0; i < tail.moved.size(); ++i) {
    tail.moved[i].ordinal = in.get<u64>();
    tail.moved[i].offset = in.get<u64>();
    if (tail.moved[i].ordinal >= chunks) fail_corrupt("a moved chunk does not exist");
    if (i > 0 && tail.moved[i].ordinal <= tail.moved[i - 1].ordinal)
      fail_corrupt("moved chunks are out of order");
  }
  tail.statement.max_error = get_nonnegative(in);
  tail.statement.special = in.get<u64>();
  tail.statement.exact = in.get<u64>();
  tail.statement.decoded_hash = in.get<u64>();
  in.expect_end();
  return tail;
}

bool may_begin_tail(ByteView bytes) {
  const size_t known = std::min(bytes.size(), kTailMagic.size());
  return known > 0 && std::ranges::equal(bytes.first(known), ByteView(kTailMagic).first(known));
}

bool is_end(ByteView bytes) { return std::ranges::equal(bytes, kEndMagic); }

u64 most_tail_bytes(ByteView begin, const Header& header) {
  try {
    Reader in(begin);
    Tail tail;
    return 112 + 20 * get_tail_begin(in, header, tail);
  } catch (const Error&) {
    return 112;
  }
}

std::optional<size_t> find_tail(ByteView bytes, const Header& header) {
  constexpr size_t kStatementBytes = 32;
  try {
    Reader in(bytes);
    Tail tail;
    const u64 chunks = get_tail_begin(in, header, tail);
    if (chunks > in.remaining() / 4) return std::nullopt;
    in.take(size_t(rooms_bytes(chunks)));
    const auto moved = in.get<u64>();
    if (moved > std::min<u64>(chunks, in.remaining() / 16)) return std::nullopt;
    in.take(size_t(16 * moved));
    const ByteView hashed = bytes.first(bytes.size() - in.remaining() + kStatementBytes);
    in.take(kStatementBytes);
    expect_hash(hashed, in.get<u64>(), "the tail's checksum differs");
    return hashed.size() + kTailEndBytes;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace leeway

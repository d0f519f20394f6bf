// SPDX-License-Identifier: BSD-3-Clause
// Payload: what a chunk can be in a stream (docs/FORMAT.md, "Payload").
#pragma once

#include <vector>

#include "leeway/base/bytes.h"
#include "leeway/base/hash.h"

namespace leeway {

// The first byte of a payload. What follows is a body (body.h), if nothing else is said.
enum class Payload : u8 {
  constant = 0,   // one value
  coded = 1,      // by the recipe
  lossless = 2,   // by the recipe `lossless`
  stored = 3,     // values as they are
  levels = 4,     // coded from coarse to fine: a table of levels, then the body
  tightened = 5,  // coded with a smaller bound: how many times it is halved, then the body
  narrow = 6,     // coded with integers of 16 bits
  layered = 7,    // payloads over each other (engine/layers.h)
  alternative = 8,  // by another alternative of the recipe: its number, then a payload by it
};

// Whether a payload is decoded as the recipe says.
inline bool follows_recipe(Payload kind) {
  return kind == Payload::coded || kind == Payload::levels || kind == Payload::tightened ||
         kind == Payload::narrow;
}

// What a payload begins with if it is not by the first alternative of the recipe.
struct Alternative {
  size_t number = 0;
  size_t bytes = 0;  // before the payload that it is for
};
inline Alternative alternative_of(ByteView payload) {
  if (payload.empty() || Payload(payload.front()) != Payload::alternative) return {};
  Reader in(payload.subspan(1));
  return {in.get<u8>(), 2};
}

// Comes before the body of a chunk that is coded from coarse to fine: how many bytes of the body
// hold every second value along all axes, every fourth, ..., and their checksums.
struct LevelTable {
  struct Entry {
    u32 bytes = 0;
    u64 hash = 0;
  };
  std::vector<Entry> entries;

  static constexpr size_t kMost = 4;
  static constexpr size_t size(size_t entries) { return 1 + 12 * entries; }
  void write(Writer& out) const {
    out.put(u8(entries.size()));
    for (const Entry& entry : entries) {
      out.put(entry.bytes);
      out.put(entry.hash);
    }
  }
  static LevelTable read(Reader& in) {
    LevelTable table;
    table.entries.resize(in.get<u8>());
    if (table.entries.empty() || table.entries.size() > kMost)
      fail_corrupt("a wrong number of levels");
    for (Entry& entry : table.entries) {
      entry.bytes = in.get<u32>();
      entry.hash = in.get<u64>();
    }
    return table;
  }
};

}  // namespace leeway

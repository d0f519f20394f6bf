// SPDX-License-Identifier: BSD-3-Clause
// ChunkMemory: for hosts that decode a chunk, change a part of it and hand back the whole, as HDF5
// and Zarr do when less than a chunk is written.
//
// Decoded values that are compressed again beside new ones would move, and their errors would add
// up, write by write. A host that has a ChunkMemory is safe from that: it remembers the streams
// decoded last, and values that come back as they were decoded keep their bits (engine/layers.h).
#pragma once

#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include "leeway/core/bytes.h"
#include "leeway/core/export.h"
#include "leeway/core/tag_set.h"
#include "leeway/engine/engine.h"
#include "leeway/preprocess/mask.h"

namespace leeway {

class LEEWAY_EXPORT ChunkMemory {
 public:
  // The one that all hosts of a process share.
  static ChunkMemory& of_process();

  // To be called with every stream that the host has decoded, and the values it gave. Several
  // threads may call the functions of one memory at once.
  void remember(ByteView stream, const View& decoded);
  // As leeway::compress_into(), but values that a remembered stream gave keep their bits.
  CompressReport compress_into(const View& array, const CompressOptions& options,
                               std::span<u8> memory);

 private:
  // A value of a decoded array. An array that has it in the same place may come from there; the
  // rarer it is, the more it says.
  struct Mark {
    u64 at, bits;
  };
  struct Kind {
    u64 values;  // type, shape and bound, as one number
    u64 recipe;  // the same; 0: any
    bool covers(const Kind& other) const {
      return values == other.values && (recipe == 0 || recipe == other.recipe);
    }
  };
  struct Known {
    Kind kind;
    u64 hash;                 // of the stream
    Bytes stream;             // empty: forgotten
    std::vector<Mark> marks;  // by place
    bool is_usual;            // whether they are in the places that are looked at first
  };
  struct Trail {
    Bytes stream;  // empty: forgotten, or one of several
    bool is_known = false;
  };
  class Search;

  static Kind kind_of(const View& array, const Bound& bound, const std::string& recipe);
  static void find_marks(const View& array, const Mask& mask, Known& known);
  void keep(Known known);
  void note_marks();
  Trail find(const View& array, const Kind& kind);

  std::mutex mutex_;
  std::deque<Known> known_;  // the oldest first
  size_t forgotten_ = 0;     // how many of the oldest have no stream any more
  u64 bytes_ = 0;            // of all streams
  // Marks of all streams but the last few, and of some that are gone: what is not among them came
  // from none. Whoever only reads never needs it.
  TagSet noted_;
  size_t not_noted_ = 0;
};

}  // namespace leeway

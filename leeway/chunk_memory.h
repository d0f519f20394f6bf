// SPDX-License-Identifier: BSD-3-Clause
// ChunkMemory: for hosts that decode a chunk, change a part of it and hand back the whole, as HDF5
// and Zarr do when less than a chunk is written.
//
// Decoded values that are compressed again beside new ones would move, and their errors would add
// up, write by write. A host that has a ChunkMemory is safe from that: it remembers the streams
// decoded last, and values that come back as they were decoded keep their bits (engine/layers.h).
#pragma once

#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "leeway/core/bytes.h"
#include "leeway/core/export.h"
#include "leeway/engine/engine.h"
#include "leeway/preprocess/mask.h"

namespace leeway {

class LEEWAY_EXPORT ChunkMemory {
 public:
  // The one that all hosts of a process share.
  static ChunkMemory& of_process();

  // To be called with every stream that the host has decoded, and the values it gave. Threads may
  // call this and the other at the same time.
  void remember(ByteView stream, const View& decoded);
  // As leeway::compress_into(), but values that a remembered stream gave keep their bits.
  CompressReport compress_into(const View& array, const CompressOptions& options,
                               std::span<u8> memory);

 private:
  // What a few values of an array, and some runs of values, say of where it came from: each with
  // its place and the type, shape and bound of the array, as one number; 0 for special values. The
  // rarer a value is in its array, the more it says. Traces of two arrays of one shape have the
  // same order.
  struct Traces {
    std::vector<u64> numbers;
    std::vector<u64> bits;  // of the first value of each
  };
  struct Known {
    Bytes stream;
    std::vector<u64> traces;
    size_t bytes() const { return stream.size() + traces.size() * sizeof(u64); }
  };
  struct Trail {
    Bytes stream;  // empty: forgotten, or one of several
    bool is_known = false;
  };

  static Traces traces_of(const View& array, const Bound& bound, const Mask& mask);
  void keep(ByteView stream, std::vector<u64> traces);
  bool knows_nothing();
  Trail find(const Traces& traces);

  std::mutex mutex_;
  std::map<u64, Known> known_;  // by number, the oldest first
  // By the low bits of traces: their high bits, and the number of the stream that had it last.
  std::vector<u64> slots_;
  u64 next_ = 1;
  u64 bytes_ = 0;  // of all that is known
};

}  // namespace leeway

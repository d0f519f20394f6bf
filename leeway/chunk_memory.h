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
  // What a few values of an array say of where it came from: each, and some runs of values, with
  // its place, type, shape and bound, as one number. 0 where a value is special. Those of two
  // arrays of one shape stand in the same order.
  using Traces = std::vector<u64>;
  struct Known {
    Bytes stream;
    Traces traces;
    size_t bytes() const { return stream.size() + traces.size() * sizeof(u64); }
  };
  struct Trail {
    Bytes stream;  // empty: forgotten
    bool is_known = false;
  };

  static Traces traces_of(const View& array, const Bound& bound, const Mask& mask);
  void keep(ByteView stream, Traces traces);
  Trail find(const Traces& traces);

  std::mutex mutex_;
  std::map<u64, Known> known_;  // by number, the oldest first
  // By the low bits of traces: their high bits, and the number of the stream that had it last.
  std::vector<u64> slots_;
  u64 next_ = 1;
  u64 bytes_ = 0;  // of all that is known
};

}  // namespace leeway

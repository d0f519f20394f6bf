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
  // What a few values of an array say of where it came from: each with its place, type, shape and
  // bound, as one number.
  using Traces = std::vector<u64>;
  struct Trail {
    Bytes stream;  // empty: forgotten
    bool is_known = false;
  };

  static Traces traces_of(const View& array, const Bound& bound, const Mask& mask);
  void keep(ByteView stream, const Traces& traces);
  Trail find(const Traces& traces);

  struct Slot {
    u64 trace = 0, number = 0;
  };
  std::mutex mutex_;
  std::map<u64, Bytes> streams_;  // by number, the oldest first
  std::vector<Slot> slots_;  // traces by their low bits; newer ones take the place of older ones
  u64 next_ = 1;
  u64 bytes_ = 0;  // of all streams
};

}  // namespace leeway

// SPDX-License-Identifier: BSD-3-Clause
// ChunkMemory: for hosts that decode a chunk, change a part of it and hand back the whole, as HDF5
// and Zarr do when less than a chunk is written.
//
// Decoded values that are compressed again beside new ones would move, and their errors would add
// up, write by write. A host that has a ChunkMemory is safe from that: it remembers the streams
// decoded last, and values that come back as they were decoded keep their bits (engine/rewrite.h).
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "leeway/base/bytes.h"
#include "leeway/base/tag_index.h"
#include "leeway/codec/mask.h"
#include "leeway/engine/engine.h"

namespace leeway {

class ChunkMemory {
 public:
  // The memory that all hosts of a process share.
  static ChunkMemory& of_process();

  // To be called with every stream that the host has decoded, and the decoded values. Several
  // threads may call the functions of one memory at once.
  void remember(ByteView stream, const View& decoded);
  // Like leeway::compress_into(), but values decoded from a remembered stream keep their bits.
  CompressReport compress_into(const View& array, const CompressOptions& options,
                               std::span<u8> memory);

 private:
  // A value of a decoded array. An array that has it in the same place may come from there; the
  // rarer it is, the more it says.
  struct Mark {
    u64 at, bits;
  };
  struct Marks {
    std::vector<Mark> list;  // ordered by place
    u64 reach = 0;           // places of a higher rank are not in the list
  };
  struct Known {
    u64 kind;      // type, shape and bound, as one number
    u64 hash;      // of the stream
    double bound;  // absolute
    std::string recipe;
    Bytes stream;  // empty: forgotten
    Marks marks;
  };
  struct Kind {
    size_t streams = 0;
    u64 reach = 0;  // the largest of any stream of the kind
  };
  struct Trail {
    Bytes stream;  // empty: forgotten, or one of several
    bool is_known = false;
    double bound = 0;  // the largest of several streams
  };

  static Marks marks_of(const View& array, const Mask& mask);
  void keep(Known known);
  void index_marks();
  // The streams of a kind that share a mark with an array of `size` values; the oldest first.
  std::vector<const Known*> candidates(u64 kind, u64 size, const std::function<u64(u64)>& bits_at);
  Trail find(const View& array, u64 kind, const CompressOptions& options);

  std::mutex mutex_;
  std::deque<Known> known_;  // the oldest first
  std::unordered_map<u64, Kind> kinds_;
  u64 first_ = 0;            // number of the oldest
  // Finds streams with numbers from `base_` to `indexed_` by their marks. It is made when an array
  // is compressed, because hosts that only read never need it.
  TagIndex index_;
  u64 base_ = 0, indexed_ = 0;
  size_t forgotten_ = 0;  // how many of the oldest have no stream any more
  u64 bytes_ = 0;         // of all streams
};

// Like compress_into(), for hosts that know the stream that the values were decoded from.
CompressReport compress_again_into(const View& array, const CompressOptions& options,
                                   ByteView stream, std::span<u8> memory);

}  // namespace leeway

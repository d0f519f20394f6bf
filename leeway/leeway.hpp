// SPDX-License-Identifier: BSD-3-Clause
// leeway: error-bounded lossy compression of scientific arrays. The C++ interface.
//
// clang-format off
//
//   std::vector<float> field = ...;  // 100 x 500 x 500 values, the last axis is the fastest
//   leeway::Bytes stream = leeway::compress(field.data(), {100, 500, 500}, leeway::Bound::abs(1e-3));
//   leeway::Array array = leeway::decompress(stream);      // knows its type and shape
//   std::span<const float> values = array.as<float>();     // none is off by more than 1e-3
//
// clang-format on
// All functions report errors by throwing leeway::Error. They keep no state except buffers, and may
// be called from any thread.
#pragma once

#if __cplusplus < 202002L
#error "leeway/leeway.hpp needs C++20 (-std=c++20); leeway/leeway.h, the C interface, does not"
#endif

#include <span>
#include <string>
#include <vector>

#include "leeway/array.h"
#include "leeway/base/bytes.h"
#include "leeway/base/export.h"
#include "leeway/base/field.h"
#include "leeway/engine/engine.h"
#include "leeway/stage/bound.h"

namespace leeway {

// "0.1.0"
LEEWAY_EXPORT const char* version();

// Compresses the array into a stream; bound, recipe, fill values and threads are in the options.
LEEWAY_EXPORT Bytes compress(const View& array, const CompressOptions& options);
// Writes the stream to `sink`, piece by piece and in order; memory stays bounded for any size.
LEEWAY_EXPORT CompressReport compress(const View& array, const CompressOptions& options,
                                      const Sink& sink);

// Writes the stream to memory of the caller; max_compressed_size() bytes are enough. The report
// states how many were used.
LEEWAY_EXPORT CompressReport compress_into(const View& array, const CompressOptions& options,
                                           std::span<u8> memory);

template <class T>
Bytes compress(const T* values, const Shape& shape, const CompressOptions& options) {
  return compress(view_of(values, shape), options);
}
template <class T>
Bytes compress(const T* values, const Shape& shape, const Bound& bound) {
  CompressOptions options;
  options.bound = bound;
  return compress(view_of(values, shape), options);
}

// The recipe in full, as a stream made with these options states it. Not for names that stand for a
// choice by the values, such as "auto".
LEEWAY_EXPORT std::string stored_recipe(const CompressOptions& options, DType dtype);

// The most bytes that the stream of such an array can have, whatever its values are.
LEEWAY_EXPORT u64 max_compressed_size(DType dtype, const Shape& shape,
                                      const CompressOptions& options);

LEEWAY_EXPORT Array decompress(ByteView stream, const DecompressOptions& options = {});
// Decodes only the values inside `region`, and reads only the chunks that it touches.
LEEWAY_EXPORT Array decompress(ByteView stream, const Box& region,
                               const DecompressOptions& options = {});
// Decodes into memory of the caller, with any strides, from a stream in memory or in a file
// (FileSource, StreamReader).
LEEWAY_EXPORT DecompressReport decompress_into(const StreamReader& stream, const Index& first,
                                               const MutableView& out,
                                               const DecompressOptions& options = {});

// Decodes every 2^level-th value along each axis of every chunk; the values are those of the whole
// array. Of streams of `small` and `smallest` only a part is read, about a quarter for level 1.
LEEWAY_EXPORT Array preview(ByteView stream, unsigned level, const DecompressOptions& options = {});
LEEWAY_EXPORT void preview_into(const StreamReader& stream, unsigned level, const MutableView& out,
                                const DecompressOptions& options = {});

// Replaces the values of the region that begins at `first` and has the shape of `values`, under the
// bound of the stream. Only the chunks that it touches are written again; FileStore does so in a
// file, MemoryStore in memory.
LEEWAY_EXPORT UpdateReport update(ByteStore& stream, const Index& first, const View& values,
                                  const Execution& execution = {});

// Appends rows along the first axis of a growing stream (CompressOptions::growing), under its bound:
// an array like it, with any extent along that axis. Whoever reads finds the old array until all of
// the new one is there. A chunk that the stream has not filled yet is filled first; rows in whole
// chunks make the smallest streams.
LEEWAY_EXPORT UpdateReport append(ByteStore& stream, const View& rows,
                                  const Execution& execution = {});

// What a stream states about itself.
struct Info {
  Header header;
  Statement statement;
  u64 chunks = 0;
  u64 stream_bytes = 0;
  Form form = Form::standard;
  // How many chunks were coded by each alternative of the recipe, if it has several; a chunk that is
  // constant or kept without loss is in none of them.
  std::vector<u64> alternatives = {};
};
LEEWAY_EXPORT Info inspect(ByteView stream);
LEEWAY_EXPORT Info inspect(const StreamReader& stream);

}  // namespace leeway

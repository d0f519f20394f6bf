// SPDX-License-Identifier: BSD-3-Clause
// With codec: the engine for any codec, whether its stages are the library's or a caller's own.
#pragma once

#include <memory>

#include "leeway/engine/engine.h"
#include "leeway/stream/stream_reader.h"

namespace leeway {

class Array;
class ChunkCodec;

// The codec knows the element type of the view; `recipe` is what the stream will say.
LEEWAY_EXPORT CompressReport compress_with(const ChunkCodec& codec, const std::string& recipe,
                                           const View& view, const CompressOptions& options,
                                           const Sink& sink);

// The same into memory of the caller, which all workers fill at once.
LEEWAY_EXPORT CompressReport compress_with(const ChunkCodec& codec, const std::string& recipe,
                                           const View& view, const CompressOptions& options,
                                           std::span<u8> memory);

// Makes the codec for a stream's recipe; the default knows the library's stages.
using CodecMaker =
    std::function<std::shared_ptr<const ChunkCodec>(const std::string& recipe, DType dtype)>;

// Decodes the region that begins at `first` and has the shape of `out` into `out`. Where salvage
// leaves a gap, floating values become NaN and integers 0.
LEEWAY_EXPORT DecompressReport decompress_with(const CodecMaker& maker, const StreamReader& stream,
                                               const Index& first, const MutableView& out,
                                               const DecompressOptions& options);

// A region, or the whole array if there is none, as an array of its own.
LEEWAY_EXPORT Array decompress_with(const CodecMaker& maker, ByteView stream, const Box* region,
                                    const DecompressOptions& options);

// These values, just as the whole array has them, into `out`. Recipes that go from coarse to fine
// (`small`, `smallest`) need only the first part of a chunk for that; others decode all of it.
LEEWAY_EXPORT void preview_with(const CodecMaker& maker, const StreamReader& stream, unsigned level,
                                const MutableView& out, const DecompressOptions& options);

// Replaces the values of the region that begins at `first` and has the shape of `values`, under the
// bound of the stream. Values of touched chunks outside the region keep their bits. New frames and
// a new tail go after the old tail, and nothing is overwritten: whoever reads finds the old stream
// until the last bytes are written, and the new one from then on. If the work fails or is
// interrupted, the stream is as it was.
LEEWAY_EXPORT UpdateReport update_with(const CodecMaker& maker, ByteStore& stream,
                                       const Index& first, const View& values,
                                       const Execution& execution);

// Appends rows to a growing stream, as update_with() puts its frames behind the end.
LEEWAY_EXPORT UpdateReport append_with(const CodecMaker& maker, ByteStore& stream, const View& rows,
                                       const Execution& execution);

}  // namespace leeway

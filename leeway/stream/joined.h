// SPDX-License-Identifier: BSD-3-Clause
// Joined: streams of arrays that lie beside each other become the stream of the array that they are
// parts of. Nothing is decoded: frames get new numbers.
#pragma once

#include <functional>
#include <span>

#include "leeway/stream/stream_reader.h"

namespace leeway {

// Writes the stream to `sink`, piece by piece. The parts follow each other along an axis, and all
// but the last end where a chunk ends; they have the same type, chunks and recipe. The stream
// states the largest bound; the frames keep theirs. Checksums of what is copied are checked.
LEEWAY_EXPORT void join(std::span<const StreamReader* const> parts, size_t axis,
                        const std::function<void(ByteView)>& sink);

}  // namespace leeway

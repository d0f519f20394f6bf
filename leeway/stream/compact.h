// SPDX-License-Identifier: BSD-3-Clause
// Compact: copies a stream without the frames and tails that updates have replaced.
#pragma once

#include <functional>

#include "leeway/stream/stream_reader.h"

namespace leeway {

// Writes the stream to `sink`, piece by piece, as if it had never been updated: in the standard
// form, every frame in its place, and one tail. Frames are copied, not decoded; their checksums are
// checked.
LEEWAY_EXPORT void compact(const StreamReader& stream, const std::function<void(ByteView)>& sink);

}  // namespace leeway

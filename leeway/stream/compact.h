// SPDX-License-Identifier: BSD-3-Clause
// Compact: a stream without the frames and tails that updates have replaced, in the standard form.
#pragma once

#include <functional>

#include "leeway/stream/stream_reader.h"

namespace leeway {

// Gives the same stream, as if it had just been written in the standard form, piece by piece to
// `sink`: every frame in its place and one tail. Frames are copied and not decoded; their checksums
// are compared.
LEEWAY_EXPORT void compact(const StreamReader& stream, const std::function<void(ByteView)>& sink);

}  // namespace leeway

// SPDX-License-Identifier: BSD-3-Clause
// Header: what a stream states about an array, as far as the caller's options say it.
#pragma once

#include <string>

#include "leeway/codec/chunk_codec.h"
#include "leeway/engine/engine.h"

namespace leeway {

// Throws if the options do not fit together, the array or the codec. Bound and fill values are
// still to be found.
Header checked_header(const ChunkCodec& codec, const std::string& recipe, const View& view,
                      const CompressOptions& options);

}  // namespace leeway

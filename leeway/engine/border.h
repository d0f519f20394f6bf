// SPDX-License-Identifier: BSD-3-Clause
// Border: a chunk that reaches beyond the array of its host.
//
// HDF5 and Zarr fill such chunks up, mostly with zeros. The step from the last values of the array
// to the filling would cost more than the values themselves; so they are coded alone, and laid over
// a constant.
#pragma once

#include "leeway/engine/frames.h"

namespace leeway {

// As compress_chunk(), where the end of the chunk may be filling: planes of equal values.
FrameHead compress_border_chunk(const ChunkCodec& codec, double bound, const Mask& mask,
                                u64 ordinal, const View& chunk, Writer& out);

}  // namespace leeway

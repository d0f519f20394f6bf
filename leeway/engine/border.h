// SPDX-License-Identifier: BSD-3-Clause
// Border: a chunk that reaches beyond the array of its host.
//
// HDF5 and Zarr fill up such chunks, mostly with zeros. The jump from the last values of the array
// to the filling would cost more than the values themselves. So the values are coded without the
// filling, as a layer over a constant.
#pragma once

#include "leeway/engine/frames.h"

namespace leeway {

// Like compress_chunk(), for a chunk whose end may be filling: planes of equal values.
FrameHead compress_border_chunk(const ChunkCodec& codec, double bound, const Mask& mask,
                                u64 ordinal, const View& chunk, Writer& out);

}  // namespace leeway

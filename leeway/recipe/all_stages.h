// SPDX-License-Identifier: BSD-3-Clause
// All stages: the lists from which recipes, help texts, tests and fuzzers are made. A new stage is
// one word in one of these lines.
#pragma once

#include "leeway/encode/adaptive.h"
#include "leeway/encode/fixed.h"
#include "leeway/encode/huffman.h"
#include "leeway/encode/pack.h"
#include "leeway/encode/rans.h"
#include "leeway/encode/raw.h"
#include "leeway/lossless/deflate.h"
#include "leeway/lossless/store.h"
#include "leeway/lossless/zstd.h"
#include "leeway/predict/blocks.h"
#include "leeway/predict/ghost.h"
#include "leeway/predict/interp.h"
#include "leeway/predict/lorenzo.h"
#include "leeway/predict/pyramid.h"
#include "leeway/predict/wavefront.h"
#include "leeway/preprocess/log.h"
#include "leeway/quantize/exact.h"
#include "leeway/quantize/linear.h"

namespace leeway {

template <class... S>
struct List {};

using Preprocessors = List<Log>;
using Predictors = List<Lorenzo, Blocks, Interp, Pyramid, Wavefront, Ghost>;
using Quantizers = List<Linear, Exact>;
using Encoders = List<Huffman, Adaptive, Rans, Pack, Fixed, Raw>;
using LosslessStages = List<Zstd, Deflate, Store>;

template <class... A, class... B>
List<A..., B...> operator+(List<A...>, List<B...>);

using AllStages =
    decltype(Preprocessors() + Predictors() + Quantizers() + Encoders() + LosslessStages());

}  // namespace leeway

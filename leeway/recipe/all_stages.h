// SPDX-License-Identifier: BSD-3-Clause
// All stages: the lists from which recipes, help texts, tests and fuzzers are made. A new stage is
// one word in one of these lines.
#pragma once

#include "leeway/encode/adaptive.h"
#include "leeway/encode/arithmetic.h"
#include "leeway/encode/fixed.h"
#include "leeway/encode/fixed_huffman.h"
#include "leeway/encode/huffman.h"
#include "leeway/encode/pack.h"
#include "leeway/encode/rans.h"
#include "leeway/encode/raw.h"
#include "leeway/encode/residual.h"
#include "leeway/lossless/bitshuffle.h"
#include "leeway/lossless/deflate.h"
#include "leeway/lossless/gzip.h"
#include "leeway/lossless/lz4.h"
#include "leeway/lossless/shuffle.h"
#include "leeway/lossless/store.h"
#include "leeway/lossless/zstd.h"
#include "leeway/predict/blocks.h"
#include "leeway/predict/composite.h"
#include "leeway/predict/cross.h"
#include "leeway/predict/ghost.h"
#include "leeway/predict/interp.h"
#include "leeway/predict/lag.h"
#include "leeway/predict/lorenzo.h"
#include "leeway/predict/pattern.h"
#include "leeway/predict/pyramid.h"
#include "leeway/predict/regression.h"
#include "leeway/predict/wavefront.h"
#include "leeway/predict/wavelet.h"
#include "leeway/preprocess/dft.h"
#include "leeway/preprocess/linearize.h"
#include "leeway/preprocess/log.h"
#include "leeway/preprocess/reshape.h"
#include "leeway/preprocess/transpose.h"
#include "leeway/quantize/elementwise.h"
#include "leeway/quantize/exact.h"
#include "leeway/quantize/linear.h"
#include "leeway/quantize/logscale.h"
#include "leeway/quantize/truncate.h"

namespace leeway {

template <class... S>
struct List {};

using Preprocessors = List<Log, Transpose, Reshape, Linearize, Dft>;
using Predictors = List<Lorenzo, Blocks, Interp, Pyramid, Wavefront, Ghost, Composite, Regression,
                        Lag, Pattern, Cross, Wavelet>;
using Quantizers = List<Linear, Logscale, Elementwise, Truncate, Exact>;
using Encoders =
    List<Huffman, Adaptive, Rans, Pack, Fixed, FixedHuffman, Arithmetic, Residual, Raw>;
using LosslessStages = List<Zstd, Deflate, Gzip, Lz4, Shuffle, BitShuffle, Store>;

template <class... A, class... B>
List<A..., B...> operator+(List<A...>, List<B...>);

using AllStages =
    decltype(Preprocessors() + Predictors() + Quantizers() + Encoders() + LosslessStages());

}  // namespace leeway

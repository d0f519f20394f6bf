// SPDX-License-Identifier: BSD-3-Clause
// Lifting: from values to means and differences, in place, and back (wavelet.md, "Halving").
//
//   d[i] = x[2i+1] - sum p_k (x[2i-2k] + x[2i+2+2k])            k = 0, 1, 2 (or 3)
//   s[i] = x[2i]   + sum p_k / 2 (d[i-1-k] + d[i+k])
//
// The weights p are those that interpolate polynomials of degree 5 or 7 [Deslauriers and Dubuc,
// 1989]; with the second step, s are means rather than samples [Sweldens, 1996]. Beyond its ends an
// axis is mirrored.
#pragma once

#include "leeway/base/shape.h"
#include "leeway/predict/wavelet/bands.h"

namespace leeway::wavelet {

// Every operation is rounded to C, in the order written in lifting.cc.
template <class C>
void forward(C* values, const Shape& shape, const Bands& bands, size_t filter);
template <class C>
void backward(C* values, const Shape& shape, const Bands& bands, size_t filter);

}  // namespace leeway::wavelet

// SPDX-License-Identifier: BSD-3-Clause
// Kernels: the vector forms of LinearGrid, equal to its scalar definition bit for bit.
#pragma once

#include "leeway/base/export.h"
#include "leeway/base/field.h"
#include "leeway/stage/wave.h"

namespace leeway {

template <class T>
struct LinearGrid;

namespace kernel {

// linear.cc. The array forms of LinearGrid, for values [0, n): they stop before a value that is for
// the scalar definition, and return how many values they have done.
LEEWAY_EXPORT size_t quantize(const LinearGrid<float>& grid, float* x, size_t n, i32* q,
                              double& max_error);
LEEWAY_EXPORT size_t quantize(const LinearGrid<double>& grid, double* x, size_t n, i64* q,
                              double& max_error);
// linear_planes.cc. Quantizes all values of a plane of rows of T, to x and q. Returns whether each
// has a code, one of 16 bits if that is what q holds. If not, x and q mean nothing.
LEEWAY_EXPORT bool quantize_plane(const LinearGrid<float>& grid,
                                  const Plane<const std::byte>& plane, float* x, i32* q,
                                  double& max_error);
LEEWAY_EXPORT bool quantize_plane(const LinearGrid<double>& grid,
                                  const Plane<const std::byte>& plane, double* x, i64* q,
                                  double& max_error);
LEEWAY_EXPORT bool quantize_plane(const LinearGrid<float>& grid,
                                  const Plane<const std::byte>& plane, float* x, i16* q,
                                  double& max_error);
LEEWAY_EXPORT bool quantize_plane(const LinearGrid<double>& grid,
                                  const Plane<const std::byte>& plane, double* x, i16* q,
                                  double& max_error);
LEEWAY_EXPORT size_t recover(const LinearGrid<float>& grid, const i16* q, size_t n, float* x);
LEEWAY_EXPORT size_t recover(const LinearGrid<double>& grid, const i16* q, size_t n, double* x);
LEEWAY_EXPORT size_t recover(const LinearGrid<float>& grid, const i32* q, size_t n, float* x);
LEEWAY_EXPORT size_t recover(const LinearGrid<double>& grid, const i64* q, size_t n, double* x);
// The same with a prediction for every value.
LEEWAY_EXPORT size_t quantize_run(const LinearGrid<float>& grid, float* x, const float* p, size_t n,
                                  i32* q, double& max_error);
LEEWAY_EXPORT size_t quantize_run(const LinearGrid<double>& grid, double* x, const double* p,
                                  size_t n, i64* q, double& max_error);
LEEWAY_EXPORT size_t recover_run(const LinearGrid<float>& grid, float* x, const float* p, size_t n,
                                 const i32* q);
LEEWAY_EXPORT size_t recover_run(const LinearGrid<double>& grid, double* x, const double* p,
                                 size_t n, const i64* q);

}  // namespace kernel

// linear_wave.cc. Writes the codes of all rows, and replaces the values by what recover_wave() will
// make of the codes. Returns false and changes nothing if a value has no code.
LEEWAY_EXPORT bool quantize_wave(const LinearGrid<float>& grid, const Wave<float>& rows, i32* codes,
                                 double& max_error);
LEEWAY_EXPORT bool quantize_wave(const LinearGrid<double>& grid, const Wave<double>& rows,
                                 i64* codes, double& max_error);
// Returns false and changes nothing if some codes are for the scalar definition.
LEEWAY_EXPORT bool recover_wave(const LinearGrid<float>& grid, const Wave<float>& rows,
                                const i32* codes);
LEEWAY_EXPORT bool recover_wave(const LinearGrid<double>& grid, const Wave<double>& rows,
                                const i64* codes);

// linear_block.cc. The same for blocks.
LEEWAY_EXPORT bool quantize_block(const LinearGrid<float>& grid, const BlockWave<float>& block,
                                  i32* codes, double& max_error);
LEEWAY_EXPORT bool quantize_block(const LinearGrid<double>& grid, const BlockWave<double>& block,
                                  i64* codes, double& max_error);
LEEWAY_EXPORT bool recover_block(const LinearGrid<float>& grid, const BlockWave<float>& block,
                                 const i32* codes);
LEEWAY_EXPORT bool recover_block(const LinearGrid<double>& grid, const BlockWave<double>& block,
                                 const i64* codes);

}  // namespace leeway

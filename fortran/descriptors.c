/* SPDX-License-Identifier: BSD-3-Clause
 * Fortran arrays of any kind, rank and section, as the C interface takes them: a C descriptor
 * carries type, extents and byte strides. Fortran's first axis is the fastest, leeway's the last.
 */
#include <ISO_Fortran_binding.h>

#include "leeway/leeway.h"

static int dtype_of(const CFI_cdesc_t* array) {
  if (array->type == CFI_type_float) return LEEWAY_F32;
  if (array->type == CFI_type_double) return LEEWAY_F64;
  if (array->type == CFI_type_int8_t) return LEEWAY_I8;
  if (array->type == CFI_type_int16_t) return LEEWAY_I16;
  if (array->type == CFI_type_int32_t) return LEEWAY_I32;
  if (array->type == CFI_type_int64_t) return LEEWAY_I64;
  return 0; /* refused by the call that follows */
}

/* `shape` and `strides` have room for LEEWAY_MAX_RANK axes. */
static leeway_array describe(const CFI_cdesc_t* from, uint64_t* shape, int64_t* strides) {
  leeway_array array = {from->base_addr, dtype_of(from), from->rank, shape, strides};
  for (int axis = 0; axis < from->rank && axis < LEEWAY_MAX_RANK; ++axis) {
    shape[from->rank - 1 - axis] = (uint64_t)from->dim[axis].extent;
    strides[from->rank - 1 - axis] = (int64_t)from->dim[axis].sm;
  }
  return array;
}

LEEWAY_API int leeway_fortran_compress(leeway_context* context, const CFI_cdesc_t* values,
                                       leeway_buffer** stream) {
  uint64_t shape[CFI_MAX_RANK];
  int64_t strides[CFI_MAX_RANK];
  const leeway_array array = describe(values, shape, strides);
  return leeway_compress(context, &array, stream);
}

/* `first`: of the part to decode, counted from 1, first axis first; NULL: all of it. */
LEEWAY_API int leeway_fortran_decompress(leeway_context* context, const void* stream, size_t size,
                                         const int64_t* first, const CFI_cdesc_t* values) {
  uint64_t shape[CFI_MAX_RANK], begin[CFI_MAX_RANK];
  int64_t strides[CFI_MAX_RANK];
  const leeway_array array = describe(values, shape, strides);
  if (!first) return leeway_decompress(context, stream, size, &array);
  for (int axis = 0; axis < values->rank; ++axis)
    begin[values->rank - 1 - axis] = (uint64_t)(first[axis] - 1);
  return leeway_decompress_region(context, stream, size, begin, &array);
}

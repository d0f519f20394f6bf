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

/* What the C interface takes, with room for what it points at. */
typedef struct description {
  leeway_array array;
  uint64_t shape[CFI_MAX_RANK];
  int64_t strides[CFI_MAX_RANK];
} description;

/* An array that is not allocated has no extents; the calls that follow say that it has no data. */
static const leeway_array* describe(const CFI_cdesc_t* from, description* to) {
  for (int axis = 0; axis < from->rank; ++axis) {
    to->shape[from->rank - 1 - axis] = from->base_addr ? (uint64_t)from->dim[axis].extent : 1;
    to->strides[from->rank - 1 - axis] = (int64_t)from->dim[axis].sm;
  }
  to->array.data = from->base_addr;
  to->array.dtype = dtype_of(from);
  to->array.rank = from->rank;
  to->array.shape = to->shape;
  to->array.strides = from->base_addr ? to->strides : NULL;
  return &to->array;
}

/* Fortran's index, counted from 1, first axis first, as an index of leeway. */
static void turn(const int64_t* first, int rank, uint64_t* index) {
  for (int axis = 0; axis < rank; ++axis) index[rank - 1 - axis] = (uint64_t)(first[axis] - 1);
}

LEEWAY_API int leeway_fortran_compress(leeway_context* context, const CFI_cdesc_t* values,
                                       leeway_buffer** stream) {
  description array;
  return leeway_compress(context, describe(values, &array), stream);
}

LEEWAY_API int leeway_fortran_compress_into(leeway_context* context, const CFI_cdesc_t* values,
                                            void* stream, size_t capacity, size_t* size) {
  description array;
  return leeway_compress_into(context, describe(values, &array), stream, capacity, size);
}

LEEWAY_API int leeway_fortran_max_compressed_size(leeway_context* context,
                                                  const CFI_cdesc_t* values, size_t* size) {
  description array;
  return leeway_max_compressed_size(context, describe(values, &array), size);
}

LEEWAY_API int leeway_fortran_value_range(leeway_context* context, const CFI_cdesc_t* values,
                                          double* lowest, double* highest) {
  description array;
  return leeway_value_range(context, describe(values, &array), lowest, highest);
}

/* `first`: of the part to decode, counted from 1, first axis first; NULL: all of it. */
LEEWAY_API int leeway_fortran_decompress(leeway_context* context, const void* stream, size_t size,
                                         const int64_t* first, const CFI_cdesc_t* values) {
  description array;
  uint64_t begin[CFI_MAX_RANK];
  describe(values, &array);
  if (!first) return leeway_decompress(context, stream, size, &array.array);
  turn(first, values->rank, begin);
  return leeway_decompress_region(context, stream, size, begin, &array.array);
}

LEEWAY_API int leeway_fortran_update_file(leeway_context* context, const char* path,
                                          const int64_t* first, const CFI_cdesc_t* values) {
  description array;
  uint64_t begin[CFI_MAX_RANK];
  turn(first, values->rank, begin);
  return leeway_update_file(context, path, begin, describe(values, &array));
}

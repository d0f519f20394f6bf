/* SPDX-License-Identifier: BSD-3-Clause
 * Fortran arrays of any kind, rank and section, as the C interface takes them: a C descriptor
 * carries type, extents and byte strides. Fortran's first axis is the fastest, leeway's the last.
 */
#include "descriptors.h"

static int dtype_of(const CFI_cdesc_t* array) {
  if (array->type == CFI_type_float) return LEEWAY_F32;
  if (array->type == CFI_type_double) return LEEWAY_F64;
  if (array->type == CFI_type_int8_t) return LEEWAY_I8;
  if (array->type == CFI_type_int16_t) return LEEWAY_I16;
  if (array->type == CFI_type_int32_t) return LEEWAY_I32;
  if (array->type == CFI_type_int64_t) return LEEWAY_I64;
  return 0; /* refused by the call that follows */
}

/* An array that is not allocated has no extents; the calls that follow say that it has no data. */
const leeway_array* leeway_fortran_describe(const CFI_cdesc_t* from, leeway_fortran_array* to) {
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
void leeway_fortran_turn(const int64_t* first, int rank, uint64_t* index) {
  for (int axis = 0; axis < rank; ++axis) index[rank - 1 - axis] = (uint64_t)(first[axis] - 1);
}

LEEWAY_API int leeway_fortran_compress(leeway_context* context, const CFI_cdesc_t* values,
                                       leeway_buffer** stream) {
  leeway_fortran_array array;
  return leeway_compress(context, leeway_fortran_describe(values, &array), stream);
}

LEEWAY_API int leeway_fortran_compress_into(leeway_context* context, const CFI_cdesc_t* values,
                                            void* stream, size_t capacity, size_t* size) {
  leeway_fortran_array array;
  return leeway_compress_into(context, leeway_fortran_describe(values, &array), stream, capacity,
                              size);
}

LEEWAY_API int leeway_fortran_max_compressed_size(leeway_context* context,
                                                  const CFI_cdesc_t* values, size_t* size) {
  leeway_fortran_array array;
  return leeway_max_compressed_size(context, leeway_fortran_describe(values, &array), size);
}

LEEWAY_API int leeway_fortran_value_range(leeway_context* context, const CFI_cdesc_t* values,
                                          double* lowest, double* highest) {
  leeway_fortran_array array;
  return leeway_value_range(context, leeway_fortran_describe(values, &array), lowest, highest);
}

/* `first`: of the part to decode, counted from 1, first axis first; NULL: all of it. */
LEEWAY_API int leeway_fortran_decompress(leeway_context* context, const void* stream, size_t size,
                                         const int64_t* first, const CFI_cdesc_t* values) {
  leeway_fortran_array array;
  uint64_t begin[CFI_MAX_RANK];
  leeway_fortran_describe(values, &array);
  if (!first) return leeway_decompress(context, stream, size, &array.array);
  leeway_fortran_turn(first, values->rank, begin);
  return leeway_decompress_region(context, stream, size, begin, &array.array);
}

LEEWAY_API int leeway_fortran_update_file(leeway_context* context, const char* path,
                                          const int64_t* first, const CFI_cdesc_t* values) {
  leeway_fortran_array array;
  uint64_t begin[CFI_MAX_RANK];
  leeway_fortran_turn(first, values->rank, begin);
  return leeway_update_file(context, path, begin, leeway_fortran_describe(values, &array));
}

LEEWAY_API int leeway_fortran_append_file(leeway_context* context, const char* path,
                                          const CFI_cdesc_t* values) {
  leeway_fortran_array array;
  return leeway_append_file(context, path, leeway_fortran_describe(values, &array));
}

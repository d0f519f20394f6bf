/* SPDX-License-Identifier: BSD-3-Clause
 * What the Fortran module leeway_mpi calls: communicators and arrays of Fortran. */
#include "descriptors.h"
#include "leeway_mpi.h"

/* The part of an array that a rank of Fortran has; a part without values is none. */
static size_t block_of(const CFI_cdesc_t* values, const int64_t* first, leeway_fortran_array* array,
                       uint64_t* begin, leeway_block* block) {
  leeway_fortran_describe(values, array);
  leeway_fortran_turn(first, values->rank, begin);
  block->first = begin;
  block->array = array->array;
  for (int axis = 0; axis < values->rank; ++axis)
    if (array->shape[axis] == 0) return 0;
  return 1;
}

typedef leeway_status put_function(leeway_context*, MPI_Comm, const char*, int, int,
                                   const uint64_t*, size_t, const leeway_block*,
                                   const leeway_write_options*, leeway_write_report*);

static int put(put_function* function, leeway_context* context, const MPI_Fint* comm,
               const char* path, const CFI_cdesc_t* values, const int64_t* first,
               const int64_t* shape) {
  leeway_fortran_array array;
  uint64_t begin[CFI_MAX_RANK], whole[CFI_MAX_RANK];
  leeway_block block;
  const size_t blocks = block_of(values, first, &array, begin, &block);
  for (int axis = 0; axis < values->rank; ++axis)
    whole[values->rank - 1 - axis] = (uint64_t)shape[axis];
  return function(context, MPI_Comm_f2c(*comm), path, array.array.dtype, values->rank, whole,
                  blocks, &block, NULL, NULL);
}

LEEWAY_API int leeway_mpi_fortran_write(leeway_context* context, const MPI_Fint* comm,
                                        const char* path, const CFI_cdesc_t* values,
                                        const int64_t* first, const int64_t* shape) {
  return put(leeway_mpi_write, context, comm, path, values, first, shape);
}

LEEWAY_API int leeway_mpi_fortran_append(leeway_context* context, const MPI_Fint* comm,
                                         const char* path, const CFI_cdesc_t* values,
                                         const int64_t* first, const int64_t* shape) {
  return put(leeway_mpi_append, context, comm, path, values, first, shape);
}

LEEWAY_API int leeway_mpi_fortran_read(leeway_context* context, const MPI_Fint* comm,
                                       const char* path, const CFI_cdesc_t* values,
                                       const int64_t* first) {
  leeway_fortran_array array;
  uint64_t begin[CFI_MAX_RANK];
  leeway_block block;
  const size_t blocks = block_of(values, first, &array, begin, &block);
  return leeway_mpi_read(context, MPI_Comm_f2c(*comm), path, blocks, &block);
}

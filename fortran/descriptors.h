/* SPDX-License-Identifier: BSD-3-Clause
 * Fortran's arrays and indices as the C interface takes them. */
#ifndef LEEWAY_FORTRAN_DESCRIPTORS_H
#define LEEWAY_FORTRAN_DESCRIPTORS_H

#include <ISO_Fortran_binding.h>
#include "leeway/leeway.h"

/* What the C interface takes, with room for what it points at. */
typedef struct leeway_fortran_array {
  leeway_array array;
  uint64_t shape[CFI_MAX_RANK];
  int64_t strides[CFI_MAX_RANK];
} leeway_fortran_array;

LEEWAY_API const leeway_array* leeway_fortran_describe(const CFI_cdesc_t* from,
                                                       leeway_fortran_array* to);
/* Fortran's index, counted from 1, first axis first, as an index of leeway. */
LEEWAY_API void leeway_fortran_turn(const int64_t* first, int rank, uint64_t* index);

#endif

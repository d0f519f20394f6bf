// SPDX-License-Identifier: BSD-3-Clause
// For builds without the HDF5 filter.
#include "python/filter_chunks.h"

void leeway::python::add_filter_chunks(nanobind::module_&) {}

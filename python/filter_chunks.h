// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

namespace leeway::python {

// Adds the class HDF5Filter: chunks of HDF5 datasets, as the filter writes and reads them. Builds
// without the filter have nothing to add.
void add_filter_chunks(nanobind::module_& module);

}  // namespace leeway::python

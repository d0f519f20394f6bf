// SPDX-License-Identifier: BSD-3-Clause
// What python/leeway/gpu.py is made of: devices, their memory, plans.
#pragma once

#include <nanobind/nanobind.h>

namespace leeway::python {

void add_gpu(nanobind::module_& m);

}  // namespace leeway::python

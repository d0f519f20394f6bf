// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

namespace leeway::python {

// Adds what advises on bounds, makes reports, and compresses variables together with promises.
void add_judge(nanobind::module_& module);

}  // namespace leeway::python

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

namespace leeway::python {

// Adds what leeway.mpi is made of: collective functions on a team that Python gives.
void add_team(nanobind::module_& module);

}  // namespace leeway::python

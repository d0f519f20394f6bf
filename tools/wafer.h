// SPDX-License-Identifier: BSD-3-Clause
// `leeway model wafer`: CereSZ on a mesh of processing elements.
#pragma once

#include "tools/cli.h"

namespace leeway::cli {

void add_wafer(CLI::App& model);

}  // namespace leeway::cli

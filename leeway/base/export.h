// SPDX-License-Identifier: BSD-3-Clause
// LEEWAY_EXPORT: marks what the shared library makes visible.
#pragma once

#define LEEWAY_EXPORT __attribute__((visibility("default")))

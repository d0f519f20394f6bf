// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic: what the operations of PTX that neither touch memory nor other lanes come to.
#pragma once

#include <array>
#include <cstdint>

#include "tests/ptx/program.h"

namespace leeway::gpu::ptx {

// Of numbers of the instruction's type in the low bits of `in`.
std::uint64_t compute(const Instruction& i, const std::array<std::uint64_t, 5>& in);

}  // namespace leeway::gpu::ptx

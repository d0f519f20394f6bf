// SPDX-License-Identifier: BSD-3-Clause
// Operation: what the name of an instruction of PTX says, as in "ld.global.v2.u64".
#pragma once

#include <optional>
#include <string_view>

#include "tests/ptx/program.h"

namespace leeway::gpu::ptx {

std::optional<Type> find_type(std::string_view word);
std::optional<Special> find_special(std::string_view word);
// Fills all of an instruction that its name says; false if the name is unknown.
bool describe(std::string_view name, Instruction& instruction);

}  // namespace leeway::gpu::ptx

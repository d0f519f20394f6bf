// SPDX-License-Identifier: BSD-3-Clause
// Text: numbers and words as a page shows them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "leeway/base/types.h"

namespace leeway::report {

std::string number(double value, int digits = 4);  // "0.0123", "1.23e-7", "not defined"
std::string exact_number(double value);            // the shortest text that reads back the same
std::string count(u64 value);                      // "12 345 678"
std::string percent(double part);                  // "1.25 %"
std::string escaped(std::string_view text);        // for HTML, also in attributes
std::string base64(std::span<const u8> bytes);

}  // namespace leeway::report

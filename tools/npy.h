// SPDX-License-Identifier: BSD-3-Clause
// The header of a .npy file: a Python dictionary with the keys descr, fortran_order and shape.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "leeway/base/shape.h"

namespace leeway::cli {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

struct NpyHeader {
  DType dtype = DType::f32;
  Shape shape;
  bool fortran_order = false, big_endian = false;
  size_t bytes = 0;  // of the header
};

// Reads the header at the beginning of a file and refuses whatever NumPy would not have written.
// NumPy has no name of its own for bf16: `wanted` says that two unknown bytes are one.
NpyHeader parse_npy(std::string_view file, const std::optional<DType>& wanted);

// The header for an array in C order.
std::string npy_header(DType dtype, const Shape& shape);

}  // namespace leeway::cli

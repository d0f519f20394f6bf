// SPDX-License-Identifier: BSD-3-Clause
// Whole streams through a design and through the library.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>

#include "leeway/engine/with_codec.h"
#include "rtl/tests/fields.h"
#include "rtl/tests/hardware_codec.h"

namespace leeway::rtl {

inline constexpr double kBounds[] = {1e-2, 1e-3, 1e-4, 1e-6};  // of the value range

inline void expect_same_stream(const TestField& field, double rel, const std::string& recipe,
                               const HardwareCodec& codec) {
  CompressOptions options;
  options.recipe = recipe;
  const auto range = value_range(field.view(), options);
  options.bound = Bound::abs(rel * (range->max - range->min));
  Bytes made;
  compress_with(codec, stored_recipe(options, DType::f32), field.view(), options,
                [&](ByteView bytes) { made.insert(made.end(), bytes.begin(), bytes.end()); });
  ASSERT_TRUE(made == compress(field.view(), options)) << field.name << " at " << rel;
  EXPECT_TRUE(codec.is_flagged_right) << field.name << " at " << rel;
  EXPECT_EQ(decompress(made).as<float>().size(), field.values.size());
  std::printf(
      "%s, %s, rel %g: %zu chunks in hardware, %zu of them left to the host, %.4f cycles a "
      "value, %zu bytes\n",
      recipe.c_str(), field.name.c_str(), rel, size_t(codec.chunks), size_t(codec.left_to_host),
      codec.points ? double(codec.cycles) / double(codec.points) : 0, made.size());
}

}  // namespace leeway::rtl

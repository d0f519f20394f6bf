// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/stage/params.h"

#include <gtest/gtest.h>

namespace leeway {
namespace {

struct Sample {
  i32 order = 1;
  double gain = 0.5;
  void fields(auto&& field) {
    field("order", order, 1, 3, "how many");
    field("gain", gain, 0.0, 1e30, "how much");
  }
};

TEST(Params, OnlyWhatDiffersIsPrinted) {
  Sample sample;
  EXPECT_EQ(print_params(sample), "");
  set_param(sample, "s", "gain", "1e20");
  EXPECT_EQ(print_params(sample), "gain=1e20");  // no '+', which would end a stage
  set_param(sample, "s", "order", "2");
  EXPECT_EQ(print_params(sample), "order=2,gain=1e20");
}

TEST(Params, ErrorsSayWhatExists) {
  Sample sample;
  const auto message = [&](const char* key, const char* value) {
    try {
      set_param(sample, "s", key, value);
      return std::string();
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(message("ordr", "1"), "stage 's' has no parameter 'ordr'; it takes: order, gain");
  EXPECT_EQ(message("order", "4"), "stage 's': order must be 1 to 3, not '4'");
  EXPECT_EQ(message("order", "2.5"), "stage 's': order must be 1 to 3, not '2.5'");
  EXPECT_NE(message("gain", "nan"), "");
  EXPECT_NE(message("gain", ""), "");
}

}  // namespace
}  // namespace leeway

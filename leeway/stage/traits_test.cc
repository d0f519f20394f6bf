// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/stage/traits.h"

#include <gtest/gtest.h>

#include "leeway/stage/stage.h"

namespace leeway {
namespace {

struct Untold {
  static constexpr std::string_view kName = "untold", kAbout = "says nothing about itself";
  static constexpr Kind kKind = Kind::lossless;
  NoParams params;
};
struct Told : Untold {
  static constexpr Traits kTraits{};
};
struct Misspelt : Untold {
  [[maybe_unused]] static constexpr Traits kTrait{};
};
struct OfAnotherType : Untold {
  static constexpr bool kTraits = true;
};
static_assert(Stage<Told>);
static_assert(!Stage<Untold> && !Stage<Misspelt> && !Stage<OfAnotherType>);

TEST(Traits, OnlyWhatDiffersIsPrinted) {
  EXPECT_EQ(print_traits({}), "");
  EXPECT_EQ(print_traits({.floating_only = false, .by_value = true}), "by_value");
  EXPECT_EQ(print_traits({.chunk_values = 4096, .floating_only = true}),
            "chunk_values=4096, floating_only");
}

TEST(Traits, AllAreListed) {
  size_t count = 0;
  Traits{}.fields([&](std::string_view name, auto value, std::string_view about) {
    EXPECT_FALSE(name.empty() || about.empty());
    EXPECT_EQ(value, decltype(value)()) << name;
    ++count;
  });
  EXPECT_EQ(count, 14u);
  static_assert(sizeof(Traits) == 8 + 16, "a new trait goes to fields(), too");
}

}  // namespace
}  // namespace leeway

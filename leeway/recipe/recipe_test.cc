// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/recipe/recipe.h"

#include <set>

#include "tests/support.h"

namespace leeway::test {
namespace {

std::string complaint(const std::string& recipe) {
  try {
    parse_recipe(recipe);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    return error.what();
  }
}

TEST(Recipe, TextComesBack) {
  for (const char* text : {"linear+lorenzo+huffman+zstd",
                           "lorenzo:order=2,axes=3+linear+huffman+zstd:level=-3", "zstd"})
    EXPECT_EQ(to_string(parse_recipe(text)), text);
  EXPECT_EQ(to_string(parse_recipe("linear+lorenzo:order=1+zstd:level=1")), "linear+lorenzo+zstd");
}

TEST(Recipe, NamesStandForRecipes) {
  std::set<std::string_view> names;
  for (const NamedRecipe& named : named_recipes()) {
    EXPECT_EQ(to_string(parse_recipe(named.name)), to_string(parse_recipe(named.recipe)));
    EXPECT_TRUE(names.insert(named.name).second);
  }
  for (const StageInfo& stage : all_stages())
    EXPECT_TRUE(names.insert(stage.name).second) << stage.name;
}

TEST(Recipe, ErrorsSayWhatIsWrongAndWhatExists) {
  const std::string unknown = complaint("lorenso+linear");
  EXPECT_EQ(unknown.find("there is no stage or recipe 'lorenso'; there are: log, transpose, "), 0u);
  for (const StageInfo& stage : all_stages())
    EXPECT_NE(unknown.find(' ' + std::string(stage.name)), std::string::npos) << stage.name;
  EXPECT_NE(
      complaint("huffman+linear").find("'linear' (quantizer) cannot follow 'huffman' (encoder)"),
      std::string::npos);
  EXPECT_NE(complaint("linear+lorenzo+linear").find("at most one quantizer"), std::string::npos);
  EXPECT_NE(complaint("linear:step=3").find("step must be short or pow2"), std::string::npos);
  EXPECT_NE(complaint("lorenzo:order=9").find("order must be 1 to 4"), std::string::npos);
  EXPECT_NE(complaint("lorenzo:order").find("expected key=value"), std::string::npos);
  EXPECT_NE(complaint("lorenzo:").find("nothing follows"), std::string::npos);
  EXPECT_NE(complaint("linear++zstd").find("a stage is missing"), std::string::npos);
  EXPECT_NE(complaint("").find("empty"), std::string::npos);
  for (const char* recipe : {"small:9", "small+zstd", "log+small"})
    EXPECT_EQ(complaint(recipe),
              "'small' is a whole recipe: it stands alone, without parameters. It is short for " +
                  to_string(parse_recipe("small")));
}

TEST(Recipe, MayHaveAlternatives) {
  const Recipe recipe = parse_recipe("sz3-interp|linear+lorenzo:order=1+pack|plain");
  EXPECT_EQ(to_string(recipe),
            to_string(parse_recipe("sz3-interp")) + "|linear+lorenzo+pack|linear+huffman");
  EXPECT_EQ(to_string(parse_recipe(to_string(recipe))), to_string(recipe));
  ASSERT_EQ(alternatives_of(recipe).size(), 3u);
  EXPECT_EQ(to_string(alternatives_of(recipe)[2]), "linear+huffman");
  EXPECT_EQ(to_string(with_first("log", recipe)),
            "log+" + to_string(parse_recipe("sz3-interp")) +
                "|log+linear+lorenzo+pack|log+linear+huffman");
  EXPECT_NE(complaint("small|").find("empty"), std::string::npos);
  EXPECT_NE(complaint("small|lorenso").find("there is no stage or recipe 'lorenso'"),
            std::string::npos);
  EXPECT_EQ(complaint("linear|log+linear"),
            "the alternatives 'linear' and 'log+linear' take bounds of different kinds");
  EXPECT_EQ(complaint("linear|lorenzo+elementwise"),
            "the alternatives 'linear' and 'lorenzo+elementwise' take bounds of different kinds");
  EXPECT_EQ(complaint("fast|fast|fast|fast|fast|fast|fast|fast|fast"),
            "a recipe has at most 8 alternatives");
}

TEST(Recipe, HasFewStages) {
  EXPECT_EQ(complaint("dft+dft+dft+dft+linear+zstd+zstd+zstd+zstd"), "");
  EXPECT_EQ(complaint("dft+dft+dft+dft+dft+linear"), "a recipe has at most 4 preprocessors");
  EXPECT_EQ(complaint("linear+zstd+lz4+zstd+lz4+store"), "a recipe has at most 4 lossless stages");
  EXPECT_EQ(complaint(std::string(2000, '+')), "a recipe has at most 1024 characters");
}

}  // namespace
}  // namespace leeway::test

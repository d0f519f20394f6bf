// SPDX-License-Identifier: BSD-3-Clause
#include "tools/variable_bounds.h"

#include <fmt/format.h>
#include <fnmatch.h>

#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "leeway/choose/choose.h"
#include "leeway/stage/params.h"
#include "tools/h5.h"
#include "tools/h5_cf.h"
#include "tools/variables.h"

namespace leeway::cli {
namespace {

// "/ocean/s" and "ocean/s" are the same.
std::string without_slash(const std::string& name) {
  return name.starts_with('/') ? name.substr(1) : name;
}

bool matches(const std::string& pattern, const std::string& name) {
  const std::string wanted = without_slash(pattern), path = without_slash(name);
  return wanted == path || ::fnmatch(wanted.c_str(), path.c_str(), 0) == 0;
}

// Reads a bounds file, and says where it makes no sense.
class BoundsReader {
 public:
  explicit BoundsReader(const std::string& path) : path_(path) {}

  BoundsFile read() const {
    BoundsFile result;
    if (!std::filesystem::exists(path_))
      throw Error(Errc::io, "there is no bounds file '" + path_ + "'");
    toml::table file;
    try {
      file = toml::parse_file(path_);
    } catch (const toml::parse_error& error) {
      fail(error.source(), std::string(error.description()));
    }
    for (const auto& [key, node] : file) {
      if (key == "default")
        result.general = bound_of("default", node).bound;
      else if (key == "recipe")
        result.recipe = recipe_of(node);
      else if (key == "exclude")
        result.excluded = names_of(node);
      else if (key == "variables" && node.is_table())
        result.own = variables_of(*node.as_table());
      else
        fail(node.source(), "'" + std::string(key) +
                                "' means nothing; there are default, recipe, exclude and the table "
                                "[variables]");
    }
    return result;
  }

 private:
  [[noreturn]] void fail(const toml::source_region& where, const std::string& what) const {
    fail_argument(fmt::format("'{}', line {}: {}", path_, where.begin.line, what));
  }
  std::string text_of(const toml::node& node, const std::string& what) const {
    const auto text = node.value<std::string>();
    if (!text) fail(node.source(), what + " is a text");
    return *text;
  }
  std::string recipe_of(const toml::node& node) const {
    const std::string recipe = text_of(node, "recipe");
    try {
      check_recipe(recipe);
    } catch (const Error& error) {
      fail(node.source(), error.what());
    }
    return recipe;
  }
  std::vector<std::string> names_of(const toml::node& node) const {
    if (node.is_string()) return {text_of(node, "exclude")};
    std::vector<std::string> names;
    if (!node.is_array()) fail(node.source(), "exclude is a name or a list of names");
    for (const toml::node& name : *node.as_array()) names.push_back(text_of(name, "a name"));
    return names;
  }
  std::vector<OwnBound> variables_of(const toml::table& table) const {
    std::vector<std::pair<toml::source_position, OwnBound>> found;
    for (const auto& [name, node] : table)
      found.emplace_back(node.source().begin, bound_of(std::string(name), node));
    std::ranges::sort(found, {}, [](const auto& entry) {
      return std::pair(entry.first.line, entry.first.column);
    });
    std::vector<OwnBound> result;
    for (auto& [where, bound] : found) result.push_back(std::move(bound));
    return result;
  }
  // A text like that of --variable, or a table like { abs = 5, psnr = 60, recipe = "small" }.
  OwnBound bound_of(const std::string& name, const toml::node& node) const {
    OwnBound result{name, {}, {}, {}};
    try {
      if (const auto text = node.value<std::string>()) {
        if (!parse_bound(*text, result)) result.bound = {};
      } else if (node.is_table())
        for (const auto& [key, value] : *node.as_table()) add(result, std::string(key), value);
    } catch (const Error& error) {
      fail(node.source(), "'" + name + "': " + error.what());
    }
    if (result.bound.limits().empty())
      fail(node.source(),
           "'" + name + "' needs a bound, like \"abs:0.01\", \"lossless\" or { rel = 1e-4 }");
    return result;
  }
  void add(OwnBound& result, const std::string& key, const toml::node& value) const {
    if (key == "recipe") {
      result.recipe = text_of(value, key);
      check_recipe(result.recipe);
    } else if (key == "lossless") {
      if (value.value<bool>() != true) fail_argument("lossless can only be true");
      result.bound.add(BoundKind::lossless, 0);
    } else if (key == "keep") {
      result.rules.take(key, text_of(value, key));
    } else {
      const auto number = value.value<double>();
      if (!number) fail_argument(key + " is a number");
      if (!result.rules.take(key, detail::number_text(*number)))
        result.bound.add(parse_bound_kind(key), *number);
    }
  }

  std::string path_;
};

}  // namespace

BoundsFile read_bounds_file(const std::string& path) { return BoundsReader(path).read(); }

bool is_pattern(const std::string& name) { return name.find_first_of("*?[") != name.npos; }

bool means(const std::vector<std::string>& patterns, const std::string& name) {
  return std::ranges::any_of(patterns, [&](const auto& pattern) { return matches(pattern, name); });
}

Candidates::Candidates(const h5::File& file, const std::vector<std::string>& excluded) {
  const std::map<std::string, std::string> descriptions = h5::descriptions(file);
  for (const std::string& name : file.arrays()) {
    const h5::Variable variable = file.variable(name);
    if (variable.is_scale() || variable.shape().size() == 0) continue;
    const auto described = descriptions.find(name);
    if (means(excluded, name))
      left_alone.emplace_back(name, "it is excluded");
    else if (described != descriptions.end())
      left_alone.emplace_back(name, described->second);
    else
      names.push_back(name);
  }
}

FileVariables data_variables(const h5::Address& address) {
  const h5::File file(address.path, address.names);
  if (!address.names.empty()) return {address.names, {}};
  FileVariables result;
  Candidates candidates(file, {});
  for (const std::string& name : candidates.names)
    if (file.variable(name).holds_floating()) result.names.push_back(name);
  result.left_alone = std::move(candidates.left_alone);
  return result;
}

bool Candidates::has(const std::string& pattern) const {
  return std::ranges::any_of(names,
                             [&](const std::string& name) { return matches(pattern, name); });
}

std::vector<OwnBound> expanded(const std::vector<OwnBound>& bounds, const Candidates& candidates) {
  std::vector<OwnBound> result;
  for (const OwnBound& bound : bounds) {
    if (!is_pattern(bound.name)) continue;
    const size_t before = result.size();
    for (const std::string& name : candidates.names)
      if (matches(bound.name, name)) result.push_back({name, bound.bound, bound.recipe});
    if (result.size() == before) fail_argument("no variable is meant by '" + bound.name + "'");
  }
  for (const OwnBound& bound : bounds)
    if (!is_pattern(bound.name)) result.push_back(bound);
  return result;
}

}  // namespace leeway::cli

// SPDX-License-Identifier: BSD-3-Clause
// Params: a stage lists its parameters once, in fields(); text, checks, docs and tests come from
// that list.
//
//   struct Params {
//     i32 order = 1;
//     void fields(auto&& field) { field("order", order, 1, 2, "layers of neighbours"); }
//   };
//
// A parameter may also be an enum whose values from 0 on have names: param_words(Enum) lists them.
#pragma once

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "leeway/base/error.h"
#include "leeway/base/types.h"

namespace leeway {

struct NoParams {
  void fields(auto&&) {}
};

// One line of the parameter table.
struct ParamInfo {
  std::string name, value, range, about;
};

namespace detail {

template <class V>
requires std::is_enum_v<V> std::string number_text(V value) {
  const auto& words = param_words(V());
  return size_t(value) < std::size(words) ? std::string(words[size_t(value)])
                                          : std::to_string(size_t(value));
}

template <class V>
requires std::is_enum_v<V>
bool parse_number(std::string_view text, V& value) {
  const auto& words = param_words(V());
  const auto found = std::ranges::find(words, text);
  value = V(found - std::ranges::begin(words));
  return found != std::ranges::end(words);
}

template <class V>
requires std::is_arithmetic_v<V> std::string number_text(V value) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  std::string result(text, end);
  std::erase(result, '+');  // "1e+20" would end a stage in a recipe
  return result;
}

template <class V>
requires std::is_arithmetic_v<V>
bool parse_number(std::string_view text, V& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// "1 to 2", "short or pow2"
template <class V>
std::string range_text(V lowest, V highest) {
  if constexpr (std::is_enum_v<V>) {
    std::string text;
    for (const std::string_view word : param_words(V()))
      text += (text.empty() ? "" : " or ") + std::string(word);
    return text;
  } else {
    return number_text(lowest) + " to " + number_text(highest);
  }
}

template <class V>
bool is_between(V lowest, V highest, V value) {
  return value >= lowest && value <= highest;
}
template <class V>
[[noreturn]] void fail_range(std::string_view stage, std::string_view name, V lowest, V highest,
                             std::string_view text) {
  fail_argument("stage '" + std::string(stage) + "': " + std::string(name) + " must be " +
                range_text(lowest, highest) + ", not '" + std::string(text) + "'");
}

}  // namespace detail

template <class Params>
std::vector<ParamInfo> param_table(Params params) {
  std::vector<ParamInfo> table;
  params.fields(
      [&](std::string_view name, auto& value, auto lowest, auto highest, std::string_view about) {
        using V = std::remove_reference_t<decltype(value)>;
        table.push_back({std::string(name), detail::number_text(value),
                         detail::range_text(V(lowest), V(highest)), std::string(about)});
      });
  return table;
}

// "order=2,axes=3": the parameters that differ from their defaults.
template <class Params>
std::string print_params(Params params) {
  std::string text;
  const auto values = param_table(params), defaults = param_table(Params{});
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i].value != defaults[i].value)
      text += (text.empty() ? "" : ",") + values[i].name + "=" + values[i].value;
  return text;
}

// Sets one parameter from text; throws with what is wrong and what exists.
template <class Params>
void set_param(Params& params, std::string_view stage, std::string_view key,
               std::string_view text) {
  bool found = false;
  std::string known;
  params.fields([&](std::string_view name, auto& value, auto lowest, auto highest,
                    std::string_view) {
    using V = std::remove_reference_t<decltype(value)>;
    known += (known.empty() ? "" : ", ") + std::string(name);
    if (name != key) return;
    found = true;
    V parsed{};
    if (!detail::parse_number(text, parsed) || !detail::is_between(V(lowest), V(highest), parsed))
      detail::fail_range(stage, name, V(lowest), V(highest), text);
    value = parsed;
  });
  if (!found)
    fail_argument("stage '" + std::string(stage) + "' has no parameter '" + std::string(key) +
                  "'; " + (known.empty() ? "it takes none" : "it takes: " + known));
}

// Throws unless every parameter is in its range and all of them fit together.
template <class Params>
void check_params(Params params, std::string_view stage) {
  params.fields(
      [&](std::string_view name, auto& value, auto lowest, auto highest, std::string_view) {
        using V = std::remove_reference_t<decltype(value)>;
        if (!detail::is_between(V(lowest), V(highest), value))
          detail::fail_range(stage, name, V(lowest), V(highest), detail::number_text(value));
      });
  if constexpr (requires { params.check(); }) params.check();
}

}  // namespace leeway

// SPDX-License-Identifier: BSD-3-Clause
// Params: a stage lists its parameters once, in fields(); text, checks, docs and tests come from
// that list.
//
//   struct Params {
//     i32 order = 1;
//     void fields(auto&& field) { field("order", order, 1, 2, "layers of neighbours"); }
//   };
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "leeway/core/error.h"
#include "leeway/core/types.h"

namespace leeway {

struct NoParams {
  void fields(auto&&) {}
};

// One line of the parameter table.
struct ParamInfo {
  std::string name, value, lowest, highest, about;
};

namespace detail {

template <class V>
std::string number_text(V value) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  std::string result(text, end);
  std::erase(result, '+');  // "1e+20" would end a stage in a recipe
  return result;
}

template <class V>
bool parse_number(std::string_view text, V& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace detail

template <class Params>
std::vector<ParamInfo> param_table(Params params) {
  std::vector<ParamInfo> table;
  params.fields([&](std::string_view name, auto& value, auto lowest, auto highest,
                    std::string_view about) {
    using V = std::remove_reference_t<decltype(value)>;
    table.push_back({std::string(name), detail::number_text(value), detail::number_text(V(lowest)),
                     detail::number_text(V(highest)), std::string(about)});
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
  params.fields(
      [&](std::string_view name, auto& value, auto lowest, auto highest, std::string_view) {
        using V = std::remove_reference_t<decltype(value)>;
        known += (known.empty() ? "" : ", ") + std::string(name);
        if (name != key) return;
        found = true;
        V parsed{};
        if (!detail::parse_number(text, parsed) || !(parsed >= V(lowest) && parsed <= V(highest)))
          throw Error(Errc::invalid_argument,
                      "stage '" + std::string(stage) + "': " + std::string(name) +
                          " must be between " + detail::number_text(V(lowest)) + " and " +
                          detail::number_text(V(highest)) + ", not '" + std::string(text) + "'");
        value = parsed;
      });
  if (!found)
    throw Error(Errc::invalid_argument,
                "stage '" + std::string(stage) + "' has no parameter '" + std::string(key) + "'; " +
                    (known.empty() ? "it takes none" : "it takes: " + known));
}

}  // namespace leeway

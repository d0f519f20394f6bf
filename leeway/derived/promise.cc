// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/derived/promise.h"

#include <algorithm>
#include <charconv>

namespace leeway::derived {
namespace {

std::string without_spaces(std::string_view text) {
  std::string result;
  std::ranges::copy_if(text, std::back_inserter(result), [](char c) { return c != ' '; });
  return result;
}

template <class T>
bool parse(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// "f(inside)" -> inside; nothing if the text is something else.
std::optional<std::string_view> inside_of(std::string_view text, std::string_view function) {
  if (!text.starts_with(function) || text.size() < function.size() + 2 ||
      text[function.size()] != '(' || text.back() != ')')
    return {};
  int open = 0;
  for (size_t i = function.size(); i < text.size(); ++i) {
    open += (text[i] == '(') - (text[i] == ')');
    if (open == 0 && i + 1 < text.size()) return {};  // "mean(a)-mean(b)"
  }
  return text.substr(function.size() + 1, text.size() - function.size() - 2);
}

size_t number_of(std::string_view given, std::vector<std::string>& names, bool may_add) {
  if (given.starts_with('{') && given.ends_with('}')) given = given.substr(1, given.size() - 2);
  const std::string name(given);
  if (name.empty()) fail_argument("a promise needs the name of a variable");
  auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    if (!may_add) fail_argument("there is no variable '" + name + "'");
    names.push_back(name);
    found = names.end() - 1;
  }
  return size_t(found - names.begin());
}

// ",axis=0" and the like at the end of what a mean is of.
void take_groups(Promise& promise, std::string_view& inside) {
  promise.over = Over::whole;
  for (const std::string_view key : {",axis=", ",block=", ",region="}) {
    const size_t at = inside.find(key);
    if (at == inside.npos) continue;
    const std::string_view value = inside.substr(at + key.size());
    inside = inside.substr(0, at);
    int axis = 0;
    if (key == ",region=") {
      promise.over = Over::region;
      promise.region_text = value;
    } else if (key == ",axis=") {
      promise.over = Over::slices;
      if (!parse(value, axis)) fail_argument("'" + promise.text + "': an axis is a number");
      promise.axis = size_t(std::ptrdiff_t(axis));
    } else {
      promise.over = Over::blocks;
      if (!parse(value, promise.block) || promise.block < 1)
        fail_argument("'" + promise.text + "': a block is a number from 1 up");
    }
    return;
  }
}

void take_bound(Promise& promise, std::string_view bound) {
  const size_t colon = bound.find(':');
  if (colon == bound.npos || !parse(bound.substr(colon + 1), promise.value) ||
      !(promise.value > 0 && promise.value < kInfinite))
    fail_argument("'" + promise.text + "': a quantity needs a bound, like =abs:0.1 or =rel:1e-3");
  const std::string_view kind = bound.substr(0, colon);
  if (kind != "abs" && kind != "rel")
    fail_argument("'" + promise.text + "': quantities have bounds of the kinds abs and rel");
  promise.kind = kind == "abs" ? BoundKind::abs : BoundKind::rel;
}

// "0:10,:,5" as a box.
Box region_of(const std::string& text, const Shape& shape, const std::string& promise) {
  const auto fail = [&] {
    fail_argument("'" + promise + "': there is no region " + text + " in " + to_string(shape) +
                  "; write it like 0:10,:,5");
  };
  Box box;
  std::array<u64, kMaxRank> extents{};
  std::string_view rest = text;
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const size_t colon = part.find(':');
    u64 first = 0, end = shape[axis];
    if (colon == part.npos) {
      if (!parse(part, first)) fail();
      end = first + 1;
    } else if ((colon > 0 && !parse(part.substr(0, colon), first)) ||
               (colon + 1 < part.size() && !parse(part.substr(colon + 1), end))) {
      fail();
    }
    if (!(first < end && end <= shape[axis])) fail();
    box.first[axis] = first, extents[axis] = end - first;
  }
  if (!rest.empty()) fail();
  box.shape = Shape(std::span<const u64>(extents).first(shape.rank()));
  return box;
}

}  // namespace

Promise parse_promise(std::string_view given, std::vector<std::string>& names, bool may_add) {
  Promise promise;
  promise.text = without_spaces(given);
  const std::string_view text = promise.text;
  for (const auto& [word, rule] : {std::pair{"zeros", Rule::zeros}, std::pair{"sign", Rule::sign}})
    if (const auto variable = inside_of(text, word)) {
      promise.rule = rule;
      promise.variable = number_of(*variable, names, may_add);
      return promise;
    }
  for (const auto& [word, rule] : {std::pair{">=", Rule::lowest}, std::pair{"<=", Rule::highest}})
    if (const size_t at = text.find(word); at != text.npos) {
      promise.rule = rule;
      if (!parse(text.substr(at + 2), promise.limit) || !std::isfinite(promise.limit))
        fail_argument("'" + promise.text + "' needs a number, like t>=0");
      promise.variable = number_of(text.substr(0, at), names, may_add);
      return promise;
    }
  const size_t equals = text.rfind('=');
  if (equals == text.npos || (text.rfind(')') != text.npos && equals < text.rfind(')')))
    fail_argument("'" + promise.text +
                  "' promises nothing: write EXPRESSION=abs:E, zeros(NAME), sign(NAME), NAME>=V or "
                  "NAME<=V");
  take_bound(promise, text.substr(equals + 1));
  std::string_view quantity = text.substr(0, equals);
  for (const char* const function : {"mean", "sum"})
    if (auto inside = inside_of(quantity, function)) {
      promise.is_mean = function[0] == 'm';
      take_groups(promise, *inside);
      quantity = *inside;
      break;
    }
  promise.quantity.emplace(quantity, names, may_add);
  return promise;
}

void Promise::settle(const Shape& shape) {
  shape_ = shape;
  if (quantity) quantity->settle(shape);
  const auto given = std::ptrdiff_t(axis);
  if (over == Over::slices) {
    axis = size_t(given < 0 ? given + std::ptrdiff_t(shape.rank()) : given);
    if (axis >= shape.rank())
      fail_argument("'" + text + "': there is no axis " + std::to_string(given) + " in " +
                    to_string(shape));
  }
  if (over == Over::region) region = region_of(region_text, shape, text);
}

u64 Promise::groups() const {
  if (over == Over::slices) return shape_[axis];
  if (over != Over::blocks) return 1;
  u64 count = 1;
  for (size_t k = 0; k < shape_.rank(); ++k)
    count *= k + 2 < shape_.rank() ? shape_[k] : (shape_[k] + block - 1) / block;
  return count;
}

std::optional<u64> Promise::group_of(const Index& point) const {
  switch (over) {
    case Over::slices:
      return point[axis];
    case Over::blocks: {
      u64 group = 0;
      for (size_t k = 0; k < shape_.rank(); ++k) {
        const bool is_cut = k + 2 >= shape_.rank();
        group = group * (is_cut ? (shape_[k] + block - 1) / block : shape_[k]) +
                (is_cut ? point[k] / block : point[k]);
      }
      return group;
    }
    case Over::region:
      for (size_t k = 0; k < shape_.rank(); ++k)
        if (point[k] < region.first[k] || point[k] - region.first[k] >= region.shape[k]) return {};
      return 0;
    default:
      return 0;
  }
}

}  // namespace leeway::derived

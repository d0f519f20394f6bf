// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/derived/part_rules.h"

#include <algorithm>
#include <cmath>

#include "leeway/derived/by_value.h"
#include "leeway/derived/derive.h"
#include "leeway/derived/keep.h"
#include "leeway/leeway.hpp"
#include "leeway/stage/params.h"

namespace leeway::derived {
namespace {

std::vector<Promise> promises_of(const PartRules& rules) {
  std::vector<Promise> promises;
  const auto add = [&](Rule rule, double limit) {
    Promise promise;
    promise.rule = rule, promise.limit = limit;
    promises.push_back(promise);
  };
  if (rules.zeros) add(Rule::zeros, 0);
  if (rules.sign) add(Rule::sign, 0);
  if (rules.min) add(Rule::lowest, *rules.min);
  if (rules.max) add(Rule::highest, *rules.max);
  return promises;
}

// Zeros are kept like fill values: bit for bit, and no other value becomes one.
CompressOptions with_zeros(CompressOptions options, const PartRules& rules, DType dtype) {
  if (!rules.zeros && !rules.sign) return options;
  visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    options.fill_bits.push_back(0);
    if constexpr (is_floating<T>) options.fill_bits.push_back(u64(1) << (8 * sizeof(T) - 1));  // -0
  });
  return options;
}

bool can_be_by_value(const CompressOptions& options) {
  const auto& limits = options.bound.limits();
  return !options.has_regions() && !(options.rms > 0) && limits.size() == 1 &&
         limits[0].kind == BoundKind::abs;
}

CompressOptions by_value(CompressOptions options) {
  options.recipe = by_value_recipe(options.recipe);
  options.brief = false;
  return options;
}

CompressOptions without_loss(CompressOptions options) {
  options.bound = Bound::lossless();
  options.rms = 0, options.regions.clear(), options.bounds = {};
  return options;
}

}  // namespace

std::string PartRules::text() const {
  std::string text;
  const auto add = [&](const std::string& word) { text += (text.empty() ? "" : " ") + word; };
  if (zeros && sign)
    add("keep=zeros,sign");
  else if (zeros || sign)
    add(zeros ? "keep=zeros" : "keep=sign");
  if (min) add("min=" + detail::number_text(*min));
  if (max) add("max=" + detail::number_text(*max));
  return text;
}

PartRules PartRules::of(std::string_view text) {
  PartRules rules;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const size_t equals = word.find('=');
    if (equals == word.npos || !rules.take(word.substr(0, equals), word.substr(equals + 1)))
      fail_argument("'" + std::string(word) +
                    "' is no rule of values; there are keep, min and max");
  }
  return rules;
}

std::vector<std::string> PartRules::promises(const std::string& name) const {
  const std::string own = "{" + name + "}";
  std::vector<std::string> all;
  if (zeros) all.push_back("zeros(" + own + ")");
  if (sign) all.push_back("sign(" + own + ")");
  if (min) all.push_back(own + ">=" + detail::number_text(*min));
  if (max) all.push_back(own + "<=" + detail::number_text(*max));
  return all;
}

bool PartRules::take(std::string_view key, std::string_view value) {
  if (key == "keep") {
    while (!value.empty()) {
      const std::string_view word = value.substr(0, value.find(','));
      value.remove_prefix(std::min(value.size(), word.size() + 1));
      if (word != "zeros" && word != "sign")
        fail_argument("keep takes zeros and sign, not '" + std::string(word) + "'");
      (word == "zeros" ? zeros : sign) = true;
    }
    return true;
  }
  if (key != "min" && key != "max") return false;
  double limit = 0;
  if (!detail::parse_number(std::string(value), limit) || !std::isfinite(limit))
    fail_argument("'" + std::string(key) + "=" + std::string(value) + "': that is not a number");
  (key == "min" ? min : max) = limit;
  return true;
}

PartRules PartRules::packed(double scale, double offset) const {
  if ((zeros || sign) && offset != 0)
    fail_argument("zeros and signs of numbers that are packed with an offset cannot be kept");
  PartRules stored = *this;
  if (min) stored.min = (*min - offset) / scale;
  if (max) stored.max = (*max - offset) / scale;
  if (scale < 0) std::swap(stored.min, stored.max);
  return stored;
}

u64 most_bytes_of_part(const View& part, const CompressOptions& options, const PartRules& rules) {
  u64 most = max_compressed_size(part.dtype, part.shape, options);
  if (rules.empty()) return most;
  const CompressOptions zeros = with_zeros(options, rules, part.dtype);
  most = std::max(most, max_compressed_size(part.dtype, part.shape, without_loss(zeros)));
  if (can_be_by_value(options))
    most = std::max(most, max_compressed_size(part.dtype, part.shape, by_value(zeros)));
  return most;
}

u64 broken_by(const View& original, const View& decoded, const std::vector<u64>& fills,
              const PartRules& rules) {
  const Grid before{original.shape, {values_of(original, fills)}},
      after{decoded.shape, {values_of(decoded, fills)}};
  u64 broken = 0;
  for (const Promise& promise : promises_of(rules))
    broken += check(promise, 0, before, after, {}).beyond;
  return broken;
}

CompressReport compress_part(const View& part, const CompressOptions& options,
                             const PartRules& rules, std::span<u8> memory, const PartCoder& coder) {
  if (rules.empty()) return coder(options, memory);
  CompressOptions asked = with_zeros(options, rules, part.dtype);
  DecompressOptions reading;
  reading.execution.threads = options.execution.threads;
  const auto is_fine = [&](const CompressReport& made) {
    const Array decoded = decompress(memory.first(size_t(made.output_bytes)), reading);
    const View view(decoded.data(), decoded.dtype(), decoded.shape());
    return broken_by(part, view, options.fill_bits, rules) == 0;
  };
  const CompressReport plain = coder(asked, memory);
  if (is_fine(plain)) return plain;
  if (can_be_by_value(options)) {
    Grid values{part.shape, {values_of(part, options.fill_bits)}};
    Grid bounds{part.shape, {std::vector<double>(values.of[0].size(), kInfinite)}};
    for (const Promise& promise : promises_of(rules)) derive(promise, 0, values, bounds, {});
    CompressOptions own = by_value(asked);
    own.bounds = view_of(bounds.of[0].data(), part.shape);
    const CompressReport made = coder(own, memory);
    if (is_fine(made)) return made;
  }
  return coder(without_loss(asked), memory);
}

}  // namespace leeway::derived

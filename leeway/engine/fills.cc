// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/fills.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "leeway/base/environment.h"
#include "leeway/engine/analyze.h"
#include "leeway/stage/params.h"

namespace leeway {
namespace {

// The bit pattern of a fill value in the array's type.
u64 fill_bits(double fill, DType dtype) {
  return visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (!is_floating<T>) {
      if (!(fill >= double(std::numeric_limits<T>::min()) &&
            fill < std::ldexp(1.0, std::numeric_limits<T>::digits) && fill == std::floor(fill)))
        fail_argument("the fill value " + detail::number_text(fill) + " is not of type " +
                      std::string(name_of(dtype)));
    }
    return u64(bits_of(T(fill)));
  });
}

}  // namespace

std::vector<u64> declared_fills(const CompressOptions& options, DType dtype) {
  if (options.grows) return options.grows->fills;
  std::vector<u64> declared;
  for (const double fill : options.fills) declared.push_back(fill_bits(fill, dtype));
  const unsigned unused = unsigned(64 - 8 * size_of(dtype));
  for (const u64 given : options.fill_bits) {
    const u64 bits = given << unused >> unused;  // negative integers may be sign-extended
    if (std::ranges::find(declared, bits) == declared.end()) declared.push_back(bits);
  }
  return declared;
}

void declare_fill(CompressOptions& options, DType dtype, std::string_view text) {
  const char* const end = text.data() + text.size();
  const auto is_whole = [&](auto& value) {
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && stop == end;
  };
  i64 with_sign = 0;
  u64 without_sign = 0;
  double number = 0;
  if (dtype == DType::i64 && is_whole(with_sign))
    options.fill_bits.push_back(u64(with_sign));
  else if (dtype == DType::u64 && is_whole(without_sign))
    options.fill_bits.push_back(without_sign);
  else if (is_whole(number))
    options.fills.push_back(number);
  else
    fail_argument("the fill value '" + std::string(text) + "' is not a number");
}

namespace {

Detect detection(const CompressOptions& options) {
  return options.detect_fills ? Detect::isolated : Detect::nothing;
}

std::optional<ValidRange> valid_range(Analysis analysis) {
  if (!analysis.any_valid) return std::nullopt;
  return ValidRange{analysis.range, std::move(analysis.fills)};
}

}  // namespace

std::optional<ValidRange> value_range(const View& view, const CompressOptions& options) {
  const DefaultFloatingPoint environment;
  return valid_range(analyze(view, declared_fills(options, view.dtype), detection(options),
                             std::max(1u, options.execution.threads), options.execution.executor,
                             options.execution.pause));
}

std::optional<ValidRange> range_of_summary(const Summary& all, DType dtype,
                                           const CompressOptions& options) {
  return valid_range(conclude(all, dtype, declared_fills(options, dtype), detection(options)));
}

Array extremes(const View& view, const CompressOptions& options) {
  const DefaultFloatingPoint environment;
  return lowest_and_highest(view, declared_fills(options, view.dtype),
                            std::max(1u, options.execution.threads), options.execution.executor,
                            options.execution.pause);
}

}  // namespace leeway

// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/report/text.h"

#include <charconv>
#include <cmath>

namespace leeway::report {

std::string number(double value, int digits) {
  if (std::isnan(value)) return "not defined";
  if (std::isinf(value)) return value > 0 ? "infinite" : "-infinite";
  char text[64];
  const auto end =
      std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits);
  return {text, end.ptr};
}

std::string exact_number(double value) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string count(u64 value) {
  std::string digits = std::to_string(value);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, "\u202f");  // narrow space
  return digits;
}

std::string percent(double part) { return number(100 * part, 3) + " %"; }

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else if (u8(c) < 0x20 && c != '\n' && c != '\t')
      result += "?";
    else
      result += c;
  }
  return result;
}

std::string base64(std::span<const u8> bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    u32 three = 0;
    for (size_t k = 0; k < 3; ++k) three = three << 8 | (i + k < bytes.size() ? bytes[i + k] : 0u);
    for (size_t k = 0; k < 4; ++k)
      text += i + k > bytes.size() ? '=' : kDigits[three >> (18 - 6 * k) & 63];
  }
  return text;
}

}  // namespace leeway::report

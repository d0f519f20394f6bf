// SPDX-License-Identifier: BSD-3-Clause
#include "tools/npy.h"

#include <fmt/format.h>

#include <charconv>
#include <vector>

namespace leeway::cli {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw Error(Errc::io, "the .npy header is not understood: " + why);
}

// Reads the few kinds of Python literals that a header is made of.
class Literals {
 public:
  explicit Literals(std::string_view text) : rest_(text) {}

  // Whether this comes next; if so, reads past it.
  bool take(std::string_view token) {
    skip_spaces();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token, const char* where) {
    if (!take(token)) refuse(fmt::format("'{}' is missing {}", token, where));
  }
  std::string string(const char* what) {
    const char quote = take("'") ? '\'' : take("\"") ? '"' : '\0';
    const size_t end = quote ? rest_.find(quote) : rest_.npos;
    if (end == rest_.npos) refuse(std::string(what) + " is not a text");
    const std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }
  bool boolean(const char* what) {
    if (take("True")) return true;
    if (take("False")) return false;
    refuse(std::string(what) + " is neither True nor False");
  }
  std::vector<u64> tuple() {
    expect("(", "before the extents");
    std::vector<u64> numbers;
    while (!take(")")) {
      numbers.push_back(number());
      if (take(",")) continue;
      expect(")", "after the extents");
      if (numbers.size() == 1) refuse("the shape is a number, not a list of extents");
      break;
    }
    return numbers;
  }
  bool done() {
    skip_spaces();
    return rest_.empty();
  }

 private:
  void skip_spaces() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n\r\f"), rest_.size()));
  }

  u64 number() {
    skip_spaces();
    u64 value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error == std::errc::result_out_of_range) refuse("an extent is too large");
    if (error != std::errc()) refuse("an extent is not a whole number from 0 up");
    rest_.remove_prefix(size_t(end - rest_.data()));
    take("L");  // as Python 2 wrote long numbers
    return value;
  }

  std::string_view rest_;
};

void set_type(const std::string& descr, const std::optional<DType>& wanted, NpyHeader& header) {
  const std::string kind = descr.empty() ? "" : descr.substr(1);
  if (descr.empty() || std::string_view("<>=|").find(descr[0]) == std::string_view::npos)
    refuse("the type '" + descr + "' does not begin with its byte order");
  header.big_endian = descr[0] == '>';
  for (u8 id = 1; is_dtype(id); ++id) {
    header.dtype = DType(id);
    const std::string name(name_of(header.dtype));  // f32 -> f4
    if (header.dtype != DType::bf16 && kind == name[0] + std::to_string(size_of(header.dtype)))
      return;
  }
  header.dtype = DType::bf16;
  if (kind == "V2" && wanted == DType::bf16) return;
  throw Error(Errc::unsupported, "the .npy file holds the type '" + kind +
                                     "', which leeway does not compress" +
                                     (kind == "V2" ? "; if it is bfloat16, say --dtype bf16" : ""));
}

// "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }"
void parse_dictionary(std::string_view text, const std::optional<DType>& wanted,
                      NpyHeader& header) {
  Literals in(text);
  std::optional<std::string> descr;
  std::optional<bool> order;
  std::optional<std::vector<u64>> shape;
  const auto set = [](auto& field, auto value, const std::string& key) {
    if (field) refuse("'" + key + "' is there twice");
    field = std::move(value);
  };
  in.expect("{", "at the beginning");
  while (!in.take("}")) {
    const std::string key = in.string("a key");
    in.expect(":", "after a key");
    if (key == "descr") {
      if (in.take("["))
        throw Error(Errc::unsupported,
                    "the .npy file holds records; write one field of them as an array");
      set(descr, in.string("the type"), key);
    } else if (key == "fortran_order") {
      set(order, in.boolean("fortran_order"), key);
    } else if (key == "shape") {
      set(shape, in.tuple(), key);
    } else {
      refuse("there is no key '" + key + "'");
    }
    if (in.take(",")) continue;
    in.expect("}", "at the end");
    break;
  }
  if (!in.done()) refuse("something follows the dictionary");
  if (!descr || !order || !shape) refuse("descr, fortran_order or shape is missing");
  set_type(*descr, wanted, header);
  header.fortran_order = *order;
  header.shape = Shape(std::span<const u64>(*shape));
}

}  // namespace

NpyHeader parse_npy(std::string_view file, const std::optional<DType>& wanted) {
  constexpr size_t kVersionAt = kNpyMagic.size(), kLengthAt = kVersionAt + 2;
  const auto byte = [&](size_t i) -> size_t {
    if (i >= file.size()) refuse("the file ends within it");
    return u8(file[i]);
  };
  const size_t major = byte(kVersionAt), minor = byte(kVersionAt + 1);
  if (major < 1 || major > 3 || minor != 0)
    throw Error(Errc::unsupported,
                fmt::format("the .npy file has the version {}.{}; 1.0, 2.0 and 3.0 are known",
                            major, minor));
  const size_t digits = major == 1 ? 2 : 4, start = kLengthAt + digits;
  size_t length = 0;
  for (size_t i = 0; i < digits; ++i) length |= byte(kLengthAt + i) << 8 * i;
  if (length > file.size() - start) refuse("the file ends within it");
  NpyHeader header;
  parse_dictionary(file.substr(start, length), wanted, header);
  header.bytes = start + length;
  return header;
}

std::string npy_header(DType dtype, const Shape& shape) {
  std::string extents;
  for (const u64 extent : shape.extents()) extents += std::to_string(extent) + ", ";
  if (shape.rank() > 1)
    extents.resize(extents.size() - 2);
  else if (shape.rank() == 1)
    extents.resize(extents.size() - 1);
  const size_t width = size_of(dtype);
  const std::string type =
      dtype == DType::bf16 ? "V2" : std::string(1, name_of(dtype)[0]) + std::to_string(width);
  std::string dict = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                 width == 1 ? '|' : '<', type, extents);
  dict.resize((dict.size() + 10) / 64 * 64 + 64 - 10 - 1, ' ');
  dict += '\n';
  std::string header(kNpyMagic);
  header += {'\x01', '\x00', char(dict.size() & 0xff), char(dict.size() >> 8)};
  return header + dict;
}

}  // namespace leeway::cli

// SPDX-License-Identifier: BSD-3-Clause
#include "tools/container.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "leeway/base/error.h"

namespace leeway::cli::h5 {
namespace {

std::string first_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(8, '\0');
  file.read(bytes.data(), 8);
  return bytes;
}

}  // namespace

bool is_classic(const std::string& path) {
  const std::string bytes = first_bytes(path);
  return bytes.starts_with("CDF") && (bytes[3] == 1 || bytes[3] == 2 || bytes[3] == 5);
}

bool is_container(const std::string& path) {
  return first_bytes(path) == "\x89HDF\r\n\x1a\n" || is_classic(path);
}

bool is_container_name(const std::string& path) {
  return std::ranges::any_of(
      std::initializer_list<const char*>{".nc", ".nc4", ".h5", ".hdf5", ".he5"},
      [&](const char* suffix) { return path.ends_with(suffix); });
}

void refuse_container_name(const std::string& path) {
  if (is_container_name(path))
    fail_argument("'" + path +
                  "' would hold an array without anything else, not what its name says; give -o "
                  "OUT.npy, or another name for raw values");
}

std::optional<Address> parse_address(const std::string& text) {
  if (std::filesystem::is_regular_file(text))
    return is_container(text) ? std::optional(Address{text, {}}) : std::nullopt;
  const size_t colon = text.rfind(':');
  Address address{text.substr(0, colon), {}};
  if (is_container_name(address.path) && !std::filesystem::exists(address.path))
    throw Error(Errc::io, "there is no file '" + address.path + "'");
  if (colon == text.npos) return std::nullopt;
  if (!std::filesystem::is_regular_file(address.path) || !is_container(address.path))
    return std::nullopt;
  for (size_t from = colon + 1; from <= text.size();) {
    const size_t comma = std::min(text.find(',', from), text.size());
    if (comma > from) address.names.push_back(text.substr(from, comma - from));
    from = comma + 1;
  }
  return address;
}

}  // namespace leeway::cli::h5

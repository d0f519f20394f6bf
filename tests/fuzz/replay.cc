// SPDX-License-Identifier: BSD-3-Clause
// Feeds files, or all files of folders, to a fuzz target: what once broke it must not do so again.
// Needs no libFuzzer.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size);

namespace {

size_t replayed = 0;

void replay(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) {
    for (const auto& entry : std::filesystem::directory_iterator(path)) replay(entry.path());
    return;
  }
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> bytes(std::istreambuf_iterator<char>(in), {});
  std::fprintf(stderr, "%s\n", path.c_str());  // if it is the last one, it is the one that crashed
  LLVMFuzzerTestOneInput(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  ++replayed;
}

}  // namespace

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) replay(arguments[i]);
  std::printf("%zu files\n", replayed);
  return replayed > 0 ? 0 : 1;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/base/png.h"

#include <libdeflate.h>

#include <memory>
#include <new>

namespace leeway {
namespace {

void put_u32(std::vector<u8>& out, u32 value) {  // big-endian, as all of PNG
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(u8(value >> shift));
}

// Length, name, content, and a checksum of the last two.
void put_chunk(std::vector<u8>& out, const char (&name)[5], std::span<const u8> content) {
  put_u32(out, u32(content.size()));
  const size_t start = out.size();
  out.insert(out.end(), name, name + 4);
  out.insert(out.end(), content.begin(), content.end());
  put_u32(out, libdeflate_crc32(0, out.data() + start, out.size() - start));
}

std::vector<u8> zlib(std::span<const u8> bytes) {
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(6), libdeflate_free_compressor);
  if (!compressor) throw std::bad_alloc();
  std::vector<u8> out(libdeflate_zlib_compress_bound(compressor.get(), bytes.size()));
  out.resize(libdeflate_zlib_compress(compressor.get(), bytes.data(), bytes.size(), out.data(),
                                      out.size()));
  return out;
}

}  // namespace

std::vector<u8> png(u32 width, u32 height, std::span<const u8> pixels,
                    std::span<const Rgb> palette) {
  std::vector<u8> out{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  std::vector<u8> head;
  put_u32(head, width);
  put_u32(head, height);
  constexpr u8 kBits = 8, kWithPalette = 3;
  head.insert(head.end(), {kBits, kWithPalette, 0, 0, 0});
  put_chunk(out, "IHDR", head);
  std::vector<u8> colors;
  for (const Rgb& color : palette) colors.insert(colors.end(), color.begin(), color.end());
  put_chunk(out, "PLTE", colors);
  std::vector<u8> lines;  // each after the number of its filter, none
  for (u32 y = 0; y < height; ++y) {
    lines.push_back(0);
    const auto line = pixels.subspan(size_t(y) * width, width);
    lines.insert(lines.end(), line.begin(), line.end());
  }
  put_chunk(out, "IDAT", zlib(lines));
  put_chunk(out, "IEND", {});
  return out;
}

}  // namespace leeway

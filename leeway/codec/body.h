// SPDX-License-Identifier: BSD-3-Clause
// Body: what the stages make of a chunk, before the lossless stages pack it (docs/FORMAT.md,
// "Body"). Its sections are listed once, for both directions; the codes follow them, to the end.
#pragma once

#include <string>
#include <vector>

#include "leeway/lossless/envelope.h"
#include "leeway/lossless/zstd.h"
#include "leeway/stage/patches.h"

namespace leeway {

// Patches and notes are packed by themselves, whatever the recipe: coded values beside them are not
// worth packing, and would disturb. Beside some encoders they stay as they are, in the same form.
inline void put_packed(const Writer& plain, Writer& out, bool as_they_are) {
  Writer packed;
  if (plain.size() > 0 && as_they_are)
    keep_in_envelope(plain.bytes(), packed);
  else if (plain.size() > 0)
    Zstd{.params = {.level = 9}}.compress(plain.bytes(), packed);
  out.put_section(packed.bytes());
}
inline Writer take_packed(Reader& in, size_t limit) {
  const ByteView packed = in.take_section();
  Writer plain;
  if (!packed.empty()) Zstd().decompress(packed, limit, plain);
  return plain;
}

template <class T>
struct Body {
  Patches<T> special;         // NaN, infinities and fill values, by position in the chunk
  std::vector<Writer> sides;  // what each preprocessor tells the decoder
  Writer notes;               // what predictor and quantizer tell it
  Patches<T> exact;           // values without a code

  explicit Body(size_t preprocessors) : sides(preprocessors) {}

  // How many bytes the sections take if they are empty and there is no preprocessor.
  static constexpr size_t kEmpty = 3;

  // What decoders take at most as content of a lossless stage, and as notes: twice the values
  // and their codes, and something for tables. That is enough for any body without loss, huffman
  // after the mask: at most 3 + sizeof(T) bytes for a special value (Patches::most_bytes) and 12
  // bits and a whole code for its token, together less than sizeof(T) + sizeof(Code) + 5. The other
  // encoders take at most (bytes a code, c = sizeof(Code)): raw and pack c and fixed-huffman c + 2
  // in any case, adaptive c + 2.5, rans c + 2, fixed 1.3 c, arithmetic and residual c + 2 but for
  // codes that deceive every probability. What is larger nevertheless is kept without loss.
  static size_t most_bytes(size_t size) {
    return 2 * size * (sizeof(T) + sizeof(Code<T>)) + (size_t(1) << 16);
  }

  // Calls part(name, bytes) for every section of a body, the codes included.
  static void list_parts(Reader body, size_t preprocessors, auto&& part) {
    part("special values", body.take_section().size());
    for (size_t i = 0; i < preprocessors; ++i)
      part("preprocessor " + std::to_string(i + 1), body.take_section().size());
    part("notes of predictor and quantizer", body.take_section().size());
    part("exact values", body.take_section().size());
    part("codes", body.rest().size());
  }

  void write(Writer& out, bool unpacked = false) const { list(*this, ToWriter{out, unpacked}); }
  // Of a chunk of `size` values.
  void read(Reader& in, size_t size) { list(*this, FromReader{in, size}); }

 private:
  static void list(auto& body, const auto& section) {
    section.patches(body.special);
    for (auto& side : body.sides) section.plain(side);
    section.packed(body.notes);
    section.patches(body.exact);
  }

  struct ToWriter {
    Writer& out;
    bool unpacked;
    void patches(const Patches<T>& patches) const {
      Writer bytes;
      if (patches.count() > 0) patches.write(bytes);
      put_packed(bytes, out, unpacked);
    }
    void plain(const Writer& bytes) const { out.put_section(bytes.bytes()); }
    void packed(const Writer& bytes) const { put_packed(bytes, out, unpacked); }
  };
  struct FromReader {
    Reader& in;
    size_t size;
    void patches(Patches<T>& patches) const {
      const Writer bytes = take_packed(in, Patches<T>::most_bytes(size));
      if (bytes.size() == 0) return;
      Reader list(bytes.bytes());
      patches = Patches<T>::read(list, size);
      list.expect_end();
    }
    void plain(Writer& bytes) const { bytes.put_bytes(in.take_section()); }
    void packed(Writer& bytes) const { bytes = take_packed(in, most_bytes(size)); }
  };
};

}  // namespace leeway

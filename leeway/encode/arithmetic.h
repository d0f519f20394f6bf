// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic: an adaptive range coder; the sizes of the two codes before are the context
// (arithmetic.md).
#pragma once

#include "leeway/base/export.h"
#include "leeway/stage/stage.h"

namespace leeway {

struct Arithmetic {
  static constexpr std::string_view kName = "arithmetic";
  static constexpr std::string_view kAbout =
      "an adaptive range coder, slow and close to the entropy";
  static constexpr Kind kKind = Kind::encoder;
  static constexpr Traits kTraits{.chunk_values = u64(1) << 20};
  NoParams params;

  LEEWAY_EXPORT void encode(std::span<const i32> codes, Writer& out) const;
  LEEWAY_EXPORT void encode(std::span<const i64> codes, Writer& out) const;
  LEEWAY_EXPORT void decode(Reader& in, std::span<i32> codes) const;
  LEEWAY_EXPORT void decode(Reader& in, std::span<i64> codes) const;
};

}  // namespace leeway

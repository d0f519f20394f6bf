// SPDX-License-Identifier: BSD-3-Clause
// Residual: signs and bit lengths by an adaptive range coder, the other bits as they are, as in
// FPZIP [Lindstrom and Isenburg, 2006] (residual.md).
#pragma once

#include "leeway/base/export.h"
#include "leeway/stage/stage.h"

namespace leeway {

struct Residual {
  static constexpr std::string_view kName = "residual";
  static constexpr std::string_view kAbout = "signs and bit lengths by a range coder, as FPZIP";
  static constexpr Kind kKind = Kind::encoder;
  static constexpr Traits kTraits{.chunk_values = u64(1) << 20};
  NoParams params;

  LEEWAY_EXPORT void encode(std::span<const i32> codes, Writer& out) const;
  LEEWAY_EXPORT void encode(std::span<const i64> codes, Writer& out) const;
  LEEWAY_EXPORT void decode(Reader& in, std::span<i32> codes) const;
  LEEWAY_EXPORT void decode(Reader& in, std::span<i64> codes) const;
};

}  // namespace leeway

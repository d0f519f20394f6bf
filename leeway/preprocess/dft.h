// SPDX-License-Identifier: BSD-3-Clause
// Dft: the discrete Fourier transform of real numbers, or its cosine form, which has no jump where
// a block ends, block by block along every axis (dft.md).
//
// Errors of coefficients spread over the values of a block and seldom add up. Coefficients are made
// 3.5 times as large, so that errors of values would exceed the bound only at six standard
// deviations if those of coefficients were independent. They are not if many coefficients vanish:
// so the engine checks every value, and takes a smaller bound for a chunk that needs it.
#pragma once

#include <array>

#include "leeway/base/export.h"
#include "leeway/stage/stage.h"

namespace leeway {

enum class Waves : u8 { cosine, fourier };
constexpr std::array<std::string_view, 2> param_words(Waves) { return {"cosine", "fourier"}; }

struct Dft {
  static constexpr std::string_view kName = "dft";
  static constexpr std::string_view kAbout =
      "cosine or Fourier transform of blocks along every axis";
  static constexpr Kind kKind = Kind::preprocessor;
  static constexpr Traits kTraits{.floating_only = true};
  static constexpr size_t kMostBlock = 64;
  struct Params {
    i32 block = 8;
    Waves waves = Waves::cosine;
    void fields(auto&& field) {
      field("block", block, 2, i32(kMostBlock), "edge of a block");
      field("waves", waves, Waves::cosine, Waves::fourier,
            "cosine: of half periods; fourier: cosines and sines of whole periods");
    }
  } params;

  template <class T>
  requires is_floating<T> LEEWAY_EXPORT void forward(Field<T> field, Writer& side) const;
  template <class T>
  requires is_floating<T> LEEWAY_EXPORT void backward(Field<T> field, Reader& side) const;
};

}  // namespace leeway

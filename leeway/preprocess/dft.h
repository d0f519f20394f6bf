// SPDX-License-Identifier: BSD-3-Clause
// Dft: the cosine form of the discrete Fourier transform, block by block along every axis (dft.md).
//
// Errors of coefficients spread over the values of a block and seldom add up. Coefficients are made
// 3.5 times as large, so that errors of values would exceed the bound only at six standard
// deviations if those of coefficients were independent. They are not if many coefficients vanish:
// so the engine checks every value, and takes a smaller bound for a chunk that needs it.
#pragma once

#include "leeway/base/export.h"
#include "leeway/stage/stage.h"

namespace leeway {

struct Dft {
  static constexpr std::string_view kName = "dft";
  static constexpr std::string_view kAbout = "cosine transform of blocks along every axis";
  static constexpr Kind kKind = Kind::preprocessor;
  static constexpr Traits kTraits{.floating_only = true};
  static constexpr size_t kMostBlock = 64;
  struct Params {
    i32 block = 8;
    void fields(auto&& field) { field("block", block, 2, i32(kMostBlock), "edge of a block"); }
  } params;

  template <class T>
  requires is_floating<T> LEEWAY_EXPORT void forward(Field<T> field, Writer& side) const;
  template <class T>
  requires is_floating<T> LEEWAY_EXPORT void backward(Field<T> field, Reader& side) const;
};

}  // namespace leeway

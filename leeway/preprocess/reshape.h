// SPDX-License-Identifier: BSD-3-Clause
// Reshape: the same values in order, as an array of fewer axes: volumes as images or as one line,
// as SZ3's pipelines may treat them. No value moves.
#pragma once

#include <array>

#include "leeway/base/export.h"
#include "leeway/stage/stage.h"

namespace leeway {

enum class Merge : u8 { last, first };
constexpr std::array<std::string_view, 2> param_words(Merge) { return {"last", "first"}; }

struct Reshape {
  static constexpr std::string_view kName = "reshape";
  static constexpr std::string_view kAbout = "the same values as an array of fewer axes";
  static constexpr Kind kKind = Kind::preprocessor;
  static constexpr Traits kTraits{.moves_only = true};
  struct Params {
    i32 axes = 2;
    Merge merge = Merge::last;
    void fields(auto&& field) {
      field("axes", axes, 1, 7, "how many axes are left; arrays with fewer stay as they are");
      field("merge", merge, Merge::last, Merge::first,
            "which axes become one: the last (100x50x20 becomes 100x1000) or the first (5000x20)");
    }
  } params;

  template <class T>
  void forward(Field<T>& field, std::vector<u8>&, Writer& side) const {
    write_shape(field.shape, side);
    field.shape = merged(field.shape);
  }
  Shape inner_shape(const Shape& shape, Reader&) const { return merged(shape); }
  template <class T>
  void backward(Field<T>& field, Reader& side) const {
    field.shape = read_shape(side, field.shape);
  }

 private:
  LEEWAY_EXPORT Shape merged(const Shape& shape) const;
  LEEWAY_EXPORT static void write_shape(const Shape& shape, Writer& side);
  LEEWAY_EXPORT Shape read_shape(Reader& side, const Shape& inner) const;
};

}  // namespace leeway

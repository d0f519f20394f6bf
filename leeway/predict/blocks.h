// SPDX-License-Identifier: BSD-3-Clause
// Blocks: differences inside small blocks that know nothing of each other, codes in the order of
// the blocks [cuSZp2, SC 2024; CereSZ, HPDC 2024].
//
// One axis: runs of 8 to 64 values, each less the one before, the first as it is. Two axes:
// squares of 8 x 8; three: cubes of 4 x 4 x 4; differences along every axis, values outside a block
// being 0. Whole blocks stand first, so that each fills a block of the encoder; those cut by the
// end of the array follow.
#pragma once

#include <bit>

#include "leeway/base/export.h"
#include "leeway/stage/stage.h"

namespace leeway {

struct Blocks {
  static constexpr std::string_view kName = "blocks";
  static constexpr std::string_view kAbout =
      "differences inside small independent blocks, as cuSZp2 and CereSZ do";
  static constexpr Kind kKind = Kind::predictor;
  static constexpr Traits kTraits{.whole_rows = true};
  struct Params {
    i32 axes = 1;
    i32 size = 32;
    void fields(auto&& field) {
      field("axes", axes, 1, 3, "1: runs, 2: squares, 3: cubes, along the fastest axes");
      field("size", size, 8, 64, "values of a block: 8, 16, 32 or 64; squares and cubes have 64");
    }
    void check() const {
      if (!std::has_single_bit(u32(size))) fail_argument("blocks: size must be 8, 16, 32 or 64");
    }
  } params;

  LEEWAY_EXPORT void forward(Field<u32> field, Writer& side) const;
  LEEWAY_EXPORT void forward(Field<u64> field, Writer& side) const;
  LEEWAY_EXPORT void backward(Field<u32> field, Reader& side) const;
  LEEWAY_EXPORT void backward(Field<u64> field, Reader& side) const;

  // Runs know nothing of other axes, and whole rows are one piece of memory.
  bool wants_rows() const { return params.axes == 1; }
  // Piece by piece where blocks are runs.
  bool is_piecewise(const Shape& shape) const { return axes_in(shape) <= 1; }
  size_t values_ahead(const Shape&) const { return 0; }
  size_t reach(const Shape&) const { return 1; }
  // Whether no value from here on needs one before; where it is piecewise.
  bool begins_anew(size_t first) const { return first % size_t(params.size) == 0; }
  size_t choose(auto, Writer&) const { return 0; }
  size_t chosen(Reader&) const { return 0; }
  template <class U>  // u16, u32, u64
  LEEWAY_EXPORT void forward_piece(const Shape& shape, size_t, size_t first, size_t count,
                                   const U* values, U* out) const;
  template <class U>
  LEEWAY_EXPORT void backward_piece(const Shape& shape, size_t, size_t first, size_t count,
                                    U* values) const;

 private:
  size_t axes_in(const Shape& shape) const { return std::min(shape.rank(), size_t(params.axes)); }
};

}  // namespace leeway

// SPDX-License-Identifier: BSD-3-Clause
// Parameters of the HDF5 filter: from the words (cd_values) a user gives, as numbers or as text, to
// the words that are stored with a dataset.
//
// Given, as numbers, where a double takes two words, low word first:
//   1, E     abs                                  4, E      pointwise
//   2, E, R  rel with the range R of all values   5, D, R   psnr of D decibels with that range
//   3        lossless; also 0                     6, E, N   l2 of N values
// Given, as text:     "abs=1e-3 recipe=small fill=-999", four characters a word, then zeros
// Stored:             0x10000 | mode, its double if it has one (1, 4, or 7: the root mean square
//                     error), type | rank << 8 | flags << 16, chunk extents, fill value, and as
//                     text what remains: a second bound, rules ("keep=zeros,sign min=0"), recipe,
//                     further fill values
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "leeway/base/shape.h"
#include "leeway/derived/part_rules.h"
#include "leeway/whole_bound.h"

namespace leeway::hdf5 {

using Words = std::vector<unsigned>;

// What is known of the values of a chunk.
struct Chunk {
  DType dtype = DType::f32;
  bool big_endian = false;
  Shape shape;
  std::optional<u64> fill;  // the fill value of the dataset, as bits
};

struct Parameters {
  PartBound bound{Bound::lossless()};
  derived::PartRules rules;
  std::string recipe = "balanced";
  std::vector<std::string> fills;  // as written: 64-bit integers need not be doubles
  std::optional<Chunk> chunk;      // once it is stored

  // How to compress a chunk, which must be known.
  CompressOptions options() const;
  // Throws if recipe, bound or fill values are not for the type of its values.
  void check() const;
};

// The extents of a chunk; axes in excess of what an array may have are joined.
Shape joined(std::vector<u64> extents);

// Throws leeway::Error where the words or the text make no sense.
Parameters parse_words(std::span<const unsigned> words);
Parameters parse_text(const std::string& text);

Words words_of_text(const std::string& text);
// What a user would give for these parameters.
Words given_words(const Parameters& parameters);
// What is stored; the chunk must be known.
Words stored_words(const Parameters& parameters);

}  // namespace leeway::hdf5

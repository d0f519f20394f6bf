// SPDX-License-Identifier: BSD-3-Clause
// PairFiles: two arrays from files of any kind, read side by side and part by part.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "leeway/report/scores.h"
#include "tools/array_file.h"
#include "tools/container.h"

namespace leeway::cli {

// One side: how to read it, and what its file says of itself.
struct OpenSide {
  PairSide side;
  Shape shape;
  std::string name, units, long_name, standard_name;
  std::vector<report::Axis> axes;
  u64 bytes = 0;         // of all values, decoded
  u64 stored_bytes = 0;  // in the file; 0: not known
  std::string bound_asked, recipe;
  double bound = 0;  // absolute, in the unit of the variable; 0: not known
  bool is_packed = false;
  std::vector<std::pair<std::string, std::string>> notes;
  std::shared_ptr<const void> keeper;  // of what `side` reads from
};

// A raw or .npy file, or a stream, which is decoded part by part.
OpenSide open_side(const std::string& path, const ArrayOptions& options, unsigned threads);
// A variable; packed ones are unpacked: f64, with NaN for fill values.
OpenSide open_variable_side(const h5::Address& address, const std::string& name);
// The variables to be looked at in two files, or in one file that an array stands beside: those
// that are named, else those that leeway has compressed, else all of floating-point numbers.
std::vector<std::string> variables_of_pair(const h5::Address& original, const h5::Address* decoded);

// "XXH3-64 1a2b...", over all bytes of a file.
std::string checksum_of_file(const std::string& path);

// All pairs that two arguments of the command line mean.
struct OpenPair {
  OpenSide original, decoded;
  Pair pair() const;
  report::Facts facts() const;
};
std::vector<OpenPair> open_pairs(const std::string& original, const std::string& decoded,
                                 const ArrayOptions& options, unsigned threads);

}  // namespace leeway::cli

// SPDX-License-Identifier: BSD-3-Clause
// Flags: a byte for each value of a chunk, if there is something to say about single values.
//
//   flags = 2 * class + (1 if the value is special)
//
// A special value does not matter here, because the mask puts it back. The class says which bound a
// value has: class 0 has the bound of the chunk, the others have smaller ones.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "leeway/base/bytes.h"

namespace leeway {

inline constexpr u8 kSpecialFlag = 1;

// Where an array has a limit on its squared error, and the bound of values, or the step of a
// transform, is searched for.
struct Aim {
  // Settings are tried at this bound, or step, and compared at equal squared error; 0: at the bound
  // itself, and as they are. The same for all passes of a search.
  double trial = 0;
  double step = 0;  // of transforms: the step to take; 0: one that suits the bound
};

// The bound of a chunk. If there is one for each value, none is larger than `most`.
struct ChunkBound {
  double most = 0;
  std::span<const double> each{};
  Aim aim{};
  ChunkBound(double bound) : most(bound) {}
  ChunkBound(double bound, Aim aim) : most(bound), aim(aim) {}
  ChunkBound(double bound, std::span<const double> bounds) : most(bound), each(bounds) {}
};

struct BoundClasses {
  std::vector<double> bounds;  // of class 1, 2, ..., all smaller than the chunk's
  std::vector<u8> of_value;    // the class of each value; empty if there is only class 0

  // Up to 16 distinct bounds are kept as they are. More are rounded down to the chunk's bound
  // divided by a power of two: a class is stored for every value, and more classes would cost more
  // than they save.
  static BoundClasses of(const ChunkBound& bound) {
    constexpr size_t kFew = 16;
    BoundClasses classes;
    std::map<double, u8, std::greater<>> found;
    for (const double e : bound.each) {
      if (e < bound.most) found.try_emplace(e);
      if (found.size() > kFew) break;
    }
    const bool halve = found.size() > kFew;
    if (halve) {
      found.clear();
      for (const double e : bound.each)
        if (e < bound.most) found.try_emplace(halved(bound.most, e));
    }
    for (auto& [e, number] : found) {
      classes.bounds.push_back(e);
      number = u8(classes.bounds.size());
    }
    if (found.empty()) return classes;
    for (const double e : bound.each)
      classes.of_value.push_back(e < bound.most ? found.at(halve ? halved(bound.most, e) : e)
                                                : u8(0));
    return classes;
  }

  void write(Writer& out) const {
    out.put(u8(bounds.size()));
    out.put_array(std::span<const double>(bounds));
    out.put_bytes(of_value);
  }
  static BoundClasses read(Reader& in, double most, size_t count) {
    BoundClasses classes;
    classes.bounds.resize(in.get<u8>());
    if (classes.bounds.size() > kMostHalvings + 1) fail_corrupt("too many classes of bounds");
    in.get_array(std::span(classes.bounds));
    for (const double e : classes.bounds)
      if (!(e >= 0 && e < most)) fail_corrupt("a wrong bound of a class");
    if (classes.bounds.empty()) return classes;
    classes.of_value.resize(count);
    in.get_array(std::span(classes.of_value));
    if (*std::ranges::max_element(classes.of_value) > classes.bounds.size())
      fail_corrupt("a class that has no bound");
    return classes;
  }

  // The flags of all values; those of special values are given, if there are any.
  std::vector<u8> flags(std::span<const u8> special) const {
    std::vector<u8> flags(special.begin(), special.end());
    if (flags.empty()) flags.resize(of_value.size());
    for (size_t i = 0; i < of_value.size(); ++i) flags[i] = u8(flags[i] | of_value[i] << 1);
    return flags;
  }

 private:
  static constexpr int kMostHalvings = 120;
  static double halved(double most, double e) {
    for (int i = 0; i < kMostHalvings; ++i) {
      most /= 2;
      if (most <= e) return most >= std::numeric_limits<double>::min() ? most : 0;
    }
    return 0;
  }
};

}  // namespace leeway

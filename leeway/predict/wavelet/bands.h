// SPDX-License-Identifier: BSD-3-Clause
// Bands: how an array is decomposed, and which parts the coefficients fall into (wavelet.md).
//
// Every halving of an axis leaves means in its first half and differences in the second. A band is
// a box of the array whose coefficients have been halved equally often along each axis.
#pragma once

#include <array>
#include <vector>

#include "leeway/base/bytes.h"
#include "leeway/base/export.h"
#include "leeway/base/shape.h"

namespace leeway::wavelet {

inline constexpr size_t kMostActive = 4;  // axes that are halved
inline constexpr size_t kMostDepth = 12;  // halvings of an axis
inline constexpr size_t kFilters = 2;     // taps of Deslauriers and Dubuc: 6 or 8

// Axes that are halved together: in every step each of them once.
enum class Order : u8 {
  dyadic,  // all
  packet,  // the first alone and to its full depth, then the others
  tensor,  // every axis alone and to its full depth
};
inline constexpr size_t kOrders = 3;

// Settings of a decomposition.
struct Plan {
  u8 filter = 0;  // 0: 6 taps, 1: 8
  Order order = Order::dyadic;
  std::array<u8, kMaxRank> depth{};  // halvings of each axis
  friend bool operator==(const Plan&, const Plan&) = default;

  void write(size_t rank, Writer& out) const;
  static Plan read(const Shape& shape, Reader& in);
};

using Extents = std::array<u64, kMaxRank>;

// An axis is halved within a box at the origin.
struct Halving {
  size_t axis;
  Extents extents;
};
// A coarser band over the same place.
struct Parent {
  size_t band;
  std::array<u8, kMaxRank> shift;  // coordinates are halved so often
};
struct Band {
  Index first{};
  Extents extents{};
  u32 high = 0;  // bit k: differences along axis k
  std::array<u8, kMaxRank> depth{};
  size_t level = 2;                // halvings of the finest differences, less one; at most 2
  double norm = 1;                 // of the values that a coefficient of 1 stands for
  std::vector<Parent> parents{};   // at most two
  std::vector<size_t> siblings{};  // bands before it of the same depths
  u64 size(size_t rank) const;
  size_t high_axes() const;
};
struct Bands {
  std::vector<Halving> halvings;  // in their order
  std::vector<Band> all;          // the first is that of means, then from coarse to fine
};

LEEWAY_EXPORT Bands make_bands(const Shape& shape, const Plan& plan);

// How often an axis can be halved while it has at least `least` values.
size_t depth_of(u64 extent, u64 least);

}  // namespace leeway::wavelet

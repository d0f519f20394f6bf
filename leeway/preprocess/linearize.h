// SPDX-License-Identifier: BSD-3-Clause
// Linearize: points without a grid, put in order along a curve through space, so that neighbours in
// the array are neighbours in space (linearize.md).
//
// A point is a row of the last axis, if that has at most eight values: its coordinates, or what is
// known of it; else every value is a point. The curve is Morton's: bits of all coordinates in turn.
// The order is kept, so that every point comes back in its place; it costs as many bits as the
// number of points has, and pays where points come in nearly random order and coordinates have more
// bits than that.
#pragma once

#include "leeway/base/export.h"
#include "leeway/stage/stage.h"

namespace leeway {

struct Linearize {
  static constexpr std::string_view kName = "linearize";
  static constexpr std::string_view kAbout = "points in the order of a curve through space";
  static constexpr Kind kKind = Kind::preprocessor;
  static constexpr Traits kTraits{.moves_only = true};
  NoParams params;

  // The order depends on the values.
  bool decides() const { return true; }

  template <class T>
  void forward(Field<T> field, std::vector<u8>& special, Writer& side) const {
    const Points points(field.shape);
    std::vector<double> numbers(field.size());
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = special.empty() || !special[i] ? double(field.data[i]) : 0;
    const std::vector<u32> order = along_the_curve(numbers, points);
    write_order(order, side);
    const std::vector<T> before(field.values().begin(), field.values().end());
    const std::vector<u8> flags = special;
    for (size_t i = 0; i < order.size(); ++i)
      for (size_t k = 0; k < points.width; ++k) {
        const size_t to = i * points.width + k, from = order[i] * points.width + k;
        field.data[to] = before[from];
        if (!flags.empty()) special[to] = flags[from];
      }
  }
  template <class T>
  void backward(Field<T> field, Reader& side) const {
    const Points points(field.shape);
    const std::vector<u32> order = read_order(side, points.count);
    const std::vector<T> sorted(field.values().begin(), field.values().end());
    for (size_t i = 0; i < order.size(); ++i)
      std::copy_n(sorted.data() + i * points.width, points.width,
                  field.data + order[i] * points.width);
  }

 private:
  static constexpr size_t kMostWidth = 8;
  struct Points {
    size_t width = 1, count;
    explicit Points(const Shape& shape) : count(size_t(shape.size())) {
      const size_t rank = shape.rank();
      if (rank < 2 || count == 0 || shape[rank - 1] > kMostWidth) return;
      width = size_t(shape[rank - 1]);
      count /= width;
    }
  };
  LEEWAY_EXPORT static std::vector<u32> along_the_curve(std::span<const double> numbers,
                                                        const Points& points);
  LEEWAY_EXPORT static void write_order(std::span<const u32> order, Writer& side);
  LEEWAY_EXPORT static std::vector<u32> read_order(Reader& side, size_t count);
};

}  // namespace leeway

// SPDX-License-Identifier: BSD-3-Clause
// Ghost: the predictor of GhostSZ [Xiong et al., FCCM 2019], as the baseline of waveSZ.
//
// Rows know nothing of each other. A value is predicted by the last one, by the line through the
// last two, or by the parabola through the last three, whichever is nearest; two bits say which. To
// keep a pipeline going, it goes on from *predicted* values, not from reconstructed ones; only a
// value too far away to have a code is a new start. That is what costs it its ratio.
#pragma once

#include <array>
#include <cmath>

#include "leeway/predict/choices.h"
#include "leeway/stage/stage.h"

namespace leeway {

struct Ghost {
  static constexpr std::string_view kName = "ghost";
  static constexpr std::string_view kAbout =
      "the nearest of three curves through predicted values before, row by row, as GhostSZ";
  static constexpr Kind kKind = Kind::predictor;
  static constexpr Traits kTraits{
      .chunk_values = u64(1) << 20, .floating_only = true, .needs_step = true, .one_grid = true};
  NoParams params;

  // Notes are a Writer or a Reader: four choices a byte, low bits first.
  template <class T, class Visit, class Notes>
  void walk(Field<T> field, Visit&& visit, Notes& notes) const {
    using P = Predicted<T>;
    const Table table(field.shape);
    const size_t rows = size_t(table.rows), length = size_t(table.length);
    if (length == 0) return;
    Choices<Notes> choices(notes, 2);
    const u8* const special = visit.marks();
    for (size_t i = 0; i < rows; ++i) {
      T* x = field.data + i * length;
      visit.keep(x[0], P(0));
      std::array<P, 3> before;  // the last first
      before.fill(P(x[0]));
      for (size_t j = 1; j < length; ++j) {
        const auto [a, b, c] = before;
        const std::array<P, 3> curves = {a, P(2) * a - b, P(3) * (a - b) + c};
        Choice choice;
        if (!visit.decodes() && !(special && special[i * length + j]))
          choice = choose(x[j], curves, visit);
        const P p = curves[choices.next(choice.curve)];
        if (choice.is_stable)
          visit.point(x[j], p);
        else
          visit.keep(x[j], p);
        const bool is_near = distance(P(x[j]), p) <= kReach * visit.step();
        before = {is_near ? p : P(x[j]), a, b};
      }
    }
    choices.finish();
  }

 private:
  static constexpr double kReach = 8191.75;  // of 14-bit codes

  template <class P>
  static double distance(P a, P b) {
    return std::abs(double(a) - double(b));
  }

  struct Choice {
    u8 curve = 0;
    bool is_stable = true;
  };

  // The nearest curve, but so that what the value becomes would choose the same again: data that
  // was decoded and is compressed once more must not change. Where no choice does that, the value
  // is to be kept.
  template <class T, class P>
  static Choice choose(T x, const std::array<P, 3>& curves, const auto& visit) {
    const auto nearest = [&](T value, bool on_grid) {
      int best = -1;
      for (int k = 0; k < 3; ++k) {
        const P p = curves[size_t(k)];
        if (on_grid && visit.rounded(value, p) != value) continue;
        if (best < 0 || distance(P(value), p) < distance(P(value), curves[size_t(best)])) best = k;
      }
      return best;
    };
    int k = nearest(x, true);
    if (k >= 0) return {u8(k)};  // decoded already, or as good as that
    k = nearest(x, false);
    const auto y = visit.rounded(x, curves[size_t(k)]);
    if (!y) return {u8(k)};  // will be kept
    const int again = nearest(*y, true);
    if (again < 0 || visit.rounded(x, curves[size_t(again)]) != y) return {u8(k), false};
    return {u8(again)};
  }
};

}  // namespace leeway

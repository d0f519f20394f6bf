// SPDX-License-Identifier: BSD-3-Clause
// Ghost: the predictor of GhostSZ [Xiong et al., FCCM 2019], as the baseline of waveSZ.
//
// Rows know nothing of each other. A value is predicted by the last one, by the line through the
// last two, or by the parabola through the last three, whichever is nearest; two bits say which. To
// keep a pipeline going, it goes on from *predicted* values, not from reconstructed ones; only a
// value too far away to have a code is a new start. That is what costs it its ratio. With
// `through=decoded` curves go through reconstructed values, as in SZ 0.1 to 1.0 [Di and Cappello,
// IPDPS 2016].
#pragma once

#include <array>
#include <cmath>

#include "leeway/predict/two_bit_notes.h"
#include "leeway/stage/stage.h"

namespace leeway {

enum class Through : u8 { predicted, decoded };
constexpr std::array<std::string_view, 2> param_words(Through) { return {"predicted", "decoded"}; }

struct Ghost {
  static constexpr std::string_view kName = "ghost";
  static constexpr std::string_view kAbout =
      "the nearest of three curves through predicted values before, row by row, as GhostSZ";
  static constexpr Kind kKind = Kind::predictor;
  static constexpr Traits kTraits{
      .chunk_values = u64(1) << 20, .floating_only = true, .needs_step = true, .one_grid = true};
  struct Params {
    Through through = Through::predicted;
    void fields(auto&& field) {
      field("through", through, Through::predicted, Through::decoded,
            "what the curves go through: predicted values, as GhostSZ, or decoded ones, as SZ 1.0");
    }
  } params;

  // Notes are a Writer or a Reader: four choices a byte, low bits first.
  template <class T, class Notes>
  void walk(Field<T> field, auto& coder, Notes& notes) const {
    using P = Predicted<T>;
    const Table table(field.shape);
    const size_t rows = size_t(table.rows), length = size_t(table.length);
    if (length == 0) return;
    TwoBitNotes<Notes> curves_taken(notes, 2);
    const u8* const flags = coder.flags();
    for (size_t i = 0; i < rows; ++i) {
      T* x = field.data + i * length;
      coder.exact(x[0], P(0));
      std::array<P, 3> before;  // the last first
      before.fill(P(x[0]));
      for (size_t j = 1; j < length; ++j) {
        const auto [a, b, c] = before;
        const std::array<P, 3> curves = {a, P(2) * a - b, P(3) * (a - b) + c};
        Settled next;
        if (!coder.decoding() && !(flags && flags[i * length + j]))
          next = settle(x[j], curves, coder);
        const P p = curves[curves_taken.next(next.curve)];
        if (next.is_stable)
          coder.point(x[j], p);
        else
          coder.exact(x[j], p);
        const bool goes_on = params.through == Through::predicted &&
                             distance(P(x[j]), p) <= kReach * coder.step();
        before = {goes_on ? p : P(x[j]), a, b};
      }
    }
    curves_taken.finish();
  }

 private:
  static constexpr double kReach = 8191.75;  // of 14-bit codes

  template <class P>
  static double distance(P a, P b) {
    return std::abs(double(a) - double(b));
  }

  struct Settled {
    u8 curve = 0;
    bool is_stable = true;
  };

  // The nearest curve, but so that what the value becomes would choose the same curve again: data
  // that was decoded and is compressed once more must not change. If no curve does that, the value
  // must be kept exactly.
  template <class T, class P>
  static Settled settle(T x, const std::array<P, 3>& curves, const auto& coder) {
    const auto nearest = [&](T value, bool on_grid) {
      int best = -1;
      for (int k = 0; k < 3; ++k) {
        const P p = curves[size_t(k)];
        if (on_grid && coder.grid().rounded(value, p) != value) continue;
        if (best < 0 || distance(P(value), p) < distance(P(value), curves[size_t(best)])) best = k;
      }
      return best;
    };
    int k = nearest(x, true);
    if (k >= 0) return {u8(k)};  // decoded already, or as good as that
    k = nearest(x, false);
    const auto y = coder.grid().rounded(x, curves[size_t(k)]);
    if (!y) return {u8(k)};  // will be kept
    const int again = nearest(*y, true);
    if (again < 0 || coder.grid().rounded(x, curves[size_t(again)]) != y) return {u8(k), false};
    return {u8(again)};
  }
};

}  // namespace leeway

// SPDX-License-Identifier: BSD-3-Clause
// Composite: the best of several predictors for every block, as SZ2 and SZ3 have it [Liang et al.,
// Big Data 2018] (composite.md).
//
// Blocks are coded in order, and so are the values of a block; Lorenzo looks over the border at
// earlier blocks. The choice is made from what the differences would cost in bits. Data that was
// decoded and is compressed again must not change: a predictor that leaves all values of a block as
// they are comes first, and a polynomial is taken only if the values it produces give the same
// polynomial again.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "leeway/predict/block_costs.h"
#include "leeway/predict/block_grid.h"
#include "leeway/predict/block_notes.h"
#include "leeway/predict/number.h"
#include "leeway/predict/polynomial.h"
#include "leeway/stage/stage.h"

namespace leeway {

// What may predict a block, beside Lorenzo of order 1.
struct BlockMethods {
  bool lorenzo2 = false, degree1 = true, degree2 = false;
  bool compares = true;  // else the first polynomial that can be taken is taken
  i32 edge = 0;          // of a block; 0: by the number of axes
};

template <class T, class AnyCoder, class Notes>
class BlockWalk : BlockGrid<T> {
  using C = Number<T>;
  using P = Predicted<T>;
  using Numbers = typename Polynomial<C>::Numbers;
  using Fit = typename Polynomial<C>::Fit;
  using Grid = BlockGrid<T>;
  using Grid::block_, Grid::block_size, Grid::first_, Grid::for_each_block, Grid::for_each_row,
      Grid::gather_block, Grid::put_back_block, Grid::start_, Grid::strides_, Grid::with_length;
  using enum BlockMethod;
  static constexpr bool kReads = std::is_same_v<Notes, Reader>;

 public:
  // The field has at most four axes.
  BlockWalk(const BlockMethods& allowed, Field<T> field, AnyCoder& coder, Notes& notes)
      : Grid(field, allowed.edge), allowed_(allowed), field_(field), coder_(coder), notes_(notes) {}

  void walk() {
    if (field_.size() == 0) return;
    if constexpr (kReads) known_.read(notes_, [this](auto&& f) { this->for_each_block(f); });
    for_each_block([&] { walk_block(); });
    if constexpr (!kReads) known_.write(notes_);
  }

 private:
  void walk_block() {
    BlockMethod method = lorenzo1;
    Numbers numbers{};
    if constexpr (kReads) {
      method = known_.take(numbers);
    } else {
      method = choose(numbers);
      known_.add(method, numbers);
    }
    if (method >= degree1)
      code_polynomial(method, numbers);
    else if (method == lorenzo1)
      code_lorenzo<1>();
    else
      code_lorenzo<2>();
  }

  // Lorenzo, as in lorenzo.h: p = what the rows before give, and the values before in the row.
  struct Row {
    std::ptrdiff_t offset;
    P weight;
  };
  // The rows before that a row at this place has.
  const std::vector<Row>& rows_before(int order, const std::array<size_t, 3>& place) {
    static constexpr int kWeights[3][3] = {{}, {1, -1, 0}, {1, -2, 1}};
    const auto most = [&](size_t k) { return std::min(place[k], size_t(order)); };
    auto& rows = rows_[size_t(order - 1)][most(0) * 9 + most(1) * 3 + most(2)];
    if (rows.empty())
      for (size_t i = 0; i <= most(0); ++i)
        for (size_t j = 0; j <= most(1); ++j)
          for (size_t k = 0; k <= most(2); ++k)
            if (i + j + k > 0)
              rows.push_back({std::ptrdiff_t(i) * strides_[0] + std::ptrdiff_t(j) * strides_[1] +
                                  std::ptrdiff_t(k) * strides_[2],
                              P(-kWeights[order][i] * kWeights[order][j] * kWeights[order][k])});
    return rows;
  }
  // What rows before give, for the row and two values before it, to h[0], h[1], ...
  void sum_rows(int order, const T* row, const std::array<size_t, 3>& place, P* h) {
    const size_t left = std::min<size_t>(first_[3], 2), length = block_[3] + left;
    std::fill_n(h, block_[3] + 2, P(0));
    h += 2 - left;
    row -= left;
    with_length(length, [&](auto count) {
      for (const Row& before : rows_before(order, place)) {
        const T* from = row - before.offset;
        for (size_t i = 0; i < count; ++i) h[i] += before.weight * P(from[i]);
      }
    });
  }
  // Calls f(value, prediction) along a row until it says false; f may change the value.
  template <int order, class F>
  bool for_each_prediction(T* row, const std::array<size_t, 3>& place, F&& f) {
    sum_rows(order, row, place, h_.data());
    P last = first_[3] >= 1 ? P(row[-1]) : P(0), second = first_[3] >= 2 ? P(row[-2]) : P(0);
    const P* h = h_.data() + 2;
    for (size_t i = 0; i < block_[3]; ++i, ++h) {
      if (!f(row[i], prediction<order>(h, last, second))) return false;
      second = last;
      last = P(row[i]);
    }
    return true;
  }
  template <int order>
  void code_lorenzo() {
    auto block = coder_.block(block_size());
    for (size_t i = 0; i < block_[0]; ++i) {
      if (order == 1 && first_[0] + i == 0 && code_together(block)) continue;
      code_rows<order>(block, i, 0, block_[2]);
    }
    block.finish();
  }
  // Some rows of every plane at a time, as many as can be done together.
  bool code_together(auto& block) {
    if (block_[1] * block_[2] < 3 || block_[1] > kMostBlockPlanes || block_[3] > kMostBlockLength)
      return false;
    const auto rows = [&](size_t first) { return std::min(kMostBlockRows, block_[2] - first); };
    for (size_t first = 0; first < block_[2]; first += rows(first)) {
      const BlockWave<T> wave{.x = start_ + std::ptrdiff_t(first) * strides_[2],
                              .planes = block_[1],
                              .rows = rows(first),
                              .length = block_[3],
                              .plane_stride = strides_[1],
                              .row_stride = strides_[2],
                              .has_plane = first_[1] > 0,
                              .has_row = first_[2] + first > 0,
                              .has_column = first_[3] > 0,
                              .codes_in_plane = block_[2] * block_[3]};
      if (!block.wave(first * block_[3], wave)) code_rows<1>(block, 0, first, first + rows(first));
    }
    return true;
  }
  // Rows [first_row, end_row) of all planes. Rows (j, k) with the same j + k do not depend on each
  // other: they are coded side by side, so that a value need not wait for the one before it.
  template <int order>
  void code_rows(auto& block, size_t i, size_t first_row, size_t end_row) {
    const size_t length = block_[3], rows = end_row - first_row;
    for (size_t sum = 0; sum + 1 < block_[1] + rows; ++sum) {
      const size_t first = sum < rows ? 0 : sum - rows + 1,
                   count = std::min(sum + 1, block_[1]) - first;
      for (size_t r = 0; r < count; ++r) {
        const size_t j = first + r, k = first_row + sum - j;
        T* row = start_ + std::ptrdiff_t(i) * strides_[0] + std::ptrdiff_t(j) * strides_[1] +
                 std::ptrdiff_t(k) * strides_[2];
        P* h = h_.data() + r * (length + 2);
        sum_rows(order, row, {first_[0] + i, first_[1] + j, first_[2] + k}, h);
        side_by_side_[r] = {row, h + 2, ((i * block_[1] + j) * block_[2] + k) * length,
                            first_[3] >= 1 ? P(row[-1]) : P(0), first_[3] >= 2 ? P(row[-2]) : P(0)};
      }
      for (size_t x = 0; x < length; ++x)
        for (size_t r = 0; r < count; ++r) {
          auto& [row, h, slot, last, second] = side_by_side_[r];
          block.put(slot + x, row[x], prediction<order>(h + x, last, second));
          second = last;
          last = P(row[x]);
        }
    }
  }
  template <int order>
  static P prediction(const P* h, P last, P second) {
    if constexpr (order == 1)
      return last + (h[0] - h[-1]);
    else
      return (P(2) * last - second) + (h[0] - P(2) * h[-1] + h[-2]);
  }

  const Polynomial<C>& polynomial(BlockMethod method) {
    auto& found = polynomials_[size_t(method) - size_t(degree1)];
    auto it = found.find(block_);
    if (it == found.end())
      it = found.try_emplace(block_, block_, method == degree1 ? 1 : 2, coder_.step()).first;
    return it->second;
  }
  void code_polynomial(BlockMethod method, const Numbers& numbers) {
    polynomial(method).evaluate(numbers, fitted_.data());
    const size_t size = block_size();
    for (size_t i = 0; i < size; ++i) predicted_[i] = predicted_as<T>(fitted_[i]);
    gather_block(values_.data());
    coder_.run({values_.data(), predicted_.data(), size});
    put_back_block(values_.data());
  }
  // Followed by zeros, as polynomials want them.
  void fit_from(const T* values) {
    const size_t size = block_size();
    for (size_t i = 0; i < size; ++i) numbers_of_block_[i] = C(values[i]);
    std::fill_n(numbers_of_block_.data() + size, kPadding, C(0));
  }

  // The encoder's side.

  BlockMethod choose(Numbers& numbers) {
    if (has_special()) return lorenzo1;
    gather_block(values_.data());
    fit_from(values_.data());
    if (stays<1>()) return lorenzo1;
    if (allowed_.lorenzo2 && stays<2>()) return lorenzo2;
    BlockMethod best = lorenzo1, best_polynomial = lorenzo1;
    i64 least = 0, least_polynomial = 0;
    for (const BlockMethod method : {degree1, degree2}) {
      if (!(method == degree1 ? allowed_.degree1 : allowed_.degree2)) continue;
      const Polynomial<C>& p = polynomial(method);
      Fit fit;
      if (!p.fit(numbers_of_block_.data(), fit)) continue;
      Numbers found;
      for (const i64 grain : kGrains) {
        found = p.rounded(fit, grain);
        if (grain > 1 && !stays(values_[0], predicted_as<T>(p.first_value(found)))) continue;
        p.evaluate(found, fitted_.data());
        if (stays(fitted_.data())) {
          numbers = found;
          return method;
        }
      }
      const i64 estimate = polynomial_cost(method);
      if (best_polynomial == lorenzo1 || estimate < least_polynomial) {
        best_polynomial = method;
        least_polynomial = estimate;
        numbers = found;
      }
    }
    if (allowed_.compares || best_polynomial == lorenzo1) {
      least = lorenzo_cost<1>();
      if (allowed_.lorenzo2)
        if (const i64 estimate = lorenzo_cost<2>(); estimate < least) {
          best = lorenzo2;
          least = estimate;
        }
    }
    if (best_polynomial != lorenzo1 && (!allowed_.compares || least_polynomial < least) &&
        settle(best_polynomial, numbers)) {
      if (!allowed_.compares) return best_polynomial;
      fit_from(values_.data());
      if (polynomial_cost(best_polynomial) < least) return best_polynomial;
    }
    return best;
  }

  bool has_special() const {
    const u8* const flags = coder_.flags();
    return flags && !for_each_row([&](const T* row, const auto&) {
             return std::all_of(flags + (row - field_.data),
                                flags + (row - field_.data) + std::ptrdiff_t(block_[3]),
                                [](u8 flag) { return flag == 0; });
           });
  }

  // Whether all values would stay what they are.
  bool stays(T value, P predicted) const {
    const auto rounded = coder_.grid().rounded(value, predicted);
    return !rounded || bits_of(*rounded) == bits_of(value);
  }
  template <int order>
  bool stays() {
    return for_each_row([&](T* row, const auto& place) {
      return for_each_prediction<order>(row, place, [&](T value, P p) { return stays(value, p); });
    });
  }
  bool stays(const C* fitted) const {
    for (size_t i = 0; i < block_size(); ++i)
      if (!stays(values_[i], predicted_as<T>(fitted[i]))) return false;
    return true;
  }

  // Looks for a fixed point: a polynomial that is found again when it is fitted to the values it
  // produces. There is none if a coefficient lies between two numbers; then numbers of a coarser
  // grain are tried, because they lie elsewhere.
  bool settle(BlockMethod method, Numbers& numbers) {
    const Polynomial<C>& p = polynomial(method);
    const size_t size = block_size();
    Fit fit;
    for (size_t k = kGrains.size(); k-- > 0;) {
      if (k + 1 < kGrains.size()) numbers = p.rounded(fit, kGrains[k]);
      for (int attempt = 0; attempt < 4; ++attempt) {
        p.evaluate(numbers, fitted_.data());
        for (size_t i = 0; i < size; ++i) predicted_[i] = predicted_as<T>(fitted_[i]);
        std::copy_n(values_.data(), size, rounded_.data());
        coder_.grid().round({rounded_.data(), predicted_.data(), size});
        fit_from(rounded_.data());
        if (!p.fit(numbers_of_block_.data(), fit)) return false;
        const Numbers again = p.rounded(fit, kGrains[k]);
        if (again == numbers) return true;
        numbers = again;
      }
    }
    return false;
  }

  // Costs are estimated from every fourth row, where there are many.
  bool is_looked_at(const std::array<size_t, 3>& place) const {
    constexpr size_t kMany = 16;
    return block_[0] * block_[1] * block_[2] < kMany || (place[0] + place[1] + place[2]) % 4 == 0;
  }
  // Of the rows looked at, as if all were like them.
  i64 cost_of_all(const C* end, double noise) const {
    const auto count = size_t(end - differences_.data());
    const double whole = double(block_size()) / double(count);
    return i64(double(cost_of(differences_.data(), count, coder_.step(), noise)) * whole);
  }
  i64 polynomial_cost(BlockMethod method) {
    C* difference = differences_.data();
    const C *fitted = fitted_.data(), *number = numbers_of_block_.data();
    for_each_row([&](T*, const auto& place) {
      if (is_looked_at(place)) {
        for (size_t i = 0; i < block_[3]; ++i) difference[i] = fitted[i] - number[i];
        difference += block_[3];
      }
      fitted += block_[3];
      number += block_[3];
      return true;
    });
    return cost_of_all(difference, 0) + bits_as_cost(kNumberBits * i64(polynomial(method).terms()));
  }
  // From original neighbours in the block, as reconstructed ones are not there yet: differences
  // will be off by the errors of the neighbours.
  template <int order>
  i64 lorenzo_cost() {
    static constexpr double kNoise[2][4] = {{0.3, 0.5, 0.73, 1.5}, {0.65, 1.7, 4.1, 12}};
    C* difference = differences_.data();
    for_each_row([&](T* row, const auto& place) {
      if (!is_looked_at(place)) return true;
      return for_each_prediction<order>(row, place, [&](T value, P p) {
        if constexpr (is_floating<T>)
          *difference++ = C(P(value) - p);
        else
          *difference++ = C(i64(P(value) - p));
        return true;
      });
    });
    return cost_of_all(difference, kNoise[order - 1][std::max<size_t>(1, field_.shape.rank()) - 1]);
  }

  static constexpr i64 kNumberBits = 6;  // what a coefficient costs, about
  static constexpr std::array<i64, 3> kGrains{4, 2, 1};
  static constexpr size_t kMostValues = kMostCodes, kPadding = 8;

  const BlockMethods& allowed_;
  Field<T> field_;
  AnyCoder& coder_;
  Notes& notes_;
  BlockNotes<Numbers> known_;
  std::array<std::array<std::vector<Row>, 27>, 2> rows_;
  std::array<std::map<BlockShape, Polynomial<C>>, 2> polynomials_;
  static constexpr size_t kMostRows = 12;
  std::array<P, kMostRows*(kMostRows + 2)> h_{};  // or one row of 128 values
  struct RowState {
    T* values;
    const P* h;
    size_t slot;
    P last, second;
  };
  std::array<RowState, kMostRows> side_by_side_;
  std::array<T, kMostValues> values_, rounded_;
  std::array<P, kMostValues> predicted_;
  std::array<C, kMostValues + kPadding> fitted_, numbers_of_block_, differences_;
};

// Batches of four axes, the rest outside.
template <class T, class AnyCoder, class Notes>
void walk_blocks(const BlockMethods& allowed, Field<T> field, AnyCoder& coder, Notes& notes) {
  const size_t rank = std::min<size_t>(field.shape.rank(), 4);
  const Field<T> part{field.data, Shape(field.shape.extents().last(rank))};
  if (part.size() == 0) return;
  for (size_t first = 0; first < field.size(); first += part.size())
    BlockWalk<T, AnyCoder, Notes>(allowed, {field.data + first, part.shape}, coder, notes).walk();
}

struct Composite {
  static constexpr std::string_view kName = "composite";
  static constexpr std::string_view kAbout =
      "for every block the best of Lorenzo and polynomials, as SZ2 and SZ3 do";
  static constexpr Kind kKind = Kind::predictor;
  static constexpr Traits kTraits{
      .chunk_values = u64(1) << 20, .needs_step = true, .one_grid = true};
  struct Params {
    i32 second = 0;
    i32 degree = 1;
    i32 block = 0;
    void fields(auto&& field) {
      field("second", second, 0, 1, "1: Lorenzo of order 2, too");
      field("degree", degree, 0, 2, "highest degree of the polynomials; 0: none");
      field("block", block, 0, 128,
            "edge of a block; 0: 128, 16, 6, 6 by the number of axes; larger ones are cut");
    }
  } params;

  template <class T, class Notes>
  void walk(Field<T> field, auto& coder, Notes& notes) const {
    walk_blocks({.lorenzo2 = params.second > 0,
                 .degree1 = params.degree > 0,
                 .degree2 = params.degree > 1,
                 .compares = true,
                 .edge = params.block},
                field, coder, notes);
  }
};

}  // namespace leeway

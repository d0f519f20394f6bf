// SPDX-License-Identifier: BSD-3-Clause
// Cross: blocks of values as matrices of low rank, for integrals over pairs of shells (cross.md).
//
// A block of electron repulsion integrals (ab|cd) is a matrix over the pairs ab and cd, and nearly
// a sum of a few products of a column and a row. Cross approximation [Bebendorf, 2000] finds them
// in the matrix itself: where the largest difference to the sum so far is, row and column are
// coded, and from then on their product over the pivot belongs to the sum, which predicts what is
// left. Rows (ab) and (ba) are often the same; a twin costs nothing.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "leeway/predict/number.h"
#include "leeway/stage/stage.h"

namespace leeway {

struct Cross {
  static constexpr std::string_view kName = "cross";
  static constexpr std::string_view kAbout =
      "blocks as matrices: crosses of a row and a column predict the rest";
  static constexpr Kind kKind = Kind::predictor;
  // Chunks: whole blocks of all usual sizes.
  static constexpr Traits kTraits{.chunk_values = 1620000, .after_quantizer = true};
  struct Params {
    i32 rows = 36;
    i32 columns = 36;
    void fields(auto&& field) {
      field("rows", rows, 2, 128, "rows of a block: pairs of the bra");
      field("columns", columns, 2, 128, "columns of a block: pairs of the ket");
    }
  } params;

  u64 block_values() const { return u64(params.rows) * u64(params.columns); }

  template <class T, class Notes>
  void walk(Field<T> field, Coder<T>& coder, Notes& notes) const {
    const auto size = size_t(params.rows) * size_t(params.columns);
    Block<T, Notes> block(params, coder, notes);
    size_t first = 0;
    for (; first + size <= field.size(); first += size) block.walk(field.data + first);
    for (; first < field.size(); ++first) code_alone(field.data[first], coder);
  }

 private:
  // What the encoder is told about a value. Higher ones expect larger codes, in each group.
  enum Context : u8 { twin = 0, rest = 1, expected = 8, first_cross = 112, pivot_itself = 184 };

  template <class T>
  static void code_alone(T& value, Coder<T>& coder) {
    const Predicted<T> nothing{};
    const u8 context = rest;
    coder.run({&value, &nothing, 1, &context});
  }

  // Half octaves, from 0 for less than 1.
  static u8 size_class(double magnitude, int most) {
    if (!(magnitude >= 1)) return 0;
    const u64 bits = std::bit_cast<u64>(magnitude);
    const int octave = int(bits >> 52) - 1023;
    const bool upper = (bits & 0xfffffffffffff) >= 0x6a09e667f3bcd;
    return u8(std::min(2 * octave + upper + 1, most));
  }
  static u8 octaves(double magnitude, int most) { return u8(size_class(magnitude, 2 * most) / 2); }

  struct Pivot {
    u8 row = 0, column = 0;
  };

  template <class T, class Notes>
  class Block {
    static constexpr bool kReads = std::is_same_v<Notes, Reader>;

   public:
    Block(const Params& params, Coder<T>& coder, Notes& notes)
        : rows_(size_t(params.rows)),
          columns_(size_t(params.columns)),
          coder_(coder),
          notes_(notes) {}

    void walk(T* values) {
      values_ = values;
      sum_.assign(rows_ * columns_, 0);
      known_.assign(rows_ * columns_, 0);
      row_.assign(columns_, 0);
      column_.assign(rows_, 0);
      row_size_.assign(columns_, 0);
      column_size_.assign(rows_, 0);
      if constexpr (kReads)
        read_notes();
      else
        look_at_block();
      unique_rows_ = unique(rows_, has_row_twins_);
      unique_columns_ = unique(columns_, has_column_twins_);
      if constexpr (kReads) {
        for (size_t n = 0; n < pivots_.size(); ++n) code_cross(n);
      } else {
        for (Pivot pivot; find_pivot(pivot);) {
          pivots_.push_back(pivot);
          code_cross(pivots_.size() - 1);
        }
        write_notes();
      }
      code_rest();
      code_twins();
    }

   private:
    T& at(size_t i, size_t j) { return values_[i * columns_ + j]; }
    double& sum(size_t i, size_t j) { return sum_[i * columns_ + j]; }
    u8& known(size_t i, size_t j) { return known_[i * columns_ + j]; }

    // Row (a, b) of n^2 rows has the twin (b, a).
    static size_t edge(size_t count) {
      size_t n = 1;
      while (n * n < count) ++n;
      return n * n == count ? n : 0;
    }
    static size_t twin_of(size_t i, size_t n) { return i % n * n + i / n; }
    static std::vector<size_t> unique(size_t count, bool has_twins) {
      std::vector<size_t> which;
      for (size_t i = 0; i < count; ++i)
        if (!has_twins || i <= twin_of(i, edge(count))) which.push_back(i);
      return which;
    }

    void look_at_block() {
      const auto all = [&](size_t n, auto&& is_twin) {
        if (n == 0) return false;
        for (size_t i = 0; i < n * n; ++i)
          if (twin_of(i, n) > i && !is_twin(i, twin_of(i, n))) return false;
        return true;
      };
      has_row_twins_ = all(edge(rows_), [&](size_t i, size_t k) {
        return std::equal(&at(i, 0), &at(i, 0) + columns_, &at(k, 0));
      });
      has_column_twins_ = all(edge(columns_), [&](size_t j, size_t k) {
        for (size_t i = 0; i < rows_; ++i)
          if (at(i, j) != at(i, k)) return false;
        return true;
      });
      pivots_.clear();
    }

    // Where the sum is farthest from a value not yet known, if that is worth a cross.
    bool find_pivot(Pivot& pivot) {
      if (pivots_.size() == std::min(unique_rows_.size(), unique_columns_.size())) return false;
      double farthest = kWorthACross;
      for (const size_t i : unique_rows_)
        for (const size_t j : unique_columns_) {
          const double difference = std::abs(double(at(i, j)) - sum(i, j));
          if (known(i, j) || !(difference > farthest)) continue;
          farthest = difference;
          pivot = {u8(i), u8(j)};
        }
      return farthest > kWorthACross;
    }

    void code_cross(size_t number) {
      const size_t i = pivots_[number].row, j = pivots_[number].column;
      collect(i, j, u8(pivot_itself + octaves(pivot_, 70)));
      flush();
      const double pivot = double(at(i, j)) - sum(i, j);
      pivot_ = std::abs(pivot);
      // What a value may be, from what the crosses before had at its place.
      const auto context = [&](double other) {
        if (number == 0) return u8(first_cross + octaves(pivot_, 70));
        return u8(expected + size_class(other * pivot_, 100));
      };
      for (const size_t k : unique_columns_) collect(i, k, context(row_size_[k]));
      flush();
      for (const size_t k : unique_rows_) collect(k, j, context(column_size_[k]));
      flush();
      for (const size_t k : unique_columns_) row_[k] = double(at(i, k)) - sum(i, k);
      for (const size_t k : unique_rows_) column_[k] = double(at(k, j)) - sum(k, j);
      if (pivot == 0) return;  // only in a damaged stream
      const auto remember = [&](double& size, double value) {
        size = 0.5 * (size + std::abs(value) / pivot_);
      };
      for (const size_t k : unique_columns_) remember(row_size_[k], row_[k]);
      for (const size_t k : unique_rows_) remember(column_size_[k], column_[k]);
      for (const size_t k : unique_rows_) {
        const double factor = column_[k] / pivot;
        for (const size_t l : unique_columns_) sum(k, l) += factor * row_[l];
      }
    }
    void code_rest() {
      for (const size_t i : unique_rows_) {
        for (const size_t j : unique_columns_) collect(i, j, rest);
        flush();
      }
    }
    void code_twins() {
      const size_t n = has_row_twins_ ? edge(rows_) : 0, m = has_column_twins_ ? edge(columns_) : 0;
      for (size_t i = 0; i < rows_; ++i) {
        for (size_t j = 0; j < columns_; ++j) {
          if (known(i, j)) continue;
          const size_t k = n ? std::min(i, twin_of(i, n)) : i,
                       l = m ? std::min(j, twin_of(j, m)) : j;
          add(i, j, Predicted<T>(at(k, l)), twin);
        }
        flush();
      }
    }

    // Values wait here to be coded together.
    void collect(size_t i, size_t j, u8 context) {
      if (!known(i, j)) add(i, j, predicted_as<T>(Number<T>(sum(i, j))), context);
    }
    void add(size_t i, size_t j, Predicted<T> predicted, u8 context) {
      known(i, j) = 1;
      places_[waiting_] = &at(i, j);
      waiting_values_[waiting_] = at(i, j);
      predicted_[waiting_] = predicted;
      contexts_[waiting_++] = context;
    }
    void flush() {
      if (waiting_ == 0) return;
      coder_.run({waiting_values_.data(), predicted_.data(), waiting_, contexts_.data()});
      for (size_t k = 0; k < waiting_; ++k) *places_[k] = waiting_values_[k];
      waiting_ = 0;
    }

    void write_notes() {
      notes_.put(u8(has_row_twins_ | has_column_twins_ << 1));
      notes_.put(u8(pivots_.size()));
      for (const Pivot& pivot : pivots_) notes_.put(pivot.row);
      for (const Pivot& pivot : pivots_) notes_.put(pivot.column);
    }
    void read_notes() {
      const u8 flags = notes_.template get<u8>();
      has_row_twins_ = flags & 1;
      has_column_twins_ = flags >> 1 & 1;
      if (flags > 3 || (has_row_twins_ && !edge(rows_)) || (has_column_twins_ && !edge(columns_)))
        fail_corrupt("twins in a block that has none");
      pivots_.resize(notes_.template get<u8>());
      for (Pivot& pivot : pivots_) pivot.row = notes_.template get<u8>();
      for (Pivot& pivot : pivots_) pivot.column = notes_.template get<u8>();
      for (const Pivot& pivot : pivots_)
        if (pivot.row >= rows_ || pivot.column >= columns_)
          fail_corrupt("a pivot outside the block");
    }

    static constexpr double kWorthACross = 2;  // steps
    static constexpr size_t kMost = 128;

    size_t rows_, columns_;
    Coder<T>& coder_;
    Notes& notes_;
    T* values_ = nullptr;
    std::vector<double> sum_, row_, column_;  // row and column: of the last cross
    std::vector<double> row_size_,
        column_size_;  // over the pivot, older crosses count less and less
    std::vector<u8> known_;
    std::vector<size_t> unique_rows_, unique_columns_;
    std::vector<Pivot> pivots_;
    bool has_row_twins_ = false, has_column_twins_ = false;
    double pivot_ = 0;
    std::array<T*, kMost> places_;
    std::array<T, kMost> waiting_values_;
    std::array<Predicted<T>, kMost> predicted_;
    std::array<u8, kMost> contexts_;
    size_t waiting_ = 0;
  };
};

}  // namespace leeway

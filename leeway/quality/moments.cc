// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/quality/moments.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace leeway {

PairMoments PairMoments::of(std::span<const double> x, std::span<const double> e,
                            std::span<const u8> valid, size_t length) {
  PairMoments m;
  CompensatedSum sum_x, sum_e;
  double min_x = std::numeric_limits<double>::infinity(), max_x = -min_x, min_y = min_x,
         max_y = -min_x;
  for (size_t row = 0; row < x.size(); row += length) {
    double row_x = 0, row_e = 0;
    for (size_t i = row; i < row + length; ++i) {
      if (!valid[i]) continue;
      const double y = x[i] - e[i];
      ++m.n_;
      row_x += x[i], row_e += e[i];
      min_x = std::min(min_x, x[i]), max_x = std::max(max_x, x[i]);
      min_y = std::min(min_y, y), max_y = std::max(max_y, y);
    }
    sum_x.add(row_x), sum_e.add(row_e);
  }
  if (m.n_ == 0) return m;
  m.min_x_ = min_x, m.max_x_ = max_x, m.min_y_ = min_y, m.max_y_ = max_y;
  m.mean_x_ = sum_x.value() / double(m.n_), m.mean_e_ = sum_e.value() / double(m.n_);
  CompensatedSum xx, yy, ee, es, eee, eeee;
  for (size_t row = 0; row < x.size(); row += length) {
    double row_xx = 0, row_yy = 0, row_ee = 0, row_es = 0, row_3 = 0, row_4 = 0;
    for (size_t i = row; i < row + length; ++i) {
      if (!valid[i]) continue;
      const double a = x[i] - m.mean_x_, d = e[i] - m.mean_e_, b = a - d, dd = d * d;
      row_xx += a * a, row_yy += b * b, row_ee += dd;
      row_es += d * (a + b), row_3 += dd * d, row_4 += dd * dd;
    }
    xx.add(row_xx), yy.add(row_yy), ee.add(row_ee);
    es.add(row_es), eee.add(row_3), eeee.add(row_4);
  }
  m.xx_ = xx.value(), m.yy_ = yy.value(), m.ee_ = ee.value();
  m.es_ = es.value(), m.eee_ = eee.value(), m.eeee_ = eeee.value();
  return m;
}

void PairMoments::merge(const PairMoments& other) {
  if (other.n_ == 0) return;
  if (n_ == 0) {
    *this = other;
    return;
  }
  const double na = double(n_), nb = double(other.n_), n = na + nb, share = nb / n;
  const double dx = other.mean_x_ - mean_x_, de = other.mean_e_ - mean_e_, dy = dx - de;
  const double weight = na * share;
  eeee_ += other.eeee_ + de * de * de * de * weight * (na * na - na * nb + nb * nb) / (n * n) +
           6 * de * de * (na * na * other.ee_ + nb * nb * ee_) / (n * n) +
           4 * de * (na * other.eee_ - nb * eee_) / n;
  eee_ +=
      other.eee_ + de * de * de * weight * (na - nb) / n + 3 * de * (na * other.ee_ - nb * ee_) / n;
  xx_ += other.xx_ + dx * dx * weight;
  yy_ += other.yy_ + dy * dy * weight;
  ee_ += other.ee_ + de * de * weight;
  es_ += other.es_ + de * (dx + dy) * weight;
  mean_x_ += dx * share;
  mean_e_ += de * share;
  n_ += other.n_;
  min_x_ = std::min(min_x_, other.min_x_), max_x_ = std::max(max_x_, other.max_x_);
  min_y_ = std::min(min_y_, other.min_y_), max_y_ = std::max(max_y_, other.max_y_);
}

double PairMoments::variance_x() const { return n_ ? xx_ / double(n_) : 0; }
double PairMoments::variance_y() const { return n_ ? yy_ / double(n_) : 0; }
double PairMoments::variance_e() const { return n_ ? ee_ / double(n_) : 0; }
double PairMoments::mean_square_x() const { return variance_x() + mean_x_ * mean_x_; }
double PairMoments::mean_square_e() const { return variance_e() + mean_e_ * mean_e_; }

double PairMoments::skewness_e() const {
  return ee_ > 0 ? eee_ / double(n_) / std::pow(variance_e(), 1.5) : 0;
}

double PairMoments::kurtosis_e() const {
  return ee_ > 0 ? eeee_ / double(n_) / (variance_e() * variance_e()) : 0;
}

double PairMoments::one_minus_correlation() const {
  const double a = std::sqrt(xx_), b = std::sqrt(yy_);
  if (!(a > 0 && b > 0)) return xx_ == yy_ ? 0 : 1;
  const double apart = es_ / (a + b);  // |a| - |b|
  return std::max(0.0, ee_ - apart * apart) / (2 * a * b);
}

}  // namespace leeway

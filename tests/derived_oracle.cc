// SPDX-License-Identifier: BSD-3-Clause
// An oracle for promises: quantities are calculated in long double, by formulas of their own that
// share nothing with leeway/derived, from random and adversarial values and from errors that the
// derived bounds allow, the worst of them first.
//
//   leeway_derived_oracle [values]      1e8 takes about ten minutes
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "leeway/derived/derive.h"
#include "leeway/derived/together.h"
#include "leeway/leeway.hpp"

namespace {

using namespace leeway;
using derived::Expression;
using Real = long double;
using Values = std::vector<double>;

struct Formula {
  const char* text;
  size_t values;
  Real (*at)(const double* x);  // in the order in which the text names them first
  // Of products that may cancel; 0: the rounding is that of the result; -1: of its exponent, too.
  int degree = 0;
};

const Formula kFormulas[] = {
    {"sqrt(u^2+v^2)", 2, [](const double* x) { return hypotl(x[0], x[1]); }},
    {"sqrt(u^2+v^2+w^2)", 3,
     [](const double* x) {
       return sqrtl(Real(x[0]) * x[0] + Real(x[1]) * x[1] + Real(x[2]) * x[2]);
     }},
    {"u*v", 2, [](const double* x) { return Real(x[0]) * x[1]; }},
    {"u*v-v*w", 3, [](const double* x) { return Real(x[0]) * x[1] - Real(x[1]) * x[2]; }, 2},
    {"2.5*u-v/3", 2, [](const double* x) { return 2.5L * x[0] - Real(x[1]) / 3; }, 1},
    {"log(u)", 1, [](const double* x) { return logl(x[0]); }},
    {"log10(u)", 1, [](const double* x) { return log10l(x[0]); }},
    {"exp(u)", 1, [](const double* x) { return expl(x[0]); }},
    {"u/v", 2, [](const double* x) { return Real(x[0]) / x[1]; }},
    {"u^3", 1, [](const double* x) { return Real(x[0]) * x[0] * x[0]; }},
    {"u^-2", 1, [](const double* x) { return 1 / (Real(x[0]) * x[0]); }},
    {"u^1.4", 1, [](const double* x) { return powl(x[0], 1.4); }, -1},
    {"abs(u-v)", 2, [](const double* x) { return fabsl(Real(x[0]) - x[1]); }, 1},
    {"min(u,v)*max(v,w)", 3,
     [](const double* x) { return Real(std::min(x[0], x[1])) * std::max(x[1], x[2]); }},
    {"0.622*e/(p-0.378*e)", 2,
     [](const double* x) { return Real(0.622) * x[0] / (x[1] - Real(0.378) * x[0]); }},
    {"611.2*exp(17.67*(t-273.15)/(t-29.65))", 1,
     [](const double* x) {
       return Real(611.2) * expl(Real(17.67) * (x[0] - Real(273.15)) / (x[0] - Real(29.65)));
     },
     -1},
};

class Oracle {
 public:
  explicit Oracle(u64 wanted) : left_(wanted) {}

  bool run() {
    while (left_ > 0 && failures_ < 10) {
      for (const Formula& formula : kFormulas) points(formula, 4000);
      neighbours();
      whole();
    }
    std::printf("%llu values checked, %llu violations, %llu bounds of 0\n",
                static_cast<unsigned long long>(checked_),
                static_cast<unsigned long long>(failures_),
                static_cast<unsigned long long>(zeros_));
    return failures_ == 0;
  }

 private:
  double uniform() { return std::uniform_real_distribution<double>(-1, 1)(random_); }
  // Numbers of all sizes, next to each other, next to 0, round ones.
  double value() {
    switch (random_() % 8) {
      case 0:
        return 0;
      case 1:
        return std::ldexp(uniform(), int(random_() % 200) - 100);
      case 2:
        return double(int(random_() % 21) - 10);
      case 3:
        return 250 + 60 * uniform();
      case 4:
        return std::abs(uniform()) * 1e5;
      case 5:
        return last_ * (1 + 1e-12 * uniform());
      case 6:
        return 1e-3 * uniform();
      default:
        return 20 * uniform();
    }
  }
  double next_value() { return last_ = value(); }

  void fail(const std::string& what, const Values& x, const Values& y, Real error, double bound) {
    if (++failures_ > 10) return;
    std::printf("VIOLATION %s: error %.20Lg, bound %.17g, at", what.c_str(), error, bound);
    for (const double v : x) std::printf(" %.17g", v);
    std::printf(", decoded");
    for (const double v : y) std::printf(" %.17g", v);
    std::printf("\n");
  }
  // The rounding of the oracle itself.
  static Real slack(const Formula& formula, const Values& x, Real a, Real b) {
    Real size = 0;
    for (const double v : x) size = std::max(size, fabsl(Real(v)));
    Real terms = formula.degree > 0 ? 1 : 0;
    for (int k = 0; k < formula.degree; ++k) terms *= size;
    return (formula.degree < 0 ? 0x1p-50L : 0x1p-58L) * (fabsl(a) + fabsl(b) + terms);
  }

  // Values by themselves: corners of the box that bounds form, its faces, and its inside.
  void points(const Formula& formula, int count) {
    std::vector<std::string> names;
    Expression expression(formula.text, names, true);
    expression.settle(Shape{1});
    Expression::Place place;
    expression.place({}, place);
    const size_t n = formula.values;
    for (int i = 0; i < count; ++i) {
      Values x(n), b(n), y(n);
      for (double& v : x) v = next_value();
      for (double& v : b) v = std::ldexp(1 + std::abs(uniform()), int(random_() % 40) - 25);
      const Real before = formula.at(x.data());
      const double scale =
          std::isfinite(double(before)) && before != 0 ? std::abs(double(before)) : 1.0;
      const double bound =
          (random_() % 2 ? scale : 1.0) * std::ldexp(1 + std::abs(uniform()), -int(random_() % 30));
      derived::shrink(expression, place, x.data(), bound, b.data());
      if (!std::isfinite(before)) continue;
      for (unsigned corner = 0; corner < (1u << n) + 8; ++corner) {
        for (size_t s = 0; s < n; ++s) {
          const double part = corner < 1u << n ? (corner >> s & 1 ? 1 : -1) : uniform();
          y[s] = x[s] + part * b[s];
          while (fabsl(Real(y[s]) - x[s]) > b[s]) y[s] = std::nextafter(y[s], x[s]);
        }
        const Real after = formula.at(y.data()), error = fabsl(after - before);
        if (!(error <= bound + slack(formula, x, before, after)))
          fail(formula.text, x, y, error, bound);
        ++checked_, left_ -= left_ > 0;
      }
      zeros_ += std::ranges::all_of(b, [](double v) { return v == 0; });
    }
  }

  // Differences, of fields with jumps; the neighbours of a border point are written out here.
  void neighbours() {
    const size_t rows = 3 + random_() % 6, columns = 3 + random_() % 7, size = rows * columns;
    derived::Grid values{Shape{rows, columns}, {Values(size), Values(size)}}, bounds = values;
    for (auto& of : values.of)
      for (double& v : of) v = next_value();
    for (auto& of : bounds.of)
      for (double& v : of) v = std::ldexp(1.0, int(random_() % 20) - 10);
    const double hx = 2, hy = 0.5;
    const auto slope = [&](const Values& f, size_t i, size_t j, bool by_row, double h) {
      const size_t n = by_row ? rows : columns, at = by_row ? i : j;
      const size_t low = at == 0 ? 0 : at - 1, high = at + 1 == n ? at : at + 1;
      const auto pick = [&](size_t k) {
        return Real(by_row ? f[k * columns + j] : f[i * columns + k]);
      };
      return (pick(high) - pick(low)) / (Real(high - low) * h);
    };
    struct Derived {
      const char* text;
      std::function<Real(const Values&, const Values&, size_t, size_t)> at;
    };
    const Derived all[] = {
        {"d(u,1)", [&](const Values& u, const Values&, size_t i,
                       size_t j) { return slope(u, i, j, false, 1); }},
        {"gradient(u,2,0.5)",
         [&](const Values& u, const Values&, size_t i, size_t j) {
           return hypotl(slope(u, i, j, false, hx), slope(u, i, j, true, hy));
         }},
        {"vorticity(u,v,2,0.5)",
         [&](const Values& u, const Values& v, size_t i, size_t j) {
           return slope(v, i, j, false, hx) - slope(u, i, j, true, hy);
         }},
        {"divergence(u,v,2,0.5)",
         [&](const Values& u, const Values& v, size_t i, size_t j) {
           return slope(u, i, j, false, hx) + slope(v, i, j, true, hy);
         }},
        {"u*d(u,-1)+v*d(u,-2)",
         [&](const Values& u, const Values& v, size_t i, size_t j) {
           return u[i * columns + j] * slope(u, i, j, false, 1) +
                  v[i * columns + j] * slope(u, i, j, true, 1);
         }},
    };
    for (const Derived& quantity : all) {
      std::vector<std::string> names{"u", "v"};
      derived::Promise promise =
          derived::parse_promise(std::string(quantity.text) + "=abs:1", names, false);
      promise.settle(values.shape);
      const double bound = std::ldexp(1 + std::abs(uniform()), int(random_() % 24) - 14);
      derived::Grid own = bounds, decoded = values;
      derived::derive(promise, bound, values, own, {});
      for (int round = 0; round < 6; ++round) {
        for (size_t k = 0; k < 2; ++k)
          for (size_t p = 0; p < size; ++p) {
            const double x = values.of[k][p], b = own.of[k][p];
            double& y = decoded.of[k][p];
            // Signs in stripes make differences the worst.
            const size_t i = p / columns, j = p % columns;
            const double signs[] = {i / 2 % 2 == j / 2 % 2 ? 1.0 : -1.0, j / 2 % 2 ? 1.0 : -1.0,
                                    i / 2 % 2 ? 1.0 : -1.0, random_() % 2 ? 1.0 : -1.0};
            y = x + b * (round < 5 ? signs[std::min(round, 3)] : uniform());
            while (fabsl(Real(y) - x) > b) y = std::nextafter(y, x);
          }
        for (size_t p = 0; p < size; ++p) {
          const size_t i = p / columns, j = p % columns;
          const Real before = quantity.at(values.of[0], values.of[1], i, j),
                     after = quantity.at(decoded.of[0], decoded.of[1], i, j);
          Real largest = 1;
          for (const auto& of : values.of)
            for (const double v : of) largest = std::max(largest, fabsl(Real(v)));
          if (!(fabsl(after - before) <= bound + 0x1p-56L * largest * largest))
            fail(quantity.text, {values.of[0][p], values.of[1][p]},
                 {decoded.of[0][p], decoded.of[1][p]}, fabsl(after - before), bound);
          ++checked_, left_ -= left_ > 0;
        }
      }
    }
  }

  // The whole way: compressed together, decoded, and every promise calculated again.
  void whole() {
    const size_t times = 2, rows = 20, columns = 30, size = times * rows * columns;
    const Shape shape{times, rows, columns};
    std::vector<float> u(size), v(size), q(size);
    const double phase = 3 * uniform();
    for (size_t p = 0; p < size; ++p) {
      const double i = double(p / columns % rows), j = double(p % columns);
      u[p] = float(12 + 9 * std::sin(i / 5 + phase) + 0.3 * uniform());
      v[p] = float(4 * std::cos(j / 6 + phase) + 0.3 * uniform());
      q[p] = float(std::max(0.0, std::sin(i / 3 + j / 4 + phase)) * std::exp(3 * uniform() - 6));
    }
    v[7] = std::numeric_limits<float>::quiet_NaN();
    std::vector<derived::Member> members(3);
    const char* names[] = {"u", "v", "q"};
    const std::vector<float>* arrays[] = {&u, &v, &q};
    const double own[] = {0.5, 0.5, 1e-3};
    for (size_t m = 0; m < 3; ++m) {
      members[m] = {names[m], view_of(arrays[m]->data(), shape), {}};
      members[m].options.bound = Bound::abs(own[m]);
    }
    const auto made = derived::compress_together(
        members,
        {"sqrt(u^2+v^2)=abs:0.1", "sign(q)", "q>=0", "zeros(q)", "mean(q)=abs:1e-6",
         "mean(u,axis=0)=abs:0.001", "mean(u*q,block=8)=abs:1e-3", "sum(q,region=0,3:9,:)=abs:0.01",
         "vorticity(u,v)=abs:0.4"},
        {});
    std::vector<float> decoded[3];
    for (size_t m = 0; m < 3; ++m) {
      const Array array = decompress(made.streams[m]);
      decoded[m].assign(array.as<float>().begin(), array.as<float>().end());
    }
    const std::vector<float>&a = decoded[0], &b = decoded[1], &c = decoded[2];
    const auto expect = [&](bool holds, const char* what) {
      ++checked_, left_ -= left_ > 0;
      if (!holds) fail(what, {}, {}, 0, 0);
    };
    Real sum = 0, sums[2] = {}, region = 0;
    for (size_t p = 0; p < size; ++p) {
      const bool is_nan = std::isnan(v[p]);
      expect(is_nan == std::isnan(b[p]), "NaN");
      if (!is_nan) expect(fabsl(hypotl(u[p], v[p]) - hypotl(a[p], b[p])) <= 0.1L + 1e-16L, "speed");
      expect((q[p] == 0) == (c[p] == 0) && c[p] >= 0, "zeros and signs");
      expect(std::abs(double(u[p]) - a[p]) <= 0.5 && std::abs(double(q[p]) - c[p]) <= 1e-3, "own");
      sum += Real(c[p]) - q[p], sums[p / (rows * columns)] += Real(a[p]) - u[p];
      const size_t i = p / columns % rows;
      if (p < rows * columns && i >= 3 && i < 9) region += Real(c[p]) - q[p];
    }
    expect(fabsl(sum) / size <= 1e-6L, "mean");
    for (const Real s : sums) expect(fabsl(s) / (rows * columns) <= 0.001L, "mean of a slice");
    expect(fabsl(region) <= 0.01L, "sum of a region");
    for (size_t t = 0; t < times; ++t)
      for (size_t i = 0; i < rows; i += 8)
        for (size_t j = 0; j < columns; j += 8) {
          Real block = 0, count = 0;
          for (size_t y = i; y < std::min(rows, i + 8); ++y)
            for (size_t x = j; x < std::min(columns, j + 8); ++x) {
              const size_t p = (t * rows + y) * columns + x;
              block += Real(a[p]) * c[p] - Real(u[p]) * q[p], ++count;
            }
          expect(fabsl(block) / count <= 1e-3L, "mean of a block");
        }
  }

  std::mt19937_64 random_{20};
  double last_ = 1;
  u64 left_, checked_ = 0, failures_ = 0, zeros_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const double wanted = argc > 1 ? std::atof(argv[1]) : 2e6;
  return Oracle(u64(wanted)).run() ? 0 : 1;
}

// SPDX-License-Identifier: BSD-3-Clause
// The grammar of expression.h, by recursive descent. A function of neighbours, such as d(e, axis),
// is read twice or more: for each neighbour its text is parsed again with a longer path.
#include <algorithm>
#include <charconv>

#include "leeway/derived/expression.h"

namespace leeway::derived {

class Parser {
 public:
  Parser(Expression& expression, std::string_view text, std::vector<std::string>& names,
         bool may_add)
      : e_(expression), text_(text), names_(names), may_add_(may_add) {}

  void run() {
    sum();
    skip();
    if (at_ < text_.size()) fail("there is something after the end");
  }

 private:
  static constexpr int kDeepest = 40;

  [[noreturn]] void fail(const std::string& what) const {
    fail_argument("'" + std::string(text_) + "', character " + std::to_string(at_ + 1) + ": " +
                  what);
  }
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("expected '") + c + "'");
  }
  size_t put(Op op, size_t a = 0, size_t b = 0, double number = 0) {
    if (e_.nodes_.size() == Expression::kMostNodes) fail("the expression is too long");
    e_.nodes_.push_back({op, a, b, number});
    return e_.nodes_.size() - 1;
  }

  size_t sum() {
    if (++depth_ > kDeepest) fail("too many brackets inside each other");
    size_t left = product();
    while (true) {
      if (take('+'))
        left = put(Op::add, left, product());
      else if (take('-'))
        left = put(Op::subtract, left, product());
      else
        break;
    }
    --depth_;
    return left;
  }
  size_t product() {
    size_t left = unary();
    while (true) {
      if (take('*'))
        left = put(Op::multiply, left, unary());
      else if (take('/'))
        left = put(Op::divide, left, unary());
      else
        return left;
    }
  }
  size_t unary() {
    if (!take('-')) return raised();
    if (++depth_ > kDeepest) fail("too many signs");
    const size_t a = unary();
    --depth_;
    return put(Op::negate, a);
  }
  size_t raised() {
    const size_t base = primary();
    if (!take('^')) return base;
    const double exponent = signed_number();
    if (exponent == 0.5) return put(Op::square_root, base);
    if (exponent == std::floor(exponent) && std::abs(exponent) >= 1 && std::abs(exponent) <= 64) {
      const size_t whole = put(Op::power, base, size_t(std::abs(exponent)));
      if (exponent > 0) return whole;
      return put(Op::divide, put(Op::constant, 0, 0, 1), whole);
    }
    // a^p = exp(p log a), for a > 0.
    const size_t scaled =
        put(Op::multiply, put(Op::constant, 0, 0, exponent), put(Op::logarithm, base));
    return put(Op::exponential, scaled);
  }

  // A number that must stand in the text as such.
  double signed_number() {
    if (take('(')) {
      const double value = signed_number();
      expect(')');
      return value;
    }
    const bool is_negative = take('-');
    skip();
    double value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || !std::isfinite(value)) fail("expected a number");
    at_ = size_t(end - text_.data());
    return is_negative ? -value : value;
  }

  static bool begins_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }
  std::string name() {
    const size_t first = at_;
    while (at_ < text_.size() &&
           (begins_name(text_[at_]) || (text_[at_] >= '0' && text_[at_] <= '9')))
      ++at_;
    return std::string(text_.substr(first, at_ - first));
  }

  size_t primary() {
    if (take('(')) {
      const size_t inside = sum();
      expect(')');
      return inside;
    }
    if (take('{')) {
      const size_t end = text_.find('}', at_);
      if (end == text_.npos) fail("expected '}' after the name");
      const std::string whole(text_.substr(at_, end - at_));
      at_ = end + 1;
      return slot(whole);
    }
    if (at_ == text_.size()) fail("something is missing at the end");
    if (!begins_name(text_[at_])) {
      if ((text_[at_] < '0' || text_[at_] > '9') && text_[at_] != '.')
        fail(std::string("'") + text_[at_] + "' means nothing here");
      return put(Op::constant, 0, 0, signed_number());
    }
    const size_t start = at_;
    const std::string word = name();
    if (take('(')) return call(word, start);
    return slot(word);
  }

  size_t slot(const std::string& variable) {
    auto found = std::ranges::find(names_, variable);
    if (found == names_.end()) {
      if (!may_add_) {
        std::string known;
        for (const std::string& other : names_) known += (known.empty() ? "" : ", ") + other;
        fail("there is no variable '" + variable + "'; there are " + known);
      }
      names_.push_back(variable);
      found = names_.end() - 1;
    }
    const Slot wanted{size_t(found - names_.begin()), path_};
    auto same = std::ranges::find(e_.slots_, wanted);
    if (same == e_.slots_.end()) {
      if (e_.slots_.size() == Expression::kMostSlots)
        fail("more than " + std::to_string(Expression::kMostSlots) + " different values");
      e_.slots_.push_back(wanted);
      same = e_.slots_.end() - 1;
    }
    return put(Op::slot, size_t(same - e_.slots_.begin()));
  }

  size_t call(const std::string& function, size_t start) {
    static constexpr std::pair<std::string_view, Op> kOfOne[] = {{"sqrt", Op::square_root},
                                                                 {"log", Op::logarithm},
                                                                 {"exp", Op::exponential},
                                                                 {"abs", Op::absolute}};
    static constexpr std::pair<std::string_view, Op> kOfTwo[] = {{"min", Op::smaller},
                                                                 {"max", Op::larger}};
    for (const auto& [name, op] : kOfOne)
      if (function == name) {
        const size_t a = sum();
        expect(')');
        return put(op, a);
      }
    for (const auto& [name, op] : kOfTwo)
      if (function == name) {
        const size_t a = sum();
        expect(',');
        const size_t b = sum();
        expect(')');
        return put(op, a, b);
      }
    if (function == "log10") {
      const size_t a = sum();
      expect(')');
      return put(Op::divide, put(Op::logarithm, a), put(Op::constant, 0, 0, 0x1.26bb1bbb55516p+1));
    }
    if (function == "d") return difference();
    if (function == "gradient") return gradient();
    if (function == "vorticity") return of_vectors(-1, -2, Op::subtract);
    if (function == "divergence") return of_vectors(-2, -1, Op::add);
    at_ = start;
    fail("there is no function '" + function +
         "'; there are sqrt, log, log10, exp, abs, min, max, d, gradient, vorticity, divergence");
  }

  // An argument that is read again and again.
  struct Range {
    size_t start, end;
  };
  Range pass() {
    skip();
    const size_t start = at_;
    for (int open = 0; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (open == 0 && (c == ',' || c == ')')) return {start, at_};
      open += (c == '(') - (c == ')');
    }
    fail("expected ')'");
  }
  // The argument as it is at the end of a longer path.
  size_t argument(Range range, Step step) {
    const size_t after = at_;
    at_ = range.start;
    path_.push_back(step);
    const size_t result = sum();
    path_.pop_back();
    skip();
    if (at_ != range.end) fail("expected ',' or ')'");
    at_ = after;
    return result;
  }
  // (next - previous) / their distance, as numpy.gradient has it: at a border the point itself
  // stands for the neighbour that is missing.
  size_t derivative(Range of, std::ptrdiff_t axis, double spacing) {
    if (++depth_ > kDeepest) fail("too many differences inside each other");
    const size_t high = argument(of, {size_t(axis), +1}), low = argument(of, {size_t(axis), -1});
    const size_t rise = put(Op::subtract, high, low);
    e_.paths_.push_back(path_);
    const size_t span = put(Op::span, e_.paths_.size() - 1, size_t(axis), spacing);
    --depth_;
    return put(Op::divide, rise, span);
  }

  double spacing() {
    const double value = signed_number();
    if (!(value != 0)) fail("a distance between grid points is not 0");
    return value;
  }
  // "d(e, axis)", "d(e, axis, spacing)"
  size_t difference() {
    const Range of = pass();
    expect(',');
    const double axis = signed_number();
    if (axis != std::floor(axis) || std::abs(axis) > double(kMaxRank)) fail("expected an axis");
    const double step = take(',') ? spacing() : 1;
    expect(')');
    return derivative(of, std::ptrdiff_t(axis), step);
  }
  // Of the axes x, the fastest, and y, the one before: ", hx, hy" or nothing.
  std::pair<double, double> spacings() {
    if (!take(',')) return {1, 1};
    const double x = spacing();
    expect(',');
    return {x, spacing()};
  }
  // sqrt(dx^2 + dy^2)
  size_t gradient() {
    const Range of = pass();
    const auto [hx, hy] = spacings();
    expect(')');
    const size_t x = put(Op::power, derivative(of, -1, hx), 2),
                 y = put(Op::power, derivative(of, -2, hy), 2);
    return put(Op::square_root, put(Op::add, x, y));
  }
  // vorticity(u, v): dv/dx - du/dy; divergence(u, v): dv/dy + du/dx
  size_t of_vectors(int axis_of_v, int axis_of_u, Op op) {
    const Range u = pass();
    expect(',');
    const Range v = pass();
    const auto [hx, hy] = spacings();
    expect(')');
    const size_t by_v = derivative(v, axis_of_v, axis_of_v == -1 ? hx : hy),
                 by_u = derivative(u, axis_of_u, axis_of_u == -1 ? hx : hy);
    return put(op, by_v, by_u);
  }

  Expression& e_;
  std::string_view text_;
  std::vector<std::string>& names_;
  bool may_add_;
  size_t at_ = 0;
  int depth_ = 0;
  Path path_;  // from the point to where values are taken
};

Expression::Expression(std::string_view text, std::vector<std::string>& names, bool may_add) {
  Parser(*this, text, names, may_add).run();
  if (slots_.empty()) fail_argument("'" + std::string(text) + "' takes no variable");
}

}  // namespace leeway::derived

// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/derived/expression.h"

#include "leeway/derived/promise.h"
#include "tests/support.h"

namespace leeway::derived {
namespace {

// At a point of an array whose values are their own ordinal, plus 1.
double value_at(std::string_view text, const Shape& shape, const Index& point) {
  std::vector<std::string> names;
  Expression e(text, names, true);
  e.settle(shape);
  Expression::Place place;
  e.place(point, place);
  std::array<Interval, Expression::kMostSlots> inputs;
  for (size_t s = 0; s < e.slots().size(); ++s)
    inputs[s] = Interval::at(double(place.offset[s]) + 1);
  const Interval found = e.value(inputs.data(), place);
  EXPECT_LE(found.hi - found.lo, 1e-9) << text;
  return (found.lo + found.hi) / 2;
}

TEST(Expression, Calculates) {
  for (const auto& [text, expected] :
       {std::pair{"2+3*x", 5.0}, {"(2+3)*x", 5}, {"-x^2", -1}, {"(-x)^2", 1}, {"2-3-4+x", -4},
        {"8/4/2*x", 1}, {"sqrt(x+3)", 2}, {"x^0.5", 1}, {"x*2^-1", 0.5}, {"min(x,3)+max(x,3)", 4},
        {"log10(1000*x)", 3}, {"log(exp(x))", 1}, {"abs(x-4)", 3}, {"(x+1)^2.5", 5.656854249492381},
        {"1.5e1*x", 15}, {"{x}*2", 2}, {"x^(-2)", 1}})
    EXPECT_NEAR(value_at(text, Shape{1}, {}), expected, 1e-12) << text;
}

// As numpy.gradient has them.
TEST(Expression, TakesDifferences) {
  const Shape shape{4, 5};
  EXPECT_NEAR(value_at("d(x,1)", shape, {1, 2}), 1, 1e-12);
  EXPECT_NEAR(value_at("d(x,0)", shape, {1, 2}), 5, 1e-12);
  EXPECT_NEAR(value_at("d(x,-2,0.5)", shape, {3, 2}), 10, 1e-12);
  EXPECT_NEAR(value_at("d(x^2,1)", shape, {0, 0}), 3, 1e-12);    // 4 - 1
  EXPECT_NEAR(value_at("d(x^2,1)", shape, {0, 1}), 4, 1e-12);    // (9 - 1) / 2
  EXPECT_NEAR(value_at("d(d(x^2,1),1)", shape, {0, 2}), 2, 1e-12);
  EXPECT_NEAR(value_at("d(d(x^2,1),1)", shape, {0, 0}), 1, 1e-12);  // 4 - 3
  EXPECT_NEAR(value_at("gradient(x)", shape, {2, 2}), std::sqrt(26.0), 1e-12);
  EXPECT_NEAR(value_at("gradient(x,2,5)", shape, {2, 2}), std::sqrt(1.25), 1e-12);
  EXPECT_NEAR(value_at("vorticity(x,y)", shape, {2, 2}), 1 - 5, 1e-12);
  EXPECT_NEAR(value_at("divergence(x,y,1,5)", shape, {2, 2}), 2, 1e-12);
}

std::string complaint(std::string_view text) {
  std::vector<std::string> names{"u"};
  try {
    parse_promise(text, names, false).settle(Shape{3, 1});
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Expression, SaysWhatIsWrongAndWhere) {
  for (const auto& [text, what] :
       {std::pair{"u+=abs:1", "something is missing"}, {"u+(u=abs:1", "expected ')'"},
        {"u u=abs:1", "there is no variable 'uu'"}, {"u^u=abs:1", "expected a number"},
        {"d(u)=abs:1", "expected ','"}, {"d(u,0.5)=abs:1", "expected an axis"},
        {"d(u,1)=abs:1", "has no neighbours"}, {"d(u,7)=abs:1", "there is no axis 7"},
        {"d(u u,0)=abs:1", "there is no variable"}, {"3=abs:1", "takes no variable"},
        {"u=abs:0", "needs a bound"}, {"u=abs:-1", "needs a bound"}, {"u=psnr:3", "abs and rel"},
        {"zeros(w)", "no variable 'w'"}, {"u>=x", "needs a number"}, {"", "promises nothing"},
        {"mean(u,axis=9)=abs:1", "there is no axis 9"}, {"mean(u,block=0)=abs:1", "a block is"},
        {"mean(u,region=1)=abs:1", "there is no region"}, {"{u=abs:1", "expected '}'"}})
    EXPECT_NE(complaint(text).find(what), std::string::npos) << text << ": " << complaint(text);
  EXPECT_NE(complaint(std::string(5000, '(').append("u=abs:1")), "");
  EXPECT_EQ(complaint("mean( u*u , region = 0:2 , : )=abs:1e-3"), "");
}

}  // namespace
}  // namespace leeway::derived

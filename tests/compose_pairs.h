// SPDX-License-Identifier: BSD-3-Clause
// Pairs of the library's stages, composed at compile time: what the rules allow makes the streams
// of the recipe with the same text, and what they refuse is refused as a recipe, too.
#pragma once

#include "leeway/codec/make_codec.h"
#include "leeway/recipe/all_stages.h"
#include "tests/support.h"

namespace leeway::test {

template <class T, class... S>
void check_composed(const Compressor<T, S...>& compressor) {
  const Shape shape{9, 13};
  const auto values = make_field<T>(shape, Texture::hostile);
  const Bound bound = Bound::abs(is_floating<T> ? 0.01 : 2);
  const Bytes stream = compressor.compress(values.data(), shape, bound);
  EXPECT_EQ(stream, check_round_trip(values, shape, options_for<T>(bound, compressor.recipe())))
      << compressor.recipe();
}

// Predictor and quantizer, with an encoder after them. Returns how many pairs are possible.
template <class T, Order order, class... P, class... Q>
size_t check_pairs(List<P...>, List<Q...>) {
  size_t possible = 0;
  const auto check = [&]<class Predictor, class Quantizer>() {
    constexpr bool kFirst = order == Order::predict_first;
    if constexpr (broken_by<T, Predictor, Quantizer>(order) == Rule::none) {
      if constexpr (kFirst)
        check_composed(Compressor<T, Predictor, Quantizer, Rans>());
      else
        check_composed(Compressor<T, Quantizer, Predictor, Rans>());
      ++possible;
    } else {
      const std::string p(Predictor::kName), q(Quantizer::kName);
      const std::string text = (kFirst ? p + "+" + q : q + "+" + p) + "+rans";
      EXPECT_THROW(make_codec(parse_recipe(text), dtype_of<T>()), Error) << text;
    }
  };
  const auto check_all = [&]<class Predictor>() {
    (check.template operator()<Predictor, Q>(), ...);
  };
  (check_all.template operator()<P>(), ...);
  return possible;
}

}  // namespace leeway::test

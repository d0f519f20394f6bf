// SPDX-License-Identifier: BSD-3-Clause
// Transform: predictor and quantizer joined, in either order: values to codes and back.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <utility>

#include "leeway/core/distance.h"
#include "leeway/core/stage.h"

namespace leeway {

// In feedback order, the code of a value that is kept exactly.
template <class I>
inline constexpr I kExactCode = std::numeric_limits<I>::min();

template <class I>
struct Codes {
  Buffer<I> values;
  std::vector<u8> contexts;  // empty, or one for each value
};

// Gives decoded codes piece by piece, in the order they were encoded. A reader passes contexts for
// all codes or for none.
template <class I>
class CodeSource {
 public:
  virtual ~CodeSource() = default;
  virtual void next(std::span<I> codes, const u8* contexts) = 0;
};

template <class T>
class Transform {
 public:
  virtual ~Transform() = default;
  // Takes the values of `source`, an array of the field's type and shape that may be the field
  // itself. Leaves in `field` exactly what backward() will give. Returns the largest error.
  // `special` is empty or says which values do not matter, because the mask will put them back.
  virtual double forward(const View& source, Field<T> field, double bound,
                         std::span<const u8> special, Codes<Code<T>>& codes,
                         Patches<T>& exact) const = 0;
  virtual void backward(Field<T> field, double bound, CodeSource<Code<T>>& codes,
                        const Patches<T>& exact) const = 0;
};

template <class T>
bool is_in_place(const View& source, Field<T> field) {
  return source.data == reinterpret_cast<const std::byte*>(field.data);
}

// Quantize, then predict on integers.
template <class T, class Q, class P>
class Dual final : public Transform<T> {
 public:
  Dual(Q quantizer, P predictor)
      : quantizer_(std::move(quantizer)), predictor_(std::move(predictor)) {}

  double forward(const View& source, Field<T> field, double bound, std::span<const u8>,
                 Codes<Code<T>>& codes, Patches<T>& exact) const override {
    codes.values = Buffer<Code<T>>(field.size());
    const auto grid = quantizer_.template at<T>(bound);
    const bool in_place = is_in_place(source, field);
    double max_error = 0;
    size_t done = 0;
    for_each_plane(source, [&](const Plane<const std::byte>& plane) {
      const size_t first = std::exchange(done, done + plane.size());
      if constexpr (requires { grid.quantize_plane(plane, field.data, codes.values.data(), max_error); })
        if (!in_place && grid.quantize_plane(plane, field.data + first, codes.values.data() + first, max_error))
          return;
      if (!in_place) gather(plane, sizeof(T), reinterpret_cast<std::byte*>(field.data + first));
      const std::span<Code<T>> all = codes.values;
      max_error = std::max(max_error, grid.quantize(field.values().first(done), all.first(done), exact, first));
    });
    predictor_.forward(integers(codes.values, field.shape));
    return max_error;
  }
  void backward(Field<T> field, double bound, CodeSource<Code<T>>& source,
                const Patches<T>& exact) const override {
    Buffer<Code<T>> codes(field.size());
    source.next(codes, nullptr);
    predictor_.backward(integers(codes, field.shape));
    quantizer_.template at<T>(bound).recover(std::span<const Code<T>>(codes), field.values());
    exact.apply(field.values());
  }

 private:
  using Unsigned = std::make_unsigned_t<Code<T>>;
  static Field<Unsigned> integers(Buffer<Code<T>>& codes, const Shape& shape) {
    return {reinterpret_cast<Unsigned*>(codes.data()), shape};
  }
  Q quantizer_;
  P predictor_;
};

// Predict from reconstructed values, quantize the difference.
template <class T, class P, class Q>
class Feedback final : public Transform<T> {
  using Grid = decltype(std::declval<Q>().template at<T>(1.0));

 public:
  Feedback(P predictor, Q quantizer)
      : predictor_(std::move(predictor)), quantizer_(std::move(quantizer)) {}

  double forward(const View& source, Field<T> field, double bound, std::span<const u8> special,
                 Codes<Code<T>>& codes, Patches<T>& exact) const override {
    if (!is_in_place(source, field)) gather(source, field.data);
    codes.values = Buffer<Code<T>>(field.size());
    Quantize visit{quantizer_.template at<T>(bound), field.data,
                   special.empty() ? nullptr : special.data(), codes};
    predictor_.walk(field, visit);
    std::ranges::sort(visit.exact, {}, &std::pair<size_t, T>::first);
    for (const auto& [position, value] : visit.exact) exact.add(position, value);
    return visit.max_error;
  }
  void backward(Field<T> field, double bound, CodeSource<Code<T>>& source,
                const Patches<T>& exact) const override {
    exact.apply(field.values());
    Recover visit{quantizer_.template at<T>(bound), source, field.size()};
    predictor_.walk(field, visit);
  }

 private:
  struct Quantize {
    Grid grid;
    T* base;
    const u8* special;
    Codes<Code<T>>& codes;
    size_t count = 0;
    double max_error = 0;
    std::vector<std::pair<size_t, T>> exact{};

    void point(T& value, Predicted<T> predicted) {
      const T original = value;
      Code<T>& code = codes.values[count++];
      if (special && special[&value - base]) {
        // Code 0, whatever is predicted: decoded data compressed again must take the same way.
        code = 0;
        value = grid.recover(predicted, 0);
      } else if (grid.quantize(value, predicted, code)) {
        max_error = std::max(max_error, error_between(original, value));
      } else {
        code = kExactCode<Code<T>>;
        exact.emplace_back(&value - base, original);
      }
    }
    void run(T* values, const Predicted<T>* predicted, size_t n, const u8* contexts = nullptr) {
      for (size_t i = 0; i < n; ++i) point(values[i], predicted[i]);
      if (contexts) codes.contexts.insert(codes.contexts.end(), contexts, contexts + n);
    }
  };

  struct Recover {
    Grid grid;
    CodeSource<Code<T>>& source;
    size_t remaining;  // in the source
    std::array<Code<T>, 256> ahead;
    size_t next, filled;

    Recover(Grid g, CodeSource<Code<T>>& s, size_t size)
        : grid(g), source(s), remaining(size), next(0), filled(0) {}

    void point(T& value, Predicted<T> predicted) {
      if (next == filled) {
        filled = std::min(remaining, ahead.size());
        remaining -= filled;
        source.next(std::span(ahead.data(), filled), nullptr);
        next = 0;
      }
      recover(value, predicted, ahead[next++]);
    }
    void run(T* values, const Predicted<T>* predicted, size_t n, const u8* contexts = nullptr) {
      if (!contexts) {
        for (size_t i = 0; i < n; ++i) point(values[i], predicted[i]);
        return;
      }
      for (size_t first = 0; first < n; first += ahead.size()) {
        const size_t part = std::min(n - first, ahead.size());
        source.next(std::span(ahead.data(), part), contexts + first);
        for (size_t i = 0; i < part; ++i)
          recover(values[first + i], predicted[first + i], ahead[i]);
      }
    }
    void recover(T& value, Predicted<T> predicted, Code<T> code) const {
      if (code != kExactCode<Code<T>>) value = grid.recover(predicted, code);
    }
  };

  P predictor_;
  Q quantizer_;
};

// The predictor that is not there: every value is predicted as 0.
struct NoPredictor {
  static constexpr std::string_view kName = "none";
  static constexpr std::string_view kAbout = "no prediction";
  static constexpr Kind kKind = Kind::predictor;
  NoParams params;
  void forward(auto) const {}
  void backward(auto) const {}
};

}  // namespace leeway

// SPDX-License-Identifier: BSD-3-Clause
// Block notes: what the decoder has to know about blocks: the method of each, then the numbers of
// the polynomials, as differences to the block before with the same method (composite.md).
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "leeway/base/bits.h"
#include "leeway/predict/two_bit_notes.h"

namespace leeway {

// Lorenzo's rule of order 1 or 2, or a polynomial.
enum class BlockMethod : u8 { lorenzo1, lorenzo2, degree1, degree2 };

template <class Numbers>
class BlockNotes {
 public:
  // Encoding: the next block.
  void add(BlockMethod method, const Numbers& numbers) {
    methods_.push_back(method);
    if (method >= BlockMethod::degree1) numbers_[degree_of(method)].push_back(numbers);
  }
  void write(Writer& notes) const {
    TwoBitNotes<Writer> methods(notes, 3);
    for (const BlockMethod method : methods_) methods.next(u8(method));
    methods.finish();
    for (size_t degree = 0; degree < 2; ++degree)
      for (size_t t = 0; t < kTerms[degree]; ++t) {
        i64 before = 0;
        for (const Numbers& numbers : numbers_[degree]) {
          const i64 d = numbers[t] - std::exchange(before, numbers[t]);
          notes.put_varint(zigzag(d));
        }
      }
  }

  // Decoding: for_each_block(f) calls f() once for each block.
  void read(Reader& notes, auto&& for_each_block) {
    TwoBitNotes<Reader> methods(notes, 3);
    for_each_block([&] {
      methods_.push_back(BlockMethod(methods.next(0)));
      if (methods_.back() >= BlockMethod::degree1)
        numbers_[degree_of(methods_.back())].emplace_back();
    });
    for (size_t degree = 0; degree < 2; ++degree)
      for (size_t t = 0; t < kTerms[degree]; ++t) {
        u64 before = 0;
        for (Numbers& numbers : numbers_[degree]) {
          before += u64(unzigzag(notes.get_varint()));
          numbers[t] = i64(before);
        }
      }
  }
  // The next block; sets the numbers if its method is a polynomial.
  BlockMethod take(Numbers& numbers) {
    const BlockMethod method = methods_[next_++];
    if (method >= BlockMethod::degree1) {
      const size_t degree = degree_of(method);
      numbers = numbers_[degree][taken_[degree]++];
    }
    return method;
  }

 private:
  static constexpr std::array<size_t, 2> kTerms{5, 15};  // of a polynomial in four variables
  static size_t degree_of(BlockMethod method) {
    return size_t(method) - size_t(BlockMethod::degree1);
  }

  std::vector<BlockMethod> methods_;
  std::array<std::vector<Numbers>, 2> numbers_;  // by degree, less one
  size_t next_ = 0;
  std::array<size_t, 2> taken_{};
};

}  // namespace leeway

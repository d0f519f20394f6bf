// SPDX-License-Identifier: BSD-3-Clause
// Choices: small numbers that a predictor notes on its way, four a byte, low bits first.
#pragma once

#include "leeway/base/bytes.h"

namespace leeway {

// Notes are a Writer or a Reader.
template <class Notes>
class Choices {
 public:
  Choices(Notes& notes, u8 highest) : notes_(notes), highest_(highest) {}

  // What the encoder chose: the argument, or what was noted then.
  u8 next(u8 choice) {
    if constexpr (std::is_same_v<Notes, Reader>) {
      if (used_ == 0) bits_ = notes_.template get<u8>();
      choice = bits_ >> used_ & 3;
      if (choice > highest_) fail_corrupt("there is no such choice");
    } else {
      bits_ |= u8(choice << used_);
    }
    used_ += 2;
    if (used_ == 8) finish();
    return choice;
  }
  void finish() {
    if constexpr (!std::is_same_v<Notes, Reader>)
      if (used_ > 0) notes_.put(bits_);
    bits_ = 0;
    used_ = 0;
  }

 private:
  Notes& notes_;
  u8 highest_, bits_ = 0;
  int used_ = 0;
};

}  // namespace leeway

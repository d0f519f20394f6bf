// SPDX-License-Identifier: BSD-3-Clause
// Two-bit notes: what a predictor decides on its way, as numbers from 0 to 3; four in a byte, low
// bits first.
#pragma once

#include "leeway/base/bytes.h"

namespace leeway {

// Notes are a Writer or a Reader.
template <class Notes>
class TwoBitNotes {
 public:
  TwoBitNotes(Notes& notes, u8 highest) : notes_(notes), highest_(highest) {}

  // The encoder notes the number; the decoder gives what was noted.
  u8 next(u8 number) {
    if constexpr (std::is_same_v<Notes, Reader>) {
      if (used_ == 0) bits_ = notes_.template get<u8>();
      number = bits_ >> used_ & 3;
      if (number > highest_) fail_corrupt("there is no such choice");
    } else {
      bits_ |= u8(number << used_);
    }
    used_ += 2;
    if (used_ == 8) finish();
    return number;
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

// SPDX-License-Identifier: BSD-3-Clause
// Range coder: codes decisions of yes or no, each with an adaptive probability [Martin, 1979].
//
// An interval of 32 bits is split at every decision; bytes that cannot change any more are written.
#pragma once

#include <array>

#include "leeway/base/bytes.h"

namespace leeway {

// The probability of no, in parts of 4096: the mean of a fast and a slow estimate.
class Probability {
 public:
  u32 of_no() const { return (u32(quick_) + slow_) >> 5; }
  void learn(bool yes) {
    quick_ = u16(yes ? quick_ - (quick_ >> 4) : quick_ + ((0xffff - quick_) >> 4));
    slow_ = u16(yes ? slow_ - (slow_ >> 7) : slow_ + ((0xffff - slow_) >> 7));
  }

 private:
  u16 quick_ = 0x8000, slow_ = 0x8000;
};

class RangeWriter {
 public:
  explicit RangeWriter(Writer& out) : out_(out) {}
  bool decide(bool yes, Probability& probability) {
    const u32 no = (range_ >> 12) * within(probability.of_no());
    if (yes) {
      low_ += no;
      range_ -= no;
    } else {
      range_ = no;
    }
    probability.learn(yes);
    for (; range_ < 1u << 24; range_ <<= 8) shift();
    return yes;
  }
  void finish() {
    for (int i = 0; i < 5; ++i) shift();
  }
  // Neither answer may become impossible.
  static u32 within(u32 p) { return p < 1 ? 1 : p > 4095 ? 4095 : p; }

 private:
  // Writes a byte; bytes of all ones wait, because a carry may still change them.
  void shift() {
    if (low_ < 0xff000000u || low_ >> 32) {
      const u8 carry = u8(low_ >> 32);
      if (started_) out_.put(u8(last_ + carry));
      for (; waiting_ > 0; --waiting_) out_.put(u8(0xff + carry));
      started_ = true;
      last_ = u8(low_ >> 24);
    } else {
      ++waiting_;
    }
    low_ = (low_ & 0xffffff) << 8;
  }
  Writer& out_;
  u64 low_ = 0, waiting_ = 0;
  u32 range_ = 0xffffffff;
  u8 last_ = 0;
  bool started_ = false;
};

class RangeReader {
 public:
  explicit RangeReader(Reader& in) : in_(in) {
    for (int i = 0; i < 4; ++i) code_ = code_ << 8 | in_.get<u8>();
  }
  // The argument is not used; it makes encoder and decoder interchangeable in templates.
  bool decide(bool, Probability& probability) {
    const u32 no = (range_ >> 12) * RangeWriter::within(probability.of_no());
    const bool yes = code_ >= no;
    if (yes) {
      code_ -= no;
      range_ -= no;
    } else {
      range_ = no;
    }
    probability.learn(yes);
    for (; range_ < 1u << 24; range_ <<= 8) code_ = code_ << 8 | in_.get<u8>();
    return yes;
  }

 private:
  Reader& in_;
  u32 code_ = 0, range_ = 0xffffffff;
};

// Codes a number of `bits` bits, high ones first; the probability of each bit depends on the bits
// before it.
template <int bits>
class BitTree {
 public:
  u32 code(u32 number, auto& coder) {
    u32 node = 1;
    for (int i = bits; i-- > 0;)
      node = node << 1 | u32(coder.decide(number >> i & 1, nodes_[node]));
    return node - (1u << bits);
  }

 private:
  std::array<Probability, size_t(1) << bits> nodes_;
};

}  // namespace leeway

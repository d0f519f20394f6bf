// SPDX-License-Identifier: BSD-3-Clause
// Clocked: a verilated module and its clock, and stalls at random.
#pragma once

#include <verilated.h>

#include <memory>
#include <random>

#include "leeway/base/types.h"

namespace leeway::rtl {

// Inputs are set, settle() lets the outputs follow, and rise() is the edge of the clock.
template <class Module>
class Clocked {
 public:
  Clocked() : module_(std::make_unique<Module>(&context_)) {}
  ~Clocked() { module_->final(); }
  Module* operator->() { return module_.get(); }
  void settle() {
    module_->clk_i = 0;
    module_->eval();
  }
  void rise() {
    module_->clk_i = 1;
    module_->eval();
    ++cycles;
  }
  void reset() {
    module_->rst_ni = 0;
    settle();
    rise();
    module_->rst_ni = 1;
    settle();
    rise();
  }
  u64 cycles = 0;

 private:
  VerilatedContext context_;
  std::unique_ptr<Module> module_;
};

// Says, each time anew, whether something waits; in so many of a hundred cases.
class Stalls {
 public:
  explicit Stalls(unsigned percent = 0, u64 seed = 1) : percent_(percent), random_(seed) {}
  bool operator()() { return percent_ > 0 && random_() % 100 < percent_; }

 private:
  unsigned percent_;
  std::mt19937_64 random_;
};

}  // namespace leeway::rtl

// SPDX-License-Identifier: BSD-3-Clause
// Clocked: a verilated module and its clock, and stalls at random.
#pragma once

#include <verilated.h>

#include <memory>
#include <random>
#include <stdexcept>

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

// One stream in, one out, with stalls: put(i) sets the data of input i, and take() reads an output
// and says whether it is the last.
template <class Module, class Put, class Take>
void stream_through(Clocked<Module>& module, size_t count, Stalls& input, Stalls& output, Put&& put,
                    Take&& take) {
  const u64 patience = module.cycles + 1000 + 100 * count;
  bool offers = false, ends = false;  // what was offered stays until it is taken
  for (size_t in = 0; !ends;) {
    if (module.cycles > patience) throw std::runtime_error("the design hangs");
    offers = in < count && (offers || !input());
    module->valid_i = offers;
    if (offers) put(in);
    module->ready_i = !output();
    module.settle();
    const bool taken = offers && module->ready_o;
    if (module->valid_o && module->ready_i) ends = take();
    module.rise();
    in += taken;
    if (taken) offers = false;
  }
  module->valid_i = 0;
}

// Waits until `ready` is 1; what is offered is taken at the edge of that cycle.
template <class Module, class Ready>
void hand_over(Clocked<Module>& module, Ready&& ready) {
  for (int patience = 0; patience < 5000; ++patience) {
    module.settle();
    const bool taken = ready();
    module.rise();
    if (taken) return;
  }
  throw std::runtime_error("the design takes nothing");
}

}  // namespace leeway::rtl

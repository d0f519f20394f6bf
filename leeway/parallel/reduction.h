// SPDX-License-Identifier: BSD-3-Clause
// Reduction: brings the parts of a sum together, step by step, in `mine` of some ranks or all. Each
// step sends to one rank and takes from another. A rank that fails goes on with empty hands, so
// that nobody waits for it, and throws in the end.
#pragma once

#include <functional>
#include <optional>

#include "leeway/parallel/collectives.h"

namespace leeway::parallel {

class Reduction final : public Transfer {
 public:
  using Partial = Lattice::Partial;

  // What this rank contributes comes from `make`; how it goes on is said by the functions below.
  Reduction(const Team& team, const Lattice& lattice, const Execution& execution, u64 count,
            const std::function<Partial()>& make);

  // Up a binomial tree to rank 0, and down it.
  void up();
  void down();
  // In pairs, whose partners are twice as far apart each time.
  void doubling();
  // Around the ring in as many segments as there are ranks.
  void ring();
  // From one rank to another.
  void move(int from, int to);

  bool test() override;
  void wait() override;
  const Partial& result() const { return mine_; }

 private:
  struct Step {
    int to;
    std::function<Parcel()> make;
    int from;
    std::function<void(const Parcel&)> take;
  };

  void go(int to, std::function<Parcel()> make, int from, std::function<void(const Parcel&)> take);
  void hand_to(int rank);
  void add_from(int rank);
  void take_from(int rank);
  void begin_step();
  void end_step();
  void rethrow();
  template <class F>
  void attempt(F&& f);

  Parcel packed(const Partial& partial) const { return Lattice::pack(partial, execution_); }
  Partial unpacked(const Parcel& in, u64 count) const {
    return Lattice::unpack(in, count, execution_);
  }
  u64 begin(int segment) const { return count_ * u64(segment) / u64(ranks_); }
  Partial cut(u64 first, u64 end) const;
  void join();

  const Team& team_;
  const int rank_, ranks_;
  const Lattice& lattice_;
  const Execution execution_;
  const u64 count_;
  Partial mine_;
  std::vector<Partial> segments_;
  std::exception_ptr error_;
  std::vector<Step> steps_;
  size_t next_ = 0;
  bool is_open_ = false;
  Parcel arriving_;
  std::unique_ptr<Transfer> send_, receive_;
};

}  // namespace leeway::parallel

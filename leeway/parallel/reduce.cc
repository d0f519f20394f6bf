// SPDX-License-Identifier: BSD-3-Clause
// Reduce: each rank quantizes what it has; integers meet on the way (lattice.h).
#include <algorithm>
#include <cmath>
#include <functional>

#include "leeway/leeway.hpp"
#include "leeway/parallel/agreement.h"
#include "leeway/parallel/collectives.h"

namespace leeway::parallel {
namespace {

using Partial = Lattice::Partial;
constexpr int kNobody = -1;

// From this many values on, the ring saves more than its many steps cost.
constexpr u64 kRingValues = u64(1) << 16;

// Brings the parts of a sum together, in `mine` of some ranks or all. A rank that fails goes on
// with empty hands, so that nobody waits for it.
class Reduction {
 public:
  Reduction(const Team& team, const Lattice& lattice, const Execution& execution, Partial& mine)
      : team_(team),
        rank_(team.rank()),
        ranks_(team.size()),
        lattice_(lattice),
        execution_(execution),
        mine_(mine),
        count_(mine.numbers.size()) {}
  void finish() const {
    if (error_) std::rethrow_exception(error_);
  }

  // Up a binomial tree to rank 0.
  void up() {
    for (int step = 1; step < ranks_; step *= 2) {
      if (rank_ % (2 * step) == step) return hand_to(rank_ - step);
      if (rank_ + step < ranks_) add_from(rank_ + step);
    }
  }
  // Down the same tree.
  void down() {
    int step = 1;
    while (step < ranks_) step *= 2;
    for (step /= 2; step >= 1; step /= 2) {
      if (rank_ % (2 * step) == step) take_from(rank_ - step);
      if (rank_ % (2 * step) == 0 && rank_ + step < ranks_) hand_to(rank_ + step);
    }
  }
  // In pairs, whose partners are twice as far apart each time. Ranks beyond a power of two first
  // hand what they have to one below, and get the result from it.
  void doubling() {
    int inner = 1;
    while (2 * inner <= ranks_) inner *= 2;
    if (rank_ >= inner) {
      hand_to(rank_ - inner);
      return take_from(rank_ - inner);
    }
    if (rank_ + inner < ranks_) add_from(rank_ + inner);
    for (int step = 1; step < inner; step *= 2)
      go(
          rank_ ^ step, [&] { return packed(mine_); }, rank_ ^ step,
          [&](const Parcel& in) { lattice_.merge(mine_, unpacked(in, count_)); });
    if (rank_ + inner < ranks_) hand_to(rank_ + inner);
  }
  // Around the ring in as many segments as there are ranks: first each is added up on its way, then
  // each goes around once more.
  void ring() {
    std::vector<Partial> segments(static_cast<size_t>(ranks_));
    for (int i = 0; i < ranks_; ++i)
      attempt([&] { segments[size_t(i)] = cut(begin(i), begin(i + 1)); });
    for (int turn = 0; turn < 2 * (ranks_ - 1); ++turn) {
      const bool adds = turn < ranks_ - 1;
      const int given = (rank_ - turn + 2 * ranks_) % ranks_, taken = (given + ranks_ - 1) % ranks_;
      go((rank_ + 1) % ranks_, [&] { return packed(segments[size_t(given)]); },
         (rank_ + ranks_ - 1) % ranks_,
         [&](const Parcel& in) {
           Partial other = unpacked(in, begin(taken + 1) - begin(taken));
           if (adds)
             lattice_.merge(segments[size_t(taken)], other);
           else
             segments[size_t(taken)] = std::move(other);
         });
    }
    attempt([&] { join(segments); });
  }
  void move(int from, int to) {
    if (from == to) return;
    if (rank_ == from) hand_to(to);
    if (rank_ == to) take_from(from);
  }

 private:
  template <class F>
  void attempt(F&& f) {
    if (!error_) try {
        f();
      } catch (const std::exception&) {
        error_ = std::current_exception();
      }
  }
  // Sends to one rank and takes from another, at the same time; either may be nobody.
  void go(int to, const std::function<Parcel()>& make, int from,
          const std::function<void(const Parcel&)>& take) {
    Parcel out{Parcel::error, {}}, in;
    std::unique_ptr<Transfer> send, receive;
    if (from != kNobody) receive = start_receive(team_, in, from);
    if (to != kNobody) {
      attempt([&] { out = make(); });
      send = start_send(team_, std::move(out), to);
    }
    if (receive) receive->wait();
    if (send) send->wait();
    if (from == kNobody) return;
    attempt([&] {
      if (in.kind == Parcel::error) throw Error(Errc::io, "another rank has failed");
      take(in);
    });
  }
  void hand_to(int rank) {
    go(rank, [&] { return packed(mine_); }, kNobody, {});
  }
  void add_from(int rank) {
    go(kNobody, {}, rank, [&](const Parcel& in) { lattice_.merge(mine_, unpacked(in, count_)); });
  }
  void take_from(int rank) {
    go(kNobody, {}, rank, [&](const Parcel& in) { mine_ = unpacked(in, count_); });
  }

  Parcel packed(const Partial& partial) const { return Lattice::pack(partial, execution_); }
  Partial unpacked(const Parcel& in, u64 count) const {
    return Lattice::unpack(in, count, execution_);
  }
  u64 begin(int segment) const { return count_ * u64(segment) / u64(ranks_); }
  Partial cut(u64 first, u64 end) const {
    Partial part;
    part.numbers.assign(mine_.numbers.begin() + std::ptrdiff_t(first),
                        mine_.numbers.begin() + std::ptrdiff_t(end));
    for (const Lattice::Exception& exception : mine_.exceptions)
      if (exception.place >= first && exception.place < end)
        part.exceptions.push_back({exception.place - first, exception.value});
    return part;
  }
  void join(const std::vector<Partial>& segments) {
    mine_ = {};
    for (const Partial& segment : segments) {
      for (const Lattice::Exception& exception : segment.exceptions)
        mine_.exceptions.push_back({exception.place + mine_.numbers.size(), exception.value});
      mine_.numbers.insert(mine_.numbers.end(), segment.numbers.begin(), segment.numbers.end());
    }
  }

  const Team& team_;
  const int rank_, ranks_;
  const Lattice& lattice_;
  const Execution& execution_;
  Partial& mine_;
  const u64 count_;
  std::exception_ptr error_;
};

void agree_on_arguments(const Team& team, const View& mine, Operation operation, int root,
                        Route route, const CompressOptions& options) {
  Agreement agreement;
  agreement.add("element type", u64(mine.dtype));
  agreement.add("number of values", mine.shape.size());
  agreement.add("operation", u64(operation));
  agreement.add("root", u64(root));
  agreement.add("route", u64(route));
  add_settings(agreement, options);
  agreement.reach(team);
}

// The bound of the result, from what was asked: an absolute one, or a part of the range of what all
// ranks contribute.
double bound_of_result(const Team& team, const View& mine, const CompressOptions& options) {
  double e = std::numeric_limits<double>::max();
  for (const Limit& limit : options.bound.limits()) {
    if (limit.kind == BoundKind::lossless) return 0;
    if (limit.kind == BoundKind::abs) {
      e = std::min(e, limit.value);
      continue;
    }
    if (limit.kind != BoundKind::rel)
      fail_argument("a reduction has the bound abs, rel or lossless");
    CompressOptions plain = options;
    plain.detect_fills = false;
    const auto range = value_range(mine, plain);
    // Doubles, in an order that integers share.
    const auto key = [](double x) {
      const u64 bits = std::bit_cast<u64>(x);
      return bits >> 63 ? ~bits : bits | u64(1) << 63;
    };
    const auto value = [](u64 bits) {
      return std::bit_cast<double>(bits >> 63 ? bits & ~(u64(1) << 63) : ~bits);
    };
    u64 ends[] = {range ? key(range->min) : ~u64(0), range ? ~key(range->max) : ~u64(0)};
    team.min(ends);
    if (ends[0] == ~u64(0)) return 0;
    e = std::min(e, relative_bound(limit.value, Range{value(ends[0]), value(~ends[1])}));
  }
  if (options.bound.limits().empty())
    fail_argument("a bound is needed: how much error may a value have?");
  return e;
}

}  // namespace

void reduce(const Team& team, const View& mine, const MutableView* result, Operation operation,
            int root, Route route, const CompressOptions& options) {
  agree_on_arguments(team, mine, operation, root, route, options);
  const bool gets_result = root == kAll || root == team.rank();
  if (root != kAll && (root < 0 || root >= team.size()))
    fail_argument("there is no rank " + std::to_string(root));
  if (gets_result && (!result || !(result->shape == mine.shape) || result->dtype != mine.dtype))
    fail_argument("the result of a reduction has the type and shape of what is reduced");
  const double e = bound_of_result(team, mine, options);
  // Each contribution may be off by this much: a sum adds their errors up; a mean divides the sum.
  const Lattice lattice(operation, operation == Operation::sum ? e / team.size() : e, team.size());
  Partial partial = lattice.quantized(mine);
  team.agree();
  Reduction reduction(team, lattice, options.execution, partial);
  if (route == Route::automatic)
    route = root != kAll                       ? Route::tree
            : mine.shape.size() >= kRingValues ? Route::ring
                                               : Route::doubling;
  if (route == Route::tree) {
    reduction.up();
    root == kAll ? reduction.down() : reduction.move(0, root);
  } else if (route == Route::ring) {
    reduction.ring();
  } else {
    reduction.doubling();
  }
  reduction.finish();
  team.agree();
  if (gets_result) lattice.finish(partial, *result);
  team.agree();
}

}  // namespace leeway::parallel

// SPDX-License-Identifier: BSD-3-Clause
// Reduce: each rank quantizes what it has; integers meet on the way (lattice.h, reduction.h).
#include <algorithm>
#include <cmath>
#include <optional>

#include "leeway/leeway.hpp"
#include "leeway/parallel/agreement.h"
#include "leeway/parallel/pending.h"
#include "leeway/parallel/reduction.h"

namespace leeway::parallel {
namespace {

// From this many values on, the ring saves more than its many steps cost.
constexpr u64 kRingValues = u64(1) << 16;

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

// The range of what all ranks contribute, if anyone has an ordinary value.
std::optional<Range> range_of_all(const Team& team, const View& mine,
                                  const CompressOptions& options) {
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
  if (ends[0] == ~u64(0)) return {};
  return Range{value(ends[0]), value(~ends[1])};
}

// The bound of the result, from what was asked: an absolute one, or a part of a range.
template <class F>
double bound_of_result(const CompressOptions& options, F&& find_range) {
  if (options.bound.limits().empty())
    fail_argument("a bound is needed: how much error may a value have?");
  double e = std::numeric_limits<double>::max();
  for (const Limit& limit : options.bound.limits()) {
    if (limit.kind == BoundKind::lossless) return 0;
    if (limit.kind == BoundKind::abs) {
      e = std::min(e, limit.value);
    } else if (limit.kind == BoundKind::rel) {
      const std::optional<Range> range = find_range();
      e = range ? std::min(e, relative_bound(limit.value, *range)) : 0;
    } else {
      fail_argument("a reduction has the bound abs, rel or lossless");
    }
  }
  return e;
}

// Each contribution may be off by this much: a sum adds their errors up; a mean divides the sum.
Lattice lattice_for(const Team& team, Operation operation, double e) {
  return {operation, operation == Operation::sum ? e / team.size() : e, team.size()};
}

void check_result(const Team& team, const View& mine, const MutableView* result, int root) {
  if (root != kAll && (root < 0 || root >= team.size()))
    fail_argument("there is no rank " + std::to_string(root));
  if (root != kAll && root != team.rank()) return;
  if (!result || !(result->shape == mine.shape) || result->dtype != mine.dtype)
    fail_argument("the result of a reduction has the type and shape of what is reduced");
}

void find_way(Reduction& reduction, Route route, u64 values, int root) {
  if (route == Route::automatic)
    route = root != kAll ? Route::tree : values >= kRingValues ? Route::ring : Route::doubling;
  if (route == Route::tree) {
    reduction.up();
    root == kAll ? reduction.down() : reduction.move(0, root);
  } else if (route == Route::ring) {
    reduction.ring();
  } else {
    reduction.doubling();
  }
}

// A reduction that does not wait. Whatever is wrong here comes out in the end, since others count
// on this rank's steps.
class PendingReduction final : public Transfer {
 public:
  PendingReduction(const Team& team, const View& mine, const MutableView* result,
                   Operation operation, int root, Route route, const CompressOptions& options)
      : gets_result_(root == kAll || root == team.rank()),
        result_(result ? *result : MutableView{}) {
    std::exception_ptr wrong;
    double e = 0;
    try {
      check_result(team, mine, result, root);
      e = bound_of_result(options, []() -> std::optional<Range> {
        fail_argument("a reduction that does not wait has the bound abs or lossless");
      });
    } catch (const Error&) {
      wrong = std::current_exception();
    }
    lattice_.emplace(lattice_for(team, operation, e));
    reduction_.emplace(team, *lattice_, options.execution, mine.shape.size(), [&] {
      if (wrong) std::rethrow_exception(wrong);
      return lattice_->quantized(mine);
    });
    find_way(*reduction_, route, mine.shape.size(), root);
  }
  bool test() override {
    const bool done = reduction_->test();
    if (done) finish();
    return done;
  }
  void wait() override {
    reduction_->wait();
    finish();
  }

 private:
  void finish() {
    if (gets_result_) lattice_->finish(reduction_->result(), result_);
    gets_result_ = false;
  }

  bool gets_result_;
  MutableView result_;
  std::optional<Lattice> lattice_;
  std::optional<Reduction> reduction_;
};

}  // namespace

void reduce(const Team& team, const View& mine, const MutableView* result, Operation operation,
            int root, Route route, const CompressOptions& options) {
  agree_on_arguments(team, mine, operation, root, route, options);
  check_result(team, mine, result, root);
  const double e = bound_of_result(options, [&] { return range_of_all(team, mine, options); });
  const Lattice lattice = lattice_for(team, operation, e);
  Lattice::Partial own = lattice.quantized(mine);
  team.agree();
  Reduction reduction(team, lattice, options.execution, mine.shape.size(),
                      [&] { return std::move(own); });
  find_way(reduction, route, mine.shape.size(), root);
  reduction.wait();
  team.agree();
  if (root == kAll || root == team.rank()) lattice.finish(reduction.result(), *result);
  team.agree();
}

std::unique_ptr<Transfer> start_reduce(const Team& team, const View& mine,
                                       const MutableView* result, Operation operation, int root,
                                       Route route, const CompressOptions& options) {
  if (root != kAll && (root < 0 || root >= team.size()))
    fail_argument("there is no rank " + std::to_string(root));
  auto reduction =
      std::make_unique<PendingReduction>(team, mine, result, operation, root, route, options);
  (void)reduction->test();  // the first step is on its way
  return reduction;
}

}  // namespace leeway::parallel

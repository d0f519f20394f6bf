// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/derived/together.h"

#include <algorithm>

#include "leeway/base/environment.h"
#include "leeway/choose/advise.h"
#include "leeway/derived/aim.h"
#include "leeway/derived/by_value.h"
#include "leeway/derived/classes.h"
#include "leeway/derived/derive.h"
#include "leeway/derived/restate.h"
#include "leeway/leeway.hpp"

namespace leeway::derived {
namespace {

constexpr unsigned kMostPasses = 24;
constexpr size_t kMostClasses = 14;  // fewer than a writer makes powers of two of

bool speaks_of(const Promise& promise, size_t variable) {
  if (promise.rule != Rule::quantity) return promise.variable == variable;
  return std::ranges::any_of(promise.quantity->slots(),
                             [&](const Slot& slot) { return slot.variable == variable; });
}

// All that is known on the way.
class Work {
 public:
  Work(const std::vector<Member>& members, const std::vector<std::string>& texts,
       const Execution& execution)
      : members_(members), execution_(execution) {
    std::vector<std::string> names;
    for (const Member& member : members) names.push_back(member.name);
    if (texts.size() > kMostPromises)
      fail_argument("at most " + std::to_string(kMostPromises) + " promises can be made");
    for (const std::string& text : texts) {
      promises_.push_back(parse_promise(text, names, false));
      if (promises_.back().text.size() > kMostPromiseText) fail_argument("a promise is too long");
      promises_.back().settle(members[0].view.shape);
    }
    for (const Member& member : members) look_at(member);
    for (const Promise& promise : promises_) bounds_of_promises_.push_back(bound_of(promise));
  }

  Together run() {
    for (size_t k = 0; k < promises_.size(); ++k)
      if (!is_local(k)) derive(promises_[k], bounds_of_promises_[k], originals_, room_, execution_);
    const size_t count = members_.size();
    tried_ = choices(originals_.shape.size());
    result_.streams.resize(count), result_.reports.resize(count), choices_.assign(count, kNone);
    errors_.resize(count);
    decoded_ = originals_;
    const std::vector<size_t> order = order_of_coding();
    do {
      if (result_.passes == kMostPasses)
        throw Error(Errc::internal, "a promise could not be kept: " + broken());
      Grid given = originals_;
      for (size_t k = 0; k < count; ++k) {
        code(order[k], k + 1 == count, given);
        given.of[order[k]] = decoded_.of[order[k]];
      }
      ++result_.passes;
    } while (!are_kept());
    for (size_t m = 0; m < count; ++m) state(m);
    return std::move(result_);
  }

 private:
  void look_at(const Member& member) {
    if (!(member.view.shape == members_[0].view.shape))
      fail_argument("'" + members_[0].name + "' has the shape " +
                    to_string(members_[0].view.shape) + ", '" + member.name + "' has " +
                    to_string(member.view.shape) + ": promises need one grid");
    CompressOptions options = member.options;
    if (options.has_regions() || options.earlier || options.keeps_all || options.rms > 0)
      fail_argument("promises do not go together with bounds of regions or by value");
    options.brief = false;
    options.execution.progress = nullptr;
    const std::optional<ValidRange> range = value_range(member.view, options);
    if (range) options.fill_bits = range->fills, options.fills.clear();
    options.detect_fills = false;
    originals_.shape = room_.shape = member.view.shape;
    originals_.of.push_back(values_of(member.view, options.fill_bits));
    room_.of.push_back(own_bounds(member, options, range, originals_.of.back()));
    options_.push_back(std::move(options));
  }

  // Before any promise.
  static std::vector<double> own_bounds(const Member& member, const CompressOptions& options,
                                        const std::optional<ValidRange>& range,
                                        const std::vector<double>& values) {
    const Bound& asked = member.options.bound;
    const double size = range ? range->size() : 0;
    if (asked.has(BoundKind::pointwise)) {
      std::vector<double> bounds(values.size());
      std::ranges::transform(values, bounds.begin(), [&](double x) {
        return std::isnan(x) ? size : asked.limits()[0].value * std::abs(x) * (1 - 0x1p-50);
      });
      return bounds;
    }
    double most = size / kLoosest;
    const Bound absolute = absolute_limits(member.view, options);
    for (const Limit& limit : absolute.limits()) {
      if (limit.kind == BoundKind::lossless)
        most = 0;
      else if (limit.kind != BoundKind::abs)
        fail_argument("beside promises, '" + member.name +
                      "' can have a bound abs, rel or pointwise, not " +
                      std::string(name_of(limit.kind)));
      else
        most = asked.limits().size() > 1 ? std::min(most, limit.value) : limit.value;
    }
    return std::vector<double>(values.size(), most);
  }

  double bound_of(const Promise& promise) const {
    if (promise.rule != Rule::quantity) return 0;
    if (promise.kind == BoundKind::abs) return promise.value;
    const double range = range_of(*promise.quantity, originals_, execution_);
    return below(promise.value * range);
  }

  bool is_local(size_t k) const {
    return promises_[k].rule == Rule::quantity && promises_[k].over == Over::point &&
           !promises_[k].quantity->has_neighbours();
  }
  std::vector<Local> locals_of(size_t m, bool is_last) const {
    std::vector<Local> locals;
    for (size_t k = 0; k < promises_.size(); ++k)
      if (is_local(k) && speaks_of(promises_[k], m))
        locals.push_back({&promises_[k], (is_last ? 1 : kShare) * bounds_of_promises_[k]});
    return locals;
  }
  Aiming aiming(size_t m, bool is_last, const Grid& given) const {
    return Aiming(locals_of(m, is_last), m, members_[m].view.dtype, originals_, given, execution_);
  }

  // Variables that matter less come first: the last one makes up for their errors.
  std::vector<size_t> order_of_coding() const {
    std::vector<size_t> order(members_.size());
    std::vector<double> sums(order.size());
    for (size_t m = 0; m < order.size(); ++m) {
      order[m] = m;
      for (const double b : aiming(m, false, originals_).wishes(room_.of[m]))
        if (b < kInfinite) sums[m] += b;
    }
    std::ranges::stable_sort(order, std::ranges::greater(), [&](size_t m) { return sums[m]; });
    return order;
  }

  // How few different bounds a variable may have, since each costs room to tell: one, or some in
  // blocks; and which part of the bounds wished for: slopes change within them, and where values
  // have steps a little less may be a lot shorter.
  struct Choice {
    size_t most;
    u64 edge;  // 0: one bound
    double part;
  };
  static std::vector<Choice> choices(u64 values) {
    constexpr u64 kManyValues = u64(1) << 22;
    std::vector<Choice> all;
    if (values > kManyValues)
      all = {{0, 0, 0.98}};
    else
      for (const double part : {1.0, 0.995, 0.99, 0.985, 0.98, 0.97, 0.96, 0.95, 0.93})
        all.push_back({0, 0, part});
    all.insert(all.end(), {{3, 64, 1}, {6, 16, 1}, {kMostClasses, 4, 1}});
    return all;
  }
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  // Compresses a variable, and decodes it.
  void code(size_t m, bool is_last, const Grid& given) {
    const Aiming aiming = this->aiming(m, is_last, given);
    std::vector<double> wishes = aiming.wishes(room_.of[m]);
    for (size_t i = 0; i < wishes.size(); ++i)  // special values are kept anyway
      if (std::isnan(originals_.of[m][i])) wishes[i] = kInfinite;
    if (choices_[m] != kNone) {
      (void)keep_if_smaller(m, choices_[m], aiming, wishes, true);
      return;
    }
    for (size_t choice = 0; choice < tried_.size(); ++choice)
      if (keep_if_smaller(m, choice, aiming, wishes, choice == 0)) break;
  }
  // Says whether there is nothing else to try.
  bool keep_if_smaller(size_t m, size_t choice, const Aiming& aiming,
                       const std::vector<double>& wishes, bool is_first) {
    std::vector<double> bounds = wishes;
    const double most = cut(bounds), least = std::ranges::min(bounds);
    const auto [classes, edge, part] = tried_[choice];
    if (edge == 0)
      to_one(bounds);
    else if (is_about_one(wishes, most))
      return true;
    else
      to_classes(bounds, originals_.shape, classes, edge);
    if (most > least)
      for (double& b : bounds) b *= part;
    const Aim aim = aiming.aim(std::move(bounds), room_.of[m]);
    Coded coded = coded_as(m, aim);
    if (is_first || coded.stream.size() < result_.streams[m].size()) {
      choices_[m] = choice;
      result_.streams[m] = std::move(coded.stream), result_.reports[m] = coded.report;
      decoded_.of[m] = std::move(coded.decoded), errors_[m] = std::move(coded.errors.largest);
    }
    return most == least;
  }

  // Infinite bounds, of special values, become the largest other one, which is returned.
  static double cut(std::vector<double>& bounds) {
    double most = 0;
    for (const double b : bounds)
      if (b < kInfinite) most = std::max(most, b);
    for (double& b : bounds) b = std::min(b, most);
    return most;
  }
  // All but a few much smaller ones become one.
  static void to_one(std::vector<double>& bounds) {
    constexpr double kMuch = 0.8;
    const double low = quantile(bounds, 0.005);
    double one = low;
    for (const double b : bounds)
      if (b >= kMuch * low) one = std::min(one, b);
    for (double& b : bounds) {
      if (!(b > 0)) continue;
      double halved = one;
      while (halved > b) halved /= 2;
      b = halved;
    }
  }
  // Whether several bounds could gain little.
  static bool is_about_one(const std::vector<double>& wishes, double most) {
    return std::min(quantile(wishes, 0.5), most) < 1.5 * quantile(wishes, 0.005);
  }
  // Of those above 0.
  static double quantile(std::vector<double> bounds, double part) {
    std::erase(bounds, 0.0);
    if (bounds.empty()) return 0;
    const auto at = bounds.begin() + std::ptrdiff_t(double(bounds.size()) * part);
    std::ranges::nth_element(bounds, at);
    return *at;
  }

  struct Coded {
    Bytes stream;
    CompressReport report;
    std::vector<double> decoded;
    ChunkErrors errors;
  };
  Coded coded_as(size_t m, Aim aim) const {
    std::vector<double>& bounds = aim.bounds;
    double stated = 0;  // the largest error that a value may have
    for (size_t i = 0; i < bounds.size(); ++i)
      if (!std::isnan(originals_.of[m][i]))
        stated = std::max(
            stated, std::min(room_.of[m][i],
                             above(bounds[i] + std::abs(aim.targets[i] - originals_.of[m][i]))));
    Coded coded = coded_with(m, targets_of(m, aim.targets), bounds, stated);
    // A frame can state no error above the largest bound of its values: where targets lead beyond
    // it, one value is given the largest bound there is. It is checked like all others.
    for (int tries = 0; tries < 8 && !coded.errors.beyond.empty(); ++tries) {
      const Header header = read_header(
          ByteView(coded.stream)
              .first(size_t(header_bytes(ByteView(coded.stream).first(kPreambleBytes)))));
      for (const u64 chunk : coded.errors.beyond) {
        const size_t i = widest(m, header.chunk_box(chunk), bounds);
        aim.bounds[i] = stated, aim.targets[i] = originals_.of[m][i];
      }
      coded = coded_with(m, targets_of(m, aim.targets), bounds, stated);
    }
    if (!coded.errors.beyond.empty())
      throw Error(Errc::internal, "a chunk has larger errors than it may state");
    return coded;
  }
  // The value with the most room in a chunk; among equals one that is predicted well, which in a
  // pyramid those at odd places are.
  size_t widest(size_t m, const Box& box, const std::vector<double>& bounds) const {
    size_t best = 0;
    double most = -1;
    for_each_point(box, [&](const Index& point) {
      u64 i = 0;
      double odd = 1;
      for (size_t axis = 0; axis < box.shape.rank(); ++axis) {
        i = i * originals_.shape[axis] + point[axis];
        odd += 0x1p-30 * double((point[axis] - box.first[axis]) % 2);
      }
      const double x = originals_.of[m][size_t(i)];
      const double wide =
          std::isnan(x) ? kInfinite : odd * (room_.of[m][size_t(i)] + bounds[size_t(i)]);
      if (wide > most) most = wide, best = size_t(i);
    });
    return best;
  }
  // The array with targets in the place of ordinary values.
  Array targets_of(size_t m, const std::vector<double>& targets) const {
    const View view = members_[m].view;
    Array array(view.dtype, view.shape);
    gather(view, array.view().data);
    visit_dtype(view.dtype, [&]<class T>(std::type_identity<T>) {
      auto* values = reinterpret_cast<T*>(array.view().data);
      for (size_t i = 0; i < targets.size(); ++i)
        if (!std::isnan(targets[i]) && targets[i] != originals_.of[m][i]) values[i] = T(targets[i]);
    });
    return array;
  }
  Coded coded_with(size_t m, const Array& targets, const std::vector<double>& bounds,
                   double stated) const {
    const auto [least, most] = std::ranges::minmax(bounds);
    CompressOptions options = options_[m];
    options.bound = stated > 0 ? Bound::abs(stated) : Bound::lossless();
    if (least < stated) {
      options.recipe = by_value_recipe(options.recipe);
      options.bounds = view_of(bounds.data(), originals_.shape);
    }
    Coded coded;
    const View view(targets.data(), targets.dtype(), targets.shape());
    coded.report = compress(view, options, [&](ByteView part) {
      coded.stream.insert(coded.stream.end(), part.begin(), part.end());
    });
    DecompressOptions reading;
    reading.execution.threads = execution_.threads,
    reading.execution.executor = execution_.executor;
    const Array decoded = decompress(coded.stream, reading);
    coded.decoded =
        values_of(View(decoded.data(), decoded.dtype(), decoded.shape()), coded.report.fills);
    coded.errors = errors_of(coded.stream, originals_.of[m], coded.decoded);
    return coded;
  }

  bool are_kept() {
    result_.promises.clear();
    bool all = true;
    for (size_t k = 0; k < promises_.size(); ++k) {
      result_.promises.push_back(
          check(promises_[k], bounds_of_promises_[k], originals_, decoded_, execution_, &room_));
      all &= result_.promises.back().holds();
    }
    return all;
  }
  std::string broken() const {
    return std::ranges::find_if(result_.promises, [](const Kept& kept) { return !kept.holds(); })
        ->text;
  }

  void state(size_t m) {
    std::vector<StatedPromise> stated;
    for (size_t k = 0; k < promises_.size(); ++k)
      if (speaks_of(promises_[k], m))
        stated.push_back({promises_[k].text, bounds_of_promises_[k], result_.promises[k].reached});
    result_.streams[m] = restated(result_.streams[m], errors_[m], members_[m].name, stated);
    CompressReport& report = result_.reports[m];
    report.output_bytes = result_.streams[m].size();
    report.statement.max_error = errors_[m].empty() ? 0 : std::ranges::max(errors_[m]);
  }

  // A variable without a bound of its own may be off by its range over this.
  static constexpr double kLoosest = 16;

  const std::vector<Member>& members_;
  const Execution& execution_;
  std::vector<CompressOptions> options_;
  std::vector<Promise> promises_;
  std::vector<double> bounds_of_promises_;
  Grid originals_, decoded_;
  Grid room_;                                // the largest error that each value may have
  std::vector<std::vector<double>> errors_;  // the largest of each chunk
  std::vector<Choice> tried_;
  std::vector<size_t> choices_;  // of these, by variable
  Together result_;
};

}  // namespace

Together compress_together(const std::vector<Member>& members,
                           const std::vector<std::string>& promises, const Execution& execution) {
  const DefaultFloatingPoint environment;
  if (members.empty()) fail_argument("there are no variables to make promises of");
  return Work(members, promises, execution).run();
}

std::vector<Kept> check_together(const std::vector<Decoded>& members,
                                 const std::vector<StatedPromise>& promises,
                                 const Execution& execution, std::vector<std::string>& missing) {
  const DefaultFloatingPoint environment;
  std::vector<Kept> kept;
  if (members.empty()) return kept;
  Grid originals{members[0].original.shape, {}}, decoded = originals;
  for (const Decoded& member : members) {
    if (!(member.original.shape == originals.shape) || !(member.decoded.shape == originals.shape))
      fail_argument("'" + member.name + "' is on another grid");
    originals.of.push_back(values_of(member.original, member.fills));
    decoded.of.push_back(values_of(member.decoded, member.fills));
  }
  for (const StatedPromise& stated : promises) {
    std::vector<std::string> names;
    for (const Decoded& member : members) names.push_back(member.name);
    Promise promise = parse_promise(stated.text, names, true);
    if (names.size() > members.size()) {
      missing.push_back(stated.text);
      continue;
    }
    promise.settle(originals.shape);
    kept.push_back(check(promise, stated.bound, originals, decoded, execution));
  }
  return kept;
}

}  // namespace leeway::derived

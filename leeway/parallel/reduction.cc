// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/parallel/reduction.h"

namespace leeway::parallel {
namespace {

constexpr int kNobody = -1;

Parcel parcel_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& failure) {
    const std::string text = failure.what();
    return {Parcel::error, {text.begin(), text.end()}};
  }
}

}  // namespace

Reduction::Reduction(const Team& team, const Lattice& lattice, const Execution& execution,
                     u64 count, const std::function<Partial()>& make)
    : team_(team),
      rank_(team.rank()),
      ranks_(team.size()),
      lattice_(lattice),
      execution_(execution),
      count_(count) {
  attempt([&] { mine_ = make(); });
}

void Reduction::up() {
  for (int step = 1; step < ranks_; step *= 2) {
    if (rank_ % (2 * step) == step) return hand_to(rank_ - step);
    if (rank_ + step < ranks_) add_from(rank_ + step);
  }
}

void Reduction::down() {
  int step = 1;
  while (step < ranks_) step *= 2;
  for (step /= 2; step >= 1; step /= 2) {
    if (rank_ % (2 * step) == step) take_from(rank_ - step);
    if (rank_ % (2 * step) == 0 && rank_ + step < ranks_) hand_to(rank_ + step);
  }
}

// Ranks beyond a power of two first hand what they have to one below, and get the result from it.
void Reduction::doubling() {
  int inner = 1;
  while (2 * inner <= ranks_) inner *= 2;
  if (rank_ >= inner) {
    hand_to(rank_ - inner);
    return take_from(rank_ - inner);
  }
  if (rank_ + inner < ranks_) add_from(rank_ + inner);
  for (int step = 1; step < inner; step *= 2)
    go(
        rank_ ^ step, [this] { return packed(mine_); }, rank_ ^ step,
        [this](const Parcel& in) { lattice_.merge(mine_, unpacked(in, count_)); });
  if (rank_ + inner < ranks_) hand_to(rank_ + inner);
}

// First each segment is added up on its way around, then each goes around once more.
void Reduction::ring() {
  segments_.resize(size_t(ranks_));
  for (int i = 0; i < ranks_ && !error_; ++i)
    attempt([&] { segments_[size_t(i)] = cut(begin(i), begin(i + 1)); });
  for (int turn = 0; turn < 2 * (ranks_ - 1); ++turn) {
    const bool adds = turn < ranks_ - 1, is_last = turn + 1 == 2 * (ranks_ - 1);
    const int given = (rank_ - turn + 2 * ranks_) % ranks_, taken = (given + ranks_ - 1) % ranks_;
    go((rank_ + 1) % ranks_, [this, given] { return packed(segments_[size_t(given)]); },
       (rank_ + ranks_ - 1) % ranks_,
       [this, taken, adds, is_last](const Parcel& in) {
         Partial other = unpacked(in, begin(taken + 1) - begin(taken));
         if (adds)
           lattice_.merge(segments_[size_t(taken)], other);
         else
           segments_[size_t(taken)] = std::move(other);
         if (is_last) join();
       });
  }
}

void Reduction::move(int from, int to) {
  if (from == to) return;
  if (rank_ == from) hand_to(to);
  if (rank_ == to) take_from(from);
}

bool Reduction::test() {
  for (; next_ < steps_.size(); end_step()) {
    if (!is_open_) begin_step();
    bool has_arrived = true, has_gone = true;
    attempt([&] {
      has_arrived = !receive_ || receive_->test();
      has_gone = !send_ || send_->test();
    });
    if (!has_arrived || !has_gone) return false;
  }
  rethrow();
  return true;
}

void Reduction::wait() {
  for (; next_ < steps_.size(); end_step()) {
    if (!is_open_) begin_step();
    attempt([&] {
      if (receive_) receive_->wait();
      if (send_) send_->wait();
    });
  }
  rethrow();
}

void Reduction::rethrow() {
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

template <class F>
void Reduction::attempt(F&& f) {
  try {
    f();
  } catch (const std::exception&) {
    if (!error_) error_ = std::current_exception();
  }
}

void Reduction::go(int to, std::function<Parcel()> make, int from,
                   std::function<void(const Parcel&)> take) {
  steps_.push_back({to, std::move(make), from, std::move(take)});
}

void Reduction::hand_to(int rank) {
  go(rank, [this] { return packed(mine_); }, kNobody, {});
}

void Reduction::add_from(int rank) {
  go(kNobody, {}, rank, [this](const Parcel& in) { lattice_.merge(mine_, unpacked(in, count_)); });
}

void Reduction::take_from(int rank) {
  go(kNobody, {}, rank, [this](const Parcel& in) { mine_ = unpacked(in, count_); });
}

void Reduction::begin_step() {
  const Step& step = steps_[next_];
  is_open_ = true;
  arriving_ = {};
  attempt([&] {
    if (step.from != kNobody) receive_ = start_receive(team_, arriving_, step.from);
  });
  if (step.to == kNobody) return;
  Parcel out;
  if (!error_) attempt([&] { out = step.make(); });
  if (error_) out = parcel_of(error_);
  attempt([&] { send_ = start_send(team_, std::move(out), step.to); });
}

void Reduction::end_step() {
  const Step& step = steps_[next_++];
  send_.reset();
  receive_.reset();
  is_open_ = false;
  if (step.from == kNobody || error_) return;
  attempt([&] {
    if (arriving_.kind == Parcel::error)
      throw Error(Errc::io, std::string(arriving_.bytes.begin(), arriving_.bytes.end()));
    step.take(arriving_);
  });
}

Reduction::Partial Reduction::cut(u64 first, u64 end) const {
  Partial part;
  part.numbers.assign(mine_.numbers.begin() + std::ptrdiff_t(first),
                      mine_.numbers.begin() + std::ptrdiff_t(end));
  for (const Lattice::Exception& exception : mine_.exceptions)
    if (exception.place >= first && exception.place < end)
      part.exceptions.push_back({exception.place - first, exception.value});
  return part;
}

void Reduction::join() {
  mine_ = {};
  for (const Partial& segment : segments_) {
    for (const Lattice::Exception& exception : segment.exceptions)
      mine_.exceptions.push_back({exception.place + mine_.numbers.size(), exception.value});
    mine_.numbers.insert(mine_.numbers.end(), segment.numbers.begin(), segment.numbers.end());
  }
}

}  // namespace leeway::parallel

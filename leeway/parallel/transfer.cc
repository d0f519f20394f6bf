// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/parallel/transfer.h"

#include <algorithm>
#include <thread>

#include "leeway/leeway.hpp"

namespace leeway::parallel {
namespace {

constexpr u64 kPieceBytes = u64(1) << 20;  // of values
constexpr size_t kEnvelope = 4096, kPreface = 10;
constexpr u64 kMostBytes = u64(1) << 46;  // a message that claims more is none

void require(int status) {
  if (status != 0) throw Error(Errc::io, "a message between ranks failed");
}

// Messages that are on their way; all are waited for before their memory goes.
class Requests {
 public:
  explicit Requests(const leeway_team& team) : team_(team) {}
  ~Requests() {
    for (void*& request : open_)
      if (request) (void)team_.wait(team_.self, &request);
  }
  void** add() { return &open_.emplace_back(nullptr); }
  bool test() {
    while (!open_.empty()) {
      if (open_.front()) require(team_.test(team_.self, &open_.front()));
      if (open_.front()) return false;
      open_.pop_front();
    }
    return true;
  }
  void wait() {
    while (!open_.empty()) {
      if (open_.front()) require(team_.wait(team_.self, &open_.front()));
      open_.pop_front();
    }
  }

 private:
  const leeway_team& team_;
  std::deque<void*> open_;
};

class Send final : public Transfer {
 public:
  Send(const Team& team, int to) : team_(team.table()), to_(to), requests_(team_) {}

  void add(Parcel parcel, bool is_last) {
    (void)requests_.test();  // what is on its way gets on
    Writer envelope;
    envelope.put(u64(parcel.bytes.size()));
    envelope.put(parcel.kind);
    envelope.put(u8(is_last));
    const size_t inside = std::min(kEnvelope, parcel.bytes.size());
    envelope.put_bytes(ByteView(parcel.bytes).first(inside));
    kept_.emplace_back(envelope.bytes().begin(), envelope.bytes().end());
    require(
        team_.isend(team_.self, kept_.back().data(), kept_.back().size(), to_, requests_.add()));
    if (inside == parcel.bytes.size()) return;
    kept_.push_back(std::move(parcel.bytes));
    const ByteView rest = ByteView(kept_.back()).subspan(inside);
    require(team_.isend(team_.self, rest.data(), rest.size(), to_, requests_.add()));
  }
  bool test() override { return requests_.test(); }
  void wait() override { requests_.wait(); }

 private:
  const leeway_team& team_;
  int to_;
  std::deque<Bytes> kept_;
  Requests requests_;  // gone before what is kept
};

// Receives one parcel after the other up to the last one, and hands them on. What goes wrong with
// one of them comes out when all have arrived, so that none is left for the next receive.
class Receive final : public Transfer {
 public:
  using Accept = std::function<void(const Parcel&, u64 index, bool is_last)>;
  Receive(const Team& team, int from, Accept accept)
      : team_(team.table()), from_(from), accept_(std::move(accept)), requests_(team_) {
    expect_envelope();
  }
  bool test() override {
    while (!is_done_ && requests_.test()) go_on();
    if (is_done_ && error_) std::rethrow_exception(std::exchange(error_, nullptr));
    return is_done_;
  }
  void wait() override {
    while (!is_done_) {
      requests_.wait();
      go_on();
    }
    (void)test();
  }

 private:
  void expect_envelope() {
    has_envelope_ = false;
    envelope_.assign(kPreface + kEnvelope, 0);
    require(team_.irecv(team_.self, envelope_.data(), envelope_.size(), from_, requests_.add()));
  }
  // What was waited for is there.
  void go_on() {
    if (!has_envelope_) {
      has_envelope_ = true;
      Reader in(envelope_);
      const u64 bytes = in.get<u64>();
      const u8 kind = in.get<u8>();
      if (bytes > kMostBytes || kind > Parcel::error) fail_corrupt("a message that is none");
      is_last_ = in.get<u8>() != 0;
      parcel_.kind = Parcel::Kind(kind);
      parcel_.bytes.resize(size_t(bytes));
      const size_t inside = std::min(kEnvelope, parcel_.bytes.size());
      std::copy_n(envelope_.begin() + kPreface, inside, parcel_.bytes.begin());
      if (inside < parcel_.bytes.size()) {
        require(team_.irecv(team_.self, parcel_.bytes.data() + inside, bytes - inside, from_,
                            requests_.add()));
        return;
      }
    }
    const Parcel arrived = std::move(parcel_);
    is_done_ = is_last_;
    if (!is_done_) expect_envelope();  // on its way while this one is decoded
    if (error_) return;
    try {
      accept_(arrived, index_++, is_last_);
    } catch (const std::exception&) {
      error_ = std::current_exception();
    }
  }

  const leeway_team& team_;
  int from_;
  Accept accept_;
  u64 index_ = 0;
  bool has_envelope_ = false, is_last_ = false, is_done_ = false;
  std::exception_ptr error_;
  Bytes envelope_;
  Parcel parcel_;
  Requests requests_;  // gone before what they fill
};

bool is_of_whole(const Bound& bound) { return bound.needs_measurement() || bound.wants_size(); }

u64 pieces_of(DType dtype, const Shape& shape) {
  const u64 thickness = piece_thickness(dtype, shape);
  return shape.rank() == 0 ? 1 : std::max<u64>(1, (shape[0] + thickness - 1) / thickness);
}

// Bounds that refer to the range of the values, for pieces of them.
CompressOptions for_pieces(const View& array, const CompressOptions& options) {
  CompressOptions result = options;
  if (!options.bound.has(BoundKind::rel)) return result;
  const auto range = value_range(array, options);
  Bound bound;
  for (const Limit& limit : options.bound.limits())
    if (limit.kind != BoundKind::rel) {
      bound.add(limit.kind, limit.value);
    } else {
      const double e = range ? usable_bound(relative_bound(limit.value, *range)) : 0;
      e > 0 ? bound.add(BoundKind::abs, e) : bound.add(BoundKind::lossless, 0);
    }
  result.bound = bound;
  return result;
}

}  // namespace

u64 piece_thickness(DType dtype, const Shape& shape) {
  if (shape.rank() == 0 || shape.size() == 0) return 1;
  return std::max<u64>(1, kPieceBytes / (shape.size() / shape[0] * size_of(dtype)));
}

Parcel pack(const View& array, const CompressOptions& options, u64 small) {
  Parcel parcel;
  const u64 bytes = array.shape.size() * size_of(array.dtype);
  if (bytes > small) {
    CompressOptions brief = options;
    brief.brief = true;
    parcel.bytes = compress(array, brief);
    parcel.kind = Parcel::stream;
    if (parcel.bytes.size() < bytes) return parcel;
  } else if (options.bound.limits().empty()) {
    fail_argument("a bound is needed: how much error may a value have?");
  }
  parcel.kind = Parcel::raw;
  parcel.bytes.resize(size_t(bytes));
  gather(array, parcel.bytes.data());
  return parcel;
}

void unpack(const Parcel& parcel, const MutableView& array, const Execution& execution) {
  if (parcel.kind == Parcel::error)
    throw Error(Errc::io,
                "the sender failed: " + std::string(parcel.bytes.begin(), parcel.bytes.end()));
  if (parcel.kind == Parcel::stream) {
    const MemorySource source(parcel.bytes);
    const StreamReader stream(source);
    if (stream.header().dtype != array.dtype || !(stream.header().shape == array.shape))
      fail_argument("the array that was sent is " + std::string(name_of(stream.header().dtype)) +
                    " " + to_string(stream.header().shape) + ", not " +
                    std::string(name_of(array.dtype)) + " " + to_string(array.shape));
    DecompressOptions options;
    options.execution = execution;
    decompress_into(stream, {}, array, options);
    return;
  }
  if (parcel.bytes.size() != array.shape.size() * size_of(array.dtype))
    fail_argument("the array that was sent has " + std::to_string(parcel.bytes.size()) +
                  " bytes, not " + std::to_string(array.shape.size() * size_of(array.dtype)));
  copy(View(reinterpret_cast<const std::byte*>(parcel.bytes.data()), array.dtype, array.shape),
       array);
}

bool Transfers::test() {
  std::erase_if(open_, [&](const auto& transfer) {
    try {
      return transfer->test();
    } catch (const std::exception&) {  // one that fails has ended
      if (!error_) error_ = std::current_exception();
      return true;
    }
  });
  if (open_.empty() && error_) std::rethrow_exception(std::exchange(error_, nullptr));
  return open_.empty();
}

void Transfers::wait() {
  while (!test()) std::this_thread::yield();
}

bool Followed::test() {
  const bool done = transfer_->test();
  if (done) std::exchange(then_, [] {})();
  return done;
}

void Followed::wait() {
  transfer_->wait();
  (void)test();
}

std::unique_ptr<Transfer> start_send(const Team& team, Parcel parcel, int to) {
  auto send = std::make_unique<Send>(team, to);
  send->add(std::move(parcel), true);
  return send;
}

std::unique_ptr<Transfer> start_send(const Team& team, const View& array, int to,
                                     const CompressOptions& options) {
  auto send = std::make_unique<Send>(team, to);
  const u64 pieces = pieces_of(array.dtype, array.shape);
  try {
    if (is_of_whole(options.bound) && pieces > 1)
      fail_argument(
          "a large array is sent in pieces: its bound is abs, rel, pointwise or lossless, not one "
          "of the whole array");
    const CompressOptions piecewise = for_pieces(array, options);
    const u64 thickness = piece_thickness(array.dtype, array.shape);
    for (u64 i = 0; i < pieces; ++i)
      send->add(pack(array.part(slab(array.shape, i * thickness, thickness)), piecewise),
                i + 1 == pieces);
  } catch (const std::exception& error) {  // the receiver must not wait for what never comes
    const std::string text = error.what();
    send->add({Parcel::error, {text.begin(), text.end()}}, true);
    send->wait();
    throw;
  }
  return send;
}

std::unique_ptr<Transfer> start_receive(const Team& team, const MutableView& array, int from,
                                        const Execution& execution) {
  const u64 thickness = piece_thickness(array.dtype, array.shape);
  const u64 pieces = pieces_of(array.dtype, array.shape);
  return std::make_unique<Receive>(team, from, [=](const Parcel& parcel, u64 index, bool is_last) {
    if (parcel.kind == Parcel::error) return unpack(parcel, array, execution);  // throws it
    // Pieces may fit one by one though the whole does not.
    if (is_last ? index + 1 != pieces : index + 1 >= pieces)
      fail_argument("the array that was sent is " + std::string(is_last ? "smaller" : "larger") +
                    " than " + to_string(array.shape));
    unpack(parcel, array.part(slab(array.shape, index * thickness, thickness)), execution);
  });
}

std::unique_ptr<Transfer> start_receive(const Team& team, Parcel& parcel, int from) {
  return std::make_unique<Receive>(team, from,
                                   [&](const Parcel& arrived, u64, bool) { parcel = arrived; });
}

}  // namespace leeway::parallel

// SPDX-License-Identifier: BSD-3-Clause
// Transfer: an array on its way from one rank to another, compressed. Large arrays go in pieces
// along their slowest axis: one is on its way while the next is compressed, and decoded while the
// next arrives. A piece is an envelope, with the piece in it if that is small, and the rest:
//
//   envelope: u64 bytes that follow, of which the first kEnvelope are in the envelope itself
//             u8 kind: raw values, a stream, or the message of an error of the sender
//
// Nobody needs to know anything before but type and shape. Transfers between two ranks keep their
// order; the next receive from a rank must not start before the last one is done.
#pragma once

#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "leeway/array.h"
#include "leeway/engine/engine.h"
#include "leeway/parallel/team.h"

namespace leeway::parallel {

// Arrays of fewer bytes are sent as they are: compressing them takes longer than sending them.
inline constexpr u64 kSmallMessage = 4096;

// What is sent of an array: streams, or values where that is as small.
struct Parcel {
  enum Kind : u8 { raw = 0, stream = 1, error = 2 };
  Kind kind = raw;
  Bytes bytes;
};
// Compresses an array for sending. If `exact_size` is wanted or bounds refer to the whole array, it
// is one parcel.
Parcel pack(const View& array, const CompressOptions& options, u64 small = kSmallMessage);
void unpack(const Parcel& parcel, const MutableView& array, const Execution& execution);

// How many indices of the slowest axis a piece has.
u64 piece_thickness(DType dtype, const Shape& shape);

class Transfer {
 public:
  virtual ~Transfer() = default;
  // Goes on as far as is possible without waiting; whether all is done. Throws what went wrong.
  virtual bool test() = 0;
  virtual void wait() = 0;
};

// Transfers with several ranks at once: all get on while one waits, so that none stands in the way
// of another. Done when each of them is; an error comes out when all have ended.
class Transfers final : public Transfer {
 public:
  void add(std::unique_ptr<Transfer> transfer) { open_.push_back(std::move(transfer)); }
  bool test() override;
  void wait() override;

 private:
  std::vector<std::unique_ptr<Transfer>> open_;
  std::exception_ptr error_;
};

// A transfer with something to be done once it has ended well.
class Followed final : public Transfer {
 public:
  Followed(std::unique_ptr<Transfer> transfer, std::function<void()> then)
      : then_(std::move(then)), transfer_(std::move(transfer)) {}
  bool test() override;
  void wait() override;

 private:
  std::function<void()> then_;  // what it owns outlives the transfer
  std::unique_ptr<Transfer> transfer_;
};

// Returns when the array is compressed, and free to be changed again.
std::unique_ptr<Transfer> start_send(const Team& team, const View& array, int to,
                                     const CompressOptions& options);
// The array must stay where it is until the transfer is done.
std::unique_ptr<Transfer> start_receive(const Team& team, const MutableView& array, int from,
                                        const Execution& execution);
// The parcels themselves, undecoded; of one piece.
std::unique_ptr<Transfer> start_send(const Team& team, Parcel parcel, int to);
std::unique_ptr<Transfer> start_receive(const Team& team, Parcel& parcel, int from);

}  // namespace leeway::parallel

// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/parallel/team.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace leeway::parallel {
namespace {

constexpr u64 kNobody = ~u64(0);

// A failure as it is sent around.
struct Failure {
  u64 code = 0, lacks_memory = 0;
  std::array<char, 496> message{};
};

void require(int status, const char* what) {
  if (status != 0) throw Error(Errc::io, std::string("the ranks cannot ") + what);
}

}  // namespace

void Team::agree_with(Errc code, bool lacks_memory, const char* message, bool failed) const {
  if (!failed && std::exchange(has_failed_, false))
    return agree_with(Errc::io, false, "the ranks cannot reduce", true);
  u64 who = failed ? u64(rank()) : kNobody;
  has_failed_ = table_.reduce(table_.self, &who, 1, LEEWAY_TEAM_MIN) != 0;
  if (who == kNobody) return;
  Failure failure;
  if (who == u64(rank())) {
    failure.code = u64(code);
    failure.lacks_memory = lacks_memory;
    std::strncpy(failure.message.data(), message, failure.message.size() - 1);
  }
  if (table_.bcast(table_.self, &failure, sizeof failure, int(who)) != 0)
    failure.code = u64(Errc::io);
  throw TeamError(Errc(failure.code), failure.lacks_memory,
                  size() > 1 ? "rank " + std::to_string(who) + ": " + failure.message.data()
                             : failure.message.data());
}

void Team::check_last_step() const {
  if (has_failed_) throw TeamError(Errc::io, false, "the ranks cannot reduce");
}

void Team::agree() const { agree_with({}, false, "", false); }

void Team::fail(Errc code, bool lacks_memory, const char* message) const {
  agree_with(code, lacks_memory, message, true);
  throw Error(Errc::internal, "the ranks do not agree that one has failed");  // it has
}

void Team::bcast(std::span<u8> bytes, int root) const {
  agree();
  require(table_.bcast(table_.self, bytes.data(), bytes.size(), root), "broadcast");
}

void Team::bcast(Bytes& bytes, int root) const {
  u64 count = bytes.size();
  bcast({reinterpret_cast<u8*>(&count), sizeof count}, root);
  bytes.resize(size_t(count));
  bcast(std::span(bytes), root);
}

void Team::reduce(std::span<u64> numbers, int operation) const {
  agree();
  if (!numbers.empty())
    require(table_.reduce(table_.self, numbers.data(), numbers.size(), operation), "reduce");
}

std::vector<Bytes> Team::allgather(ByteView mine) const {
  std::vector<u64> counts(size_t(size()), 0);
  counts[size_t(rank())] = mine.size();
  sum(counts);
  u64 total = 0;
  for (const u64 count : counts) total += count;
  Bytes all(static_cast<size_t>(total));
  agree();
  require(table_.allgatherv(table_.self, mine.data(), all.data(), counts.data()), "gather");
  std::vector<Bytes> apart;
  auto at = all.begin();
  for (const u64 count : counts) {
    apart.emplace_back(at, at + std::ptrdiff_t(count));
    at += std::ptrdiff_t(count);
  }
  return apart;
}

Team::Requests Team::start(std::span<const Outgoing> outgoing,
                           std::span<const Incoming> incoming) const {
  Requests requests;
  requests.open.reserve(outgoing.size() + incoming.size());
  agree();
  for (const Incoming& in : incoming)
    requests.failed |= table_.irecv(table_.self, in.bytes.data(), in.bytes.size(), in.from,
                                    &requests.open.emplace_back()) != 0;
  for (const Outgoing& out : outgoing)
    requests.failed |= table_.isend(table_.self, out.bytes.data(), out.bytes.size(), out.to,
                                    &requests.open.emplace_back()) != 0;
  return requests;
}

void Team::finish(Requests& requests) const {
  for (void*& request : requests.open)
    if (request) requests.failed |= table_.wait(table_.self, &request) != 0;
  require(std::exchange(requests.failed, false), "send messages");
}

}  // namespace leeway::parallel

// SPDX-License-Identifier: BSD-3-Clause
// Team: ranks that work together, and fail together. If one fails in work of its own, all learn of
// it at the beginning of the next step that they take together, and throw the same error: nobody
// waits for somebody who has left.
#pragma once

#include <span>
#include <vector>

#include "leeway/base/bytes.h"
#include "leeway/base/error.h"
#include "leeway/parallel.h"

namespace leeway::parallel {

// A failure that all ranks know of.
class TeamError : public Error {
 public:
  TeamError(Errc code, bool lacks_memory, const std::string& message)
      : Error(code, message), lacks_memory_(lacks_memory) {}
  bool lacks_memory() const { return lacks_memory_; }

 private:
  bool lacks_memory_;
};

class Team {
 public:
  explicit Team(const leeway_team& table) : table_(table) {}
  int rank() const { return table_.rank; }
  int size() const { return table_.size; }
  int nodes() const { return table_.nodes; }
  const leeway_team& table() const { return table_; }

  // Calls f, which takes steps together with the other ranks. If it fails here, the others learn of
  // it, and all throw the error of the lowest rank.
  template <class F>
  void together(F&& f) const {
    try {
      f();
      check_last_step();
    } catch (const TeamError&) {
      throw;
    } catch (const Error& error) {
      fail(error.code(), false, error.what());
    } catch (const std::bad_alloc&) {
      fail(Errc::internal, true, "out of memory");
    } catch (const std::exception& error) {
      fail(Errc::internal, false, error.what());
    }
  }

  // Steps that all take together.
  void agree() const;  // returns if nobody has failed
  void bcast(std::span<u8> bytes, int root) const;
  void bcast(Bytes& bytes, int root) const;  // of a size that only the root knows
  void sum(std::span<u64> numbers) const { reduce(numbers, LEEWAY_TEAM_SUM); }
  void min(std::span<u64> numbers) const { reduce(numbers, LEEWAY_TEAM_MIN); }
  void max(std::span<u64> numbers) const { reduce(numbers, LEEWAY_TEAM_MAX); }
  // Everybody's bytes, by rank.
  std::vector<Bytes> allgather(ByteView mine) const;

  // Messages: each rank says what it sends to whom and what it will receive from whom, one message
  // at most for each pair. Returns when all its own are done.
  struct Outgoing {
    int to;
    ByteView bytes;
  };
  struct Incoming {
    int from;
    std::span<u8> bytes;
  };
  // Calls `meanwhile` when all are on their way.
  template <class F>
  void exchange(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming,
                F&& meanwhile) const {
    Requests requests = start(outgoing, incoming);
    try {
      meanwhile();
    } catch (...) {
      finish(requests);
      throw;
    }
    finish(requests);
  }

 private:
  struct Requests {
    std::vector<void*> open;
    bool failed = false;
  };
  Requests start(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) const;
  void finish(Requests& requests) const;
  void reduce(std::span<u64> numbers, int operation) const;
  void check_last_step() const;
  void agree_with(Errc code, bool lacks_memory, const char* message, bool failed) const;
  [[noreturn]] void fail(Errc code, bool lacks_memory, const char* message) const;

  const leeway_team& table_;
  // Whether agreeing itself has failed here. The others have gone on, and so does this rank, until
  // they agree next time.
  mutable bool has_failed_ = false;
};

}  // namespace leeway::parallel

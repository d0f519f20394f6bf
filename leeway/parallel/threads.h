// SPDX-License-Identifier: BSD-3-Clause
// A team of threads, for tests: what processes do through MPI, threads do through memory.
#pragma once

#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "leeway/parallel/team.h"

namespace leeway::parallel {

class ThreadTeam {
 public:
  explicit ThreadTeam(int size, int nodes = 1) : size_(size), nodes_(nodes) {}

  // Called by each rank before each function of its table; what it returns is what the function
  // returns after it has done its work.
  std::function<int(int rank, const char* function)> fault;

  // Calls f(table) on every rank.
  void run(const std::function<void(const leeway_team&)>& f) {
    std::vector<Rank> ranks;
    for (int rank = 0; rank < size_; ++rank) ranks.push_back({this, rank});
    std::vector<std::thread> threads;
    for (Rank& rank : ranks)
      threads.emplace_back([&] {
        const leeway_team team = table(rank);
        f(team);
      });
    for (std::thread& thread : threads) thread.join();
  }

 private:
  struct Rank {
    ThreadTeam* team;
    int rank;
  };
  struct Request {
    void* data;
    u64 bytes;
    int from;
  };

  leeway_team table(Rank& rank) const {
    leeway_team t{};
    t.self = &rank;
    t.rank = rank.rank;
    t.size = size_;
    t.node = rank.rank * nodes_ / size_;
    t.nodes = nodes_;
    t.bcast = [](void* self, void* data, uint64_t bytes, int root) {
      return on(self, "bcast", [&](ThreadTeam& team, int me) {
        team.all(me, data, [&](const std::vector<void*>& each) {
          if (me != root && bytes > 0) std::memcpy(data, each[size_t(root)], bytes);
        });
      });
    };
    t.allgatherv = [](void* self, const void* mine, void* to, const uint64_t* bytes) {
      return on(self, "allgatherv", [&](ThreadTeam& team, int me) {
        team.all(me, const_cast<void*>(mine), [&](const std::vector<void*>& each) {
          auto* out = static_cast<u8*>(to);
          for (size_t i = 0; i < each.size(); out += bytes[i++])
            if (bytes[i] > 0) std::memcpy(out, each[i], bytes[i]);
        });
      });
    };
    t.reduce = [](void* self, uint64_t* values, uint64_t count, int operation) {
      return on(self, "reduce", [&](ThreadTeam& team, int me) {
        std::vector<u64> result;
        team.all(me, values, [&](const std::vector<void*>& each) {
          const auto value = [&](size_t rank, size_t i) {
            return static_cast<const uint64_t*>(each[rank])[i];
          };
          for (size_t i = 0; i < count; ++i) {
            u64 r = value(0, i);
            for (size_t k = 1; k < each.size(); ++k)
              r = operation == LEEWAY_TEAM_SUM   ? r + value(k, i)
                  : operation == LEEWAY_TEAM_MIN ? std::min<u64>(r, value(k, i))
                                                 : std::max<u64>(r, value(k, i));
            result.push_back(r);
          }
        });
        std::copy(result.begin(), result.end(), values);
      });
    };
    t.isend = [](void* self, const void* data, uint64_t bytes, int to, void** request) {
      *request = nullptr;
      return on(self, "isend", [&](ThreadTeam& team, int me) {
        const auto* first = static_cast<const u8*>(data);
        const std::lock_guard lock(team.mutex_);
        team.mail_[{me, to}].emplace_back(first, first + bytes);
        team.changed_.notify_all();
      });
    };
    t.irecv = [](void* self, void* data, uint64_t bytes, int from, void** request) {
      *request = new Request{data, bytes, from};
      return on(self, "irecv", [](ThreadTeam&, int) {});
    };
    t.test = [](void* self, void** request) {
      return on(self, "test", [&](ThreadTeam& team, int me) {
        std::unique_lock lock(team.mutex_);
        team.receive(me, request);
      });
    };
    t.wait = [](void* self, void** request) {
      return on(self, "wait", [&](ThreadTeam& team, int me) {
        std::unique_lock lock(team.mutex_);
        team.changed_.wait(lock, [&] { return team.receive(me, request); });
      });
    };
    return t;
  }

  template <class F>
  static int on(void* self, const char* function, F&& f) {
    const Rank& rank = *static_cast<Rank*>(self);
    const int status = rank.team->fault ? rank.team->fault(rank.rank, function) : 0;
    f(*rank.team, rank.rank);
    return status;
  }

  // Every rank lays down a pointer, and looks at those of all before anyone goes on.
  template <class F>
  void all(int me, void* pointer, F&& look) {
    {
      std::unique_lock lock(mutex_);
      pointers_.resize(size_t(size_));
      pointers_[size_t(me)] = pointer;
      meet(lock);
    }
    look(pointers_);
    std::unique_lock lock(mutex_);
    meet(lock);
  }
  void meet(std::unique_lock<std::mutex>& lock) {
    const u64 round = round_;
    if (++arrived_ == size_) {
      arrived_ = 0;
      ++round_;
      changed_.notify_all();
    } else {
      changed_.wait(lock, [&] { return round_ != round; });
    }
  }
  // With the lock held: whether the request is done.
  bool receive(int me, void** request) {
    auto* wanted = static_cast<Request*>(*request);
    if (!wanted) return true;
    auto& box = mail_[{wanted->from, me}];
    if (box.empty()) return false;
    // As in MPI, a message may be shorter than the receive says.
    if (!box.front().empty())
      std::memcpy(wanted->data, box.front().data(),
                  std::min<u64>(wanted->bytes, box.front().size()));
    box.pop_front();
    delete wanted;
    *request = nullptr;
    return true;
  }

  int size_, nodes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<void*> pointers_;
  int arrived_ = 0;
  u64 round_ = 0;
  std::map<std::pair<int, int>, std::deque<Bytes>> mail_;
};

}  // namespace leeway::parallel

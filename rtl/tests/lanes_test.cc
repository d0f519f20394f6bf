// SPDX-License-Identifier: BSD-3-Clause
// Pipelines of CEAZ side by side behind AXI4-Stream, which share a maker of books: what each makes
// of its chunks is what one alone makes of them.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "Vlwy_axis_ceaz.h"
#include "Vlwy_ceaz_books.h"
#include "leeway/encode/parts/offline_books.h"
#include "rtl/tests/ceaz_machine.h"

namespace leeway::rtl {
namespace {

constexpr size_t kLanes = 3;
constexpr int kPage = 11;

struct Job {
  LinearGrid<float> grid;
  std::vector<float> values;
  bool follows;
};

class Lanes {
 public:
  explicit Lanes(unsigned percent)
      : module_(std::make_unique<Vlwy_axis_ceaz>(&context_)), stalls_(percent, 7) {
    module_->aresetn = 0;
    cycle([] {});
    module_->aresetn = 1;
    cycle([] {});
  }
  ~Lanes() { module_->final(); }

  void load(const Book& book) {
    const auto codewords = prefix::canonical_codes(book.lengths);
    module_->s_axis_book_tvalid = 1;
    for (size_t token = 0; token < codewords.size(); ++token) {
      module_->s_axis_book_tdata = u16(book.lengths[token] << 12 | codewords[token]);
      module_->s_axis_book_tlast = token + 1 == codewords.size();
      cycle([] {});
    }
    module_->s_axis_book_tvalid = 0;
    module_->interval =
        u32(book.low + Book::kSymbols / 2) | u32(book.lengths.size() - Book::kClasses) << 16;
  }

  // Every lane does its jobs, all lanes at once.
  std::array<std::vector<CeazStreams>, kLanes> run(
      const std::array<std::vector<Job>, kLanes>& jobs) {
    std::array<Lane, kLanes> lanes;
    for (size_t k = 0; k < kLanes; ++k) lanes[k].jobs = &jobs[k];
    for (u64 patience = 0; patience < 5'000'000; ++patience) {
      bool are_done = true;
      for (size_t k = 0; k < kLanes; ++k) {
        offer(lanes[k], k);
        are_done &= lanes[k].is_done();
      }
      if (are_done) break;
      cycle([&] {
        for (size_t k = 0; k < kLanes; ++k) take(lanes[k], k);
      });
    }
    std::array<std::vector<CeazStreams>, kLanes> made;
    for (size_t k = 0; k < kLanes; ++k) {
      EXPECT_TRUE(lanes[k].is_done()) << "lane " << k << " hangs";
      made[k] = std::move(lanes[k].made);
    }
    return made;
  }

 private:
  struct Lane {
    const std::vector<Job>* jobs = nullptr;
    std::vector<CeazStreams> made;
    size_t in = 0, raws = 0, words = 0;
    bool is_open = false;
    Arriving word, raw, change;
    bool is_done() const { return made.size() == jobs->size(); }
    const Job& job() const { return (*jobs)[made.size()]; }
    size_t pages() const { return ((job().values.size() - 1) >> kPage) + 1; }
    size_t changes() const { return job().follows && pages() > 2 ? pages() - 2 : 0; }
    // Streams of codewords that the chunk has.
    size_t streams() const {
      size_t count = 0;
      for (size_t left = job().values.size(); left > 0;) {
        const size_t n = std::min(left, size_t(1) << kPage);
        for (size_t k = 0; k < prefix::kStreams; ++k)
          count += prefix::quarter(n, k + 1) > prefix::quarter(n, k);
        left -= n;
      }
      return count;
    }
  };
  template <class Port>
  static void set_bit(Port& port, size_t k, bool value) {
    port = Port((port & ~(Port(1) << k)) | Port(value) << k);
  }
  static bool bit(u32 port, size_t k) { return port >> k & 1; }

  void offer(Lane& lane, size_t k) {
    const bool works = !lane.is_done();
    set_bit(module_->s_axis_chunk_tvalid, k, works && !lane.is_open);
    if (works && !lane.is_open) offer_chunk(lane.job(), k);
    const bool offers = works && lane.is_open && lane.in < lane.job().values.size();
    set_bit(module_->s_axis_tvalid, k, offers && !stalls_());
    if (offers) module_->s_axis_tdata[k] = std::bit_cast<u32>(lane.job().values[lane.in]);
    set_bit(module_->m_axis_tready, k, !stalls_());
    set_bit(module_->m_axis_raw_tready, k, !stalls_());
    set_bit(module_->m_axis_change_tready, k, !stalls_());
  }
  void offer_chunk(const Job& job, size_t k) {
    const auto put = [&](size_t word, u32 value) {
      module_->s_axis_chunk_tdata[7 * k + word] = value;
    };
    put(0, std::bit_cast<u32>(job.grid.short_step));
    put(1, std::bit_cast<u32>(job.grid.short_inverse));
    put(2, std::bit_cast<u32>(job.grid.short_limit));
    put(3, u32(job.values.size()));
    put(4, u32(job.values.size() - 1));
    put(5, 0);
    put(6, 1 | u32(kPage) << 8 | u32(job.follows) << 16);
  }
  void take(Lane& lane, size_t k) {
    if (lane.is_done()) return;
    if (bit(module_->s_axis_chunk_tvalid & module_->s_axis_chunk_tready, k)) lane.is_open = true;
    lane.in += bit(module_->s_axis_tvalid & module_->s_axis_tready, k);
    const auto bytes_of = [&](u32 keep) { return u32(std::popcount(keep >> 4 * k & 15)); };
    if (bit(module_->m_axis_tvalid & module_->m_axis_tready, k))
      lane.word.put(module_->m_axis_tdata[k], bytes_of(module_->m_axis_tkeep),
                    bit(module_->m_axis_tlast, k));
    bool is_bad = false;
    if (bit(module_->m_axis_raw_tvalid & module_->m_axis_raw_tready, k)) {
      lane.raw.put(module_->m_axis_raw_tdata[k], bytes_of(module_->m_axis_raw_tkeep),
                   bit(module_->m_axis_raw_tlast, k));
      is_bad = bit(module_->m_axis_raw_tuser, k);
    }
    if (bit(module_->m_axis_change_tvalid & module_->m_axis_change_tready, k))
      lane.change.put(module_->m_axis_change_tdata >> 8 * k, 1,
                      bit(module_->m_axis_change_tlast, k));
    lane.raws = lane.raw.done.size(), lane.words = lane.word.done.size();
    if (lane.is_open && is_bad) is_bad_[k] = true;
    if (lane.in == lane.job().values.size() && lane.raws == lane.pages() &&
        lane.words == lane.streams() && lane.change.done.size() == lane.changes()) {
      lane.made.push_back({std::move(lane.word.done), std::move(lane.raw.done),
                           std::move(lane.change.done), std::exchange(is_bad_[k], false)});
      lane.word.done.clear(), lane.raw.done.clear(), lane.change.done.clear();
      lane.in = 0, lane.is_open = false;
    }
  }
  template <class Look>
  void cycle(Look&& look) {
    module_->aclk = 0;
    module_->eval();
    look();
    module_->aclk = 1;
    module_->eval();
  }

  VerilatedContext context_;
  std::unique_ptr<Vlwy_axis_ceaz> module_;
  Stalls stalls_;
  std::array<bool, kLanes> is_bad_{};
};

Job some_job(std::mt19937_64& random, bool follows) {
  constexpr size_t kCounts[] = {1, 3000, 10'000, 40'000};
  const double bound = std::exp2(double(random() % 8) - 12);
  Job job{LinearGrid<float>(bound), std::vector<float>(kCounts[random() % 4]), follows};
  double scale = 0.1;
  for (size_t i = 0; i < job.values.size(); ++i) {
    if (i % 5000 == 0) scale = std::exp2(double(random() % 80) / 10 - 9);
    job.values[i] = float(scale * (double(random() % 2001) / 1000 - 1));
  }
  if (random() % 8 == 0) job.values[job.values.size() / 2] = 1e9f;  // has no code
  return job;
}

TEST(RtlLanes, ManyMakeWhatOneMakes) {
  std::mt19937_64 random(1);
  for (const unsigned percent : {0u, 30u}) {
    std::array<std::vector<Job>, kLanes> jobs;
    for (auto& some : jobs)
      for (int k = 0; k < 6; ++k) some.push_back(some_job(random, k % 3 != 2));
    Lanes lanes(percent);
    lanes.load(offline_book(kCommonBook));
    const auto made = lanes.run(jobs);
    CeazMachine<Vlwy_ceaz_books> one;
    one.load(offline_book(kCommonBook));
    for (size_t k = 0; k < kLanes; ++k)
      for (size_t job = 0; job < made[k].size(); ++job) {
        const Job& work = jobs[k][job];
        one.follow(work.follows);
        const CeazStreams wanted = one.run(work.grid, {work.values.size()}, kPage, work.values);
        const CeazStreams& found = made[k][job];
        EXPECT_EQ(found.is_bad, wanted.is_bad) << k << ' ' << job;
        EXPECT_TRUE(found.words == wanted.words) << k << ' ' << job;
        EXPECT_TRUE(found.raw == wanted.raw) << k << ' ' << job;
        EXPECT_TRUE(found.changes == wanted.changes) << k << ' ' << job;
      }
  }
}

}  // namespace
}  // namespace leeway::rtl

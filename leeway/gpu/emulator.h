// SPDX-License-Identifier: BSD-3-Clause
// Emulator: runs kernels on the processor, as unfriendly as a GPU may be, and watches them.
//
// Every lane is a fiber. A scheduler, deterministic by its seed, decides which CTA, which wave and
// which lane goes on; lanes change only where they wait for each other. What runs as a lane is a
// function: a kernel (simt_emulator.h), or anything else that calls the functions below.
//
//   lanes       in any order between tile operations
//   CTAs        a few resident at a time, started in any order, held up by an adversary
//   shared      every access is checked against those of other threads since the last barrier or
//   memory      tile_sync(): a race is a fault; so is reading what nobody has written
//   global      accesses are aligned and inside a region that was declared; stores stay in a buffer
//   memory      of the CTA until fence(), or leave it at random, in any order; atomic and relaxed
//               accesses do not wait for them
//   waiting     an operation that only a part of the lanes reaches, or a wait without end, is a
//   fault
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace leeway::gpu::emulator {

enum class Adversary : std::uint8_t { random, starve_oldest, newest_first, one_by_one };
// What a kernel would do if it were wrong: tests see that the emulator notices.
enum class Mutant : std::uint8_t {
  none,
  no_fence,     // fence() does nothing
  cta_order,    // tickets are numbers of CTAs
  split_state,  // store_relaxed() is two stores
  no_barrier    // a barrier lets a tile through when the tile has come
};
enum class Access : std::uint8_t { read, write, atomic };

// Memory that a kernel may use.
struct Region {
  std::string name;
  const void* begin;
  std::size_t bytes;
  bool writable;
  bool is_written;  // whether it has content before the kernel runs
};

struct Options {
  std::uint64_t seed = 1;
  unsigned resident = 3;  // CTAs at a time
  unsigned wave = 32;     // lanes that are scheduled together: 32 or 64
  Adversary adversary = Adversary::random;
  bool watches = true;      // races and unwritten memory
  bool late_stores = true;  // the buffers of stores
  Mutant mutant = Mutant::none;
};

// What a kernel has done.
struct Counts {
  std::uint64_t global_reads = 0, global_writes = 0;  // bytes
  std::uint64_t requests = 0, sectors = 0;            // of reads and writes by tiles
  std::uint64_t tile_operations = 0, barriers = 0, atomics = 0, spins = 0;
};

struct Launch {
  unsigned ctas, threads;
  std::size_t shared_bytes;
  std::vector<Region> regions;
};

// Runs body(shared memory of the CTA) in every thread of every CTA. Throws leeway::Error with the
// reason if there is a fault.
Counts run(const Launch& launch, const Options& options, const std::function<void(void*)>& body);

// For what runs as a lane.
std::uint32_t thread();
std::uint32_t cta();
std::uint32_t ctas();
void* shared_memory();
void barrier();
void tile_sync();
// The value of another lane of the tile.
std::uint64_t shuffle(std::uint64_t value, std::uint32_t from);
std::uint32_t ballot(bool vote);
void shared_access(const void* at, std::size_t bytes, Access access);
void read(const void* from, void* to, std::size_t bytes);
void write(void* to, const void* from, std::size_t bytes);
std::uint32_t take_ticket(std::uint32_t* counter);
void global_max(std::uint64_t* number, std::uint64_t value);
std::uint64_t load_relaxed(const std::uint64_t* from);
void store_relaxed(std::uint64_t* to, std::uint64_t value);
void fence();
// This lane waits for another CTA.
void spin();
// Ends the run.
[[noreturn]] void fault(const std::string& reason);

}  // namespace leeway::gpu::emulator

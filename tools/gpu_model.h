// SPDX-License-Identifier: BSD-3-Clause
// GPU model: how fast a GPU would compress, from the bytes and instructions that a value takes
// (docs/notes/gpu-model.md). Nothing here was measured on a GPU by us.
#pragma once

#include <string>
#include <vector>

#include "leeway/leeway.hpp"
#include "tools/printed_table.h"

namespace leeway::cli {

// What NVIDIA says of a GPU.
struct Gpu {
  const char* name;
  const char* title;
  double peak;  // bytes a second of its memory
  unsigned sms;
  double clock;  // Hz
  double lanes;  // integer operations an SM starts in a cycle
};
const std::vector<Gpu>& known_gpus();
const Gpu& find_gpu(const std::string& name);

// The paper of cuSZp2 and what the model says of it.
std::vector<Printed> printed_by_cuszp2();

// What one direction takes for a value, on average.
struct Work {
  double read = 0, written = 0;  // bytes
  double moved = 0;              // bytes of the sectors of 32 bytes that these touch
  double instructions = 0;       // of the machine
  double fast = 0;               // share of the values that take the fast path
};
// Values a second that each resource of a GPU allows.
struct Limits {
  double memory, arithmetic, issue;
  double least() const;
  const char* name() const;
};
Limits limits_of(const Gpu& gpu, const Work& work);

struct Prediction {
  u64 chunks_tried = 0, chunks = 0;
  double ratio = 0;
  Work compress, decompress;
  double range = 0;  // bytes a value that a relative bound reads before
};
// Runs kernels on the emulator, on chunks from all over the field.
Prediction predict(const View& view, CompressOptions options);

// Seconds for a field: kernels, and what starts them.
double seconds_of(const Gpu& gpu, const Work& work, double range, double values);

}  // namespace leeway::cli

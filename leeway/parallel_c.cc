// SPDX-License-Identifier: BSD-3-Clause
// The C interface of leeway/parallel/. Nothing is thrown across it, and no rank returns before the
// others have learned that it failed.
#include "leeway/c_context.h"
#include "leeway/parallel.h"
#include "leeway/parallel/read.h"
#include "leeway/parallel/write.h"

namespace leeway::parallel {
namespace {

// Runs f(team) as guarded() does, on all ranks; what fails on one fails on all.
template <class F>
leeway_status together(leeway_context* context, const leeway_team* table, F&& f) noexcept {
  if (!table) return LEEWAY_INVALID_ARGUMENT;
  const Team team(*table);
  if (!context) {
    try {
      team.together([] { fail_argument("no context given"); });
    } catch (...) {  // there is nowhere to put the message
    }
    return LEEWAY_INVALID_ARGUMENT;
  }
  const bool lost_setting = std::exchange(context->lacks_memory, false);
  bool lacks_memory = false;
  const leeway_status status = guarded(context, [&] {
    try {
      team.together([&] {
        if (lost_setting) throw std::bad_alloc();
        f(team);
      });
    } catch (const TeamError& error) {
      lacks_memory = error.lacks_memory();
      throw;
    }
  });
  context->lacks_memory = lost_setting;
  return lacks_memory ? LEEWAY_OUT_OF_MEMORY : status;
}

Index index_of(const leeway_block& block) {
  Index first{};
  require(block.first || block.array.rank == 0, "no first index of a block given");
  if (block.array.rank > 0) std::copy_n(block.first, block.array.rank, first.begin());
  return first;
}

}  // namespace
}  // namespace leeway::parallel

using leeway::require;
using namespace leeway::parallel;

leeway_status leeway_team_write(leeway_context* context, const leeway_team* team, const char* path,
                                int dtype, int rank, const uint64_t* shape, size_t blocks,
                                const leeway_block* block, const leeway_write_options* options,
                                leeway_write_report* report) {
  return together(context, team, [&](const Team& ranks) {
    require(path, "no file given");
    require(blocks == 0 || block, "no blocks given");
    leeway_array whole = {nullptr, dtype, rank, shape, nullptr};
    const auto array = leeway::view_of_array<const std::byte>(&whole);
    std::vector<Block> own;
    for (size_t i = 0; i < blocks; ++i) {
      const auto view = leeway::view_to_read(&block[i].array);
      require(view.dtype == array.dtype, "a block has another type than the array");
      own.push_back({index_of(block[i]), view});
    }
    const leeway_write_report made = write(ranks, path, array.dtype, array.shape, own,
                                           context->options, options ? *options : leeway_write_options{});
    if (report) *report = made;
  });
}

leeway_status leeway_team_read(leeway_context* context, const leeway_team* team, const char* path,
                               size_t blocks, const leeway_block* block) {
  return together(context, team, [&](const Team& ranks) {
    require(path, "no file given");
    require(blocks == 0 || block, "no blocks given");
    std::vector<Wish> wishes;
    for (size_t i = 0; i < blocks; ++i)
      wishes.push_back({index_of(block[i]), leeway::view_to_fill(&block[i].array)});
    leeway::DecompressOptions options;
    options.execution = context->options.execution;
    options.salvage = context->salvage;
    context->damage = {};
    context->damage = read(ranks, path, wishes, options);
  });
}

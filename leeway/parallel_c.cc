// SPDX-License-Identifier: BSD-3-Clause
// The C interface of leeway/parallel/. Nothing is thrown across it, and no rank returns before the
// others have learned that it failed.
#include <climits>
#include <memory>

#include "leeway/c_context.h"
#include "leeway/parallel.h"
#include "leeway/parallel/append.h"
#include "leeway/parallel/collectives.h"
#include "leeway/parallel/pending.h"
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

// One array of each rank.
template <class V>
std::vector<V> all_parts(const Team& team, const leeway_array* parts, V view(const leeway_array*)) {
  require(parts, "no parts given");
  std::vector<V> views;
  for (int rank = 0; rank < team.size(); ++rank) views.push_back(view(parts + rank));
  return views;
}
template <class V>
std::vector<V> parts_at(const Team& team, int root, const leeway_array* parts,
                        V view(const leeway_array*)) {
  return team.rank() == root ? all_parts(team, parts, view) : std::vector<V>();
}

void hand_out(std::vector<Bytes> from, leeway_buffer** streams) {
  std::vector<std::unique_ptr<leeway_buffer>> buffers;
  for (Bytes& bytes : from)
    buffers.push_back(std::make_unique<leeway_buffer>(leeway_buffer{std::move(bytes)}));
  for (size_t i = 0; i < buffers.size(); ++i) streams[i] = buffers[i].release();
}

void check_reduction(leeway_operation operation, int route) {
  require(operation >= LEEWAY_OPERATION_SUM && operation <= LEEWAY_OPERATION_MEAN,
          "an operation that does not exist");
  require(route >= 0 && route <= LEEWAY_ROUTE_DOUBLING, "a route that does not exist");
}

void check_partner(const leeway_team* team, int rank) {
  require(team, "no team given");
  if (rank < 0 || rank >= team->size) fail_argument("there is no rank " + std::to_string(rank));
}

}  // namespace
}  // namespace leeway::parallel

// A transfer, and the team that its functions are called of.
struct leeway_transfer {
  explicit leeway_transfer(const leeway_team& table) : team(table) {}
  leeway::parallel::Team team;
  std::unique_ptr<leeway::parallel::Transfer> transfer;
};

using leeway::guarded;
using leeway::require;
using leeway::view_to_fill;
using leeway::view_to_read;
using namespace leeway::parallel;

using PutTogether = leeway_write_report (*)(const Team&, const std::string&, leeway::DType,
                                            const leeway::Shape&, std::span<const Block>,
                                            const leeway::CompressOptions&,
                                            const leeway_write_options&);

// What leeway_team_write() and leeway_team_append() have in common.
static leeway_status put(leeway_context* context, const leeway_team* team, const char* path,
                         const leeway_array& whole, size_t blocks, const leeway_block* block,
                         const leeway_write_options* options, leeway_write_report* report,
                         PutTogether put_together) {
  return together(context, team, [&](const Team& ranks) {
    require(path, "no file given");
    require(blocks == 0 || block, "no blocks given");
    const auto array = leeway::view_of_array<const std::byte>(&whole);
    std::vector<Block> own;
    for (size_t i = 0; i < blocks; ++i) {
      const auto view = view_to_read(&block[i].array);
      require(view.dtype == array.dtype, "a block has another type than the array");
      own.push_back({index_of(block[i]), view});
    }
    const leeway_write_report made =
        put_together(ranks, path, array.dtype, array.shape, own, context->options,
                     options ? *options : leeway_write_options{});
    if (report) *report = made;
  });
}

leeway_status leeway_team_write(leeway_context* context, const leeway_team* team, const char* path,
                                int dtype, int rank, const uint64_t* shape, size_t blocks,
                                const leeway_block* block, const leeway_write_options* options,
                                leeway_write_report* report) {
  const leeway_array whole = {nullptr, dtype, rank, shape, nullptr};
  return put(context, team, path, whole, blocks, block, options, report, leeway::parallel::write);
}

leeway_status leeway_team_append(leeway_context* context, const leeway_team* team, const char* path,
                                 int dtype, int rank, const uint64_t* shape, size_t blocks,
                                 const leeway_block* block, const leeway_write_options* options,
                                 leeway_write_report* report) {
  const leeway_array whole = {nullptr, dtype, rank, shape, nullptr};
  return put(context, team, path, whole, blocks, block, options, report, leeway::parallel::append);
}

leeway_status leeway_append_file(leeway_context* context, const char* path,
                                 const leeway_array* rows) {
  static const uint64_t origin[LEEWAY_MAX_RANK] = {0};
  const leeway_team alone = team_of_one();
  if (!rows) return guarded(context, [] { require(false, "no array given"); });
  const leeway_block block = {origin, *rows};
  return leeway_team_append(context, &alone, path, rows->dtype, rows->rank, rows->shape, 1, &block,
                            nullptr, nullptr);
}

leeway_status leeway_team_read(leeway_context* context, const leeway_team* team, const char* path,
                               size_t blocks, const leeway_block* block) {
  return together(context, team, [&](const Team& ranks) {
    require(path, "no file given");
    require(blocks == 0 || block, "no blocks given");
    std::vector<Wish> wishes;
    for (size_t i = 0; i < blocks; ++i)
      wishes.push_back({index_of(block[i]), view_to_fill(&block[i].array)});
    leeway::DecompressOptions options;
    options.execution = context->options.execution;
    options.salvage = context->salvage;
    context->damage = {};
    context->damage = read(ranks, path, wishes, options);
  });
}

// Makes a transfer by start(team), and hands it out.
template <class F>
static leeway_status start(leeway_context* context, const leeway_team* team,
                           leeway_transfer** transfer, F&& start_of) {
  return guarded(context, [&] {
    require(team, "no team given");
    require(transfer, "nowhere to put the transfer");
    auto made = std::make_unique<leeway_transfer>(*team);
    made->transfer = start_of(made->team);
    *transfer = made.release();
  });
}

leeway_status leeway_team_isend(leeway_context* context, const leeway_team* team,
                                const leeway_array* array, int to, leeway_transfer** transfer) {
  return start(context, team, transfer, [&](const Team& ranks) {
    check_partner(team, to);
    return start_send(ranks, view_to_read(array), to, context->options);
  });
}

leeway_status leeway_team_ireceive(leeway_context* context, const leeway_team* team,
                                   const leeway_array* array, int from,
                                   leeway_transfer** transfer) {
  return start(context, team, transfer, [&](const Team& ranks) {
    check_partner(team, from);
    return start_receive(ranks, view_to_fill(array), from, context->options.execution);
  });
}

leeway_status leeway_team_ibcast(leeway_context* context, const leeway_team* team,
                                 const leeway_array* array, int root, leeway_transfer** transfer) {
  return start(context, team, transfer, [&](const Team& ranks) {
    return start_bcast(ranks, view_to_fill(array), root, context->options);
  });
}

leeway_status leeway_team_igather(leeway_context* context, const leeway_team* team,
                                  const leeway_array* mine, const leeway_array* parts, int root,
                                  leeway_transfer** transfer) {
  return start(context, team, transfer, [&](const Team& ranks) {
    return start_gather(ranks, view_to_read(mine), parts_at(ranks, root, parts, view_to_fill), root,
                        context->options);
  });
}

leeway_status leeway_team_iscatter(leeway_context* context, const leeway_team* team,
                                   const leeway_array* parts, const leeway_array* mine, int root,
                                   leeway_transfer** transfer) {
  return start(context, team, transfer, [&](const Team& ranks) {
    return start_scatter(ranks, parts_at(ranks, root, parts, view_to_read), view_to_fill(mine),
                         root, context->options);
  });
}

leeway_status leeway_team_iallgather(leeway_context* context, const leeway_team* team,
                                     const leeway_array* mine, const leeway_array* parts,
                                     leeway_transfer** transfer) {
  return start(context, team, transfer, [&](const Team& ranks) {
    return start_allgather(ranks, view_to_read(mine), all_parts(ranks, parts, view_to_fill),
                           context->options);
  });
}

leeway_status leeway_team_igather_streams(leeway_context* context, const leeway_team* team,
                                          const leeway_array* mine, leeway_buffer** streams,
                                          int root, leeway_transfer** transfer) {
  return start(context, team, transfer, [&](const Team& ranks) -> std::unique_ptr<Transfer> {
    require(streams || ranks.rank() != root, "nowhere to put the streams");
    const auto gathered = std::make_shared<std::vector<leeway::Bytes>>();
    return std::make_unique<Followed>(
        start_gather_streams(ranks, view_to_read(mine), *gathered, root, context->options),
        [gathered, streams] { hand_out(*gathered, streams); });
  });
}

static leeway_status start_reduce_to(leeway_context* context, const leeway_team* team,
                                     const leeway_array* mine, const leeway_array* result,
                                     leeway_operation operation, int root, int route,
                                     leeway_transfer** transfer) {
  return start(context, team, transfer, [&](const Team& ranks) {
    check_reduction(operation, route);
    const bool gets = root == kAll || root == ranks.rank();
    const leeway::MutableView out = gets ? view_to_fill(result) : leeway::MutableView();
    return start_reduce(ranks, view_to_read(mine), gets ? &out : nullptr, Operation(operation),
                        root, Route(route), context->options);
  });
}

leeway_status leeway_team_iallreduce(leeway_context* context, const leeway_team* team,
                                     const leeway_array* mine, const leeway_array* result,
                                     leeway_operation operation, int route,
                                     leeway_transfer** transfer) {
  return start_reduce_to(context, team, mine, result, operation, kAll, route, transfer);
}

leeway_status leeway_team_ireduce(leeway_context* context, const leeway_team* team,
                                  const leeway_array* mine, const leeway_array* result,
                                  leeway_operation operation, int root,
                                  leeway_transfer** transfer) {
  return start_reduce_to(context, team, mine, result, operation, root < 0 ? INT_MAX : root, 0,
                         transfer);
}

leeway_status leeway_transfer_test(leeway_context* context, leeway_transfer** transfer, int* done) {
  return guarded(context, [&] {
    require(transfer && done, "no transfer given");
    *done = 1;
    std::unique_ptr<leeway_transfer> open(std::exchange(*transfer, nullptr));
    if (!open || open->transfer->test()) return;
    *done = 0;
    *transfer = open.release();
  });
}

leeway_status leeway_transfer_wait(leeway_context* context, leeway_transfer** transfer) {
  return guarded(context, [&] {
    require(transfer, "no transfer given");
    const std::unique_ptr<leeway_transfer> open(std::exchange(*transfer, nullptr));
    if (open) open->transfer->wait();
  });
}

leeway_status leeway_team_send(leeway_context* context, const leeway_team* team,
                               const leeway_array* array, int to) {
  leeway_transfer* transfer = nullptr;
  const leeway_status status = leeway_team_isend(context, team, array, to, &transfer);
  return status == LEEWAY_OK ? leeway_transfer_wait(context, &transfer) : status;
}

leeway_status leeway_team_receive(leeway_context* context, const leeway_team* team,
                                  const leeway_array* array, int from) {
  leeway_transfer* transfer = nullptr;
  const leeway_status status = leeway_team_ireceive(context, team, array, from, &transfer);
  return status == LEEWAY_OK ? leeway_transfer_wait(context, &transfer) : status;
}

leeway_status leeway_team_bcast(leeway_context* context, const leeway_team* team,
                                const leeway_array* array, int root) {
  return together(context, team, [&](const Team& ranks) {
    bcast(ranks, view_to_fill(array), root, context->options);
  });
}

leeway_status leeway_team_gather(leeway_context* context, const leeway_team* team,
                                 const leeway_array* mine, const leeway_array* parts, int root) {
  return together(context, team, [&](const Team& ranks) {
    gather(ranks, view_to_read(mine), parts_at(ranks, root, parts, view_to_fill), root,
           context->options);
  });
}

leeway_status leeway_team_gather_streams(leeway_context* context, const leeway_team* team,
                                         const leeway_array* mine, leeway_buffer** streams,
                                         int root) {
  return together(context, team, [&](const Team& ranks) {
    require(streams || ranks.rank() != root, "nowhere to put the streams");
    hand_out(gather_streams(ranks, view_to_read(mine), root, context->options), streams);
  });
}

leeway_status leeway_team_scatter(leeway_context* context, const leeway_team* team,
                                  const leeway_array* parts, const leeway_array* mine, int root) {
  return together(context, team, [&](const Team& ranks) {
    scatter(ranks, parts_at(ranks, root, parts, view_to_read), view_to_fill(mine), root,
            context->options);
  });
}

leeway_status leeway_team_allgather(leeway_context* context, const leeway_team* team,
                                    const leeway_array* mine, const leeway_array* parts) {
  return together(context, team, [&](const Team& ranks) {
    allgather(ranks, view_to_read(mine), all_parts(ranks, parts, view_to_fill), context->options);
  });
}

static leeway_status reduce_to(leeway_context* context, const leeway_team* team,
                               const leeway_array* mine, const leeway_array* result,
                               leeway_operation operation, int root, int route) {
  return together(context, team, [&](const Team& ranks) {
    check_reduction(operation, route);
    const bool gets = root == kAll || root == ranks.rank();
    leeway::MutableView out;
    if (gets) out = view_to_fill(result);
    reduce(ranks, view_to_read(mine), gets ? &out : nullptr, Operation(operation), root,
           Route(route), context->options);
  });
}

leeway_status leeway_team_allreduce(leeway_context* context, const leeway_team* team,
                                    const leeway_array* mine, const leeway_array* result,
                                    leeway_operation operation, int route) {
  return reduce_to(context, team, mine, result, operation, kAll, route);
}

leeway_status leeway_team_reduce(leeway_context* context, const leeway_team* team,
                                 const leeway_array* mine, const leeway_array* result,
                                 leeway_operation operation, int root) {
  return reduce_to(context, team, mine, result, operation, root < 0 ? INT_MAX : root, 0);
}

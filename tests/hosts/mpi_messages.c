/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays as messages under MPI, for test_mpi.py:
 *   mpi_messages VALUES CASES SEED
 * Every way to send an array is tried with VALUES values; then CASES random reductions of a few
 * values each. Errors are compared with their bounds, and results of all ranks with each other, bit
 * by bit. Prints what was tried, and how large the errors of sums were. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leeway_mpi.h"

enum { kMostRanks = 16 };
static const double kBound = 1e-3;

static leeway_team team;
static leeway_context* leeway;
static uint64_t count;

static void must(int is_well, const char* what) {
  if (is_well) return;
  fprintf(stderr, "rank %d: %s: %s\n", team.rank, what, leeway_message(leeway));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static float field(int rank, uint64_t i) { return sinf(0.01f * (float)i) + (float)rank; }

static float* filled(int rank) {
  float* values = malloc(count * sizeof *values + 1);
  for (uint64_t i = 0; i < count; ++i) values[i] = rank < 0 ? NAN : field(rank, i);
  return values;
}

static leeway_array array_of(float* values) {
  const leeway_array array = {values, LEEWAY_F32, 1, &count, NULL};
  return array;
}

static void expect_field(const float* values, int rank, double bound, const char* what) {
  for (uint64_t i = 0; i < count; ++i)
    must(fabs((double)values[i] - field(rank, i)) <= bound, what);
}

/* All ranks have the same bits. */
static void expect_same(const void* data, uint64_t bytes, const char* what) {
  char* first = malloc(bytes + 1);
  memcpy(first, data, bytes);
  MPI_Bcast(first, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  must(memcmp(first, data, bytes) == 0, what);
  free(first);
}

static void finish(leeway_transfer* transfer, const char* what) {
  for (int done = 0; !done;)
    must(leeway_transfer_test(leeway, &transfer, &done) == LEEWAY_OK, what);
}

static void try_arrays(void) {
  const int me = team.rank, ranks = team.size, next = (me + 1) % ranks;
  const int before = (me + ranks - 1) % ranks, root = ranks - 1;
  float *mine = filled(me), *other = filled(-1), *parts[kMostRanks];
  const leeway_array own = array_of(mine), from = array_of(other);
  leeway_array all[kMostRanks];
  leeway_buffer* streams[kMostRanks] = {NULL};
  leeway_transfer *send = NULL, *receive = NULL;
  for (int i = 0; i < ranks; ++i) all[i] = array_of(parts[i] = filled(-1));

  must(leeway_team_ireceive(leeway, &team, &from, before, &receive) == LEEWAY_OK, "receive");
  must(leeway_team_isend(leeway, &team, &own, next, &send) == LEEWAY_OK, "send");
  finish(receive, "receive"), finish(send, "send");
  expect_field(other, before, kBound, "what was received");

  for (int waits = 0; waits < 2; ++waits) {
    leeway_transfer* transfer = NULL;
    if (waits)
      must(leeway_team_gather(leeway, &team, &own, all, root) == LEEWAY_OK, "gather");
    else
      must(leeway_team_igather(leeway, &team, &own, all, root, &transfer) == LEEWAY_OK, "igather");
    finish(transfer, "gather");
    for (int i = 0; me == root && i < ranks; ++i)
      expect_field(parts[i], i, i == me ? 0 : kBound, "what was gathered");
    if (waits)
      must(leeway_team_gather_streams(leeway, &team, &own, streams, 0) == LEEWAY_OK, "streams");
    else
      must(leeway_team_igather_streams(leeway, &team, &own, streams, 0, &transfer) == LEEWAY_OK,
           "streams");
    finish(transfer, "streams");
    for (int i = 0; me == 0 && i < ranks; ++i) {
      must(leeway_decompress(leeway, leeway_buffer_data(streams[i]), leeway_buffer_size(streams[i]),
                             &from) == LEEWAY_OK,
           "decompress");
      leeway_buffer_free(streams[i]);
      expect_field(other, i, kBound, "what a stream held");
    }
    if (waits)
      must(leeway_team_allgather(leeway, &team, &own, all) == LEEWAY_OK, "allgather");
    else
      must(leeway_team_iallgather(leeway, &team, &own, all, &transfer) == LEEWAY_OK, "allgather");
    finish(transfer, "allgather");
    for (int i = 0; i < ranks; ++i) {
      expect_field(parts[i], i, kBound, "what all gathered");
      expect_same(parts[i], count * sizeof(float), "bits of allgather");
    }
    if (waits)
      must(leeway_team_scatter(leeway, &team, all, &from, root) == LEEWAY_OK, "scatter");
    else
      must(leeway_team_iscatter(leeway, &team, all, &from, root, &transfer) == LEEWAY_OK,
           "scatter");
    finish(transfer, "scatter");
    expect_field(other, me, 2 * kBound, "what was scattered");
    if (waits)
      must(leeway_team_bcast(leeway, &team, &from, root) == LEEWAY_OK, "bcast");
    else
      must(leeway_team_ibcast(leeway, &team, &from, root, &transfer) == LEEWAY_OK, "bcast");
    finish(transfer, "bcast");
    expect_field(other, root, 3 * kBound, "what was broadcast");
    expect_same(other, count * sizeof(float), "bits of bcast");
  }
  for (int i = 0; i < ranks; ++i) free(parts[i]);
  free(mine), free(other);
}

/* ---- reductions ---- */
static uint64_t state;
static double uniform(void) { /* the same numbers on all ranks: in [-1, 1) */
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(state & ~(uint64_t)2047) * 0x1p-63;
}
static uint64_t below(uint64_t n) { return (uint64_t)((uniform() + 1) * 0.5 * (double)n) % n; }

static double some_value(uint64_t kind) {
  const double x = uniform();
  const uint64_t one_of = below(9);
  if (kind == 1) return 1e6 * x;
  if (kind == 2) return ldexp(x, (int)below(120) - 60);
  if (kind == 3 && one_of == 0) return NAN;
  if (kind == 3 && one_of == 1) return x > 0 ? INFINITY : -INFINITY;
  if (kind == 4 && one_of < 2) return 1e30 * x;
  return kind == 5 ? 1e-6 * x : x;
}

static double worst; /* error of a sum as a part of its bound */

/* One reduction by one route, waiting or not. */
static void reduce(const leeway_array* mine, const leeway_array* result, int operation, int turn) {
  const int route = turn % 4;
  if (turn % 2) {
    leeway_transfer* transfer = NULL;
    must(leeway_team_iallreduce(leeway, &team, mine, result, (leeway_operation)operation, route,
                                &transfer) == LEEWAY_OK,
         "iallreduce");
    must(leeway_transfer_wait(leeway, &transfer) == LEEWAY_OK, "iallreduce");
  } else {
    must(leeway_team_allreduce(leeway, &team, mine, result, (leeway_operation)operation, route) ==
             LEEWAY_OK,
         "allreduce");
  }
}

static void check_value(const double* each, int operation, double got, double e, int is_double) {
  long double sum = 0, sizes = 0, low = INFINITY, high = -INFINITY;
  int is_special = 0;
  for (int rank = 0; rank < team.size; ++rank) {
    const long double x = is_double ? each[rank] : (float)each[rank];
    is_special |= !isfinite(x);
    sum += x, sizes += fabsl(x);
    low = fminl(low, x), high = fmaxl(high, x);
  }
  if (is_special && operation != LEEWAY_OPERATION_SUM) return;
  if (is_special) {
    must(isnan(sum) ? isnan(got) : got == (double)sum, "a special sum");
    return;
  }
  const long double exact = operation == LEEWAY_OPERATION_SUM   ? sum
                            : operation == LEEWAY_OPERATION_MIN ? low
                            : operation == LEEWAY_OPERATION_MAX ? high
                                                                : sum / team.size;
  const long double slack = sizes * (is_double ? 0x1p-52L : 0x1p-23L);
  const long double error = fabsl((long double)got - exact);
  must(error <= (long double)e + slack, "a result is off by more than its bound");
  if (operation == LEEWAY_OPERATION_SUM && slack < 1e-3L * (long double)e)
    worst = fmax(worst, (double)(error / (long double)e));
}

static void try_reduction(void) {
  enum { kMost = 8 };
  const uint64_t n = 1 + below(kMost), kind = below(6);
  const int operation = (int)below(4), is_double = (int)below(2);
  const double e = ldexp(1, (int)below(30) - 25);
  double each[kMost][kMostRanks], wide[kMost], wide_result[kMost];
  float narrow[kMost], narrow_result[kMost], first[kMost];
  double wide_first[kMost];
  for (uint64_t i = 0; i < n; ++i)
    for (int rank = 0; rank < team.size; ++rank) each[i][rank] = some_value(kind);
  leeway_context* other = leeway;
  leeway = leeway_create();
  leeway_set_bound(leeway, "abs", e);
  const leeway_array result = {is_double ? (void*)wide_result : narrow_result,
                               is_double ? LEEWAY_F64 : LEEWAY_F32, 1, &n, NULL};
  const size_t bytes = n * (is_double ? sizeof(double) : sizeof(float));
  for (int turn = 0; turn < 4; ++turn) { /* every route; contributions from other ranks each time */
    for (uint64_t i = 0; i < n; ++i)
      narrow[i] = (float)(wide[i] = each[i][(team.rank + turn) % team.size]);
    const leeway_array mine = {is_double ? (void*)wide : narrow, result.dtype, 1, &n, NULL};
    reduce(&mine, &result, operation, turn);
    void* const kept = is_double ? (void*)wide_first : first;
    if (turn == 0) memcpy(kept, result.data, bytes);
    must(memcmp(kept, result.data, bytes) == 0, "routes and orders differ");
  }
  expect_same(result.data, bytes, "bits of allreduce");
  for (uint64_t i = 0; i < n; ++i)
    check_value(each[i], operation, is_double ? wide_result[i] : narrow_result[i], e, is_double);
  leeway_destroy(leeway);
  leeway = other;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4 || leeway_mpi_team_create(MPI_COMM_WORLD, LEEWAY_MPI_FILES_DEFAULT, &team) != 0)
    MPI_Abort(MPI_COMM_WORLD, 2);
  count = (uint64_t)atoll(argv[1]);
  const int cases = atoi(argv[2]);
  state = (uint64_t)atoll(argv[3]);
  leeway = leeway_create();
  leeway_set_bound(leeway, "abs", kBound);
  try_arrays();
  for (int i = 0; i < cases; ++i) try_reduction();
  if (team.rank == 0)
    printf("arrays of %llu values, %d reductions, worst sum %.3f of its bound\n",
           (unsigned long long)count, cases, worst);
  leeway_destroy(leeway);
  leeway_mpi_team_free(&team);
  MPI_Finalize();
  return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Times what ranks do together, for bench/mpi/bench.py: one line of JSON for each measurement.
 *   program FIELD DTYPE REL REPEAT COMMAND ...
 * FIELD is a raw file; every rank has it, turned by a part of its length, so that no two have the
 * same bytes. Commands:
 *   calibrate RECIPE      one rank after the other, then all at once: compressing, decompressing
 *   link                  ping-pong between the first and the last rank
 *   gather raw | streams RECIPE | decoded RECIPE
 *   write FOLDER raw | ordered RECIPE | streamed RECIPE
 *   ratio RATIO RECIPE FOLDER     a size for all ranks together: asked and met
 *   message BYTES RECIPE  processor time of compressing and decompressing; by the clock, one way
 *                         between the first and the last rank, raw and compressed
 *   overhead RECIPE FOLDER        processor time of writing together over that of one process alone
 *   keep FOLDER RECIPE            write a file and leave it there
 *   memory FOLDER ordered | streamed RECIPE    most memory beyond the array
 *   slow-storage BYTES_PER_S, slow-link BYTES_PER_S   the shim, where the machine cannot be shaped:
 *                         files and messages of this program sleep as long as their bytes would
 *                         take; a rank's part of the storage is rate / ranks */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "leeway_mpi.h"

static int me, ranks, dtype, repeat;
static double rel, storage_rate, link_rate;
static char* values;
static uint64_t count, bytes;
static leeway_team team, healthy;
static leeway_context* leeway;

static void must(int is_well, const char* what) {
  if (is_well) return;
  fprintf(stderr, "rank %d: %s: %s\n", me, what, leeway_message(leeway));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- the shim ---- */
static void sleep_for(double seconds) {
  struct timespec time = {(time_t)seconds, (long)(fmod(seconds, 1) * 1e9)};
  nanosleep(&time, NULL);
}
static int slow_write(void* self, void* file, uint64_t offset, const void* data, uint64_t size) {
  const double start = MPI_Wtime();
  const int failed = healthy.file_write(self, file, offset, data, size);
  sleep_for(fmax(0, (double)size * ranks / storage_rate - (MPI_Wtime() - start)));
  return failed;
}
/* The receiver's link: what arrives takes its time, one message after the other. */
static uint64_t arriving;
static int slow_irecv(void* self, void* data, uint64_t size, int from, void** request) {
  arriving += size;
  return healthy.irecv(self, data, size, from, request);
}
static int slow_wait(void* self, void** request) {
  const int failed = healthy.wait(self, request);
  sleep_for((double)arriving / link_rate);
  arriving = 0;
  return failed;
}

/* ---- measuring ---- */
static double processor_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec * 1e-6 +
         (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec * 1e-6;
}

static void begin(double* start) {
  MPI_Barrier(MPI_COMM_WORLD);
  *start = MPI_Wtime();
}
static double end(double start) {
  double mine = MPI_Wtime() - start, all;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}
static void report(const char* what, const char* recipe, double seconds, double more) {
  if (me == 0)
    printf(
        "{\"what\": \"%s\", \"recipe\": \"%s\", \"ranks\": %d, \"bytes\": %llu, \"seconds\": %.6f, "
        "\"more\": %.9g}\n",
        what, recipe, ranks, (unsigned long long)bytes, seconds, more);
  fflush(stdout);
}

static leeway_array array_of(const uint64_t* shape, void* data) {
  const leeway_array array = {data, dtype, 1, shape, NULL};
  return array;
}

static void set_recipe(const char* recipe) {
  double low, high;
  const leeway_array own = array_of(&count, values);
  leeway_destroy(leeway);
  leeway = leeway_create();
  must(leeway_value_range(leeway, &own, &low, &high) == LEEWAY_OK, "range");
  must(leeway_set_bound(leeway, "abs", rel * (high - low)) == LEEWAY_OK, "bound");
  must(leeway_set_recipe(leeway, recipe) == LEEWAY_OK, "recipe");
}

static void calibrate(const char* recipe) {
  const leeway_array own = array_of(&count, values);
  char* decoded = malloc(bytes);
  const leeway_array target = array_of(&count, decoded);
  set_recipe(recipe);
  for (int together = 0; together < 2; ++together)
    for (int i = 0; i <= repeat; ++i) {
      double start, compressing = 0, decompressing = 0, worked[2];
      leeway_buffer* stream = NULL;
      begin(&start);
      worked[0] = processor_seconds();
      if (together || me == 0) must(leeway_compress(leeway, &own, &stream) == LEEWAY_OK, recipe);
      worked[0] = processor_seconds() - worked[0];
      compressing = end(start);
      const double size = stream ? (double)leeway_buffer_size(stream) : 0;
      begin(&start);
      worked[1] = processor_seconds();
      if (stream)
        must(leeway_decompress(leeway, leeway_buffer_data(stream), leeway_buffer_size(stream),
                               &target) == LEEWAY_OK,
             recipe);
      worked[1] = processor_seconds() - worked[1];
      decompressing = end(start);
      if (stream) leeway_buffer_free(stream);
      if (i == 0) continue; /* the first one finds no memory at hand */
      report(together ? "compress together" : "compress", recipe, compressing,
             (double)bytes / size);
      report(together ? "decompress together" : "decompress", recipe, decompressing, 0);
      if (together) continue;
      report("compress work", recipe, worked[0], 0); /* processor time: others do not count */
      report("decompress work", recipe, worked[1], 0);
    }
  free(decoded);
}

static void measure_link(void) {
  const int size = 4 << 20, last = ranks - 1;
  char* data = calloc(1, (size_t)size);
  for (int i = 0; i <= repeat && ranks > 1; ++i)
    for (int small = 0; small < 2; ++small) {
      double start;
      const int now = small ? 8 : size;
      begin(&start);
      void* request = NULL;
      if (me == 0) {
        team.isend(team.self, data, (uint64_t)now, last, &request), team.wait(team.self, &request);
        team.irecv(team.self, data, (uint64_t)now, last, &request), team.wait(team.self, &request);
      } else if (me == last) {
        team.irecv(team.self, data, (uint64_t)now, 0, &request), team.wait(team.self, &request);
        team.isend(team.self, data, (uint64_t)now, 0, &request), team.wait(team.self, &request);
      }
      const double seconds = end(start) / 2;
      if (i > 0) report(small ? "latency" : "link", "", seconds, now / seconds);
    }
  free(data);
}

static void gather_raw(char* all) {
  void** requests = calloc((size_t)ranks, sizeof *requests);
  if (me == 0) {
    memcpy(all, values, bytes);
    for (int i = 1; i < ranks; ++i)
      team.irecv(team.self, all + (uint64_t)i * bytes, bytes, i, &requests[i]);
    for (int i = 1; i < ranks; ++i) team.wait(team.self, &requests[i]);
  } else {
    team.isend(team.self, values, bytes, 0, &requests[0]);
    team.wait(team.self, &requests[0]);
  }
  free(requests);
}

static void gather(const char* how, const char* recipe) {
  const leeway_array own = array_of(&count, values);
  char* all = me == 0 ? malloc((size_t)ranks * bytes) : NULL;
  leeway_array* parts = calloc((size_t)ranks, sizeof *parts);
  leeway_buffer** streams = calloc((size_t)ranks, sizeof *streams);
  char name[64];
  snprintf(name, sizeof name, "gather %s", how);
  for (int i = 0; me == 0 && i < ranks; ++i) parts[i] = array_of(&count, all + (uint64_t)i * bytes);
  set_recipe(*recipe ? recipe : "fast");
  for (int i = 0; i <= repeat; ++i) {
    double start, arrived = 0;
    begin(&start);
    if (strcmp(how, "raw") == 0)
      gather_raw(all);
    else if (strcmp(how, "streams") == 0)
      must(leeway_team_gather_streams(leeway, &team, &own, streams, 0) == LEEWAY_OK, name);
    else
      must(leeway_team_gather(leeway, &team, &own, parts, 0) == LEEWAY_OK, name);
    const double seconds = end(start);
    for (int k = 0; me == 0 && k < ranks && streams[k]; ++k) {
      if (k > 0) arrived += (double)leeway_buffer_size(streams[k]);
      leeway_buffer_free(streams[k]);
      streams[k] = NULL;
    }
    if (i > 0) report(name, recipe, seconds, arrived);
  }
  free(streams), free(parts), free(all);
}

static void write_raw(const char* path) {
  void* file = NULL;
  int own = -1;
  if (team.file_open)
    must(team.file_open(team.self, path, 1, &file) == 0, "open");
  else
    must((own = open(path, O_RDWR)) >= 0, "open");
  uint64_t done = 0;
  while (done < bytes) {
    const uint64_t now = bytes - done < 1 << 22 ? bytes - done : 1 << 22;
    const uint64_t at = (uint64_t)me * bytes + done;
    if (file)
      must(team.file_write(team.self, file, at, values + done, now) == 0, "write");
    else
      must(pwrite(own, values + done, now, (off_t)at) == (ssize_t)now, "write");
    done += now;
  }
  if (file)
    team.file_sync(team.self, file), team.file_close(team.self, file);
  else
    fsync(own), close(own);
}

static void write_file(const char* folder, const char* how, const char* recipe) {
  char path[4096], name[64];
  snprintf(path, sizeof path, "%s/out", folder);
  snprintf(name, sizeof name, "write %s", how);
  const uint64_t shape[] = {(uint64_t)ranks, count}, first[] = {(uint64_t)me, 0},
                 extents[] = {1, count};
  const leeway_block block = {first, {values, dtype, 2, extents, NULL}};
  leeway_write_options options = {0};
  leeway_write_report written = {0};
  options.streamed = strcmp(how, "streamed") == 0 ? bytes / 8 : 0;
  set_recipe(*recipe ? recipe : "fast");
  for (int i = 0; i <= repeat; ++i) {
    double start;
    if (me == 0) unlink(path);
    if (me == 0 && strcmp(how, "raw") == 0) close(open(path, O_CREAT | O_RDWR, 0666));
    begin(&start);
    if (strcmp(how, "raw") == 0)
      write_raw(path);
    else
      must(leeway_team_write(leeway, &team, path, dtype, 2, shape, 1, &block, &options, &written) ==
               LEEWAY_OK,
           name);
    const double seconds = end(start);
    if (i > 0 || repeat == 1) report(name, recipe, seconds, (double)written.output_bytes);
  }
  if (me == 0) unlink(path);
}

static void ratio(const char* asked, const char* recipe, const char* folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/out", folder);
  const uint64_t shape[] = {(uint64_t)ranks, count}, first[] = {(uint64_t)me, 0},
                 extents[] = {1, count}, chunk[] = {1, 1 << 16};
  const leeway_block block = {first, {values, dtype, 2, extents, NULL}};
  leeway_write_report written = {0};
  leeway_destroy(leeway);
  leeway = leeway_create();
  leeway_set_bound(leeway, "ratio", atof(asked));
  leeway_set_recipe(leeway, recipe);
  leeway_set_chunk(leeway, 2, chunk);
  must(leeway_team_write(leeway, &team, path, dtype, 2, shape, 1, &block, NULL, &written) ==
           LEEWAY_OK,
       "ratio");
  report("ratio", recipe, atof(asked), (double)written.input_bytes / (double)written.output_bytes);
  if (me == 0) unlink(path);
}

/* Several at once, because one is shorter than a clock's tick. */
static void message(uint64_t size, const char* recipe) {
  enum { kTimes = 200 };
  const uint64_t shape[] = {size / (dtype == LEEWAY_F64 ? 8 : 4)};
  char* memory = malloc(size);
  const leeway_array out = array_of(shape, values), in = array_of(shape, memory);
  const int last = ranks - 1;
  set_recipe(recipe);
  size_t capacity = 0, used = 0;
  must(leeway_max_compressed_size(leeway, &out, &capacity) == LEEWAY_OK, "size");
  char* stream = malloc(capacity);
  char name[64];
  for (int i = 0; i <= repeat; ++i) {
    double start, seconds[4];
    begin(&start);
    seconds[0] = processor_seconds();
    for (int k = 0; k < kTimes && me == 0; ++k)
      must(leeway_compress_into(leeway, &out, stream, capacity, &used) == LEEWAY_OK, "compress");
    seconds[0] = processor_seconds() - seconds[0];
    (void)end(start);
    begin(&start);
    seconds[1] = processor_seconds();
    for (int k = 0; k < kTimes && me == 0; ++k)
      must(leeway_decompress(leeway, stream, used, &in) == LEEWAY_OK, "decompress");
    seconds[1] = processor_seconds() - seconds[1];
    (void)end(start);
    for (int compressed = 0; compressed < 2; ++compressed) { /* there and back */
      begin(&start);
      for (int k = 0; k < kTimes && (me == 0 || me == last) && ranks > 1; ++k)
        for (int turn = 0; turn < 2; ++turn) {
          const int sends = (me == 0) == (turn == 0), partner = me == 0 ? last : 0;
          void* request = NULL;
          if (compressed)
            must((sends ? leeway_team_send(leeway, &team, &out, partner)
                        : leeway_team_receive(leeway, &team, &in, partner)) == LEEWAY_OK,
                 "message");
          else if (sends)
            team.isend(team.self, values, size, partner, &request), team.wait(team.self, &request);
          else
            team.irecv(team.self, memory, size, partner, &request), team.wait(team.self, &request);
        }
      seconds[2 + compressed] = end(start) / 2;
    }
    static const char* const parts[] = {"compress", "decompress", "raw", "compressed"};
    for (int k = 0; i > 0 && k < 4; ++k) {
      snprintf(name, sizeof name, "message %s", parts[k]);
      report(name, recipe, seconds[k] / kTimes, (double)size);
    }
  }
  free(stream), free(memory);
}

static leeway_status write_here(const char* path, uint64_t streamed) {
  const uint64_t shape[] = {(uint64_t)ranks, count}, first[] = {(uint64_t)me, 0},
                 extents[] = {1, count};
  const leeway_block block = {first, {values, dtype, 2, extents, NULL}};
  leeway_write_options options = {0};
  options.not_durable = 1;
  options.streamed = streamed;
  return leeway_team_write(leeway, &team, path, dtype, 2, shape, 1, &block, &options, NULL);
}

/* Turn by turn, because other work on the machine changes the speed of both. */
static void overhead(const char* recipe, const char* folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/out", folder);
  const uint64_t shape[] = {1, count};
  const leeway_array own = {values, dtype, 2, shape, NULL};
  set_recipe(recipe);
  for (int i = 0; i <= repeat; ++i) {
    double start = processor_seconds();
    leeway_buffer* stream = NULL;
    must(leeway_compress(leeway, &own, &stream) == LEEWAY_OK, recipe);
    const int file = open(path, O_CREAT | O_TRUNC | O_RDWR, 0666);
    must(write(file, leeway_buffer_data(stream), leeway_buffer_size(stream)) > 0, path);
    close(file);
    leeway_buffer_free(stream);
    const double alone = processor_seconds() - start;
    start = processor_seconds();
    must(write_here(path, 0) == LEEWAY_OK, recipe);
    if (i > 0) report("overhead", recipe, alone, processor_seconds() - start);
  }
  if (me == 0) unlink(path);
}

static double memory_in(const char* what) {
  char line[256];
  double kilobytes = 0;
  FILE* in = fopen("/proc/self/status", "r");
  while (in && fgets(line, sizeof line, in))
    if (strncmp(line, what, strlen(what)) == 0) kilobytes = atof(line + strlen(what) + 1);
  if (in) fclose(in);
  return kilobytes * 1024;
}

static void memory(const char* folder, const char* how, const char* recipe) {
  char path[4096], name[64];
  snprintf(path, sizeof path, "%s/out", folder);
  snprintf(name, sizeof name, "memory %s", how);
  set_recipe(recipe);
  FILE* refs = fopen("/proc/self/clear_refs", "w");
  if (refs) fputs("5", refs), fclose(refs);
  const double before = memory_in("VmRSS");
  must(write_here(path, strcmp(how, "streamed") == 0 ? bytes / 16 : 0) == LEEWAY_OK, name);
  report(name, recipe, 0, memory_in("VmHWM") - before);
  if (me == 0) unlink(path);
}

static void read_field(const char* path) {
  FILE* in = fopen(path, "rb");
  must(in != NULL, path);
  fseek(in, 0, SEEK_END);
  bytes = (uint64_t)ftell(in);
  const uint64_t width = dtype == LEEWAY_F64 ? 8 : 4;
  count = bytes / width;
  bytes = count * width;
  char* file = malloc(bytes);
  values = malloc(bytes);
  rewind(in);
  must(fread(file, 1, bytes, in) == bytes, path);
  fclose(in);
  const uint64_t turn = count / (uint64_t)ranks * (uint64_t)me * width;
  memcpy(values, file + turn, bytes - turn);
  memcpy(values + (bytes - turn), file, turn);
  free(file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 6) MPI_Abort(MPI_COMM_WORLD, 2);
  leeway = leeway_create();
  dtype = strcmp(argv[2], "f64") == 0 ? LEEWAY_F64 : LEEWAY_F32;
  rel = atof(argv[3]);
  repeat = atoi(argv[4]);
  if (leeway_mpi_team_create(MPI_COMM_WORLD, LEEWAY_MPI_FILES_DEFAULT, &team) != 0)
    MPI_Abort(MPI_COMM_WORLD, 3);
  healthy = team;
  read_field(argv[1]);
  if (me == 0) printf("{\"what\": \"about\", \"text\": \"%s\"}\n", leeway_mpi_about());
  for (int i = 5; i < argc; ++i) {
    const char* next = i + 1 < argc ? argv[i + 1] : "";
    const char* third = i + 2 < argc ? argv[i + 2] : "";
    if (strcmp(argv[i], "calibrate") == 0) {
      calibrate(next), i += 1;
    } else if (strcmp(argv[i], "link") == 0) {
      measure_link();
    } else if (strcmp(argv[i], "gather") == 0) {
      const int raw = strcmp(next, "raw") == 0;
      gather(next, raw ? "" : third), i += raw ? 1 : 2;
    } else if (strcmp(argv[i], "write") == 0) {
      const int raw = strcmp(third, "raw") == 0;
      write_file(next, third, raw || i + 3 >= argc ? "" : argv[i + 3]), i += raw ? 2 : 3;
    } else if (strcmp(argv[i], "ratio") == 0 && i + 3 < argc) {
      ratio(next, third, argv[i + 3]), i += 3;
    } else if (strcmp(argv[i], "overhead") == 0) {
      overhead(next, third), i += 2;
    } else if (strcmp(argv[i], "memory") == 0 && i + 3 < argc) {
      memory(next, third, argv[i + 3]), i += 3;
    } else if (strcmp(argv[i], "keep") == 0) { /* writes a file and leaves it */
      char path[4096];
      snprintf(path, sizeof path, "%s/out", next);
      set_recipe(third), i += 2;
      must(write_here(path, 0) == LEEWAY_OK, "keep");
    } else if (strcmp(argv[i], "message") == 0) {
      message((uint64_t)atoll(next), third), i += 2;
    } else if (strcmp(argv[i], "slow-storage") == 0) {
      storage_rate = atof(next), i += 1;
      if (team.file_write) team.file_write = slow_write;
    } else if (strcmp(argv[i], "slow-link") == 0) {
      link_rate = atof(next), i += 1;
      team.irecv = slow_irecv;
      team.wait = slow_wait;
    } else {
      fprintf(stderr, "there is no command '%s'\n", argv[i]);
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
  }
  leeway_mpi_team_free(&team);
  leeway_destroy(leeway);
  free(values);
  MPI_Finalize();
  return 0;
}

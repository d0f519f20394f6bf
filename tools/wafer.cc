// SPDX-License-Identifier: BSD-3-Clause
#include "tools/wafer.h"

#include "leeway/fabric/picture.h"
#include "leeway/fabric/printed.h"
#include "tools/array_file.h"
#include "tools/output_file.h"
#include "tools/printed_table.h"
#include "tools/wafer_report.h"

namespace leeway::cli {
namespace {

using namespace fabric;

// The number of a word in a list of names.
template <class E>
E choice(const std::string& word, const char* what, std::span<const std::string_view> names) {
  std::string all;
  for (size_t k = 0; k < names.size(); ++k) {
    if (names[k] == word) return E(k);
    all += (k > 0 ? ", " : "") + std::string(names[k]);
  }
  fail_argument("there is no " + std::string(what) + " '" + word + "'; there are " + all);
}

struct Wafer {
  std::string input, output, mesh = "512x512", relay = "paper", feed = "west", partition = "greedy",
                             collect = "none", deal = "runs", kernel = "scalar", origin = "wafer",
                             engine = "rows", picture, timeline;
  u32 pipeline = 1, width = 0;
  std::optional<u32> row;
  Machine machine;
  double mega_hertz = 850, host_gb_s = 150;
  bool decompress = false, json = false, force = false, routes = false;
  BoundOptions bound;
  ArrayOptions array;
  WorkOptions work;

  void run() {
    const Job job = job_given();
    const Plan plan = plan_given();
    job.check(plan.length);
    check_files();
    if (routes) return print_routes(job, plan);
    if (input.empty()) return print_paper();
    if (row && *row >= machine.rows) fail_argument("--row: there is no such row");
    const ArrayFile in = open_array(input, array);
    const Execution execution = work.execution("simulating");
    const Host host(in.view, bound.any() ? bound.bound() : Bound::rel(1e-3), execution);
    // Before the work: what cannot be written is known at once.
    std::optional<OutputFile> out, drawing, lines;
    if (!output.empty()) out.emplace(output, force);
    if (!picture.empty()) drawing.emplace(picture, force);
    if (!timeline.empty()) lines.emplace(timeline, force);
    RowOptions options{execution.threads, execution.progress};
    const Simulation done = simulate(host, job, plan, options, [&](ByteView part) {
      if (out) out->write(part);
    });
    const bool holds = decompress ? done.decodes : done.stream.equals_library;
    if (drawing) draw_mesh(done, *drawing);
    if (lines) draw_row(done, *lines);
    if (out && holds) out->commit();
    const WaferReport report{done, host, kernel == "vector"};
    if (json)
      print(report.json(), out && !out->can_map() ? stderr : stdout);
    else if (!work.quiet && output != "-")
      report.print();
    if (!holds) throw Ended{kFailed};
  }

  void check_files() const {
    const bool any = !(output + picture + timeline).empty();
    if (routes && (any || !input.empty()))
      fail_argument("--routes takes no field and writes no files; --width says for how many bits");
    if (input.empty() && any) fail_argument("a simulation needs a field");
    if (!output.empty() && decompress) fail_argument("-o is for compressing");
    if (!picture.empty() && !picture.ends_with(".svg") && !picture.ends_with(".png"))
      fail_argument("--picture takes a name that ends with .svg or .png");
    if (!timeline.empty() && !timeline.ends_with(".svg"))
      fail_argument("--timeline takes a name that ends with .svg");
  }

  Job job_given() {
    const Shape size = parse_shape(mesh);
    if (size.rank() != 2) fail_argument("--mesh takes columns x rows, as in 512x512");
    if (size[0] > kMostColumns || size[1] > kMostRows)
      fail_argument("the wafer has " + std::to_string(kMostColumns) + " columns and " +
                    std::to_string(kMostRows) + " rows that can be used");
    machine.columns = u32(size[0]);
    machine.rows = u32(size[1]);
    machine.clock = mega_hertz * 1e6;
    machine.host = host_gb_s * 1e9;
    Job job;
    job.machine = machine;
    job.relay = choice<Relay>(relay, "relay", kRelayNames);
    constexpr std::string_view kFeeds[] = {"west", "both"};
    job.both_edges = choice<u8>(feed, "feed", kFeeds) == 1;
    job.collect = choice<Collect>(collect, "collection", kCollectNames);
    job.deal = choice<Deal>(deal, "way of dealing", kDealNames);
    constexpr std::string_view kKernels[] = {"scalar", "vector"};
    job.costs = choice<u8>(kernel, "kernel", kKernels) == 1 ? kVectorCosts : kScalarCosts;
    return job;
  }
  Plan plan_given() const {
    if (width > kMostWidth)
      fail_argument("--width: codes have " + std::to_string(kMostWidth) + " bits at most");
    return {.direction = decompress ? Direction::decompress : Direction::compress,
            .partition = choice<PartitionRule>(partition, "partition", kPartitionNames),
            .length = pipeline,
            .planned = width,
            .engine = choice<Engine>(engine, "engine", kEngineNames),
            .origin = choice<Origin>(origin, "origin", kOriginNames)};
  }

  void print_routes(Job job, const Plan& plan) const {
    constexpr u32 kWidth = 12;  // of QMCPack in the paper
    job.partition = make_partition(plan.direction, plan.partition, job.costs, plan.length,
                                   width > 0 ? width : kWidth);
    const Json program = wafer_program(job);
    json ? print(program) : print_program(program);
  }

  static void put(OutputFile& out, ByteView bytes) {
    out.write(bytes);
    out.commit();
  }
  static void put(OutputFile& out, const std::string& text) {
    put(out, ByteView(reinterpret_cast<const u8*>(text.data()), text.size()));
  }
  void draw_mesh(const Simulation& done, OutputFile& out) const {
    if (picture.ends_with(".png"))
      put(out, ByteView(heat_map_png(done)));
    else
      put(out, heat_map_svg(done));
  }
  // The row that ends last, if none is asked for.
  void draw_row(const Simulation& done, OutputFile& out) const {
    const auto chain =
        row ? std::ranges::find(done.chains, *row, &Chain::row) - done.chains.begin()
            : std::ranges::max_element(done.outcome.ends) - done.outcome.ends.begin();
    put(out, timeline_svg(done, size_t(chain)));
  }

  void print_paper() const {
    std::vector<Printed> rows;
    for (const PrintedNumber& n : printed_numbers())
      rows.push_back({n.what, n.printed, n.modelled, n.unit, n.table});
    const std::vector<std::string> notes = contradictions();
    if (json) return print({{"numbers", json_of(rows)}, {"contradictions", notes}});
    print_text(rows);
    fmt::print("\nWhat in the paper does not fit together:\n");
    for (const std::string& note : notes) fmt::print("* {}\n", note);
  }

  void add_to(CLI::App& verb) {
    verb.add_option("FIELD", input,
                    "raw or .npy file of f32, to --rel 1e-3 if no bound is given; without a file, "
                    "the tables and figures of the paper");
    verb.add_option("-o,--output", output, "write the stream that the wafer made; - for a pipe")
        ->type_name("FILE");
    verb.add_flag("-f,--force", force, "replace the output if it exists");
    verb.add_flag("--decompress", decompress, "decompress the field's stream instead");
    verb.add_flag("--json", json, "report as JSON, with sums by column and row");
    verb.add_option("--picture", picture, "draw where PEs spend their cycles: .svg or .png")
        ->type_name("FILE");
    verb.add_option("--timeline", timeline, "draw what the PEs of a row do when: .svg")
        ->type_name("FILE");
    verb.add_option("--row", row, "the row of the timeline; the last to end if not given")
        ->type_name("N");
    verb.add_flag("--routes", routes,
                  "print the program instead: colors, routes, tasks, memory; needs no field");
    add_program_to(verb);
    add_machine_to(verb);
    verb.add_option("--engine", engine,
                    "rows (fast; if not given) or mesh (the definition, event by event; for small "
                    "meshes)")
        ->type_name("NAME")
        ->group("Work");
    bound.add_to(verb);
    array.add_to(verb);
    work.add_to(verb);
  }

  void add_program_to(CLI::App& verb) {
    const auto program = "Program";
    verb.add_option("--mesh", mesh, "columns x rows; 512x512 if not given, 750x994 at most")
        ->type_name("CxR")
        ->group(program);
    verb.add_option("--pipeline", pipeline, "PEs of a pipeline; 1 if not given")
        ->type_name("N")
        ->group(program);
    verb.add_option("--partition", partition,
                    "how a pipeline shares the sub-stages: greedy (Algorithm 1; if not given) or "
                    "optimal")
        ->type_name("RULE")
        ->group(program);
    verb.add_option("--width", width, "bits of a code it is made for, 16 at most; by a sample if not given")
        ->type_name("BITS")
        ->group(program);
    verb.add_option("--relay", relay,
                    "how blocks pass a PE: paper (core, block by block; if not given), bulk (core, all at once), "
                    "both (paper, from both edges), router (without the core)")
        ->type_name("WAY")
        ->group(program);
    verb.add_option("--feed", feed, "edges that blocks come from: west (if not given) or both")
        ->type_name("EDGES")
        ->group(program);
    verb.add_option("--collect", collect,
                    "what is done with the output: none (gone in no time, as in the paper; if not given) or back "
                    "(sent to the edge that the row is fed from)")
        ->type_name("WAY")
        ->group(program);
    verb.add_option("--deal", deal,
                    "which blocks a row gets: runs (of a block for each pipeline, in turn; if not given), blocks "
                    "(in turn), parts (of the field), free (the next run to the first free row)")
        ->type_name("WAY")
        ->group(program);
    verb.add_option("--kernel", kernel,
                    "scalar (cycles fitted to the paper; if not given) or vector (an estimate)")
        ->type_name("KIND")
        ->group(program);
  }

  void add_machine_to(CLI::App& verb) {
    const auto wafer = "Machine";
    verb.add_option("--clock", mega_hertz, "in MHz; 850 if not given")
        ->type_name("F")
        ->group(wafer);
    verb.add_option("--queue", machine.queue, "words that wait at a router for every color; 8")
        ->type_name("N")
        ->group(wafer);
    verb.add_option("--ramp", machine.ramp, "cycles between core and router; 2")
        ->type_name("N")
        ->group(wafer);
    verb.add_option("--start", machine.start, "cycles until a move has started; 28, fitted")
        ->type_name("N")
        ->group(wafer);
    verb.add_option("--channels", machine.channels, "channels to the host; 16")
        ->type_name("N")
        ->group(wafer);
    verb.add_option("--host", host_gb_s, "line to the host, each way; 150")
        ->type_name("GB/S")
        ->group(wafer);
    verb.add_option("--origin", origin,
                    "where the blocks come from: wafer (as the paper assumes; if not given) or host")
        ->type_name("PLACE")
        ->group(wafer);
  }
};

}  // namespace

void add_wafer(CLI::App& model) {
  const auto self = std::make_shared<Wafer>();
  CLI::App& verb = *model.add_subcommand("wafer", "CereSZ on a mesh of processing elements");
  self->add_to(verb);
  verb.callback([self] { self->run(); });
}

}  // namespace leeway::cli

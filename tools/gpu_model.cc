// SPDX-License-Identifier: BSD-3-Clause
#include "tools/gpu_model.h"

#include <algorithm>

#include "leeway/gpu/costs.h"
#include "leeway/gpu/plan.h"

namespace leeway::cli {

namespace emulator = gpu::emulator;

namespace {

// Two constants, fitted to the nine throughputs of cuSZp2 below.
constexpr double kMemoryShare = 0.78;  // of the peak that a kernel reaches
constexpr double kCall = 1e-4;         // seconds: three allocations, memsets and frees, and a copy

// Assumed: what a kernel reaches of arithmetic and of issue slots, and a launch in seconds.
constexpr double kArithmeticShare = 0.75, kIssueShare = 0.65, kLaunch = 3e-6;
// Integer operations among the instructions of our kernels (tests/test_sass.py reads them).
constexpr double kArithmeticOfAll = 0.58;

// cuSZp2 keeps the codes of a thread in an array whose index is not known when it is compiled, in
// local memory: 4.25 bytes a value that are written and read back (4352 bytes for 1024 values).
constexpr double kLocal = 2 * 4.25, kHead = 1.0 / 32;
double seconds_of_cuszp2(const Gpu& gpu, double word, double ratio, double values) {
  const double bytes = word + kLocal + word / ratio + kHead;
  return values * bytes / (gpu.peak * kMemoryShare) + kCall;
}

// Decompressing takes 4.3 to 5 bytes a value, far from the memory's limit: it is bound by what an
// SM issues. One constant, from the figure of the RTX 3090.
constexpr double kTile = 32768;  // values of a warp
double cycles_of_a_tile() {
  const Gpu& gpu = find_gpu("rtx-3090");
  const double values = 1008.0 * 1008 * 352, seconds = values * 4 / 405.09e9 - kCall;
  return seconds * gpu.clock * gpu.sms / (values / kTile);
}
double decompress_seconds_of_cuszp2(const Gpu& gpu, double values) {
  return values / kTile * cycles_of_a_tile() / (gpu.clock * gpu.sms) + kCall;
}

struct Figure {
  const char* what;
  const char* gpu;
  double word, ratio, values, printed;  // bytes, bytes to bytes, GB/s
};
constexpr double kRtm = 1008.0 * 1008 * 352, kHacc = 1073726487, kNwchem = 801098891;

// Compression. The ratios of means are between those of their fields, and hardly matter.
constexpr Figure kFitted[] = {
    {"RTM pressure_2000, P, 1e-3 (its README)", "a100", 4, 22.33, kRtm, 410.4},
    {"HACC xx, O, 1e-4 (its README)", "a100", 4, 6.28, kHacc, 341.5},
    {"NWChem, f64, O, 1e-4 (its README)", "a100", 8, 13.74, kNwchem, 553.0},
    {"mean of 9 data sets, P", "a100", 4, 9, 3e8, 334.91},
    {"mean of 9 data sets, O", "a100", 4, 13, 3e8, 329.94},
    {"mean of f64, P", "a100", 8, 20, 8e8, 612.83},
    {"mean of f64, O", "a100", 8, 30, 8e8, 628.54},
    {"RTM P3000, RTX 3090", "rtx-3090", 4, 10.5, kRtm, 232.45},
    {"RTM P3000, RTX 3080", "rtx-3080", 4, 10.5, kRtm, 180.94}};

// Of the appendix, 1e-3, O: nothing was fitted to these.
constexpr double kCesm = 3600.0 * 1800 * 26, kScale = 1200.0 * 1200 * 98,
                 kQmcpack = 69.0 * 69 * 33120, kNyx = 512.0 * 512 * 512, kMiranda = 1073741824,
                 kTruss = 1.728e9, kJet = 1408.0 * 1080 * 1100;
constexpr Figure kAppendix[] = {
    {"RTM P1000", "a100", 4, 84.97, kRtm, 469.76},  {"RTM P2000", "a100", 4, 23.77, kRtm, 399.66},
    {"RTM P3000", "a100", 4, 12.0, kRtm, 336.69},   {"HACC", "a100", 4, 8.82, kHacc, 344.93},
    {"Miranda", "a100", 4, 5.98, kMiranda, 330.66}, {"SynTruss", "a100", 4, 6.47, kTruss, 354.67},
    {"CESM-ATM", "a100", 4, 24.53, kCesm, 256.82},  {"SCALE", "a100", 4, 29.52, kScale, 250.15},
    {"QMCPack", "a100", 4, 9.69, kQmcpack, 183.31}, {"NYX", "a100", 4, 41.76, kNyx, 244.53},
    {"JetIn", "a100", 4, 120.06, kJet, 554.34}};
constexpr Figure kDecompressed[] = {
    {"RTM P3000, RTX 3090 (the constant)", "rtx-3090", 4, 0, kRtm, 405.09},
    {"RTM P3000, RTX 3080", "rtx-3080", 4, 0, kRtm, 329.62},
    {"RTM P3000, O, 1e-3", "a100", 4, 0, kRtm, 464.32},
    {"HACC, O, 1e-3", "a100", 4, 0, kHacc, 459.24},
    {"Miranda, O, 1e-3", "a100", 4, 0, kMiranda, 423.43},
    {"SynTruss, O, 1e-3", "a100", 4, 0, kTruss, 485.77},
    {"CESM-ATM, O, 1e-3", "a100", 4, 0, kCesm, 409.47},
    {"SCALE, O, 1e-3", "a100", 4, 0, kScale, 316.66},
    {"QMCPack, O, 1e-3", "a100", 4, 0, kQmcpack, 319.82},
    {"NYX, O, 1e-3", "a100", 4, 0, kNyx, 326.63}};

// A chained scan passes on a sum from tile to tile; a look-back passes on so many at a time.
constexpr double kHop = 373e-9, kTogether = 2.41;
double synchronized(double together) { return kTile * 4 / (kHop / together) / 1e9; }

}  // namespace

const std::vector<Gpu>& known_gpus() {
  static const std::vector<Gpu> all{{"a100", "A100 40 GB", 1555e9, 108, 1.41e9, 64},
                                    {"a100-80gb", "A100 80 GB", 2039e9, 108, 1.41e9, 64},
                                    {"h100", "H100 SXM", 3350e9, 132, 1.83e9, 64},
                                    {"l40s", "L40S", 864e9, 142, 2.52e9, 64},
                                    {"rtx-3080", "RTX 3080", 760e9, 68, 1.71e9, 64},
                                    {"rtx-3090", "RTX 3090", 936e9, 82, 1.70e9, 64},
                                    {"rtx-4090", "RTX 4090", 1008e9, 128, 2.52e9, 64}};
  return all;
}
const Gpu& find_gpu(const std::string& name) {
  std::string names;
  for (const Gpu& gpu : known_gpus()) {
    if (name == gpu.name) return gpu;
    names += (names.empty() ? "" : ", ") + std::string(gpu.name);
  }
  fail_argument("there is no GPU '" + name + "'; there are " + names);
}

std::vector<Printed> printed_by_cuszp2() {
  std::vector<Printed> result;
  const auto add = [&](const char* table, const Figure& f, double seconds) {
    result.push_back({f.what, f.printed, f.values * f.word / seconds / 1e9, "GB/s", table});
  };
  for (const Figure& f : kFitted)
    add("Compression; two constants were fitted to these nine", f,
        seconds_of_cuszp2(find_gpu(f.gpu), f.word, f.ratio, f.values));
  for (const Figure& f : kAppendix)
    add("Compression, A100, in the appendix; nothing was fitted to these", f,
        seconds_of_cuszp2(find_gpu(f.gpu), f.word, f.ratio, f.values));
  for (const Figure& f : kDecompressed)
    add("Decompression; one constant, from the first", f,
        decompress_seconds_of_cuszp2(find_gpu(f.gpu), f.values));
  const char* const table = "Synchronization; a hop and how many it joins, from the first two";
  result.push_back({"chained scan", 846.85 / 2.41, synchronized(1), "GB/s", table});
  result.push_back({"decoupled look-back", 846.85, synchronized(kTogether), "GB/s", table});
  result.push_back({"random access: a look-back and nothing else", 1010.07, synchronized(kTogether),
                    "GB/s", table});
  return result;
}

double Limits::least() const { return std::min({memory, arithmetic, issue}); }
const char* Limits::name() const {
  return least() == memory ? "memory" : least() == arithmetic ? "arithmetic" : "issue";
}

Limits limits_of(const Gpu& gpu, const Work& work) {
  const double cycles = gpu.clock * gpu.sms;
  return {gpu.peak * kMemoryShare / work.moved,
          cycles * gpu.lanes * kArithmeticShare / (kArithmeticOfAll * work.instructions),
          cycles * 4 * 32 * kIssueShare / work.instructions};
}

double seconds_of(const Gpu& gpu, const Work& work, double range, double values) {
  const double before = values * range / (gpu.peak * kMemoryShare);
  return values / limits_of(gpu, work).least() + before + (range > 0 ? 3 : 2) * kLaunch;
}

namespace {

constexpr u64 kMostTried = 8;  // a chunk takes the emulator half a second both ways

// What the emulator does with chunks, added up.
class Trial {
 public:
  explicit Trial(const CompressOptions& options) : options_(options) {}

  void try_chunk(const View& part) {
    options_.chunk = part.shape;
    const gpu::Plan plan(options_, part);
    const gpu::DeviceMemory stream(device_, plan.most_bytes()),
        workspace(device_, plan.workspace_bytes()), decoded(device_, bytes_of(part));
    gpu::Report made{}, read{};
    plan.compress(device_, part.data, stream.get(), plan.most_bytes(), &made, workspace.get(),
                  nullptr);
    gpu::check_report(made);
    const double values = double(part.shape.size()), bytes = double(made.bytes);
    add(all_.compress, values, bytes, gpu::kFastCompress, gpu::kSlowCompress);
    const gpu::Plan back(plan.header(), View(nullptr, part.dtype, part.shape));
    back.decompress(device_, stream.get(), size_t(made.bytes), nullptr, decoded.get(), &read,
                    workspace.get(), nullptr);
    gpu::check_report(read);
    add(all_.decompress, values, bytes, gpu::kFastDecompress, gpu::kSlowDecompress);
    values_ += values;
    ++all_.chunks_tried;
  }

  Prediction result() const {
    Prediction result = all_;
    for (Work* work : {&result.compress, &result.decompress})
      for (double* sum :
           {&work->read, &work->written, &work->moved, &work->instructions, &work->fast})
        *sum /= values_;
    return result;
  }

 private:
  static size_t bytes_of(const View& view) {
    return size_t(view.shape.size()) * size_of(view.dtype);
  }
  // What the last kernel did. The slow path synchronizes its tiles all the time.
  void add(Work& work, double values, double bytes, const gpu::Cost& fast, double slow) const {
    const emulator::Counts& counts = device_.counts();
    work.read += double(counts.global_reads);
    work.written += double(counts.global_writes);
    work.moved += 32 * double(counts.sectors);
    const bool is_fast = double(counts.tile_operations) < kFewOperations * values;
    const double bits = 8 * bytes / values;
    work.instructions += values * (is_fast ? gpu::kFastMachine * (fast.value + fast.bit * bits)
                                           : gpu::kSlowMachine * slow);
    work.fast += is_fast ? values : 0;
  }

  static constexpr double kFewOperations = 0.2;  // of a tile, for a value
  CompressOptions options_;
  gpu::EmulatedDevice device_{quick()};
  static emulator::Options quick() {
    emulator::Options options;
    options.watches = options.late_stores = false;
    return options;
  }
  Prediction all_;
  double values_ = 0;
};

View box_of(const View& view, const Box& box) {
  View part = view;
  part.shape = box.shape;
  for (size_t axis = 0; axis < box.shape.rank(); ++axis)
    part.data += std::ptrdiff_t(box.first[axis]) * view.strides[axis];
  return part;
}

}  // namespace

Prediction predict(const View& view, CompressOptions options) {
  options.detect_fills = false;
  Bytes whole;
  compress(view, options,
           [&](ByteView part) { whole.insert(whole.end(), part.begin(), part.end()); });
  const Header header = inspect(whole).header;
  const double word = double(size_of(view.dtype));
  const u64 chunks = header.grid().size(), tried = std::min(chunks, kMostTried);
  if (tried == 0) fail_argument("the model needs a field with values");
  const bool has_range = std::ranges::any_of(
      options.bound.limits(), [](const auto& limit) { return limit.kind == BoundKind::rel; });
  options.bound = Bound::abs(header.abs_bound);
  Trial trial(options);
  for (u64 k = 0; k < tried; ++k)
    trial.try_chunk(box_of(view, header.chunk_box(k * chunks / tried)));
  Prediction result = trial.result();
  result.chunks = chunks;
  result.ratio = word * double(view.shape.size()) / double(whole.size());
  result.range = has_range ? word : 0;
  return result;
}

}  // namespace leeway::cli

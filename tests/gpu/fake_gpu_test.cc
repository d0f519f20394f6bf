// SPDX-License-Identifier: BSD-3-Clause
// The C interface for GPUs on a GPU that is none: which calls reach CUDA, in which order, and what
// is said where something is missing.
#include <dlfcn.h>

#include <cstring>

#include "cuda_runtime.h"
#include "leeway/gpu.hpp"
#include "tests/support.h"

namespace leeway::test {
namespace {

// The fake device library stays loaded, so that leeway finds it by its name.
template <class F>
F* fake(const char* name) {
  static void* const library = dlopen(LEEWAY_FAKE_GPU, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<F*>(dlsym(library, name));
}
#define FAKE(name) fake<decltype(name)>(#name)

struct Memory {
  void* at = nullptr;
  explicit Memory(size_t bytes) { EXPECT_EQ(FAKE(cudaMalloc)(&at, bytes), cudaSuccess); }
  ~Memory() { FAKE(cudaFree)(at); }
  template <class T>
  T* get() const {
    return static_cast<T*>(at);
  }
};

// A device with a field in its memory, a plan, and room for all else.
struct Work {
  leeway_context* c = leeway_create();
  leeway_gpu* device = nullptr;
  leeway_gpu_plan* plan = nullptr;
  Shape shape{40, 100};
  std::vector<float> values = make_field<float>(shape, Texture::smooth);
  u64 extents[2] = {40, 100};
  cudaStream_t queue = nullptr;
  std::unique_ptr<Memory> field, decoded, stream, workspace, made, read;

  explicit Work(const char* kind = "abs", const char* name = "0") {
    FAKE(fake_cuda_set_devices)(2);
    FAKE(cudaSetDevice)(std::atoi(name));
    leeway_set_bound(c, kind, 1e-3);
    leeway_set_recipe(c, "cuszp2-outlier");
    const u64 chunk[] = {7, 100};
    leeway_set_chunk(c, 2, chunk);
    EXPECT_EQ(leeway_gpu_open(c, name, &device), LEEWAY_OK) << leeway_message(c);
    const leeway_array like = {nullptr, LEEWAY_F32, 2, extents, nullptr};
    EXPECT_EQ(leeway_gpu_plan_create(c, device, &like, &plan), LEEWAY_OK) << leeway_message(c);
    FAKE(cudaStreamCreate)(&queue);
    const size_t bytes = values.size() * sizeof(float);
    field = std::make_unique<Memory>(bytes);
    decoded = std::make_unique<Memory>(bytes);
    stream = std::make_unique<Memory>(leeway_gpu_most(plan));
    workspace = std::make_unique<Memory>(leeway_gpu_workspace(plan));
    made = std::make_unique<Memory>(sizeof(leeway_gpu_report));
    read = std::make_unique<Memory>(sizeof(leeway_gpu_report));
    std::memcpy(field->at, values.data(), bytes);
  }
  ~Work() {
    leeway_gpu_plan_free(plan);
    leeway_gpu_close(device);
    leeway_destroy(c);
    FAKE(cudaStreamDestroy)(queue);
    FAKE(cudaSetDevice)(0);
  }

  leeway_status compress(const void* from, cudaStream_t on) {
    return leeway_gpu_compress(c, plan, from, stream->at, leeway_gpu_most(plan),
                               made->get<leeway_gpu_report>(), workspace->at, on);
  }
  leeway_status decompress(cudaStream_t on) {
    return leeway_gpu_decompress(c, plan, stream->at, 0, made->get<leeway_gpu_report>(),
                                 decoded->at, read->get<leeway_gpu_report>(), workspace->at, on);
  }
  // The stream as it comes to the host.
  Bytes result() {
    Bytes bytes(leeway_gpu_most(plan));
    size_t size = 0;
    EXPECT_EQ(leeway_gpu_to_host(c, plan, made->get<leeway_gpu_report>(), stream->at, bytes.data(),
                                 bytes.size(), &size, queue),
              LEEWAY_OK)
        << leeway_message(c);
    bytes.resize(size);
    return bytes;
  }
  // What the processor makes.
  Bytes expected(const char* kind = "abs") const {
    CompressOptions options;
    options.bound = kind == std::string("abs") ? Bound::abs(1e-3) : Bound::rel(1e-3);
    options.recipe = "cuszp2-outlier";
    options.chunk = {7, 100};
    options.detect_fills = false;
    return leeway::compress(values.data(), shape, options);
  }
  void expect_decoded() const {
    const Array right = leeway::decompress(expected());
    EXPECT_EQ(read->get<leeway_gpu_report>()->status, u32(LEEWAY_OK));
    EXPECT_EQ(std::memcmp(decoded->at, right.data(), size_t(right.bytes())), 0);
  }
};

TEST(FakeGpu, GetsOneClearAndOneKernel) {
  for (const char* kind : {"abs", "rel"}) {
    Work work(kind);
    EXPECT_STREQ(leeway_gpu_name(work.device), "fake GPU (sm_80)");
    const FakeCudaCalls before = FAKE(fake_cuda_calls)();
    ASSERT_EQ(work.compress(work.field->at, work.queue), LEEWAY_OK) << leeway_message(work.c);
    const FakeCudaCalls after = FAKE(fake_cuda_calls)();
    EXPECT_EQ(after.clears - before.clears, 1u);
    EXPECT_EQ(after.kernels - before.kernels, kind == std::string("rel") ? 2u : 1u);
    EXPECT_EQ(after.allocations, before.allocations);
    EXPECT_EQ(after.frees, before.frees);
    EXPECT_EQ(after.copies, before.copies);
    EXPECT_EQ(after.waits, before.waits);
    // Nothing has happened yet.
    EXPECT_EQ(work.made->get<leeway_gpu_report>()->bytes, 0xcdcdcdcdcdcdcdcdu);
    EXPECT_EQ(work.result(), work.expected(kind));
  }
}

TEST(FakeGpu, DecompressesWhatIsStillOnItsWay) {
  Work work;
  ASSERT_EQ(work.compress(work.field->at, work.queue), LEEWAY_OK);
  const u64 first[] = {5, 20}, extents[] = {9, 30};
  const Memory part(270 * sizeof(float)), report(sizeof(leeway_gpu_report)),
      workspace(leeway_gpu_workspace(work.plan));
  const leeway_array region = {part.at, LEEWAY_F32, 2, extents, nullptr};
  const FakeCudaCalls before = FAKE(fake_cuda_calls)();
  ASSERT_EQ(work.decompress(work.queue), LEEWAY_OK) << leeway_message(work.c);
  ASSERT_EQ(leeway_gpu_decompress_region(work.c, work.plan, work.stream->at, 0,
                                         work.made->get<leeway_gpu_report>(), first, &region,
                                         report.get<leeway_gpu_report>(), workspace.at, work.queue),
            LEEWAY_OK);
  const FakeCudaCalls after = FAKE(fake_cuda_calls)();
  EXPECT_EQ(after.allocations + after.copies + after.waits,
            before.allocations + before.copies + before.waits);
  EXPECT_EQ(FAKE(cudaStreamSynchronize)(work.queue), cudaSuccess);
  work.expect_decoded();
  const Array right = leeway::decompress(work.expected(), Box{{5, 20}, {9, 30}});
  EXPECT_EQ(std::memcmp(part.at, right.data(), size_t(right.bytes())), 0);
}

TEST(FakeGpu, IsCapturedInAGraph) {
  Work work;
  ASSERT_EQ(FAKE(cudaStreamBeginCapture)(work.queue, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_EQ(work.compress(work.field->at, work.queue), LEEWAY_OK) << leeway_message(work.c);
  ASSERT_EQ(work.decompress(work.queue), LEEWAY_OK) << leeway_message(work.c);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(FAKE(cudaStreamEndCapture)(work.queue, &graph), cudaSuccess);
  for (unsigned replay = 0; replay < 5; ++replay) {
    for (float& value : work.values) value += 0.1f;
    std::memcpy(work.field->at, work.values.data(), work.values.size() * sizeof(float));
    FAKE(fake_cuda_set_seed)(replay + 77);
    FAKE(cudaGraphLaunch)(graph, work.queue);
    ASSERT_EQ(FAKE(cudaStreamSynchronize)(work.queue), cudaSuccess);
    EXPECT_EQ(work.result(), work.expected());
    work.expect_decoded();
  }
}

TEST(FakeGpu, UpdatesAStreamInItsMemory) {
  Work work;
  const u64 first[] = {7, 0}, extents[] = {14, 100};
  const size_t most = leeway_gpu_most(work.plan), bytes = work.expected().size();
  const auto fresh = make_field<float>({14, 100}, Texture::noise);
  const Memory part(fresh.size() * sizeof(float));
  std::memcpy(part.at, fresh.data(), fresh.size() * sizeof(float));
  const leeway_array region = {part.at, LEEWAY_F32, 2, extents, nullptr};
  size_t room = 0;
  ASSERT_EQ(leeway_gpu_update_room(work.c, work.plan, &region, &room), LEEWAY_OK);
  work.stream = std::make_unique<Memory>(most + room);
  ASSERT_EQ(work.compress(work.field->at, work.queue), LEEWAY_OK);
  ASSERT_EQ(leeway_gpu_update(work.c, work.plan, work.stream->at, 0,
                              work.made->get<leeway_gpu_report>(), most + room, first, &region,
                              work.read->get<leeway_gpu_report>(), work.workspace->at, work.queue),
            LEEWAY_OK)
      << leeway_message(work.c);
  ASSERT_EQ(FAKE(cudaStreamSynchronize)(work.queue), cudaSuccess);
  Bytes expected = work.expected();
  MemoryStore store(expected);
  update(store, {7, 0},
         View(reinterpret_cast<const std::byte*>(fresh.data()), DType::f32, {14, 100}));
  const auto* const report = work.read->get<leeway_gpu_report>();
  EXPECT_EQ(report->status, u32(LEEWAY_OK));
  EXPECT_GT(report->bytes, bytes);
  const u8* const made = work.stream->get<u8>();
  EXPECT_EQ(Bytes(made, made + report->bytes), expected);
}

TEST(FakeGpu, LeavesTheCurrentDeviceAsItWas) {
  Work work("abs", "1");
  FAKE(cudaSetDevice)(0);
  ASSERT_EQ(work.compress(work.field->at, work.queue), LEEWAY_OK) << leeway_message(work.c);
  int now = 7;
  FAKE(cudaGetDevice)(&now);
  EXPECT_EQ(now, 0);
  EXPECT_EQ(work.result(), work.expected());
}

TEST(FakeGpu, IsThereForCpp) {
  Work work;
  const Gpu gpu("0");
  EXPECT_EQ(gpu.name(), "fake GPU (sm_80)");
  CompressOptions options;
  options.bound = Bound::abs(1e-3);
  options.recipe = "cuszp2-outlier";
  options.chunk = {7, 100};
  const View like(nullptr, DType::f32, work.shape);
  const GpuPlan plan(gpu, options, like);
  EXPECT_EQ(plan.most(), leeway_gpu_most(work.plan));
  auto* const made = work.made->get<leeway_gpu_report>();
  auto* const read = work.read->get<leeway_gpu_report>();
  plan.compress(work.field->at, work.stream->at, plan.most(), made, work.workspace->at, work.queue);
  plan.decompress(work.stream->at, 0, made, work.decoded->at, read, work.workspace->at, work.queue);
  const Bytes stream = plan.to_host(made, work.stream->at, work.queue);
  EXPECT_EQ(stream, work.expected());
  work.expect_decoded();
  const GpuPlan again(gpu, ByteView(stream));
  const View part(work.decoded->get<std::byte>(), DType::f32, {3, 5});
  again.decompress_region(work.stream->at, stream.size(), nullptr, {10, 20}, part, read,
                          work.workspace->at, work.queue);
  ASSERT_EQ(FAKE(cudaStreamSynchronize)(work.queue), cudaSuccess);
  const Array right = leeway::decompress(stream, Box{{10, 20}, {3, 5}});
  EXPECT_EQ(std::memcmp(work.decoded->at, right.data(), size_t(right.bytes())), 0);
  options.recipe = "balanced";
  EXPECT_THROW(GpuPlan(gpu, options, like), Error);
  EXPECT_THROW(Gpu("zero"), Error);
}

TEST(FakeGpu, RefusesWhatIsElsewhere) {
  Work work;
  FAKE(cudaSetDevice)(1);
  cudaStream_t other = nullptr;
  FAKE(cudaStreamCreate)(&other);
  EXPECT_EQ(work.compress(work.field->at, other), LEEWAY_IO);
  EXPECT_NE(std::string(leeway_message(work.c)).find("invalid resource handle"), std::string::npos);
  FAKE(cudaStreamDestroy)(other);
}

TEST(FakeGpu, SaysWhatIsMissing) {
  leeway_context* c = leeway_create();
  const auto complaint = [&](int devices, const char* name) {
    FAKE(fake_cuda_set_devices)(devices);
    leeway_gpu* device = nullptr;
    const leeway_status status = leeway_gpu_open(c, name, &device);
    EXPECT_NE(status, LEEWAY_OK);
    EXPECT_EQ(device, nullptr);
    return std::string(leeway_message(c));
  };
  EXPECT_NE(complaint(-1, "0").find("no CUDA driver"), std::string::npos);
  EXPECT_NE(complaint(0, "0").find("no CUDA-capable device"), std::string::npos);
  EXPECT_NE(complaint(2, "2").find("no device of this number"), std::string::npos);
  EXPECT_NE(complaint(2, "zero").find("'zero'"), std::string::npos);
  leeway_destroy(c);
}

TEST(FakeGpu, SaysThatMemoryIsTooSmall) {
  Work work;
  const size_t needed = work.expected().size();
  auto* const report = work.made->get<leeway_gpu_report>();
  ASSERT_EQ(leeway_gpu_compress(work.c, work.plan, work.field->at, work.stream->at, needed - 1,
                                report, work.workspace->at, work.queue),
            LEEWAY_OK);
  size_t size = 0;
  Bytes bytes(needed);
  EXPECT_EQ(leeway_gpu_to_host(work.c, work.plan, report, work.stream->at, bytes.data(),
                               bytes.size(), &size, work.queue),
            LEEWAY_TOO_SMALL);
  EXPECT_EQ(report->bytes, needed);
  ASSERT_EQ(work.compress(work.field->at, work.queue), LEEWAY_OK);
  EXPECT_EQ(leeway_gpu_to_host(work.c, work.plan, report, work.stream->at, bytes.data(), 10, &size,
                               work.queue),
            LEEWAY_TOO_SMALL);
  EXPECT_EQ(size, needed);
  // A plan for a stream of which only the beginning is in the memory of the host.
  leeway_gpu_plan* plan = nullptr;
  EXPECT_EQ(leeway_gpu_plan_for_stream(work.c, work.device, bytes.data(), 20, &plan),
            LEEWAY_CORRUPT);
  EXPECT_EQ(leeway_gpu_plan_for_stream(work.c, work.device, work.result().data(), needed, &plan),
            LEEWAY_OK);
  leeway_gpu_plan_free(plan);
}

TEST(FakeGpu, TouchesNoMemoryOfTheHost) {
  Work work;
  EXPECT_EQ(work.compress(work.values.data(), work.queue), LEEWAY_OK);
  size_t size = 0;
  EXPECT_EQ(leeway_gpu_to_host(work.c, work.plan, work.made->get<leeway_gpu_report>(),
                               work.stream->at, nullptr, 0, &size, work.queue),
            LEEWAY_IO);
  EXPECT_NE(std::string(leeway_message(work.c)).find("outside of all global memory"),
            std::string::npos);
}

}  // namespace
}  // namespace leeway::test

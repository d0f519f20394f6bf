// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "leeway/base/error.h"
#include "leeway/gpu/cuda_device.cu"

using Operation = std::function<cudaError_t()>;

struct FakeStream {
  int device;
  std::deque<Operation> waiting;
  std::uint64_t done = 0;
  std::unique_ptr<FakeGraph> captured;
};
struct FakeGraph {
  std::vector<Operation> operations;
};
struct FakeEvent {
  FakeStream* stream = nullptr;
  std::uint64_t place = 0;
};

namespace {

using namespace leeway::gpu;

constexpr int kHost = -1;
constexpr std::size_t kSharedUnasked = 48 * 1024, kSharedMost = 163 * 1024;

struct Block {
  std::size_t bytes;
  int device;
};
struct State {
  int devices = 2;
  unsigned seed = 1;
  FakeCudaCalls calls;
  std::string fault;  // a kernel's
  std::map<const unsigned char*, Block> memory;
  std::map<int, FakeStream> own;  // the queue of a device that has no name
  std::set<FakeStream*> captures;
  std::map<std::pair<const void*, int>, std::size_t> shared;  // asked for, by kernel and device
};
State& state() {
  static State all;
  return all;
}
thread_local int current = 0;

FakeStream& stream_of(cudaStream_t queue) {
  // 0, 1 and 2 are names of the device's own queue, not places.
  if (reinterpret_cast<std::uintptr_t>(queue) > 2) return *queue;
  FakeStream& own = state().own[current];
  own.device = current;
  return own;
}

const Block* block_at(const void* at) {
  const auto* byte = static_cast<const unsigned char*>(at);
  auto found = state().memory.upper_bound(byte);
  if (found == state().memory.begin()) return nullptr;
  --found;
  return byte < found->first + found->second.bytes ? &found->second : nullptr;
}

cudaError_t put(cudaStream_t queue, Operation operation) {
  FakeStream& stream = stream_of(queue);
  if (stream.captured)
    stream.captured->operations.push_back(std::move(operation));
  else
    stream.waiting.push_back(std::move(operation));
  return cudaSuccess;
}
cudaError_t run_until(FakeStream& stream, std::uint64_t place) {
  while (!stream.waiting.empty() && stream.done < place) {
    const Operation next = std::move(stream.waiting.front());
    stream.waiting.pop_front();
    ++stream.done;
    if (state().fault.empty()) next();
  }
  return state().fault.empty() ? cudaSuccess : cudaErrorIllegalAddress;
}
cudaError_t run_all(FakeStream& stream) {
  return run_until(stream, stream.done + stream.waiting.size());
}

cudaError_t allocate(void** memory, std::size_t bytes, int device) {
  constexpr std::size_t kAlignment = 256;
  const std::size_t whole = std::max<std::size_t>(1, bytes);
  void* const made = std::aligned_alloc(kAlignment, (whole + kAlignment - 1) & ~(kAlignment - 1));
  if (!made) return cudaErrorMemoryAllocation;
  std::memset(made, 0xcd, whole);
  state().memory[static_cast<unsigned char*>(made)] = {whole, device};
  ++state().calls.allocations;
  *memory = made;
  return cudaSuccess;
}
cudaError_t release(void* memory) {
  if (!memory) return cudaSuccess;
  ++state().calls.frees;
  if (state().memory.erase(static_cast<unsigned char*>(memory)) == 0) return cudaErrorInvalidValue;
  std::free(memory);
  return cudaSuccess;
}

// A kernel with its arguments, which a launch copies.
template <class Args, void kernel(const Args)>
std::function<void()> bind(void** arguments) {
  auto args = std::make_shared<const Args>(*static_cast<const Args*>(arguments[0]));
  return [args] { kernel(*args); };
}
struct Kernel {
  const void* function;
  std::function<void()> (*bound)(void** arguments);
};
template <class Args, void kernel(const Args)>
Kernel named() {
  return {reinterpret_cast<const void*>(kernel), &bind<Args, kernel>};
}
const Kernel* find_kernel(const void* function) {
  static const Kernel all[] = {named<CompressArgs, leeway_range_f32>(),
                               named<CompressArgs, leeway_range_f64>(),
                               named<CompressArgs, leeway_compress_f32>(),
                               named<CompressArgs, leeway_compress_f64>(),
                               named<DecompressArgs, leeway_find_frames>(),
                               named<DecompressArgs, leeway_decompress_f32>(),
                               named<DecompressArgs, leeway_decompress_f64>(),
                               named<UpdateArgs, leeway_update_f32>(),
                               named<UpdateArgs, leeway_update_f64>()};
  const auto* const found =
      std::ranges::find_if(all, [&](const Kernel& kernel) { return kernel.function == function; });
  return found == std::end(all) ? nullptr : found;
}

cudaError_t run_kernel(emulator::Launch launch, int device, const std::function<void()>& kernel) {
  for (const auto& [begin, block] : state().memory)
    if (block.device == device || block.device == kHost)
      launch.regions.push_back({"memory", begin, block.bytes, true, true});
  emulator::Options options;
  options.seed = state().seed++;
  try {
    emulator::run(launch, options, [&](void*) { kernel(); });
    return cudaSuccess;
  } catch (const std::exception& error) {
    state().fault = error.what();
    return cudaErrorIllegalAddress;
  }
}

}  // namespace

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorIllegalAddress:
      return state().fault.c_str();
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorInvalidResourceHandle:
      return "invalid resource handle";
    case cudaErrorStreamCaptureUnsupported:
      return "operation not permitted when stream is capturing";
    default:
      return "invalid argument";
  }
}
cudaError_t cudaGetLastError() { return cudaSuccess; }

cudaError_t cudaGetDeviceCount(int* count) {
  if (state().devices < 0) return cudaErrorInsufficientDriver;
  *count = state().devices;
  return *count == 0 ? cudaErrorNoDevice : cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = current;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= state().devices) return cudaErrorInvalidDevice;
  current = device;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {"fake GPU", 8, 0, 2};
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = 1;
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* found, const void* at) {
  const Block* const block = block_at(at);
  *found = {!block                   ? cudaMemoryTypeUnregistered
            : block->device == kHost ? cudaMemoryTypeHost
                                     : cudaMemoryTypeDevice,
            block ? std::max(0, block->device) : kHost};
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  if (!state().captures.empty()) return cudaErrorStreamCaptureUnsupported;
  return allocate(memory, bytes, current);
}
cudaError_t cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t queue) {
  if (stream_of(queue).captured) return cudaErrorStreamCaptureUnsupported;
  return allocate(memory, bytes, stream_of(queue).device);
}
cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  return allocate(memory, bytes, kHost);
}
cudaError_t cudaFree(void* memory) {
  if (!state().captures.empty()) return cudaErrorStreamCaptureUnsupported;
  for (auto& [device, stream] : state().own) run_all(stream);
  return release(memory);
}
cudaError_t cudaFreeAsync(void* memory, cudaStream_t queue) {
  return put(queue, [memory] { return release(memory); });
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t queue) {
  const Block* const block = block_at(to);
  if (!block) return cudaErrorInvalidValue;
  ++state().calls.clears;
  return put(queue, [=] { return std::memset(to, value, bytes), cudaSuccess; });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t queue) {
  ++state().calls.copies;
  return put(queue, [=] {
    if (bytes > 0) std::memcpy(to, from, bytes);
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute, int value) {
  if (!find_kernel(kernel) || value < 0 || std::size_t(value) > kSharedMost)
    return cudaErrorInvalidValue;
  state().shared[{kernel, current}] = std::size_t(value);
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* ctas, const void* kernel, int,
                                                          std::size_t shared_bytes) {
  if (!find_kernel(kernel)) return cudaErrorInvalidValue;
  *ctas = int(kSharedMost / std::max<std::size_t>(1024, shared_bytes));
  return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void* function, dim3 ctas, dim3 threads, void** arguments,
                             std::size_t shared_bytes, cudaStream_t queue) {
  const Kernel* const kernel = find_kernel(function);
  const int device = stream_of(queue).device;
  if (device != current) return cudaErrorInvalidResourceHandle;
  const auto asked = state().shared.find({function, device});
  if (!kernel || ctas.x == 0 || threads.x == 0 || threads.x > 1024 ||
      shared_bytes > (asked == state().shared.end() ? kSharedUnasked : asked->second))
    return cudaErrorInvalidValue;
  ++state().calls.kernels;
  return put(queue, [=, bound = kernel->bound(arguments)] {
    return run_kernel({ctas.x, threads.x, shared_bytes, {}}, device, bound);
  });
}

cudaError_t cudaStreamCreate(cudaStream_t* queue) {
  *queue = new FakeStream{current, {}, 0, nullptr};
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t queue) {
  run_all(*queue);
  delete queue;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t queue) {
  if (stream_of(queue).captured) return cudaErrorStreamCaptureUnsupported;
  ++state().calls.waits;
  return run_all(stream_of(queue));
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new FakeEvent;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t queue) {
  FakeStream& stream = stream_of(queue);
  *event = {&stream, stream.done + stream.waiting.size()};
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t queue, cudaEvent_t event, unsigned) {
  return put(queue, [at = *event] { return run_until(*at.stream, at.place); });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t queue, cudaStreamCaptureMode) {
  stream_of(queue).captured = std::make_unique<FakeGraph>();
  state().captures.insert(&stream_of(queue));
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t queue, cudaGraph_t* graph) {
  *graph = stream_of(queue).captured.release();
  state().captures.erase(&stream_of(queue));
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t queue) {
  for (const Operation& operation : graph->operations) put(queue, operation);
  return cudaSuccess;
}

FakeCudaCalls fake_cuda_calls() { return state().calls; }
void fake_cuda_set_devices(int count) {
  state().devices = count;
  state().fault.clear();
}
void fake_cuda_set_seed(unsigned seed) { state().seed = seed; }

// SPDX-License-Identifier: BSD-3-Clause
// Device: the functions through which host code reaches a GPU, or the emulator in its place.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "leeway/gpu/emulator.h"
#include "leeway/gpu/layout.h"

namespace leeway::gpu {

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;
  // CTAs that have work at the same time.
  virtual unsigned resident() const = 0;

  // In the order of a queue (cudaStream_t, hipStream_t); nothing waits, nothing is allocated. They
  // throw leeway::Error if the device refuses.
  virtual void clear(void* memory, std::size_t bytes, void* queue) = 0;
  virtual void find_range(const CompressArgs& args, void* queue) = 0;
  virtual void compress(const CompressArgs& args, void* queue) = 0;
  virtual void find_frames(const DecompressArgs& args, void* queue) = 0;
  virtual void decompress(const DecompressArgs& args, void* queue) = 0;

  // For the conveniences that wait.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) = 0;
  virtual void copy(void* to, const void* from, std::size_t bytes, void* queue) = 0;
  virtual void wait(void* queue) = 0;
};

// Memory of a device that ends with its owner.
class DeviceMemory {
 public:
  DeviceMemory(Device& device, std::size_t bytes)
      : device_(device), memory_(device.allocate(bytes > 0 ? bytes : 1)) {}
  ~DeviceMemory() { device_.release(memory_); }
  DeviceMemory(const DeviceMemory&) = delete;
  template <class T = u8>
  T* get() const {
    return static_cast<T*>(memory_);
  }

 private:
  Device& device_;
  void* memory_;
};

// Runs kernels on the processor, in the memory of the host. Says what they did.
class EmulatedDevice : public Device {
 public:
  explicit EmulatedDevice(const emulator::Options& options = {}) : options_(options) {}
  std::string name() const override { return "emulator"; }
  unsigned resident() const override { return options_.resident; }
  void clear(void* memory, std::size_t bytes, void* queue) override;
  void find_range(const CompressArgs& args, void* queue) override;
  void compress(const CompressArgs& args, void* queue) override;
  void find_frames(const DecompressArgs& args, void* queue) override;
  void decompress(const DecompressArgs& args, void* queue) override;
  void* allocate(std::size_t bytes) override;
  void release(void* memory) override;
  void copy(void* to, const void* from, std::size_t bytes, void* queue) override;
  void wait(void*) override {}

  const emulator::Counts& counts() const { return counts_; }
  // Calls so far.
  struct Calls {
    unsigned clears = 0, kernels = 0, allocations = 0, copies = 0;
  };
  const Calls& calls() const { return calls_; }

 protected:
  // A kernel with its arguments, as kernels.cu has it.
  struct Kernel {
    std::string name;
    const void* args;
    std::size_t args_bytes;
  };
  // Starts it: body() is a thread. Other code of the same kernel may take its place.
  virtual void run(const Kernel& kernel, const emulator::Launch& launch,
                   const std::function<void(void*)>& body);

 private:
  emulator::Options options_;
  emulator::Counts counts_;
  Calls calls_;
};

// A GPU by its number. Throws leeway::Error with the reason if there is no driver or no such
// device, or if this build has no code for GPUs.
std::unique_ptr<Device> open_device(int number);
// "emulator", or the number of a GPU.
std::unique_ptr<Device> open_device(const std::string& name);

}  // namespace leeway::gpu

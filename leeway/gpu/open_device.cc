// SPDX-License-Identifier: BSD-3-Clause
// Open device: loads the library with the kernels and reaches a GPU through it.
#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "leeway/base/error.h"
#include "leeway/gpu/device.h"
#include "leeway/gpu/device_library.h"

namespace leeway::gpu {
namespace {

[[noreturn]] void fail_device(const std::string& what) {
  throw Error(Errc::unsupported, "no GPU: " + what + "; 'emulator' runs the kernels on the host");
}

class LoadedDevice final : public Device {
 public:
  LoadedDevice(int number, leeway_open_device_function* open) : number_(number) {
    if (const char* wrong = open(number, &functions_)) fail_device(wrong);
    if (functions_.version != LEEWAY_DEVICE_VERSION)
      fail_device("libleeway_cuda.so is of another version than libleeway");
  }
  std::string name() const override { return functions_.name; }
  unsigned resident() const override { return functions_.resident; }

  void clear(void* memory, std::size_t bytes, void* queue) override {
    check(functions_.clear(number_, memory, bytes, queue));
  }
  void find_range(const CompressArgs& args, void* queue) override {
    launch(LEEWAY_KERNEL_RANGE, args.layout, args.chunks, &args, queue);
  }
  void compress(const CompressArgs& args, void* queue) override {
    launch(LEEWAY_KERNEL_COMPRESS, args.layout, args.chunks, &args, queue);
  }
  void find_frames(const DecompressArgs& args, void* queue) override {
    launch(LEEWAY_KERNEL_FIND_FRAMES, args.layout, 1, &args, queue);
  }
  void decompress(const DecompressArgs& args, void* queue) override {
    launch(LEEWAY_KERNEL_DECOMPRESS, args.layout, args.wanted.count, &args, queue);
  }
  void update(const UpdateArgs& args, void* queue) override {
    launch(LEEWAY_KERNEL_UPDATE, args.compress.layout, args.wanted.count, &args, queue);
  }
  void order(void* before, void* after) override {
    check(functions_.order(number_, before, after));
  }
  int locate(const void* memory) const override {
    int device = kHost;
    check(functions_.locate(memory, &device));
    return device;
  }
  void* allocate(std::size_t bytes, void* queue) override {
    void* memory = nullptr;
    check(functions_.allocate(number_, bytes, &memory, queue));
    return memory;
  }
  void release(void* memory, void* queue) override { functions_.release(number_, memory, queue); }
  void copy(void* to, const void* from, std::size_t bytes, void* queue) override {
    check(functions_.copy(number_, to, from, bytes, queue));
  }
  void wait(void* queue) override { check(functions_.wait(number_, queue)); }

 private:
  static void check(const char* wrong) {
    if (wrong) throw Error(Errc::io, std::string("the GPU refuses: ") + wrong);
  }
  void launch(int kernel, const Layout& layout, u32 chunks, const void* args, void* queue) {
    const unsigned ctas = std::clamp(chunks, 1u, std::max(1u, functions_.resident));
    check(functions_.launch(number_, kernel, int(layout.is_f64), ctas, args, queue));
  }

  int number_;
  leeway_device_functions functions_{};
};

// Beside this library or program, in the lib of its tree, or where the system looks.
void* load_library() {
  const char* const name = "libleeway_cuda.so";
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&load_library), &info) && info.dli_fname) {
    const auto here = std::filesystem::path(info.dli_fname).parent_path();
    for (const char* const folder : {"", "lib", "../" LEEWAY_LIBDIR})
      if (void* found = dlopen((here / folder / name).c_str(), RTLD_NOW | RTLD_LOCAL)) return found;
  }
  return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

std::unique_ptr<Device> open_device(int number) {
  void* const library = load_library();  // counted, and never given back
  if (!library)
    fail_device(
        "libleeway_cuda.so is not installed (leeway was built without CUDA, or its package "
        "for GPUs is missing)");
  auto* const open =
      reinterpret_cast<leeway_open_device_function*>(dlsym(library, "leeway_open_device"));
  if (!open) fail_device("libleeway_cuda.so is not a library of leeway");
  return std::make_unique<LoadedDevice>(number, open);
}

std::unique_ptr<Device> open_device(const std::string& name) {
  if (name == "emulator") return std::make_unique<EmulatedDevice>();
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size() || number < 0)
    fail_argument("a device is 'emulator' or the number of a GPU, not '" + name + "'");
  return open_device(number);
}

}  // namespace leeway::gpu

// SPDX-License-Identifier: BSD-3-Clause
// PTX device: the emulated device, whose kernels are those that nvcc made.
#pragma once

#include <string>

#include "leeway/base/error.h"
#include "leeway/gpu/device.h"
#include "tests/ptx/lane.h"

namespace leeway::gpu::ptx {

class PtxDevice final : public EmulatedDevice {
 public:
  // The program outlives the device.
  explicit PtxDevice(const Program& program, const emulator::Options& options = {})
      : EmulatedDevice(options), program_(program), profile_(program) {}
  std::string name() const override { return "emulator, with PTX for " + program_.target; }
  const Profile& profile() const { return profile_; }

 private:
  void run(const Kernel& kernel, const emulator::Launch& launch,
           const std::function<void(void*)>&) override {
    const Function& function = program_.kernel(kernel.name);
    try {
      EmulatedDevice::run(kernel, launch, [&](void* shared) {
        Lane(program_, profile_, shared, launch.shared_bytes)
            .run(function, kernel.args, kernel.args_bytes);
      });
    } catch (const Error& error) {
      throw Error(error.code(), std::string(error.what()) + ", near line " +
                                    std::to_string(profile_.line) + " of the PTX");
    }
  }

  const Program& program_;
  Profile profile_;
};

}  // namespace leeway::gpu::ptx

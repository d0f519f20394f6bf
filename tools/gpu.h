// SPDX-License-Identifier: BSD-3-Clause
// The option --device: arrays compressed and decompressed on a GPU, or on the emulator.
#pragma once

#include <vector>

#include "tools/cli.h"

namespace leeway::cli {

void add_device_option(CLI::App& verb, std::string& device);

// The recipe of a device if none is named.
inline constexpr const char* kDeviceRecipe = "cuszp2-outlier";

// As compress() of the library; fill values are those that are declared.
CompressReport compress_on_device(const std::string& device, const View& view,
                                  CompressOptions options, const Sink& sink);
// A box of the array of a stream.
Array decompress_on_device(const std::string& device, const ByteSource& stream, const Box& box);

// Seconds of kernels, arrays and streams being in the memory of the device.
struct DeviceTimes {
  std::string name;
  u64 stream_bytes = 0;
  std::vector<double> compress_seconds, decompress_seconds;
};
DeviceTimes time_device(const std::string& device, const Array& array, CompressOptions options,
                        unsigned repeat, Array& decoded);

// `leeway model gpu`: how fast a GPU would be.
void add_gpu_model(CLI::App& model);

// What the doctor says: {"device", "emulator"}, "ok" or a complaint each, and whether all is well.
Json examine_gpu(bool& healthy);

}  // namespace leeway::cli

// SPDX-License-Identifier: BSD-3-Clause
#include "tools/gpu.h"

#include <cmath>
#include <limits>

#include "leeway/gpu/plan.h"

namespace leeway::cli {

void add_device_option(CLI::App& verb, std::string& device) {
  verb.add_option("--device", device,
                  "0, 1, ...: a GPU makes or reads the stream, the same bytes; emulator: its "
                  "kernels run on this processor, slowly")
      ->type_name("NAME");
}

CompressReport compress_on_device(const std::string& device, const View& view,
                                  CompressOptions options, const Sink& sink) {
  options.detect_fills = false;
  const Bytes stream = gpu::compress_on(*gpu::open_device(device), view, options);
  sink(stream);
  const Info info = inspect(stream);
  CompressReport report;
  report.input_bytes = view.shape.size() * size_of(view.dtype);
  report.output_bytes = stream.size();
  report.abs_bound = info.header.abs_bound;
  report.min = info.header.min;
  report.max = info.header.max;
  report.recipe = info.header.recipe;
  report.fills = info.header.fills;
  report.statement = info.statement;
  return report;
}

Array decompress_on_device(const std::string& device, const ByteSource& stream, const Box& box) {
  Bytes storage;
  const ByteView bytes = stream.read(0, stream.size(), storage);
  Array array(inspect(bytes).header.dtype, box.shape);
  gpu::decompress_on(*gpu::open_device(device), bytes, array.view(), box.first);
  return array;
}

DeviceTimes time_device(const std::string& device, const Array& array, CompressOptions options,
                        unsigned repeat, Array& decoded) {
  const auto opened = gpu::open_device(device);
  const View like(nullptr, array.dtype(), array.shape());
  const gpu::Plan plan(options, like);
  const auto bytes = size_t(array.bytes());
  const gpu::DeviceMemory values(*opened, bytes), stream(*opened, plan.most_bytes()),
      workspace(*opened, plan.workspace_bytes()), report(*opened, sizeof(gpu::Report));
  auto* const made = report.get<gpu::Report>();
  DeviceTimes times;
  times.name = opened->name();
  opened->copy(values.get(), array.data(), bytes, nullptr);
  opened->wait(nullptr);
  const auto check = [&] {
    gpu::Report found;
    opened->copy(&found, made, sizeof found, nullptr);
    opened->wait(nullptr);
    gpu::check_report(found);
    return found.bytes;
  };
  for (unsigned pass = 0; pass < repeat; ++pass) {
    opened->copy(values.get(), array.data(), bytes, nullptr);
    opened->wait(nullptr);
    const double start = seconds_now();
    plan.compress(*opened, values.get(), stream.get(), plan.most_bytes(), made, workspace.get(),
                  nullptr);
    opened->wait(nullptr);
    const double compressed = seconds_now();
    times.stream_bytes = check();
    const double again = seconds_now();
    plan.decompress(*opened, stream.get(), size_t(times.stream_bytes), nullptr, values.get(), made,
                    workspace.get(), nullptr);
    opened->wait(nullptr);
    times.decompress_seconds.push_back(seconds_now() - again);
    times.compress_seconds.push_back(compressed - start);
    check();
  }
  opened->copy(decoded.view().data, values.get(), bytes, nullptr);
  opened->wait(nullptr);
  return times;
}

namespace {

// "ok", or what differs from the host.
std::string device_trial(const std::string& device) {
  std::vector<float> values(3000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(float(i) * 0.01f);
  for (size_t i = 0; i < values.size(); i += 97)
    values[i] = i % 2 ? std::numeric_limits<float>::infinity() : 1e30f;
  const Shape shape{30, 100};
  const View view(reinterpret_cast<const std::byte*>(values.data()), DType::f32, shape);
  CompressOptions options;
  options.bound = Bound::rel(1e-3);
  options.detect_fills = false;
  options.chunk = {7, 100};
  try {
    const auto opened = gpu::open_device(device);
    for (const char* recipe : {"cuszp2-outlier", "cuszp2-plain", "ceresz"}) {
      options.recipe = recipe;
      const Bytes stream = compress(values.data(), shape, options);
      if (gpu::compress_on(*opened, view, options) != stream)
        return fmt::format("{}: other bytes than on the host", recipe);
      Array array(DType::f32, shape);
      gpu::decompress_on(*opened, stream, array.view());
      const Array expected = decompress(stream);
      if (std::memcmp(array.data(), expected.data(), size_t(expected.bytes())) != 0)
        return fmt::format("{}: other values than on the host", recipe);
    }
    return "ok";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

Json examine_gpu(bool& healthy) {
  Json result;
  result["emulator"] = device_trial("emulator");
  healthy = result["emulator"] == "ok";
  try {
    result["name"] = gpu::open_device(0)->name();
  } catch (const Error& error) {
    result["device"] = error.what();  // a machine without a GPU is healthy
    return result;
  }
  result["device"] = device_trial("0");
  healthy = healthy && result["device"] == "ok";
  return result;
}

}  // namespace leeway::cli

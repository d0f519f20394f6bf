// SPDX-License-Identifier: BSD-3-Clause
// Waiting: the conveniences of plan.h, for arrays and streams in the memory of the host.
#include <cstring>

#include "leeway/gpu/plan.h"

namespace leeway::gpu {

void check_report(const Report& report) {
  const std::string where =
      report.chunk == kNoChunk ? "" : " (chunk " + std::to_string(report.chunk) + ")";
  switch (report.status) {
    case kOk:
      return;
    case kInvalidArgument:
      fail_argument("the stream is not of the array that the plan is for");
    case kCorrupt:
      throw Error(Errc::corrupt, "the stream is damaged" + where);
    case kTooSmall:
      throw Error(Errc::too_small, "the memory given is too small for the stream, which has " +
                                       std::to_string(report.bytes) + " bytes");
    default:
      throw Error(Errc::unsupported, "a chunk needs what only the host has" + where);
  }
}

namespace {

// Where a report comes back from the device.
class Reported {
 public:
  explicit Reported(Device& device) : device_(device), memory_(device, sizeof(Report)) {}
  Report* get() const { return memory_.get<Report>(); }
  Report wait() const {
    Report report;
    device_.copy(&report, get(), sizeof report, nullptr);
    device_.wait(nullptr);
    return report;
  }

 private:
  Device& device_;
  DeviceMemory memory_;
};

// The values one behind the other.
Bytes contiguous(const View& view) {
  Bytes values(size_t(view.shape.size()) * size_of(view.dtype));
  gather(view, values.data());
  return values;
}

}  // namespace

Bytes compress_on(Device& device, const View& view, const CompressOptions& options,
                  Report* report) {
  const Bytes values = contiguous(view);
  const Plan plan(options, View(nullptr, view.dtype, view.shape));
  const DeviceMemory on_device(device, values.size()), stream(device, plan.most_bytes()),
      workspace(device, plan.workspace_bytes());
  const Reported reported(device);
  device.copy(on_device.get(), values.data(), values.size(), nullptr);
  plan.compress(device, on_device.get(), stream.get(), plan.most_bytes(), reported.get(),
                workspace.get(), nullptr);
  const Report found = reported.wait();
  if (report) *report = found;
  check_report(found);
  Bytes bytes(size_t(found.bytes));
  device.copy(bytes.data(), stream.get(), bytes.size(), nullptr);
  device.wait(nullptr);
  return bytes;
}

void decompress_on(Device& device, ByteView stream, const MutableView& out, const Index& first,
                   Report* report) {
  const MemorySource source(stream);
  const Header header = inspect(stream).header;
  const auto on_host = [&] {
    decompress_into(StreamReader(source), first, out, {});
    if (report) *report = {};
  };
  if (!is_device_recipe(header.recipe, header.dtype) || header.chunk.size() > kMostChunkValues ||
      header.is_growing || inspect(stream).form == Form::brief)
    return on_host();
  const Plan plan(header, View(nullptr, header.dtype, header.shape));
  const size_t bytes = size_t(out.shape.size()) * size_of(out.dtype);
  const DeviceMemory values(device, bytes), on_device(device, stream.size()),
      workspace(device, plan.workspace_bytes());
  const Reported reported(device);
  device.copy(on_device.get(), stream.data(), stream.size(), nullptr);
  const View part(values.get<std::byte>(), out.dtype, out.shape);
  if (out.shape == header.shape)
    plan.decompress(device, on_device.get(), stream.size(), nullptr, values.get(), reported.get(),
                    workspace.get(), nullptr);
  else
    plan.decompress_region(device, on_device.get(), stream.size(), nullptr, first, part,
                           reported.get(), workspace.get(), nullptr);
  const Report found = reported.wait();
  if (report) *report = found;
  if (found.status == kUnsupported) return on_host();
  check_report(found);
  Bytes decoded(bytes);
  device.copy(decoded.data(), values.get(), bytes, nullptr);
  device.wait(nullptr);
  const auto* from = reinterpret_cast<const std::byte*>(decoded.data());
  const size_t width = size_of(out.dtype);
  for_each_row(out, [&](std::byte* row, size_t count, std::ptrdiff_t stride) {
    copy_row(from, std::ptrdiff_t(width), row, stride, count, width);
    from += count * width;
  });
}

}  // namespace leeway::gpu

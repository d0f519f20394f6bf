// SPDX-License-Identifier: BSD-3-Clause
// The C interface of leeway/gpu/. Nothing is thrown across it.
#include <cstddef>
#include <memory>

#include "leeway/c_context.h"
#include "leeway/gpu.h"
#include "leeway/gpu/plan.h"

using leeway::gpu::Report;

static_assert(sizeof(leeway_gpu_report) == sizeof(Report) &&
              offsetof(leeway_gpu_report, abs_bound) == offsetof(Report, abs_bound) &&
              offsetof(leeway_gpu_report, stored) == offsetof(Report, stored));

struct leeway_gpu {
  std::unique_ptr<leeway::gpu::Device> device;
  std::string name;
};
struct leeway_gpu_plan {
  leeway_gpu* device;
  leeway::gpu::Plan plan;
};

namespace {

Report* own(leeway_gpu_report* report) { return reinterpret_cast<Report*>(report); }
const Report* own(const leeway_gpu_report* report) {
  return reinterpret_cast<const Report*>(report);
}

leeway::Index index_of(const uint64_t* first, const leeway::View& view) {
  leeway::require(first || view.shape.rank() == 0, "no first index given");
  leeway::Index index{};
  std::copy_n(first, view.shape.rank(), index.begin());
  return index;
}

}  // namespace

leeway_status leeway_gpu_open(leeway_context* context, const char* name, leeway_gpu** device) {
  return leeway::guarded(context, [&] {
    leeway::require(name && device, "no name or no place for a device given");
    auto opened = leeway::gpu::open_device(std::string(name));
    const std::string its_name = opened->name();
    *device = new leeway_gpu{std::move(opened), its_name};
  });
}
void leeway_gpu_close(leeway_gpu* device) { delete device; }
const char* leeway_gpu_name(const leeway_gpu* device) { return device ? device->name.c_str() : ""; }

leeway_status leeway_gpu_plan_create(leeway_context* context, leeway_gpu* device,
                                     const leeway_array* like, leeway_gpu_plan** plan) {
  return leeway::guarded(context, [&] {
    leeway::require(device && plan, "no device or no place for a plan given");
    *plan = new leeway_gpu_plan{device,
                                {context->options, leeway::view_of_array<const std::byte>(like)}};
  });
}

leeway_status leeway_gpu_plan_for_stream(leeway_context* context, leeway_gpu* device,
                                         const void* stream, size_t bytes, leeway_gpu_plan** plan) {
  return leeway::guarded(context, [&] {
    leeway::require(device && stream && plan, "no device, stream or place for a plan given");
    const leeway::ByteView view(static_cast<const leeway::u8*>(stream), bytes);
    const auto size = leeway::header_bytes(view.first(std::min(bytes, leeway::kPreambleBytes)));
    leeway::require(size <= bytes, "more of the stream is needed to see its header");
    const leeway::Header header = leeway::read_header(view.first(size_t(size)));
    *plan =
        new leeway_gpu_plan{device, {header, leeway::View(nullptr, header.dtype, header.shape)}};
  });
}
void leeway_gpu_plan_free(leeway_gpu_plan* plan) { delete plan; }
size_t leeway_gpu_workspace(const leeway_gpu_plan* plan) {
  return plan ? plan->plan.workspace_bytes() : 0;
}
size_t leeway_gpu_most(const leeway_gpu_plan* plan) { return plan ? plan->plan.most_bytes() : 0; }

leeway_status leeway_gpu_compress(leeway_context* context, const leeway_gpu_plan* plan,
                                  const void* values, void* stream, size_t capacity,
                                  leeway_gpu_report* report, void* workspace, void* queue) {
  return leeway::guarded(context, [&] {
    leeway::require(plan && stream && report && workspace, "a pointer is missing");
    plan->plan.compress(*plan->device->device, values, stream, capacity, own(report), workspace,
                        queue);
  });
}

leeway_status leeway_gpu_decompress(leeway_context* context, const leeway_gpu_plan* plan,
                                    const void* stream, size_t bytes, const leeway_gpu_report* made,
                                    void* values, leeway_gpu_report* report, void* workspace,
                                    void* queue) {
  return leeway::guarded(context, [&] {
    leeway::require(plan && stream && report && workspace, "a pointer is missing");
    plan->plan.decompress(*plan->device->device, stream, bytes, own(made), values, own(report),
                          workspace, queue);
  });
}

leeway_status leeway_gpu_decompress_region(leeway_context* context, const leeway_gpu_plan* plan,
                                           const void* stream, size_t bytes,
                                           const leeway_gpu_report* made, const uint64_t* first,
                                           const leeway_array* part, leeway_gpu_report* report,
                                           void* workspace, void* queue) {
  return leeway::guarded(context, [&] {
    leeway::require(plan && stream && report && workspace, "a pointer is missing");
    const leeway::View view = leeway::view_of_array<const std::byte>(part);
    plan->plan.decompress_region(*plan->device->device, stream, bytes, own(made),
                                 index_of(first, view), view, own(report), workspace, queue);
  });
}

leeway_status leeway_gpu_update(leeway_context* context, const leeway_gpu_plan* plan, void* stream,
                                size_t bytes, const leeway_gpu_report* made, size_t capacity,
                                const uint64_t* first, const leeway_array* part,
                                leeway_gpu_report* report, void* workspace, void* queue) {
  return leeway::guarded(context, [&] {
    leeway::require(plan && stream && report && workspace, "a pointer is missing");
    const leeway::View view = leeway::view_of_array<const std::byte>(part);
    plan->plan.update(*plan->device->device, stream, bytes, own(made), capacity,
                      index_of(first, view), view, own(report), workspace, queue);
  });
}
leeway_status leeway_gpu_update_room(leeway_context* context, const leeway_gpu_plan* plan,
                                     const leeway_array* part, size_t* bytes) {
  return leeway::guarded(context, [&] {
    leeway::require(plan && bytes, "a pointer is missing");
    *bytes = plan->plan.update_bytes(leeway::view_of_array<const std::byte>(part));
  });
}

leeway_status leeway_gpu_to_host(leeway_context* context, const leeway_gpu_plan* plan,
                                 const leeway_gpu_report* report, const void* stream, void* host,
                                 size_t capacity, size_t* bytes, void* queue) {
  return leeway::guarded(context, [&] {
    leeway::require(plan && report && stream && bytes, "a pointer is missing");
    leeway::gpu::Device& device = *plan->device->device;
    Report found;
    device.copy(&found, report, sizeof found, queue);
    device.wait(queue);
    leeway::gpu::check_report(found);
    *bytes = size_t(found.bytes);
    if (capacity < *bytes || !host)
      throw leeway::Error(leeway::Errc::too_small, "the memory given is too small for the stream");
    device.copy(host, stream, *bytes, queue);
    device.wait(queue);
  });
}

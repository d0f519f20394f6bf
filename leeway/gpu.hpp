// SPDX-License-Identifier: BSD-3-Clause
// leeway on a GPU, for C++: leeway/gpu.h with owners and exceptions. docs/GPU.md shows how it is
// used.
//
//   leeway::Gpu gpu("0");                       // or "emulator"
//   leeway::GpuPlan plan(gpu, options, view);   // shape, strides and type of the view, not its
//   data cudaMalloc(&workspace, plan.workspace()), cudaMalloc(&stream, plan.most());
//   plan.compress(values, stream, plan.most(), report, workspace, queue);
//
// Functions that get a queue (cudaStream_t) only put work into it. They throw leeway::Error for
// what the host can know; the rest is in the report, on the device.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "leeway/gpu.h"
#include "leeway/leeway.hpp"

namespace leeway {

class Gpu {
 public:
  explicit Gpu(const std::string& name = "0") {
    leeway_gpu* opened = nullptr;
    call([&](leeway_context* c) { return leeway_gpu_open(c, name.c_str(), &opened); });
    device_.reset(opened);
  }
  std::string name() const { return leeway_gpu_name(device_.get()); }
  leeway_gpu* get() const { return device_.get(); }

  // Calls f(context), and throws what it says.
  template <class F>
  static void call(const F& f) {
    const std::unique_ptr<leeway_context, decltype(&leeway_destroy)> context(leeway_create(),
                                                                             &leeway_destroy);
    if (!context) throw std::bad_alloc();
    const leeway_status status = f(context.get());
    if (status != LEEWAY_OK) throw Error(code_of(status), leeway_message(context.get()));
  }

 private:
  static Errc code_of(leeway_status status) {
    switch (status) {
      case LEEWAY_INVALID_ARGUMENT:
        return Errc::invalid_argument;
      case LEEWAY_CORRUPT:
        return Errc::corrupt;
      case LEEWAY_UNSUPPORTED:
        return Errc::unsupported;
      case LEEWAY_IO:
        return Errc::io;
      case LEEWAY_TOO_SMALL:
        return Errc::too_small;
      default:
        return Errc::internal;
    }
  }
  std::unique_ptr<leeway_gpu, decltype(&leeway_gpu_close)> device_{nullptr, &leeway_gpu_close};
};

// For any number of arrays of one shape, on any number of queues. The device outlives it.
class GpuPlan {
 public:
  // Bound, recipe, chunk shape and fill values of the options; the other options have no meaning
  // on a device. The default recipe of the options is none of a GPU's.
  GpuPlan(const Gpu& gpu, const CompressOptions& options, const View& like) {
    const Array array(like);
    Gpu::call([&](leeway_context* c) {
      for (const Limit& limit : options.bound.limits())
        if (const auto bad =
                leeway_set_bound(c, std::string(name_of(limit.kind)).c_str(), limit.value);
            bad != LEEWAY_OK)
          return bad;
      if (const auto bad = leeway_set_recipe(c, options.recipe.c_str()); bad != LEEWAY_OK)
        return bad;
      const auto chunk = options.chunk.extents();
      if (const auto bad = leeway_set_chunk(c, uint32_t(chunk.size()), chunk.data());
          bad != LEEWAY_OK)
        return bad;
      for (const double fill : options.fills) leeway_add_fill(c, fill);
      for (const auto bits : options.fill_bits) leeway_add_fill_bits(c, bits);
      return leeway_gpu_plan_create(c, gpu.get(), &array.array, place());
    });
  }
  // For a stream whose first bytes are in the memory of the host.
  GpuPlan(const Gpu& gpu, ByteView begin) {
    Gpu::call([&](leeway_context* c) {
      return leeway_gpu_plan_for_stream(c, gpu.get(), begin.data(), begin.size(), place());
    });
  }

  std::size_t workspace() const { return leeway_gpu_workspace(plan_.get()); }
  std::size_t most() const { return leeway_gpu_most(plan_.get()); }

  void compress(const void* values, void* stream, std::size_t capacity, leeway_gpu_report* report,
                void* workspace, void* queue) const {
    Gpu::call([&](leeway_context* c) {
      return leeway_gpu_compress(c, plan_.get(), values, stream, capacity, report, workspace,
                                 queue);
    });
  }
  // bytes = 0: as many as `made` says, the report of the compressor.
  void decompress(const void* stream, std::size_t bytes, const leeway_gpu_report* made,
                  void* values, leeway_gpu_report* report, void* workspace, void* queue) const {
    Gpu::call([&](leeway_context* c) {
      return leeway_gpu_decompress(c, plan_.get(), stream, bytes, made, values, report, workspace,
                                   queue);
    });
  }
  // Random access, reading: to the memory of `part`.
  void decompress_region(const void* stream, std::size_t bytes, const leeway_gpu_report* made,
                         const Index& first, const View& part, leeway_gpu_report* report,
                         void* workspace, void* queue) const {
    const Array array(part);
    Gpu::call([&](leeway_context* c) {
      return leeway_gpu_decompress_region(c, plan_.get(), stream, bytes, made, first.data(),
                                          &array.array, report, workspace, queue);
    });
  }
  // Random access, writing: boxes of whole chunks; `capacity` is that of the stream, with
  // update_room() to spare.
  void update(void* stream, std::size_t bytes, const leeway_gpu_report* made, std::size_t capacity,
              const Index& first, const View& part, leeway_gpu_report* report, void* workspace,
              void* queue) const {
    const Array array(part);
    Gpu::call([&](leeway_context* c) {
      return leeway_gpu_update(c, plan_.get(), stream, bytes, made, capacity, first.data(),
                               &array.array, report, workspace, queue);
    });
  }
  std::size_t update_room(const View& part) const {
    const Array array(part);
    std::size_t bytes = 0;
    Gpu::call([&](leeway_context* c) {
      return leeway_gpu_update_room(c, plan_.get(), &array.array, &bytes);
    });
    return bytes;
  }

  // Waits: the stream in the memory of the host. Throws what the report says.
  Bytes to_host(const leeway_gpu_report* report, const void* stream, void* queue) const {
    std::size_t bytes = 0;
    Bytes host(most());
    Gpu::call([&](leeway_context* c) {
      return leeway_gpu_to_host(c, plan_.get(), report, stream, host.data(), host.size(), &bytes,
                                queue);
    });
    host.resize(bytes);
    return host;
  }

 private:
  // A view as C has it.
  struct Array {
    std::int64_t strides[kMaxRank];
    leeway_array array;

    explicit Array(const View& view) {
      for (std::size_t axis = 0; axis < view.shape.rank(); ++axis)
        strides[axis] = view.strides[axis];
      array = {const_cast<std::byte*>(view.data), int(view.dtype), int(view.shape.rank()),
               view.shape.extents().data(), strides};
    }
    Array(const Array&) = delete;
  };
  struct Free {
    void operator()(leeway_gpu_plan* plan) const { leeway_gpu_plan_free(plan); }
  };
  // Where a function of C puts the plan.
  class Place {
   public:
    explicit Place(std::unique_ptr<leeway_gpu_plan, Free>& owner) : owner_(owner) {}
    ~Place() { owner_.reset(made_); }
    operator leeway_gpu_plan**() { return &made_; }

   private:
    std::unique_ptr<leeway_gpu_plan, Free>& owner_;
    leeway_gpu_plan* made_ = nullptr;
  };
  Place place() { return Place(plan_); }

  std::unique_ptr<leeway_gpu_plan, Free> plan_;
};

}  // namespace leeway

// SPDX-License-Identifier: BSD-3-Clause
// Plan: what the host can know before it starts kernels: the shape of an array and its chunks, the
// recipe, the bound, the header. A plan is used for any number of arrays of the same shape.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "leeway/gpu/device.h"
#include "leeway/leeway.hpp"

namespace leeway::gpu {

class Plan {
 public:
  // For arrays of the type, shape and strides of `like`, whose data are ignored, with the bound,
  // recipe, chunk shape and fill values of the options; detection of fill values is off on a
  // device. Throws Errc::unsupported, with the recipes there are, if a device cannot do it.
  Plan(const CompressOptions& options, const View& like);
  // For the array of a stream, decompressed into a view like this.
  Plan(const Header& header, const View& like);

  // Bytes of device memory that a call needs for itself.
  std::size_t workspace_bytes() const;
  // A capacity that is always enough for a stream.
  std::size_t most_bytes() const;
  const Header& header() const { return header_; }

  // Pointers are to device memory, aligned to 16 bytes. The report is written when all is done.
  void compress(Device& device, const void* values, void* stream, std::size_t capacity,
                Report* report, void* workspace, void* queue) const;
  // bytes = 0: as many as the report of the compressor says, which may still be on its way.
  void decompress(Device& device, const void* stream, std::size_t bytes, const Report* made,
                  void* values, Report* report, void* workspace, void* queue) const;
  // A box of the array, into memory that begins with its first value.
  void decompress_region(Device& device, const void* stream, std::size_t bytes, const Report* made,
                         const Index& first, const View& part, Report* report, void* workspace,
                         void* queue) const;
  // Random-access write: the box of the shape of `part` that begins at `first` gets new values,
  // under the bound of the stream. Boxes are made of whole chunks. New frames and a new tail go
  // behind the stream, for which `capacity` must leave room (update_bytes()); the report says how
  // many bytes it has then. With another status than kOk it is as it was, and has as many as
  // before.
  void update(Device& device, void* stream, std::size_t bytes, const Report* made,
              std::size_t capacity, const Index& first, const View& part, Report* report,
              void* workspace, void* queue) const;
  // Room that is always enough.
  std::size_t update_bytes(const View& part) const;

 private:
  Wanted wanted_of(const Index& first, const View& part) const;
  CompressArgs compress_args(void* stream, std::size_t capacity, Report* report,
                             void* workspace) const;
  void set_up(const View& like);
  Workspace workspace_at(void* memory) const;
  std::size_t zeros_bytes() const { return 8 * (kZerosBefore + std::size_t(chunks_)); }
  void start(Device& device, const DecompressArgs& args, void* queue) const;
  DecompressArgs decompress_args(const void* stream, std::size_t bytes, const Report* made,
                                 Report* report, void* workspace) const;

  Header header_;
  Bytes header_bytes_, expected_;
  u32 resolved_at_ = 0, chunks_ = 0;
  Layout layout_{};
  Recipe recipe_{};
  double abs_bound_ = 0, rel_bound_ = 0;
};

// The recipes that a device has, for messages.
std::string device_recipes();
// Whether the device has this recipe for this type, and chunks of this shape.
bool is_device_recipe(const std::string& recipe, DType dtype);

// Throws what a report says.
void check_report(const Report& report);

// Conveniences that wait: arrays and streams in the memory of the host. What the device cannot
// decompress is decompressed by the host.
Bytes compress_on(Device& device, const View& view, const CompressOptions& options,
                  Report* report = nullptr);
void decompress_on(Device& device, ByteView stream, const MutableView& out, const Index& first = {},
                   Report* report = nullptr);

}  // namespace leeway::gpu

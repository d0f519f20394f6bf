// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/parallel/agreement.h"

#include "leeway/base/hash.h"
#include "leeway/leeway.hpp"
#include "leeway/stream/fields.h"

namespace leeway::parallel {

void Agreement::add(const char* what, u64 value) {
  names_.push_back(what);
  values_.push_back(value);
}

void Agreement::add(const char* what, ByteView bytes) { add(what, hash_of(bytes)); }

void Agreement::reach(const Team& team) const {
  // The smallest of each value, and the smallest of its complement, which is the largest.
  std::vector<u64> smallest = values_;
  for (const u64 value : values_) smallest.push_back(~value);
  team.min(smallest);
  for (size_t i = 0; i < values_.size(); ++i)
    if (smallest[i] != ~smallest[values_.size() + i])
      fail_argument(std::string("the ranks disagree on the ") + names_[i]);
}

void add_settings(Agreement& agreement, const CompressOptions& options) {
  Writer bound, regions;
  put_bound(options.bound, bound);
  for (const RegionBound& region : options.regions) {
    regions.put_array(std::span<const u64>(region.box.first));
    regions.put_array(region.box.shape.extents());
    regions.put(region.bound);
  }
  const std::string build = version();
  agreement.add("version of leeway", bytes_of(std::span(build)));
  agreement.add("bound", bound.bytes());
  agreement.add("bounds of regions", regions.bytes());
  agreement.add("recipe", bytes_of(std::span(options.recipe)));
  agreement.add("fill values", hash_of(bytes_of(std::span(options.fills))) ^
                                   ~hash_of(bytes_of(std::span(options.fill_bits))));
  agreement.add("search for fill values", u64(options.detect_fills));
  agreement.add("chunk", bytes_of(options.chunk.extents()));
  agreement.add("growth", u64(options.growing));
}

void agree_on_array(const Team& team, const std::string& path, DType dtype, const Shape& shape,
                    const CompressOptions& compress, const leeway_write_options& options) {
  Agreement agreement;
  agreement.add("file", ByteView(reinterpret_cast<const u8*>(path.data()), path.size()));
  agreement.add("element type", u64(dtype));
  agreement.add("shape", bytes_of(shape.extents()));
  add_settings(agreement, compress);
  // One by one: what lies between them may differ.
  const u64 numbers[] = {u64(options.exclusive),  u64(options.not_durable), u64(options.check),
                         u64(options.unbalanced), u64(options.writers),     options.stripe,
                         options.streamed};
  agreement.add("options", bytes_of(std::span<const u64>(numbers)));
  agreement.reach(team);
}

}  // namespace leeway::parallel

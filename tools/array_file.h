// SPDX-License-Identifier: BSD-3-Clause
// ArrayFile: an array read from a raw file, a .npy file, a stream (.lwy), a variable of an HDF5 or
// netCDF file (file.nc:t), or standard input.
#pragma once

#include <sys/stat.h>

#include <memory>
#include <optional>
#include <string>

#include "leeway/leeway.hpp"
#include "tools/cli.h"
#include "tools/signals.h"

namespace leeway::cli {

// A file mapped into memory, or standard input read into it.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);  // "-": standard input
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  // To be called now and then: what was read need not stay in memory.
  void let_go();
  // To be called when all is read: throws if the file is no longer what it was at the beginning.
  void check_unchanged() const;

 private:
  void map();

  std::string path_;
  int file_ = -1;  // none: standard input
  struct stat status_ {};
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
  std::optional<Mapped> noted_;  // while it is mapped
  std::vector<std::byte> read_;
};

// All values of an array.
inline View view_of(const Array& array) { return {array.data(), array.dtype(), array.shape()}; }

struct ArrayFile {
  View view;
  std::shared_ptr<MappedFile> file;  // keeps the values, if they come straight from a file
  std::shared_ptr<Array> array;      // keeps the values, if they had to be decoded or swapped
  std::vector<u64> fills = {};       // what the file says of fill values, as bit patterns
};

// Shape and type come from the file itself (.npy, .lwy), from the options, or from the name:
// field_100x500x500.f32
ArrayFile open_array(const std::string& path, const ArrayOptions& options);
// The same, with packed variables unpacked: f64, with NaN for fill values.
ArrayFile open_unpacked(const std::string& path, const ArrayOptions& options);

// What the name of a raw file says.
struct NameInfo {
  std::optional<Shape> shape;
  std::optional<DType> dtype;
};
NameInfo read_name(const std::string& path);

}  // namespace leeway::cli

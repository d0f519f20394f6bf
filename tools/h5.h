// SPDX-License-Identifier: BSD-3-Clause
// HDF5 files, netCDF-4 among them: variables in, variables out. Classic netCDF files are turned
// into netCDF-4 on the way.
#pragma once

#include <hdf5.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hdf5/parameters.h"
#include "leeway/leeway.hpp"
#include "tools/container.h"
#include "tools/signals.h"

namespace leeway::cli::h5 {

// An open HDF5 object, closed at the end of its life.
class Handle {
 public:
  Handle() = default;
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0 && close_) close_(id_);
  }
  operator hid_t() const { return id_; }

 private:
  hid_t id_ = H5I_INVALID_HID;
  herr_t (*close_)(hid_t) = nullptr;
};

// Throws, with what HDF5 has to say, if an id or a status is negative.
hid_t checked(hid_t id, const std::string& what);

bool is_dimension_scale(hid_t dataset);
// What an attribute says; "" if it is missing or no text.
std::string text_of(hid_t object, const char* name);
// The first number of an attribute; nothing if it is missing or no number.
std::optional<double> number_of(hid_t object, const char* name);

// Packed numbers, which represent scale * stored + offset.
struct Packing {
  double scale = 1, offset = 0;
};

// One dataset, open for reading.
class Variable {
 public:
  Variable(hid_t file, const std::string& name);
  const std::string& name() const { return name_; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  hid_t id() const { return dataset_; }
  // Floating-point numbers, or integers that represent packed floating-point numbers.
  bool holds_floating() const;
  bool is_scale() const;           // a coordinate
  bool is_bare_dimension() const;  // of netCDF, without values
  // Adds what the attributes _FillValue and missing_value, and the dataset itself, declare.
  void declare_fills(CompressOptions& options) const;
  // The fill value of the dataset, if it was given one, as bits.
  std::optional<u64> fill_bits() const;
  // All fill values as bit patterns; `values` are some values of this variable.
  std::vector<u64> fill_patterns(const View& values) const;
  // |scale_factor| of a packed variable; 1 for any other.
  double unit() const;
  // Whether integers are meant to be read as unsigned ones, contrary to their type.
  bool is_unsigned_in_disguise() const;
  // What a reader makes of the stored numbers; nothing if these are the values.
  std::optional<Packing> packing() const;
  // The values of a part, in the byte order of this machine.
  Array read(const Box& part) const;
  Array read() const { return read({{}, shape_}); }
  void write(const Box& part, const Array& values) const;
  // Calls f for parts along the first axis of about 128 MB, whole multiples of `thickness`.
  void for_each_part(u64 thickness, const std::function<void(const Box&, const Array&)>& f) const;
  // The same in parts of about `bytes`, until f says no.
  void while_parts(u64 bytes, const std::function<bool(const Array&)>& f) const;
  std::optional<Shape> chunk() const;
  // The parameters of leeway's filter, if it was applied. They fit the chunks.
  const std::optional<hdf5::Parameters>& filter() const { return filter_; }

 private:
  std::string name_;
  Handle dataset_;
  DType dtype_;
  Shape shape_;
  std::optional<hdf5::Parameters> filter_;
};

// The parameters of leeway's filter, if a dataset has it. Throws if they do not fit the chunks of
// the dataset: HDF5 believes a filter and would read on after the end of what it has decoded.
std::optional<hdf5::Parameters> filter_of(hid_t dataset, const std::string& name);

// The path of a file in a folder of its own. Both are removed at the end of its life.
class TemporaryFile {
 public:
  TemporaryFile();
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  Unfinished folder_, file_;
};

class File {
 public:
  // A classic netCDF file is copied, with these variables or all of them, into a temporary file.
  explicit File(const std::string& path, const std::vector<std::string>& names = {});
  hid_t id() const { return file_; }
  bool has(const std::string& name) const;
  Variable variable(const std::string& name) const;  // throws with the names of all variables if there is none
  std::string list() const;                          // names of all variables, for messages
  // The paths of all datasets of integers or floating-point numbers, with at least one axis.
  std::vector<std::string> arrays() const;

 private:
  std::string path_;
  std::unique_ptr<TemporaryFile> temporary_;
  Handle file_;  // closed before the folder goes
};

// What is to be done with a variable when a file is copied.
struct Plan {
  std::optional<hdf5::Parameters> parameters;  // nothing: no filter, and nothing said of a reader
  Shape chunk;
  std::vector<std::pair<std::string, std::string>> attributes;
};

// What the streams of a variable's chunks say.
struct Stored {
  u64 chunks = 0, stream_bytes = 0, special = 0, exact = 0;
  double abs_bound = 0, max_error = 0;
  std::string recipe;
};
Stored inspect_stored(const Variable& variable);

// Copies everything of a file; the variables of the plans are written anew. `done` is told after
// each variable which plan it was, and may add attributes.
void copy_file(const File& from, const std::string& to,
               const std::vector<std::pair<std::string, Plan>>& plans,
               const std::function<void(size_t plan, const Variable& written)>& done);

void remove_attribute(hid_t object, const std::string& name);  // if it is there
void write_attribute(hid_t object, const std::string& name, const std::string& text);
void write_attribute(hid_t object, const std::string& name, double value);

// Copies a classic netCDF file into a netCDF-4 file; only these variables and what describes them,
// if names are given.
void convert_classic(const std::string& from, const std::string& to,
                     const std::vector<std::string>& names);

}  // namespace leeway::cli::h5

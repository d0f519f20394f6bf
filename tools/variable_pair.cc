// SPDX-License-Identifier: BSD-3-Clause
// Variables of HDF5 and netCDF files as sides of a pair.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tools/h5_axes.h"
#include "tools/h5_losses.h"
#include "tools/pair_files.h"

namespace leeway::cli {
namespace {

struct OpenVariable {
  OpenVariable(const h5::Address& address, const std::string& name)
      : file(address.path, {name}), variable(file.variable(name)) {}
  h5::File file;
  h5::Variable variable;
  std::vector<u64> fills;
  std::optional<h5::Packing> packing;
};

Array unpacked(const Array& stored, const std::vector<u64>& fills, const h5::Packing& packing) {
  Array result(DType::f64, stored.shape());
  auto* out = reinterpret_cast<double*>(result.view().data);
  visit_dtype(stored.dtype(), [&]<class T>(std::type_identity<T>) {
    for (const T value : stored.as<T>())
      *out++ = std::ranges::find(fills, u64(bits_of(value))) == fills.end()
                   ? packing.scale * double(value) + packing.offset
                   : std::numeric_limits<double>::quiet_NaN();
  });
  return result;
}

u64 storage_of(const h5::Variable& variable) { return H5Dget_storage_size(variable.id()); }

}  // namespace

OpenSide open_variable_side(const h5::Address& address, const std::string& name) {
  const auto open = std::make_shared<OpenVariable>(address, name);
  const h5::Variable& variable = open->variable;
  const Shape& shape = variable.shape();
  const u64 first = shape.rank() > 0 && shape.size() > 0
                        ? std::max<u64>(1, (u64(4) << 20) / (shape.size() / shape[0]))
                        : 1;
  const Array some = variable.read(slab(shape, 0, first));
  open->fills = variable.fill_patterns(view_of(some));
  open->packing = variable.packing();
  OpenSide result;
  result.name = name;
  result.units = h5::text_of(variable.id(), "units");
  result.long_name = h5::text_of(variable.id(), "long_name");
  result.standard_name = h5::text_of(variable.id(), "standard_name");
  result.axes = h5::axes_of(variable);
  result.shape = shape;
  result.bytes = shape.size() * size_of(variable.dtype());
  result.stored_bytes = storage_of(variable);
  if (variable.filter()) {
    const h5::Stored stored = h5::inspect_stored(variable);
    result.bound = stored.abs_bound * variable.unit();
    result.recipe = stored.recipe;
    result.notes = {
        {"Recipe", stored.recipe},
        {"Largest error, as the streams state it", number(stored.max_error * variable.unit())}};
  }
  if (const auto losses = h5::earlier_losses(variable)) {
    result.bound_asked = losses->bound;
    result.notes.emplace_back("lossy_compression_bound", losses->bound);
  }
  for (const char* attribute : {"lossy_compression", "lossy_compression_version"})
    if (const std::string text = h5::text_of(variable.id(), attribute); !text.empty())
      result.notes.emplace_back(attribute, text);
  result.is_packed = open->packing.has_value();
  result.side.dtype = open->packing ? DType::f64 : variable.dtype();
  if (const auto chunk = variable.chunk()) result.side.chunk = *chunk;
  if (!open->packing) result.side.fills = open->fills;
  result.side.read = [open](const Box& box) {
    auto array = std::make_shared<Array>(open->variable.read(box));
    if (open->packing)
      array = std::make_shared<Array>(unpacked(*array, open->fills, *open->packing));
    return Part{View(array->data(), array->dtype(), array->shape()), array};
  };
  result.keeper = open;
  return result;
}

std::vector<std::string> variables_of_pair(const h5::Address& original,
                                           const h5::Address* decoded) {
  if (!original.names.empty()) return original.names;
  if (decoded && !decoded->names.empty()) return decoded->names;
  const h5::File file(decoded ? decoded->path : original.path), other(original.path);
  std::vector<std::string> compressed, floating;
  for (const std::string& name : file.arrays()) {
    const h5::Variable variable = file.variable(name);
    if (variable.is_scale() || variable.shape().size() == 0 || !other.has(name)) continue;
    if (variable.filter()) compressed.push_back(name);
    if (variable.holds_floating()) floating.push_back(name);
  }
  if (compressed.empty()) compressed = floating;
  if (compressed.empty())
    fail_argument("'" + file.list() + "': no variable that could be compared");
  return compressed;
}

}  // namespace leeway::cli

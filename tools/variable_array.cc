// SPDX-License-Identifier: BSD-3-Clause
// A variable of an HDF5 or netCDF file as an array.
#include <algorithm>
#include <memory>

#include "tools/h5.h"
#include "tools/variables.h"

namespace leeway::cli {
namespace {

// scale * stored + offset.
ArrayFile unpacked(const ArrayFile& packed, const h5::Packing& packing) {
  auto array = std::make_shared<Array>(DType::f64, packed.view.shape);
  auto* out = reinterpret_cast<double*>(array->view().data);
  visit_dtype(packed.view.dtype, [&]<class T>(std::type_identity<T>) {
    const auto* stored = reinterpret_cast<const T*>(packed.view.data);
    for (size_t i = 0; i < size_t(packed.view.shape.size()); ++i)
      out[i] = std::ranges::find(packed.fills, u64(bits_of(stored[i]))) == packed.fills.end()
                   ? packing.scale * double(stored[i]) + packing.offset
                   : std::numeric_limits<double>::quiet_NaN();
  });
  return {View(array->data(), array->dtype(), array->shape()), nullptr, array};
}

h5::Variable only_variable(const h5::File& file, const h5::Address& address) {
  if (address.names.size() != 1)
    fail_argument("name one variable: " + address.path + ":NAME; there are " + file.list());
  return file.variable(address.names[0]);
}

ArrayFile whole(const h5::Variable& variable) {
  auto array = std::make_shared<Array>(variable.read());
  const View view(array->data(), array->dtype(), array->shape());
  return {view, nullptr, array, variable.fill_patterns(view)};
}

}  // namespace

ArrayFile open_variable(const h5::Address& address) {
  const h5::File file(address.path, address.names);
  return whole(only_variable(file, address));
}

ArrayFile open_unpacked_variable(const h5::Address& address) {
  const h5::File file(address.path, address.names);
  const h5::Variable variable = only_variable(file, address);
  const std::optional<h5::Packing> packing = variable.packing();
  return packing ? unpacked(whole(variable), *packing) : whole(variable);
}

Array read_variable(const h5::Address& address, const std::function<Box(const Shape&)>& choose) {
  const h5::File file(address.path, address.names);
  const h5::Variable variable = only_variable(file, address);
  return variable.read(choose(variable.shape()));
}

}  // namespace leeway::cli

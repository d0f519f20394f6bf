// SPDX-License-Identifier: BSD-3-Clause
// Arrays of Python as the library takes them, without a copy, with their type and fill values.
#pragma once

#include <algorithm>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "leeway/leeway.hpp"

namespace leeway::python {

namespace nb = nanobind;

using InArray = nb::ndarray<nb::ro, nb::device::cpu>;
using OutArray = nb::ndarray<nb::device::cpu>;
using InBytes = nb::ndarray<const u8, nb::ndim<1>, nb::c_contig, nb::ro, nb::device::cpu>;

inline DType dtype_of(const nb::dlpack::dtype& type) {
  const auto base = [&](DType first) {
    return DType(int(first) + std::countr_zero(type.bits / 8u));
  };
  if (type.lanes == 1 && type.bits % 8 == 0 && type.bits <= 64) {
    if (type.code == u8(nb::dlpack::dtype_code::Float) && type.bits == 16) return DType::f16;
    if (type.code == u8(nb::dlpack::dtype_code::Float) && type.bits == 32) return DType::f32;
    if (type.code == u8(nb::dlpack::dtype_code::Float) && type.bits == 64) return DType::f64;
    if (type.code == u8(nb::dlpack::dtype_code::Bfloat) && type.bits == 16) return DType::bf16;
    if (type.code == u8(nb::dlpack::dtype_code::Int)) return base(DType::i8);
    if (type.code == u8(nb::dlpack::dtype_code::UInt)) return base(DType::u8);
  }
  throw nb::type_error("leeway compresses integers and floating-point numbers, no other types");
}

// `as`: the type to take the elements for, where Python has none of its own (bf16 in u16).
template <class Byte, class A>
BasicView<Byte> view_of_array(const A& array, const std::string& as) {
  if (array.ndim() > kMaxRank) fail_argument("an array may have at most 8 axes");
  if (as == "bf16" && array.itemsize() != 2) fail_argument("a bf16 number has 2 bytes");
  std::array<u64, kMaxRank> extents{};
  Strides strides{};
  const auto bytes = std::ptrdiff_t(array.itemsize());
  for (size_t axis = 0; axis < array.ndim(); ++axis) {
    extents[axis] = array.shape(axis);
    strides[axis] = std::ptrdiff_t(array.stride(axis)) * bytes;
  }
  const DType dtype = as == "bf16" ? DType::bf16 : dtype_of(array.dtype());
  auto* data = static_cast<Byte*>(const_cast<void*>(static_cast<const void*>(array.data())));
  return {data, dtype, Shape(std::span<const u64>(extents.data(), array.ndim())), strides};
}

// Python's integers have a sign.
inline std::vector<u64> numbers_of(const std::vector<i64>& numbers, const char* what) {
  for (const i64 number : numbers)
    if (number < 0)
      fail_argument(std::string(what) + " cannot be negative: " + std::to_string(number));
  return {numbers.begin(), numbers.end()};
}

inline Shape shape_of(const std::vector<i64>& extents, const char* what) {
  return Shape(std::span<const u64>(numbers_of(extents, what)));
}

inline Box box_of(const std::vector<i64>& first, const Shape& shape) {
  if (first.size() != shape.rank())
    fail_argument("the first index of a region does not have as many axes as the region");
  Box box{{}, shape};
  std::ranges::copy(numbers_of(first, "the first index of a region"), box.first.begin());
  return box;
}

// First index, extents, bound.
using Regions = std::vector<std::tuple<std::vector<i64>, std::vector<i64>, double>>;

inline std::vector<RegionBound> region_bounds_of(const Regions& regions) {
  std::vector<RegionBound> result;
  for (const auto& [first, extents, bound] : regions)
    result.push_back({box_of(first, shape_of(extents, "an extent of a region")), bound});
  return result;
}

inline nb::tuple tuple_of(const Shape& shape) {
  nb::list list;
  for (const u64 extent : shape.extents()) list.append(extent);
  return nb::tuple(list);
}

// Calls make(memory) for a stream of at most this many bytes, which says how many it has written.
// Memory that is not touched costs nothing.
template <class F>
nb::bytes stream_of_at_most(u64 most, F&& make) {
  PyObject* stream = PyBytes_FromStringAndSize(nullptr, Py_ssize_t(most));
  if (!stream) throw nb::python_error();
  auto owner = nb::steal<nb::bytes>(stream);
  const u64 used =
      make(std::span<u8>(reinterpret_cast<u8*>(PyBytes_AsString(stream)), size_t(most)));
  stream = owner.release().ptr();
  if (_PyBytes_Resize(&stream, Py_ssize_t(used)) != 0) throw nb::python_error();
  return nb::steal<nb::bytes>(stream);
}

}  // namespace leeway::python

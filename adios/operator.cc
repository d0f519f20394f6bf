// SPDX-License-Identifier: BSD-3-Clause
// leeway as an operator of ADIOS2 (2.12 or later): every block that a rank puts becomes a stream,
// which says its bound itself. Nothing of ADIOS2 is linked; its header has all of the interface.
//
//   <variable name="rho"><operation type="plugin">
//     <parameter key="PluginName" value="leeway"/> <parameter key="PluginLibrary"
//     value="leeway_adios"/> <parameter key="abs" value="1e-3"/>
//   </operation></variable>
#include <adios2/plugin/PluginOperatorInterface.h>
#include <leeway/leeway.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using adios2::DataType;
using adios2::Dims;
using adios2::Params;

struct Element {
  DataType adios;
  int leeway;
  size_t bytes;
};
constexpr Element kElements[] = {
    {DataType::Float, LEEWAY_F32, 4},  {DataType::Double, LEEWAY_F64, 8},
    {DataType::Int8, LEEWAY_I8, 1},    {DataType::Int16, LEEWAY_I16, 2},
    {DataType::Int32, LEEWAY_I32, 4},  {DataType::Int64, LEEWAY_I64, 8},
    {DataType::UInt8, LEEWAY_U8, 1},   {DataType::UInt16, LEEWAY_U16, 2},
    {DataType::UInt32, LEEWAY_U32, 4}, {DataType::UInt64, LEEWAY_U64, 8}};

size_t bytes_of(int dtype) {
  for (const Element& element : kElements)
    if (element.leeway == dtype) return element.bytes;
  throw std::invalid_argument("leeway: a stream of a type that ADIOS2 does not have");
}

double number(const std::string& key, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0')
    throw std::invalid_argument("leeway: '" + text + "' is no number for " + key);
  return value;
}

class Operator final : public adios2::plugin::PluginOperatorInterface {
 public:
  explicit Operator(const Params& params)
      : PluginOperatorInterface(params), leeway_(leeway_create()) {
    if (!leeway_) throw std::bad_alloc();
    try {
      for (const auto& [key, value] : params) take(key, value);
      if (relative_ && !range_)
        throw std::invalid_argument(
            "leeway: an operator sees one block at a time, so 'rel' and 'psnr' need 'range', the "
            "maximum - minimum of all values; or give 'abs'");
      if (relative_) bound("abs", *relative_ * *range_);
    } catch (...) {
      leeway_destroy(leeway_);
      throw;
    }
  }
  ~Operator() override { leeway_destroy(leeway_); }
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  bool IsDataTypeValid(const DataType type) const override { return dtype_of(type) != 0; }

  size_t Operate(const char* in, const Dims&, const Dims& count, const DataType type,
                 char* out) override {
    const std::vector<uint64_t> shape = shape_of(count);
    ask_for_accuracy();
    const leeway_array array = {const_cast<char*>(in), dtype_of(type), int(shape.size()),
                                shape.data(), nullptr};
    size_t size = 0;
    size_t bytes = bytes_of(array.dtype);
    for (const uint64_t extent : shape) bytes *= extent;
    check(leeway_compress_into(leeway_, &array, out, room(bytes), &size));
    leeway_info info;
    check(leeway_inspect(leeway_, out, size, &info));
    m_AccuracyProvided = {info.abs_bound, std::numeric_limits<double>::infinity(), false};
    return size;
  }

  size_t InverseOperate(const char* in, const size_t size, char* out) override {
    leeway_info info;
    check(leeway_inspect(leeway_, in, size, &info));
    const leeway_array array = {out, info.dtype, info.rank, info.shape, nullptr};
    check(leeway_decompress(leeway_, in, size, &array));
    size_t bytes = bytes_of(info.dtype);
    for (int axis = 0; axis < info.rank; ++axis) bytes *= info.shape[axis];
    return bytes;
  }

  // ADIOS2 may ask before it says the extents. A stream has at most its values and some 100 bytes
  // for each chunk of 2^15 values or more; if it had more, leeway would refuse to write them.
  size_t GetEstimatedSize(const size_t count, const size_t bytes, const size_t,
                          const size_t*) const override {
    return room(count * bytes);
  }

 private:
  static int dtype_of(DataType type) {
    for (const Element& element : kElements)
      if (element.adios == type) return element.leeway;
    return 0;
  }

  // At most eight axes; others are taken together.
  static std::vector<uint64_t> shape_of(const Dims& count) {
    std::vector<uint64_t> shape(count.begin(), count.end());
    while (shape.size() > LEEWAY_MAX_RANK) {
      shape[1] *= shape[0];
      shape.erase(shape.begin());
    }
    return shape;
  }

  // ADIOS2 hands on keys in small letters.
  void take(const std::string& key, const std::string& value) {
    if (key == "abs" || key == "l2" || key == "pointwise")
      bound(key.c_str(), number(key, value));
    else if (key == "lossless")
      bound("lossless", 0);
    else if (key == "rel")
      relative_ = number(key, value);
    else if (key == "range")
      range_ = number(key, value);
    else if (key == "recipe" || key == "preset")
      check(leeway_set_recipe(leeway_, value.c_str()));
    else if (key == "fill")
      leeway_add_fill(leeway_, number(key, value));
    else if (key == "threads")
      leeway_set_threads(leeway_, unsigned(number(key, value)));
    else if (key != "pluginname" && key != "pluginlibrary" &&
             !std::string_view(key).starts_with("_"))
      throw std::invalid_argument(
          "leeway: there is no parameter '" + key +
          "'; there are abs, rel with range, l2, pointwise, lossless, recipe, fill, threads");
  }

  void bound(const char* kind, double value) {
    check(leeway_set_bound(leeway_, kind, value));
    has_bound_ = true;
  }

  // Without a bound of its own, the operator takes what the variable asks for.
  void ask_for_accuracy() {
    if (has_bound_) return;
    if (m_AccuracyRequested.error <= 0 || m_AccuracyRequested.relative)
      throw std::invalid_argument(
          "leeway: a bound is needed: how much error may a value have? Parameter 'abs', or "
          "SetAccuracy() with an absolute error");
    check(leeway_set_bound(leeway_, "abs", m_AccuracyRequested.error));
    has_bound_ = true;
  }

  static size_t room(size_t bytes) { return bytes + bytes / 64 + 4096; }

  void check(leeway_status status) const {
    if (status != LEEWAY_OK)
      throw std::runtime_error(std::string("leeway: ") + leeway_message(leeway_));
  }

  leeway_context* leeway_;
  std::optional<double> relative_, range_;
  bool has_bound_ = false;
};

}  // namespace

extern "C" {

__attribute__((visibility("default"))) adios2::plugin::PluginOperatorInterface* OperatorCreate(
    const Params& params) {
  return new Operator(params);
}

__attribute__((visibility("default"))) void OperatorDestroy(
    adios2::plugin::PluginOperatorInterface* object) {
  delete object;
}
}

// SPDX-License-Identifier: BSD-3-Clause
// Places in memory and queues are numbers here; python/leeway/gpu.py keeps what they belong to.
#include "python/gpu.h"

#include <nanobind/stl/shared_ptr.h>

#include <cstring>
#include <memory>

#include "leeway/gpu/plan.h"
#include "python/arrays.h"
#include "python/lock.h"

namespace leeway::python {
namespace {

using gpu::Device;
using gpu::Report;

void* at(u64 place) { return reinterpret_cast<void*>(place); }

class Gpu {
 public:
  explicit Gpu(const std::string& name)
      : device_(gpu::open_device(name)),
        number_(name == "emulator" ? Device::kHost : std::stoi(name)) {}

  std::string name() const { return device_->name(); }
  int number() const { return number_; }
  int locate(u64 place) const { return device_->locate(at(place)); }
  void order(u64 before, u64 after) const { device_->order(at(before), at(after)); }
  Device& device() const { return *device_; }
  // The lock is free while others work.
  void wait(u64 queue) const {
    const Unlocked unlocked;
    device_->wait(at(queue));
  }

 private:
  std::unique_ptr<Device> device_;
  int number_;
};

// Memory of a device, which comes and goes in the order of a queue.
class Memory {
 public:
  Memory(std::shared_ptr<Gpu> gpu, u64 bytes, u64 queue)
      : gpu_(std::move(gpu)), memory_(gpu_->device(), size_t(bytes), at(queue)), bytes_(bytes) {}

  u64 place() const { return reinterpret_cast<u64>(memory_.get()); }
  u64 bytes() const { return bytes_; }
  // These wait.
  nb::bytes to_host(u64 bytes, u64 queue) const {
    return stream_of_at_most(std::min(bytes, bytes_), [&](std::span<u8> to) {
      const Unlocked unlocked;
      gpu_->device().copy(to.data(), memory_.get(), to.size(), at(queue));
      gpu_->device().wait(at(queue));
      return to.size();
    });
  }
  void from_host(const InBytes& from, u64 queue) const {
    const size_t bytes = std::min<size_t>(from.size(), size_t(bytes_));
    const Unlocked unlocked;
    gpu_->device().copy(memory_.get(), from.data(), bytes, at(queue));
    gpu_->device().wait(at(queue));
  }
  void copy_from(u64 place, u64 bytes, u64 queue) const {
    gpu_->device().copy(memory_.get(), at(place), size_t(std::min(bytes, bytes_)), at(queue));
  }

  // The memory as an array that others can take by DLPack. It lives as long as they do.
  static nb::ndarray<> array(const nb::object& self, const std::string& dtype,
                             const std::vector<size_t>& shape) {
    const auto& memory = nb::cast<const Memory&>(self);
    const nb::dlpack::dtype type = dtype == "f4"   ? nb::dtype<float>()
                                   : dtype == "f8" ? nb::dtype<double>()
                                                   : nb::dtype<u8>();
    const bool is_host = memory.gpu_->number() == Device::kHost;
    return nb::ndarray<>(memory.memory_.get(), shape.size(), shape.data(), self, nullptr, type,
                         is_host ? nb::device::cpu::value : nb::device::cuda::value,
                         is_host ? 0 : memory.gpu_->number());
  }

 private:
  std::shared_ptr<Gpu> gpu_;
  gpu::DeviceMemory memory_;
  u64 bytes_;
};

View like_of(const std::string& dtype, const std::vector<u64>& shape,
             const std::vector<i64>& strides) {
  View like(nullptr, dtype == "f8" ? DType::f64 : DType::f32, Shape(std::span<const u64>(shape)));
  if (dtype != "f4" && dtype != "f8")
    throw Error(Errc::unsupported, "a GPU compresses f32 and f64, not " + dtype);
  for (size_t axis = 0; axis < strides.size() && axis < kMaxRank; ++axis)
    like.strides[axis] = std::ptrdiff_t(strides[axis]);
  return like;
}

class Plan {
 public:
  Plan(std::shared_ptr<Gpu> gpu, const std::string& dtype, const std::vector<u64>& shape,
       const std::vector<i64>& strides, const std::vector<std::pair<std::string, double>>& limits,
       const std::string& recipe, const std::vector<double>& fills,
       const std::vector<u64>& fill_bits, const std::vector<i64>& chunk)
      : gpu_(std::move(gpu)),
        plan_(options_of(limits, recipe, fills, fill_bits, chunk), like_of(dtype, shape, strides)) {
  }
  // For the stream that begins like this, to contiguous values.
  Plan(std::shared_ptr<Gpu> gpu, const InBytes& begin)
      : Plan(std::move(gpu), header_of(ByteView(begin.data(), begin.size()))) {}

  u64 workspace() const { return plan_.workspace_bytes(); }
  u64 most() const { return plan_.most_bytes(); }
  std::string dtype() const { return plan_.header().dtype == DType::f64 ? "f8" : "f4"; }
  nb::tuple shape() const { return tuple_of(plan_.header().shape); }

  void compress(u64 values, u64 stream, u64 capacity, u64 report, u64 workspace, u64 queue) const {
    const Unlocked unlocked;
    plan_.compress(gpu_->device(), at(values), at(stream), size_t(capacity),
                   static_cast<Report*>(at(report)), at(workspace), at(queue));
  }
  // A box; with bytes = 0 the size of the stream is in the report `made`.
  void decompress(u64 stream, u64 bytes, u64 made, const std::vector<i64>& first,
                  const std::vector<u64>& extents, const std::vector<i64>& strides, u64 values,
                  u64 report, u64 workspace, u64 queue) const {
    View part = like_of(dtype(), extents, strides);
    part.data = static_cast<const std::byte*>(at(values));
    const Index begin = box_of(first, part.shape).first;
    const Unlocked unlocked;
    plan_.decompress_region(gpu_->device(), at(stream), size_t(bytes),
                            static_cast<const Report*>(at(made)), begin, part,
                            static_cast<Report*>(at(report)), at(workspace), at(queue));
  }

 private:
  Plan(std::shared_ptr<Gpu> gpu, const Header& header)
      : gpu_(std::move(gpu)), plan_(header, View(nullptr, header.dtype, header.shape)) {}
  static Header header_of(ByteView begin) {
    const u64 size = header_bytes(begin.first(std::min(begin.size(), kPreambleBytes)));
    if (size > begin.size()) fail_corrupt("ends too early");
    return read_header(begin.first(size_t(size)));
  }
  static CompressOptions options_of(const std::vector<std::pair<std::string, double>>& limits,
                                    const std::string& recipe, const std::vector<double>& fills,
                                    const std::vector<u64>& fill_bits,
                                    const std::vector<i64>& chunk) {
    CompressOptions options;
    for (const auto& [kind, value] : limits) options.bound.add(parse_bound_kind(kind), value);
    options.recipe = recipe;
    options.fills = fills;
    options.fill_bits = fill_bits;
    options.detect_fills = false;
    options.chunk = shape_of(chunk, "an extent of a chunk");
    return options;
  }

  std::shared_ptr<Gpu> gpu_;
  gpu::Plan plan_;
};

// What a report says, or raised if it is no good news.
nb::dict read_report(const InBytes& bytes) {
  Report report;
  if (bytes.size() != sizeof report) fail_argument("this is no report");
  std::memcpy(&report, bytes.data(), sizeof report);
  gpu::check_report(report);
  nb::dict result;
  result["bytes"] = report.bytes;
  result["abs_bound"] = report.abs_bound;
  result["max_error"] = report.max_error;
  result["special_values"] = report.special;
  result["exact_values"] = report.exact;
  result["stored_chunks"] = report.stored;
  return result;
}

// Where an array of another library is: place, type, extents, strides in bytes.
nb::tuple describe(const nb::ndarray<nb::ro>& array) {
  nb::list shape, strides;
  for (size_t axis = 0; axis < array.ndim(); ++axis) {
    shape.append(array.shape(axis));
    strides.append(array.stride(axis) * i64(array.itemsize()));
  }
  const auto type = array.dtype();
  const bool is_float = type.code == u8(nb::dlpack::dtype_code::Float) && type.lanes == 1;
  const std::string dtype = (is_float                                        ? "f"
                             : type.code == u8(nb::dlpack::dtype_code::UInt) ? "u"
                                                                             : "x") +
                            std::to_string(type.bits / 8);
  return nb::make_tuple(reinterpret_cast<u64>(array.data()), dtype, nb::tuple(shape),
                        nb::tuple(strides), array.device_type(), array.device_id());
}

}  // namespace

void add_gpu(nb::module_& m) {
  m.def("gpu_report", &read_report);
  m.def("gpu_describe", &describe);
  m.def("gpu_recipes", &gpu::device_recipes);
  m.attr("GPU_REPORT_BYTES") = sizeof(Report);
  nb::class_<Gpu>(m, "Gpu")
      .def(nb::init<const std::string&>())
      .def_prop_ro("name", &Gpu::name)
      .def_prop_ro("number", &Gpu::number)
      .def("locate", &Gpu::locate)
      .def("order", &Gpu::order)
      .def("wait", &Gpu::wait);
  nb::class_<Memory>(m, "GpuMemory")
      .def(nb::init<std::shared_ptr<Gpu>, u64, u64>())
      .def_prop_ro("place", &Memory::place)
      .def_prop_ro("nbytes", &Memory::bytes)
      .def("to_host", &Memory::to_host)
      .def("from_host", &Memory::from_host)
      .def("copy_from", &Memory::copy_from)
      .def_static("array", &Memory::array);
  nb::class_<Plan>(m, "GpuPlan")
      .def(nb::init<std::shared_ptr<Gpu>, const std::string&, const std::vector<u64>&,
                    const std::vector<i64>&, const std::vector<std::pair<std::string, double>>&,
                    const std::string&, const std::vector<double>&, const std::vector<u64>&,
                    const std::vector<i64>&>())
      .def(nb::init<std::shared_ptr<Gpu>, const InBytes&>())
      .def_prop_ro("workspace", &Plan::workspace)
      .def_prop_ro("most", &Plan::most)
      .def_prop_ro("dtype", &Plan::dtype)
      .def_prop_ro("shape", &Plan::shape)
      .def("compress", &Plan::compress)
      .def("decompress", &Plan::decompress);
}

}  // namespace leeway::python

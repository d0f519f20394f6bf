// SPDX-License-Identifier: BSD-3-Clause
// A team whose functions are methods of a Python object (python/leeway/mpi.py), and the collective
// functions on it.
#include "python/team.h"

#include "leeway/parallel/append.h"
#include "leeway/parallel/read.h"
#include "python/arrays.h"
#include "python/watch.h"

namespace leeway::python {
namespace {

using parallel::Team;

nb::object memory(const void* data, u64 bytes, int flags) {
  static char none;  // a view of nothing still points somewhere
  auto* first = bytes > 0 ? static_cast<char*>(const_cast<void*>(data)) : &none;
  PyObject* view = PyMemoryView_FromMemory(first, Py_ssize_t(bytes), flags);
  if (!view) throw nb::python_error();
  return nb::steal(view);
}
nb::object to_read(const void* data, u64 bytes) { return memory(data, bytes, PyBUF_READ); }
nb::object to_fill(void* data, u64 bytes) { return memory(data, bytes, PyBUF_WRITE); }

// The table of a Python object. What its methods raise is kept, and comes out of run().
class PythonTeam {
 public:
  explicit PythonTeam(nb::object object) : object_(std::move(object)) {
    table_.self = this;
    table_.rank = nb::cast<int>(object_.attr("rank"));
    table_.size = nb::cast<int>(object_.attr("size"));
    table_.node = nb::cast<int>(object_.attr("node"));
    table_.nodes = nb::cast<int>(object_.attr("nodes"));
    table_.bcast = [](void* self, void* data, uint64_t bytes, int root) {
      return of(self).call([&](nb::object& o) { o.attr("bcast")(to_fill(data, bytes), root); });
    };
    table_.allgatherv = [](void* self, const void* mine, void* all, const uint64_t* bytes) {
      PythonTeam& team = of(self);
      return team.call([&](nb::object& o) {
        nb::list counts;
        u64 total = 0;
        for (int i = 0; i < team.table_.size; total += bytes[i++]) counts.append(bytes[i]);
        o.attr("allgatherv")(to_read(mine, bytes[team.table_.rank]), to_fill(all, total), counts);
      });
    };
    table_.reduce = [](void* self, uint64_t* values, uint64_t count, int operation) {
      return of(self).call(
          [&](nb::object& o) { o.attr("reduce")(to_fill(values, 8 * count), operation); });
    };
    table_.isend = [](void* self, const void* data, uint64_t bytes, int to, void** request) {
      return of(self).call([&](nb::object& o) {
        *request = o.attr("isend")(to_read(data, bytes), to).release().ptr();
      });
    };
    table_.irecv = [](void* self, void* data, uint64_t bytes, int from, void** request) {
      return of(self).call([&](nb::object& o) {
        *request = o.attr("irecv")(to_fill(data, bytes), from).release().ptr();
      });
    };
    table_.test = [](void* self, void** request) {
      return of(self).call([&](nb::object& o) {
        const nb::handle open(static_cast<PyObject*>(*request));
        if (nb::cast<bool>(o.attr("test")(open))) release(request);
      });
    };
    table_.wait = [](void* self, void** request) {
      return of(self).call([&](nb::object& o) {
        const nb::handle open(static_cast<PyObject*>(*request));
        o.attr("wait")(open);
        release(request);
      });
    };
  }

  // Calls f(team) without the interpreter's lock.
  template <class F>
  void run(Watch& watch, F&& f) {
    const Team team(table_);
    try {
      watch.run([&] { team.together([&] { f(team); }); });
    } catch (const Error&) {
      if (raised_) std::rethrow_exception(raised_);
      throw;
    }
  }

 private:
  static PythonTeam& of(void* self) { return *static_cast<PythonTeam*>(self); }
  static void release(void** request) {
    nb::handle(static_cast<PyObject*>(*request)).dec_ref();
    *request = nullptr;
  }
  template <class F>
  int call(F&& f) {
    int failed = 0;
    with_lock([&] {
      try {
        f(object_);
      } catch (const std::exception&) {
        if (!raised_) raised_ = std::current_exception();
        failed = 1;
      }
    });
    return failed;
  }

  nb::object object_;
  leeway_team table_{};
  std::exception_ptr raised_;
};

DType dtype_named(const std::string& name) {
  for (u8 id = 1; is_dtype(id); ++id)
    if (name_of(DType(id)) == name) return DType(id);
  fail_argument("there is no element type '" + name + "'");
}

using Firsts = std::vector<std::vector<i64>>;
using Limits = std::vector<std::pair<std::string, double>>;

nb::dict write_array(const nb::object& object, const std::string& path,
                     const std::vector<InArray>& arrays, const Firsts& firsts,
                     const std::string& dtype, const std::vector<i64>& shape, const Limits& limits,
                     const std::string& recipe, const std::vector<double>& fills,
                     const std::vector<u64>& fill_bits, bool detect_fills,
                     const std::vector<i64>& chunk, const Regions& regions, i64 threads,
                     bool exclusive, bool durable, bool check, int writers, i64 streamed,
                     bool appends, const nb::object& progress) {
  Watch watch(progress);
  PythonTeam team(object);
  CompressOptions options;
  leeway_write_options how{};
  how.exclusive = exclusive;
  how.not_durable = !durable;
  how.check = check;
  how.writers = writers;
  how.streamed = u64(std::max<i64>(streamed, 0));
  leeway_write_report report{};
  std::vector<parallel::Block> blocks;
  options.execution = watch.execution(threads);
  for (const auto& [kind, value] : limits) options.bound.add(parse_bound_kind(kind), value);
  options.recipe = recipe;
  options.fills = fills;
  options.fill_bits = fill_bits;
  options.detect_fills = detect_fills;
  options.chunk = shape_of(chunk, "an extent of a chunk");
  options.regions = region_bounds_of(regions);
  for (size_t i = 0; i < arrays.size(); ++i) {
    const View view = view_of_array<const std::byte>(arrays[i], dtype == "bf16" ? dtype : "");
    blocks.push_back({box_of(firsts[i], view.shape).first, view});
  }
  team.run(watch, [&](const Team& ranks) {
    report = (appends ? parallel::append : parallel::write)(
        ranks, path, dtype_named(dtype), shape_of(shape, "an extent"), blocks, options, how);
  });
  nb::dict result;
  nb::list seconds, chunk_list;
  for (const double time : report.seconds) seconds.append(time);
  for (size_t axis = 0; axis < shape.size(); ++axis) chunk_list.append(report.chunk[axis]);
  result["input_bytes"] = report.input_bytes;
  result["output_bytes"] = report.output_bytes;
  result["asked_bytes"] = report.asked_bytes;
  result["abs_bound"] = report.abs_bound;
  result["max_error"] = report.max_error;
  result["special_values"] = report.special;
  result["extent"] = report.extent;
  result["chunks"] = report.chunks;
  result["least_chunks"] = report.least_chunks;
  result["most_chunks"] = report.most_chunks;
  result["sent_raw"] = report.sent_raw;
  result["sent_compressed"] = report.sent_compressed;
  result["chunk"] = nb::tuple(chunk_list);
  result["seconds"] = nb::tuple(seconds);
  return result;
}

void read_array(const nb::object& object, const std::string& path,
                const std::vector<OutArray>& arrays, const Firsts& firsts, const std::string& as,
                i64 threads, bool salvage) {
  Watch watch;
  PythonTeam team(object);
  DecompressOptions options;
  options.execution = watch.execution(threads);
  options.salvage = salvage;
  std::vector<parallel::Wish> wishes;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const MutableView view = view_of_array<std::byte>(arrays[i], as);
    wishes.push_back({box_of(firsts[i], view.shape).first, view});
  }
  team.run(watch, [&](const Team& ranks) { parallel::read(ranks, path, wishes, options); });
}

// What a rank cannot even begin, all learn of.
void fail_together(const nb::object& object, const std::string& message) {
  Watch watch;
  PythonTeam team(object);
  team.run(watch, [&](const Team&) { fail_argument(message); });
}

}  // namespace

void add_team(nb::module_& m) {
  m.def("team_write", &write_array, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg("progress").none());
  m.def("team_read", &read_array);
  m.def("team_fail", &fail_together);
}

}  // namespace leeway::python

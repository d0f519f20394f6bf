// SPDX-License-Identifier: BSD-3-Clause
#include "tools/variables.h"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "leeway/quality/compare.h"
#include "tools/h5_cf.h"
#include "tools/output_file.h"

namespace leeway::cli {
namespace {

using h5::Variable;

// Chunks of a file hold about so many values, if nothing else is said.
constexpr u64 kChunkValues = u64(1) << 20;
// Chunks smaller than this cost too much; they are made anew.
constexpr u64 kSmallestChunk = u64(1) << 14;

// "t=abs:0.01", "q=rel:1e-4", "mask=lossless"
struct OwnBound {
  std::string name;
  Bound bound;
};

OwnBound parse_own_bound(const std::string& text) {
  const size_t equals = text.rfind('='), colon = text.find(':', equals);
  const std::string kind = text.substr(std::min(equals + 1, text.size()), colon - equals - 1);
  double value = 0;
  const bool lossless = kind == "lossless" && colon == text.npos;
  const bool number =
      colon != text.npos && detail::parse_number(std::string_view(text).substr(colon + 1), value);
  if (equals != text.npos && (lossless || number))
    return {text.substr(0, equals), Bound().add(parse_bound_kind(kind), value)};
  fail_argument(
      "'" + text +
      "' is not a bound of a variable; write it like t=abs:0.01, t=rel:1e-4 or t=lossless");
}

// One variable with what is asked of it. Packed integers are bounded in the unit they stand for.
struct Task {
  Variable variable;
  Bound asked;              // in that unit
  CompressOptions options;  // with the bound of the stored numbers
};

CompressOptions options_for(const Variable& variable, CompressOptions options, const Bound& asked,
                            const std::vector<std::string>& fills) {
  options.bound = {};
  for (const Limit& limit : asked.limits())
    options.bound.add(limit.kind, limit.kind == BoundKind::abs || limit.kind == BoundKind::l2
                                      ? limit.value / variable.unit()
                                      : limit.value);
  variable.declare_fills(options);
  declare_fills(fills, variable.dtype(), options);
  return options;
}

bool is_pattern(const std::string& name) { return name.find_first_of("*?[") != name.npos; }

bool matches(const std::string& pattern, const std::string& name) {
  return pattern == name || ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

// The variables that patterns and bounds for all may mean, and those that nothing but their own
// name means, with the reason.
struct Candidates {
  std::vector<std::string> names;
  std::vector<std::pair<std::string, std::string>> left_alone;

  Candidates(const h5::File& file, const std::vector<std::string>& excluded) {
    const std::map<std::string, std::string> descriptions = h5::descriptions(file);
    for (const std::string& name : file.arrays()) {
      const Variable variable = file.variable(name);
      if (variable.is_scale() || variable.shape().size() == 0) continue;
      const auto described = descriptions.find(name);
      if (std::ranges::any_of(excluded, [&](auto& pattern) { return matches(pattern, name); }))
        left_alone.emplace_back(name, "it is excluded");
      else if (described != descriptions.end())
        left_alone.emplace_back(name, described->second);
      else
        names.push_back(name);
    }
  }
};

// In the place of every pattern, the names that it means.
std::vector<OwnBound> expanded(const std::vector<OwnBound>& bounds, const Candidates& candidates) {
  std::vector<OwnBound> result;
  for (const OwnBound& bound : bounds) {
    const size_t before = result.size();
    if (!is_pattern(bound.name)) result.push_back(bound);
    if (is_pattern(bound.name))
      for (const std::string& name : candidates.names)
        if (matches(bound.name, name)) result.push_back({name, bound.bound});
    if (result.size() == before) fail_argument("no variable is meant by '" + bound.name + "'");
  }
  return result;
}

std::vector<Task> tasks_of(const h5::File& file, const CompressVariables& asked,
                           const Candidates& candidates) {
  std::vector<OwnBound> own;
  for (const std::string& text : asked.own_bounds) own.push_back(parse_own_bound(text));
  own = expanded(own, candidates);
  std::vector<std::string> names = asked.input.names;
  const bool general = !asked.options.bound.limits().empty();
  if (names.empty() && general)
    std::ranges::copy_if(candidates.names, std::back_inserter(names), [&](const std::string& name) {
      return file.variable(name).is_floating();
    });
  for (const OwnBound& bound : own)
    if (std::ranges::find(names, bound.name) == names.end()) names.push_back(bound.name);
  if (names.empty() && !general)
    fail_argument(
        "a bound is needed: --abs E, --rel E, --psnr DB, --l2 E, --lossless, --ratio R, or "
        "--variable "
        "NAME=abs:E");
  if (names.empty())
    fail_argument("'" + asked.input.path + "' has no floating-point variables" +
                  (candidates.left_alone.empty() ? "" : " but coordinates and the like") +
                  "; name others: " + asked.input.path + ":NAME");
  std::vector<Task> tasks;
  for (const std::string& name : names) {
    Variable variable = file.variable(name);
    // Of several that mean it the last one counts.
    const auto found = std::ranges::find(own.rbegin(), own.rend(), name, &OwnBound::name);
    if (found == own.rend() && !general)
      fail_argument("'" + name + "' needs a bound: --variable " + name +
                    "=abs:E, or --abs E for all");
    const Bound& bound = found == own.rend() ? asked.options.bound : found->bound;
    if (variable.is_unsigned_in_disguise() && !bound.has(BoundKind::lossless))
      fail_argument("'" + name +
                    "' holds unsigned numbers as signed ones (_Unsigned): only --variable " + name +
                    "=lossless keeps them");
    CompressOptions options = options_for(variable, asked.options, bound, asked.fills);
    tasks.push_back({std::move(variable), bound, std::move(options)});
  }
  return tasks;
}

// What is reported of a variable.
struct Outcome {
  std::string name, output, recipe;
  u64 input_bytes = 0, output_bytes = 0;
  double abs_bound = 0, max_error = 0;  // in the unit of the values
  u64 special = 0;
  Bound asked;
};

Json to_json(const Outcome& outcome) {
  Json json;
  json["variable"] = outcome.name;
  json["input_bytes"] = outcome.input_bytes;
  json["output_bytes"] = outcome.output_bytes;
  json["ratio"] = double(outcome.input_bytes) / double(std::max<u64>(outcome.output_bytes, 1));
  json["bound"] = {{"asked", json_of(outcome.asked)}, {"absolute", outcome.abs_bound}};
  json["max_error"] = outcome.max_error;
  json["special_values"] = outcome.special;
  json["recipe"] = outcome.recipe;
  json["output"] = outcome.output;
  return json;
}

void report(const std::vector<Outcome>& outcomes, const Candidates& candidates, bool as_json,
            bool quiet) {
  std::vector<std::pair<std::string, std::string>> left_alone = candidates.left_alone;
  std::erase_if(left_alone, [&](const auto& entry) {
    return std::ranges::find(outcomes, entry.first, &Outcome::name) != outcomes.end();
  });
  if (as_json) {
    Json list = Json::array();
    for (const Outcome& outcome : outcomes) list.push_back(to_json(outcome));
    for (const auto& [name, reason] : left_alone)
      list.push_back({{"variable", name}, {"left_alone", reason}});
    print(list);
  } else if (!quiet) {
    for (const Outcome& o : outcomes)
      fmt::print("{}: {} -> {}, ratio {:.2f}, bound {}, largest error {}\n", printable(o.name),
                 readable_bytes(o.input_bytes), readable_bytes(o.output_bytes),
                 double(o.input_bytes) / double(std::max<u64>(o.output_bytes, 1)),
                 o.abs_bound > 0 ? fmt::format("{:.9g}", o.abs_bound) : "lossless",
                 fmt::format("{:.9g}", o.max_error));
    for (const auto& [name, reason] : left_alone)
      fmt::print("left alone: {}, {}\n", printable(name), reason);
  }
}

View view_of(const Array& array) { return {array.data(), array.dtype(), array.shape()}; }

// The range of a variable's values, read part by part.
std::optional<ValidRange> range_of(const Task& task) {
  std::vector<std::byte> lowest_and_highest;
  const DType dtype = task.variable.dtype();
  task.variable.for_each_part(1, [&](const Box&, const Array& part) {
    const Array found = extremes(view_of(part), task.options);
    lowest_and_highest.insert(lowest_and_highest.end(), found.data(), found.data() + found.bytes());
  });
  const View all(lowest_and_highest.data(), dtype,
                 Shape{lowest_and_highest.size() / size_of(dtype)});
  return value_range(all, task.options);
}

// Whether a variable's values lie so close together that the bound leaves nothing of them. Most
// variables need not be read to the end for that. Constants are what they are.
bool leaves_nothing(const Task& task, double bound) {
  std::optional<Range> range;
  task.variable.while_parts(u64(4) << 20, [&](const Array& part) {
    const std::optional<ValidRange> here = value_range(view_of(part), task.options);
    if (here && !range) range = *here;
    if (here) range->join(*here);
    return !range || range->size() <= bound;
  });
  return range && range->size() > 0 && range->size() < bound;
}

void refuse_to_leave_nothing(const Task& task, double bound, bool force) {
  if (force || bound == 0 || !leaves_nothing(task, bound)) return;
  fail_argument(fmt::format(
      "'{0}': the bound {1:.9g} is larger than the range of its values, nothing would be left of "
      "them; give it one of its own (--variable {0}=abs:E), leave it out (--exclude {0}), or "
      "--force",
      task.variable.name(), bound * task.variable.unit()));
}

double stated(const Bound& bound, BoundKind kind) {
  const auto found = std::ranges::find(bound.limits(), kind, &Limit::kind);
  return found == bound.limits().end() ? 0 : found->value;
}

Outcome to_stream(const Task& task, const std::string& path, bool force) {
  const Array values = task.variable.read();
  OutputFile out(path, force);
  const CompressReport made = compress(View(values.data(), values.dtype(), values.shape()),
                                       task.options, [&](ByteView part) { out.write(part); });
  out.commit();
  const double unit = task.variable.unit();
  return {task.variable.name(),
          path,
          made.recipe,
          made.input_bytes,
          made.output_bytes,
          made.abs_bound * unit,
          made.statement.max_error * unit,
          made.statement.special,
          task.asked};
}

// The bound as the filter takes it: absolute. What refers to the range is resolved here, and the
// fill values that are found on the way are told.
double absolute(Task& task, bool force) {
  double result = std::numeric_limits<double>::infinity();
  for (const Limit& limit : task.options.bound.limits()) {
    if (limit.kind == BoundKind::abs) {
      result = std::min(result, limit.value);
    } else if (limit.kind == BoundKind::lossless) {
      return 0;
    } else if (limit.kind == BoundKind::rel) {
      const std::optional<ValidRange> range = range_of(task);
      if (!range || !(range->size() > 0)) return 0;
      task.options.fill_bits = range->fills;
      result = std::min(result, relative_bound(limit.value, *range));
    } else {
      fail_argument("an HDF5 or netCDF file takes --abs, --rel or --lossless; " +
                    std::string(name_of(limit.kind)) + " needs a stream (.lwy)");
    }
  }
  refuse_to_leave_nothing(task, stated(task.options.bound, BoundKind::abs), force);
  return result;
}

// As the filter takes them: numbers, each once. The fill value of the dataset it knows anyway.
std::vector<double> fills_of(const Task& task) {
  std::vector<double> fills = task.options.fills;
  for (const u64 bits : task.options.fill_bits)
    if (bits != task.variable.fill_bits())
      fills.push_back(visit_dtype(task.variable.dtype(), [&]<class T>(std::type_identity<T>) {
        const T value = std::bit_cast<T>(Bits<T>(bits));
        if constexpr (std::is_integral_v<T>)
          if (static_cast<long double>(value) != static_cast<long double>(double(value)))
            fail_argument(fmt::format(
                "'{}': the filter takes fill values as doubles, and {} is none; write a stream "
                "(-o OUT.lwy), or make it the fill value of the dataset itself",
                task.variable.name(), value));
        return double(value);
      }));
  std::ranges::sort(fills);
  fills.erase(std::ranges::unique(fills).begin(), fills.end());
  return fills;
}

Shape chunk_for(const Variable& variable, const Shape& asked) {
  if (asked.rank() > 0) {
    if (asked.rank() != variable.shape().rank())
      fail_argument("--chunk has another rank than '" + variable.name() + "'");
    return asked;
  }
  const std::optional<Shape> old = variable.chunk();
  if (old && old->size() >= std::min(kSmallestChunk, variable.shape().size())) return *old;
  return default_chunk(variable.shape(), kChunkValues);
}

// Under a temporary name until it is complete.
class Replacement {
 public:
  Replacement(const std::string& path, bool force) : out_(path, force) {
    if (!out_.can_map()) fail_argument("'" + path + "' cannot hold an HDF5 file");
  }
  const std::string& temporary() const { return out_.temporary(); }
  void commit() { out_.commit(); }

 private:
  OutputFile out_;
};

std::vector<Outcome> to_container(const h5::File& file, std::vector<Task>& tasks,
                                  const CompressVariables& asked) {
  Replacement out(asked.output, asked.force);
  std::vector<std::pair<std::string, h5::Plan>> plans;
  for (Task& task : tasks) {
    if (task.variable.shape().rank() == 0)
      fail_argument("'" + task.variable.name() + "' is a single value and cannot be compressed");
    hdf5::Parameters parameters;
    parameters.abs = absolute(task, asked.force);
    parameters.recipe = task.options.recipe;
    parameters.fills = fills_of(task);
    plans.emplace_back(
        task.variable.name(),
        h5::Plan{
            parameters,
            chunk_for(task.variable, task.options.chunk),
            {{"lossy_compression", parameters.abs > 0 ? "leeway: error-bounded compression"
                                                      : "leeway: lossless compression"},
             {"lossy_compression_bound", parameters.abs > 0 ? to_string(task.asked) : "lossless"},
             {"lossy_compression_version", version()}}});
  }
  // The filter is set up by its environment, as in every other program.
  ::setenv("LEEWAY_NUM_THREADS", std::to_string(asked.options.execution.threads).c_str(), 1);
  std::vector<Outcome> outcomes;
  h5::copy_file(file, out.temporary(), plans, [&](size_t plan, const Variable& written) {
    const Task& task = tasks[plan];
    const h5::Stored stored = h5::inspect_stored(written);
    const double unit = written.unit();
    h5::write_attribute(written.id(), "lossy_compression_maximum_error", stored.max_error * unit);
    outcomes.push_back({task.variable.name(), asked.output, stored.recipe,
                        written.shape().size() * size_of(written.dtype()), stored.stream_bytes,
                        stored.abs_bound * unit, stored.max_error * unit, stored.special,
                        task.asked});
    if (asked.options.execution.progress)
      asked.options.execution.progress(double(outcomes.size()) / double(tasks.size()));
  });
  out.commit();
  return outcomes;
}

std::string stream_name(const CompressVariables& asked, const std::string& variable, bool alone) {
  if (alone && !asked.output.empty() && !std::filesystem::is_directory(asked.output))
    return asked.output;
  std::string flat = variable;
  std::ranges::replace(flat, '/', '.');
  const std::filesystem::path input(asked.input.path);
  const auto folder =
      asked.output.empty() ? input.parent_path() : std::filesystem::path(asked.output);
  return (folder / (input.stem().string() + "." + flat + ".lwy")).string();
}

}  // namespace

void CompressVariables::run() const {
  const bool container = h5::is_container_name(output);
  std::vector<std::string> needed = container ? std::vector<std::string>() : input.names;
  if (!needed.empty())
    for (const std::string& text : own_bounds) needed.push_back(parse_own_bound(text).name);
  if (std::ranges::any_of(needed, is_pattern)) needed.clear();
  const h5::File file(input.path, needed);
  for (const std::string& name : excluded)
    if (input.names.empty() && !is_pattern(name) && !file.has(name))
      fail_argument("'" + input.path + "' has no variable '" + name + "' to be left out");
  Candidates candidates(file, excluded);
  std::vector<Task> tasks = tasks_of(file, *this, candidates);
  // Who names the variables need not be told about others.
  if (!input.names.empty() || options.bound.limits().empty()) candidates.left_alone.clear();
  if (container) return report(to_container(file, tasks, *this), candidates, json, quiet);
  if (tasks.size() > 1 && !output.empty() && !std::filesystem::is_directory(output))
    fail_argument(
        "several variables need an HDF5 or netCDF file (-o out.nc) or a folder (-o folder)");
  std::map<std::string, std::string> writers;  // variables by the name of their stream
  for (const Task& task : tasks) {
    const std::string& name = task.variable.name();
    const auto [other, is_new] = writers.emplace(stream_name(*this, name, tasks.size() == 1), name);
    if (!is_new)
      fail_argument("'" + other->second + "' and '" + name + "' would both be written to '" +
                    other->first + "'; compress them one by one, with -o");
  }
  for (const Task& task : tasks)
    refuse_to_leave_nothing(task, stated(task.options.bound, BoundKind::abs), force);
  std::vector<Outcome> outcomes;
  for (const Task& task : tasks)
    outcomes.push_back(
        to_stream(task, stream_name(*this, task.variable.name(), tasks.size() == 1), force));
  report(outcomes, candidates, json, quiet);
}

void DecompressVariables::run() const {
  if (!h5::is_container_name(output))
    fail_argument("where to? give -o OUT.nc or -o OUT.h5, or name a variable: " + input.path +
                  ":NAME -o OUT.npy");
  const h5::File file(input.path);
  std::vector<std::pair<std::string, h5::Plan>> plans;
  for (const std::string& name : file.arrays()) {
    const Variable variable = file.variable(name);
    if (variable.filter()) plans.emplace_back(name, h5::Plan{{}, *variable.chunk(), {}});
  }
  Replacement out(output, force);
  h5::copy_file(file, out.temporary(), plans, {});
  out.commit();
  if (json) {
    Json list = Json::array();
    for (const auto& [name, plan] : plans) list.push_back(name);
    print(Json{{"decompressed", list}});
  } else if (!quiet) {
    for (const auto& [name, plan] : plans) fmt::print("{}: decompressed\n", printable(name));
    if (plans.empty()) fmt::print("no variable was compressed by leeway\n");
  }
}

void VerifyVariables::run() const {
  const h5::File file(input.path);
  std::optional<h5::File> truth;
  if (original) truth.emplace(original->path);
  Json list = Json::array();
  bool fine = true;
  for (const std::string& name : input.names.empty() ? file.arrays() : input.names) {
    const Variable variable = file.variable(name);
    if (!variable.filter()) continue;
    const h5::Stored stored = h5::inspect_stored(variable);
    double max_error = stored.max_error;
    u64 mismatches = 0;
    // Reading checks every checksum.
    variable.for_each_part((*variable.chunk())[0], [&](const Box& part, const Array& decoded) {
      if (!truth) return;
      const Variable before = truth->variable(name);
      if (before.dtype() != variable.dtype() || !(before.shape() == variable.shape()))
        fail_argument("'" + name + "' has another type or shape in '" + original->path + "'");
      const Array values = before.read(part);
      const Comparison found =
          compare(view_of(values), view_of(decoded), before.fill_patterns(view_of(values)), false);
      max_error = std::max(max_error, found.max_abs);
      mismatches += found.special_mismatches;
    });
    const bool holds = max_error <= stored.abs_bound && mismatches == 0;
    fine &= holds;
    list.push_back({{"variable", name},
                    {"verified", holds},
                    {"bound", {{"absolute", stored.abs_bound * variable.unit()}}},
                    {"max_error", max_error * variable.unit()},
                    {"special_mismatches", mismatches}});
    if (!json && (!quiet || !holds))
      fmt::print(holds ? stdout : stderr, "{}{}: largest error {:.9g}, bound {:.9g}{}\n",
                 holds ? "" : "leeway: NOT verified: ", printable(name),
                 max_error * variable.unit(), stored.abs_bound * variable.unit(),
                 mismatches == 0 ? "" : fmt::format(", {} special values differ", mismatches));
  }
  if (list.empty())
    fail_argument("'" + input.path + "' holds no variable that leeway has compressed");
  if (json) print(list);
  if (!fine) throw Ended{kNotVerified};
}

void inspect_variables(const h5::Address& input, bool json) {
  const h5::File file(input.path);
  Json list = Json::array();
  for (const std::string& name : input.names.empty() ? file.arrays() : input.names) {
    const Variable variable = file.variable(name);
    const auto filter = variable.filter();
    Json entry;
    entry["variable"] = name;
    entry["dtype"] = name_of(variable.dtype());
    entry["shape"] = json_of(variable.shape());
    entry["compressed"] = filter.has_value();
    if (filter) {
      const h5::Stored stored = h5::inspect_stored(variable);
      const u64 bytes = variable.shape().size() * size_of(variable.dtype());
      entry["chunk"] = json_of(*variable.chunk());
      entry["chunks"] = stored.chunks;
      entry["bound"] = {{"absolute", stored.abs_bound * variable.unit()}};
      entry["max_error"] = stored.max_error * variable.unit();
      entry["recipe"] = stored.recipe;
      entry["special_values"] = stored.special;
      entry["exact_values"] = stored.exact;
      entry["input_bytes"] = bytes;
      entry["stream_bytes"] = stored.stream_bytes;
      entry["ratio"] = double(bytes) / double(std::max<u64>(stored.stream_bytes, 1));
    }
    list.push_back(entry);
  }
  if (json) return print(list);
  for (const Json& entry : list) {
    const std::string what =
        fmt::format("{}: {} {}", printable(entry["variable"].get<std::string>()),
                    entry["dtype"].get<std::string>(), entry["shape"].dump());
    if (!entry["compressed"].get<bool>()) {
      fmt::print("{}, not compressed by leeway\n", what);
      continue;
    }
    const double bound = entry["bound"]["absolute"].get<double>();
    fmt::print("{}, ratio {:.2f}, bound {}, largest error {}, {} chunks of {}, {}\n", what,
               entry["ratio"].get<double>(), bound > 0 ? number(bound) : "lossless",
               number(entry["max_error"].get<double>()), entry["chunks"].get<u64>(),
               entry["chunk"].dump(), printable(entry["recipe"].get<std::string>()));
  }
}

}  // namespace leeway::cli

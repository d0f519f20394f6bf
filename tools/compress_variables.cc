// SPDX-License-Identifier: BSD-3-Clause
// The variables of a file, compressed: into streams, or into a file of the same kind.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "leeway/derived/together.h"
#include "leeway/hdf5.h"
#include "tools/h5_losses.h"
#include "tools/output_file.h"
#include "tools/variable_bounds.h"
#include "tools/variables.h"

namespace leeway::cli {
namespace {

using h5::Variable;

// About how many values a chunk of a file holds, unless the user says otherwise.
constexpr u64 kChunkValues = u64(1) << 20;
// Chunks smaller than this cost too much; they are made anew.
constexpr u64 kSmallestChunk = u64(1) << 14;

// One variable and the bounds asked for. The bound of packed integers is in unpacked units.
struct Task {
  Variable variable;
  Bound asked;               // in that unit
  derived::PartRules rules;  // in that unit, too
  CompressOptions options;   // with the bound of the stored numbers
  std::optional<h5::Losses> earlier = h5::earlier_losses(variable);
};

CompressOptions options_for(const Variable& variable, CompressOptions options, const Bound& asked,
                            const std::vector<std::string>& fills) {
  options.bound = {};
  for (const Limit& limit : asked.limits())
    options.bound.add(limit.kind, limit.kind == BoundKind::abs || limit.kind == BoundKind::l2
                                      ? limit.value / variable.unit()
                                      : limit.value);
  variable.declare_fills(options);
  for (const std::string& text : fills) declare_fill(options, variable.dtype(), text);
  return options;
}

// Takes the bounds of the bounds file first. One bounds file may serve many files, so a variable
// that it names may be missing, and variables that it does not name are not mentioned.
std::vector<OwnBound> own_bounds_of(const h5::File& file, const CompressVariables& asked,
                                    const Candidates& candidates,
                                    const std::vector<std::string>& left_out) {
  const std::vector<std::string> arrays = file.arrays();
  std::vector<OwnBound> own;
  std::string unknown;
  for (const OwnBound& bound : asked.common) {
    const bool several = is_pattern(bound.name);
    if (several ? candidates.has(bound.name) : file.has(bound.name) && !means(left_out, bound.name))
      own.push_back(bound);
    else if (std::ranges::none_of(arrays,
                                  [&](const auto& name) { return means({bound.name}, name); }))
      unknown += (unknown.empty() ? "'" : ", '") + bound.name + "'";
  }
  if (!unknown.empty())
    complain("'" + asked.bounds_file + "': no variable of '" + asked.input.path + "' is meant by " +
             unknown);
  for (const std::string& text : asked.own_bounds) own.push_back(parse_own_bound(text));
  return expanded(own, candidates);
}

// What is left out by name must be there, and cannot be asked for by name at the same time.
void check_excluded(const h5::File& file, const CompressVariables& asked) {
  std::vector<std::string> named = asked.input.names;
  for (const std::string& text : asked.own_bounds) named.push_back(parse_own_bound(text).name);
  const std::vector<std::string> arrays = file.arrays();
  for (const std::string& name : asked.excluded) {
    if (std::ranges::find(named, name) != named.end())
      fail_argument("'" + name + "' is asked for and left out (--exclude) at the same time");
    if (asked.input.names.empty() && !is_pattern(name) && !file.has(name))
      fail_argument("'" + asked.input.path + "' has no variable '" + name + "' to be left out");
    if (asked.input.names.empty() && is_pattern(name) &&
        std::ranges::none_of(arrays, [&](const auto& array) { return means({name}, array); }))
      complain("--exclude '" + name + "' means no variable of '" + asked.input.path + "'");
  }
}

// A bound that a variable's stored numbers cannot be given.
void check_bound(const Variable& variable, const Bound& bound) {
  if (variable.is_unsigned_in_disguise() && !bound.has(BoundKind::lossless))
    fail_argument("'" + variable.name() +
                  "' holds unsigned numbers as signed ones (_Unsigned): only --variable " +
                  variable.name() + "=lossless keeps them");
  if (!bound.has(BoundKind::pointwise)) return;
  const bool is_floating = visit_dtype(
      variable.dtype(), []<class T>(std::type_identity<T>) { return leeway::is_floating<T>; });
  if (!is_floating)
    fail_argument("'" + variable.name() +
                  "' holds integers, and a pointwise bound is for floating-point numbers; give it "
                  "abs or rel (--variable), or leave it out (--exclude)");
  if (variable.packing().value_or(h5::Packing{}).offset != 0)
    fail_argument("'" + variable.name() +
                  "' is packed with an offset (add_offset): its values are no multiples of the "
                  "stored numbers, which a pointwise bound would refer to; give abs or rel");
}

std::vector<Task> tasks_of(const h5::File& file, const CompressVariables& asked,
                           const Candidates& candidates, const std::vector<std::string>& left_out) {
  const std::vector<OwnBound> own = own_bounds_of(file, asked, candidates, left_out);
  std::vector<std::string> names = asked.input.names;
  const bool general = !asked.options.bound.limits().empty();
  if (names.empty() && general)
    std::ranges::copy_if(candidates.names, std::back_inserter(names), [&](const std::string& name) {
      return file.variable(name).holds_floating();
    });
  for (const OwnBound& bound : own)
    if (std::ranges::find(names, bound.name) == names.end()) names.push_back(bound.name);
  if (names.empty() && !general)
    fail_argument(
        "a bound is needed: --abs E, --rel E, --psnr DB, --l2 E, --pointwise E, --lossless, "
        "--ratio R, --variable NAME=abs:E, or --bounds-file FILE with variables of this file");
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
    check_bound(variable, bound);
    CompressOptions options = options_for(variable, asked.options, bound, asked.fills);
    if (found != own.rend() && !found->recipe.empty()) options.recipe = found->recipe;
    const derived::PartRules& rules = found == own.rend() ? asked.rules : found->rules;
    tasks.push_back({std::move(variable), bound, rules, std::move(options)});
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
  std::optional<h5::Losses> earlier;
  double step = 0;  // between values that packed integers represent; 0: not packed
};

// A bound smaller than the step of packed values leaves no room for any error.
bool is_within_a_step(const Outcome& outcome) {
  return outcome.abs_bound > 0 && outcome.abs_bound < outcome.step;
}

// 0 for numbers that may have any value.
double step_of(const Variable& variable) {
  const bool is_packed_integer =
      variable.packing() &&
      visit_dtype(variable.dtype(), []<class T>(std::type_identity<T>) { return !is_floating<T>; });
  return is_packed_integer ? variable.unit() : 0;
}

Json to_json(const Outcome& outcome) {
  Json json;
  json["variable"] = outcome.name;
  json["input_bytes"] = outcome.input_bytes;
  json["output_bytes"] = outcome.output_bytes;
  json["ratio"] = double(outcome.input_bytes) / double(std::max<u64>(outcome.output_bytes, 1));
  json["bound"] = {{"asked", json_of(outcome.asked)}, {"absolute", outcome.abs_bound}};
  json["max_error"] = outcome.max_error;
  json["special_values"] = outcome.special;
  if (outcome.earlier) {
    json["earlier"]["bound"] = outcome.earlier->bound;
    if (outcome.earlier->max_error) json["earlier"]["max_error"] = *outcome.earlier->max_error;
  }
  json["recipe"] = outcome.recipe;
  json["output"] = outcome.output;
  return json;
}

std::string bound_text(const Outcome& outcome) {
  if (outcome.abs_bound == 0) return "lossless";
  const std::string absolute = fmt::format("{:.9g}", outcome.abs_bound);
  const bool is_other = outcome.asked.has(BoundKind::psnr) || outcome.asked.has(BoundKind::l2) ||
                        outcome.asked.has(BoundKind::pointwise);
  return is_other ? to_string(outcome.asked) + ", at most " + absolute : absolute;
}

// Losses add up, and a user who asks for a bound may not know of earlier losses.
void tell_of_earlier_losses(const Outcome& outcome) {
  if (!outcome.earlier) return;
  const h5::Losses& earlier = *outcome.earlier;
  complain(fmt::format(
      "'{}' was compressed with losses before ({}): {}", outcome.name, earlier.bound,
      earlier.max_error
          ? fmt::format("it may differ from the original by {:.9g}, the errors of both together",
                        *earlier.max_error + outcome.max_error)
          : "how far it is from the original is not known"));
}

void report(const std::vector<Outcome>& outcomes, const Candidates& candidates, bool as_json,
            bool quiet) {
  std::vector<std::pair<std::string, std::string>> left_alone = candidates.left_alone;
  std::erase_if(left_alone, [&](const auto& entry) {
    return std::ranges::find(outcomes, entry.first, &Outcome::name) != outcomes.end();
  });
  std::ranges::for_each(outcomes, tell_of_earlier_losses);
  if (as_json) {
    Json list = Json::array();
    for (const Outcome& outcome : outcomes) list.push_back(to_json(outcome));
    for (const auto& [name, reason] : left_alone)
      list.push_back({{"variable", name}, {"left_alone", reason}});
    print(list);
  } else if (!quiet) {
    for (const Outcome& o : outcomes)
      fmt::print(
          "{}: {} -> {}, ratio {:.2f}, bound {}, largest error {:.9g}{}\n", printable(o.name),
          readable_bytes(o.input_bytes), readable_bytes(o.output_bytes),
          double(o.input_bytes) / double(std::max<u64>(o.output_bytes, 1)), bound_text(o),
          o.max_error,
          is_within_a_step(o) ? " (the bound is smaller than the step of the packed values)" : "");
    for (const auto& [name, reason] : left_alone)
      fmt::print("left alone: {}, {}\n", printable(name), reason);
  }
}

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
  const View view(values.data(), values.dtype(), values.shape());
  OutputFile out(path, force);
  CompressReport made;
  if (task.rules.empty()) {
    made = compress(view, task.options, [&](ByteView part) { out.write(part); });
  } else {
    const h5::Packing packing = task.variable.packing().value_or(h5::Packing{});
    const std::string& name = task.variable.name();
    const auto kept = derived::compress_together(
        {{name, view, task.options}},
        task.rules.packed(packing.scale, packing.offset).promises(name), task.options.execution);
    out.write(kept.streams[0]);
    made = kept.reports[0];
  }
  out.commit();
  const double unit = task.variable.unit();
  if (task.variable.packing())
    complain(fmt::format(
        "'{}' is packed (scale_factor, add_offset): '{}' holds the stored numbers without these "
        "attributes, and a bound in their unit, {:.9g}; -o OUT.nc keeps both",
        task.variable.name(), path, made.abs_bound));
  return {task.variable.name(),
          path,
          made.recipe,
          made.input_bytes,
          made.output_bytes,
          made.abs_bound * unit,
          made.statement.max_error * unit,
          made.statement.special,
          task.asked,
          task.earlier,
          step_of(task.variable)};
}

// The bound as the filter takes it, which sees one chunk at a time. What refers to all values is
// found here, and the fill values that are found on the way are told.
PartBound filter_bound(Task& task, bool force) {
  const Bound& bound = task.options.bound;
  if (bound.wants_size())
    fail_argument(
        "an HDF5 or netCDF file takes a bound of the error; --ratio and --rate need a stream "
        "(.lwy)");
  WholeBound whole{bound, 0, double(task.variable.shape().size())};
  if (bound.has(BoundKind::rel) || bound.has(BoundKind::psnr)) {
    const std::optional<ValidRange> range = range_of(task);
    if (!range || !(range->size() > 0)) return {Bound::lossless()};
    task.options.fill_bits = range->fills;
    whole.range = range->size();
  }
  refuse_to_leave_nothing(task, stated(bound, BoundKind::abs), force);
  return part_bound(whole);
}

// As the filter takes them: texts, each once. The fill value of the dataset it knows anyway.
std::vector<std::string> fills_of(const Task& task) {
  std::vector<std::string> fills;
  for (const double fill : task.options.fills) fills.push_back(number(fill));
  for (const u64 bits : task.options.fill_bits)
    if (bits != task.variable.fill_bits())
      fills.push_back(visit_dtype(task.variable.dtype(), [&]<class T>(std::type_identity<T>) {
        const T value = std::bit_cast<T>(Bits<T>(bits));
        if constexpr (is_floating<T>)
          return number(double(value));
        else
          return std::to_string(value);
      }));
  std::ranges::sort(fills);
  fills.erase(std::unique(fills.begin(), fills.end()), fills.end());
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
  return chunk_of_maps(variable.shape(), kChunkValues);
}

std::vector<Outcome> to_container(const h5::File& file, std::vector<Task>& tasks,
                                  const CompressVariables& asked) {
  Replacement out(asked.output, asked.force);
  std::vector<std::pair<std::string, h5::Plan>> plans;
  for (Task& task : tasks) {
    if (task.variable.shape().rank() == 0)
      fail_argument("'" + task.variable.name() + "' is a single value and cannot be compressed");
    hdf5::Parameters parameters;
    parameters.bound = filter_bound(task, asked.force);
    parameters.recipe = task.options.recipe;
    parameters.fills = fills_of(task);
    const h5::Packing packing = task.variable.packing().value_or(h5::Packing{});
    parameters.rules = task.rules.packed(packing.scale, packing.offset);
    const h5::Losses own{parameters.bound.is_lossless() ? "lossless" : to_string(task.asked), {}};
    const std::string bound = task.earlier ? joined(*task.earlier, own).bound : own.bound;
    plans.emplace_back(
        task.variable.name(),
        h5::Plan{parameters,
                 chunk_for(task.variable, task.options.chunk),
                 {{"lossy_compression", bound == "lossless" ? "leeway: lossless compression"
                                                            : "leeway: error-bounded compression"},
                  {"lossy_compression_bound", bound},
                  {"lossy_compression_version", version()},
                  {"lossy_compression_reader", LEEWAY_H5Z_READER}}});
    if (!task.rules.empty())
      plans.back().second.attributes.emplace_back("lossy_compression_rules", task.rules.text());
  }
  // The filter is set up by its environment, as in every other program.
  ::setenv("LEEWAY_NUM_THREADS", std::to_string(asked.options.execution.threads).c_str(), 1);
  std::vector<Outcome> outcomes;
  h5::copy_file(file, out.temporary(), plans, [&](size_t plan, const Variable& written) {
    const Task& task = tasks[plan];
    const h5::Stored stored = h5::inspect_stored(written);
    const double unit = written.unit();
    const h5::Losses own{"", stored.max_error * unit};
    if (const auto error = (task.earlier ? joined(*task.earlier, own) : own).max_error)
      h5::write_attribute(written.id(), "lossy_compression_maximum_error", *error);
    outcomes.push_back({task.variable.name(), asked.output, stored.recipe,
                        written.shape().size() * size_of(written.dtype()), stored.stream_bytes,
                        stored.abs_bound * unit, stored.max_error * unit, stored.special,
                        task.asked, task.earlier, step_of(written)});
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
  check_excluded(file, *this);
  std::vector<std::string> left_out = excluded;
  left_out.insert(left_out.end(), commonly_excluded.begin(), commonly_excluded.end());
  Candidates candidates(file, left_out);
  std::vector<Task> tasks = tasks_of(file, *this, candidates, left_out);
  // A user who names the variables is not told about the others.
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

}  // namespace leeway::cli

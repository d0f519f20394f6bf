// SPDX-License-Identifier: BSD-3-Clause
#include "tools/together.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>

#include "leeway/derived/together.h"
#include "leeway/report/similar.h"
#include "tools/array_file.h"
#include "tools/output_file.h"
#include "tools/variables.h"

namespace leeway::cli {
namespace {

using derived::Kept;
using derived::Member;

struct Input {
  std::string name, stem;
  ArrayFile file;
};

// "u=u.npy": a name, and where its values are.
std::pair<std::string, std::string> split(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == text.npos || std::filesystem::exists(text)) return {"", text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::vector<Input> open_inputs(const std::vector<std::string>& texts, const ArrayOptions& array) {
  std::vector<Input> inputs;
  for (const std::string& text : texts) {
    const auto [name, path] = split(text);
    const std::string stem = std::filesystem::path(path).stem().string();
    if (const auto container = h5::parse_address(path)) {
      if (container->names.empty())
        fail_argument("name the variables that promises speak of: " + path + ":u,v");
      for (const std::string& variable : container->names)
        inputs.push_back({container->names.size() == 1 && !name.empty() ? name : variable,
                          std::filesystem::path(container->path).stem().string() + "." + variable,
                          open_unpacked(container->path + ":" + variable, {})});
    } else {
      if (name.empty() && texts.size() > 1)
        fail_argument("of several arrays each needs the name that promises give it: u=" + text);
      inputs.push_back(
          {name.empty() ? "x" : name, name.empty() ? stem : name, open_array(path, array)});
    }
  }
  return inputs;
}

// The promises that --keep, --min and --max make of every array, and those of --qoi.
std::vector<std::string> promises_of(const CompressTogether& asked,
                                     const std::vector<Input>& inputs) {
  std::vector<std::string> all = asked.promises;
  derived::PartRules rules;
  rules.take("keep", asked.keep);
  rules.min = asked.min, rules.max = asked.max;
  for (const Input& input : inputs)
    for (const std::string& promise : rules.promises(input.name)) all.push_back(promise);
  return all;
}

std::vector<std::string> paths_of(const CompressTogether& asked, const std::vector<Input>& inputs) {
  if (h5::is_container_name(asked.output))
    fail_argument("promises are stated in streams: -o OUT.lwy, or -o FOLDER for several arrays");
  if (inputs.size() == 1 && !std::filesystem::is_directory(asked.output))
    return {asked.output.empty() ? inputs[0].stem + ".lwy" : asked.output};
  const std::filesystem::path folder(asked.output.empty() ? "." : asked.output);
  std::filesystem::create_directories(folder);
  std::vector<std::string> paths;
  for (const Input& input : inputs) {
    std::string stem = input.stem;
    std::ranges::replace(stem, '/', '.');
    paths.push_back((folder / (stem + ".lwy")).string());
    if (std::ranges::count(paths, paths.back()) > 1)
      fail_argument("two arrays would be written to '" + paths.back() + "'");
  }
  return paths;
}

Json to_json(const Kept& kept) {
  return {{"promise", kept.text},
          {"bound", kept.bound},
          {"reached", json_of(kept.reached)},
          {"compared", kept.compared},
          {"beyond", kept.beyond}};
}

std::string text_of(const Kept& kept) {
  if (kept.bound == 0) return kept.text + ": kept by all values";
  return fmt::format("{}: largest error {:.6g} within {:.6g}", kept.text, kept.reached, kept.bound);
}

void tell(const CompressTogether& asked, const derived::Together& made,
          const std::vector<Input>& inputs, const std::vector<std::string>& paths, double seconds) {
  u64 before = 0, after = 0;
  Json list = Json::array();
  for (size_t m = 0; m < inputs.size(); ++m) {
    const CompressReport& r = made.reports[m];
    before += r.input_bytes, after += r.output_bytes;
    const double ratio = double(r.input_bytes) / double(r.output_bytes);
    list.push_back({{"variable", inputs[m].name},
                    {"input_bytes", r.input_bytes},
                    {"output_bytes", r.output_bytes},
                    {"ratio", ratio},
                    {"max_error", r.statement.max_error},
                    {"recipe", r.recipe},
                    {"output", paths[m]}});
    if (!asked.json && !asked.quiet)
      fmt::print("{}: {} -> {}, ratio {:.2f}, largest error {:.6g}, {}\n",
                 printable(inputs[m].name), readable_bytes(r.input_bytes),
                 readable_bytes(r.output_bytes), ratio, r.statement.max_error, printable(paths[m]));
  }
  Json promises = Json::array();
  for (const Kept& kept : made.promises) {
    promises.push_back(to_json(kept));
    if (!asked.json && !asked.quiet) fmt::print("{}\n", printable(text_of(kept)));
  }
  if (asked.json)
    cli::print(Json{{"variables", list},
                    {"promises", promises},
                    {"ratio", double(before) / double(after)},
                    {"passes", made.passes},
                    {"seconds", seconds}});
}

// One array with a data SSIM to be kept.
void compress_for_ssim(const CompressTogether& asked, const Member& member,
                       const std::string& path) {
  OutputFile out(path, asked.force);
  const report::Similar made =
      report::compress_similar(member.view, member.options, *asked.ssim, member.name);
  out.write(made.stream);
  out.commit();
  const CompressReport& r = made.report;
  const double ratio = double(r.input_bytes) / double(r.output_bytes);
  if (asked.json)
    cli::print(Json{{"input_bytes", r.input_bytes},
                    {"output_bytes", r.output_bytes},
                    {"ratio", ratio},
                    {"bound", r.abs_bound},
                    {"max_error", r.statement.max_error},
                    {"dssim", made.dssim},
                    {"output", path}});
  else if (!asked.quiet)
    fmt::print("{} -> {}, ratio {:.2f}, bound {}, data SSIM of the worst map {:.8f}, {}\n",
               readable_bytes(r.input_bytes), readable_bytes(r.output_bytes), ratio,
               number(r.abs_bound), made.dssim, printable(path));
}

}  // namespace

void CompressTogether::run() const {
  const std::vector<Input> opened = open_inputs(this->inputs, array);
  std::map<std::string, Bound> bounds;
  std::vector<std::string> own_promises;
  for (const std::string& text : own_bounds) {
    const OwnBound own = parse_own_bound(text);
    bounds[own.name] = own.bound;
    for (const std::string& promise : own.rules.promises(own.name)) own_promises.push_back(promise);
  }
  std::vector<Member> members;
  for (const Input& input : opened) {
    Member& member = members.emplace_back(Member{input.name, input.file.view, options});
    if (const auto own = bounds.find(input.name); own != bounds.end()) {
      member.options.bound = own->second;
      bounds.erase(own);
    }
    member.options.fill_bits.insert(member.options.fill_bits.end(), input.file.fills.begin(),
                                    input.file.fills.end());
    for (const std::string& text : fills) declare_fill(member.options, member.view.dtype, text);
    member.options.execution.progress = nullptr;
  }
  if (!bounds.empty()) fail_argument("there is no variable '" + bounds.begin()->first + "'");
  const std::vector<std::string> paths = paths_of(*this, opened);
  std::vector<std::string> texts = promises_of(*this, opened);
  texts.insert(texts.end(), own_promises.begin(), own_promises.end());
  if (ssim) {
    if (members.size() > 1 || !texts.empty())
      fail_argument("--ssim is for one array, without --qoi, --keep, --min and --max");
    return compress_for_ssim(*this, members[0], paths[0]);
  }
  std::deque<OutputFile> outputs;
  for (const std::string& path : paths) outputs.emplace_back(path, force);
  const double start = seconds_now();
  const derived::Together made = derived::compress_together(members, texts, options.execution);
  for (size_t m = 0; m < members.size(); ++m) {
    if (opened[m].file.file) opened[m].file.file->check_unchanged();
    outputs[m].write(made.streams[m]);
  }
  for (OutputFile& out : outputs) out.commit();
  tell(*this, made, opened, paths, seconds_now() - start);
}

CheckedPromises check_promises(const std::vector<std::string>& streams,
                               const std::vector<std::string>& originals, const ArrayOptions& array,
                               const Execution& execution) {
  CheckedPromises result;
  std::vector<StatedPromise> promises;
  std::vector<Array> decoded;
  std::vector<ArrayFile> files;
  std::vector<derived::Decoded> members;
  for (const std::string& path : streams) {
    const FileSource source(path);
    const StreamReader stream(source);
    const Header& header = stream.header();
    if (header.promises.empty()) continue;
    for (const StatedPromise& promise : header.promises)
      if (std::ranges::find(promises, promise.text, &StatedPromise::text) == promises.end())
        promises.push_back(promise);
    DecompressOptions reading;
    reading.execution = execution;
    Array& values = decoded.emplace_back(header.dtype, header.shape);
    decompress_into(stream, {}, values.view(), reading);
    std::string original = originals.size() == 1 ? originals[0] : originals[members.size()];
    if (const auto container = h5::parse_address(original); container && container->names.empty())
      original += ":" + header.variable;
    files.push_back(open_unpacked(original, array));
    const View truth = files.back().view;
    if (truth.dtype != header.dtype || !(truth.shape == header.shape))
      fail_argument("'" + original + "' does not hold what '" + path + "' was made from");
    members.push_back({header.variable, truth, {}, header.fills});
  }
  for (size_t m = 0; m < members.size(); ++m) members[m].decoded = view_of(decoded[m]);
  for (const StatedPromise& promise : promises)
    if (const auto least = report::dssim_promised(promise.text)) {
      const derived::Decoded& member = members[0];
      const double found =
          report::worst_dssim(member.original, member.decoded, member.fills, execution);
      const std::string text = fmt::format("{}: it is {:.9f}", promise.text, found);
      (found >= *least ? result.kept : result.complaints).push_back(text);
    }
  std::erase_if(promises, [](const StatedPromise& promise) {
    return report::dssim_promised(promise.text).has_value();
  });
  for (const Kept& kept : derived::check_together(members, promises, execution, result.unchecked)) {
    if (kept.holds())
      result.kept.push_back(text_of(kept));
    else
      result.complaints.push_back(
          fmt::format("'{}' is not kept: {} of {} are beyond, the largest "
                      "error is {:.9g}",
                      kept.text, kept.beyond, kept.compared, kept.reached));
  }
  return result;
}

}  // namespace leeway::cli

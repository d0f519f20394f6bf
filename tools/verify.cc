// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <memory>

#include "leeway/choose/critical_points.h"
#include "leeway/engine/region.h"
#include "leeway/quality/compare.h"
#include "leeway/recipe/recipe.h"
#include "tools/array_file.h"
#include "tools/cli.h"
#include "tools/together.h"
#include "tools/variables.h"

namespace leeway::cli {
namespace {

struct Finding {
  double max_error = 0, max_pointwise = 0, l2 = 0;
  u64 special_mismatches = 0, compared = 0;
  std::optional<CriticalPoints> critical_points;
  std::vector<std::string> complaints;
  CheckedPromises promises;
};

struct Verify {
  std::vector<std::string> inputs, originals;
  std::string input, original, bounds;
  bool json = false, critical_points = false;
  ArrayOptions array;
  WorkOptions work;

  void run() {
    if (originals.size() > 1 && originals.size() != inputs.size())
      fail_argument("give --against once for each stream, in their order");
    bool failed = false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      input = inputs[i];
      original = originals.empty() ? "" : originals.size() == 1 ? originals[0] : originals[i];
      failed |= !verify_one();
    }
    if (failed) throw Ended{kNotVerified};
  }

  // The original of a stream that names its variable may be a whole file.
  std::string original_of(const StreamReader& stream) const {
    const auto container = h5::parse_address(original);
    return container && container->names.empty() && !stream.header().variable.empty()
               ? original + ":" + stream.header().variable
               : original;
  }

  bool verify_one() const {
    if (const auto container = h5::parse_address(input)) {
      const auto truth = h5::parse_address(original);
      if (!original.empty() && !truth)
        fail_argument("'" + original + "' is no HDF5 or netCDF file");
      VerifyVariables{*container, truth, json, work.quiet}.run();
      return true;
    }
    const FileSource source(input);
    const StreamReader stream(source);
    tell_of_interrupted_update(stream);
    stream.check_statement();
    if (original.empty() && (critical_points || !bounds.empty()))
      fail_argument("--critical-points and --bounds need the original: --against");
    Finding finding;
    check_heads(stream, finding);
    if (original.empty()) {
      check_alone(stream, finding);
    } else {
      const ArrayFile truth = stream.header().variable.empty()
                                  ? open_array(original, array)
                                  : open_unpacked(original_of(stream), array);
      check_against(stream, truth.view, finding);
      if (!bounds.empty()) check_bounds(stream, truth.view, finding);
      if (critical_points) check_critical_points(stream, truth.view, finding);
    }
    // Promises are checked once, when all streams are there.
    if (!original.empty() && input == inputs.back()) {
      Execution execution = work.execution("verifying");
      execution.progress = nullptr;
      finding.promises = check_promises(inputs, originals, array, execution);
      finding.complaints.insert(finding.complaints.end(), finding.promises.complaints.begin(),
                                finding.promises.complaints.end());
    }
    print(stream, finding);
    return finding.complaints.empty();
  }

  // Decodes everything, chunk row by chunk row; the checksums of the decoded values are compared.
  template <class F>
  void for_each_slab(const StreamReader& stream, F&& f) const {
    const Header& header = stream.header();
    DecompressOptions options;
    options.execution = work.execution("verifying");
    options.execution.progress = nullptr;
    const u64 extent = header.shape.rank() > 0 ? header.shape[0] : 1;
    const u64 step = header.shape.rank() > 0 ? header.chunk[0] : 1;
    if (header.shape.size() == 0) return;
    for (u64 first = 0; first < extent; first += step) {
      const Box box = slab(header.shape, first, step);
      Array part(header.dtype, box.shape);
      decompress_into(stream, box.first, part.view(), options);
      f(box, View(part.data(), part.dtype(), part.shape()));
    }
  }

  // What the frames say of themselves.
  static void check_heads(const StreamReader& stream, Finding& finding) {
    const Header& header = stream.header();
    if (header.bound.has(BoundKind::pointwise)) return;  // errors there are absolute
    const bool by_value = is_by_value(parse_recipe(header.recipe));
    const std::vector<double> in_regions = smallest_bounds(header);
    for (u64 i = 0; i < stream.chunks(); ++i) {
      const FrameHead head = stream.read_head(i);
      const double allowed =
          by_value ? header.abs_bound : std::min(header.abs_bound, in_regions[size_t(i)]);
      if (head.bound > allowed || head.max_error > head.bound)
        finding.complaints.push_back(
            fmt::format("chunk {} states the error {} under the bound {}, but the stream allows {}",
                        i, number(head.max_error), number(head.bound), number(allowed)));
    }
  }

  void check_alone(const StreamReader& stream, Finding& finding) const {
    for_each_slab(stream, [](const Box&, const View&) {});
    const Statement& statement = *stream.statement();
    if (statement.max_error > stream.header().abs_bound)
      finding.complaints.push_back("the stream states a larger error than its bound");
    finding.max_error = statement.max_error;
  }

  void check_against(const StreamReader& stream, const View& truth, Finding& finding) const {
    const Header& header = stream.header();
    if (truth.dtype != header.dtype || !(truth.shape == header.shape))
      fail_argument(fmt::format("the stream holds {} {}, the original is {} {}",
                                name_of(header.dtype), to_string(header.shape),
                                name_of(truth.dtype), to_string(truth.shape)));
    std::vector<double> in_regions(header.regions.size());  // the largest error of each
    for_each_slab(stream, [&](const Box& box, const View& decoded) {
      const Comparison part = compare(truth.part(box), decoded, header.fills, false);
      finding.max_error = std::max(finding.max_error, part.max_abs);
      finding.max_pointwise = std::max(finding.max_pointwise, part.max_pointwise);
      finding.l2 = std::hypot(finding.l2, part.l2);
      finding.compared += part.compared;
      finding.special_mismatches += part.special_mismatches;
      for (size_t i = 0; i < in_regions.size(); ++i) {
        const Box& region = header.regions[i].box;
        const auto parts = overlap(box, region.first, region.shape);
        if (!parts) continue;
        const Comparison inside = compare(truth.part(box).part(parts->first),
                                          decoded.part(parts->first), header.fills, false);
        in_regions[i] = std::max(in_regions[i], inside.max_abs);
      }
    });
    const auto complain = [&](const std::string& text) { finding.complaints.push_back(text); };
    if (finding.special_mismatches > 0)
      complain(fmt::format("{} special values did not survive, or others became special",
                           finding.special_mismatches));
    if (finding.max_error > header.abs_bound)
      complain(fmt::format("the largest error {} exceeds the bound {}", number(finding.max_error),
                           number(header.abs_bound)));
    check_limits(header, range_of(truth, header), finding, complain);
    for (size_t i = 0; i < in_regions.size(); ++i)
      if (in_regions[i] > header.regions[i].bound)
        complain(fmt::format("the largest error in a region, {}, exceeds its bound {}",
                             number(in_regions[i]), number(header.regions[i].bound)));
    if (finding.max_error > stream.statement()->max_error)
      complain(fmt::format("the largest error {} exceeds the stated {}", number(finding.max_error),
                           number(stream.statement()->max_error)));
  }

  // Value by value.
  void check_bounds(const StreamReader& stream, const View& truth, Finding& finding) const {
    const ArrayFile file = open_array(bounds, {});
    if (!(file.view.shape == truth.shape))
      fail_argument(fmt::format("there are {} values, but bounds for {}", to_string(truth.shape),
                                to_string(file.view.shape)));
    u64 beyond = 0;
    for_each_slab(stream, [&](const Box& box, const View& decoded) {
      beyond += count_beyond(truth.part(box), decoded, file.view.part(box), stream.header().fills);
    });
    if (beyond > 0)
      finding.complaints.push_back(fmt::format("{} values exceed their own bounds", beyond));
  }

  void check_critical_points(const StreamReader& stream, const View& truth,
                             Finding& finding) const {
    check_vector_field(truth);
    Array decoded(truth.dtype, truth.shape);
    decompress_into(stream, {}, decoded.view());
    const CriticalPoints found =
        compare_critical_points(truth, View(decoded.data(), decoded.dtype(), decoded.shape()));
    finding.critical_points = found;
    if (found.lost + found.gained > 0)
      finding.complaints.push_back(
          fmt::format("{} critical points of {} are lost, {} were not there before", found.lost,
                      found.before, found.gained));
  }

  // Of the original: what the stream says is rounded, and may be wrong.
  Range range_of(const View& truth, const Header& header) const {
    CompressOptions options;
    options.fill_bits = header.fills;
    options.detect_fills = false;
    options.execution = work.execution("verifying");
    options.execution.progress = nullptr;
    return value_range(truth, options).value_or(ValidRange{});
  }

  template <class F>
  static void check_limits(const Header& header, const Range& range, const Finding& finding,
                           F&& complain) {
    // An update may have changed the range; the absolute bound that `rel` gave stays.
    const bool is_as_written = range.min == header.min && range.max == header.max;
    for (const Limit& limit : header.bound.limits()) switch (limit.kind) {
        case BoundKind::rel:
          if (is_as_written && finding.max_error > relative_bound(limit.value, range))
            complain(fmt::format("the largest error {} exceeds {} of the range {}",
                                 number(finding.max_error), limit.value, number(range.size())));
          break;
        case BoundKind::psnr: {
          const double rmse = finding.l2 / std::sqrt(double(std::max<u64>(finding.compared, 1))),
                       psnr = 20 * (std::log10(range.size()) - std::log10(rmse));
          if (rmse > 0 && psnr < limit.value)
            complain(fmt::format("PSNR {:.4f} dB is below {}", psnr, limit.value));
          break;
        }
        case BoundKind::l2:
          if (finding.l2 > limit.value)
            complain(
                fmt::format("the L2 norm of the error {} exceeds {}", finding.l2, limit.value));
          break;
        case BoundKind::pointwise:
          if (finding.max_pointwise > limit.value)
            complain(fmt::format("a value is off by {} of itself, more than {}",
                                 finding.max_pointwise, limit.value));
          break;
        case BoundKind::lossless:
          if (finding.max_error > 0) complain("it is not lossless");
          break;
        default:
          break;
      }
  }

  void print(const StreamReader& stream, const Finding& finding) const {
    const Header& header = stream.header();
    if (json) {
      Json result;
      result["verified"] = finding.complaints.empty();
      result["against_original"] = !original.empty();
      result["bound"] = {{"asked", json_of(header.bound)}, {"absolute", header.abs_bound}};
      result["max_error"] = finding.max_error;
      result["stated_max_error"] = stream.statement()->max_error;
      result["special_mismatches"] = finding.special_mismatches;
      if (const auto& points = finding.critical_points)
        result["critical_points"] = {{"before", points->before},
                                     {"after", points->after},
                                     {"lost", points->lost},
                                     {"gained", points->gained}};
      result["complaints"] = finding.complaints;
      if (!header.promises.empty())
        result["promises"] = {{"kept", finding.promises.kept},
                              {"not_checked", finding.promises.unchecked}};
      return cli::print(result);
    }
    for (const std::string& complaint : finding.complaints) complain(complaint);
    if (!finding.complaints.empty() || work.quiet) return;
    fmt::print("verified{}: largest error {} within {} ({})\n",
               original.empty() ? ", all checksums match" : " against the original",
               number(finding.max_error), number(header.abs_bound), to_string(header.bound));
    for (const std::string& text : finding.promises.kept)
      fmt::print("promise kept: {}\n", printable(text));
    for (const std::string& text : finding.promises.unchecked)
      fmt::print("promise not checked, the other streams are needed: {}\n", printable(text));
    if (const auto& points = finding.critical_points)
      fmt::print("{} critical points, all where they were\n", points->before);
  }
};

}  // namespace

void add_verify(CLI::App& verb) {
  const auto self = std::make_shared<Verify>();
  verb.add_option("IN", self->inputs,
                  "stream, or HDF5 or netCDF file; several streams that promises speak of")
      ->required();
  verb.add_option("--against", self->originals,
                  "the original: an array, or a variable or file for a file; once for each stream")
      ->type_name("ORIGINAL")
      ->expected(1)
      ->take_all();
  verb.add_option("--bounds", self->bounds,
                  "with --against: absolute bounds value by value, as given to compress")
      ->type_name("FILE");
  verb.add_flag("--critical-points", self->critical_points,
                "with --against, for vector fields: no cell may win or lose a critical point");
  self->array.add_to(verb);
  self->work.add_to(verb);
  verb.add_flag("--json", self->json, "report as JSON");
  verb.callback([self] { self->run(); });
}

}  // namespace leeway::cli

// SPDX-License-Identifier: BSD-3-Clause
#include <memory>

#include "leeway/quality/compare.h"
#include "leeway/report/similar.h"
#include "tools/array_file.h"
#include "tools/cli.h"

namespace leeway::cli {

void add_compare(CLI::App& verb) {
  struct Compare {
    std::string original, other;
    std::vector<std::string> fills;
    bool no_detect = false, json = false;
    ArrayOptions array;

    // Fill values: given by the user, declared in the file, and detected as compress would do.
    std::vector<u64> fills_of(const ArrayFile& file) const {
      CompressOptions options;
      options.fill_bits = file.fills;
      for (const std::string& text : fills) declare_fill(options, file.view.dtype, text);
      options.detect_fills = !no_detect;
      const std::optional<ValidRange> range = value_range(file.view, options);
      return range ? range->fills : std::vector<u64>();
    }
  };
  const auto self = std::make_shared<Compare>();
  verb.add_option("A", self->original, "the original: raw, .npy or stream")->required();
  verb.add_option("B", self->other, "what became of it: raw, .npy or stream")->required();
  verb.add_option("--fill", self->fills,
                  "a value that means 'nothing here': not compared, but must come back exactly")
      ->type_name("V")
      ->expected(1)
      ->take_all();
  verb.add_flag("--no-detect-fill", self->no_detect, "do not look for fill values");
  self->array.add_to(verb);
  verb.add_flag("--json", self->json, "report as JSON");
  verb.callback([self] {
    const ArrayFile a = open_unpacked(self->original, self->array),
                    b = open_unpacked(self->other, self->array);
    const std::vector<u64> fills = self->fills_of(a);
    const Comparison c = compare(a.view, b.view, fills);
    const double dssim = report::worst_dssim(a.view, b.view, fills, {});
    struct Line {
      const char *key, *text;
      double value;
    };
    const Line lines[] = {{"max_abs", "largest error", c.max_abs},
                          {"max_rel", "  of the value range", c.max_rel},
                          {"max_pointwise", "  of the value itself", c.max_pointwise},
                          {"mean_error", "mean error (bias)", c.mean_error},
                          {"rmse", "RMSE", c.rmse},
                          {"nrmse", "NRMSE", c.nrmse},
                          {"psnr", "PSNR (dB)", c.psnr},
                          {"l2", "L2 norm of the error", c.l2},
                          {"pearson", "Pearson correlation", c.pearson},
                          {"dssim", "data SSIM, worst map", dssim},
                          {"ssim", "SSIM, 7 x 7 windows", c.ssim}};
    if (self->json) {
      Json json;
      json["values"] = c.values;
      json["compared"] = c.compared;
      json["special_mismatches"] = c.special_mismatches;
      json["min"] = c.min;
      json["max"] = c.max;
      for (const Line& line : lines) json[line.key] = json_of(line.value);
      fmt::print("{}\n", json.dump(2));
      return;
    }
    Report report;
    report.add("values", fmt::format("{}, {} of them compared", c.values, c.compared));
    report.add("special mismatches", std::to_string(c.special_mismatches));
    report.add("range", fmt::format("{} to {}", number(c.min), number(c.max)));
    for (const Line& line : lines) report.add(line.text, fmt::format("{:.9g}", line.value));
    report.print();
  });
}

}  // namespace leeway::cli

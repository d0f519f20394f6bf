// SPDX-License-Identifier: BSD-3-Clause
// What the verbs of the command line share: options, reports, progress, exit codes.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leeway/leeway.hpp"

namespace leeway::cli {

using Json = nlohmann::ordered_json;

// A verb adds its options to its subcommand and sets the callback that does the work.
void add_compress(CLI::App& verb);
void add_decompress(CLI::App& verb);
void add_update(CLI::App& verb);
void add_append(CLI::App& verb);
void add_join(CLI::App& verb);
void add_inspect(CLI::App& verb);
void add_verify(CLI::App& verb);
void add_compare(CLI::App& verb);
void add_report(CLI::App& verb);
void add_explain(CLI::App& verb);
void add_tune(CLI::App& verb);
void add_recipes(CLI::App& verb);
void add_stages(CLI::App& verb);
void add_sample(CLI::App& verb);
void add_bench(CLI::App& verb);
void add_advise(CLI::App& verb);
void add_model(CLI::App& verb);
void add_filter(CLI::App& verb);
void add_doctor(CLI::App& verb);

enum Exit { kFine = 0, kFailed = 1, kUsage = 2, kNotVerified = 3 };

// Thrown by a verb to end with an exit code after it has reported.
struct Ended {
  Exit code;
};

// --abs, --rel, --psnr, --l2, --lossless
struct BoundOptions {
  std::optional<double> abs, rel, psnr, l2, pointwise, ratio, rate;
  bool lossless = false;
  void add_to(CLI::App& verb);
  Bound given() const;  // may have no limits
  bool any() const { return !given().limits().empty(); }
  Bound bound() const;  // throws if none was given
  // The same, unless the recipe has a bound by itself.
  Bound bound_for(const std::string& recipe) const;
};

// --recipes LIST: separated by commas, which recipes may have themselves, before a parameter.
void add_recipe_list(CLI::App& verb, std::vector<std::string>& recipes, const std::string& about);

// --threads, --memory, --quiet
struct WorkOptions {
  unsigned threads = 0;  // 0: all cores
  std::string memory;
  bool quiet = false;
  void add_to(CLI::App& verb);
  Execution execution(const std::string& title) const;
};

// --shape, --dtype
struct ArrayOptions {
  std::string shape, dtype;
  void add_to(CLI::App& verb);
};

Shape parse_shape(const std::string& text);  // "100x500x500" or "100,500,500"
DType parse_dtype(const std::string& text);
u64 parse_bytes(const std::string& text);  // "512M", "2G"
unsigned available_cores();

// A line on standard error, after the name of the tool.
void complain(const std::string& message);
// Says so if an update of the stream was interrupted: what is read is older than somebody meant.
void tell_of_interrupted_update(const StreamReader& stream);
// A text, perhaps from a file, for a terminal: control characters are written \x1b.
std::string printable(std::string_view text);
// What is not UTF-8 is replaced.
void print(const Json& json, std::FILE* to = stdout);

std::string readable_bytes(u64 bytes);  // "4.2 MB"
std::string number(double value);       // shortest text that reads back the same
Json json_of(const Shape& shape);
Json json_of(const Bound& bound);
Json json_of(double value);  // infinities and NaN as text
std::string fills_text(const std::vector<u64>& fills, DType dtype);

double seconds_now();

// Lines of "name  value", aligned.
class Report {
 public:
  void add(const std::string& name, const std::string& value) { lines_.emplace_back(name, value); }
  void print() const;

 private:
  std::vector<std::pair<std::string, std::string>> lines_;
};

}  // namespace leeway::cli

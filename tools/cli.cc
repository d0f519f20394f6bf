// SPDX-License-Identifier: BSD-3-Clause
#include "tools/cli.h"

#include <sched.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <memory>

#include "leeway/choose/choose.h"
#include "leeway/recipe/recipe.h"

namespace leeway::cli {

void BoundOptions::add_to(CLI::App& verb) {
  const auto group = "Bound (several together must all hold)";
  verb.add_option("--abs", abs, "largest error of a value: |x - x'| <= E")
      ->type_name("E")
      ->group(group);
  verb.add_option("--rel", rel, "the same as a part of the value range: |x - x'| <= E (max - min)")
      ->type_name("E")
      ->group(group);
  verb.add_option("--psnr", psnr, "smallest peak signal-to-noise ratio, in dB; measured")
      ->type_name("DB")
      ->group(group);
  verb.add_option("--l2", l2, "largest Euclidean norm of all errors; measured")
      ->type_name("E")
      ->group(group);
  verb.add_option("--pointwise", pointwise,
                  "largest error as a part of each value: |x - x'| <= E |x|; stands alone")
      ->type_name("E")
      ->group(group);
  verb.add_flag("--lossless", lossless, "no error at all")->group(group);
  verb.add_option(
          "--ratio", ratio,
          "not how much error, but how small: 1/R of the bytes. With other bounds: as near as "
          "they allow")
      ->type_name("R")
      ->group(group);
  verb.add_option("--rate", rate, "the same in bits for each value")
      ->type_name("BITS")
      ->group(group);
}

Bound BoundOptions::given() const {
  Bound bound;
  if (abs) bound.add(BoundKind::abs, *abs);
  if (rel) bound.add(BoundKind::rel, *rel);
  if (psnr) bound.add(BoundKind::psnr, *psnr);
  if (l2) bound.add(BoundKind::l2, *l2);
  if (lossless) bound.add(BoundKind::lossless, 0);
  if (pointwise) bound.add(BoundKind::pointwise, *pointwise);
  if (ratio) bound.add(BoundKind::ratio, *ratio);
  if (rate) bound.add(BoundKind::rate, *rate);
  return bound;
}

Bound BoundOptions::bound() const {
  const Bound bound = given();
  if (bound.limits().empty())
    fail_argument(
        "a bound is needed: --abs E, --rel E, --psnr DB, --l2 E, --pointwise E, --lossless, "
        "--ratio R or --rate "
        "BITS");
  return bound;
}

Bound BoundOptions::bound_for(const std::string& recipe) const {
  if (!any() && !is_choice(recipe))
    if (const Bound own = bound_of(parse_recipe(recipe)); !own.limits().empty()) return own;
  return bound();
}

void WorkOptions::add_to(CLI::App& verb) {
  const auto group = "Work";
  verb.add_option("--threads", threads, "worker threads; all cores if not given")
      ->type_name("N")
      ->envname("LEEWAY_NUM_THREADS")
      ->group(group);
  verb.add_option("--memory", memory, "working memory to stay below if possible, e.g. 512M")
      ->type_name("BYTES")
      ->group(group);
  verb.add_flag("-q,--quiet", quiet, "no progress bar, no report")->group(group);
}

namespace {

// Drawn on a terminal once the work has taken half a second.
class ProgressBar {
 public:
  explicit ProgressBar(std::string title) : title_(std::move(title)), start_(seconds_now()) {}
  ~ProgressBar() {
    if (drawn_ >= 0) std::fputs("\r\x1b[K", stderr);
  }
  bool update(double done) {
    const int percent = int(done * 100);
    if (percent == drawn_ || seconds_now() - start_ < 0.5) return true;
    drawn_ = percent;
    const std::string bar(size_t(percent) * 40 / 100, '=');
    fmt::print(stderr, "\r{} [{:<40}] {:3}%", title_, bar, percent);
    std::fflush(stderr);
    return true;
  }

 private:
  std::string title_;
  double start_;
  int drawn_ = -1;
};

}  // namespace

Execution WorkOptions::execution(const std::string& title) const {
  Execution execution;
  execution.threads = threads > 0 ? threads : available_cores();
  execution.memory = memory.empty() ? 0 : parse_bytes(memory);
  if (!quiet && ::isatty(STDERR_FILENO)) {
    const auto bar = std::make_shared<ProgressBar>(title);
    execution.progress = [bar](double done) { return bar->update(done); };
  }
  return execution;
}

void ArrayOptions::add_to(CLI::App& verb) {
  const auto group = "Raw input (also read from names like field_100x500x500.f32)";
  verb.add_option("--shape", shape, "extents, slowest axis first: 100x500x500")
      ->type_name("SHAPE")
      ->group(group);
  verb.add_option("--dtype", dtype, "f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64")
      ->type_name("TYPE")
      ->group(group);
}

Shape parse_shape(const std::string& text) {
  std::vector<u64> extents;
  const char* from = text.data();
  const char* const end = from + text.size();
  while (true) {
    u64 extent = 0;
    const auto [next, error] = std::from_chars(from, end, extent);
    if (error != std::errc())
      fail_argument("'" + text + "' is not a shape; write it like 100x500x500");
    extents.push_back(extent);
    if (next == end) return Shape(std::span<const u64>(extents));
    if (*next != 'x' && *next != ',')
      fail_argument("'" + text + "' is not a shape; write it like 100x500x500");
    from = next + 1;
  }
}

DType parse_dtype(const std::string& text) {
  for (u8 id = 1; is_dtype(id); ++id)
    if (name_of(DType(id)) == text) return DType(id);
  fail_argument("there is no element type '" + text +
                "'; there are f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64");
}

u64 parse_bytes(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit(end, text.data() + text.size());
  double factor = 1;
  for (const char* prefix = "KMGT"; *prefix; ++prefix) {
    factor *= 1024;
    if (unit == std::string(1, *prefix) || unit == std::string(1, *prefix) + "B") value *= factor;
  }
  const bool known = unit.empty() || unit == "B" ||
                     std::string_view("KMGT").find(unit[0]) != std::string_view::npos;
  if (error != std::errc() || !known || !(value >= 1 && value < 1e18))
    fail_argument("'" + text + "' is not an amount of memory; write it like 512M");
  return u64(value);
}

unsigned available_cores() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return 1;
}

// Standard error may be full or closed: then there is no way to report it.
void complain(const std::string& message) {
  std::fputs(("leeway: " + printable(message) + "\n").c_str(), stderr);
}

void tell_of_interrupted_update(const StreamReader& stream) {
  if (stream.bytes_left_out() > 0)
    complain("an update of this stream was interrupted; it is as it was before");
}

std::string printable(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const u8 c = u8(text[i]), next = i + 1 < text.size() ? u8(text[i + 1]) : 0;
    const bool is_upper_control = c == 0xc2 && next >= 0x80 && next < 0xa0;  // in UTF-8
    if (c >= 0x20 && c != 0x7f && !is_upper_control) {
      result += text[i];
      continue;
    }
    result += fmt::format("\\x{:02x}", is_upper_control ? next : c);
    i += is_upper_control;
  }
  return result;
}

void print(const Json& json, std::FILE* to) {
  fmt::print(to, "{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

std::string readable_bytes(u64 bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double value = double(bytes);
  const char* unit = "";
  for (const char* prefix : {"k", "M", "G", "T"}) {
    if (value < 1000) break;
    value /= 1000;
    unit = prefix;
  }
  return fmt::format("{:.4g} {}B", value, unit);
}

std::string number(double value) { return fmt::format("{}", value); }

Json json_of(const Shape& shape) {
  Json list = Json::array();
  for (const u64 extent : shape.extents()) list.push_back(extent);
  return list;
}

Json json_of(const Bound& bound) {
  Json object = Json::object();
  for (const Limit& limit : bound.limits()) {
    const std::string name(name_of(limit.kind));
    if (limit.kind == BoundKind::lossless)
      object[name] = true;
    else
      object[name] = limit.value;
  }
  return object;
}

void add_recipe_list(CLI::App& verb, std::vector<std::string>& recipes, const std::string& about) {
  const auto take = [&recipes](const std::string& list) {
    recipes.clear();
    for (const std::string& part : CLI::detail::split(list, ',')) {
      const size_t equals = part.find('=');
      const bool is_parameter = equals < part.find_first_of(":+|");
      if (is_parameter && !recipes.empty())
        recipes.back() += ',' + part;
      else
        recipes.push_back(part);
    }
  };
  verb.add_option_function<std::string>("--recipes", take, about)->type_name("LIST");
}

Json json_of(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

std::string fills_text(const std::vector<u64>& fills, DType dtype) {
  std::string text;
  for (const u64 bits : fills)
    text += (text.empty() ? "" : ", ") + visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
              const T value = std::bit_cast<T>(Bits<T>(bits));
              if constexpr (is_floating<T>)
                return fmt::format("{}", std::conditional_t<sizeof(T) == 8, double, float>(value));
              else
                return fmt::format("{}", +value);
            });
  return text;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Report::print() const {
  size_t width = 0;
  for (const auto& [name, value] : lines_) width = std::max(width, name.size());
  for (const auto& [name, value] : lines_)
    fmt::print("{:<{}}  {}\n", printable(name), width, printable(value));
}

}  // namespace leeway::cli

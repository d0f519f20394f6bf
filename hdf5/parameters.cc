// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5/parameters.h"

#include <bit>
#include <cmath>

#include "leeway/base/environment.h"
#include "leeway/choose/choose.h"
#include "leeway/leeway.hpp"
#include "leeway/recipe/recipe.h"
#include "leeway/stage/params.h"

namespace leeway::hdf5 {
namespace {

enum Mode : unsigned { kAbs = 1, kRel, kLossless, kPointwise, kPsnr, kL2, kRms };
constexpr unsigned kStored = 0x10000, kBigEndian = 1, kHasFill = 2;

// Takes words from the front.
class WordReader {
 public:
  explicit WordReader(std::span<const unsigned> words) : rest_(words) {}
  bool done() const { return rest_.empty(); }
  unsigned word() {
    if (done()) fail_argument("the filter's parameters end too early");
    const unsigned first = rest_.front();
    rest_ = rest_.subspan(1);
    return first;
  }
  u64 pair() {
    const u64 low = word();
    return low | u64(word()) << 32;
  }
  double number() { return std::bit_cast<double>(pair()); }
  std::string text() {
    std::string result;
    for (; !done(); rest_ = rest_.subspan(1))
      for (int shift = 0; shift < 32; shift += 8)
        if (const char c = char(rest_.front() >> shift & 0xff); c != 0) result += c;
    return result;
  }

 private:
  std::span<const unsigned> rest_;
};

// Collects what is said about the bound.
struct Asked {
  WholeBound whole;
  std::optional<double> rms;

  bool empty() const { return whole.bound.limits().empty() && !rms; }
  void take_rms(double value) {
    Bound().add(BoundKind::l2, value);  // throws if it makes no sense
    rms = value;
  }
  PartBound part() const {
    PartBound part = whole.bound.limits().empty() ? PartBound{} : part_bound(whole);
    if (part.is_lossless() || !rms) return part;
    part.rms = part.rms > 0 ? std::min(part.rms, *rms) : *rms;
    return part;
  }
};

// Adds what a text says: keys and values, separated by spaces.
struct TextReader {
  Parameters& parameters;
  Asked& asked;

  void take(const std::string& key, const std::string& value) {
    const auto number = [&] {
      double result = 0;
      if (!detail::parse_number(value, result))
        fail_argument("'" + key + "=" + value + "': that is not a number");
      return result;
    };
    Bound& bound = asked.whole.bound;
    if (key == "abs" || key == "rel" || key == "psnr" || key == "l2" || key == "pointwise") {
      bound.add(parse_bound_kind(key), number());
    } else if (key == "lossless") {
      bound.add(BoundKind::lossless, 0);
    } else if (key == "rms") {
      asked.take_rms(number());
    } else if (key == "range") {
      asked.whole.range = number();
    } else if (key == "values") {
      asked.whole.values = number();
    } else if (key == "recipe") {
      check_recipe(value);
      parameters.recipe = value;
    } else if (key == "fill") {
      number();
      parameters.fills.push_back(value);
    } else if (!parameters.rules.take(key, value)) {
      fail_argument("there is no parameter '" + key +
                    "'; there are abs, rel, psnr, l2, pointwise, lossless, range, values, recipe, "
                    "fill, keep, min, max");
    }
  }
  void take(const std::string& text) {
    size_t from = 0;
    while ((from = text.find_first_not_of(' ', from)) != text.npos) {
      const std::string item = text.substr(from, text.find(' ', from) - from);
      const size_t equals = item.find('=');
      take(item.substr(0, equals), equals == item.npos ? "" : item.substr(equals + 1));
      from += item.size();
    }
  }
};

void take_number(unsigned mode, WordReader& in, Asked& asked) {
  WholeBound& whole = asked.whole;
  switch (mode) {
    case kAbs:
      return void(whole.bound.add(BoundKind::abs, in.number()));
    case kRel:
    case kPsnr:
      whole.bound.add(mode == kRel ? BoundKind::rel : BoundKind::psnr, in.number());
      whole.range = in.done() ? 0 : in.number();
      return;
    case kLossless:
      return void(whole.bound.add(BoundKind::lossless, 0));
    case kPointwise:
      return void(whole.bound.add(BoundKind::pointwise, in.number()));
    case kL2:
      whole.bound.add(BoundKind::l2, in.number());
      whole.values = in.done() ? 0 : in.number();
      return;
    case kRms:
      return asked.take_rms(in.number());
    default:
      fail_argument("mode " + std::to_string(mode) +
                    " is not known to the filter: 1 is abs, 2 rel, 3 lossless, 4 pointwise, 5 "
                    "psnr, 6 l2");
  }
}

Chunk parse_chunk(WordReader& in) {
  const unsigned word = in.word(), rank = word >> 8 & 0xff, flags = word >> 16;
  if (!is_dtype(u8(word)) || rank > kMaxRank)
    fail_argument("the filter's parameters name an unknown type or too many axes");
  std::vector<u64> extents(rank);
  for (u64& extent : extents) extent = in.word();
  Chunk chunk{DType(u8(word)), (flags & kBigEndian) != 0, Shape(std::span<const u64>(extents)), {}};
  if (flags & kHasFill) chunk.fill = in.pair();
  return chunk;
}

void add_pair(Words& words, u64 bits) {
  words.push_back(unsigned(bits));
  words.push_back(unsigned(bits >> 32));
}

// The bound that is stored as a number, and the others.
struct Split {
  Mode mode = kLossless;
  double number = 0;
  std::string rest;

  explicit Split(const PartBound& bound) {
    for (const Limit& limit : bound.each.limits()) {
      number = limit.value;
      if (limit.kind == BoundKind::abs) mode = kAbs;
      if (limit.kind == BoundKind::pointwise) mode = kPointwise;
    }
    if (bound.rms > 0 && !bound.each.limits().empty()) {
      rest = " rms=" + detail::number_text(bound.rms);
    } else if (bound.rms > 0) {
      mode = kRms;
      number = bound.rms;
    }
  }
  void add_to(Words& words) const {
    if (mode != kLossless) add_pair(words, std::bit_cast<u64>(number));
  }
  std::string text() const {
    const std::string name = mode == kAbs         ? "abs="
                             : mode == kPointwise ? "pointwise="
                             : mode == kRms       ? "rms="
                                                  : "lossless";
    return mode == kLossless ? name : name + detail::number_text(number);
  }
};

// What is said besides the bound, each after a space.
std::string text_of(const Parameters& parameters) {
  std::string text;
  if (!parameters.rules.empty()) text = " " + parameters.rules.text();
  if (parameters.recipe != Parameters().recipe) text += " recipe=" + parameters.recipe;
  for (const std::string& fill : parameters.fills) text += " fill=" + fill;
  return text;
}

}  // namespace

Shape joined(std::vector<u64> extents) {
  while (extents.size() > kMaxRank) {
    extents[1] *= extents[0];
    extents.erase(extents.begin());
  }
  return Shape(std::span<const u64>(extents));
}

CompressOptions Parameters::options() const {
  CompressOptions options;
  bound.apply_to(options);
  options.recipe = recipe;
  options.brief = true;
  for (const std::string& fill : fills) declare_fill(options, chunk->dtype, fill);
  if (chunk->fill) options.fill_bits.push_back(*chunk->fill);
  return options;
}

void Parameters::check() const {
  const CompressOptions asked = options();
  // Also where a recipe is chosen by the values.
  max_compressed_size(chunk->dtype, chunk->shape, asked);
  const View nothing(nullptr, chunk->dtype, Shape{0});
  value_range(nothing, asked);
  derived::most_bytes_of_part(nothing, asked, rules);
  if (!rules.empty() && size_of(chunk->dtype) == 8 && chunk->dtype != DType::f64)
    fail_argument("keep, min and max are not for integers of 64 bits");
}

Parameters parse_words(std::span<const unsigned> words) {
  const DefaultFloatingPoint environment;
  if (words.empty())
    fail_argument(
        "the filter needs a bound: its parameters are 1 and a double (absolute bound), 3 "
        "(lossless), or a text");
  Parameters parameters;
  // NCO gives the filter of one variable to the others, too, with nothing but a zero.
  if (words.size() == 1 && words[0] == 0) return parameters;
  WordReader in(words);
  const unsigned first = in.word();
  const unsigned mode = first & 0xff;
  if (mode >= ' ') return parse_text(WordReader(words).text());
  const bool stored = first >> 8 != 0;
  if (stored && first - mode != kStored)
    fail_argument("the filter's parameters are those of a later version of leeway");
  if (stored && (mode == kRel || mode == kPsnr || mode == kL2))
    fail_argument("the filter's parameters are damaged");
  Asked asked;
  take_number(mode, in, asked);
  if (stored) parameters.chunk = parse_chunk(in);
  TextReader{parameters, asked}.take(in.text());
  parameters.bound = asked.part();
  return parameters;
}

Parameters parse_text(const std::string& text) {
  const DefaultFloatingPoint environment;
  Parameters parameters;
  Asked asked;
  TextReader{parameters, asked}.take(text);
  if (asked.empty())
    fail_argument("'" + text +
                  "': a bound is missing; write abs=E, rel=E range=R, psnr=D range=R, l2=E "
                  "values=N, pointwise=E, or lossless");
  parameters.bound = asked.part();
  return parameters;
}

Words words_of_text(const std::string& text) {
  Words words((text.size() + 3) / 4);
  for (size_t i = 0; i < text.size(); ++i) words[i / 4] |= unsigned(u8(text[i])) << i % 4 * 8;
  return words;
}

Words given_words(const Parameters& parameters) {
  const Split split(parameters.bound);
  const std::string rest = split.rest + text_of(parameters);
  if (!rest.empty()) return words_of_text(split.text() + rest);
  Words words{split.mode};
  split.add_to(words);
  return words;
}

Words stored_words(const Parameters& parameters) {
  const Chunk& chunk = *parameters.chunk;
  const Split split(parameters.bound);
  Words words{kStored | split.mode};
  split.add_to(words);
  words.push_back(unsigned(chunk.dtype) | unsigned(chunk.shape.rank()) << 8 |
                  ((chunk.big_endian ? kBigEndian : 0) | (chunk.fill ? kHasFill : 0)) << 16);
  for (const u64 extent : chunk.shape.extents()) words.push_back(unsigned(extent));
  if (chunk.fill) add_pair(words, *chunk.fill);
  const std::string rest = split.rest + text_of(parameters);
  for (const unsigned word : words_of_text(rest.substr(std::min<size_t>(1, rest.size()))))
    words.push_back(word);
  return words;
}

}  // namespace leeway::hdf5

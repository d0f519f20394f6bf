// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5/parameters.h"

#include <bit>
#include <cmath>

#include "leeway/core/environment.h"
#include "leeway/core/params.h"
#include "leeway/recipe/recipe.h"
#include "leeway/quality/choose.h"

namespace leeway::hdf5 {
namespace {

enum Mode : unsigned { kAbs = 1, kRel = 2, kLossless = 3 };
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

double checked(BoundKind kind, double value) {
  Bound().add(kind, value);  // throws if it makes no sense
  return value;
}

double abs_of_rel(double rel, double range) {
  if (!(range > 0 && std::isfinite(range)))
    fail_argument(
        "the filter sees one chunk at a time and cannot know the range of all values: give it "
        "(range=R), or an absolute bound");
  return checked(BoundKind::abs, checked(BoundKind::rel, rel) * range);
}

// Adds what a text says: keys and values, apart by spaces.
struct TextReader {
  Parameters& parameters;
  std::optional<double> rel, range;
  bool has_bound = false;

  void take(const std::string& key, const std::string& value) {
    const auto number = [&] {
      double result = 0;
      if (!detail::parse_number(value, result))
        fail_argument("'" + key + "=" + value + "': that is not a number");
      return result;
    };
    if (key == "abs") {
      parameters.abs = checked(BoundKind::abs, number());
      has_bound = true;
    } else if (key == "rel") {
      rel = number();
    } else if (key == "range") {
      range = number();
    } else if (key == "lossless") {
      parameters.abs = 0;
      has_bound = true;
    } else if (key == "recipe") {
      check_recipe(value);
      parameters.recipe = value;
    } else if (key == "fill") {
      parameters.fills.push_back(number());
    } else {
      fail_argument("there is no parameter '" + key +
                    "'; there are abs, rel, range, lossless, recipe, fill");
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
    if (rel) {
      parameters.abs = abs_of_rel(*rel, range.value_or(0));
      has_bound = true;
    }
  }
};

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

// What is said besides the bound.
std::string text_of(const Parameters& parameters) {
  std::string text;
  if (parameters.recipe != Parameters().recipe) text = "recipe=" + parameters.recipe;
  for (const double fill : parameters.fills)
    text += (text.empty() ? "fill=" : " fill=") + detail::number_text(fill);
  return text;
}

void add_pair(Words& words, u64 bits) {
  words.push_back(unsigned(bits));
  words.push_back(unsigned(bits >> 32));
}

}  // namespace

Shape joined(std::vector<u64> extents) {
  while (extents.size() > kMaxRank) {
    extents[1] *= extents[0];
    extents.erase(extents.begin());
  }
  return Shape(std::span<const u64>(extents));
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
  if (mode == kAbs)
    parameters.abs = checked(BoundKind::abs, in.number());
  else if (mode == kRel && !stored) {
    const double rel = in.number();
    parameters.abs = abs_of_rel(rel, in.done() ? 0 : in.number());
  } else if (mode == kLossless)
    parameters.abs = 0;
  else
    fail_argument("mode " + std::to_string(mode) +
                  " is not known to the filter: 1 is abs, 2 rel, 3 lossless");
  if (stored) parameters.chunk = parse_chunk(in);
  TextReader{parameters, {}, {}}.take(in.text());
  return parameters;
}

Parameters parse_text(const std::string& text) {
  const DefaultFloatingPoint environment;
  Parameters parameters;
  TextReader reader{parameters, {}, {}};
  reader.take(text);
  if (!reader.has_bound)
    fail_argument("'" + text + "': a bound is missing; write abs=E, rel=E range=R, or lossless");
  return parameters;
}

Words words_of_text(const std::string& text) {
  Words words((text.size() + 3) / 4);
  for (size_t i = 0; i < text.size(); ++i) words[i / 4] |= unsigned(u8(text[i])) << i % 4 * 8;
  return words;
}

Words given_words(const Parameters& parameters) {
  const std::string bound =
      parameters.abs > 0 ? "abs=" + detail::number_text(parameters.abs) : "lossless";
  const std::string rest = text_of(parameters);
  if (!rest.empty()) return words_of_text(bound + " " + rest);
  Words words{parameters.abs > 0 ? kAbs : kLossless};
  if (parameters.abs > 0) add_pair(words, std::bit_cast<u64>(parameters.abs));
  return words;
}

Words stored_words(const Parameters& parameters) {
  const Chunk& chunk = *parameters.chunk;
  Words words{kStored | (parameters.abs > 0 ? kAbs : kLossless)};
  if (parameters.abs > 0) add_pair(words, std::bit_cast<u64>(parameters.abs));
  words.push_back(unsigned(chunk.dtype) | unsigned(chunk.shape.rank()) << 8 |
                  ((chunk.big_endian ? kBigEndian : 0) | (chunk.fill ? kHasFill : 0)) << 16);
  for (const u64 extent : chunk.shape.extents()) words.push_back(unsigned(extent));
  if (chunk.fill) add_pair(words, *chunk.fill);
  for (const unsigned word : words_of_text(text_of(parameters))) words.push_back(word);
  return words;
}

}  // namespace leeway::hdf5

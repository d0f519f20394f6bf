// SPDX-License-Identifier: BSD-3-Clause
#include "tests/ptx/operation.h"

#include <algorithm>
#include <array>
#include <utility>

namespace leeway::gpu::ptx {
namespace {

template <class T, std::size_t N>
std::optional<T> find(const std::array<std::pair<std::string_view, T>, N>& table,
                      std::string_view word) {
  const auto found = std::ranges::find(table, word, [](const auto& entry) { return entry.first; });
  if (found == table.end()) return {};
  return found->second;
}
template <class T>
using Entry = std::pair<std::string_view, T>;

constexpr std::array kTypes = std::to_array<Entry<Type>>({{".pred", {Kind::predicate, 0}},
                                                          {".b8", {Kind::bits, 1}},
                                                          {".b16", {Kind::bits, 2}},
                                                          {".b32", {Kind::bits, 4}},
                                                          {".b64", {Kind::bits, 8}},
                                                          {".u8", {Kind::is_unsigned, 1}},
                                                          {".u16", {Kind::is_unsigned, 2}},
                                                          {".u32", {Kind::is_unsigned, 4}},
                                                          {".u64", {Kind::is_unsigned, 8}},
                                                          {".s8", {Kind::is_signed, 1}},
                                                          {".s16", {Kind::is_signed, 2}},
                                                          {".s32", {Kind::is_signed, 4}},
                                                          {".s64", {Kind::is_signed, 8}},
                                                          {".f32", {Kind::is_float, 4}},
                                                          {".f64", {Kind::is_float, 8}}});

constexpr std::array kSpecials = std::to_array<Entry<Special>>({{"%tid.x", Special::thread},
                                                                {"%ctaid.x", Special::cta},
                                                                {"%nctaid.x", Special::ctas},
                                                                {"%laneid", Special::lane}});

constexpr std::array kSpaces = std::to_array<Entry<Space>>({{"global", Space::global},
                                                            {"shared", Space::shared},
                                                            {"local", Space::local},
                                                            {"param", Space::param},
                                                            {"const", Space::constant}});

struct Comparison {
  Compare compare;
  bool is_unordered;
};
constexpr std::array kComparisons =
    std::to_array<Entry<Comparison>>({{"eq", {Compare::eq, false}},
                                      {"ne", {Compare::ne, false}},
                                      {"lt", {Compare::lt, false}},
                                      {"le", {Compare::le, false}},
                                      {"gt", {Compare::gt, false}},
                                      {"ge", {Compare::ge, false}},
                                      {"lo", {Compare::lt, false}},
                                      {"ls", {Compare::le, false}},
                                      {"hi", {Compare::gt, false}},
                                      {"hs", {Compare::ge, false}},
                                      {"equ", {Compare::eq, true}},
                                      {"neu", {Compare::ne, true}},
                                      {"ltu", {Compare::lt, true}},
                                      {"leu", {Compare::le, true}},
                                      {"gtu", {Compare::gt, true}},
                                      {"geu", {Compare::ge, true}}});

constexpr std::array kShuffles = std::to_array<Entry<Shuffle>>(
    {{"up", Shuffle::up}, {"down", Shuffle::down}, {"bfly", Shuffle::bfly}, {"idx", Shuffle::idx}});

// Operations whose name is a word and a type.
constexpr std::array kPlain = std::to_array<Entry<Op>>(
    {{"abs", Op::abs},  {"add", Op::add},   {"and", Op::and_},  {"bfe", Op::bfe},
     {"bfi", Op::bfi},  {"brev", Op::brev}, {"clz", Op::clz},   {"div", Op::div},
     {"max", Op::max},  {"min", Op::min},   {"mov", Op::mov},   {"neg", Op::neg},
     {"not", Op::not_}, {"or", Op::or_},    {"popc", Op::popc}, {"prmt", Op::prmt},
     {"rem", Op::rem},  {"selp", Op::selp}, {"shl", Op::shl},   {"shr", Op::shr},
     {"sub", Op::sub},  {"xor", Op::xor_},  {"lop3", Op::lop3}});

// Names that stand for themselves.
constexpr std::array kWhole = std::to_array<Entry<Op>>({{"bra", Op::branch},
                                                        {"bra.uni", Op::branch},
                                                        {"call", Op::call},
                                                        {"call.uni", Op::call},
                                                        {"ret", Op::ret},
                                                        {"exit", Op::ret},
                                                        {"bar.sync", Op::barrier},
                                                        {"barrier.sync", Op::barrier},
                                                        {"bar.warp.sync", Op::tile_sync},
                                                        {"membar.gl", Op::fence},
                                                        {"fence.acq_rel.gpu", Op::fence},
                                                        {"fence.sc.gpu", Op::fence},
                                                        {"nanosleep.u32", Op::sleep},
                                                        {"vote.sync.ballot.b32", Op::ballot},
                                                        {"atom.global.add.u32", Op::atom_add},
                                                        {"atom.global.max.u64", Op::atom_max},
                                                        {"atom.shared.or.b32", Op::atom_or}});

// The parts of a name between its points, taken from both ends.
class Parts {
 public:
  explicit Parts(std::string_view name) : rest_(name) {}
  bool is_empty() const { return rest_.empty(); }
  std::string_view take() {
    const std::size_t end = std::min(rest_.find('.'), rest_.size());
    const std::string_view part = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return part;
  }
  bool take_if(std::string_view wanted) {
    if (rest_ != wanted &&
        !(rest_.starts_with(wanted) && rest_.substr(wanted.size()).starts_with('.')))
      return false;
    take();
    return true;
  }
  std::optional<Type> take_type() {
    const std::size_t point = rest_.rfind('.');
    const std::size_t begin = point == std::string_view::npos ? 0 : point + 1;
    const auto type = find_type("." + std::string(rest_.substr(begin)));
    if (type) rest_ = rest_.substr(0, begin == 0 ? 0 : point);
    return type;
  }

 private:
  std::string_view rest_;
};

// ld.global.cs.v4.u32 and st.relaxed.gpu.global.u64, without the first word and the type.
bool describe_access(Parts& parts, Instruction& i) {
  const bool is_load = i.op == Op::ld;
  if (parts.take_if("relaxed")) {
    if (!parts.take_if("gpu") || i.type.bytes != 8) return false;
    i.op = is_load ? Op::ld_relaxed : Op::st_relaxed;
  }
  if (const auto space = [&] {
        for (const auto& [name, value] : kSpaces)
          if (parts.take_if(name)) return std::optional(value);
        return std::optional<Space>();
      }())
    i.space = *space;
  for (const std::string_view hint : {"cs", "ca", "cg", "nc", "lu"}) parts.take_if(hint);
  (void)(parts.take_if("v2") || parts.take_if("v4"));
  return parts.is_empty() && (i.op == Op::ld || i.op == Op::st || i.space == Space::global);
}

// Arithmetic of floating-point numbers says how it rounds, or it might become a fused multiply-add.
bool describe_arithmetic(Parts& parts, Instruction& i) {
  if (i.type.kind == Kind::is_float) {
    switch (i.op) {
      case Op::add:
      case Op::sub:
      case Op::mul_lo:
      case Op::div:
      case Op::rcp:
        return parts.take_if("rn") && parts.is_empty();
      case Op::abs:
      case Op::neg:
      case Op::min:
      case Op::max:
      case Op::mov:
      case Op::selp:
        return parts.is_empty();
      default:
        return false;
    }
  }
  return parts.is_empty();
}

bool describe_multiplication(Parts& parts, Instruction& i, bool adds) {
  if (i.type.kind == Kind::is_float) {
    i.op = Op::mul_lo;
    return !adds && describe_arithmetic(parts, i);
  }
  if (parts.take_if("wide"))
    i.op = Op::mul_wide;
  else if (parts.take_if("hi"))
    i.op = Op::mul_hi;
  else if (parts.take_if("lo"))
    i.op = Op::mul_lo;
  else
    return false;
  if (adds && i.op != Op::mul_lo) return false;
  if (adds) i.op = Op::mad;
  return parts.is_empty();
}

bool describe_conversion(Parts& parts, Instruction& i) {
  i.op = Op::convert;
  i.from = i.type;
  const auto to = parts.take_type();
  if (!to) return false;
  i.type = *to;
  i.truncates = parts.take_if("rzi");
  const bool is_rounded = parts.take_if("rn");
  const bool from_float = i.from.kind == Kind::is_float, to_float = i.type.kind == Kind::is_float;
  if (from_float && !to_float && !i.truncates) return false;
  if (!from_float && to_float && !is_rounded) return false;
  return parts.is_empty();
}

bool describe_cvta(Parts& parts, Instruction& i) {
  i.op = Op::cvta;
  i.to_space = parts.take_if("to");
  const auto space = find(kSpaces, parts.take());
  if (!space) return false;
  i.space = *space;
  return parts.is_empty() && i.type.bytes == 8;
}

}  // namespace

std::optional<Type> find_type(std::string_view word) { return find(kTypes, word); }
std::optional<Special> find_special(std::string_view word) { return find(kSpecials, word); }

bool describe(std::string_view name, Instruction& i) {
  if (const auto whole = find(kWhole, name)) {
    i.op = *whole;
    return true;
  }
  Parts parts(name);
  const std::string_view word = parts.take();
  const auto type = parts.take_type();
  if (!type) return false;
  i.type = *type;
  if (const auto plain = find(kPlain, word)) {
    i.op = *plain;
    return describe_arithmetic(parts, i);
  }
  if (word == "ld" || word == "st") {
    i.op = word == "ld" ? Op::ld : Op::st;
    return describe_access(parts, i);
  }
  if (word == "mul" || word == "mad") return describe_multiplication(parts, i, word == "mad");
  if (word == "cvt") return describe_conversion(parts, i);
  if (word == "cvta") return describe_cvta(parts, i);
  if (word == "rcp") {
    i.op = Op::rcp;
    return i.type.kind == Kind::is_float && describe_arithmetic(parts, i);
  }
  if (word == "setp") {
    i.op = Op::setp;
    const auto comparison = find(kComparisons, parts.take());
    if (!comparison) return false;
    i.compare = comparison->compare;
    i.is_unordered = comparison->is_unordered;
    return parts.is_empty();
  }
  if (word == "shf") {
    i.op = parts.take_if("l") ? Op::shf_left : Op::shf_right;
    if (i.op == Op::shf_right && !parts.take_if("r")) return false;
    i.wraps = parts.take_if("wrap");
    return (i.wraps || parts.take_if("clamp")) && parts.is_empty();
  }
  if (word == "shfl" && parts.take_if("sync")) {
    i.op = Op::shfl;
    const auto shuffle = find(kShuffles, parts.take());
    if (!shuffle) return false;
    i.shuffle = *shuffle;
    return parts.is_empty();
  }
  return false;
}

}  // namespace leeway::gpu::ptx

// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "tests/ptx/operation.h"
#include "tests/ptx/program.h"
#include "tests/ptx/tokens.h"

namespace leeway::gpu::ptx {
namespace {

constexpr std::uint32_t kAlignment = 16;

std::uint32_t up(std::uint32_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

std::optional<std::uint64_t> number_of(std::string_view text) {
  int base = 10;
  if (text.starts_with("0f") || text.starts_with("0F") || text.starts_with("0d") ||
      text.starts_with("0D") || text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
  }
  if (base == 10 && text.ends_with("U")) text.remove_suffix(1);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(text) {}

  Program parse() {
    while (!tokens_.at_end()) parse_declaration();
    for (Function& function : program_.functions)
      for (Instruction& i : function.code)
        if (i.op == Op::call && program_.functions[i.callee].code.empty())
          throw Error(Errc::unsupported, "PTX: no body of " + program_.functions[i.callee].name);
    for (Function& function : program_.functions) {
      std::set<const Function*> above;
      function.stack_bytes = stack_of(function, above);
    }
    return std::move(program_);
  }

 private:
  // --- Declarations of the module ---

  void parse_declaration() {
    const std::string_view word = tokens_.take();
    if (word == ".version" || word == ".address_size") {
      tokens_.take();
    } else if (word == ".target") {
      program_.target = tokens_.take();
    } else if (word == ".entry" || word == ".func") {
      parse_function(word == ".entry");
    } else if (word == ".const" || word == ".global") {
      parse_constant();
    } else if (word == ".shared") {
      const Variable dynamic = parse_variable(".shared");
      if (dynamic.bytes > 0) tokens_.fail("shared memory of a fixed size before");
      program_.symbols[dynamic.name] = {Space::shared, 0};
      tokens_.expect(";");
    } else if (word != ".visible" && word != ".weak" && word != ".extern") {
      tokens_.fail("unknown declaration " + std::string(word) + " before");
    }
  }

  struct Variable {
    std::string name;
    std::uint32_t bytes;
    std::uint32_t element;
  };
  // .align 8 .b8 name[32], .b64 name
  Variable parse_variable(std::string_view) {
    if (tokens_.take_if(".align")) tokens_.take();
    const Type type = type_of(tokens_.take());
    Variable variable{std::string(tokens_.take()), type.bytes, type.bytes};
    if (tokens_.take_if("[")) {
      const std::uint64_t count = tokens_.peek() == "]" ? 0 : take_number();
      tokens_.expect("]");
      variable.bytes = std::uint32_t(count * type.bytes);
    }
    return variable;
  }
  Type type_of(std::string_view word) {
    const auto type = find_type(word);
    if (!type) tokens_.fail("unknown type " + std::string(word) + " before");
    return *type;
  }
  std::uint64_t take_number() {
    const bool is_negative = tokens_.take_if("-");
    const auto value = number_of(tokens_.peek());
    if (!value) tokens_.fail("expected a number, not");
    tokens_.take();
    return is_negative ? 0 - *value : *value;
  }

  void parse_constant() {
    const Variable variable = parse_variable(".const");
    auto& memory = program_.constants.emplace_back((variable.bytes + 15) / 8);
    auto* const bytes = reinterpret_cast<unsigned char*>(memory.data());
    if (tokens_.take_if("=")) {
      tokens_.expect("{");
      for (std::uint32_t at = 0; !tokens_.take_if("}"); at += variable.element) {
        const std::uint64_t value = take_number();
        if (at + variable.element > variable.bytes) tokens_.fail("too many numbers before");
        std::copy_n(reinterpret_cast<const unsigned char*>(&value), variable.element, bytes + at);
        tokens_.take_if(",");
      }
    }
    tokens_.expect(";");
    program_.symbols[variable.name] = {Space::constant, reinterpret_cast<std::uintptr_t>(bytes)};
  }

  // --- Functions ---

  std::uint32_t function_number(const std::string& name) {
    const auto [at, is_new] =
        program_.numbers.try_emplace(name, std::uint32_t(program_.functions.size()));
    if (is_new) program_.functions.push_back({.name = name});
    return at->second;
  }

  std::vector<Argument> parse_parameters() {
    std::vector<Argument> all;
    while (!tokens_.take_if(")")) {
      tokens_.expect(".param");
      all.push_back(declare(parse_variable(".param")));
      tokens_.take_if(",");
    }
    return all;
  }
  Argument declare(const Variable& variable) {
    const Argument place{frame_bytes_, variable.bytes};
    frame_[variable.name] = place;
    frame_bytes_ += up(variable.bytes);
    return place;
  }

  void parse_function(bool is_kernel) {
    frame_.clear(), registers_.clear(), ranges_.clear(), labels_.clear(), branches_.clear();
    frame_bytes_ = next_register_ = 0;
    std::vector<Argument> results, parameters;
    if (tokens_.take_if("(")) results = parse_parameters();
    const std::uint32_t number = function_number(std::string(tokens_.take()));
    if (tokens_.take_if("(")) parameters = parse_parameters();
    while (tokens_.peek() != "{" && tokens_.peek() != ";" && !tokens_.at_end()) tokens_.take();
    if (tokens_.take_if(";")) return;
    code_.clear();
    parse_body();
    for (const auto& [index, label] : branches_) {
      const auto found = labels_.find(label);
      if (found == labels_.end()) tokens_.fail("no label " + label + " before");
      code_[index].target = found->second;
    }
    Function& function = program_.functions[number];
    function = {function.name, is_kernel, code_, next_register_, frame_bytes_, parameters, results};
  }

  void parse_body() {
    tokens_.expect("{");
    for (int depth = 1; depth > 0;) {
      if (tokens_.at_end()) tokens_.fail("no end of a function before");
      if (tokens_.take_if("{"))
        ++depth;
      else if (tokens_.take_if("}"))
        --depth;
      else
        parse_statement();
    }
    code_.push_back({.op = Op::ret, .line = tokens_.line()});
  }

  void parse_statement() {
    const std::uint32_t line = tokens_.line();
    if (tokens_.take_if(".reg")) return parse_registers();
    if (tokens_.take_if(".local") || tokens_.take_if(".param")) {
      declare(parse_variable(""));
      return tokens_.expect(";");
    }
    if (tokens_.take_if(".pragma")) {
      const std::string_view text = tokens_.take();
      constexpr std::string_view kUsed = "\"used_bytes_mask ";
      if (text.starts_with(kUsed))
        used_bytes_ = std::uint32_t(
            number_of(text.substr(kUsed.size(), text.size() - kUsed.size() - 1)).value());
      return tokens_.expect(";");
    }
    if (tokens_.peek().starts_with(".")) tokens_.fail("unknown directive");
    Instruction instruction{.line = line};
    if (tokens_.take_if("@")) {
      instruction.is_negated = tokens_.take_if("!");
      instruction.predicate = std::int32_t(parse_operand().number);
    }
    const std::string word(tokens_.take());
    if (instruction.predicate < 0 && tokens_.take_if(":")) {
      labels_[word] = std::uint32_t(code_.size());
      return;
    }
    if (!describe(word, instruction))
      throw Error(Errc::unsupported,
                  "PTX, line " + std::to_string(line) + ": unknown operation " + word);
    if (instruction.op == Op::branch) {
      branches_.push_back({code_.size(), std::string(tokens_.take())});
      tokens_.expect(";");
    } else if (instruction.op == Op::call) {
      parse_call(instruction);
    } else {
      parse_operands(instruction);
    }
    code_.push_back(std::move(instruction));
  }

  // .reg .b32 %r<40>; or .reg .b64 %SP;
  void parse_registers() {
    const std::uint8_t bytes = type_of(tokens_.take()).bytes;
    do {
      const std::string name(tokens_.take());
      std::uint64_t count = 1;
      if (tokens_.take_if("<")) {
        count = take_number();
        tokens_.expect(">");
        ranges_[name] = {next_register_, bytes};
      } else {
        registers_[name] = {next_register_, bytes};
      }
      next_register_ += std::uint32_t(count);
    } while (tokens_.take_if(","));
    tokens_.expect(";");
  }

  // call.uni (result), function, (argument, ...);
  void parse_call(Instruction& call) {
    const auto places = [&] {
      std::vector<Argument> all;
      while (!tokens_.take_if(")")) {
        const auto found = frame_.find(std::string(tokens_.take()));
        if (found == frame_.end()) tokens_.fail("a call with something else than .param before");
        all.push_back(found->second);
        tokens_.take_if(",");
      }
      return all;
    };
    if (tokens_.take_if("(")) {
      call.results = places();
      tokens_.expect(",");
    }
    call.callee = function_number(std::string(tokens_.take()));
    if (tokens_.take_if(",")) {
      tokens_.expect("(");
      call.arguments = places();
    }
    tokens_.expect(";");
  }

  void parse_operands(Instruction& instruction) {
    while (!tokens_.take_if(";")) {
      if (tokens_.take_if("{")) {
        std::uint8_t count = 0;
        for (; !tokens_.take_if("}"); ++count) {
          instruction.operands.push_back(parse_operand());
          tokens_.take_if(",");
        }
        instruction.count = count;
        if (instruction.op == Op::mov)
          instruction.op = instruction.operands.size() == count ? Op::unpack : Op::pack;
      } else if (tokens_.take_if("[")) {
        Operand address = parse_operand();
        while (tokens_.peek() == "+" || tokens_.peek() == "-") {
          const bool is_negative = tokens_.take() == "-";
          const auto offset = std::int64_t(take_number());
          address.offset += is_negative ? -offset : offset;
        }
        tokens_.expect("]");
        instruction.operands.push_back(address);
      } else {
        instruction.operands.push_back(parse_operand());
        // The second destination of setp and shfl: read by nobody that we know.
        if (tokens_.take_if("|")) parse_operand();
      }
      tokens_.take_if(",");
    }
    if (instruction.op == Op::ld) instruction.used_bytes = std::exchange(used_bytes_, ~0u);
  }

  Operand parse_operand() {
    using Is = Operand::Is;
    const bool is_negative = tokens_.take_if("-");
    const std::string_view word = tokens_.peek();
    if (const auto value = number_of(word)) {
      tokens_.take();
      return {Is::number, 8, is_negative ? 0 - *value : *value};
    }
    if (word == "_") return tokens_.take(), Operand{};
    if (const auto special = find_special(word)) {
      tokens_.take();
      return {Is::special, 4, std::uint64_t(*special)};
    }
    if (const auto own = find_register(word)) return tokens_.take(), *own;
    const std::string name(word);
    if (const auto found = frame_.find(name); found != frame_.end()) {
      tokens_.take();
      return {Is::frame, 8, found->second.at};
    }
    if (const auto found = program_.symbols.find(name); found != program_.symbols.end()) {
      tokens_.take();
      return {Is::number, 8, found->second.second};
    }
    tokens_.fail("unknown name");
  }
  std::optional<Operand> find_register(std::string_view word) const {
    const auto operand = [](std::uint64_t number, std::uint8_t bytes) {
      return Operand{Operand::Is::reg, bytes, number};
    };
    if (const auto found = registers_.find(word); found != registers_.end())
      return operand(found->second.first, found->second.second);
    const std::size_t digits = word.find_last_not_of("0123456789") + 1;
    const auto found = ranges_.find(word.substr(0, digits));
    if (found == ranges_.end() || digits == word.size()) return {};
    return operand(found->second.first + *number_of(word.substr(digits)), found->second.second);
  }

  std::uint32_t stack_of(const Function& function, std::set<const Function*>& above) const {
    if (!above.insert(&function).second)
      throw Error(Errc::unsupported, "PTX: " + function.name + " calls itself");
    std::uint32_t below = 0;
    for (const Instruction& i : function.code)
      if (i.op == Op::call) below = std::max(below, stack_of(program_.functions[i.callee], above));
    above.erase(&function);
    return function.frame_bytes + below;
  }

  using Register = std::pair<std::uint32_t, std::uint8_t>;
  Tokens tokens_;
  Program program_;
  // Of the function that is being read.
  std::vector<Instruction> code_;
  std::map<std::string, Argument, std::less<>> frame_;
  std::map<std::string, Register, std::less<>> registers_, ranges_;
  std::map<std::string, std::uint32_t> labels_;
  std::vector<std::pair<std::size_t, std::string>> branches_;
  std::uint32_t frame_bytes_ = 0, next_register_ = 0, used_bytes_ = ~0u;
};

}  // namespace

Program parse(std::string_view text) { return Parser(text).parse(); }

const Function& Program::kernel(const std::string& name) const {
  const auto found = numbers.find(name);
  if (found == numbers.end() || !functions[found->second].is_kernel)
    throw Error(Errc::unsupported, "PTX: there is no kernel " + name);
  return functions[found->second];
}

bool Program::is_constant(std::uint64_t at, std::uint64_t bytes) const {
  return std::ranges::any_of(constants, [&](const auto& memory) {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
    return at >= begin && at + bytes <= begin + 8 * memory.size();
  });
}

}  // namespace leeway::gpu::ptx

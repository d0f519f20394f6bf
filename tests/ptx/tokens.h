// SPDX-License-Identifier: BSD-3-Clause
// Tokens: the words of PTX, one after the other.
#pragma once

#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>

#include "leeway/base/error.h"

namespace leeway::gpu::ptx {

class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) { find(); }

  bool at_end() const { return token_.empty(); }
  std::string_view peek() const { return token_; }
  std::uint32_t line() const { return line_; }
  std::string_view take() {
    const std::string_view taken = token_;
    find();
    return taken;
  }
  bool take_if(std::string_view wanted) {
    if (token_ != wanted) return false;
    find();
    return true;
  }
  void expect(std::string_view wanted) {
    if (!take_if(wanted)) fail("expected '" + std::string(wanted) + "' before");
  }
  void skip_to(std::string_view wanted) {
    while (!at_end() && token_ != wanted) find();
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(Errc::unsupported, "PTX, line " + std::to_string(line_) + ": " + what + " '" +
                                       std::string(token_) + "'");
  }

 private:
  static bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' ||
           c == '.';
  }
  void find() {
    for (;;) {
      while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])))
        line_ += text_[at_++] == '\n';
      if (text_.substr(at_, 2) != "//") break;
      at_ = std::min(text_.find('\n', at_), text_.size());
    }
    const std::size_t begin = at_;
    if (at_ < text_.size() && text_[at_] == '"') {
      at_ = std::min(text_.find('"', at_ + 1), text_.size() - 1) + 1;
    } else if (at_ < text_.size() && is_word(text_[at_])) {
      while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    } else if (at_ < text_.size()) {
      ++at_;
    }
    token_ = text_.substr(begin, at_ - begin);
  }

  std::string_view text_, token_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace leeway::gpu::ptx

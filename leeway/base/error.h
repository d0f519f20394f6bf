// SPDX-License-Identifier: BSD-3-Clause
// Error: the one exception type of the library.
#pragma once

#include <stdexcept>
#include <string>

namespace leeway {

enum class Errc {
  invalid_argument = 1,  // the caller asked for something that makes no sense
  corrupt,               // the stream is damaged, truncated or hostile
  unsupported,           // the stream or recipe needs something this build does not have
  io,                    // reading or writing failed
  canceled,              // the progress callback asked to stop
  too_small,             // the memory given does not hold the result
  internal,              // a bug of the library
};

class Error : public std::runtime_error {
 public:
  Error(Errc code, const std::string& message) : std::runtime_error(message), code_(code) {}
  Errc code() const noexcept { return code_; }

 private:
  Errc code_;
};

[[noreturn]] inline void fail_argument(const std::string& message) {
  throw Error(Errc::invalid_argument, message);
}

[[noreturn]] inline void fail_corrupt(const char* what) {
  throw Error(Errc::corrupt, std::string("damaged stream: ") + what);
}

}  // namespace leeway

// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/registration.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "leeway/stage/configured.h"

namespace leeway {
namespace {

struct Known {
  u64 number;
  std::string stages;
  DType dtype;
  Registration::Maker maker;
};

struct All {
  std::mutex mutex;
  std::vector<Known> known;
  u64 next = 0;
};
All& all() {
  static All* const all = new All;  // registrations may outlive other static objects
  return *all;
}

// A recipe without its parameters.
std::string names_in(const std::string& recipe) {
  std::string names;
  for (const std::string_view stage : split(recipe, '+'))
    names += (names.empty() ? "" : "+") + std::string(stage.substr(0, stage.find(':')));
  return names;
}

}  // namespace

Registration::Registration(std::string stages, DType dtype, Maker maker) {
  const std::lock_guard lock(all().mutex);
  number_ = all().next++;
  all().known.push_back({number_, std::move(stages), dtype, std::move(maker)});
}
Registration::~Registration() {
  const std::lock_guard lock(all().mutex);
  std::erase_if(all().known, [this](const Known& known) { return known.number == number_; });
}

std::shared_ptr<const ChunkCodec> registered_codec(const std::string& recipe, DType dtype) {
  Registration::Maker maker;
  {
    const std::lock_guard lock(all().mutex);
    if (all().known.empty()) return nullptr;
    const std::string names = names_in(recipe);
    const auto found = std::ranges::find_if(all().known, [&](const Known& known) {
      return known.dtype == dtype && known.stages == names;
    });
    if (found == all().known.end()) return nullptr;
    maker = found->maker;
  }
  return maker(recipe);
}

}  // namespace leeway

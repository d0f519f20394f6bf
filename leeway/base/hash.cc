// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/base/hash.h"

#define XXH_STATIC_LINKING_ONLY  // for the size of a state
#if defined(__x86_64__) || defined(__i386__)
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif

namespace leeway {
namespace {

XXH3_state_t* state_in(std::byte* memory) { return reinterpret_cast<XXH3_state_t*>(memory); }

}  // namespace

u64 hash_of(ByteView bytes) noexcept { return XXH3_64bits(bytes.data(), bytes.size()); }

Hasher::Hasher() noexcept {
  static_assert(sizeof(state_) >= sizeof(XXH3_state_t) && alignof(XXH3_state_t) <= 64);
  XXH3_INITSTATE(state_in(state_.data()));
  XXH3_64bits_reset(state_in(state_.data()));
}
void Hasher::add(ByteView bytes) noexcept {
  XXH3_64bits_update(state_in(state_.data()), bytes.data(), bytes.size());
}
u64 Hasher::value() const noexcept {
  return XXH3_64bits_digest(reinterpret_cast<const XXH3_state_t*>(state_.data()));
}

}  // namespace leeway

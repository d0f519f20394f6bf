// SPDX-License-Identifier: BSD-3-Clause
// Brief: the short form of a stream of one chunk, for containers and messages (docs/FORMAT.md,
// "Brief streams"). It states all that a standard stream states, in about 40 bytes and the payload.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "leeway/stream/format.h"

namespace leeway {

inline constexpr u8 kBriefVersion = 1;
// The most bytes that a brief stream may have, because it is read as a whole.
inline constexpr u64 kMostBriefBytes = u64(1) << 30;

// A brief stream, read and checked.
struct Brief {
  Header header;
  FrameHead head;      // as the frame of a standard stream would have it
  u64 payload_at = 0;  // where the payload begins
};

// Whether a stream that begins with these bytes is a brief one.
LEEWAY_EXPORT bool is_brief(ByteView first);
// Whether the brief form can hold this header: one chunk, and no regions with their own bounds.
LEEWAY_EXPORT bool can_be_brief(const Header& header);
// Appends the whole stream. The largest error is rounded up, in `head` as well.
LEEWAY_EXPORT void write_brief(const Header& header, FrameHead& head, ByteView payload,
                               Writer& out);
LEEWAY_EXPORT Brief read_brief(ByteView stream);

// The recipes that a brief stream states by a number, which is their place in this list, from 0 on.
// Recipes are only ever added at its end.
LEEWAY_EXPORT std::span<const std::string_view> numbered_recipes();
// The number of a recipe, if it has one, and the other way round.
std::optional<u8> number_of(std::string_view recipe);
std::string numbered_recipe(u8 number);

}  // namespace leeway

// SPDX-License-Identifier: BSD-3-Clause
// Brief: the short form of a stream of one chunk, for containers and messages (docs/FORMAT.md,
// "Brief streams"). It says what a standard stream says, in about 40 bytes beside the payload.
#pragma once

#include <span>
#include <string_view>

#include "leeway/stream/format.h"

namespace leeway {

inline constexpr u8 kBriefVersion = 1;
// No brief stream is longer: it is read as a whole.
inline constexpr u64 kMostBriefBytes = u64(1) << 30;

// A brief stream, read and checked.
struct Brief {
  Header header;
  FrameHead head;      // as the frame of a standard stream would have it
  u64 payload_at = 0;  // where the payload begins
};

// Whether a stream that begins with these bytes is a brief one.
LEEWAY_EXPORT bool is_brief(ByteView first);
// Whether the brief form can say all of this: one chunk, and no regions with bounds of their own.
LEEWAY_EXPORT bool can_be_brief(const Header& header);
// Appends the whole stream. The largest error is rounded up: the head becomes what a reader finds.
LEEWAY_EXPORT void write_brief(const Header& header, FrameHead& head, ByteView payload,
                               Writer& out);
LEEWAY_EXPORT Brief read_brief(ByteView stream);

// Recipes that a brief stream states by a number: their places in this list, from 0 on. It only
// grows.
LEEWAY_EXPORT std::span<const std::string_view> numbered_recipes();

}  // namespace leeway

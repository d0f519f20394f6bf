// SPDX-License-Identifier: BSD-3-Clause
// Offline books: made once from other fields, each for a common bit rate (scripts/codewords.sh).
#pragma once

#include "leeway/encode/parts/book.h"

namespace leeway {

inline constexpr size_t kOfflineBooks = 10;
// The book for about 3 bits per value, a ratio of 10 for floats, which the paper chose.
inline constexpr size_t kCommonBook = 4;

const Book& offline_book(size_t index);

}  // namespace leeway

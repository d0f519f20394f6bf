// SPDX-License-Identifier: BSD-3-Clause
// Made by scripts/codewords.sh; do not edit.
#include "leeway/encode/parts/offline_books.h"

#include <string_view>

namespace leeway {
namespace {

struct Printed {
  i32 low;
  std::string_view lengths;  // of the classes, of low, low + 1, ..., in hexadecimal
};

constexpr Printed kPrinted[kOfflineBooks] = {
    // 1.2 bits a value
    {-22,
     "bccccccccccccccccccccccbbbaa8887531257888aaabbcccccccccccccccccccccccccccccccccc"
     "cccccccc"},
    // 1.6 bits a value
    {-44,
     "bccccccccccccccccccccccccccccccccccccccccccbbbbbbaa99853125899aabbbbbbcccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccc"},
    // 2 bits a value
    {-85,
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "ccccccbbbbaa998541256899abbbbccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "ccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"},
    // 2.5 bits a value
    {-179,
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccbbbbaaa98654134688aaabbbbbccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccc"},
    // 3 bits a value
    {-319,
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cbbbaa976541445699aabbbccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccc"},
    // 4 bits a value
    {-447,
     "cabccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccbbbbbbbbbaaaaa9998776665442444566778899aaaaaabb"
     "bbbbbbcccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "ccccccccccc"},
    // 5 bits a value
    {-479,
     "c9abcccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "ccccccccccccccccccccccccccccccccccccccccccccccccccccccccccbbbbbbbbbaaaaa99988888"
     "7777765555525555556777778888999aaaaaabbbbbbbbccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccc"},
    // 6 bits a value
    {-495,
     "c89abccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccbbbbbbbbbbaaaaaaaa999"
     "99999888888888886666666666525666666666688888888888999999999aaaaaaabbbbbbbbbbcccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "ccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"},
    // 7.5 bits a value
    {-504,
     "c6778abccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "ccccccccccccccccbbbbbbbbbbbbbbbbbbbbbbbbaaaaaaaaaaaaaaaaaaaaaaaaaaa9999999998888"
     "88888888888888888888888888877777777626777777778888888888888888888888888888888899"
     "9999999aaaaaaaaaaaaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbbbbbbbbbcbccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"},
    // 9 bits a value
    {-507,
     "c5567788cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "ccccccbcccbbbbbbbbbbbbbbbbbbaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
     "aaaaaaaaaaaaaaaaaaaa999999999999999999999999999999999999999999999999999999999999"
     "99999999999999999999999999999888888887636788888888999999999999999999999999999999"
     "99999999999999999999999999999999999999999999999999999999999aaaaaaaaaaaaaaaaaaaaa"
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbbbbccbccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
     "ccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"},
};

Book book_of(const Printed& printed) {
  Book book;
  book.low = printed.low;
  for (const char c : printed.lengths)
    book.lengths.push_back(u8(c <= '9' ? c - '0' : c - 'a' + 10));
  return book;
}

}  // namespace

const Book& offline_book(size_t index) {
  static const auto books = [] {
    std::array<Book, kOfflineBooks> all;
    for (size_t k = 0; k < kOfflineBooks; ++k) all[k] = book_of(kPrinted[k]);
    return all;
  }();
  return books[index];
}

}  // namespace leeway

// SPDX-License-Identifier: BSD-3-Clause
// Adaptive: the Huffman code of CEAZ [Zhang et al., ICS 2022], which never waits for a histogram.
//
// Codes come in pages. A page is coded with the book that was decided on before it, while it is
// being counted; then the counts decide on the book of the next page, or of the one after it: the
// same again, a new one, or one of the offline books, which were made from other fields
// (offline_books.h). Every chunk begins with an offline book.
//
// A book has prefix codes for an interval of the 1024 symbols -512 ... 511, and for a few classes
// of all other codes, by size; the bits of those codes are stored separately.
#pragma once

#include "leeway/base/export.h"
#include "leeway/encode/parts/prefix_code.h"
#include "leeway/stage/stage.h"

namespace leeway {

enum class BookRule : u8 {
  cost,     // the book that would have been the cheapest for the last page
  paper,    // by the change of the standard deviation, with the thresholds of the paper
  offline,  // the offline book of the common bit rate, always
};
constexpr std::array<std::string_view, 3> param_words(BookRule) {
  return {"cost", "paper", "offline"};
}
enum class Outliers : u8 { classes, one };
constexpr std::array<std::string_view, 2> param_words(Outliers) { return {"classes", "one"}; }

struct Adaptive {
  static constexpr std::string_view kName = "adaptive";
  static constexpr std::string_view kAbout =
      "Huffman code in one pass, its book updated page by page, as CEAZ does";
  static constexpr Kind kKind = Kind::encoder;
  // Chunks: books need time to fit.
  static constexpr Traits kTraits{.chunk_values = u64(1) << 20, .narrow_codes = true};
  struct Params {
    BookRule rule = BookRule::cost;
    prefix::Sort sort = prefix::Sort::approximate;
    i32 page = 15;
    i32 lag = 0;
    i32 keep = 518;
    i32 restart = 969;
    Outliers outliers = Outliers::classes;
    void fields(auto&& field) {
      field("rule", rule, BookRule::cost, BookRule::offline,
            "which book comes next: by cost, by the paper's thresholds, or never another");
      field("sort", sort, prefix::Sort::approximate, prefix::Sort::exact,
            "how symbols are ordered for a new book");
      field("page", page, 11, 24, "codes of a page, as a power of two");
      field("lag", lag, 0, 1,
            "pages between the one that decides on a book and the one coded with it: 1 as in "
            "hardware, where making a book takes time");
      field("keep", keep, 0, 100000,
            "rule=paper: up to this change of the deviation, in hundredths, the book stays");
      field("restart", restart, 0, 100000,
            "rule=paper: from this change on, the offline book is taken again");
      field("outliers", outliers, Outliers::classes, Outliers::one,
            "codes outside the book: twelve symbols by their size, or one for all, as the paper");
    }
  } params;

  template <class I>
  LEEWAY_EXPORT std::unique_ptr<CodeSink<I>> sink(size_t count, Writer& out) const;
  template <class I>
  LEEWAY_EXPORT std::unique_ptr<CodeSource<I>> source(Reader& in, size_t count) const;
};

}  // namespace leeway

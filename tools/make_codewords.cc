// SPDX-License-Identifier: BSD-3-Clause
// Makes leeway/encode/parts/offline_books.cc: code books for fields not seen yet (scripts/codewords.sh).
//
// As CEAZ does it: for each bit rate, every representative field gets the bound at which its codes
// have that rate; the frequencies of their symbols are averaged over the fields, and the average
// makes the book. The fields are those of `leeway sample`, so that anyone can make the same books.
#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "leeway/encode/parts/offline_books.h"
#include "tools/sample_fields.h"

namespace leeway::cli {
namespace {

constexpr double kRates[kOfflineBooks] = {1.2, 1.6, 2, 2.5, 3, 4, 5, 6, 7.5, 9};

struct Symbols {
  Book::Counts counts{};
  double bits = 0;  // a value
};

Symbols symbols_of(const std::vector<float>& field, const Shape& shape, double bound) {
  std::vector<float> values = field;
  std::vector<i32> codes(values.size());
  Patches<float> exact;
  LinearGrid<float>(bound).quantize(std::span(values), std::span(codes), exact);
  Writer side;
  Lorenzo().forward(Field<u32>{reinterpret_cast<u32*>(codes.data()), shape}, side);
  Symbols symbols;
  for (const i32 code : codes) symbols.counts.add(code);
  symbols.bits = double(Book::entropy(symbols.counts)) / double(codes.size());
  return symbols;
}

// The frequencies of a field at a bit rate, in parts of one.
struct Frequencies {
  std::array<double, Book::kSymbols> symbols{};
  std::array<double, Book::kClasses> classes{};
};
Frequencies frequencies_at(const std::vector<float>& field, const Shape& shape, double rate) {
  double low = -60, high = 20;  // logarithms of bounds: too many bits, too few
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (symbols_of(field, shape, std::exp2(middle)).bits > rate ? low : high) = middle;
  }
  const Symbols found = symbols_of(field, shape, std::exp2(high));
  Frequencies result;
  for (size_t s = 0; s < result.symbols.size(); ++s)
    result.symbols[s] = double(found.counts.symbols[s]) / double(field.size());
  for (size_t k = 0; k < Book::kClasses; ++k)
    result.classes[k] = double(found.counts.classes[k]) / double(field.size());
  return result;
}

void run() {
  std::vector<std::pair<Shape, std::vector<float>>> fields;
  for (const SampleKind& kind : sample_kinds()) {
    if (kind.dtype != DType::f32 && kind.dtype != DType::f64) continue;
    for (const Shape& shape : {Shape{40, 60, 80}, Shape{400, 480}}) {
      std::vector<double> values(size_t(shape.size()));
      kind.make(shape, 7, values);
      fields.emplace_back(shape, std::vector<float>(values.begin(), values.end()));
    }
  }
  fmt::print(
      "// SPDX-License-Identifier: BSD-3-Clause\n"
      "// Made by scripts/codewords.sh; do not edit.\n"
      "#include \"leeway/encode/parts/offline_books.h\"\n\n"
      "#include <string_view>\n\n"
      "namespace leeway {{\nnamespace {{\n\n"
      "struct Printed {{\n  i32 low;\n  std::string_view lengths;  // of the classes, of low, "
      "low + "
      "1, ..., in hexadecimal\n}};\n\n"
      "constexpr Printed kPrinted[kOfflineBooks] = {{\n");
  for (const double rate : kRates) {
    Frequencies sum;
    const double part = 0x1p24 / double(fields.size());
    for (const auto& [shape, values] : fields) {
      const Frequencies found = frequencies_at(values, shape, rate);
      for (size_t s = 0; s < sum.symbols.size(); ++s) sum.symbols[s] += part * found.symbols[s];
      for (size_t k = 0; k < Book::kClasses; ++k) sum.classes[k] += part * found.classes[k];
    }
    // Both signs get the same frequency: which one is more frequent in another field is unknown.
    Book::Counts counts;
    for (size_t s = 1; s < counts.symbols.size(); ++s)
      counts.symbols[s] = u32((sum.symbols[s] + sum.symbols[counts.symbols.size() - s]) / 2);
    for (size_t k = 0; k < Book::kClasses; ++k) counts.classes[k] = u32(sum.classes[k]);
    const Book book = Book::made_of(counts, prefix::Sort::exact);
    fmt::print("    // {} bits a value\n    {{{},", rate, book.low);
    for (size_t i = 0; i < book.lengths.size(); ++i)
      fmt::print("{}{:x}", i % 80 == 0 ? (i > 0 ? "\"\n     \"" : "\n     \"") : "",
                 book.lengths[i]);
    fmt::print("\"}},\n");
  }
  fmt::print(
      "}};\n\n"
      "Book book_of(const Printed& printed) {{\n"
      "  Book book;\n  book.low = printed.low;\n"
      "  for (const char c : printed.lengths) book.lengths.push_back(u8(c <= '9' ? c - '0' : c - "
      "'a' + "
      "10));\n"
      "  return book;\n}}\n\n"
      "}}  // namespace\n\n"
      "const Book& offline_book(size_t index) {{\n"
      "  static const auto books = [] {{\n"
      "    std::array<Book, kOfflineBooks> all;\n"
      "    for (size_t k = 0; k < kOfflineBooks; ++k) all[k] = book_of(kPrinted[k]);\n"
      "    return all;\n  }}();\n"
      "  return books[index];\n}}\n\n}}  // namespace leeway\n");
}

}  // namespace
}  // namespace leeway::cli

int main() { leeway::cli::run(); }

// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/stream/brief.h"

#include <fstream>
#include <regex>

#include "leeway/chunk_memory.h"
#include "leeway/quality/compare.h"
#include "leeway/stream/compact.h"
#include "tests/streams.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

template <class T>
CompressOptions brief_options(const Bound& bound, const std::string& recipe = "balanced") {
  CompressOptions options = options_for<T>(bound, recipe);
  options.brief = true;
  return options;
}

Bytes sample(const CompressOptions& options) {
  const Shape shape{9, 11};
  return compress(make_field<float>(shape, Texture::hostile).data(), shape, options);
}

// The same bytes with a checksum that fits them.
Bytes repaired(Bytes stream) {
  const u64 hash = hash_of(ByteView(stream).first(stream.size() - sizeof(u64)));
  std::memcpy(stream.data() + stream.size() - sizeof hash, &hash, sizeof hash);
  return stream;
}

Errc error_of(ByteView stream) {
  try {
    decompress(stream);
  } catch (const Error& error) {
    return error.code();
  }
  return {};
}

void expect_same_header(const Header& a, const Header& b) {
  EXPECT_EQ(a.dtype, b.dtype);
  EXPECT_EQ(a.shape, b.shape);
  EXPECT_EQ(a.chunk, b.chunk);
  EXPECT_EQ(a.bound.limits(), b.bound.limits());
  EXPECT_EQ(a.abs_bound, b.abs_bound);
  EXPECT_EQ(a.recipe, b.recipe);
  EXPECT_EQ(a.fills, b.fills);
}

TEST(Brief, ComesBackAsTheStandardFormDoes) {
  for (const std::string& recipe : recipes())
    for_each_type_of(recipe, [&]<class T>(std::type_identity<T>) {
      for (const Shape& shape : {Shape{}, Shape{1, 1}, Shape{257}, Shape{2, 17, 13}}) {
        const auto values = make_field<T>(shape, Texture::hostile);
        auto options = options_for<T>(Bound::abs(is_floating<T> ? 0.01 : 2), recipe);
        const Bytes standard = compress(values.data(), shape, options);
        options.brief = true;
        const Bytes brief = check_round_trip(values, shape, options);
        const Info a = inspect(standard), b = inspect(brief);
        EXPECT_EQ(a.form, Form::standard);
        ASSERT_EQ(b.form, Form::brief) << recipe;
        expect_same_header(a.header, b.header);
        EXPECT_EQ(a.statement.special, b.statement.special);
        EXPECT_EQ(a.statement.exact, b.statement.exact);
        EXPECT_EQ(a.statement.decoded_hash, b.statement.decoded_hash);
        EXPECT_GE(b.statement.max_error, a.statement.max_error);
        EXPECT_LE(b.statement.max_error, a.statement.max_error * 1.001 + 1e-40);
        EXPECT_LT(brief.size() + 180, standard.size()) << recipe;
      }
    });
}

TEST(Brief, HoldsEveryKindOfBound) {
  const Shape shape{20, 31};
  const auto values = make_field<float>(shape, Texture::smooth);
  for (const Bound& bound :
       {Bound::abs(1e-3), Bound::abs(1e-300), Bound::abs(1e305), Bound::rel(1e-3), Bound::psnr(50),
        Bound::l2(0.1), Bound::lossless(), Bound::ratio(5), Bound::rate(6), Bound::pointwise(1e-2),
        Bound::abs(0.1) && Bound::rel(1e-3), Bound::abs(0.1) && Bound::lossless()}) {
    auto options = options_for<float>(bound);
    const Info standard = inspect(compress(values.data(), shape, options));
    options.brief = true;
    const Bytes stream = compress(values.data(), shape, options);
    const Info info = inspect(stream);
    EXPECT_EQ(info.form, Form::brief);
    EXPECT_EQ(info.header.bound.limits(), bound.limits()) << to_string(bound);
    EXPECT_LE(info.statement.max_error, info.header.abs_bound);
    if (!bound.wants_size()) EXPECT_EQ(info.header.abs_bound, standard.header.abs_bound);
    EXPECT_EQ(info.header.max, bound.needs_range() ? standard.header.max : 0) << to_string(bound);
    const Array decoded = decompress(stream);
    expect_within<float>(values, decoded.as<float>(), info.header.abs_bound, {}, to_string(bound));
    if (bound.has(BoundKind::ratio))
      EXPECT_NEAR(double(stream.size()), double(values.size()) * 4 / 5, 25);
  }
}

// The report is what a reader finds, and the memory of a caller holds the same stream.
TEST(Brief, SaysWhatItWrote) {
  const Shape shape{50, 40};
  const auto values = make_field<double>(shape, Texture::hostile);
  const auto options = brief_options<double>(Bound::abs(0.01), "small");
  Bytes memory(size_t(max_compressed_size(DType::f64, shape, options)));
  const CompressReport report =
      compress_into(view_of(values.data(), shape), options, std::span(memory));
  memory.resize(size_t(report.output_bytes));
  EXPECT_EQ(memory, compress(values.data(), shape, options));
  const Info info = inspect(memory);
  EXPECT_EQ(report.form, Form::brief);
  EXPECT_EQ(report.statement.max_error, info.statement.max_error);
  EXPECT_EQ(report.statement.special, info.statement.special);
  EXPECT_EQ(report.statement.exact, info.statement.exact);
  EXPECT_EQ(report.statement.decoded_hash, info.statement.decoded_hash);
  EXPECT_THROW(compress_into(view_of(values.data(), shape), options,
                             std::span(memory).first(memory.size() - 1)),
               Error);
}

TEST(Brief, TakesTheSizeItShould) {
  const Shape shape{10, 100};
  const auto values = make_field<float>(shape, Texture::smooth);
  const Bytes stream = compress(values.data(), shape, brief_options<float>(Bound::abs(0.01)));
  const MemorySource source(stream);
  const StreamReader reader(source);
  EXPECT_EQ(stream.size() - reader.read_head(0).payload_bytes, 38u);
  const float one = 1;
  EXPECT_EQ(compress(&one, {}, brief_options<float>(Bound::abs(0.01))).size(), 36u + 5);
}

// The standard form says what the brief one cannot.
TEST(Brief, GivesWayToTheStandardForm) {
  const Shape shape{20, 30};
  const auto values = make_field<float>(shape, Texture::smooth);
  auto options = brief_options<float>(Bound::abs(0.01));
  options.chunk = {10, 30};
  EXPECT_EQ(inspect(compress(values.data(), shape, options)).form, Form::standard);
  options.chunk = {20, 30};
  EXPECT_EQ(inspect(compress(values.data(), shape, options)).form, Form::brief);
  options.regions = {{{{3, 5}, {4, 4}}, 0.001}};
  EXPECT_EQ(inspect(compress(values.data(), shape, options)).form, Form::standard);
  options = brief_options<float>(Bound::abs(0.01));
  EXPECT_EQ(inspect(compress(values.data(), {0, 3}, options)).form, Form::standard);
}

TEST(Brief, IsReadInPartsAndPreviewed) {
  const Shape shape{60, 50, 50};
  const auto values = make_field<float>(shape, Texture::smooth);
  for (const char* recipe : {"small", "balanced", "pyramid:tile=12,taps=0+linear+rans"}) {
    auto options = options_for<float>(Bound::abs(1e-3), recipe);
    options.chunk = shape;
    const Bytes standard = compress(values.data(), shape, options);
    options.brief = true;
    const Bytes brief = compress(values.data(), shape, options);
    ASSERT_EQ(inspect(brief).form, Form::brief);
    const Box box{{7, 20, 3}, {5, 20, 40}};
    const Array a = decompress(standard, box), b = decompress(brief, box);
    EXPECT_EQ(std::memcmp(a.data(), b.data(), a.bytes()), 0) << recipe;
    for (const unsigned level : {0u, 1u, 2u, 5u}) {
      const Array c = preview(standard, level), d = preview(brief, level);
      ASSERT_EQ(c.shape(), d.shape());
      EXPECT_EQ(std::memcmp(c.data(), d.data(), c.bytes()), 0) << recipe << level;
    }
  }
}

TEST(Brief, EveryChangedByteAndEveryCutIsAnError) {
  auto with_everything = brief_options<float>(Bound::rel(1e-3), "linear+lorenzo:order=2+huffman");
  with_everything.fills = {-9999, 3.5};
  for (const auto& options : {brief_options<float>(Bound::abs(0.01)), with_everything}) {
    const Bytes stream = sample(options);
    ASSERT_EQ(inspect(stream).form, Form::brief);
    for (size_t i = 0; i < stream.size(); ++i)
      for (const u8 change : {0x01, 0x10, 0x80, 0xff}) {
        Bytes damaged = stream;
        damaged[i] ^= change;
        EXPECT_THROW(decompress(damaged), Error) << i;
        EXPECT_THROW(inspect(damaged), Error) << i;
      }
    for (size_t size = 0; size < stream.size(); ++size)
      EXPECT_THROW(decompress(ByteView(stream).first(size)), Error) << size;
    Bytes longer = stream;
    longer.push_back(0);
    EXPECT_THROW(decompress(longer), Error);
  }
}

// With a checksum that is right, everything that cannot be is refused, and nothing else happens.
TEST(Brief, ChangedBytesUnderARightChecksumCrashNothing) {
  auto with_everything = brief_options<float>(Bound::rel(1e-3), "linear+lorenzo:order=2+huffman");
  with_everything.fills = {-9999, 3.5};
  for (const auto& options : {brief_options<float>(Bound::abs(0.01), "small"), with_everything}) {
    const Bytes stream = sample(options);
    for (size_t i = 4; i + 8 < stream.size(); ++i)
      for (const u8 change : {0x01, 0x02, 0x10, 0x40, 0x80, 0xff}) {
        Bytes other = stream;
        other[i] ^= change;
        error_of(repaired(other));
        DecompressOptions unchecked;
        unchecked.check_decoded = false;
        try {
          decompress(repaired(other), unchecked);
        } catch (const Error&) {
        }
      }
  }
}

TEST(Brief, UnknownThingsAreUnsupportedAndNotDamaged) {
  const Bytes stream = sample(brief_options<float>(Bound::abs(0.01)));
  const auto with = [&](size_t at, u8 value) {
    Bytes other = stream;
    other[at] = value;
    return error_of(repaired(other));
  };
  EXPECT_EQ(with(4, 2), Errc::unsupported);         // version
  EXPECT_EQ(with(5, 0x20), Errc::unsupported);      // type 0
  EXPECT_EQ(with(5, 0x2d), Errc::unsupported);      // type 13
  EXPECT_EQ(with(6, 0x20), Errc::unsupported);      // flag
  EXPECT_EQ(with(6, 0x80 | 8), Errc::unsupported);  // another
  EXPECT_EQ(with(9, 255), Errc::unsupported);       // recipe
  EXPECT_EQ(with(9, u8(numbered_recipes().size())), Errc::unsupported);
  EXPECT_EQ(with(5, 0x91), Errc::corrupt);  // nine axes
  EXPECT_EQ(with(7, 0), Errc::corrupt);     // no values
}

// What stands where it need not, and numbers that ask for too much.
TEST(Brief, WhatNoWriterWritesIsRefused) {
  Header header;
  header.shape = header.chunk = {4};
  header.bound = Bound::abs(1);
  header.abs_bound = 1;
  header.recipe = "linear+lorenzo+huffman+zstd";
  const FrameHead head{.bound = 1};
  const Bytes payload = {0, 0, 0, 0x80, 0x3f};  // a constant
  const auto made = [&](auto&& change) {
    Header h = header;
    FrameHead f = head;
    const float ones[4] = {1, 1, 1, 1};
    f.decoded_hash = hash_of(bytes_of(std::span<const float>(ones)));
    change(h, f);
    Writer out;
    write_brief(h, f, payload, out);
    return Bytes(out.bytes().begin(), out.bytes().end());
  };
  const Bytes plain = made([](Header&, FrameHead&) {});
  EXPECT_EQ(error_of(plain), Errc{});
  // At: magic 4, version, type, flags 6, extent 7, recipe 8, bound 9, then what a flag says.
  const auto with = [&](u8 flags, size_t at, const Bytes& more) {
    Bytes other = plain;
    other[6] |= flags;
    other.insert(other.begin() + std::ptrdiff_t(at), more.begin(), more.end());
    return error_of(repaired(other));
  };
  const auto bytes = [](auto... numbers) {
    Writer out;
    (out.put(numbers), ...);
    return Bytes(out.bytes().begin(), out.bytes().end());
  };
  EXPECT_EQ(with(1, 17, bytes(u8(1), u8(1), 1.0, 1.0)), Errc::corrupt);  // asked, as in force
  EXPECT_EQ(with(1, 17, bytes(u8(0), 1.0)), Errc::corrupt);              // asked for nothing
  EXPECT_EQ(with(1, 17, bytes(u8(1), u8(9), 1.0, 1.0)), Errc::unsupported);
  EXPECT_EQ(with(1, 17, bytes(u8(1), u8(1), 2.0, 1.0)), Errc{});
  EXPECT_EQ(with(2, 17, bytes(u8(0))), Errc::corrupt);            // no fill values
  EXPECT_EQ(with(2, 17, bytes(u8(0x81), u8(2))), Errc::corrupt);  // 257 of them
  EXPECT_EQ(with(2, 17, bytes(u8(1), 7.f)), Errc{});
  EXPECT_EQ(with(4, 17, bytes(0.0, 0.0)), Errc::corrupt);  // no range
  EXPECT_EQ(with(4, 17, bytes(0.0, double(INFINITY))), Errc::corrupt);
  EXPECT_EQ(with(4, 17, bytes(0.0, 1.0)), Errc{});
  EXPECT_EQ(with(8, 17, bytes(u8(0), u8(0))), Errc::corrupt);  // no counts
  EXPECT_EQ(with(8, 17, bytes(u8(5), u8(0))), Errc::corrupt);  // more than values
  EXPECT_EQ(with(8, 17, bytes(u8(4), u8(0))), Errc{});
  EXPECT_EQ(with(16, 8, bytes(u8(0))), Errc::corrupt);  // no text
  // A recipe in full that has a number, which it may have got later: the number's byte makes room
  // for size and text.
  Bytes full = plain;
  full[6] |= 16;
  full[8] = u8(header.recipe.size());
  full.insert(full.begin() + 9, header.recipe.begin(), header.recipe.end());
  EXPECT_EQ(error_of(repaired(full)), Errc{});
  for (const float error : {-1.f, NAN, -INFINITY}) {
    Bytes other = plain;
    std::memcpy(other.data() + 17, &error, sizeof error);
    EXPECT_EQ(error_of(repaired(other)), Errc::corrupt) << error;
  }
  for (const float error : {INFINITY, 2.f, 1e-45f}) {
    Bytes other = plain;
    std::memcpy(other.data() + 17, &error, sizeof error);
    EXPECT_EQ(inspect(repaired(other)).statement.max_error, std::min<double>(error, 1));
  }
  for (const double bound : {-1.0, double(NAN), double(INFINITY)}) {
    Bytes other = plain;
    std::memcpy(other.data() + 9, &bound, sizeof bound);
    EXPECT_EQ(error_of(repaired(other)), Errc::corrupt) << bound;
  }
}

TEST(Brief, HugeShapesAreRefusedWithoutAllocating) {
  Header header;
  header.bound = Bound::abs(1);
  header.abs_bound = 1;
  header.recipe = "linear+huffman";
  for (const Shape& shape : {Shape{(u64(1) << 24) + 1}, Shape{u64(1) << 50},
                             Shape{1 << 13, 1 << 12}, Shape{1 << 24, 1, 2}}) {
    header.shape = header.chunk = shape;
    FrameHead head{.bound = 1};
    Writer out;
    write_brief(header, head, Bytes{0, 0, 0, 0, 0}, out);
    EXPECT_EQ(error_of(out.bytes()), Errc::corrupt) << to_string(shape);
  }
}

TEST(Brief, CannotBeSalvagedAndSaysSo) {
  Bytes damaged = sample(brief_options<float>(Bound::abs(0.01)));
  damaged[damaged.size() / 2] ^= 1;
  DecompressOptions salvage;
  salvage.salvage = true;
  try {
    decompress(damaged, salvage);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("no part of it can be salvaged"), std::string::npos);
  }
}

// It must become a standard stream first, which holds just the same.
TEST(Brief, IsUpdatedInTheStandardFormOnly) {
  const Shape shape{20, 30};
  const auto values = make_field<float>(shape, Texture::hostile);
  auto options = brief_options<float>(Bound::abs(0.01), "small");
  Bytes stream = compress(values.data(), shape, options);
  const Bytes before = stream;
  MemoryStore store(stream);
  const std::vector<float> zeros(25);
  try {
    update(store, {2, 2}, view_of(zeros.data(), {5, 5}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("--compact"), std::string::npos);
  }
  EXPECT_EQ(stream, before);
  Bytes standard;
  const MemorySource source(stream);
  compact(StreamReader(source),
          [&](ByteView part) { standard.insert(standard.end(), part.begin(), part.end()); });
  EXPECT_EQ(inspect(standard).form, Form::standard);
  EXPECT_EQ(std::memcmp(decompress(standard).data(), decompress(stream).data(), 2400), 0);
  expect_same_header(inspect(standard).header, inspect(stream).header);
  MemoryStore other(standard);
  update(other, {2, 2}, view_of(zeros.data(), {5, 5}));
  EXPECT_LE(std::abs(decompress(standard).as<float>()[2 * 30 + 2]), 0.01f);
}

// What a host does with a chunk of a recipe that predicts first: values that it did not touch keep
// their bits, in a brief stream again.
TEST(Brief, ChunksThatComeBackKeepTheirBits) {
  const Shape shape{30, 40};
  auto now = make_field<float>(shape, Texture::smooth);
  const auto options = brief_options<float>(Bound::abs(0.01), "small");
  ChunkMemory memory;
  Bytes room(size_t(max_compressed_size(DType::f32, shape, options)));
  const auto write = [&] {
    const u64 used =
        memory.compress_into(view_of(now.data(), shape), options, std::span(room)).output_bytes;
    return Bytes(room.begin(), room.begin() + std::ptrdiff_t(used));
  };
  Bytes stream = write();
  for (size_t round = 0; round < 5; ++round) {
    const Array decoded = decompress(stream);
    memory.remember(stream, view_of(decoded.as<float>().data(), shape));
    now.assign(decoded.as<float>().begin(), decoded.as<float>().end());
    for (size_t i = 0; i < 40; ++i) now[round * 40 + i] = float(i);
    stream = write();
    ASSERT_EQ(inspect(stream).form, Form::brief);
    const Array again = decompress(stream);
    for (size_t i = 0; i < now.size(); ++i)
      if (i / 40 != round) ASSERT_EQ(again.as<float>()[i], now[i]) << round << " " << i;
  }
  const MemorySource source(stream);
  Bytes storage;
  EXPECT_EQ(StreamReader(source).read_begin(0, 1, storage)[0], 7);  // layers
}

TEST(Brief, RecipesHaveTheNumbersOfThePage) {
  std::ifstream page(LEEWAY_DOCS_DIR "/FORMAT.md");
  const std::regex row(R"(\| (\d+) \| `([^`]+)` \|)");
  size_t next = 0;
  const auto numbered = numbered_recipes();
  for (std::string line; std::getline(page, line);)
    if (std::smatch match; std::regex_match(line, match, row)) {
      ASSERT_EQ(match[1].str(), std::to_string(next));
      ASSERT_LT(next, numbered.size());
      // In a table `|` is written `\|`.
      EXPECT_EQ(std::regex_replace(match[2].str(), std::regex(R"(\\\|)"), "|"), numbered[next++]);
    }
  EXPECT_EQ(next, numbered.size());
}

TEST(Brief, NumberedRecipesAreWrittenInFullAndOnce) {
  std::set<std::string> seen;
  for (const std::string_view recipe : numbered_recipes()) {
    EXPECT_EQ(to_string(parse_recipe(recipe)), recipe);
    EXPECT_TRUE(seen.emplace(recipe).second) << recipe;
  }
  for (const NamedRecipe& named : named_recipes())
    EXPECT_EQ(seen.count(to_string(parse_recipe(named.recipe))), 1u)
        << named.name << " has no number: append it to the list";
}

// As hosts fill up the chunks at the ends of an array.
template <class T>
std::vector<T> filled_up(const std::vector<T>& values, const Shape& shape, const Shape& to,
                         T with) {
  std::vector<T> result(size_t(to.size()), with);
  const View from(reinterpret_cast<const std::byte*>(values.data()), dtype_of<T>(), shape);
  const MutableView all(reinterpret_cast<std::byte*>(result.data()), dtype_of<T>(), to);
  copy(from, all.part({{}, shape}));
  return result;
}

TEST(Brief, FillingOfChunksAtABorderCostsLittle) {
  const Shape shape{20, 33, 50}, chunk{24, 40, 64};
  const auto values = make_field<float>(shape, Texture::smooth);
  for (const std::string recipe : {"fast", "balanced", "small", "cuszp2-outlier", "lossless"})
    for (const float filling : {0.0f, 1e20f, std::numeric_limits<float>::quiet_NaN()}) {
      auto options = brief_options<float>(Bound::abs(1e-3), recipe);
      options.chunk = shape;
      const size_t alone = compress(values.data(), shape, options).size();
      options.chunk = chunk;
      const auto whole = filled_up(values, shape, chunk, filling);
      const Bytes stream = check_round_trip(whole, chunk, options);
      EXPECT_LE(stream.size(), alone + 40) << recipe << " " << filling;
      // What is coded again does not move.
      const Bytes again = compress(decompress(stream).as<float>().data(), chunk, options);
      EXPECT_EQ(inspect(again).statement.decoded_hash, inspect(stream).statement.decoded_hash)
          << recipe;
    }
}

TEST(Brief, MeasuredBoundsHoldAtABorder) {
  const Shape chunk{7, 30, 40};
  for (const Shape& shape : {Shape{6, 18, 24}, Shape{7, 18, 40}, Shape{7, 30, 24}})
    for (const std::string recipe : {"balanced", "small", "sz3-interp"})
      for (int decibel = 30; decibel < 70; decibel += 19) {
        auto values = make_field<float>(shape, Texture::smooth);
        for (float& value : values) value = std::exp(2 * value);
        const auto whole = filled_up(values, shape, chunk, 0.0f);
        const auto judge = [&](const Bound& bound) {
          const auto options = brief_options<float>(bound, recipe);
          const Array decoded = decompress(compress(whole.data(), chunk, options));
          return compare(view_of(whole.data(), chunk), View(decoded.data(), DType::f32, chunk), {},
                         false);
        };
        EXPECT_GE(judge(Bound::psnr(decibel)).psnr, decibel) << recipe;
        const double norm = std::pow(10, -decibel / 20.0) * double(whole.size());
        EXPECT_LE(judge(Bound::l2(norm)).l2, norm) << recipe;
      }
}

TEST(Brief, SizesAreReachedAtABorder) {
  const Shape shape{40, 44}, chunk{64, 64};
  const auto values = filled_up(make_field<float>(shape, Texture::noise), shape, chunk, 0.0f);
  const double bytes = double(values.size() * sizeof(float));
  for (const std::string recipe : {"fast", "balanced", "small"})
    for (const double ratio : {8., 15.}) {
      const Bytes stream =
          compress(values.data(), chunk, brief_options<float>(Bound::ratio(ratio), recipe));
      EXPECT_NEAR(double(stream.size()), bytes / ratio, 0.06 * bytes / ratio) << recipe << ratio;
    }
}

TEST(Brief, EqualValuesAtTheEndDoNotMoveOthers) {
  // Small values at the end become zeros, and then look like filling.
  const Shape shape{30, 41};
  auto values = make_field<float>(shape, Texture::smooth);
  for (size_t i = 0; i < values.size(); ++i)
    if (i >= 20 * 41) values[i] = 1e-6f * float(i % 7);
  for (const std::string& recipe : recipes()) {
    const auto options = brief_options<float>(Bound::abs(1e-3), recipe);
    const Bytes once = compress(values.data(), shape, options);
    const Bytes twice = compress(decompress(once).as<float>().data(), shape, options);
    EXPECT_EQ(inspect(once).statement.decoded_hash, inspect(twice).statement.decoded_hash)
        << recipe;
  }
}

}  // namespace
}  // namespace leeway::test

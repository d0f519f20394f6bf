// SPDX-License-Identifier: BSD-3-Clause
#include "tools/pair_files.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "leeway/base/hash.h"

namespace leeway::cli {
namespace {

OpenSide stream_side(const std::string& path, unsigned threads) {
  struct Open {
    explicit Open(const std::string& name) : source(name), reader(source) {}
    FileSource source;
    StreamReader reader;
  };
  const auto open = std::make_shared<Open>(path);
  const Info info = inspect(open->reader);
  OpenSide result;
  result.shape = info.header.shape;
  result.bytes = info.header.shape.size() * size_of(info.header.dtype);
  result.stored_bytes = info.stream_bytes;
  result.bound_asked = to_string(info.header.bound);
  result.bound = info.header.abs_bound;
  result.recipe = info.header.recipe;
  result.notes = {{"Recipe", info.header.recipe},
                  {"Bound as asked for", to_string(info.header.bound)},
                  {"Largest error, as the stream states it", number(info.statement.max_error)},
                  {"Checksum of the decoded values",
                   fmt::format("XXH3-64 {:016x}", info.statement.decoded_hash)}};
  result.side = {info.header.dtype, info.header.chunk,
                 [open, threads](const Box& box) {
                   const auto array =
                       std::make_shared<Array>(open->reader.header().dtype, box.shape);
                   DecompressOptions options;
                   options.execution.threads = threads;
                   decompress_into(open->reader, box.first, array->view(), options);
                   return Part{View(array->data(), array->dtype(), array->shape()), array};
                 },
                 info.header.fills};
  result.keeper = open;
  return result;
}

// Found part by part, so that files larger than memory can be looked at.
std::vector<u64> detected_fills(const PairSide& side, const Shape& shape) {
  constexpr u64 kPartValues = u64(1) << 24;
  size_t axis = 0;
  while (axis + 1 < shape.rank() && shape[axis] == 1) ++axis;
  const u64 extent = shape.rank() ? shape[axis] : 1;
  const u64 step =
      std::max<u64>(1, kPartValues / std::max<u64>(1, shape.size() / std::max<u64>(extent, 1)));
  std::vector<std::byte> found;
  for (u64 first = 0; first < extent && shape.size() > 0; first += step) {
    std::array<u64, kMaxRank> extents{};
    std::ranges::copy(shape.extents(), extents.begin());
    Box box;
    if (shape.rank()) box.first[axis] = first, extents[axis] = std::min(step, extent - first);
    box.shape = Shape(std::span<const u64>(extents).first(shape.rank()));
    const Part part = side.read(box);
    const Array ends = extremes(part.view, {});
    found.insert(found.end(), ends.data(), ends.data() + ends.bytes());
  }
  const View all(found.data(), side.dtype, Shape{found.size() / size_of(side.dtype)});
  const auto range = value_range(all, {});
  return range ? range->fills : std::vector<u64>();
}

bool is_stream(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  char first[4] = {};
  const bool is =
      file && std::fread(first, 1, 4, file) == 4 && std::string_view(first, 4) == "\x89LWY";
  if (file) std::fclose(file);
  return is;
}

}  // namespace

OpenSide open_side(const std::string& path, const ArrayOptions& options, unsigned threads) {
  if (is_stream(path)) {
    OpenSide side = stream_side(path, threads);
    side.name = std::filesystem::path(path).stem().string();
    return side;
  }
  const auto file = std::make_shared<ArrayFile>(open_array(path, options));
  OpenSide result;
  result.shape = file->view.shape;
  result.name = std::filesystem::path(path).stem().string();
  result.bytes = file->view.shape.size() * size_of(file->view.dtype);
  result.side = {file->view.dtype,
                 {},
                 [file](const Box& box) {
                   if (file->file) file->file->let_go();
                   return Part{file->view.part(box), file};
                 },
                 file->fills};
  result.keeper = file;
  return result;
}

std::string checksum_of_file(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) throw Error(Errc::io, "cannot open '" + path + "'");
  Hasher hasher;
  std::vector<u8> block(1 << 20);
  for (size_t got; (got = std::fread(block.data(), 1, block.size(), file)) > 0;)
    hasher.add(ByteView(block).first(got));
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  if (failed) throw Error(Errc::io, "cannot read '" + path + "'");
  return fmt::format("XXH3-64 {:016x}", hasher.value());
}

Pair OpenPair::pair() const {
  if (!(original.shape == decoded.shape))
    fail_argument(fmt::format("the arrays differ in shape: {} and {}", to_string(original.shape),
                              to_string(decoded.shape)));
  return {original.shape, original.side, decoded.side};
}

report::Facts OpenPair::facts() const {
  report::Facts facts;
  facts.name = original.name;
  facts.units = original.units, facts.long_name = original.long_name;
  facts.standard_name = original.standard_name, facts.axes = original.axes;
  facts.bound_asked = decoded.bound_asked, facts.bound = decoded.bound;
  facts.recipe = decoded.recipe;
  facts.original_bytes = decoded.stored_bytes ? original.bytes : 0;
  facts.compressed_bytes = decoded.stored_bytes;
  facts.provenance = decoded.notes;
  return facts;
}

std::vector<OpenPair> open_pairs(const std::string& original, const std::string& decoded,
                                 const ArrayOptions& options, unsigned threads) {
  const auto first = h5::parse_address(original), second = h5::parse_address(decoded);
  std::vector<OpenPair> pairs;
  if (!first && !second) {
    pairs.push_back({open_side(original, options, threads), open_side(decoded, options, threads)});
  } else if (first && second) {
    // Both named: side by side, whatever their names are.
    const bool both = !first->names.empty() && first->names.size() == second->names.size();
    const std::vector<std::string> names =
        both ? first->names : variables_of_pair(*first, &*second);
    for (size_t i = 0; i < names.size(); ++i)
      pairs.push_back({open_variable_side(*first, names[i]),
                       open_variable_side(*second, both ? second->names[i] : names[i])});
  } else {
    const std::vector<std::string> names = variables_of_pair(first ? *first : *second, nullptr);
    if (names.size() != 1)
      fail_argument("name the variable that is meant: " + (first ? first->path : second->path) +
                    ":NAME");
    if (first)
      pairs.push_back({open_variable_side(*first, names[0]), open_side(decoded, options, threads)});
    else
      pairs.push_back(
          {open_side(original, options, threads), open_variable_side(*second, names[0])});
  }
  for (OpenPair& pair : pairs) {
    PairSide &a = pair.original.side, &b = pair.decoded.side;
    if (a.dtype != b.dtype) continue;
    // What one side knows of fill values holds for both.
    for (const u64 fill : b.fills)
      if (std::ranges::find(a.fills, fill) == a.fills.end()) a.fills.push_back(fill);
    if (a.fills.empty() && !first && !second) {
      a.fills = detected_fills(a, pair.original.shape);
    }
    b.fills = a.fills;
  }
  return pairs;
}

}  // namespace leeway::cli

// SPDX-License-Identifier: BSD-3-Clause
// Makes one stream out of another for structure.cc: takes it apart, changes a header field, a head,
// a payload, the places of frames or its form, and puts it together with checksums that are right.
// libFuzzer alone would spend its days on checksums.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "leeway/lossless/zstd.h"
#include "leeway/recipe/recipe.h"
#include "tests/streams.h"

extern "C" size_t LLVMFuzzerMutate(leeway::u8* data, size_t size, size_t most);

namespace leeway::test {
namespace {

constexpr u64 kMostValues = u64(1) << 20;
constexpr u64 kMostFrames = 64;

class Mutation {
 public:
  Mutation(Parts& parts, unsigned seed) : parts_(parts), header_(parts.header), random_(seed) {}

  void apply() {
    using Step = void (Mutation::*)();
    static constexpr Step kSteps[] = {
        &Mutation::change_payload, &Mutation::change_payload, &Mutation::change_payload,
        &Mutation::put_number,     &Mutation::change_kind,    &Mutation::open_sections,
        &Mutation::copy_payload,   &Mutation::change_head,    &Mutation::change_type,
        &Mutation::change_shape,   &Mutation::change_recipe,  &Mutation::change_param,
        &Mutation::change_bound,   &Mutation::change_fills,   &Mutation::change_regions,
        &Mutation::change_places,  &Mutation::change_form};
    for (u64 steps = 1 + below(3); steps > 0; --steps) (this->*kSteps[below(std::size(kSteps))])();
    if (below(2)) accept_decoded(parts_);
  }

 private:
  u64 below(u64 end) { return random_() % end; }
  template <class List>
  auto& one_of(List& list) {
    return list[size_t(below(list.size()))];
  }
  double number() {
    static constexpr double kNumbers[] = {0, 1, 0.5, 1e-3, 1e-300, 1e-310, 3e38, 1e300, 1.7e308};
    return kNumbers[below(std::size(kNumbers))];
  }
  u64 large_number() {
    const u64 n = u64(1) << below(64);
    return below(2) ? n : n - 1;
  }
  Frame* some_frame() { return parts_.frames.empty() ? nullptr : &one_of(parts_.frames); }

  void change_payload() {
    Frame* const frame = some_frame();
    if (!frame) return;
    Bytes& payload = frame->payload;
    const size_t size = payload.size();
    payload.resize(size + 64);
    payload.resize(LLVMFuzzerMutate(payload.data(), size, payload.size()));
  }
  // A varint somewhere: mostly a size or a count.
  void put_number() {
    Frame* const frame = some_frame();
    if (!frame || frame->payload.empty()) return;
    Writer number;
    number.put_varint(large_number());
    const size_t at = size_t(below(std::min<size_t>(frame->payload.size(), 64)));
    frame->payload[at] = number.bytes()[0];
    frame->payload.insert(frame->payload.begin() + std::ptrdiff_t(at) + 1,
                          number.bytes().begin() + 1, number.bytes().end());
  }
  void change_kind() {
    if (Frame* const frame = some_frame(); frame && !frame->payload.empty())
      frame->payload[0] = u8(below(9));
  }
  // Patches and side data as they are, instead of packed, so that the next change meets them.
  void open_sections() {
    Frame* const frame = some_frame();
    if (!frame || frame->payload.empty() || frame->payload[0] != 1) return;
    const size_t preprocessors = count_of(Kind::preprocessor);
    Reader body(ByteView(frame->payload).subspan(1));
    Writer opened;
    opened.put(u8(1));
    for (size_t i = 0; i < 3 + preprocessors; ++i) {
      const ByteView section = body.take_section();
      if (section.empty() || (i > 0 && i <= preprocessors)) {
        opened.put_section(section);
        continue;
      }
      Writer plain;
      plain.put(u8(0));
      Zstd().decompress(section, size_t(1) << 24, plain);
      opened.put_section(plain.bytes());
    }
    opened.put_bytes(body.rest());
    frame->payload.assign(opened.bytes().begin(), opened.bytes().end());
  }
  void copy_payload() {
    Frame *const from = some_frame(), *const to = some_frame();
    if (from && from != to) to->payload = from->payload;
  }
  void change_head() {
    Frame* const frame = some_frame();
    if (!frame) return;
    FrameHead& head = frame->head;
    switch (below(5)) {
      case 0:
        return void(head.bound = number());
      case 1:
        return void(head.max_error = number());
      case 2:
        return void(head.special = u32(large_number()));
      case 3:
        return void(head.exact = u32(large_number()));
      case 4:
        return void(head.ordinal = below(4) ? below(parts_.frames.size()) : large_number());
    }
  }
  void change_type() { header_.dtype = DType(1 + below(12)); }
  void change_shape() {
    std::array<u64, kMaxRank> extents{}, chunk{};
    const size_t rank = size_t(below(kMaxRank + 1));
    u64 values = 1, chunks = 1;
    for (size_t axis = 0; axis < rank; ++axis) {
      static constexpr u64 kExtents[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 64, 100, 257, 5000, 140000};
      extents[axis] = kExtents[below(std::size(kExtents))];
      if (values * std::max<u64>(extents[axis], 1) > kMostValues) extents[axis] = 1;
      values *= std::max<u64>(extents[axis], 1);
      chunk[axis] = std::max<u64>(1, extents[axis] / (1 + below(3)));
      const u64 along = (extents[axis] + chunk[axis] - 1) / chunk[axis];
      if (chunks * std::max<u64>(along, 1) > kMostFrames)
        chunk[axis] = std::max<u64>(1, extents[axis]);
      else
        chunks *= std::max<u64>(along, 1);
    }
    header_.shape = Shape(std::span<const u64>(extents).first(rank));
    header_.chunk = Shape(std::span<const u64>(chunk).first(rank));
    header_.regions.clear();
    // The frames that are there, again and again.
    if (parts_.frames.empty()) parts_.frames.push_back({{}, Bytes{0, 0, 0, 0, 0}});
    const std::vector<Frame> given = parts_.frames;
    parts_.frames.clear();
    for (u64 i = 0; i < header_.grid().size(); ++i) {
      parts_.frames.push_back(given[size_t(i) % given.size()]);
      parts_.frames.back().head.ordinal = i;
    }
  }
  void change_recipe() {
    if (below(2)) {
      const auto named = named_recipes();
      header_.recipe = std::string(named[below(named.size())].recipe);
      return;
    }
    // A stage put before, after, or in the place of the recipe.
    const std::vector<StageInfo> stages = all_stages();
    const std::string stage(stages[size_t(below(stages.size()))].name);
    switch (below(3)) {
      case 0:
        return void(header_.recipe = stage + "+" + header_.recipe);
      case 1:
        return void(header_.recipe += "+" + stage);
      case 2:
        return void(header_.recipe = stage);
    }
  }
  // One stage with one parameter that is, mostly, in its range.
  void change_param() {
    Recipe recipe = parse_recipe(header_.recipe);
    StageCall& call = one_of(recipe.stages);
    for (const StageInfo& stage : all_stages()) {
      if (stage.name != call.name || stage.params.empty()) continue;
      const ParamInfo& param = stage.params[size_t(below(stage.params.size()))];
      // "1 to 12", "exact or planes"
      const std::string& range = param.range;
      const bool is_number = range.find(" to ") != std::string::npos;
      std::string value;
      if (is_number) {
        const double low = std::stod(range), high = std::stod(range.substr(range.find(" to ") + 4));
        value = std::to_string(i64(low + double(below(u64(high - low) + 2))));
      } else {
        value = below(2) ? range.substr(0, range.find(' ')) : range.substr(range.rfind(' ') + 1);
      }
      call.params = param.name + "=" + value;
    }
    header_.recipe = to_string(recipe);
  }
  void change_bound() {
    switch (below(3)) {
      case 0:
        header_.abs_bound = number();
        break;
      case 1:
        header_.bound = {};
        header_.bound.add(BoundKind(1 + below(8)), number());
        break;
      case 2:
        header_.min = -number();
        header_.max = number();
        break;
    }
    for (Frame& frame : parts_.frames)
      if (below(2)) frame.head.bound = header_.abs_bound;
  }
  void change_fills() {
    if (below(3) == 0) return header_.fills.clear();
    for (u64 count = below(4) ? 1 : 300; count > 0; --count)
      header_.fills.push_back(large_number());
  }
  void change_regions() {
    if (below(3) == 0) return header_.regions.clear();
    RegionBound region;
    std::array<u64, kMaxRank> extents{};
    for (size_t axis = 0; axis < header_.shape.rank(); ++axis) {
      region.box.first[axis] = below(header_.shape[axis] + 1);
      extents[axis] = below(header_.shape[axis] - region.box.first[axis] + 2);
    }
    region.box.shape = Shape(std::span<const u64>(extents).first(header_.shape.rank()));
    region.bound = number();
    header_.regions.push_back(region);
  }
  void change_form() {
    parts_.form = parts_.form == Form::brief ? Form::standard : Form::brief;
    if (parts_.form == Form::standard || parts_.frames.empty()) return;
    // It has one chunk.
    parts_.frames.resize(1);
    header_.shape = header_.chunk;
    header_.regions.clear();
  }
  void change_places() {
    Frame* const frame = some_frame();
    if (!frame) return;
    if (below(2))
      frame->spare = below(100);
    else
      frame->is_moved = !frame->is_moved;
  }

  size_t count_of(Kind kind) const {
    return size_t(std::ranges::count(parse_recipe(header_.recipe).stages, kind, &StageCall::kind));
  }

  Parts& parts_;
  Header& header_;
  std::mt19937_64 random_;
};

}  // namespace
}  // namespace leeway::test

namespace leeway::test {
namespace {

// Any bytes of a brief stream, under a checksum that is right.
size_t mutate_brief(u8* data, size_t size, size_t most) {
  size = LLVMFuzzerMutate(data, size - sizeof(u64), most - sizeof(u64));
  const u64 hash = hash_of({data, size});
  std::memcpy(data + size, &hash, sizeof hash);
  return size + sizeof hash;
}

}  // namespace
}  // namespace leeway::test

extern "C" size_t LLVMFuzzerCustomMutator(leeway::u8* data, size_t size, size_t most,
                                          unsigned seed) {
  using namespace leeway;
  if (seed % 4 == 1 && is_brief({data, size}) && size > sizeof(u64))
    return test::mutate_brief(data, size, most);
  if (seed % 16 != 0) try {
      test::Parts parts = test::take_apart({data, size});
      test::Mutation(parts, seed).apply();
      const Bytes stream = test::put_together(parts);
      if (stream.size() <= most) {
        std::ranges::copy(stream, data);
        return stream.size();
      }
    } catch (const Error&) {
      // What cannot be taken apart, or changed so, is changed byte by byte.
    }
  return LLVMFuzzerMutate(data, size, most);
}

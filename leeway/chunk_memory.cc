// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/chunk_memory.h"

#include <algorithm>
#include <unordered_map>

#include "leeway/core/environment.h"
#include "leeway/core/hash.h"
#include "leeway/engine/chunk_codec.h"
#include "leeway/leeway.hpp"
#include "leeway/quality/choose.h"
#include "leeway/quantize/linear.h"

namespace leeway {
namespace {

constexpr u64 kMostBytes = u64(64) << 20;  // of streams
constexpr size_t kMostMarks = 1024;        // of one stream
constexpr size_t kMostKnown = 2048;        // streams, those forgotten included
// A chunk that came from a forgotten stream, or from several, is kept without loss. A few equal
// values do not prove that it did: at least this part of all weights must.
constexpr double kDoubtfulPart = 16;

// Places spread evenly over an array, whichever part of it one looks at: the fractions of multiples
// of the golden ratio.
size_t place(size_t k, size_t size) {
  const u64 fraction = u64(k + 1) * 0x9e3779b97f4a7c15u;
  return std::min(size - 1, size_t(double(fraction >> 11) * 0x1p-53 * double(size)));
}

// Those that are looked at first: all, if there are few.
size_t usual_place(size_t k, size_t size) { return size > kMostMarks ? place(k, size) : k; }

// A mark as one number.
u64 number_of(u64 kind, u64 at, u64 bits) {
  u64 number = (bits ^ kind) * 0x9e3779b97f4a7c15u;
  number = (number ^ number >> 32 ^ at * 0xff51afd7ed558ccdu) * 0xc4ceb9fe1a85ec53u;
  return number ^ number >> 29;
}

// The values of an array, one after the other; copied if they do not lie so.
class Contiguous {
 public:
  explicit Contiguous(const View& array) : values_(array.data) {
    if (is_contiguous(array)) return;
    copy_.resize(size_t(array.shape.size()) * size_of(array.dtype));
    gather(array, copy_.data());
    values_ = copy_.data();
  }
  template <class T>
  T at(u64 i) const {
    T value;
    std::memcpy(&value, values_ + i * sizeof value, sizeof value);
    return value;
  }

 private:
  const std::byte* values_;
  std::vector<std::byte> copy_;
};

// Whether a stream of the array may keep frames of the earlier one.
bool can_continue(const Header& earlier, const CompressOptions& options, const View& array) {
  const auto codec = make_codec(parse_recipe(earlier.recipe), array.dtype);
  return options.bound.is_lasting() && !options.has_regions() && earlier.regions.empty() &&
         !codec->is_by_value() && chunk_of(options, array.shape, *codec) == earlier.chunk;
}

// Whether all values are multiples of a step that will be the same the next time: those stay when
// they are quantized again, whatever is around them.
bool stays_anyway(const StreamReader& stream) {
  const Header& header = stream.header();
  if (!header.bound.is_lasting() || !header.recipe.starts_with(Linear::kName)) return false;
  for (u64 ordinal = 0; ordinal < stream.chunks(); ++ordinal) {
    Bytes storage;
    const Payload kind = Payload(stream.read_begin(ordinal, 1, storage)[0]);
    const FrameHead head = stream.read_head(ordinal);
    if (head.exact > 0 || (kind != Payload::coded && kind != Payload::narrow)) return false;
    // A fill value that was found may not be found again.
    if (head.special > 0 && !header.fills.empty()) return false;
  }
  return true;
}

}  // namespace

ChunkMemory& ChunkMemory::of_process() {
  static auto* const memory = new ChunkMemory;  // never destroyed: hosts may still write at the end
  return *memory;
}

ChunkMemory::Kind ChunkMemory::kind_of(const View& array, const Bound& bound,
                                       const std::string& recipe) {
  Writer values;
  values.put(array.dtype);
  values.put_array(array.shape.extents());
  for (const Limit& limit : bound.limits()) {
    values.put(limit.kind);
    values.put(limit.value);
  }
  return {hash_of(values.bytes()), hash_of(bytes_of(std::span<const char>(recipe)))};
}

// Of ordinary values only: special ones come back whatever happens. Where most values are special,
// all are looked at to find the others.
void ChunkMemory::find_marks(const View& array, const Mask& mask, Known& known) {
  const auto size = size_t(array.shape.size());
  const Contiguous values(array);
  std::vector<Mark>& marks = known.marks;
  marks.reserve(std::min(size, kMostMarks));
  visit_dtype(array.dtype, [&]<class T>(std::type_identity<T>) {
    const auto add = [&](size_t at) {
      const T value = values.at<T>(at);
      if (!mask.is_special(value)) marks.push_back({at, u64(bits_of(value))});
    };
    for (size_t k = 0; k < std::min(size, kMostMarks); ++k) add(usual_place(k, size));
    known.is_usual = size <= kMostMarks || marks.size() >= kMostMarks / 2;
    if (known.is_usual) return;
    marks.clear();
    for (size_t at = 0; at < size; ++at) add(at);
    if (marks.size() <= kMostMarks) return;
    std::vector<Mark> some;
    for (size_t k = 0; k < kMostMarks; ++k) some.push_back(marks[place(k, marks.size())]);
    marks = std::move(some);
  });
  if (!std::ranges::is_sorted(marks, {}, &Mark::at)) std::ranges::sort(marks, {}, &Mark::at);
  const auto is_twice = [](const Mark& a, const Mark& b) { return a.at == b.at; };
  marks.erase(std::unique(marks.begin(), marks.end(), is_twice), marks.end());
}

void ChunkMemory::keep(Known known) {
  const std::lock_guard lock(mutex_);
  // What is decoded again and again is known once.
  if (!known_.empty() && known_.back().kind.covers(known.kind) && known_.back().hash == known.hash)
    return;
  bytes_ += known.stream.size();
  known_.push_back(std::move(known));
  ++not_noted_;
  for (; bytes_ > kMostBytes && forgotten_ + 1 < known_.size(); ++forgotten_) {
    bytes_ -= known_[forgotten_].stream.size();
    known_[forgotten_].stream = {};
  }
  if (known_.size() <= kMostKnown) return;
  bytes_ -= known_.front().stream.size();
  known_.pop_front();
  if (forgotten_ > 0) --forgotten_;
  not_noted_ = std::min(not_noted_, known_.size());
}

void ChunkMemory::note_marks() {
  const auto note = [&](const Known& known) {
    for (const Mark& mark : known.marks)
      noted_.add(number_of(known.kind.values, mark.at, mark.bits));
  };
  for (; not_noted_ > 0; --not_noted_) {
    if (!noted_.has_room(kMostMarks)) {
      noted_.reset(known_.size() * kMostMarks);
      not_noted_ = known_.size();
    }
    note(known_[known_.size() - not_noted_]);
  }
}

// Looks for the stream that an array came from.
class ChunkMemory::Search {
 public:
  Search(ChunkMemory& memory, const View& array, const Kind& kind)
      : memory_(memory), values_(array), size_(size_t(array.shape.size())), kind_(kind) {}

  // The stream with most of the weights. If another one has many marks that the best one has not,
  // the array may hold parts of both.
  template <class T>
  Trail run() {
    for (const Known& known : memory_.known_)
      if (kind_.covers(known.kind)) candidates_.push_back(&known);
    if (candidates_.empty()) return {};
    const std::vector<Mark> met = met_marks<T>();
    if (std::ranges::all_of(candidates_, &Known::is_usual)) {
      if (met.empty()) return {};
      // Mostly one of the last has all that any has.
      for (size_t i = candidates_.size(); i-- > 0;)
        if (has_all(*candidates_[i], met) && !candidates_[i]->stream.empty())
          return {candidates_[i]->stream, true};
    }
    return weigh<T>();
  }

 private:
  template <class T>
  bool is_here(const Mark& mark) const {
    return u64(bits_of(values_.at<T>(mark.at))) == mark.bits;
  }

  // Values of the array, in the usual places, that some stream has there; by place.
  template <class T>
  std::vector<Mark> met_marks() {
    memory_.note_marks();
    std::vector<Mark> met;
    for (size_t k = 0; k < std::min(size_, kMostMarks); ++k) {
      const Mark mark{usual_place(k, size_), u64(bits_of(values_.at<T>(usual_place(k, size_))))};
      if (memory_.noted_.may_have(number_of(kind_.values, mark.at, mark.bits))) met.push_back(mark);
    }
    if (size_ > kMostMarks) std::ranges::sort(met, {}, &Mark::at);
    return met;
  }
  static bool has_all(const Known& known, std::span<const Mark> marks) {
    auto own = std::ranges::lower_bound(known.marks, marks[0].at, {}, &Mark::at);
    return std::ranges::all_of(marks, [&](const Mark& mark) {
      while (own != known.marks.end() && own->at < mark.at) ++own;
      return own != known.marks.end() && own->at == mark.at && own->bits == mark.bits;
    });
  }

  template <class T>
  Trail weigh() {
    std::unordered_map<u64, double> counts;  // of some values of the array
    for (size_t k = 0; k < std::min(size_, kMostMarks); ++k)
      ++counts[u64(bits_of(values_.at<T>(usual_place(k, size_))))];
    const auto weight_of = [&](const Known& known, auto&& is_counted) {
      double weight = 0;
      for (const Mark& mark : known.marks) {
        if (!is_counted(mark)) continue;
        const auto count = counts.find(mark.bits);
        weight += 1 / (count == counts.end() ? 1 : 1 + count->second);
      }
      return weight;
    };
    const auto is_here = [&](const Mark& mark) { return this->is_here<T>(mark); };
    const Known* best = nullptr;
    double most = 0;
    for (const Known* known : candidates_) {
      const double weight = weight_of(*known, is_here);
      if (weight > 0 && weight >= most) best = known, most = weight;
    }
    if (!best) return {};
    const auto best_has_another = [&](const Mark& mark) {
      const auto own = std::ranges::lower_bound(best->marks, mark.at, {}, &Mark::at);
      return own != best->marks.end() && own->at == mark.at && own->bits != mark.bits;
    };
    const double doubtful = weight_of(*best, [](const Mark&) { return true; }) / kDoubtfulPart;
    if (best->stream.empty()) return {{}, most >= doubtful};
    for (const Known* known : candidates_)
      if (weight_of(*known, [&](const Mark& mark) {
            return is_here(mark) && best_has_another(mark);
          }) >= doubtful)
        return {{}, true};
    return {best->stream, true};
  }

  ChunkMemory& memory_;
  Contiguous values_;
  size_t size_;
  Kind kind_;
  std::vector<const Known*> candidates_;  // the oldest first
};

ChunkMemory::Trail ChunkMemory::find(const View& array, const Kind& kind) {
  const std::lock_guard lock(mutex_);
  if (known_.empty()) return {};
  return visit_dtype(array.dtype, [&]<class T>(std::type_identity<T>) {
    return Search(*this, array, kind).run<T>();
  });
}

void ChunkMemory::remember(ByteView stream, const View& decoded) {
  const DefaultFloatingPoint environment;
  const MemorySource source(stream);
  const StreamReader reader(source);
  const Header& header = reader.header();
  if (header.bound.has(BoundKind::lossless) || stays_anyway(reader)) return;
  Known known{kind_of(decoded, header.bound, header.recipe),
              hash_of(stream),
              {stream.begin(), stream.end()},
              {},
              true};
  find_marks(decoded, {.params = {}, .fills = header.fills}, known);
  keep(std::move(known));
}

CompressReport ChunkMemory::compress_into(const View& array, const CompressOptions& options,
                                          std::span<u8> memory) {
  const DefaultFloatingPoint environment;
  const auto compress_plainly = [&] { return leeway::compress_into(array, options, memory); };
  if (options.bound.has(BoundKind::lossless)) return compress_plainly();
  {
    const std::lock_guard lock(mutex_);
    if (known_.empty()) return compress_plainly();
  }
  // A chunk of another recipe is not one that comes back: somebody copies it.
  Kind kind = kind_of(array, options.bound, "");
  kind.recipe = 0;
  if (!is_choice(options.recipe))
    kind = kind_of(array, options.bound, stored_recipe(options, array.dtype));
  const Trail trail = find(array, kind);
  if (!trail.is_known) return compress_plainly();
  CompressOptions again = options;
  if (trail.stream.empty()) {
    again.keeps_all = true;
    return leeway::compress_into(array, again, memory);
  }
  const MemorySource source(trail.stream);
  const StreamReader earlier(source);
  if (can_continue(earlier.header(), options, array)) {
    again.earlier = &earlier;
    again.recipe = earlier.header().recipe;
  } else {
    again.keeps_all = true;
  }
  return leeway::compress_into(array, again, memory);
}

}  // namespace leeway

// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/parts/prefix_code.h"

#include <algorithm>

namespace leeway::prefix {

std::vector<u16> sorted(std::span<const u32> counts, Sort sort) {
  std::vector<u16> order;
  for (size_t s = 0; s < counts.size(); ++s)
    if (counts[s] > 0) order.push_back(u16(s));
  if (sort == Sort::exact) {
    std::ranges::stable_sort(order, {}, [&](u16 s) { return counts[s]; });
    return order;
  }
  const size_t n = order.size(),
               centre =
                   size_t(std::ranges::max_element(order, {}, [&](u16 s) { return counts[s]; }) -
                          order.begin());
  std::vector<u16> result(n);
  size_t low = centre, high = centre + 1, place = n;
  result[--place] = order[centre];
  while (low > 0 && high < n) {
    u16 a = order[--low], b = order[high++];
    if (counts[a] > counts[b]) std::swap(a, b);
    result[--place] = b;
    result[--place] = a;
  }
  while (low > 0) result[--place] = order[--low];
  while (high < n) result[--place] = order[high++];
  return result;
}

namespace {

// Depths of a Huffman tree, built with two queues: sorted leaves, and inner nodes in the order in
// which they are made.
std::vector<u8> tree_depths(std::span<const u32> counts, const std::vector<u16>& leaves) {
  const size_t n = leaves.size();
  std::vector<u64> weight(2 * n);
  std::vector<size_t> parent(2 * n);
  for (size_t i = 0; i < n; ++i) weight[i] = counts[leaves[i]];
  size_t leaf = 0, inner = n;
  const auto lightest = [&](size_t next) {
    if (leaf < n && (inner == next || weight[leaf] <= weight[inner])) return leaf++;
    return inner++;
  };
  for (size_t node = n; node < 2 * n - 1; ++node) {
    const size_t a = lightest(node), b = lightest(node);
    weight[node] = weight[a] + weight[b];
    parent[a] = parent[b] = node;
  }
  std::vector<u8> depth(2 * n);
  for (size_t node = 2 * n - 2; node-- > 0;) depth[node] = u8(depth[parent[node]] + 1);
  std::vector<u8> lengths(counts.size());
  for (size_t i = 0; i < n; ++i) lengths[leaves[i]] = depth[i];
  return lengths;
}

}  // namespace

// Cuts lengths at kMaxLength and repairs Kraft's sum: first longer codes for the rarest symbols
// that still can grow, then shorter ones for the most frequent where room is left.
std::vector<u8> code_lengths(std::span<const u32> counts, Sort sort) {
  const std::vector<u16> order = sorted(counts, sort);
  std::vector<u8> lengths = tree_depths(counts, order);
  constexpr u32 kWhole = 1u << kMaxLength;
  u32 used = 0;
  for (const u16 s : order) {
    lengths[s] = std::min<u8>(lengths[s], kMaxLength);
    used += kWhole >> lengths[s];
  }
  while (used > kWhole)
    for (const u16 s : order) {
      if (used <= kWhole) break;
      if (lengths[s] < kMaxLength) used -= kWhole >> ++lengths[s];
    }
  for (size_t i = order.size(); i-- > 0;)
    while (lengths[order[i]] > 1 && used + (kWhole >> lengths[order[i]]) <= kWhole)
      used += kWhole >> lengths[order[i]]--;
  return lengths;
}

void write_lengths(std::span<const u8> lengths, Writer& out) {
  static_assert(kMaxLength < 16);
  for (size_t i = 0; i < lengths.size(); i += 2)
    out.put(u8(lengths[i] | (i + 1 < lengths.size() ? lengths[i + 1] << 4 : 0)));
}

std::vector<u8> read_lengths(Reader& in, size_t count) {
  std::vector<u8> lengths(count);
  for (size_t i = 0; i < count; i += 2) {
    const u8 pair = in.get<u8>();
    lengths[i] = pair & 15;
    if (i + 1 < count)
      lengths[i + 1] = pair >> 4;
    else if (pair >> 4)
      fail_corrupt("a code length after the last one");
  }
  check_lengths(lengths);
  return lengths;
}

namespace {

// Nibbles that are no lengths: runs of symbols without a code.
constexpr u8 kRun = 13, kLongRun = 14;
constexpr size_t kShortestRun = 2, kShortestLongRun = 18, kLongestRun = kShortestLongRun + 255;

class NibbleWriter {
 public:
  explicit NibbleWriter(Writer& out) : out_(out) {}
  ~NibbleWriter() {
    if (is_half_) out_.put(low_);
  }
  void put(size_t nibble) {
    if (is_half_)
      out_.put(u8(low_ | nibble << 4));
    else
      low_ = u8(nibble);
    is_half_ = !is_half_;
  }

 private:
  Writer& out_;
  u8 low_ = 0;
  bool is_half_ = false;
};

class NibbleReader {
 public:
  explicit NibbleReader(Reader& in) : in_(in) {}
  size_t get() {
    if (!is_half_) byte_ = in_.get<u8>();
    is_half_ = !is_half_;
    return is_half_ ? byte_ & 15 : byte_ >> 4;
  }
  void expect_end() const {
    if (is_half_ && byte_ >> 4) fail_corrupt("a code length after the last one");
  }

 private:
  Reader& in_;
  u8 byte_ = 0;
  bool is_half_ = false;
};

}  // namespace

void write_sparse_lengths(std::span<const u8> lengths, Writer& out) {
  NibbleWriter nibbles(out);
  for (size_t s = 0; s < lengths.size();) {
    size_t run = 0;
    while (s + run < lengths.size() && lengths[s + run] == 0) ++run;
    if (s + run == lengths.size()) return;
    run = std::min(run, kLongestRun);
    if (run < kShortestRun) {
      nibbles.put(lengths[s]);
      run = 1;
    } else if (run < kShortestLongRun) {
      nibbles.put(kRun);
      nibbles.put(run - kShortestRun);
    } else {
      nibbles.put(kLongRun);
      nibbles.put((run - kShortestLongRun) & 15);
      nibbles.put((run - kShortestLongRun) >> 4);
    }
    s += run;
  }
}

std::vector<u8> read_sparse_lengths(Reader& in, size_t most) {
  NibbleReader nibbles(in);
  std::vector<u8> lengths;
  constexpr u32 kWhole = 1u << kMaxLength;
  for (u32 used = 0; used < kWhole;) {
    const size_t nibble = nibbles.get();
    size_t count = 1;
    if (nibble == kRun) {
      count = nibbles.get() + kShortestRun;
    } else if (nibble == kLongRun) {
      const size_t low = nibbles.get();
      count = (low | nibbles.get() << 4) + kShortestLongRun;
    } else if (nibble > size_t(kMaxLength)) {
      fail_corrupt("code too long");
    }
    const u8 length = nibble > size_t(kMaxLength) ? u8(0) : u8(nibble);
    if (count > most - lengths.size()) fail_corrupt("more codes than there are symbols");
    lengths.insert(lengths.end(), count, length);
    if (length > 0) used += kWhole >> length;
  }
  nibbles.expect_end();
  check_lengths(lengths);
  return lengths;
}

void check_lengths(std::span<const u8> lengths) {
  u64 used = 0;
  for (const u8 length : lengths) {
    if (length > kMaxLength) fail_corrupt("code too long");
    if (length > 0) used += (1u << kMaxLength) >> length;
  }
  if (used != 1u << kMaxLength) fail_corrupt("code lengths do not form a code");
}

std::vector<u16> canonical_codes(std::span<const u8> lengths) {
  std::array<u16, kMaxLength + 2> next{};  // the next code of every length
  for (const u8 length : lengths)
    if (length > 0) ++next[length + 1u];
  for (size_t length = 1; length <= kMaxLength; ++length)
    next[length + 1] = u16((next[length] + next[length + 1]) << 1);
  std::vector<u16> codes(lengths.size());
  for (size_t s = 0; s < lengths.size(); ++s) {
    if (lengths[s] == 0) continue;
    const u32 code = next[lengths[s]]++;
    u32 reversed = 0;
    for (int bit = 0; bit < lengths[s]; ++bit)
      reversed |= ((code >> bit) & 1) << (lengths[s] - 1 - bit);
    codes[s] = u16(reversed);
  }
  return codes;
}

std::vector<u64> encode_table(std::span<const u8> lengths) {
  const auto codes = canonical_codes(lengths);
  std::vector<u64> table(lengths.size());
  for (size_t s = 0; s < lengths.size(); ++s)
    if (lengths[s] > 0) table[s] = u64(codes[s]) << (64 - lengths[s]) | lengths[s];
  return table;
}

}  // namespace leeway::prefix

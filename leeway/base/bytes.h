// SPDX-License-Identifier: BSD-3-Clause
// Writer and Reader: the only way bytes enter and leave a stream. Little-endian, every read
// checked.
#pragma once

#include <bit>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leeway/base/buffer.h"
#include "leeway/base/error.h"
#include "leeway/base/types.h"

namespace leeway {

using Bytes = std::vector<u8>;
using ByteView = std::span<const u8>;

static_assert(
    std::endian::native == std::endian::little,
    "leeway does not run on big-endian machines: numbers are written as they lie in memory; "
    "tests/reference_decoder.py reads streams there");

class Writer {
 public:
  Writer() = default;
  // Writes to memory of the caller; if that is too small, to memory of its own instead.
  explicit Writer(std::span<u8> memory) : data_(memory.data()), room_(memory.size()) {}
  Writer(Writer&& other) noexcept { *this = std::move(other); }
  Writer& operator=(Writer&& other) noexcept {
    storage_ = std::move(other.storage_);
    data_ = std::exchange(other.data_, nullptr);
    room_ = std::exchange(other.room_, 0);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(T value) { put_array(std::span<const T>(&value, 1)); }
  template <class T>
  void put_array(std::span<const T> values) {
    if (!values.empty())
      std::memcpy(extend(values.size_bytes()).data(), values.data(), values.size_bytes());
  }
  void put_bytes(ByteView bytes) { put_array(bytes); }
  // Writes seven bits per byte, low ones first; the high bit is set if more bytes follow.
  void put_varint(u64 value) {
    for (; value >= 0x80; value >>= 7) put(u8(u8(value) | 0x80));
    put(u8(value));
  }
  // Writes the number of bytes, then the bytes; take_section() reads them.
  void put_section(ByteView bytes) {
    put_varint(bytes.size());
    put_bytes(bytes);
  }
  // Makes room for `bytes` bytes in total.
  void reserve(size_t bytes) {
    if (bytes <= room_) return;
    Buffer<u8> larger(bytes);
    if (size_ > 0) std::memcpy(larger.data(), data_, size_);
    storage_ = std::move(larger);
    data_ = storage_.data();
    room_ = storage_.size();
  }
  // Appends `count` bytes to be filled in by the caller; valid until the next call.
  std::span<u8> extend(size_t count) {
    if (count > room_ - size_)
      reserve(std::max(size_ + count, std::max(2 * storage_.size(), size_t(256))));
    size_ += count;
    return {data_ + size_ - count, count};
  }
  // Replaces `count` bytes from `first` on by `bytes`, which are not fewer.
  void replace(size_t first, size_t count, ByteView bytes) {
    const size_t end = size_;
    extend(bytes.size() - count);
    u8* const place = data_ + first;
    if (bytes.size() > count)
      std::memmove(place + bytes.size(), place + count, end - first - count);
    if (!bytes.empty()) std::memmove(place, bytes.data(), bytes.size());
  }
  // Drops everything after the first `count` bytes.
  void truncate(size_t count) { size_ = count; }

  // The n bytes from `first` on, to be overwritten by the caller.
  template <size_t n>
  std::span<u8, n> again(size_t first) {
    return std::span<u8, n>(data_ + first, n);
  }

  size_t size() const { return size_; }
  ByteView bytes() const { return {data_, size_}; }

 private:
  Buffer<u8> storage_;
  u8* data_ = nullptr;
  size_t room_ = 0, size_ = 0;
};

class Reader {
 public:
  explicit Reader(ByteView bytes) : bytes_(bytes) {}

  template <class T>
  requires std::is_trivially_copyable_v<T> T get() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  template <class T>
  void get_array(std::span<T> values) {
    const ByteView source = take(values.size_bytes());
    if (!source.empty()) std::memcpy(values.data(), source.data(), source.size());
  }
  u64 get_varint() {
    u64 value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const u8 byte = get<u8>();
      value |= u64(byte & 0x7f) << shift;
      if (byte < 0x80) {
        if (shift == 63 && byte > 1) fail_corrupt("number too large");
        return value;
      }
    }
    fail_corrupt("number too long");
  }
  // A varint that may not exceed `highest`.
  u64 get_varint(u64 highest, const char* what) {
    const u64 value = get_varint();
    if (value > highest) fail_corrupt(what);
    return value;
  }
  ByteView take(u64 count) {
    if (count > bytes_.size()) fail_corrupt("ends too early");
    const ByteView taken = bytes_.first(size_t(count));
    bytes_ = bytes_.subspan(size_t(count));
    return taken;
  }
  ByteView take_section() { return take(get_varint()); }
  ByteView rest() { return take(bytes_.size()); }
  size_t remaining() const { return bytes_.size(); }
  // Throws if bytes are left: for the end of a section.
  void expect_end() const {
    if (!bytes_.empty()) fail_corrupt("bytes left over");
  }

 private:
  ByteView bytes_;
};

}  // namespace leeway

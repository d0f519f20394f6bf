// SPDX-License-Identifier: BSD-3-Clause
// ByteSource: where a stream is read from, at any offset: memory or a file.
#pragma once

#include <atomic>
#include <string>

#include "leeway/core/bytes.h"
#include "leeway/core/export.h"

namespace leeway {

class LEEWAY_EXPORT ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual u64 size() const = 0;
  // The bytes [offset, offset + count); `storage` keeps them alive if they had to be read. May be
  // called from several threads at once. Throws if they lie outside.
  ByteView read(u64 offset, u64 count, Bytes& storage) const {
    if (offset > size() || count > size() - offset) fail_corrupt("ends too early");
    touched_ += count;
    return get(offset, count, storage);
  }
  // How many bytes were read.
  u64 touched() const { return touched_; }

 private:
  virtual ByteView get(u64 offset, u64 count, Bytes& storage) const = 0;
  mutable std::atomic<u64> touched_ = 0;
};

class LEEWAY_EXPORT MemorySource final : public ByteSource {
 public:
  explicit MemorySource(ByteView bytes) : bytes_(bytes) {}
  u64 size() const override { return bytes_.size(); }

 private:
  ByteView get(u64 offset, u64 count, Bytes&) const override {
    return bytes_.subspan(size_t(offset), size_t(count));
  }
  ByteView bytes_;
};

class LEEWAY_EXPORT FileSource final : public ByteSource {
 public:
  explicit FileSource(const std::string& path);
  ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  u64 size() const override { return size_; }

 private:
  ByteView get(u64 offset, u64 count, Bytes& storage) const override;
  int file_ = -1;
  u64 size_ = 0;
};

}  // namespace leeway

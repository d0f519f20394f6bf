// SPDX-License-Identifier: BSD-3-Clause
// ByteSource: where a stream is read from, at any offset: memory or a file.
#pragma once

#include <string>

#include "leeway/base/bytes.h"
#include "leeway/base/export.h"

namespace leeway {

class LEEWAY_EXPORT ByteSource {
 public:
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;
  virtual u64 size() const = 0;
  // Returns the bytes [offset, offset + count). They are in `storage` if they had to be read.
  // Throws if the source is too short. Several threads may call this at once.
  ByteView read(u64 offset, u64 count, Bytes& storage) const;
  // Returns how many bytes have been read so far.
  u64 touched() const;

 protected:
  ByteSource() = default;

 private:
  virtual ByteView get(u64 offset, u64 count, Bytes& storage) const = 0;
  mutable u64 touched_ = 0;  // changed by several threads
};

// A source that can also be written, at any offset.
class LEEWAY_EXPORT ByteStore : public ByteSource {
 public:
  // Writes the bytes; makes the stream longer if necessary.
  virtual void write(u64 offset, ByteView bytes) = 0;
  // Returns when all that was written will survive a power cut.
  virtual void sync() = 0;
  // Cuts off what lies beyond the first `size` bytes.
  virtual void truncate(u64 size) = 0;
};

class LEEWAY_EXPORT MemoryStore final : public ByteStore {
 public:
  explicit MemoryStore(Bytes& bytes) : bytes_(bytes) {}
  u64 size() const override { return bytes_.size(); }
  void write(u64 offset, ByteView bytes) override {
    bytes_.resize(std::max(bytes_.size(), size_t(offset) + bytes.size()));
    if (!bytes.empty()) std::memcpy(bytes_.data() + offset, bytes.data(), bytes.size());
  }
  void sync() override {}
  void truncate(u64 size) override { bytes_.resize(size_t(size)); }

 private:
  // A copy: writing may move the bytes.
  ByteView get(u64 offset, u64 count, Bytes& storage) const override {
    const auto first = bytes_.begin() + std::ptrdiff_t(offset);
    storage.assign(first, first + std::ptrdiff_t(count));
    return storage;
  }
  Bytes& bytes_;
};

// A file, opened for writing. Opening it throws while another process has it open for writing.
class LEEWAY_EXPORT FileStore final : public ByteStore {
 public:
  explicit FileStore(const std::string& path);
  ~FileStore() override;
  FileStore(const FileStore&) = delete;
  FileStore& operator=(const FileStore&) = delete;
  u64 size() const override { return size_; }
  void write(u64 offset, ByteView bytes) override;
  void sync() override;
  void truncate(u64 size) override;

 private:
  ByteView get(u64 offset, u64 count, Bytes& storage) const override;
  u64 size_ = 0;  // known before file_: they are made in this order
  int file_ = -1;
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
  u64 size_ = 0;  // known before file_: they are made in this order
  int file_ = -1;
};

}  // namespace leeway

// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/stream/source.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/support.h"

namespace leeway::test {
namespace {

// A file that is gone at the end of the test.
class File {
 public:
  explicit File(const Bytes& bytes)
      : path_(std::filesystem::temp_directory_path() /
              ("leeway_source_test_" + std::to_string(::getpid()))) {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
  }
  ~File() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }
  Bytes bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

 private:
  std::filesystem::path path_;
};

Bytes some_bytes(size_t count) {
  Bytes bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = u8(i * 7 + 1);
  return bytes;
}

void check_reading(const ByteSource& source, const Bytes& bytes) {
  ASSERT_EQ(source.size(), bytes.size());
  const u64 before = source.touched();
  Bytes storage;
  for (size_t offset = 0; offset <= bytes.size(); offset += 13)
    for (const size_t count : {size_t(0), size_t(1), bytes.size() - offset})
      if (offset + count <= bytes.size())
        EXPECT_TRUE(std::ranges::equal(source.read(offset, count, storage),
                                       ByteView(bytes).subspan(offset, count)));
  EXPECT_GT(source.touched(), before);
  // What lies outside is refused, sums that overflow included.
  for (const auto& [offset, count] : {std::pair<u64, u64>{0, bytes.size() + 1},
                                      {bytes.size(), 1},
                                      {bytes.size() + 1, 0},
                                      {~u64(0), 2},
                                      {1, ~u64(0)}})
    EXPECT_THROW(source.read(offset, count, storage), Error) << offset << " " << count;
}

void check_writing(ByteStore& store, Bytes bytes) {
  const Bytes more{9, 8, 7};
  store.write(5, more);
  std::ranges::copy(more, bytes.begin() + 5);
  store.write(bytes.size() + 2, more);  // a gap of two bytes, which are 0
  bytes.resize(bytes.size() + 2);
  bytes.insert(bytes.end(), more.begin(), more.end());
  store.sync();
  check_reading(store, bytes);
  store.truncate(50);
  bytes.resize(50);
  check_reading(store, bytes);
}

TEST(Source, Memory) {
  Bytes bytes = some_bytes(200);
  check_reading(MemorySource(bytes), bytes);
  const Bytes copy = bytes;
  MemoryStore store(bytes);
  check_reading(store, copy);
  check_writing(store, copy);
}

TEST(Source, AFile) {
  const Bytes bytes = some_bytes(200);
  const File file(bytes);
  check_reading(FileSource(file.path()), bytes);
  {
    FileStore store(file.path());
    check_writing(store, bytes);
  }
  EXPECT_EQ(file.bytes().size(), 50u);
}

TEST(Source, OneWriterAtATime) {
  const File file(some_bytes(10));
  {
    const FileStore first(file.path());
    EXPECT_THROW(FileStore(file.path()), Error);
    EXPECT_NO_THROW(FileSource(file.path()));
  }
  EXPECT_NO_THROW(FileStore(file.path()));
}

TEST(Source, OnlyRegularFiles) {
  for (const char* path : {"/no/such/file", "/", "/dev/null"}) {
    EXPECT_THROW(FileSource{path}, Error) << path;
    EXPECT_THROW(FileStore{path}, Error) << path;
  }
}

TEST(Source, AFileThatShrinksWhileItIsReadIsDamaged) {
  const File file(some_bytes(1000));
  const FileSource source(file.path());
  std::filesystem::resize_file(file.path(), 10);
  Bytes storage;
  EXPECT_THROW(source.read(500, 100, storage), Error);
}

TEST(Source, ThreadsCountTogether) {
  const Bytes bytes = some_bytes(1000);
  const MemorySource source(bytes);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      Bytes storage;
      for (int i = 0; i < 10000; ++i) source.read(u64(i % 900), 3, storage);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(source.touched(), 4u * 10000 * 3);
}

}  // namespace
}  // namespace leeway::test

// SPDX-License-Identifier: BSD-3-Clause
// Checksums: what encoders write must not change unless somebody means it to. Every row of
// tests/golden/bytes.csv has the checksums of a case, one for each element type.
//
// After a change that is meant: scripts/golden.sh bytes. The file says with which versions of the
// packing libraries it was made; other versions may pack the same content into other bytes.
#pragma once

#include <libdeflate.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "leeway/base/hash.h"
#include "tests/streams.h"
#include "tests/support.h"

namespace leeway::test {

class Checksums {
 public:
  // A section has the rows of one test.
  explicit Checksums(std::string section) : section_(std::move(section)) {}

  // What the codec made of every chunk, whatever form the stream gives it. Several streams of a row
  // and type have one checksum.
  void add_payloads(const std::string& row, ByteView stream) {
    const Parts parts = take_apart(stream);
    Writer all;
    all.put_section(bytes_of(std::span(parts.header.recipe)));
    all.put(parts.header.abs_bound);
    for (size_t axis = 0; axis < parts.header.chunk.rank(); ++axis)
      all.put(parts.header.chunk[axis]);
    for (const Frame& frame : parts.frames) {
      all.put(frame.head.special);
      all.put(frame.head.exact);
      all.put(frame.head.bound);
      all.put(frame.head.max_error);
      all.put(frame.head.decoded_hash);
      all.put_section(frame.payload);
    }
    add(row, parts.header, all.bytes());
  }
  // All bytes.
  void add_stream(const std::string& row, ByteView stream) {
    add(row, inspect(stream).header, stream);
  }

  // To be called when all are there.
  void compare_with_file() {
    File file = File::read();
    if (std::getenv("LEEWAY_WRITE_BYTES")) return write(file);
    ASSERT_FALSE(file.versions.empty()) << File::path() << " cannot be read";
    const Versions here = versions();
    if (here.at("zstd") != file.versions["zstd"])
      GTEST_SKIP() << "bytes.csv was made with zstd " << file.versions["zstd"] << ", here is "
                   << here.at("zstd") << ": special values and notes are packed with it";
    const Rows found = rows();
    size_t skipped = 0, different = 0;
    const auto expect = [&](bool same, const std::string& row, const std::string& what) {
      if (!same && ++different <= 20) ADD_FAILURE() << section_ << " \"" << row << "\": " << what;
    };
    for (const auto& [row, sums] : found) {
      if (!are_same(file.versions, here, recipes_.at(row))) {
        ++skipped;
        continue;
      }
      const Sums& stored = file.sections[section_][row];
      for (const auto& [dtype, sum] : sums) {
        const auto expected = stored.find(dtype);
        expect(expected != stored.end(), row, "is not in tests/golden/bytes.csv");
        if (expected != stored.end())
          expect(expected->second == sum, row,
                 std::string(name_of(dtype)) + ": the encoder writes other bytes");
      }
    }
    for (const auto& [row, sums] : file.sections[section_])
      for (const auto& [dtype, sum] : sums)
        expect(!is_built(dtype) || (found.contains(row) && found.at(row).contains(dtype)), row,
               std::string(name_of(dtype)) + ": was not made");
    EXPECT_EQ(different, 0u) << "if this is meant: scripts/golden.sh bytes";
    if (skipped > 0)
      std::cout << "[  SKIPPED ] " << skipped << " rows of " << section_
                << " with other versions of deflate or lz4 than those of bytes.csv\n";
  }

 private:
  using Sums = std::map<DType, u32>;
  using Rows = std::map<std::string, Sums>;
  using Versions = std::map<std::string, std::string>;

  static Versions versions() {
    return {{"zstd", ZSTD_versionString()},
            {"deflate", LIBDEFLATE_VERSION_STRING},
            {"lz4", LZ4_versionString()}};
  }
  // Of those that recipes name.
  static bool are_same(const Versions& a, const Versions& b, const std::string& recipes) {
    return std::ranges::all_of(a, [&](const auto& entry) {
      return recipes.find(entry.first) == std::string::npos || b.at(entry.first) == entry.second;
    });
  }
  static bool is_built(DType dtype) {
    return visit_dtype(dtype, []<class T>(std::type_identity<T>) { return kIsCompiled<T>; });
  }

  //   # zstd=1.5.4 ...
  //   "row",section,checksum of every type in order, empty where there is none
  struct File {
    Versions versions;
    std::map<std::string, Rows> sections;

    static std::string path() { return LEEWAY_GOLDEN_DIR "/bytes.csv"; }
    static File read() {
      File file;
      std::ifstream in(path());
      for (std::string line; std::getline(in, line);) {
        if (line.starts_with("#")) {
          std::istringstream words(line.substr(1));
          for (std::string word; words >> word;)
            if (const size_t equals = word.find('='); equals != std::string::npos)
              file.versions[word.substr(0, equals)] = word.substr(equals + 1);
          continue;
        }
        const size_t end = line.rfind('"');
        if (end == std::string::npos || !line.starts_with('"')) continue;  // names of the columns
        std::istringstream fields(line.substr(end + 2));
        std::string section, field;
        std::getline(fields, section, ',');
        Sums& sums = file.sections[section][line.substr(1, end - 1)];
        for (u8 id = 1; is_dtype(id); ++id) {
          field.clear();
          std::getline(fields, field, ',');
          if (!field.empty()) sums[DType(id)] = u32(std::stoul(field, nullptr, 16));
        }
      }
      return file;
    }
    void write() const {
      std::ofstream out(path());
      out << "# Checksums of what encoders write (tests/checksums.h), with";
      for (const auto& [name, version] : versions) out << ' ' << name << '=' << version;
      out << "\ncase,section";
      for (u8 id = 1; is_dtype(id); ++id) out << ',' << name_of(DType(id));
      out << '\n';
      for (const auto& [section, rows] : sections)
        for (const auto& [row, sums] : rows) {
          out << '"' << row << "\"," << section;
          for (u8 id = 1; is_dtype(id); ++id) {
            char text[9] = "";
            if (sums.contains(DType(id)))
              std::snprintf(text, sizeof text, "%08x", unsigned(sums.at(DType(id))));
            out << ',' << text;
          }
          out << '\n';
        }
    }
  };

  void add(const std::string& row, const Header& header, ByteView bytes) {
    hashers_[row][header.dtype].add(bytes);
    recipes_[row] += header.recipe;
  }
  Rows rows() const {
    Rows rows;
    for (const auto& [row, hashers] : hashers_)
      for (const auto& [dtype, hasher] : hashers) rows[row][dtype] = u32(hasher.value());
    return rows;
  }
  void write(File& file) const {
    for (u8 id = 1; is_dtype(id); ++id)
      ASSERT_TRUE(is_built(DType(id))) << "bytes.csv is made by a build with all types";
    file.versions = versions();
    file.sections[section_] = rows();
    file.write();
  }

  std::string section_;
  std::map<std::string, std::map<DType, Hasher>> hashers_;
  std::map<std::string, std::string> recipes_;  // by row
};

}  // namespace leeway::test

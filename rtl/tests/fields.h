// SPDX-License-Identifier: BSD-3-Clause
// Fields to run through the designs: generated ones, and files of f32 in the directory that
// LEEWAY_RTL_FIELDS names, called as in field_100x500x500.f32.
#pragma once

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "leeway/leeway.hpp"
#include "tools/sample_fields.h"

namespace leeway::rtl {

struct TestField {
  std::string name;
  Shape shape;
  std::vector<float> values;
  View view() const { return view_of(values.data(), shape); }
};

inline Shape shape_of(std::string_view text) {
  std::vector<u64> extents;
  while (!text.empty()) {
    u64 extent = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), extent).ptr;
    extents.push_back(extent);
    text.remove_prefix(std::min(text.size(), size_t(end - text.data()) + 1));
  }
  return Shape(std::span<const u64>(extents));
}

// Of the kinds that `leeway sample` makes in f32.
struct Sample {
  const char *kind, *shape;
};
inline std::vector<TestField> sample_fields(std::initializer_list<Sample> samples) {
  std::vector<TestField> fields;
  for (const Sample& sample : samples)
    for (const cli::SampleKind& kind : cli::sample_kinds()) {
      if (kind.name != std::string_view(sample.kind)) continue;
      TestField field{sample.kind, shape_of(sample.shape), {}};
      std::vector<double> values(size_t(field.shape.size()));
      kind.make(field.shape, 1, values);
      field.values.assign(values.begin(), values.end());
      fields.push_back(std::move(field));
    }
  return fields;
}
inline std::vector<TestField> generated_fields() {
  return sample_fields({{"turbulence", "48x64x64"},
                        {"climate", "180x360"},
                        {"particles", "50x2000"},
                        {"wave", "32x64x64"}});
}

// None if the directory is not given.
inline std::vector<TestField> field_files() {
  const char* const directory = std::getenv("LEEWAY_RTL_FIELDS");
  std::vector<TestField> fields;
  if (!directory || !*directory) return fields;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() != ".f32") continue;
    const std::string name = entry.path().stem().string();
    TestField field{name, shape_of(std::string_view(name).substr(name.rfind('_') + 1)), {}};
    field.values.resize(size_t(field.shape.size()));
    std::ifstream in(entry.path(), std::ios::binary);
    in.read(reinterpret_cast<char*>(field.values.data()),
            std::streamsize(field.values.size() * sizeof(float)));
    if (!in) throw std::runtime_error(entry.path().string() + " is too short");
    fields.push_back(std::move(field));
  }
  return fields;
}

}  // namespace leeway::rtl

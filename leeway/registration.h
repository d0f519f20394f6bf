// SPDX-License-Identifier: BSD-3-Clause
// Registration: stages of a program's own, known to all readers of that program.
//
//   const auto known = leeway::Compressor<float, Mine, leeway::Linear, leeway::Huffman>::known();
//   const leeway::Array array = leeway::decompress(stream);   // made by any Compressor like it
//
// Streams are found by the names of their stages; parameters may be any. Without a registration,
// readers refuse a stream with the name of the stage that they do not know.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "leeway/base/export.h"
#include "leeway/base/types.h"

namespace leeway {

class ChunkCodec;

// Holds as long as it lives; to be copied by nobody.
class LEEWAY_EXPORT Registration {
 public:
  // Makes the codec of a recipe with these stages: "mine+linear+huffman".
  using Maker = std::function<std::shared_ptr<const ChunkCodec>(const std::string& recipe)>;
  Registration(std::string stages, DType dtype, Maker maker);
  ~Registration();
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

 private:
  u64 number_;
};

// Null if no registration has the stages of this recipe.
std::shared_ptr<const ChunkCodec> registered_codec(const std::string& recipe, DType dtype);

}  // namespace leeway

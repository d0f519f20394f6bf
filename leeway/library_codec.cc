// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/library_codec.h"

#include <algorithm>
#include <array>

#include "leeway/base/kept.h"
#include "leeway/choose/choose.h"
#include "leeway/codec/make_codec.h"
#include "leeway/preprocess/log.h"
#include "leeway/registration.h"

namespace leeway {
namespace {

// A recipe as the caller wrote it, and what was made of it.
struct Made {
  std::string asked;
  bool is_pointwise = false;  // whether the stage log was added for a pointwise bound
  DType dtype = DType::f32;
  std::string recipe;  // in full
  std::shared_ptr<const ChunkCodec> codec;
};

// The codecs made last, kept by the thread's pool: small arrays mostly use the same ones again.
struct LastMade {
  std::array<Made, 8> made;
  size_t next = 0;
};

Made made_of(const std::string& asked, DType dtype, bool is_pointwise = false) {
  const BufferPool::UseOwn pool;
  const auto last = keep<LastMade>();
  const auto is_same = [&](const Made& made) {
    return made.codec && made.dtype == dtype &&
           ((made.asked == asked && made.is_pointwise == is_pointwise) ||
            (made.recipe == asked && (made.is_pointwise || !is_pointwise)));
  };
  const auto found = std::ranges::find_if(last->made, is_same);
  if (found != last->made.end()) return *found;
  Recipe recipe = parse_recipe(asked);
  if (is_pointwise && !has_stage(recipe, Log::kName))
    recipe = with_first(Log::kName, std::move(recipe));
  Made& made = last->made[last->next++ % last->made.size()];
  return made = {asked, is_pointwise, dtype, to_string(recipe), make_codec(recipe, dtype)};
}

std::shared_ptr<const ChunkCodec> library_codec(const std::string& recipe, DType dtype) {
  if (auto own = registered_codec(recipe, dtype)) return own;
  try {
    return made_of(recipe, dtype).codec;
  } catch (const Error& error) {
    throw Error(Errc::unsupported,
                "the stream's recipe '" + recipe + "' is not possible here: " + error.what());
  }
}

}  // namespace

LibraryCodec library_codec_for(const CompressOptions& options, const std::string& recipe,
                               DType dtype) {
  const Made made = made_of(recipe, dtype, options.bound.has(BoundKind::pointwise));
  return {made.recipe, made.codec};
}
LibraryCodec library_codec_for_parts(const CompressOptions& options, DType dtype) {
  if (is_choice(options.recipe))
    fail_argument("'" + options.recipe +
                  "' looks at the whole array: name a recipe for an array in parts");
  return library_codec_for(options, options.recipe, dtype);
}
CodecMaker library_codecs() { return library_codec; }

}  // namespace leeway

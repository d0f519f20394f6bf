// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>

#include "tools/array_file.h"
#include "tools/cli.h"
#include "tools/container.h"
#include "tools/npy.h"
#include "tools/output_file.h"
#include "tools/sample_fields.h"

namespace leeway::cli {
namespace {

struct Sample {
  std::string kind, shape, dtype, output;
  u64 seed = 1;
  bool force = false, quiet = false;

  void run() const {
    const auto kinds = sample_kinds();
    const auto found =
        std::ranges::find_if(kinds, [&](const SampleKind& k) { return kind == k.name; });
    if (found == kinds.end()) {
      std::string names;
      for (const SampleKind& k : kinds) names += (names.empty() ? "" : ", ") + std::string(k.name);
      fail_argument("there is no sample '" + kind + "'; there are " + names);
    }
    const Shape extents = parse_shape(shape.empty() ? found->default_shape : shape);
    const DType type = dtype.empty() ? found->dtype : parse_dtype(dtype);
    const std::string path =
        output.empty() ? fmt::format("{}_{}.{}", kind, to_string(extents), name_of(type)) : output;
    h5::refuse_container_name(path);
    OutputFile out(path, force);
    Buffer<double> values(size_t(extents.size()));
    found->make(extents, seed, {values.data(), values.size()});
    const std::string head = path.ends_with(".npy") ? npy_header(type, extents) : "";
    out.write({reinterpret_cast<const u8*>(head.data()), head.size()});
    visit_dtype(type, [&]<class T>(std::type_identity<T>) {
      Buffer<T> converted(values.size());
      for (size_t i = 0; i < values.size(); ++i) converted[i] = convert<T>(values[i]);
      out.write({reinterpret_cast<const u8*>(converted.data()), converted.size() * sizeof(T)});
    });
    out.commit();
    if (!quiet && path != "-") fmt::print("{}\n", path);
  }

  template <class T>
  static T convert(double value) {
    if constexpr (is_floating<T>)
      return T(value);
    else
      return T(std::clamp(value, double(std::numeric_limits<T>::min()),
                          std::nextafter(double(std::numeric_limits<T>::max()), 0.0)));
  }
};

}  // namespace

void add_sample(CLI::App& verb) {
  const auto self = std::make_shared<Sample>();
  std::string about = "what to make:";
  for (const SampleKind& kind : sample_kinds())
    about += fmt::format("\n{:<12} {} ({} {})", kind.name, kind.about, name_of(kind.dtype),
                         kind.default_shape);
  verb.add_option("KIND", self->kind, about)->required();
  verb.add_option("--shape", self->shape, "extents, slowest axis first")->type_name("SHAPE");
  verb.add_option("--dtype", self->dtype, "element type")->type_name("TYPE");
  verb.add_option("--seed", self->seed, "another seed, another field of the kind")->type_name("N");
  verb.add_option("-o,--output", self->output,
                  "file to write: .npy, or raw otherwise (KIND_SHAPE.TYPE)")
      ->type_name("OUT");
  verb.add_flag("-f,--force", self->force, "replace OUT if it exists");
  verb.add_flag("-q,--quiet", self->quiet, "do not print the name of the file");
  verb.callback([self] { self->run(); });
}

}  // namespace leeway::cli

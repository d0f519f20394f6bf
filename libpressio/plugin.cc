// SPDX-License-Identifier: BSD-3-Clause
// leeway as a compressor of LibPressio. A buffer becomes one stream. LibPressio counts its axes
// from the fastest one; they are turned round.
#include <leeway/leeway.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <libpressio_ext/cpp/compressor.h>
#include <libpressio_ext/cpp/data.h>
#include <libpressio_ext/cpp/options.h>
#include <libpressio_ext/cpp/pressio.h>
#include <pressio_compressor.h>
#include <pressio_data.h>
#include <pressio_options.h>

namespace libpressio {
namespace compressors {
namespace leeway_ns {

using Context = std::unique_ptr<leeway_context, void (*)(leeway_context*)>;

class Plugin : public libpressio_compressor_plugin {
 public:
  int major_version() const override { return 0; }
  int minor_version() const override { return 1; }
  int patch_version() const override { return 0; }
  const char* version() const override { return leeway_version(); }
  const char* prefix() const noexcept override { return "leeway"; }
  std::shared_ptr<libpressio_compressor_plugin> clone() override {
    return std::make_shared<Plugin>(*this);
  }

 protected:
  pressio_options get_options_impl() const override {
    pressio_options options;
    for (const auto& [option, kind] : kBounds) {
      if (kind_ == kind)
        set(options, option, bound_);
      else
        set_type(options, option, pressio_option_double_type);
    }
    if (kind_ == "lossless")
      set(options, "pressio:lossless", 1);
    else
      set_type(options, "pressio:lossless", pressio_option_int32_type);
    set(options, "leeway:recipe", recipe_);
    set(options, "leeway:chunk", chunk_);
    set(options, "leeway:fill", fills_);
    set(options, "pressio:nthreads", threads_);
    return options;
  }

  // The last bound that is given counts: searches set one after the other.
  int set_options_impl(const pressio_options& options) override {
    for (const auto& [option, kind] : kBounds)
      if (get(options, option, &bound_) == pressio_options_key_set) kind_ = kind;
    int lossless = 0;
    if (get(options, "pressio:lossless", &lossless) == pressio_options_key_set && lossless)
      kind_ = "lossless", bound_ = 0;
    get(options, "leeway:recipe", &recipe_);
    get(options, "leeway:chunk", &chunk_);
    get(options, "leeway:fill", &fills_);
    get(options, "pressio:nthreads", &threads_);
    return 0;
  }

  pressio_options get_documentation_impl() const override {
    pressio_options options;
    set(options, "pressio:description",
        "leeway: error-bounded lossy compression of scientific arrays");
    set(options, "leeway:recipe", "a preset (fast, balanced, small, ...) or stages by name");
    set(options, "leeway:psnr", "least peak signal-to-noise ratio in dB");
    set(options, "leeway:l2", "largest Euclidean norm of all errors");
    set(options, "leeway:ratio", "the size asked for: bytes before over bytes after");
    set(options, "leeway:chunk", "extents of the chunks, the fastest axis first; none: chosen");
    set(options, "leeway:fill", "values that mean 'nothing here', kept exactly");
    set(options, "leeway:max_error", "result: the largest error in the stream made last");
    set(options, "leeway:special", "result: NaN, infinities and fill values in it");
    return options;
  }

  pressio_options get_configuration_impl() const override {
    pressio_options options;
    set(options, "pressio:thread_safe", pressio_thread_safety_multiple);
    set(options, "pressio:stability", "stable");
    return options;
  }

  pressio_options get_metrics_results_impl() const override {
    pressio_options options;
    set(options, "leeway:max_error", max_error_);
    set(options, "leeway:special", special_);
    return options;
  }

  int compress_impl(const pressio_data* input, pressio_data* output) override {
    const Context context = configured();
    const std::vector<uint64_t> shape = turned(input->dimensions());
    leeway_buffer* stream = nullptr;
    const leeway_array array = {input->data(), dtype_of(input->dtype()), int(shape.size()),
                                shape.data(), nullptr};
    leeway_info info{};
    if (leeway_compress(context.get(), &array, &stream) != LEEWAY_OK) return failed(context);
    const std::unique_ptr<leeway_buffer, void (*)(leeway_buffer*)> owned(stream,
                                                                         leeway_buffer_free);
    const size_t size = leeway_buffer_size(stream);
    *output = pressio_data::copy(pressio_byte_dtype, leeway_buffer_data(stream), {size});
    if (leeway_inspect(context.get(), leeway_buffer_data(stream), size, &info) != LEEWAY_OK)
      return failed(context);
    max_error_ = info.max_error;
    special_ = info.special;
    return 0;
  }

  int decompress_impl(const pressio_data* input, pressio_data* output) override {
    const Context context(leeway_create(), leeway_destroy);
    leeway_set_threads(context.get(), threads_);
    leeway_info info{};
    if (leeway_inspect(context.get(), input->data(), input->size_in_bytes(), &info) != LEEWAY_OK)
      return failed(context);
    // What the caller says of the output may be less than the stream says.
    const std::vector<uint64_t> shape(info.shape, info.shape + info.rank);
    if (!output->has_data() || turned(output->dimensions()) != shape ||
        dtype_of(output->dtype()) != info.dtype) {
      if (output->num_dimensions() > 0 && dtype_of(output->dtype()) != info.dtype)
        return set_error(2, "leeway: the stream holds another element type");
      *output = pressio_data::owning(output->dtype(), turned_back(shape));
    }
    const leeway_array array = {output->data(), info.dtype, info.rank, info.shape, nullptr};
    return leeway_decompress(context.get(), input->data(), input->size_in_bytes(), &array) ==
                   LEEWAY_OK
               ? 0
               : failed(context);
  }

 private:
  static constexpr std::pair<const char*, const char*> kBounds[] = {
      {"pressio:abs", "abs"},  {"pressio:rel", "rel"}, {"pressio:pw_rel", "pointwise"},
      {"leeway:psnr", "psnr"}, {"leeway:l2", "l2"},    {"leeway:ratio", "ratio"}};

  static int dtype_of(pressio_dtype type) {
    switch (type) {
      case pressio_float_dtype:
        return LEEWAY_F32;
      case pressio_double_dtype:
        return LEEWAY_F64;
      case pressio_int8_dtype:
        return LEEWAY_I8;
      case pressio_int16_dtype:
        return LEEWAY_I16;
      case pressio_int32_dtype:
        return LEEWAY_I32;
      case pressio_int64_dtype:
        return LEEWAY_I64;
      case pressio_uint8_dtype:
        return LEEWAY_U8;
      case pressio_uint16_dtype:
        return LEEWAY_U16;
      case pressio_uint32_dtype:
        return LEEWAY_U32;
      case pressio_uint64_dtype:
        return LEEWAY_U64;
      default:
        return 0;  // refused by leeway, with its message
    }
  }

  static std::vector<uint64_t> turned(const std::vector<size_t>& dimensions) {
    return {dimensions.rbegin(), dimensions.rend()};
  }
  static std::vector<size_t> turned_back(const std::vector<uint64_t>& shape) {
    return {shape.rbegin(), shape.rend()};
  }

  Context configured() const {
    Context context(leeway_create(), leeway_destroy);
    leeway_set_bound(context.get(), kind_.c_str(), bound_);
    leeway_set_recipe(context.get(), recipe_.c_str());
    leeway_set_threads(context.get(), threads_);
    for (const double fill : fills_.to_vector<double>()) leeway_add_fill(context.get(), fill);
    const auto extents = chunk_.to_vector<uint64_t>();
    const std::vector<uint64_t> chunk(extents.rbegin(), extents.rend());
    if (!chunk.empty()) leeway_set_chunk(context.get(), uint32_t(chunk.size()), chunk.data());
    return context;
  }

  int failed(const Context& context) {
    return set_error(1, std::string("leeway: ") + leeway_message(context.get()));
  }

  std::string kind_ = "abs", recipe_ = "balanced";
  double bound_ = 1e-4, max_error_ = 0;
  uint64_t special_ = 0;
  uint32_t threads_ = 1;
  pressio_data chunk_ = pressio_data::empty(pressio_uint64_dtype, {0}),
               fills_ = pressio_data::empty(pressio_double_dtype, {0});
};

pressio_register registration(compressor_plugins(), "leeway",
                              [] { return std::make_unique<Plugin>(); });

}  // namespace leeway_ns
}  // namespace compressors
}  // namespace libpressio

// Programs call it so that the linker keeps this file, and with it the registration.
extern "C" void leeway_libpressio_register() {}

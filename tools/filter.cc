// SPDX-License-Identifier: BSD-3-Clause
// The verb `filter`: the parameters of the HDF5 filter, as other programs take them.
#include <memory>

#include "leeway/hdf5.h"

#include "hdf5/parameters.h"
#include "leeway/stage/params.h"
#include "tools/cli.h"

namespace leeway::cli {
namespace {

struct Filter {
  std::optional<double> abs, rel, psnr, l2, pointwise, range, values;
  std::string recipe = hdf5::Parameters().recipe;
  std::vector<std::string> fills;
  std::string dtype, chunk;
  bool lossless = false, json = false, stored = false, big_endian = false;

  hdf5::Parameters parameters() const {
    std::string text = lossless ? "lossless" : "";
    const auto add = [&](const char* name, const std::optional<double>& value) {
      if (value) text += std::string(" ") + name + "=" + detail::number_text(*value);
    };
    add("abs", abs);
    add("rel", rel);
    add("psnr", psnr);
    add("l2", l2);
    add("pointwise", pointwise);
    add("range", range);
    add("values", values);
    text += " recipe=" + recipe;
    for (const std::string& fill : fills) text += " fill=" + fill;
    return hdf5::parse_text(text.substr(text.find_first_not_of(' ')));
  }

  // What the filter itself stores with a dataset, for programs where it cannot ask about one.
  hdf5::Words stored_words() const {
    if (dtype.empty() || chunk.empty())
      fail_argument("--stored needs --dtype and --chunk: those of the dataset");
    hdf5::Parameters all = parameters();
    all.chunk = hdf5::Chunk{parse_dtype(dtype), big_endian, parse_shape(chunk), std::nullopt};
    all.check();
    return hdf5::stored_words(all);
  }

  void run() const {
    if (!stored && (!dtype.empty() || !chunk.empty() || big_endian))
      fail_argument("--dtype, --chunk and --big-endian go with --stored");
    const hdf5::Words words = stored ? stored_words() : hdf5::given_words(parameters());
    if (!stored && words.size() > LEEWAY_H5Z_MAX_WORDS)
      fail_argument(
          "these parameters are too long: a filter takes 20 numbers, which is 80 characters");
    if (json) return fmt::print("{}\n", Json{{"id", LEEWAY_H5Z_ID}, {"cd_values", words}}.dump(2));
    const std::string list = fmt::format("{}", fmt::join(words, ","));
    fmt::print("h5repack -f NAME:UD={},0,{},{} -l NAME:CHUNK=64x64x64 in.h5 out.h5\n",
               LEEWAY_H5Z_ID, words.size(), list);
    fmt::print("nccopy -F \"NAME,{},{}\" in.nc out.nc\n", LEEWAY_H5Z_ID, list);
    fmt::print("h5py: create_dataset(..., compression={}, compression_opts=({},))\n", LEEWAY_H5Z_ID,
               list);
    fmt::print(
        "C: unsigned words[] = {{{}}}; H5Pset_filter(dcpl, {}, H5Z_FLAG_MANDATORY, {}, words);\n",
        list, LEEWAY_H5Z_ID, words.size());
  }
};

}  // namespace

void add_filter(CLI::App& verb) {
  const auto self = std::make_shared<Filter>();
  verb.add_option("--abs", self->abs, "largest error of a value")->type_name("E");
  verb.add_option("--rel", self->rel, "the same as a part of the range given by --range")
      ->type_name("E");
  verb.add_option("--psnr", self->psnr,
                  "smallest peak signal-to-noise ratio in dB, for the range given by --range")
      ->type_name("DB");
  verb.add_option("--l2", self->l2,
                  "largest Euclidean norm of all errors, for the number given by --values")
      ->type_name("E");
  verb.add_option("--pointwise", self->pointwise,
                  "largest error as a part of each value; stands alone")
      ->type_name("E");
  verb.add_option("--range", self->range,
                  "maximum - minimum of all values; the filter sees one chunk at a time")
      ->type_name("R");
  verb.add_option("--values", self->values, "how many values there are in all chunks together")
      ->type_name("N");
  verb.add_flag("--lossless", self->lossless, "no error at all");
  verb.add_option("--preset,--recipe", self->recipe, "a preset or a recipe; balanced if not given")
      ->type_name("RECIPE");
  verb.add_option("--fill", self->fills,
                  "a value that means 'nothing here'; that of the dataset is known")
      ->type_name("V")
      ->expected(1)
      ->take_all();
  verb.add_flag("--stored", self->stored,
                "the parameters as they are stored with a dataset, for programs with a static HDF5 "
                "whose functions are hidden");
  verb.add_option("--dtype", self->dtype, "for --stored: element type of the dataset")
      ->type_name("TYPE");
  verb.add_option("--chunk", self->chunk, "for --stored: chunk shape of the dataset")
      ->type_name("SHAPE");
  verb.add_flag("--big-endian", self->big_endian,
                "for --stored: byte order of the values in the file");
  verb.add_flag("--json", self->json, "report as JSON");
  verb.callback([self] { self->run(); });
}

}  // namespace leeway::cli

// SPDX-License-Identifier: BSD-3-Clause
// leeway: the command line tool. One file a verb; this one is the table of verbs.
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tools/cli.h"
#include "tools/signals.h"

namespace leeway::cli {
namespace {

struct Verb {
  const char* name;
  const char* about;
  void (*add)(CLI::App&);
  const char* examples;
};

constexpr Verb kVerbs[] = {
    {"compress", "compress an array within an error bound", add_compress,
     "  leeway compress field_100x500x500.f32 --rel 1e-3\n"
     "  leeway compress t.npy --abs 0.01 --fill -9999 -o t.lwy\n"
     "  leeway compress run.nc --rel 1e-4 --variable ps=abs:1 -o small.nc\n"
     "  leeway compress run.h5:/fields/rho --abs 1e-3 -o rho.lwy\n"
     "  leeway compress field_64x64x64.f32 --abs 1e-3 --device emulator\n"
     "  simulate | leeway compress - --shape 512x512 --dtype f64 --psnr 80 -o - > out.lwy"},
    {"decompress", "restore an array, or a region of it", add_decompress,
     "  leeway decompress t.lwy -o t.npy\n"
     "  leeway decompress field.lwy --region 0:10,:,250 -o slice.npy\n"
     "  leeway decompress field.lwy --level 2 -o picture.npy\n"
     "  leeway decompress small.nc -o plain.nc\n"
     "  leeway decompress damaged.lwy --salvage -o what_is_left.npy"},
    {"update", "replace a region of a stream, in place", add_update,
     "  leeway update field.lwy slab.npy --region 0:10,:,:\n"
     "  leeway update field.lwy point.f32 --region 3,4,5"},
    {"append", "put rows behind an array that grows", add_append,
     "  leeway append run.lwy step_1x500x500.f32 --abs 1e-3\n"
     "  leeway append run.lwy more.npy"},
    {"join", "make one stream of streams that lie beside each other", add_join,
     "  leeway join part0.lwy part1.lwy part2.lwy -o all.lwy\n"
     "  leeway join left.lwy right.lwy --axis 2 -o both.lwy"},
    {"inspect", "say what a stream holds", add_inspect,
     "  leeway inspect t.lwy\n  leeway inspect t.lwy --json"},
    {"verify", "check a stream, against its original if given", add_verify,
     "  leeway verify t.lwy\n  leeway verify t.lwy --against t.npy"},
    {"compare", "measure how far two arrays are apart", add_compare,
     "  leeway compare t.npy t.lwy\n  leeway compare a_64x64.f32 b_64x64.f32 --json"},
    {"report", "say what compression did to the data: a page with scores and pictures", add_report,
     "  leeway report t.npy t.lwy -o report.html\n"
     "  leeway report run.nc small.nc -o report.html --json-file report.json\n"
     "  leeway report run.nc:ps small.nc:ps --require 'dssim>=0.9995,r2>0.99999'\n"
     "  leeway report field_64x64.f32 other.npy --json"},
    {"explain", "say what each stage of a recipe does to a field", add_explain,
     "  leeway explain field_64x64.f32 --rel 1e-3\n"
     "  leeway explain field_64x64.f32 --rel 1e-3 --recipe small -o explain.html\n"
     "  leeway explain t.lwy --json"},
    {"tune", "search the parameters of a recipe for a field", add_tune,
     "  leeway tune interp+linear+huffman+zstd field_64x64.f32 --rel 1e-3\n"
     "  leeway tune small t.npy --abs 0.01 --trials 50 --json"},
    {"recipes",
     "list the named recipes; what bears the name of another system is a re-implementation",
     add_recipes, "  leeway recipes"},
    {"stages", "list the stages of which recipes are made", add_stages,
     "  leeway stages\n  leeway stages --markdown"},
    {"sample", "make a realistic field to try things on", add_sample,
     "  leeway sample turbulence --shape 128x128x128\n  leeway sample climate --shape 720x1440 "
     "--seed 7 -o sst.npy"},
    {"bench", "measure ratio and speed of recipes beside memcpy", add_bench,
     "  leeway bench field_256x256x256.f32 --rel 1e-3 --recipes fast,balanced --threads 1\n"
     "  leeway bench t.npy --abs 0.01 --json"},
    {"advise", "try the presets on a part of a field and say which to take", add_advise,
     "  leeway advise t.npy --rel 1e-3\n  leeway advise t.npy --abs 0.01 --for ratio --json"},
    {"model", "run a field through the model of a piece of hardware", add_model,
     "  leeway model fpga --design wavesz\n"
     "  leeway model fpga climate_360x720.f32 --design wavesz --lanes 2 --clock 200\n"
     "  leeway model fpga field_256x256x256.f32 --design ceaz --rel 1e-4 --json\n"
     "  leeway model gpu field_256x256x256.f32 --rel 1e-3 --device h100\n"
     "  leeway model wafer\n"
     "  leeway model wafer field_256x256x256.f32 --rel 1e-3 --mesh 512x512 --relay router\n"
     "  leeway model wafer field_256x256x256.f32 --rel 1e-3 --pipeline 3 --partition optimal -o "
     "a.lwy\n"
     "  leeway model wafer --routes --mesh 8x1 --pipeline 2"},
    {"filter", "print the parameters of the HDF5 filter for other programs", add_filter,
     "  leeway filter --abs 1e-3\n  leeway filter --rel 1e-4 --range 80 --preset small --json"},
    {"doctor", "check this installation", add_doctor, "  leeway doctor"},
};

int run(int argc, char** argv) {
  CLI::App app("leeway: error-bounded lossy compression of scientific arrays");
  app.set_version_flag("-V,--version", std::string("leeway ") + version());
  app.require_subcommand(1);
  app.set_help_flag("-h,--help", "print this help and exit");
  app.footer(
      "Exit codes: 0 fine, 1 failed, 2 wrong usage, 3 verification failed.\n"
      "'leeway VERB --help' explains a verb, with examples.");
  for (const Verb& verb : kVerbs) {
    CLI::App& sub = *app.add_subcommand(verb.name, verb.about);
    sub.footer(std::string("Examples:\n") + verb.examples);
    verb.add(sub);
  }
  try {
    app.parse(argc, argv);
    return kFine;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    complain(error.what());
    return kUsage;
  }
}

// Whatever is thrown becomes a line and an exit code.
int run_guarded(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const Ended& ended) {
    return ended.code;
  } catch (const Error& error) {
    complain(error.what());
    return error.code() == Errc::invalid_argument ? kUsage : kFailed;
  } catch (const std::bad_alloc&) {
    complain("out of memory");
  } catch (const std::exception& error) {
    complain(error.what());
  }
  return kFailed;
}

}  // namespace
}  // namespace leeway::cli

int main(int argc, char** argv) {
  using namespace leeway::cli;
  prepare_process();
  int code = run_guarded(argc, argv);
  // A report that could not be written is a failure.
  if ((std::fflush(stdout) != 0 || std::ferror(stdout)) && code == kFine) {
    complain(std::string("cannot write to standard output: ") + std::strerror(errno));
    code = kFailed;
  }
  // HDF5 1.10 may crash while it tidies up after a file that it could not write.
  if (code != kFine) std::_Exit(code);
}

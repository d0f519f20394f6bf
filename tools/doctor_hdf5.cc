// SPDX-License-Identifier: BSD-3-Clause
// What `doctor` says about HDF5: which libraries there are, where they look for plugins, and
// whether the filter loads in each.
#include <dlfcn.h>
#include <glob.h>
#include <hdf5.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "leeway/hdf5.h"
#include "tools/doctor.h"
#include "tools/signals.h"

namespace leeway::cli {
namespace {

constexpr int kPatience = 10000;  // milliseconds for a library to be loaded

std::vector<std::string> matching(const std::string& pattern) {
  std::vector<std::string> paths;
  glob_t matches{};
  if (::glob(pattern.c_str(), 0, nullptr, &matches) == 0)
    paths.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  ::globfree(&matches);
  return paths;
}

// Places where Debian, Python wheels and conda put HDF5. Each library is listed once.
std::vector<std::string> hdf5_libraries() {
  std::vector<std::string> patterns = {"/usr/lib/*/libhdf5*.so.[0-9]*",
                                       "/usr/lib64/libhdf5*.so.[0-9]*",
                                       "/usr/local/lib/libhdf5*.so.[0-9]*"};
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const char* prefix = std::getenv(variable)) {
      patterns.push_back(std::string(prefix) + "/lib/libhdf5*.so.[0-9]*");
      patterns.push_back(std::string(prefix) + "/lib/python3*/site-packages/*.libs/libhdf5*.so*");
    }
  std::vector<std::string> found;
  std::set<std::string> seen;
  for (const std::string& pattern : patterns)
    for (const std::string& path : matching(pattern)) {
      const bool is_core = path.find("_hl") == path.npos && path.find("hl_") == path.npos &&
                           path.find("_cpp") == path.npos && path.find("fortran") == path.npos &&
                           path.find("_tools") == path.npos && path.find("hl-") == path.npos;
      std::error_code is_broken;
      const auto real = std::filesystem::canonical(path, is_broken);
      if (is_core && !is_broken && seen.insert(real.string()).second) found.push_back(path);
    }
  return found;
}

// What a process that loads this library finds: in a child, because a foreign library may do
// anything, and not for ever.
std::string try_library(const std::string& path, std::string& version) {
  int ends[2];
  if (::pipe(ends) != 0) return "cannot be tried";
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    restore_signals();
    ::close(ends[0]);
    ::close(STDERR_FILENO);
    char answer[64] = "cannot be loaded";
    // Bound to its own functions: this process holds another HDF5.
    if (void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)) {
      const auto open = reinterpret_cast<int (*)()>(::dlsym(library, "H5open"));
      const auto number = reinterpret_cast<int (*)(unsigned*, unsigned*, unsigned*)>(
          ::dlsym(library, "H5get_libversion"));
      const auto available = reinterpret_cast<int (*)(int)>(::dlsym(library, "H5Zfilter_avail"));
      unsigned v[3] = {};
      if (open && number && available && open() >= 0 && number(v, v + 1, v + 2) >= 0)
        std::snprintf(answer, sizeof answer, "%s %u.%u.%u",
                      available(LEEWAY_H5Z_ID) > 0 ? "yes" : "no", v[0], v[1], v[2]);
    }
    const ssize_t written = ::write(ends[1], answer, sizeof answer);
    ::_exit(written < 0);
  }
  ::close(ends[1]);
  char answer[64] = "";
  pollfd answered{ends[0], POLLIN, 0};
  const bool in_time = child > 0 && ::poll(&answered, 1, kPatience) > 0;
  const ssize_t got = in_time ? ::read(ends[0], answer, sizeof answer - 1) : 0;
  ::close(ends[0]);
  if (child > 0) {
    ::kill(child, SIGKILL);  // it has nothing more to say
    ::waitpid(child, nullptr, 0);
  }
  if (child > 0 && !in_time) return "it does not come back when it is loaded";
  if (got <= 0) return "it crashes when it is loaded";
  const std::string text = answer;
  const size_t space = text.find(' ');
  if (!text.starts_with("yes") && !text.starts_with("no ")) return text;
  version = text.substr(space + 1);
  return text.starts_with("yes") ? "ok" : "not found";
}

// Where the plugin may lie: beside this program, in a build or an installed package, or in the
// Python package that has brought the program.
std::string plugin_folder() {
  std::error_code unknown;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
  for (const char* folder :
       {"plugins", "../leeway/plugins", "../lib/python3*/site-packages/leeway/plugins",
        "../lib/python3*/dist-packages/leeway/plugins", "../lib/hdf5/serial/plugins",
        "../lib/hdf5/plugin"})
    for (const std::string& plugin : matching((here / folder / "libh5zleeway.so").string())) {
      std::error_code missing;
      const auto found = std::filesystem::canonical(plugin, missing);
      if (!missing) return found.parent_path().string();
    }
  return "";
}

}  // namespace

Json examine_hdf5() {
  Json result;
  unsigned v[3] = {};
  H5get_libversion(v, v + 1, v + 2);
  result["library"] = fmt::format("{}.{}.{}", v[0], v[1], v[2]);
  result["filter_id"] = LEEWAY_H5Z_ID;
  const char* path = std::getenv("HDF5_PLUGIN_PATH");
  result["plugin_path"] =
      path ? path : "(HDF5_PLUGIN_PATH is not set: the default folder of each library)";
  result["plugin_folder"] = plugin_folder();
  Json libraries = Json::array();
  bool any = false;
  for (const std::string& library : hdf5_libraries()) {
    std::string version;
    const std::string verdict = try_library(library, version);
    libraries.push_back({{"path", library}, {"version", version}, {"filter", verdict}});
    any |= verdict == "ok";
  }
  // Without any HDF5 library the plugin is not missed.
  result["found"] = any || libraries.empty();
  result["libraries"] = libraries;
  return result;
}

}  // namespace leeway::cli

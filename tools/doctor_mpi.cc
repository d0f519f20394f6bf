// SPDX-License-Identifier: BSD-3-Clause
// Which MPIs are here. leeway is linked with none: leeway_mpi.c is compiled with a program and its
// MPI.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "tools/doctor.h"

namespace leeway::cli {
namespace {

// The launchers by the names that Debian, vendors and the MPIs themselves give them.
constexpr const char* kLaunchers[] = {"mpirun", "mpirun.openmpi", "mpirun.mpich", "mpiexec",
                                      "srun"};

std::string in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::string folders = path ? path : "";
  for (size_t begin = 0; begin < folders.size();) {
    const size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string file = folders.substr(begin, end - begin) + "/" + program;
    if (::access(file.c_str(), X_OK) == 0) return file;
    begin = end + 1;
  }
  return "";
}

// The first line that a launcher says of itself with a number in it; it gets five seconds for that.
std::string version_of(const std::string& launcher) {
  const std::string command = "timeout 5 '" + launcher + "' --version </dev/null 2>/dev/null";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> said(::popen(command.c_str(), "r"),
                                                             ::pclose);
  char line[256];
  std::string found;
  while (said && std::fgets(line, sizeof line, said.get())) {
    std::string text = printable(std::string(line).substr(0, std::string(line).find('\n')));
    const size_t first = text.find_first_not_of(' ');
    const bool has_version = text.find_first_of("0123456789") != std::string::npos;
    if (found.empty() && first != std::string::npos && has_version) found = text.substr(first);
  }
  return found;
}

}  // namespace

Json examine_mpi() {
  Json mpis = Json::array();
  for (const char* name : kLaunchers) {
    const std::string path = in_path(name);
    if (path.empty() || path.find('\'') != std::string::npos) continue;
    const std::string version = version_of(path);
    const auto is_same = [&](const Json& other) { return other["version"] == version; };
    if (!version.empty() && std::ranges::none_of(mpis, is_same))
      mpis.push_back({{"launcher", path}, {"version", version}});
  }
  return {{"tried_with", kTriedMpis}, {"found", mpis}};
}

}  // namespace leeway::cli

// SPDX-License-Identifier: BSD-3-Clause
// The program of the PEs as the mesh runs it: colors, routes, tasks, memory.
#include <map>

#include "tools/wafer_report.h"

namespace leeway::cli {
namespace {

using namespace fabric;

std::string sides(u8 set) {
  std::string names;
  for (size_t side = 0; side < std::size(kSideNames); ++side)
    if (set & in_set(Side(side)))
      names += (names.empty() ? "" : ", ") + std::string(kSideNames[side]);
  return names.empty() ? "nowhere" : names;
}

Json routes_of(const Mesh& mesh, u32 column) {
  Json routes = Json::object();
  for (Color color = 0; color < std::size(kColorNames); ++color)
    if (const Route* const route = mesh.route(column, 0, color))
      for (const Position& at : route->positions)
        routes[std::to_string(color)].push_back(sides(at.receive) + " -> " + sides(at.transmit));
  return routes;
}

// "0, 2, 4, 6" or "0, 2 ... 510"
std::string list_of(const std::vector<u32>& columns) {
  std::string list;
  for (size_t k = 0; k < columns.size(); ++k) {
    if (columns.size() > 6 && k == 2) {
      list += " ... ";
      k = columns.size() - 1;
    } else if (k > 0) {
      list += ", ";
    }
    list += std::to_string(columns[k]);
  }
  return list;
}

}  // namespace

Json wafer_program(Job job) {
  job.machine.rows = 1;  // all rows are alike
  const LinearGrid<float> grid(1.0);
  const std::vector<Chain> chains = chains_of(job);
  const std::vector<Words> no_blocks;
  const CereszProgram program(job, grid, chains, no_blocks);
  Json result;
  for (Color color = 0; color < std::size(kColorNames); ++color)
    result["colors"].push_back({{"color", color}, {"name", kColorNames[color]}});
  std::map<std::string, std::vector<u32>> alike;
  for (u32 column = 0; column < job.machine.columns; ++column)
    alike[routes_of(program.mesh(), column).dump()].push_back(column);
  for (const auto& [routes, columns] : alike)
    result["routes"].push_back({{"columns", columns}, {"by_color", Json::parse(routes)}});
  const auto stages = sub_stages(job.direction(), job.partition.planned);
  for (u32 pe = 0; pe < job.length(); ++pe) {
    Json names = Json::array();
    for (u32 s = job.partition.cuts[pe]; s < job.partition.cuts[pe + 1]; ++s)
      names.push_back(
          std::string(kWorkNames[size_t(stages[s].work)]) +
          (stages[s].work == Work::shuffle ? " " + std::to_string(stages[s].plane) : ""));
    result["pipeline"].push_back(
        {{"pe", pe},
         {"sub_stages", names},
         {"cycles", job.partition.cost(job.costs, pe, job.partition.planned)},
         {"words_in", job.partition.words_before(pe, job.partition.planned)},
         {"words_out", job.partition.words_before(pe + 1, job.partition.planned)}});
  }
  result["tasks"] = {{{"task", kStep},
                      {"name", kTaskNames[kStep]},
                      {"cycles", job.machine.start},
                      {"activated_by", "the end of a move"},
                      {"then", "starts the next move, or activates compute"}},
                     {{"task", kCompute},
                      {"name", kTaskNames[kCompute]},
                      {"activated_by", "step, when the PE's own block is there"},
                      {"then", "starts to send on, or to relay blocks of the next round"}}};
  u32 used = 0;
  for (const Allocation& a : memory_of(job.machine, kBlock)) {
    result["memory"].push_back({{"what", a.what}, {"bytes", a.bytes}});
    used += a.bytes;
  }
  result["memory_used"] = used;
  result["memory_of_pe"] = job.machine.memory;
  return result;
}

void print_program(const Json& program) {
  fmt::print("colors\n");
  for (const Json& color : program["colors"])
    fmt::print("  {:>2}  {}\n", color["color"].get<int>(), color["name"].get<std::string>());
  fmt::print(
      "routes (of all rows); of two positions, control words turn a router from one to the "
      "other\n");
  for (const Json& route : program["routes"]) {
    fmt::print("  columns {}\n", list_of(route["columns"].get<std::vector<u32>>()));
    if (route["by_color"].empty()) fmt::print("    none: in no pipeline\n");
    for (const auto& [color, positions] : route["by_color"].items())
      for (size_t k = 0; k < positions.size(); ++k)
        fmt::print("    {:<8} {}\n", k == 0 ? "color " + color : "  or",
                   positions[k].get<std::string>());
  }
  fmt::print("PEs of a pipeline\n");
  for (const Json& pe : program["pipeline"]) {
    fmt::print("  {:>2}  {:>6} cycles, {} words in, {} out:", pe["pe"].get<int>(),
               pe["cycles"].get<int>(), pe["words_in"].get<int>(), pe["words_out"].get<int>());
    for (const Json& name : pe["sub_stages"]) fmt::print(" {};", name.get<std::string>());
    fmt::print("\n");
  }
  fmt::print("tasks\n");
  for (const Json& task : program["tasks"])
    fmt::print("  {:>2}  {:<8} activated by {}; {}\n", task["task"].get<int>(),
               task["name"].get<std::string>(), task["activated_by"].get<std::string>(),
               task["then"].get<std::string>());
  fmt::print("memory, {} of {} bytes\n", program["memory_used"].get<int>(),
             program["memory_of_pe"].get<int>());
  for (const Json& part : program["memory"])
    fmt::print("  {:>6}  {}\n", part["bytes"].get<int>(), part["what"].get<std::string>());
}

}  // namespace leeway::cli

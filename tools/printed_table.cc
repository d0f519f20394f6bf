// SPDX-License-Identifier: BSD-3-Clause
#include "tools/printed_table.h"

namespace leeway::cli {

void print_text(const std::vector<Printed>& all) {
  fmt::print("{:<50} {:>10} {:>10} {:<6} {:>11}\n", "in the paper", "printed", "modelled", "",
             "difference");
  std::string table;
  for (const Printed& p : all) {
    if (p.table != table) fmt::print("\n{}\n", table = p.table);
    fmt::print("{:<50} {:>10} {:>10.6g} {:<6}", p.what, p.printed ? number(*p.printed) : "",
               p.modelled, p.unit);
    if (p.printed) fmt::print(" {:>+10.1f}%", 100 * (p.modelled / *p.printed - 1));
    fmt::print("\n");
  }
}

Json json_of(const std::vector<Printed>& all) {
  Json list = Json::array();
  for (const Printed& p : all) {
    Json row;
    if (!p.table.empty()) row["table"] = p.table;
    row["what"] = p.what;
    if (p.printed) row["printed"] = *p.printed;
    row["modelled"] = p.modelled;
    row["unit"] = p.unit;
    if (p.printed) row["difference"] = p.modelled / *p.printed - 1;
    list.push_back(std::move(row));
  }
  return list;
}

}  // namespace leeway::cli

// SPDX-License-Identifier: BSD-3-Clause
#include "tools/wafer.h"

#include "leeway/fabric/printed.h"
#include "tools/printed_table.h"

namespace leeway::cli {
namespace {

struct Wafer {
  bool json = false;

  void run() const { print_paper(); }

  void print_paper() const {
    std::vector<Printed> rows;
    for (const fabric::PrintedNumber& n : fabric::printed_numbers())
      rows.push_back({n.what, n.printed, n.modelled, n.unit, n.table});
    const std::vector<std::string> notes = fabric::contradictions();
    if (json) return print({{"numbers", json_of(rows)}, {"contradictions", notes}});
    print_text(rows);
    fmt::print("\nWhat in the paper does not fit together:\n");
    for (const std::string& note : notes) fmt::print("* {}\n", note);
  }
};

}  // namespace

void add_wafer(CLI::App& model) {
  const auto self = std::make_shared<Wafer>();
  CLI::App& verb = *model.add_subcommand("wafer", "CereSZ on a mesh of processing elements");
  verb.add_flag("--json", self->json, "report as JSON");
  verb.callback([self] { self->run(); });
}

}  // namespace leeway::cli

// SPDX-License-Identifier: BSD-3-Clause
// The verb `join`: streams of parts of an array become one, without being decoded.
#include <memory>

#include "leeway/stream/joined.h"
#include "tools/cli.h"
#include "tools/output_file.h"

namespace leeway::cli {

void add_join(CLI::App& verb) {
  struct Join {
    std::vector<std::string> inputs;
    std::string output;
    size_t axis = 0;
    bool force = false, quiet = false;

    void run() const {
      std::vector<std::unique_ptr<FileSource>> sources;
      std::vector<std::unique_ptr<StreamReader>> streams;
      std::vector<const StreamReader*> parts;
      for (const std::string& path : inputs) {
        sources.push_back(std::make_unique<FileSource>(path));
        streams.push_back(std::make_unique<StreamReader>(*sources.back()));
        parts.push_back(streams.back().get());
      }
      OutputFile out(output, force);
      u64 bytes = 0;
      leeway::join(parts, axis, [&](ByteView part) {
        out.write(part);
        bytes += part.size();
      });
      out.commit();
      if (!quiet)
        fmt::print(out.can_map() ? stdout : stderr, "{} streams, {} in all\n", inputs.size(),
                   readable_bytes(bytes));
    }
  };
  const auto self = std::make_shared<Join>();
  verb.add_option("IN", self->inputs,
                  "streams of arrays that follow each other along an axis, of the same type, "
                  "chunks and recipe; all but the last end where a chunk ends. One growing "
                  "stream becomes an ordinary one")
      ->required();
  verb.add_option("-o,--output", self->output, "stream to write; - for standard output")
      ->type_name("OUT")
      ->required();
  verb.add_option("--axis", self->axis, "along which they follow each other; 0 is the slowest")
      ->type_name("N");
  verb.add_flag("-f,--force", self->force, "replace OUT if it exists");
  verb.add_flag("-q,--quiet", self->quiet, "say nothing");
  verb.callback([self] { self->run(); });
}

}  // namespace leeway::cli

// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/fabric/picture.h"

#include <libdeflate.h>

#include <numeric>

#include "leeway/base/png.h"
#include "tests/support.h"

namespace leeway::fabric {
namespace {

Simulation small() {
  Simulation done;
  done.job.machine.columns = 6;
  done.job.machine.rows = 4;
  done.coded.widths.assign(6 * 4 * 3, 5);
  done.chains = chains_of(done.job);
  deal(done.job, done.coded.widths.size(), done.chains);
  done.outcome = run_rows(done.job, done.chains, done.coded.widths);
  return done;
}

size_t count(const std::string& text, const std::string& what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(WaferPicture, CellsAddUpToWhatThePesSpent) {
  const Simulation done = small();
  u64 compute = 0;
  for (const Spent& spent : done.outcome.spent) compute += spent.compute;
  const double part = double(compute) / double(done.outcome.cycles * 24);
  for (const u32 cells : {64u, 2u}) {
    const HeatMap map = heat_map_of(done, cells);
    ASSERT_EQ(map.panels.size(), 3u);
    EXPECT_NEAR(map.panels[0].mean, part, 1e-12);
    const auto& all = map.panels[0].cells;
    EXPECT_EQ(all.size(), cells == 2 ? 4u : 24u);
    EXPECT_NEAR(std::accumulate(all.begin(), all.end(), 0.0) / double(all.size()), part, 1e-12);
  }
}

TEST(WaferPicture, SvgHasARectangleForEveryCell) {
  const std::string svg = heat_map_svg(small());
  EXPECT_EQ(count(svg, "<rect "), 3 * 24 + 50 + 1u);  // cells, legend, background
  EXPECT_EQ(count(svg, "<svg "), 1u);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  const std::string timeline = timeline_svg(small(), 2);
  EXPECT_EQ(count(timeline, ">column "), 6u);
  EXPECT_EQ(count(timeline, "000</text>"), 6u);  // 5000 to 30000 cycles
}

TEST(WaferPicture, PngHoldsThePixels) {
  const std::vector<u8> pixels{0, 1, 2, 2, 1, 0};
  const std::vector<Rgb> palette{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  const std::vector<u8> file = png(3, 2, pixels, palette);
  const std::string text(file.begin(), file.end());
  EXPECT_TRUE(text.starts_with("\x89PNG\r\n\x1a\n"));
  EXPECT_EQ(text.substr(16, 8), std::string("\0\0\0\3\0\0\0\2", 8));
  const size_t data = text.find("IDAT");
  const size_t length = size_t(file[data - 2]) << 8 | file[data - 1];
  std::vector<u8> lines(8);
  size_t got = 0;
  auto* const decompressor = libdeflate_alloc_decompressor();
  ASSERT_EQ(libdeflate_zlib_decompress(decompressor, file.data() + data + 4, length, lines.data(),
                                       lines.size(), &got),
            LIBDEFLATE_SUCCESS);
  libdeflate_free_decompressor(decompressor);
  EXPECT_EQ(lines, (std::vector<u8>{0, 0, 1, 2, 0, 2, 1, 0}));
}

}  // namespace
}  // namespace leeway::fabric

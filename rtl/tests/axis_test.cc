// SPDX-License-Identifier: BSD-3-Clause
// The wrappers with AXI4-Stream names: the same as what they wrap.
#include <gtest/gtest.h>

#include <bit>

#include "Vlwy_axis_blocks.h"
#include "Vlwy_axis_wavesz.h"
#include "Vlwy_blocks_outlier.h"
#include "rtl/tests/blocks_machine.h"
#include "rtl/tests/wavesz_machine.h"

namespace leeway::rtl {
namespace {

// A clock with another name.
template <class Module>
struct Axis {
  VerilatedContext context;
  Module module{&context};
  Axis() {
    module.aresetn = 0;
    cycle([] {});
    module.aresetn = 1;
    cycle([] {});
  }
  // Inputs are set; look() sees the outputs before the edge.
  template <class Look>
  void cycle(Look&& look) {
    module.aclk = 0;
    module.eval();
    look();
    module.aclk = 1;
    module.eval();
  }
  template <class Ready>
  void hand_over(Ready&& ready) {
    bool taken = false;
    for (int patience = 0; !taken && patience < 1000; ++patience) cycle([&] { taken = ready(); });
    ASSERT_TRUE(taken);
  }
};

TEST(RtlAxis, BlocksAreThoseOfTheDesign) {
  const LinearGrid<float> grid(1e-3);
  std::vector<float> values(333);
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(std::sin(double(i) * 0.1));
  const BlockBytes wanted = BlocksMachine<Vlwy_blocks_outlier>().run(grid, values);
  Axis<Vlwy_axis_blocks> axis;
  auto& m = axis.module;
  m.s_axis_chunk_tdata[0] = std::bit_cast<u32>(grid.short_step);
  m.s_axis_chunk_tdata[1] = std::bit_cast<u32>(grid.short_inverse);
  m.s_axis_chunk_tdata[2] = std::bit_cast<u32>(grid.short_limit);
  m.s_axis_chunk_tvalid = 1;
  axis.hand_over([&] { return m.s_axis_chunk_tready; });
  m.s_axis_chunk_tvalid = 0;
  m.m_axis_head_tready = m.m_axis_tready = 1;
  BlockBytes made;
  size_t in = 0;
  bool heads_end = false, words_end = false;
  for (int patience = 0; !(heads_end && words_end) && patience < 5000; ++patience) {
    m.s_axis_tvalid = in < values.size();
    if (in < values.size()) m.s_axis_tdata = std::bit_cast<u32>(values[in]);
    m.s_axis_tlast = in + 1 == values.size();
    axis.cycle([&] {
      if (m.m_axis_head_tvalid) made.heads.push_back(m.m_axis_head_tdata), heads_end = m.m_axis_head_tlast;
      for (u32 k = 0; m.m_axis_tvalid && k < 4; ++k)
        if (m.m_axis_tkeep >> k & 1) made.bodies.push_back(u8(m.m_axis_tdata >> 8 * k));
      if (m.m_axis_tvalid && m.m_axis_tlast) words_end = true, made.is_bad = m.m_axis_tuser;
      in += m.s_axis_tvalid && m.s_axis_tready;
    });
  }
  EXPECT_TRUE(made.heads == wanted.heads && made.bodies == wanted.bodies);
  EXPECT_EQ(made.is_bad, wanted.is_bad);
}

TEST(RtlAxis, PointsAreThoseOfTheDesign) {
  const LinearGrid<float> grid(1e-3, {.step = StepRule::power_of_two, .bins = 65536});
  const WaveTable table(20, 30, grid);
  std::vector<float> values(600);
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(std::sin(double(i) * 0.1));
  const auto wanted = WaveszMachine().run(table, values);
  Axis<Vlwy_axis_wavesz> axis;
  auto& m = axis.module;
  m.s_axis_table_tdata[0] = u32(table.length - 1);
  m.s_axis_table_tdata[1] = u32(table.rows - 1) | u32(table.step_exp) << 16;
  m.s_axis_table_tdata[2] = std::bit_cast<u32>(table.limit);
  m.s_axis_table_tvalid = 1;
  axis.hand_over([&] { return m.s_axis_table_tready; });
  m.s_axis_table_tvalid = 0;
  m.m_axis_tready = 1;
  const auto order = wave_order(table.rows, table.length);
  std::vector<WavePoint> made(values.size());
  size_t in = 0, out = 0;
  for (int patience = 0; out < made.size() && patience < 50000; ++patience) {
    m.s_axis_tvalid = in < order.size();
    if (in < order.size()) m.s_axis_tdata = std::bit_cast<u32>(values[order[in]]);
    axis.cycle([&] {
      if (m.m_axis_tvalid) {
        const u64 data = m.m_axis_tdata;
        made[order[out++]] = {bool(data >> 48 & 1), i16(data >> 32), std::bit_cast<float>(u32(data))};
        EXPECT_EQ(bool(m.m_axis_tlast), out == made.size());
      }
      in += m.s_axis_tvalid && m.s_axis_tready;
    });
  }
  EXPECT_TRUE(made == wanted);
}

}  // namespace
}  // namespace leeway::rtl

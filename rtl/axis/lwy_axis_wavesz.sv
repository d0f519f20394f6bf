// SPDX-License-Identifier: BSD-3-Clause
// AXI4-Stream names for lwy_wavesz. A table is one transfer on s_axis_table, then as many values on
// s_axis as it says, in the order of the wavefront; it becomes a packet of points.
module lwy_axis_wavesz #(
  parameter int unsigned Rows = 512,
  parameter int unsigned Stages = 7,
  localparam int unsigned RowBits = $clog2(Rows)
) (
  input  logic        aclk,
  input  logic        aresetn,
  input  logic        s_axis_table_tvalid,
  output logic        s_axis_table_tready,
  input  logic [95:0] s_axis_table_tdata,  // limit, k (16 bits), rows - 1 (16), values of a row - 1
  input  logic        s_axis_tvalid,
  output logic        s_axis_tready,
  input  logic [31:0] s_axis_tdata,
  output logic        m_axis_tvalid,
  input  logic        m_axis_tready,
  output logic [63:0] m_axis_tdata,        // whether it has a code (bit 48), the code, the value
  output logic        m_axis_tlast
);
  assign m_axis_tdata[63:49] = 15'd0;
  lwy_wavesz #(.Rows(Rows), .Stages(Stages)) u_wavesz (
    .clk_i(aclk), .rst_ni(aresetn),
    .table_valid_i(s_axis_table_tvalid), .table_ready_o(s_axis_table_tready),
    .last_row_i(s_axis_table_tdata[32+:RowBits]), .last_place_i(s_axis_table_tdata[31:0]),
    .step_exp_i(s_axis_table_tdata[57:48]), .limit_i(s_axis_table_tdata[94:64]),
    .valid_i(s_axis_tvalid), .ready_o(s_axis_tready), .x_i(s_axis_tdata),
    .valid_o(m_axis_tvalid), .ready_i(m_axis_tready), .coded_o(m_axis_tdata[48]),
    .code_o(m_axis_tdata[47:32]), .y_o(m_axis_tdata[31:0]), .last_o(m_axis_tlast)
  );

  logic unused;
  assign unused = ^s_axis_table_tdata;
endmodule

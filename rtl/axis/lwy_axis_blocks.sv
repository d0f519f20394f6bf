// SPDX-License-Identifier: BSD-3-Clause
// AXI4-Stream names for lwy_blocks. A chunk is one transfer of three words on s_axis_chunk, then a
// packet of values on s_axis; it becomes a packet of heads and a packet of words, whose last
// transfer has 0 to 3 bytes and says by TUSER that the chunk must be coded by somebody else.
module lwy_axis_blocks #(
  parameter bit Outlier = 1'b0,
  parameter bit Pow2 = 1'b0,
  parameter int unsigned Stages = 7
) (
  input  logic        aclk,
  input  logic        aresetn,
  input  logic        s_axis_chunk_tvalid,
  output logic        s_axis_chunk_tready,
  input  logic [95:0] s_axis_chunk_tdata,   // limit, f32(1 / step), step; the step lowest
  input  logic        s_axis_tvalid,
  output logic        s_axis_tready,
  input  logic [31:0] s_axis_tdata,
  input  logic        s_axis_tlast,
  output logic        m_axis_head_tvalid,
  input  logic        m_axis_head_tready,
  output logic [7:0]  m_axis_head_tdata,
  output logic        m_axis_head_tlast,
  output logic        m_axis_tvalid,
  input  logic        m_axis_tready,
  output logic [31:0] m_axis_tdata,
  output logic [3:0]  m_axis_tkeep,
  output logic        m_axis_tlast,
  output logic        m_axis_tuser
);
  logic [2:0] bytes;
  assign m_axis_tkeep = 4'(5'd1 << bytes) - 4'd1;
  lwy_blocks #(.Outlier(Outlier), .Pow2(Pow2), .Stages(Stages)) u_blocks (
    .clk_i(aclk), .rst_ni(aresetn),
    .chunk_valid_i(s_axis_chunk_tvalid), .chunk_ready_o(s_axis_chunk_tready),
    .step_i(s_axis_chunk_tdata[31:0]), .inverse_i(s_axis_chunk_tdata[63:32]),
    .limit_i(s_axis_chunk_tdata[94:64]),
    .valid_i(s_axis_tvalid), .ready_o(s_axis_tready), .x_i(s_axis_tdata), .last_i(s_axis_tlast),
    .head_valid_o(m_axis_head_tvalid), .head_ready_i(m_axis_head_tready),
    .head_o(m_axis_head_tdata), .head_last_o(m_axis_head_tlast),
    .word_valid_o(m_axis_tvalid), .word_ready_i(m_axis_tready), .word_o(m_axis_tdata),
    .word_bytes_o(bytes), .word_last_o(m_axis_tlast), .word_bad_o(m_axis_tuser)
  );

  logic unused;
  assign unused = s_axis_chunk_tdata[95];
endmodule

// SPDX-License-Identifier: BSD-3-Clause
// AXI4-Stream names for lwy_ceaz_lanes. Signals of all lanes stand side by side, lane 0 lowest:
// with four lanes, s_axis_tvalid[2] and s_axis_tdata[95:64] are those of lane 2.
//
// The offline book is a packet of 16 bits a token, its length above its codeword. A chunk is one
// transfer on s_axis_chunk, then its values on s_axis; it becomes packets of codewords, one of raw
// bits a page, and on m_axis_change one a page from the third on, if books follow. TUSER beside the
// last raw bits of a chunk says that it must be coded by somebody else.
module lwy_axis_ceaz #(
  parameter int unsigned Lanes = 4,
  parameter bit Pow2 = 1'b0,
  parameter int unsigned Stages = 7,
  parameter int unsigned MostRow = 1024,
  parameter int unsigned MostPlane = 16384
) (
  input  logic                 aclk,
  input  logic                 aresetn,
  input  logic                 s_axis_book_tvalid,
  output logic                 s_axis_book_tready,
  input  logic [15:0]          s_axis_book_tdata,
  input  logic                 s_axis_book_tlast,
  input  logic [31:0]          interval,           // low + 512 and, from bit 16 on, size; constant
  // target (16 bits), log of the most, of the least, of the first step (16 bits each)
  input  logic [Lanes-1:0]     s_axis_ratio_tvalid,
  output logic [Lanes-1:0]     s_axis_ratio_tready,
  input  logic [63:0]          s_axis_ratio_tdata,
  // From bit 0 on, 32 bits each: step, f32(1 / step), limit, values, those of a row - 1, rows - 1
  // of a plane; then 8 bits each: axes, page, flags (1: books follow, 2: fixed ratio)
  input  logic [Lanes-1:0]     s_axis_chunk_tvalid,
  output logic [Lanes-1:0]     s_axis_chunk_tready,
  input  logic [Lanes*224-1:0] s_axis_chunk_tdata,
  output logic [Lanes*32-1:0]  step,               // of the chunks that are open
  input  logic [Lanes-1:0]     s_axis_tvalid,
  output logic [Lanes-1:0]     s_axis_tready,
  input  logic [Lanes*32-1:0]  s_axis_tdata,
  output logic [Lanes-1:0]     m_axis_tvalid,
  input  logic [Lanes-1:0]     m_axis_tready,
  output logic [Lanes*32-1:0]  m_axis_tdata,
  output logic [Lanes*4-1:0]   m_axis_tkeep,
  output logic [Lanes-1:0]     m_axis_tlast,
  output logic [Lanes-1:0]     m_axis_raw_tvalid,
  input  logic [Lanes-1:0]     m_axis_raw_tready,
  output logic [Lanes*32-1:0]  m_axis_raw_tdata,
  output logic [Lanes*4-1:0]   m_axis_raw_tkeep,
  output logic [Lanes-1:0]     m_axis_raw_tlast,
  output logic [Lanes-1:0]     m_axis_raw_tuser,
  output logic [Lanes-1:0]     m_axis_change_tvalid,
  input  logic [Lanes-1:0]     m_axis_change_tready,
  output logic [Lanes*8-1:0]   m_axis_change_tdata,
  output logic [Lanes-1:0]     m_axis_change_tlast
);
  logic [Lanes*32-1:0]        steps, inverses;
  logic [Lanes*31-1:0]        limits;
  logic [Lanes*24-1:0]        values, rows, row;
  logic [Lanes*2-1:0]         axes;
  logic [Lanes*5-1:0]         pages;
  logic [Lanes*3-1:0]         word_bytes, raw_bytes;
  logic [Lanes-1:0]           follows, fixed, unused_bits;
  for (genvar k = 0; k < Lanes; k++) begin : g_lane
    logic [223:0] chunk;
    assign chunk = s_axis_chunk_tdata[224*k+:224];
    assign steps[32*k+:32]    = chunk[31:0];
    assign inverses[32*k+:32] = chunk[63:32];
    assign limits[31*k+:31]   = chunk[94:64];
    assign values[24*k+:24]   = chunk[119:96];
    assign row[24*k+:24]      = chunk[151:128];
    assign rows[24*k+:24]     = chunk[183:160];
    assign axes[2*k+:2]       = chunk[193:192];
    assign pages[5*k+:5]      = chunk[204:200];
    assign follows[k]         = chunk[208];
    assign fixed[k]           = chunk[209];
    assign unused_bits[k]     = ^chunk;
    assign m_axis_tkeep[4*k+:4]     = 4'(5'd1 << word_bytes[3*k+:3]) - 4'd1;
    assign m_axis_raw_tkeep[4*k+:4] = 4'(5'd1 << raw_bytes[3*k+:3]) - 4'd1;
  end

  // A book and a ratio come between chunks; the host sees to that.
  logic [10:0] token_q;
  assign s_axis_book_tready  = 1'b1;
  assign s_axis_ratio_tready = '1;
  always_ff @(posedge aclk or negedge aresetn) begin
    if (!aresetn) token_q <= 11'd0;
    else if (s_axis_book_tvalid) token_q <= s_axis_book_tlast ? 11'd0 : token_q + 11'd1;
  end

  logic [7:0] change;
  logic       change_last;
  assign m_axis_change_tdata = {Lanes{change}};
  assign m_axis_change_tlast = {Lanes{change_last}};
  lwy_ceaz_lanes #(
    .Lanes(Lanes), .Pow2(Pow2), .Stages(Stages), .MostRow(MostRow), .MostPlane(MostPlane)
  ) u_lanes (
    .clk_i(aclk), .rst_ni(aresetn), .book_write_i(s_axis_book_tvalid), .book_token_i(token_q),
    .book_length_i(s_axis_book_tdata[15:12]), .book_codeword_i(s_axis_book_tdata[11:0]),
    .low_i(interval[9:0]), .size_i(interval[26:16]), .ratio_load_i(s_axis_ratio_tvalid),
    .log_first_i(s_axis_ratio_tdata[14:0]), .log_least_i(s_axis_ratio_tdata[30:16]),
    .log_most_i(s_axis_ratio_tdata[46:32]), .target_i(s_axis_ratio_tdata[58:48]),
    .chunk_valid_i(s_axis_chunk_tvalid), .chunk_ready_o(s_axis_chunk_tready), .step_i(steps),
    .inverse_i(inverses), .limit_i(limits), .values_i(values), .axes_i(axes), .row_i(row),
    .rows_i(rows), .page_i(pages), .follows_i(follows), .fixed_i(fixed),
    .step_o(step), .valid_i(s_axis_tvalid), .ready_o(s_axis_tready), .x_i(s_axis_tdata),
    .word_valid_o(m_axis_tvalid), .word_ready_i(m_axis_tready), .word_o(m_axis_tdata),
    .word_bytes_o(word_bytes), .word_last_o(m_axis_tlast), .raw_valid_o(m_axis_raw_tvalid),
    .raw_ready_i(m_axis_raw_tready), .raw_o(m_axis_raw_tdata), .raw_bytes_o(raw_bytes),
    .raw_last_o(m_axis_raw_tlast), .bad_o(m_axis_raw_tuser),
    .change_valid_o(m_axis_change_tvalid), .change_ready_i(m_axis_change_tready),
    .change_o(change), .change_last_o(change_last)
  );

  logic unused;
  assign unused = ^{unused_bits, interval, s_axis_ratio_tdata};
endmodule

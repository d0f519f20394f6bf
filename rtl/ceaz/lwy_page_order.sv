// SPDX-License-Identifier: BSD-3-Clause
// Page order: where the tokens of a chunk end a stream and a page. A page of n tokens has streams
// of ceil(n / 4), the last ones fewer or none.
module lwy_page_order (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        start_i,
  input  logic [31:0] values_i,   // of the chunk
  input  logic [4:0]  page_i,     // values of a page, as a power of two
  input  logic        next_i,     // the token is done with
  output logic        last_of_stream_o,
  output logic        last_of_page_o
);
  // Before the chunk's first token, and behind the last one of a page, a page is begun.
  logic [31:0] left_q;  // of the chunk, this token included
  logic [24:0] whole_q, in_page_q, in_stream_q, quarter_q, size, quarter;
  logic        is_short;
  assign is_short = left_q < {7'd0, whole_q};
  assign size     = is_short ? left_q[24:0] : whole_q;
  assign quarter  = (size + 25'd3) >> 2;
  logic begins_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      begins_q <= 1'b0;
    end else begin
      begins_q <= start_i || (next_i && last_of_page_o);
    end
  end
  always_ff @(posedge clk_i) begin
    if (start_i) whole_q <= 25'd1 << page_i;
    if (start_i) left_q <= values_i;
    else if (next_i) left_q <= left_q - 32'd1;
    // A page begins beside its first token at the earliest, so that one is counted here, too.
    if (begins_q) begin
      in_page_q   <= size - 25'(next_i);
      quarter_q   <= quarter;
      in_stream_q <= (next_i && quarter != 25'd1) ? quarter - 25'd1 : quarter;
    end else if (next_i) begin
      in_page_q   <= in_page_q - 25'd1;
      in_stream_q <= (in_stream_q == 25'd1) ? quarter_q : in_stream_q - 25'd1;
    end
  end
  // Of the token in the cycle that begins a page nothing is in the registers yet.
  assign last_of_page_o   = begins_q ? size == 25'd1 : in_page_q == 25'd1;
  assign last_of_stream_o = begins_q ? size <= 25'd4 : last_of_page_o || in_stream_q == 25'd1;
endmodule

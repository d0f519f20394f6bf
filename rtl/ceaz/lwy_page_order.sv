// SPDX-License-Identifier: BSD-3-Clause
// Page order: where the tokens of a chunk end a stream and a page. A page of n tokens has streams
// of ceil(n / 4), the last ones fewer or none. Between two pages is a cycle without a token.
module lwy_page_order (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        start_i,
  input  logic [23:0] values_i,          // of the chunk
  input  logic [4:0]  page_i,            // values of a page, as a power of two
  input  logic        may_turn_i,        // the next page may begin
  output logic        turns_o,           // it does
  output logic        waits_o,           // there is no token before it does
  output logic        has_two_behind_o,  // as it begins: whether two more pages follow
  input  logic        next_i,            // the token is done with
  output logic        last_of_stream_o,
  output logic        last_of_page_o,
  output logic        last_of_chunk_o,
  output logic [23:0] in_page_o          // tokens left of the page, this one included
);
  logic [23:0] left_q;  // of the chunk, this token included
  logic [23:0] whole_q, in_page_q, in_stream_q, quarter_q, size, quarter;
  logic        begins_q;
  assign size    = (left_q < whole_q) ? left_q : whole_q;
  assign quarter = {2'd0, size[23:2]} + 24'(size[1:0] != 2'd0);
  assign turns_o = begins_q && may_turn_i && left_q != 24'd0;
  assign waits_o = begins_q;
  assign has_two_behind_o = {1'b0, left_q} > {whole_q, 1'b0};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      begins_q <= 1'b0;
    end else begin
      begins_q <= start_i || (next_i && last_of_page_o) || (begins_q && !turns_o);
    end
  end
  always_ff @(posedge clk_i) begin
    if (start_i) whole_q <= 24'd1 << page_i;
    if (start_i) left_q <= values_i;
    else if (next_i) left_q <= left_q - 24'd1;
    if (turns_o) begin
      in_page_q   <= size;
      quarter_q   <= quarter;
      in_stream_q <= quarter;
    end else if (next_i) begin
      in_page_q   <= in_page_q - 24'd1;
      in_stream_q <= last_of_stream_o ? quarter_q : in_stream_q - 24'd1;
    end
  end
  assign last_of_page_o   = in_page_q == 24'd1;
  assign last_of_stream_o = last_of_page_o || in_stream_q == 24'd1;
  assign last_of_chunk_o  = left_q == 24'd1;
  assign in_page_o        = in_page_q;
endmodule

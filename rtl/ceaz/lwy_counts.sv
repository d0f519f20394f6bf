// SPDX-License-Identifier: BSD-3-Clause
// Counts: how often which token came. One is counted each time that all moves; the same one twice
// in a row, too. Read and cleared while none is counted.
module lwy_counts (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        moves_i,
  input  logic        valid_i,
  input  logic [10:0] token_i,
  input  logic        clear_i,     // the count at read_i becomes 0
  input  logic [10:0] read_i,
  output logic [19:0] count_o      // a cycle later
);
  logic [19:0] memory[2048];
  logic [19:0] one_more, last_q;
  logic [10:0] token_q, last_token_q;
  logic        valid_q, is_last_q, writes;
  assign one_more = ((is_last_q && token_q == last_token_q) ? last_q : count_o) + 20'd1;
  assign writes   = moves_i && valid_q;
  always_ff @(posedge clk_i) begin
    if (moves_i || !valid_q) count_o <= memory[valid_i ? token_i : read_i];
    if (clear_i || writes) memory[clear_i ? read_i : token_q] <= clear_i ? 20'd0 : one_more;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q   <= 1'b0;
      is_last_q <= 1'b0;
    end else if (moves_i) begin
      valid_q   <= valid_i;
      is_last_q <= valid_q;
    end
  end
  always_ff @(posedge clk_i) begin
    if (moves_i) begin
      token_q      <= token_i;
      last_q       <= one_more;
      last_token_q <= token_q;
    end
  end
endmodule

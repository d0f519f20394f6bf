// SPDX-License-Identifier: BSD-3-Clause
// Round code: a magnitude with 25 bits behind the point to the nearest integer, ties to even, if it
// is at most 32767. Latency 2.
module lwy_round_code (
  input  logic        clk_i,
  input  logic [40:0] wide_i,
  input  logic        is_large_i,   // it is larger than that
  input  logic        negative_i,
  output logic        has_code_o,
  output logic        negative_o,
  output logic [14:0] magnitude_o
);
  logic        half, rest, has_code, rounds_up, has_code1, negative1, rounds_up1;
  logic [14:0] whole1;
  always_comb begin
    half = wide_i[24];
    rest = wide_i[23:0] != 24'd0;
    has_code = !is_large_i && !wide_i[40] && !(wide_i[39:25] == 15'd32767 && (half || rest));
    rounds_up = half && (rest || wide_i[25]);
  end
  lwy_pipe #(.Width(18)) u_round (
    .clk_i,
    .data_i({has_code, negative_i, rounds_up, wide_i[39:25]}),
    .data_o({has_code1, negative1, rounds_up1, whole1})
  );
  lwy_pipe #(.Width(17)) u_add (
    .clk_i,
    .data_i({has_code1, negative1, whole1 + 15'(rounds_up1)}),
    .data_o({has_code_o, negative_o, magnitude_o})
  );
endmodule

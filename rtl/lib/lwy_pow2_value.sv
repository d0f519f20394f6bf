// SPDX-License-Identifier: BSD-3-Clause
// Pow2 value: n * 2^k as f32, which is exact. Latency 1.
module lwy_pow2_value (
  input  logic              clk_i,
  input  logic signed [9:0] step_exp_i,  // k
  input  logic              negative_i,
  input  logic [14:0]       magnitude_i,
  output logic [31:0]       value_o
);
  logic [9:0] bias_q;  // the exponent of bit 15
  always_ff @(posedge clk_i) bias_q <= 10'(step_exp_i) + 10'd142;

  // The leading one, by halves.
  logic [15:0] half16;
  logic [15:0] by8, by4, by2, by1;
  logic [3:0]  zeros;
  logic [9:0]  exponent;
  always_comb begin
    half16 = {1'b0, magnitude_i};
    zeros[3] = half16[15:8] == 8'd0;
    by8 = zeros[3] ? half16 << 8 : half16;
    zeros[2] = by8[15:12] == 4'd0;
    by4 = zeros[2] ? by8 << 4 : by8;
    zeros[1] = by4[15:14] == 2'd0;
    by2 = zeros[1] ? by4 << 2 : by4;
    zeros[0] = !by2[15];
    by1 = zeros[0] ? by2 << 1 : by2;
    exponent = bias_q - {6'd0, zeros};
  end
  lwy_pipe #(.Width(32)) u_value (
    .clk_i,
    .data_i(by1[15] ? {negative_i, exponent[7:0], by1[14:0], 8'd0} : 32'd0),
    .data_o(value_o)
  );

  logic unused;
  assign unused = ^exponent[9:8];
endmodule

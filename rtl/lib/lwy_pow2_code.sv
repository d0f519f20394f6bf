// SPDX-License-Identifier: BSD-3-Clause
// Pow2 code: a difference of f32 divided by the step 2^k, rounded to the nearest integer, ties to
// even. The division changes the exponent only, so the integer is the significand, shifted right.
// Latency 4.
module lwy_pow2_code (
  input  logic              clk_i,
  input  logic signed [9:0] step_exp_i,   // k, -100 < k < 100
  input  logic [31:0]       difference_i,
  output logic [24:0]       fraction_o,   // two cycles before the others: what is rounded off
  output logic              has_code_o,   // it is at most 32767 before it is rounded
  output logic              negative_o,
  output logic [14:0]       magnitude_o
);
  // How far to the right. From 17 places on less than a half is left, and how much does not matter.
  // Infinities and NaN are far to the left.
  logic signed [10:0] bias_q;
  always_ff @(posedge clk_i) bias_q <= 11'(step_exp_i) + 11'sd142;

  logic               is_normal;
  logic [23:0]        significand1;
  logic signed [10:0] right;
  logic               is_large1, negative1;
  logic [4:0]         places1;
  always_comb begin
    is_normal = difference_i[30:23] != 8'd0;
    right = bias_q - $signed({3'b000, difference_i[30:24], difference_i[23] || !is_normal});
  end
  lwy_pipe #(.Width(31)) u_amount (
    .clk_i,
    .data_i({is_normal, difference_i[22:0], (right[9:5] != 5'd0) ? 5'd31 : right[4:0], right[10],
             difference_i[31]}),
    .data_o({significand1, places1, is_large1, negative1})
  );

  // 16 bits before the point, 25 behind it.
  logic [40:0] wide1, wide2;
  logic        is_large2, negative2;
  assign wide1 = {significand1, 17'd0} >> places1;
  lwy_pipe #(.Width(43)) u_shift (
    .clk_i, .data_i({wide1, is_large1, negative1}), .data_o({wide2, is_large2, negative2})
  );

  assign fraction_o = wide2[24:0];
  lwy_round_code u_round (
    .clk_i, .wide_i(wide2), .is_large_i(is_large2), .negative_i(negative2), .has_code_o,
    .negative_o, .magnitude_o
  );
endmodule

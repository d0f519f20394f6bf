// SPDX-License-Identifier: BSD-3-Clause
// Short code: a value of f32 times f32(1 / step), rounded to f32 and then to the nearest integer,
// ties to even: both roundings count. Latency 7.
module lwy_short_code (
  input  logic        clk_i,
  input  logic [31:0] inverse_i,  // f32(1 / step)
  input  logic [31:0] x_i,
  output logic        has_code_o,  // it is at most 32767 before it is rounded to an integer
  output logic        negative_o,
  output logic [14:0] magnitude_o
);
  // The product, with registers that multipliers take in. A subnormal value is less than half a
  // step: it counts as 0.
  logic [23:0] left1, right1;
  logic [9:0]  exp1, exp3;
  logic        is_zero1, is_zero3, is_special1, is_special3, negative1, negative3;
  logic [47:0] product2, product3;
  lwy_pipe #(.Width(61)) u_factors (
    .clk_i,
    .data_i({x_i[30:23] != 8'd0, x_i[22:0], 1'b1, inverse_i[22:0],
             {2'b00, x_i[30:23]} + {2'b00, inverse_i[30:23]}, x_i[30:23] == 8'd0,
             x_i[30:23] == 8'hff, x_i[31]}),
    .data_o({left1, right1, exp1, is_zero1, is_special1, negative1})
  );
  always_ff @(posedge clk_i) begin
    product2 <= left1 * right1;
    product3 <= product2;
  end
  lwy_pipe #(.Width(13), .N(2)) u_notes (
    .clk_i,
    .data_i({exp1, is_zero1, is_special1, negative1}),
    .data_o({exp3, is_zero3, is_special3, negative3})
  );

  // To 24 bits; exponents are biased twice.
  logic [47:0] normal3;
  logic [24:0] rounded3;
  logic        rest3, rounds_up3, is_zero4, is_special4, negative4;
  logic [9:0]  exp3_n, exp4;
  logic [23:0] t4;
  always_comb begin
    normal3 = product3[47] ? product3 : product3 << 1;
    rest3 = product3[21:0] != 22'd0 || (product3[22] && product3[47]);
    rounds_up3 = normal3[23] && (normal3[24] || rest3);
    rounded3 = {1'b0, normal3[47:24]} + 25'(rounds_up3);
    exp3_n = exp3 + 10'(product3[47]) + 10'(rounded3[24]);
  end
  lwy_pipe #(.Width(37)) u_rounded (
    .clk_i,
    .data_i({rounded3[24] ? 24'h800000 : rounded3[23:0], exp3_n, is_zero3, is_special3, negative3}),
    .data_o({t4, exp4, is_zero4, is_special4, negative4})
  );

  // 16 bits before the point, 25 behind it. From 17 places to the right on less than a half is
  // left, and how much does not matter.
  logic signed [10:0] right4;
  logic [4:0]         places4;
  logic [40:0]        wide4, wide5;
  logic               is_large4, is_large5, negative5;
  always_comb begin
    right4 = 11'sd269 - $signed({1'b0, exp4});
    is_large4 = is_special4 || (!is_zero4 && right4 < 11'sd0);
    places4 = (is_zero4 || right4 > 11'sd17) ? 5'd31 : right4[4:0];
    wide4 = {t4, 17'd0} >> places4;
  end
  lwy_pipe #(.Width(43)) u_shift (
    .clk_i, .data_i({wide4, is_large4, negative4}), .data_o({wide5, is_large5, negative5})
  );

  lwy_round_code u_round (
    .clk_i, .wide_i(wide5), .is_large_i(is_large5), .negative_i(negative5), .has_code_o,
    .negative_o, .magnitude_o
  );

  logic unused;
  assign unused = ^{inverse_i[31], normal3[22:0], right4[9:5]};
endmodule

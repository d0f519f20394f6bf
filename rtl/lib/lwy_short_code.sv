// SPDX-License-Identifier: BSD-3-Clause
// Short code: a value of f32 times f32(1 / step), rounded to f32 and then to the nearest integer,
// ties to even: both roundings count. Latency 7.
module lwy_short_code (
  input  logic        clk_i,
  input  logic [31:0] inverse_i,  // f32(1 / step), 2^-100 < step < 2^100
  input  logic [31:0] x_i,
  output logic        has_code_o,  // it is at most 32767 before it is rounded to an integer
  output logic        negative_o,
  output logic [14:0] magnitude_o
);
  // The product, with registers that multipliers take in, and how far to the right the integer in
  // it is. A subnormal value is far to the right, infinities and NaN are far to the left.
  logic [23:0]        left1, right1;
  logic [8:0]         exp1;
  logic signed [10:0] places2, places3;
  logic               negative1, negative2, negative3;
  logic [40:0]        low2;   // times the low 17 bits
  logic [30:0]        high2;  // times the others
  logic [47:0]        product3;
  lwy_pipe #(.Width(58)) u_factors (
    .clk_i,
    .data_i({x_i[30:23] != 8'd0, x_i[22:0], 1'b1, inverse_i[22:0],
             {1'b0, x_i[30:23]} + {1'b0, inverse_i[30:23]}, x_i[31]}),
    .data_o({left1, right1, exp1, negative1})
  );
  always_ff @(posedge clk_i) begin
    low2     <= {17'd0, left1} * {24'd0, right1[16:0]};
    high2    <= {7'd0, left1} * {24'd0, right1[23:17]};
    product3 <= {high2 + {7'd0, low2[40:17]}, low2[16:0]};
  end
  lwy_pipe #(.Width(12)) u_places (
    .clk_i,
    .data_i({11'sd269 - $signed({2'b00, exp1}), negative1}),
    .data_o({places2, negative2})
  );
  lwy_pipe #(.Width(12)) u_places_late (
    .clk_i, .data_i({places2, negative2}), .data_o({places3, negative3})
  );

  // To 24 bits, or to the next power of two. From 17 places on less than a half is left, and how
  // much does not matter.
  logic [47:0]        normal3;
  logic [24:0]        t3, t4;
  logic signed [10:0] up3, right3;
  logic [4:0]         places4;
  logic               rest3, rounds_up3, is_large4, negative4;
  always_comb begin
    normal3 = product3[47] ? product3 : product3 << 1;
    rest3 = product3[21:0] != 22'd0 || (product3[22] && product3[47]);
    rounds_up3 = normal3[23] && (normal3[24] || rest3);
    t3 = {1'b0, normal3[47:24]} + 25'(rounds_up3);
    up3 = places3 - 11'sd1;
    right3 = product3[47] ? up3 : places3;
  end
  lwy_pipe #(.Width(32)) u_rounded (
    .clk_i,
    .data_i({t3, (right3[9:5] != 5'd0) ? 5'd31 : right3[4:0], right3[10], negative3}),
    .data_o({t4, places4, is_large4, negative4})
  );

  // 16 bits before the point, 25 behind it.
  logic [41:0] wide4;
  logic [40:0] wide5;
  logic        is_large5, negative5;
  assign wide4 = {t4, 17'd0} >> places4;
  lwy_pipe #(.Width(43)) u_shift (
    .clk_i,
    .data_i({wide4[41] || wide4[40], wide4[39:0], is_large4, negative4}),
    .data_o({wide5, is_large5, negative5})
  );

  lwy_round_code u_round (
    .clk_i, .wide_i(wide5), .is_large_i(is_large5), .negative_i(negative5), .has_code_o,
    .negative_o, .magnitude_o
  );

  logic unused;
  assign unused = ^{inverse_i[31], normal3[22:0]};
endmodule

// SPDX-License-Identifier: BSD-3-Clause
// Adder of f32: rounds to nearest even and keeps subnormal numbers, as a processor does. Infinities
// and NaN are one thing here, exponent 255: an operand that is one, or a sum that is too large,
// gives one. Zeros have the sign that IEEE 754 gives them.
module lwy_fadd #(
  parameter int unsigned Stages = 7,  // registers: 7 or 5
  localparam int unsigned OnSeven = (Stages == 7) ? 1 : 0
) (
  input  logic        clk_i,
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  output logic [31:0] sum_o
);
  // By magnitude.
  logic        swaps;
  logic [31:0] big, little;
  assign swaps = b_i[30:0] > a_i[30:0];
  lwy_pipe #(.Width(64)) u_order (
    .clk_i,
    .data_i(swaps ? {b_i, a_i} : {a_i, b_i}),
    .data_o({big, little})
  );

  // How far the exponents are apart: subnormal numbers have the exponent 1 and no leading one. From
  // 27 on all of the little one is below the last bit, and 31 places are as good as more.
  logic       big_is_normal, little_is_normal;
  logic [7:0] big_exp, little_exp, apart;
  logic [4:0] places;
  always_comb begin
    big_is_normal = big[30:23] != 8'd0;
    little_is_normal = little[30:23] != 8'd0;
    big_exp = big_is_normal ? big[30:23] : 8'd1;
    little_exp = little_is_normal ? little[30:23] : 8'd1;
    apart = big_exp - little_exp;
    places = (apart[7:5] != 3'd0) ? 5'd31 : apart[4:0];
  end
  // What goes along: exponent, sign, whether magnitudes are subtracted, both negative, special.
  logic [11:0] notes1, notes2, notes3, notes4, notes5;
  logic [23:0] big1, little1;
  logic [4:0]  places1;
  lwy_pipe #(.Width(65), .N(OnSeven)) u_apart (
    .clk_i,
    .data_i({big_exp, big[31], big[31] ^ little[31], big[31] & little[31],
             big[30:23] == 8'hff, big_is_normal, big[22:0], little_is_normal, little[22:0],
             places}),
    .data_o({notes1, big1, little1, places1})
  );

  // Align; two more bits, and one that says whether there was anything below them.
  logic [26:0] wide, aligned1, aligned2;
  logic [23:0] big2;
  logic        sticky;
  always_comb begin
    wide = {little1, 3'b000};
    aligned1 = wide >> places1;
    sticky = |(wide & ~(27'h7ffffff << places1));
  end
  lwy_pipe #(.Width(63)) u_align (
    .clk_i,
    .data_i({notes1, big1, aligned1[26:1], aligned1[0] | sticky}),
    .data_o({notes2, big2, aligned2})
  );

  // Add or subtract.
  logic [27:0] sum2, sum3, sum4;
  assign sum2 = notes2[2] ? {1'b0, big2, 3'b000} - {1'b0, aligned2}
                          : {1'b0, big2, 3'b000} + {1'b0, aligned2};
  lwy_pipe #(.Width(40)) u_add (.clk_i, .data_i({notes2, sum2}), .data_o({notes3, sum3}));

  // Zeros before the leading one of the low 27 bits, by halves.
  logic [31:0] half32;
  logic [15:0] half16;
  logic [7:0]  half8;
  logic [3:0]  half4;
  logic [4:0]  zeros3, zeros4;
  always_comb begin
    half32 = {sum3[26:0], 5'b10000};  // never none
    zeros3[4] = half32[31:16] == 16'd0;
    half16 = zeros3[4] ? half32[15:0] : half32[31:16];
    zeros3[3] = half16[15:8] == 8'd0;
    half8 = zeros3[3] ? half16[7:0] : half16[15:8];
    zeros3[2] = half8[7:4] == 4'd0;
    half4 = zeros3[2] ? half8[3:0] : half8[7:4];
    zeros3[1] = half4[3:2] == 2'd0;
    zeros3[0] = zeros3[1] ? !half4[1] : !half4[3];
  end
  lwy_pipe #(.Width(45), .N(OnSeven)) u_zeros (
    .clk_i, .data_i({notes3, sum3, zeros3}), .data_o({notes4, sum4, zeros4})
  );

  // Normalize, but not below the exponent 1.
  logic [7:0]  exp4;
  logic [4:0]  up;
  logic [27:0] moved;
  logic [26:0] normal4, normal5;
  logic [8:0]  exp4_n, exp5;
  always_comb begin
    exp4 = notes4[11:4];
    up = ({3'd0, zeros4} < exp4) ? zeros4 : 5'(exp4 - 8'd1);
    moved = sum4 << up;
    if (sum4[27]) begin
      normal4 = {sum4[27:2], sum4[1] | sum4[0]};
      exp4_n  = {1'b0, exp4} + 9'd1;
    end else begin
      normal4 = moved[26:0];
      exp4_n  = {1'b0, exp4} - {4'd0, up};
    end
  end
  lwy_pipe #(.Width(48)) u_normal (
    .clk_i, .data_i({notes4, normal4, exp4_n}), .data_o({notes5, normal5, exp5})
  );

  // Round.
  logic        rounds_up;
  logic [24:0] rounded;
  logic [8:0]  exp6;
  logic [31:0] sum5;
  always_comb begin
    rounds_up = normal5[2] && (normal5[1] || normal5[0] || normal5[3]);
    rounded = {1'b0, normal5[26:3]} + 25'(rounds_up);
    exp6 = exp5 + 9'(rounded[24]);
    if (notes5[0] || exp6 >= 9'd255) sum5 = {notes5[3], 8'hff, 23'd0};
    else if (rounded == 25'd0) sum5 = {notes5[1], 31'd0};
    else if (rounded[24:23] == 2'b00) sum5 = {notes5[3], 8'd0, rounded[22:0]};
    else sum5 = {notes5[3], exp6[7:0], rounded[22:0]};  // zeros if it became a power of two
  end
  lwy_pipe #(.Width(32)) u_round (.clk_i, .data_i(sum5), .data_o(sum_o));

  logic unused;
  assign unused = ^{half4[0], moved[27], notes5[11:4], notes5[2]};
endmodule

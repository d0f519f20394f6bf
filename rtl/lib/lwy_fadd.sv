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
  logic [11:0] notes1, notes2, notes3, notes4;
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

  // Normalize, but not below the exponent 1. A number without a leading one is subnormal: its
  // exponent counts as 0 from here on. Special ones have the exponent 255 and no other bit.
  logic [7:0]  exp4, exp4_n, exp5;
  logic [4:0]  up;
  logic [27:0] moved;
  logic [26:0] normal4;
  logic [25:0] normal5;
  logic        is_normal4, is_special4, is_zero4, negative5;
  always_comb begin
    exp4 = notes4[11:4];
    is_normal4 = {3'd0, zeros4} < exp4;
    is_special4 = notes4[0] || (sum4[27] && exp4 == 8'd254);
    is_zero4 = zeros4 == 5'd27 && !sum4[27];
    up = is_normal4 ? zeros4 : 5'(exp4 - 8'd1);
    moved = sum4 << up;
    normal4 = sum4[27] ? {sum4[27:2], sum4[1] | sum4[0]} : moved[26:0];
    exp4_n = sum4[27] ? exp4 + 8'd1 : is_normal4 ? exp4 - {3'd0, zeros4} : 8'd0;
  end
  lwy_pipe #(.Width(35)) u_normal (
    .clk_i,
    .data_i({is_zero4 ? notes4[1] : notes4[3],
             is_special4 ? {8'd255, 26'd0} : is_zero4 ? 34'd0 : {exp4_n, normal4[25:0]}}),
    .data_o({negative5, exp5, normal5})
  );

  // Round. The exponent takes the carry: a subnormal number may become normal, and one just below a
  // power of two that power.
  logic rounds_up;
  assign rounds_up = normal5[2] && (normal5[1] || normal5[0] || normal5[3]);
  lwy_pipe #(.Width(32)) u_round (
    .clk_i,
    .data_i({negative5, {exp5, normal5[25:3]} + 31'(rounds_up)}),
    .data_o(sum_o)
  );

  logic unused;
  assign unused = ^{half4[0], moved[27], normal4[26], notes4[2]};
endmodule
